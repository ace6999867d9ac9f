//! Memory that the program lends to MPI for the messages of buffered sends (MPI 4.1 §3.6).
//!
//! **Soundness.** From `MPI_Buffer_attach` to `MPI_Buffer_detach` MPI may write there at any time; after that the
//! program "may reuse or deallocate the space taken by the buffer", which it therefore may not before. Until then
//! it is treated like the buffer of a pending receive: reported is what touches it, releases it or leaves the
//! function whose variable it is. Memory attached to single communicators or sessions (MPI 4.1) is not looked at.

use super::Tracker;
use crate::buffers::Args;
use commsan_callsite::{Findings, Place};
use commsan_shadow::{Access, Footprint, Mode};
use std::ops::Range;

impl Tracker {
    /// `MPI_Buffer_attach` has been given this memory.
    pub fn lend(
        &mut self,
        args: &Args,
        bytes: Range<usize>,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        self.settle();
        let access = Access { mode: Mode::Write, footprint: Footprint::Dense(bytes) };
        let mut accesses = [Some(access), None, None];
        self.check(args, &accesses, place, out);
        let operation = self.reporter.operation(args, place);
        self.lent = Some(self.operations.begin(&mut accesses, operation, place));
    }

    /// `MPI_Buffer_detach` has given it back.
    pub fn take_back(&mut self, call: &'static str, place: &impl Place, out: &mut dyn Findings) {
        if let Some(id) = self.lent.take() {
            self.finish(id, Some(call), place, out);
        }
    }
}
