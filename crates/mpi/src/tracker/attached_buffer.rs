//! Memory that the program lends to MPI for the messages of buffered sends (MPI 4.1 §3.6).
//!
//! **Soundness.** From `MPI_Buffer_attach` to `MPI_Buffer_detach` MPI may write there at any time; after that the
//! program "may reuse or deallocate the space taken by the buffer", which it therefore may not before. Until then
//! it is treated like the buffer of a pending receive: reported is what touches it, releases it or leaves the
//! function whose variable it is. Memory attached to single communicators or sessions (MPI 4.1) is not looked at.

use super::Tracker;
use crate::buffers::Args;
use commsan_callsite::{Findings, Place};
use commsan_shadow::{Access, Mode, OpId};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Memory that passes between the program and the library.
#[derive(Default)]
pub struct LibraryMemory {
    /// The attached buffer, as an operation that writes to it.
    attached: Option<OpId>,
    /// Sizes in bytes of memory from `MPI_Alloc_mem`, by address.
    allocations: FxHashMap<usize, usize>,
}

impl LibraryMemory {
    /// `MPI_Alloc_mem` has returned memory of this size in bytes.
    pub fn allocated(&mut self, address: usize, size: usize) {
        self.allocations.insert(address, size);
    }

    /// The size in bytes of memory from `MPI_Alloc_mem` that is about to be freed; 0 if it is not known.
    pub fn take_allocation(&mut self, address: usize) -> usize {
        self.allocations.remove(&address).unwrap_or(0)
    }
}

impl Tracker {
    /// `MPI_Buffer_attach` has been given this memory.
    pub fn attach_buffer(
        &mut self,
        args: &Args,
        bytes: Range<usize>,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        self.settle();
        let mut accesses = [Some(Access::dense(Mode::Write, bytes)), None, None];
        self.check(args, &accesses, place, out);
        let operation = self.reporter.operation(args, place);
        let id = self.operations.begin(&mut accesses, operation, place);
        self.library_memory.attached = Some(id);
    }

    /// `MPI_Buffer_detach` has returned the memory.
    pub fn detach_buffer(
        &mut self,
        call: &'static str,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        if let Some(id) = self.library_memory.attached.take() {
            self.finish(id, Some(call), place, out);
        }
    }
}
