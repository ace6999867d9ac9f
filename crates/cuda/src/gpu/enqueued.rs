//! Operations of MPI that a stream carries out (MPICH's `MPIX_Send_enqueue` and the like).
//!
//! An operation is work of its stream. One with a request begins in the order of its stream, and
//! is over where a call of a stream waits for the request: in between it is work beside all
//! streams, which the host does not wait for when it waits for a device.
//!
//! **Soundness.** A stream that receives waits for another rank, which may wait for what this host
//! does later. So what comes after the receive in its stream counts as work that
//! [may wait for the host](super::polling). The receive's own buffer belongs to it from the call
//! on, since the stream may get there at once. Of requests in graphs nothing is known.

use super::{Gpu, MAX_IN_FLIGHT, Started};
use crate::clock::Epoch;
use crate::work::{StreamName, Work};
use commsan_callsite::{Findings, Place};
use rustc_hash::FxHashMap;

/// Operations of MPI in streams.
#[derive(Default)]
pub(super) struct Enqueued {
    /// The latest of each stream that the host may not have waited for.
    pub latest: FxHashMap<u32, Epoch>,
    /// Those with requests that no stream waits for yet: what has their place, and whether they
    /// wait for other ranks.
    begun: FxHashMap<usize, (u32, bool)>,
}

impl Gpu {
    /// Whether operations of MPI may be in some stream.
    pub fn has_operations(&self) -> bool {
        !self.enqueued.latest.is_empty() || !self.enqueued.begun.is_empty()
    }

    /// A stream carries out an operation of MPI; `waits`: it waits there for other ranks.
    pub fn operation_enqueued(
        &mut self,
        work: &Work,
        waits: bool,
        place: &dyn Place,
        out: &mut dyn Findings,
    ) {
        let is_captured = self.makes_graph(work.stream);
        self.enqueue(work, place, out);
        if !is_captured {
            self.goes_on_after(work.stream, waits);
        }
    }

    /// A stream begins an operation of MPI that is known by a request.
    pub fn operation_begins(
        &mut self,
        work: &Work,
        (request, waits): (usize, bool),
        place: &dyn Place,
        out: &mut dyn Findings,
    ) {
        if self.makes_graph(work.stream) || self.enqueued.begun.len() >= MAX_IN_FLIGHT {
            return;
        }
        let stream = self.slot(work.stream);
        let beside = self.order.add_afar();
        let label = format!("{} (until MPIX_Wait_enqueue)", self.labels[&stream]);
        self.labels.insert(beside, label.into());
        let (begin, mut clock) = self.order.enqueue(stream, self.actor.as_ref());
        clock.acquire(begin);
        let (ticket, epoch) = (self.ticket(), self.order.number(beside, &clock));
        let site = place.site(Some(work.call), &mut self.stacks);
        self.begin(work, &Started { ticket, epoch, clock: &clock, site }, place, out);
        // The handle may be that of a request whose end nobody has seen.
        if let Some((old, _)) = self.enqueued.begun.insert(request, (beside, waits)) {
            self.order.drop_slot(old);
        }
    }

    /// A stream waits for the operations of requests.
    pub fn operations_end(&mut self, stream: StreamName, requests: &[usize]) {
        if self.makes_graph(stream) {
            return;
        }
        let slot = self.slot(stream);
        let mut may_wait = false;
        for request in requests {
            let Some((beside, waits)) = self.enqueued.begun.remove(request) else { continue };
            let clock = self.order.of_stream(beside);
            self.order.add(slot, &clock);
            self.order.drop_slot(beside);
            may_wait |= waits;
        }
        self.goes_on_after(stream, may_wait);
    }

    /// What is put into a stream from now on comes after an operation.
    fn goes_on_after(&mut self, stream: StreamName, waits: bool) {
        let slot = self.slot(stream);
        let (after, _) = self.order.enqueue(slot, self.actor.as_ref());
        self.enqueued.latest.insert(slot, after);
        if waits && self.waiting.len() < MAX_IN_FLIGHT {
            self.waiting.push(after);
        }
    }
}
