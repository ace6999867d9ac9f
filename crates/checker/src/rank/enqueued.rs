//! Operations of MPI that streams carry out.

use super::Checker;
use commsan_callsite::{Findings, Place};
use commsan_cuda::{Bytes, KernelAccess, StreamName, Strength, Wait, Work};
use commsan_mpi::{Enqueued, Step};

impl Checker {
    /// An operation was put into a stream, or what waits for operations there.
    pub fn enqueued(
        &mut self,
        stream: StreamName,
        enqueued: &Enqueued<'_>,
        place: &dyn Place,
        out: &mut dyn Findings,
    ) {
        self.tracker.other_work_changed();
        let accesses = enqueued.accesses.iter().map(|access| KernelAccess {
            mode: access.mode,
            strength: Strength::Weak,
            bytes: Bytes::Exactly(access.footprint.clone()),
            certain: true,
            line: None,
        });
        let accesses = accesses.collect();
        let work =
            Work { call: enqueued.call, stream, kernel: None, accesses, wait: Wait::Nothing };
        if let Some(comm) = enqueued.comm.filter(|_| self.devices().makes_graph(stream)) {
            // It happens as often as the graph is launched.
            self.tracker.unbalance(comm);
        }
        match enqueued.step {
            Step::Whole { waits } => {
                self.meets_operations(&work, place, out);
                self.devices().operation_enqueued(&work, waits, place, out);
            }
            Step::Begins { request, waits } => {
                self.meets_operations(&work, place, out);
                self.devices().operation_begins(&work, (request, waits), place, out);
            }
            Step::Ends(requests) => self.devices().operations_end(stream, requests),
        }
        self.tracker.other_work_changed();
    }
}
