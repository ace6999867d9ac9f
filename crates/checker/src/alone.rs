//! Programs without MPI: work of streams, and the program's own accesses.

use crate::{Host, Load};
use commsan_callsite::{Findings, Place};
use commsan_cuda::{Gpu, StreamChecker};
use commsan_shadow::{Access, Actor, Footprint, Mode, Pages};
use std::ops::Range;

/// What is known of a process without MPI.
pub struct Alone {
    pages: Pages,
    gpu: Gpu,
    has_actor: bool,
}

impl Host for Alone {
    fn new(pages: Pages) -> Alone {
        Alone { pages, gpu: Gpu::new(pages), has_actor: false }
    }

    fn load(&self) -> Load {
        Load { ranges: self.gpu.load(), on_stack: self.gpu.on_stack() }
    }

    fn knows_threads(&self) -> bool {
        self.has_actor
    }

    fn act_as(&mut self, actor: Option<Actor>, alone: bool) {
        self.has_actor = actor.is_some();
        self.gpu.act_as(actor.as_ref(), alone);
    }

    fn access(
        &mut self,
        by: &str,
        mode: Mode,
        bytes: Range<usize>,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let access = Access { mode, footprint: Footprint::Dense(bytes) };
        if access.may_conflict(self.pages) {
            self.gpu.meets(by, None, &access, place, out);
        }
    }

    fn released(
        &mut self,
        by: &str,
        bytes: Range<usize>,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let access = Access { mode: Mode::Write, footprint: Footprint::Dense(bytes.clone()) };
        if access.may_conflict(self.pages) {
            self.gpu.released(by, &bytes, place, out);
        }
    }

    fn leave(&mut self, frame: usize, place: &impl Place, out: &mut dyn Findings) {
        self.gpu.leave(frame, place, out);
    }

    fn ends(&mut self, is_exit: bool, out: &mut dyn Findings) {
        self.gpu.nccl_ends(is_exit, out);
    }

    fn with_streams(&mut self, f: impl FnOnce(&mut dyn StreamChecker)) {
        f(&mut self.gpu);
    }
}
