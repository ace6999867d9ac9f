//! Programs without MPI: work of streams, and the program's own accesses.

use crate::{Host, Load};
use commsan_callsite::{Findings, Place};
use commsan_cuda::{Gpu, StreamChecker};
use commsan_shadow::{Access, Actor, Footprint, Mode, Pages};
use std::ops::{ControlFlow, Range};

/// What is known of a process without MPI.
pub struct Alone {
    pages: Pages,
    gpu: Gpu,
    has_actor: bool,
}

impl Alone {
    /// Whether the page filter knows of anything that an access may meet.
    fn may_meet(&self, access: &Access) -> bool {
        let footprint = &access.footprint;
        let possible = footprint.visit(&footprint.span(), &mut |run| match self
            .pages
            .may_conflict(&run, access.mode)
        {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        });
        possible.is_break()
    }
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
        if self.may_meet(&access) {
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
        if self.may_meet(&access) {
            self.gpu.released(by, &bytes, place, out);
        }
    }

    fn leave(&mut self, frame: usize, place: &impl Place, out: &mut dyn Findings) {
        self.gpu.leave(frame, place, out);
    }

    fn with_streams(&mut self, f: impl FnOnce(&mut dyn StreamChecker)) {
        f(&mut self.gpu);
    }
}
