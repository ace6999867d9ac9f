//! The nursery: young operations, in a form that costs next to nothing.
//!
//! Most operations are simple (one contiguous buffer, one request) and complete before anything
//! happens to them. They live here: in a small flat list, with a mark in the page filter. As soon
//! as anything needs a closer look (an access that hits the filter, a shared handle, an overwritten
//! variable), all of them move to the request table and live ranges, see [`crate::Tracker`].

use crate::ids::{Of, Token};
use crate::overlap::conflict;
use commsan_callsite::StackId;
use commsan_mpi_calls::Call;
use commsan_shadow::{Access, Mode};
use std::ops::Range;

/// A simple pending operation.
pub(crate) struct Young {
    pub key: usize,
    pub variable: usize,
    pub sequence: u64,
    pub call: &'static Call,
    /// The first tag that the call names; -1 if it names none.
    pub tag: i32,
    /// The communicator or file it belongs to.
    pub of: Of,
    pub thread: u32,
    pub stack: StackId,
    pub pc: usize,
    pub mode: Mode,
    /// The buffer, which may be empty.
    pub bytes: Range<usize>,
    /// Frame pointer of the function on whose stack the buffer lies.
    pub frame: Option<usize>,
    /// Its checksum, where such are taken.
    pub sum: Option<u64>,
}

pub(crate) struct Nursery {
    young: Vec<Young>,
    room: usize,
    /// Number of operations with a buffer on some stack.
    on_stack: usize,
    /// Number of operations that access memory.
    ranges: usize,
}

/// More pending operations than this are looked up faster by hash.
const MAX_YOUNG: usize = 16;

impl Nursery {
    pub fn new() -> Nursery {
        Nursery { young: Vec::with_capacity(MAX_YOUNG), room: MAX_YOUNG, on_stack: 0, ranges: 0 }
    }

    /// A nursery that takes no operations.
    pub fn closed() -> Nursery {
        Nursery { room: 0, ..Nursery::new() }
    }

    /// Whether an operation with this request can be added.
    pub fn has_room(&self, key: usize, variable: usize) -> bool {
        self.young.len() < self.room
            && self.young.iter().all(|y| y.key != key && y.variable != variable)
    }

    pub fn push(&mut self, young: Young) {
        self.on_stack += usize::from(young.frame.is_some());
        self.ranges += usize::from(!young.bytes.is_empty());
        self.young.push(young);
    }

    /// Removes the operation that the token means, and returns its call, place, mode and bytes.
    /// Handles are unique here.
    #[inline]
    pub fn take(&mut self, token: Token) -> Option<(&'static Call, usize, Mode, Range<usize>)> {
        let means = |y: &Young| y.key == token.key && y.sequence < token.before;
        let index = self.young.iter().position(means)?;
        let young = &self.young[index];
        let touched = (young.call, young.pc, young.mode, young.bytes.clone());
        self.on_stack -= usize::from(young.frame.is_some());
        self.ranges -= usize::from(!young.bytes.is_empty());
        match index + 1 == self.young.len() {
            true => self.young.truncate(index),
            false => drop(self.young.swap_remove(index)),
        }
        Some(touched)
    }

    /// Whether an operation here conflicts with an access.
    pub fn meets(&self, access: &Access) -> bool {
        self.young.iter().any(|young| conflict(access, young.mode, &young.bytes))
    }

    /// Whether the token means an operation here.
    pub fn knows(&self, token: Token) -> bool {
        self.young.iter().any(|y| y.key == token.key && y.sequence < token.before)
    }

    /// The buffer of the operation that the token means, with its checksum, if that was taken.
    pub fn summed(&self, token: Token) -> Option<(&Range<usize>, u64)> {
        let means = |y: &&Young| y.key == token.key && y.sequence < token.before;
        let young = self.young.iter().find(means)?;
        Some((&young.bytes, young.sum?))
    }

    /// Live ranges, and operations with a buffer on some stack.
    pub fn load(&self) -> (usize, usize) {
        (self.ranges, self.on_stack)
    }

    /// Operations with a buffer on some stack.
    pub fn on_stack(&self) -> impl Iterator<Item = &Young> {
        let some = if self.on_stack > 0 { self.young.as_slice() } else { &[] };
        some.iter().filter(|y| y.frame.is_some())
    }

    pub fn is_empty(&self) -> bool {
        self.young.is_empty()
    }

    /// Removes all operations, oldest first.
    pub fn leave(&mut self) -> Vec<Young> {
        (self.on_stack, self.ranges) = (0, 0);
        let mut all = std::mem::replace(&mut self.young, Vec::with_capacity(MAX_YOUNG));
        all.sort_by_key(|y| y.sequence);
        all
    }
}
