//! The work of streams, as MPI's operations meet it.

use commsan_callsite::{Findings, MetWork, Need, Place, Site, Stacks};
use commsan_cuda::waiting::Ranks;
use commsan_cuda::{Gpu, KernelAccess};
use commsan_mpi::{OtherWork, RankTime, Status};
use commsan_shadow::{Access, Actor, Footprint, Mode, OpId, Pages};
use std::any::Any;
use std::ops::Range;

/// Work of streams.
pub(super) struct Streams {
    pub gpu: Gpu,
}

impl Streams {
    /// Nothing in any stream.
    pub fn new(pages: Pages) -> Streams {
        Streams { gpu: Gpu::new(pages) }
    }

    /// The work of streams that a tracker has been given.
    pub fn of(work: &mut dyn OtherWork) -> &mut Streams {
        let work: &mut dyn Any = work;
        work.downcast_mut().expect("a checker's tracker is made beside streams")
    }
}

impl OtherWork for Streams {
    fn status(&self) -> Status {
        Status {
            marked: self.gpu.load(),
            on_stack: self.gpu.on_stack(),
            shares_memory: self.gpu.shares_memory(),
            is_busy: !self.gpu.is_idle(),
        }
    }

    fn has_work(&self) -> bool {
        self.gpu.has_work()
    }

    fn act_as(&mut self, actor: Option<&Actor>, alone: bool) {
        self.gpu.act_as(actor, alone);
    }

    fn set_time(&mut self, time: Option<RankTime<&[u32]>>) {
        self.gpu.set_time(time);
    }

    fn accessed(
        &mut self,
        by: &str,
        call: Option<&'static str>,
        access: &Access,
        place: &dyn Place,
        out: &mut dyn Findings,
    ) {
        self.gpu.meets(by, call, access, place, out);
    }

    fn released(
        &mut self,
        by: &str,
        bytes: &Range<usize>,
        place: &dyn Place,
        out: &mut dyn Findings,
    ) {
        self.gpu.released(by, bytes, place, out);
    }

    fn left(&mut self, frame: usize, place: &dyn Place, out: &mut dyn Findings) {
        self.gpu.leave(frame, place, out);
    }

    fn operation_started(
        &mut self,
        id: OpId,
        accesses: &[Access],
        call: &'static str,
        place: &dyn Place,
        out: &mut dyn Findings,
    ) {
        self.gpu.operation_starts(id, accesses, call, place, out);
    }

    fn operation_ended(&mut self, id: OpId, accesses: &[Access], call: &'static str) {
        self.gpu.operation_ends(id, accesses, call);
    }

    fn met_by(&mut self, access: &Access, stacks: &mut Stacks) -> Vec<MetWork> {
        self.gpu.met_by(access, stacks).into_vec()
    }

    fn keep_ended(&mut self) {
        self.gpu.keep_ended();
    }

    fn take_ended(&mut self, each: &mut dyn FnMut(usize, Mode, &Footprint)) {
        for ended in self.gpu.take_ended() {
            for (access, footprint) in KernelAccess::certain(&ended.accesses) {
                each(ended.pc, access.mode, footprint);
            }
        }
    }

    fn block_around(&self, address: usize) -> Option<Range<usize>> {
        self.gpu.block_around(address)
    }

    fn needs(&self, job: Ranks, stacks: &mut Stacks) -> Option<(Site, Vec<Need>)> {
        self.gpu.needs_of_host(job, stacks)
    }

    fn entered(&self) -> Option<Vec<(u64, u32)>> {
        self.gpu.entered()
    }
}
