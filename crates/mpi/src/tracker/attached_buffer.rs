//! The buffers that the program attaches for the messages of buffered sends (MPI 4.1 §3.6): one of
//! the process, and one for each communicator and session.
//!
//! **Soundness.** From `MPI_Buffer_attach` to `MPI_Buffer_detach` MPI may write to the buffer at
//! any time; after that the program "may reuse or deallocate the space taken by the buffer", which
//! it therefore may not before. Until then the memory is treated like the buffer of a pending
//! receive: reported is what accesses it, frees it or leaves the function whose variable it is.

use super::Tracker;
use crate::buffers::Args;
use commsan_callsite::{Findings, Place};
use commsan_shadow::{Access, Mode, OpId};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// What a buffer is attached to: the messages of which buffered sends it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BufferOwner {
    /// Those that no other buffer is for (`MPI_Buffer_attach`).
    Process,
    /// Those of a communicator (`MPI_Comm_attach_buffer`).
    Comm(usize),
    /// Those of the communicators of a session (`MPI_Session_attach_buffer`).
    Session(usize),
}

/// Memory that passes between the program and the library.
#[derive(Default)]
pub struct LibraryMemory {
    /// The attached buffers, each as an operation that writes to it.
    attached: FxHashMap<BufferOwner, OpId>,
    /// Sizes in bytes of memory from `MPI_Alloc_mem`, by address.
    allocations: FxHashMap<usize, usize>,
}

impl LibraryMemory {
    /// `MPI_Alloc_mem` has returned memory of this size in bytes.
    pub fn allocated(&mut self, address: usize, size: usize) {
        self.allocations.insert(address, size);
    }

    /// The size in bytes of memory from `MPI_Alloc_mem` that is about to be freed; 0 if it is not
    /// known.
    pub fn take_allocation(&mut self, address: usize) -> usize {
        self.allocations.remove(&address).unwrap_or(0)
    }
}

impl Tracker {
    /// `MPI_Buffer_attach` or the like has been given this memory.
    pub fn attach_buffer(
        &mut self,
        args: &Args,
        owner: BufferOwner,
        bytes: Range<usize>,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        self.settle();
        let mut accesses = [Some(Access::dense(Mode::Write, bytes)), None, None];
        self.check(args, &accesses, place, out);
        let operation = self.reporter.operation(args, place);
        let id = self.operations.begin(&mut accesses, operation, place);
        self.library_memory.attached.insert(owner, id);
    }

    /// `MPI_Buffer_detach` or the like has returned the memory, or its owner is freed.
    pub fn detach_buffer(
        &mut self,
        owner: BufferOwner,
        call: &'static str,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        if let Some(id) = self.library_memory.attached.remove(&owner) {
            self.finish(id, Some(call), place, out);
        }
    }
}
