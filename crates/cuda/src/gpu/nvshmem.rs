//! NVSHMEM's calls: what they use in this process, and when operations are over that do not wait.
//!
//! **Soundness.** A nonblocking operation uses its local buffer from the call, or from where its
//! stream comes to it, until `nvshmem_quiet`, or a call that implies that, of the host or in a
//! stream; one of a stream is not over for a host that has not waited for the stream. It may be
//! carried out at any time in between, beside all streams. A stream that waits for a signal, or for
//! a value, may wait for another PE's reply to what this one has put: it counts as a quiet. Of what
//! other PEs do here nothing is known.

use super::{Gpu, MAX_IN_FLIGHT, Started};
use crate::clock::{Clock, Epoch};
use crate::nvshmem::{Act, Uses, Wrong};
use crate::waiting::{Job, Meeting};
use crate::work::{KernelAccess, StreamName, Work};
use commsan_callsite::{Findings, Place};
use commsan_shadow::Access;

/// A nonblocking operation that nobody has waited for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pending {
    /// What has its place in the order of streams.
    beside: u32,
    /// Where its stream comes to it.
    begin: Option<Epoch>,
}

impl Gpu {
    /// A call of NVSHMEM, and where ranks of the job meet. Returns what it needs of other ranks, as
    /// far as it is compared with their calls.
    pub fn nvshmem(
        &mut self,
        act: Act<'_>,
        job: Job,
        place: &dyn Place,
        out: &mut dyn Findings,
    ) -> Option<Meeting> {
        match act {
            Act::Moves(accesses, call) => {
                for (access, footprint) in KernelAccess::certain(accesses) {
                    let access = Access { mode: access.mode, footprint: footprint.clone() };
                    self.meets(call, Some(call), &access, place, out);
                }
                return None;
            }
            // It happens when the graph is launched.
            Act::Together(team, _, _, Some(stream), _) if self.makes_graph(stream) => {
                self.nvshmem.distrust(team);
            }
            _ => {}
        }
        self.nvshmem.act(act, place, &mut self.stacks, job, out)
    }

    /// What is wrong with what a call of NVSHMEM passes.
    pub fn nvshmem_wrong(&mut self, uses: &[Uses]) -> Vec<Wrong> {
        uses.iter().filter_map(|uses| self.nvshmem.wrong(uses)).collect()
    }

    /// The number of the symmetric allocation that begins at an address; 0 if none does.
    pub fn nvshmem_block(&mut self, at: usize) -> u64 {
        self.nvshmem.number_of_block(at)
    }

    /// A nonblocking operation begins, now or where a stream comes to it.
    pub fn nvshmem_begins(
        &mut self,
        work: &Work,
        stream: Option<StreamName>,
        place: &dyn Place,
        out: &mut dyn Findings,
    ) {
        let is_captured = stream.is_some_and(|stream| self.makes_graph(stream));
        if is_captured || self.begun.len() >= MAX_IN_FLIGHT {
            return;
        }
        let beside = self.order.add_afar();
        let (by, begin, clock) = match stream {
            Some(stream) => {
                let slot = self.slot(stream);
                let (begin, mut clock) = self.order.enqueue(slot, self.actor.as_ref());
                clock.acquire(begin);
                (self.labels[&slot].to_string(), Some(begin), clock)
            }
            None => ("the host".to_owned(), None, self.order.host(self.actor.as_ref())),
        };
        self.labels.insert(beside, format!("{by} (until nvshmem_quiet)").into());
        let (ticket, epoch) = (self.ticket(), self.order.number(beside, &clock));
        let site = place.site(Some(work.call), &mut self.stacks);
        self.begin(work, &Started { ticket, epoch, clock: &clock, site }, place, out);
        self.begun.push(Pending { beside, begin });
    }

    /// A stream waits for what other PEs, or this one, put into memory of this one.
    pub fn nvshmem_awaits(&mut self, work: &Work, place: &dyn Place, out: &mut dyn Findings) {
        self.operation_enqueued(work, true, place, out);
    }

    /// The host, or a stream, has waited for all nonblocking operations so far.
    pub fn nvshmem_completes(
        &mut self,
        stream: Option<StreamName>,
        call: &'static str,
        place: &dyn Place,
        out: &mut dyn Findings,
    ) {
        if self.begun.is_empty() || stream.is_some_and(|stream| self.makes_graph(stream)) {
            return;
        }
        let host = self.order.host(self.actor.as_ref());
        let is_over = |pending: &Pending| {
            stream.is_some() || pending.begin.is_none_or(|begin| begin.happens_before(&host))
        };
        let all = std::mem::take(&mut self.begun);
        let (over, left): (Vec<_>, Vec<_>) = all.into_iter().partition(is_over);
        self.begun = left;
        let mut clock = Clock::default();
        over.iter().for_each(|pending| clock.join(&self.order.of_stream(pending.beside)));
        match stream {
            Some(stream) => {
                let slot = self.slot(stream);
                self.order.add(slot, &clock);
            }
            None => self.host_waited(&clock, call, place, out),
        }
        over.iter().for_each(|pending| self.order.drop_slot(pending.beside));
    }
}
