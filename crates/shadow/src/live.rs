//! Live ranges: an interval store of the bytes that operations in flight use, exact to the byte.
//!
//! Ranges are kept by length class, each class sorted by address: a query looks at one short
//! stretch of each class in use and allocates nothing. A class holds lengths from 2^k to 2^(k+1),
//! so a query visits few neighbours in vain. Ranges that are read are stored apart from ranges that
//! are written, so a read skips any number of operations that read the same bytes.

use crate::sorted::{Entry, Sorted};
use crate::{Footprint, Pages};
use smallvec::SmallVec;
use std::ops::{ControlFlow, Range};

/// The direction of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Reads the bytes.
    Read,
    /// May change the bytes.
    Write,
}

impl Mode {
    /// Whether the bytes may change.
    pub fn is_write(self) -> bool {
        self == Mode::Write
    }
}

/// One access of an operation.
#[derive(Clone, Debug)]
pub struct Access {
    /// Read or write.
    pub mode: Mode,
    /// The bytes touched.
    pub footprint: Footprint,
}

impl Access {
    /// Whether the page filter admits that something in flight conflicts with this access. False is
    /// certain.
    #[inline]
    pub fn may_conflict(&self, pages: Pages) -> bool {
        let possible = self.footprint.visit(&self.footprint.span(), &mut |run| match pages
            .may_conflict(&run, self.mode)
        {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        });
        possible.is_break()
    }
}

/// A conflict of an access with one in flight, copied out of [`Live`].
#[derive(Clone, Debug)]
pub struct Conflict {
    /// What is in flight.
    pub id: OpId,
    /// How it uses its memory.
    pub mode: Mode,
    /// From the first byte that it uses to the last.
    pub span: Range<usize>,
    /// How many bytes of the span it uses.
    pub touched: usize,
    /// The bytes that both use.
    pub bytes: Range<usize>,
}

impl Conflict {
    /// The conflict with this access of `id`, on common bytes.
    #[inline]
    pub fn new(id: OpId, other: &Access, bytes: Range<usize>) -> Conflict {
        let footprint = &other.footprint;
        Conflict { id, mode: other.mode, span: footprint.span(), touched: footprint.bytes(), bytes }
    }
}

impl Access {
    /// An access to contiguous bytes.
    pub fn dense(mode: Mode, bytes: Range<usize>) -> Access {
        Access { mode, footprint: Footprint::Dense(bytes) }
    }

    fn is_empty(&self) -> bool {
        matches!(&self.footprint, Footprint::Dense(bytes) if bytes.is_empty())
    }
}

/// Identifies a live operation; not reused after the operation has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OpId {
    slot: u32,
    generation: u32,
}

/// Operations in flight, each with the bytes that it uses and data of the owner.
pub struct Live<T> {
    ops: Vec<Slot<T>>,
    free: Vec<u32>,
    read: Classes,
    written: Classes,
    entries: usize,
    pages: Option<Pages>,
}

const CLASSES: usize = usize::BITS as usize;

struct Classes {
    sorted: [Sorted; CLASSES],
    /// Bit k is set while class k is not empty.
    in_use: u64,
}

struct Slot<T> {
    generation: u32,
    /// Empty while the slot is free, but with its capacity: the steady state allocates nothing.
    accesses: SmallVec<[Access; 1]>,
    info: Option<T>,
}

impl<T> Live<T> {
    /// An empty store that marks its ranges in `pages`.
    pub fn new(pages: Pages) -> Live<T> {
        Live { pages: Some(pages), ..Live::unmarked() }
    }

    /// An empty store that marks no pages, so that no access notices its ranges.
    pub fn unmarked() -> Live<T> {
        let (read, written) = (Classes::default(), Classes::default());
        Live { ops: Vec::new(), free: Vec::new(), read, written, entries: 0, pages: None }
    }

    /// Number of live ranges.
    pub fn ranges(&self) -> usize {
        self.entries
    }

