//! What the host and work tell each other while the work goes on: one stores a flag, and the other looks for
//! it.
//!
//! **Soundness.** Accesses that are strong in the system's scope do not race with atomic and volatile ones of
//! the host (PTX ISA §8.6); which of the host's are that nobody tells, so that all count as such. Nor does
//! anybody tell what a load of the host has found, and what the work has done before: who has loaded such a
//! flag counts as having waited for all of the work. Missed is what the work does after the store, or what
//! the host does before it has seen it. Work that loads memory which the host may store to, in that scope, may
//! wait for the host, and so may all that comes after it: until it is known to be complete, nothing that
//! the host does counts as done while they run. Missed is all that it does too soon or too late.

use super::{Flight, Gpu};
use crate::clock::Clock;
use crate::work::{Bytes, MemoryKind, Work};
use commsan_engine::{Footprint, Mode};
use commsan_model::Code;
use commsan_place::{Findings, Place};
use commsan_ptx::Strength;
use std::ops::ControlFlow;

/// How strong the accesses are that a code is about.
pub(super) fn strength(code: Code) -> Strength {
    match code {
        Code::WorkMeetsHost => Strength::System,
        _ => Strength::Weak,
    }
}

impl Gpu {
    /// The host loads these bytes, and may find there what work in flight tells it.
    pub(super) fn polled(
        &mut self,
        footprint: &Footprint,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let knows = self.knowledge(place.thread());
        let mut told = Clock::default();
        for live in [&self.live, &self.doubts.live] {
            let _ = live.conflicts::<()>(Mode::Read, footprint, |id, _, _| {
                if let Some(flight) = live.get(id)
                    && knows.is_unordered(flight)
                    && self.tells_host(flight, footprint)
                {
                    told.join(&flight.clock);
                    told.see(flight.moment);
                }
                ControlFlow::Continue(())
            });
        }
        if told != Clock::default() {
            self.afar.tell(&told);
            self.order.wait(&told, self.actor.as_ref());
            self.complete_shared(&told);
            self.sweep(None, place, out);
        }
    }

    /// Whether work may wait for something that the host does while it is in flight.
    pub(super) fn hears_host(&self, work: &Work) -> bool {
        let is_visible = |address| {
            let block = self.memory.around(address);
            block.is_none_or(|block| block.kind != MemoryKind::Device)
        };
        work.touches.iter().filter(|touch| touch.hears_host()).any(|touch| match &touch.bytes {
            Bytes::Exactly(footprint) => is_visible(footprint.span().start),
            Bytes::Within(address) => is_visible(*address),
            Bytes::Anywhere => true,
        })
    }

    /// Whether what comes after this comes after work that may wait for the host.
    pub(super) fn is_held_back(&self, clock: &Clock) -> bool {
        self.waiting.iter().any(|moment| clock.has_seen(*moment))
    }

    /// Whether work in flight may wait for what a code is about. Memory must not go even so.
    pub(super) fn may_wait(&self, flight: &Flight, code: Code) -> bool {
        let waits = self.waiting.contains(&flight.moment) || self.is_held_back(&flight.clock);
        waits && code != Code::WorkMemoryReleased
    }

    fn tells_host(&self, flight: &Flight, footprint: &Footprint) -> bool {
        let meets = |reached: Footprint| reached.meets(footprint).is_some();
        let mut flags = flight.touches.iter().filter(|touch| touch.tells_host());
        flags.any(|touch| self.reach(touch).into_iter().any(meets))
    }
}
