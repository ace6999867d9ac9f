//! NCCL's calls.

use super::Gpu;
use crate::nccl::{Act, Making, Origin};
use crate::waiting::{Job, Meeting};
use commsan_callsite::{Findings, Place};

impl Gpu {
    /// A communicator of NCCL is about to be made; its rank and size, if the program passes them.
    pub fn nccl_making(
        &mut self,
        origin: Origin<'_>,
        known: [Option<u32>; 2],
        call: &'static str,
        place: &dyn Place,
        out: &mut dyn Findings,
    ) -> Making {
        let site = place.site(Some(call), &mut self.stacks);
        self.nccl.making(origin, known, site, &self.stacks, out)
    }

    /// A call of NCCL, and where ranks of the job meet. Returns what it needs of other ranks, as
    /// far as it is compared with their calls.
    pub fn nccl(
        &mut self,
        act: Act,
        job: Job,
        place: &dyn Place,
        out: &mut dyn Findings,
    ) -> Option<Meeting> {
        if let Act::Calls(handle, _, stream, _) = act
            && self.makes_graph(stream)
        {
            // It happens when the graph is launched.
            self.nccl.distrust(handle);
        }
        self.nccl.act(act, place, &mut self.stacks, job, out)
    }

    /// No thread ends a group of NCCL any more; with `is_exit`, none destroys a communicator.
    pub fn nccl_ends(&mut self, is_exit: bool, out: &mut dyn Findings) {
        self.nccl.ends(is_exit, &self.stacks, out);
    }
}