    /// Starts an operation with its accesses. The caller checks for conflicts first.
    pub fn begin(&mut self, accesses: &mut [Option<Access>], info: T) -> OpId {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.ops.push(Slot { generation: 0, accesses: SmallVec::new(), info: None });
            (self.ops.len() - 1) as u32
        });
        let mut list = std::mem::take(&mut self.ops[slot as usize].accesses);
        for access in accesses.iter_mut().filter_map(Option::take) {
            if access.footprint.bytes() == 0 {
                continue;
            }
            let Range { start, end } = access.footprint.span();
            let entry = Entry { start, end, slot, access: list.len() as u32 };
            self.insert(access.mode, entry);
            if let Some(pages) = &self.pages {
                mark(pages, &access, true);
            }
            list.push(access);
        }
        let cell = &mut self.ops[slot as usize];
        cell.accesses = list;
        cell.info = Some(info);
        OpId { slot, generation: cell.generation }
    }

    /// Adds an access to a live operation.
    pub fn extend(&mut self, id: OpId, access: Access) {
        let Some(cell) = self.slot(id) else { return };
        let Range { start, end } = access.footprint.span();
        let access_number = cell.accesses.len() as u32;
        self.insert(access.mode, Entry { start, end, slot: id.slot, access: access_number });
        if let Some(pages) = &self.pages {
            mark(pages, &access, true);
        }
        self.ops[id.slot as usize].accesses.push(access);
    }

    /// Ends an operation and returns the owner's data; `None` if it has ended before.
    pub fn end(&mut self, id: OpId) -> Option<T> {
        let cell = self.ops.get_mut(id.slot as usize).filter(|c| c.generation == id.generation)?;
        let info = cell.info.take()?;
        cell.generation = cell.generation.wrapping_add(1);
        let mut list = std::mem::take(&mut cell.accesses);
        for (index, access) in list.iter().enumerate() {
            self.leave(id.slot, index, access);
        }
        list.clear();
        self.ops[id.slot as usize].accesses = list;
        self.free.push(id.slot);
        Some(info)
    }

    /// Withdraws the accesses that touch a byte of `range` and for which `f` returns true. An
    /// operation without accesses left has ended.
    pub fn withdraw(
        &mut self,
        range: &Range<usize>,
        mut f: impl FnMut(&T, &[Access], usize) -> bool,
    ) {
        let mut out: SmallVec<[(u32, u32); 8]> = SmallVec::new();
        for classes in [&self.read, &self.written] {
            let _ = self.entries::<()>(classes, range, |entry, cell, _| {
                let index = entry.access as usize;
                if cell.info.as_ref().is_some_and(|info| f(info, &cell.accesses, index)) {
                    out.push((entry.slot, entry.access));
                }
                ControlFlow::Continue(())
            });
        }
        for (slot, index) in out {
            let cell = &mut self.ops[slot as usize];
            let gone = Footprint::Dense(0..0);
            let access = &mut cell.accesses[index as usize];
            let taken = Access {
                mode: access.mode,
                footprint: std::mem::replace(&mut access.footprint, gone),
            };
            let (empty, generation) = (cell.accesses.iter().all(Access::is_empty), cell.generation);
            self.leave(slot, index as usize, &taken);
            if empty {
                self.end(OpId { slot, generation });
            }
        }
    }

    /// Removes an access from its class and unmarks its pages.
    fn leave(&mut self, slot: u32, index: usize, access: &Access) {
        if access.is_empty() {
            return; // withdrawn before
        }
        let Range { start, end } = access.footprint.span();
        self.remove(access.mode, &Entry { start, end, slot, access: index as u32 });
        if let Some(pages) = &self.pages {
            mark(pages, access, false);
        }
    }

    fn slot(&self, id: OpId) -> Option<&Slot<T>> {
        self.ops.get(id.slot as usize).filter(|cell| cell.generation == id.generation)
    }

    /// The owner's data of a live operation.
    pub fn get(&self, id: OpId) -> Option<&T> {
        self.slot(id)?.info.as_ref()
    }

    /// The owner's data of a live operation, mutably.
    pub fn get_mut(&mut self, id: OpId) -> Option<&mut T> {
        let cell = self.ops.get_mut(id.slot as usize).filter(|c| c.generation == id.generation)?;
        cell.info.as_mut()
    }

    /// The accesses of a live operation; withdrawn ones are empty.
    pub fn accesses(&self, id: OpId) -> &[Access] {
        self.slot(id).map_or(&[], |cell| &cell.accesses)
    }

    /// All live operations.
    pub fn iter(&self) -> impl Iterator<Item = (OpId, &T)> {
        self.ops.iter().enumerate().filter_map(|(slot, cell)| {
            let id = OpId { slot: slot as u32, generation: cell.generation };
            cell.info.as_ref().map(|info| (id, info))
        })
    }

    /// Calls `f` with each live access that touches a byte of `range`, and with such bytes, until
    /// it breaks.
    pub fn touching<B>(
        &self,
        range: &Range<usize>,
        mut f: impl FnMut(OpId, &Access, Range<usize>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        self.touching_in(&self.written, range, &mut f)?;
        self.touching_in(&self.read, range, &mut f)
    }

    fn touching_in<B>(
        &self,
        classes: &Classes,
        range: &Range<usize>,
        f: &mut impl FnMut(OpId, &Access, Range<usize>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        self.entries(classes, range, |entry, cell, bytes| {
            let id = OpId { slot: entry.slot, generation: cell.generation };
            f(id, &cell.accesses[entry.access as usize], bytes)
        })
    }

    fn entries<B>(
        &self,
        classes: &Classes,
        range: &Range<usize>,
        mut f: impl FnMut(&Entry, &Slot<T>, Range<usize>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let mut in_use = classes.in_use;
        while in_use != 0 {
            let class = in_use.trailing_zeros() as usize;
            in_use &= in_use - 1;
            let longest = 2usize.checked_shl(class as u32).unwrap_or(usize::MAX);
            let entries = classes.sorted[class].from(range.start.saturating_sub(longest));
            for entry in entries.take_while(|e| e.start < range.end) {
                let cell = &self.ops[entry.slot as usize];
                if entry.end <= range.start {
                    continue;
                }
                let access = &cell.accesses[entry.access as usize];
                if let Some(bytes) = access.footprint.within(range) {
                    f(entry, cell, bytes)?;
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Calls `f` for live accesses that conflict with an access of `mode` to `footprint`: they
    /// share a byte, and one of the two is a write. Every conflicting operation is named at least
    /// once, for one of the bytes; `f` may break off.
    pub fn conflicts<B>(
        &self,
        mode: Mode,
        footprint: &Footprint,
        mut f: impl FnMut(OpId, &Access, Range<usize>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let may_conflict =
            |run: &Range<usize>| self.pages.is_none_or(|pages| pages.may_conflict(run, mode));
        self.conflicts_where(may_conflict, mode, footprint, &mut f)
    }

    /// Finds conflicts without the page filter: for a footprint of many pages and few live ranges.
    pub fn meeting<B>(
        &self,
        mode: Mode,
        footprint: &Footprint,
        mut f: impl FnMut(OpId, &Access, Range<usize>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        self.conflicts_where(|_| true, mode, footprint, &mut f)
    }

    /// Finds conflicts in those runs of `footprint` that may have some.
    #[inline]
    fn conflicts_where<B>(
        &self,
        may_conflict: impl Fn(&Range<usize>) -> bool,
        mode: Mode,
        footprint: &Footprint,
        f: &mut impl FnMut(OpId, &Access, Range<usize>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        if self.entries == 0 {
            return ControlFlow::Continue(());
        }
        footprint.visit(&footprint.span(), &mut |run| match may_conflict(&run) {
            true => self.conflicts_in(mode, &run, f),
            false => ControlFlow::Continue(()),
        })
    }

    fn conflicts_in<B>(
        &self,
        mode: Mode,
        run: &Range<usize>,
        f: &mut impl FnMut(OpId, &Access, Range<usize>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        self.touching_in(&self.written, run, f)?;
        match mode {
            Mode::Read => ControlFlow::Continue(()),
            Mode::Write => self.touching_in(&self.read, run, f),
        }
    }

    fn classes(&mut self, mode: Mode) -> &mut Classes {
        match mode {
            Mode::Read => &mut self.read,
            Mode::Write => &mut self.written,
        }
    }

    fn insert(&mut self, mode: Mode, entry: Entry) {
        self.classes(mode).insert(entry);
        self.entries += 1;
    }

    fn remove(&mut self, mode: Mode, entry: &Entry) {
        self.entries -= usize::from(self.classes(mode).remove(entry));
    }
}

impl Default for Classes {
    fn default() -> Classes {
        Classes { sorted: std::array::from_fn(|_| Sorted::default()), in_use: 0 }
    }
}

impl Classes {
    fn insert(&mut self, entry: Entry) {
        let class = class_of(&entry);
        self.sorted[class].insert(entry);
        self.in_use |= 1 << class;
    }

    /// Removes an entry; returns whether it was there.
    fn remove(&mut self, entry: &Entry) -> bool {
        let class = class_of(entry);
        let was_there = self.sorted[class].remove(entry);
        if self.sorted[class].is_empty() {
            self.in_use &= !(1 << class);
        }
        was_there
    }
}

fn class_of(entry: &Entry) -> usize {
    (entry.end - entry.start).max(1).ilog2() as usize
}

fn mark(pages: &Pages, access: &Access, set: bool) {
    let _ = access.footprint.visit::<()>(&access.footprint.span(), &mut |run| {
        match set {
            true => pages.mark(run, access.mode),
            false => pages.unmark(run, access.mode),
        }
        ControlFlow::Continue(())
    });
}
