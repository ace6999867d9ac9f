//! Where something happens, and how findings leave the semantics.

use commsan_engine::Mode;
use commsan_model::{Code, Role};
use std::ops::Range;

/// Return addresses, innermost first; a copy costs no allocation.
#[derive(Clone, Copy, Debug)]
pub struct Stack {
    frames: [usize; Stack::DEPTH],
    len: u8,
}

impl Stack {
    /// Frames kept at most.
    pub const DEPTH: usize = 16;

    /// Collects up to [`DEPTH`](Self::DEPTH) frames.
    pub fn collect(frames: impl IntoIterator<Item = usize>) -> Stack {
        let mut stack = Stack { frames: [0; Stack::DEPTH], len: 0 };
        for (cell, frame) in stack.frames.iter_mut().zip(frames) {
            *cell = frame;
            stack.len += 1;
        }
        stack
    }

    /// The frames.
    pub fn frames(&self) -> &[usize] {
        &self.frames[..self.len as usize]
    }

    /// The innermost return address, 0 if unknown.
    pub fn pc(&self) -> usize {
        self.frames().first().copied().unwrap_or(0)
    }
}

/// One place in the program's execution.
#[derive(Clone, Copy, Debug)]
pub struct Site {
    /// The MPI call made there.
    pub call: Option<&'static str>,
    /// Thread within the process, 0 for the one that initialised MPI.
    pub thread: u32,
    /// How control got there.
    pub stack: Stack,
}

/// Where control is now. Asking for more than the address costs time, so nobody asks before
/// there is something to say.
pub trait Place {
    /// The innermost return address in the program.
    fn pc(&self) -> usize;
    /// Thread within the process.
    fn thread(&self) -> u32;
    /// The whole stack.
    fn stack(&self) -> Stack;
    /// If `address` lies on the current thread's stack: the frame pointer of the function whose
    /// frame it is in, or 0 where that cannot be told.
    fn frame_of(&self, address: usize) -> Option<usize>;
    /// Whether `address` lay on the current thread's stack, below what is in use now.
    fn is_popped(&self, address: usize) -> bool;

    /// The place as a record.
    fn site(&self, call: Option<&'static str>) -> Site {
        Site { call, thread: self.thread(), stack: self.stack() }
    }
}

/// The offending access of a finding.
#[derive(Clone, Debug)]
pub struct Side<'a> {
    /// How the bytes are touched: `store`, `memcpy`, `free`, `MPI_Irecv`.
    pub by: &'a str,
    /// Whether it writes.
    pub mode: Mode,
    /// The bytes in question.
    pub bytes: Range<usize>,
}

/// A finding as the semantics see it.
#[derive(Debug)]
pub struct Report<'a> {
    /// What kind.
    pub code: Code,
    /// The offending access, if there is one.
    pub access: Option<Side<'a>>,
    /// The pending operation.
    pub operation: &'a crate::Operation,
    /// The access of the operation that is concerned: its mode, span and number of bytes.
    pub concerned: Option<(Mode, Range<usize>, usize)>,
    /// The places, the offending one first.
    pub sites: &'a [(Role, Site)],
}

/// Where findings go.
pub trait Findings {
    /// Counts a finding of this code between these two addresses if it is known already.
    fn again(&mut self, code: Code, offender: usize, operation: usize) -> bool;
    /// Takes a new finding and returns its number.
    fn report(&mut self, report: &Report) -> u32;
    /// The pending operation of a finding was completed.
    fn completed(&mut self, finding: u32, site: &Site);
}
