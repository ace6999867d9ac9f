//! Flags that the host and work in flight pass to each other: one stores a flag, and the other
//! looks for it.
//!
//! **Soundness.** Accesses that are strong in the system's scope do not race with atomic and
//! volatile ones of the host (PTX ISA §8.6); which of the host's are that is not known, so that all
//! count as such. Nor is it known what a load of the host has found, and what the work has done
//! before: who has loaded such a flag counts as having waited for all of the work. Missed is what
//! the work does after the store, or what the host does before it has seen it. Work that loads
//! memory which the host may store to, in that scope, may wait for the host, and so may all that
//! comes after it: until it is known to be complete, nothing that the host does counts as done
//! while they run. Missed is all that it does too soon or too late. Kernels that run at the same
//! time signal each other alike: where one loads what another one stores, both strongly enough,
//! nothing that they do, or what comes after them, counts as unordered; who has waited for the one
//! has waited for the other.

use super::{Flight, Gpu};
use crate::clock::Clock;
use crate::work::{Bytes, KernelAccess, MemoryKind, Work};
use commsan_callsite::{Findings, Place};
use commsan_findings::Code;
use commsan_ptx::Strength;
use commsan_shadow::{Footprint, Mode, OpId};
use smallvec::SmallVec;
use std::ops::ControlFlow;

/// How strong the accesses are that a code is about.
pub(super) fn strength(code: Code) -> Strength {
    match code {
        Code::WorkMeetsHost => Strength::System,
        _ => Strength::Weak,
    }
}

/// A device, and what work there touches.
type Talker<'t> = (u32, &'t [KernelAccess]);

impl Gpu {
    /// The host loads these bytes, and may find there what work in flight signals.
    pub(super) fn polled(
        &mut self,
        footprint: &Footprint,
        place: &dyn Place,
        out: &mut dyn Findings,
    ) {
        let knows = self.knowledge(place.thread());
        let mut told = Clock::default();
        for live in [&self.live, &self.possible.live] {
            let _ = live.conflicts::<()>(Mode::Read, footprint, |id, _, _| {
                if let Some(flight) = live.get(id)
                    && knows.is_unordered(flight)
                    && self.signals_host(flight, footprint)
                {
                    told.join(&flight.clock);
                    told.acquire(flight.epoch);
                }
                ControlFlow::Continue(())
            });
        }
        if told != Clock::default() {
            self.ipc.release(&told);
            self.order.wait(&told, self.actor.as_ref());
            self.complete_shared(&told);
            self.sweep(None, place, out);
        }
    }

    /// Whether work may wait for something that the host does while it is in flight.
    pub(super) fn awaits_host(&self, work: &Work) -> bool {
        let is_visible = |address| {
            let block = self.memory.around(address);
            block.is_none_or(|block| block.kind != MemoryKind::Device)
        };
        work.accesses.iter().filter(|access| access.awaits_host()).any(|access| {
            match &access.bytes {
                Bytes::Exactly(footprint) => is_visible(footprint.span().start),
                Bytes::Within(address) => is_visible(*address),
                Bytes::Anywhere => true,
            }
        })
    }

    /// Whether what comes after this comes after work that may wait for the host.
    pub(super) fn is_held_back(&self, clock: &Clock) -> bool {
        self.waiting.iter().any(|epoch| epoch.happens_before(clock))
    }

    /// Whether work in flight may wait for what a code is about. Memory must not go even so.
    pub(super) fn may_wait(&self, flight: &Flight, code: Code) -> bool {
        let waits = self.waiting.contains(&flight.epoch) || self.is_held_back(&flight.clock);
        waits && code != Code::WorkMemoryReleased
    }

    /// Whether work, or what it comes after, may wait for other work in flight, or for what that
    /// comes after, or that for it.
    pub(super) fn may_wait_for_work(
        &self,
        work: &Work,
        (device, clock): (u32, &Clock),
        other: &Flight,
    ) -> bool {
        if !self.listens {
            return false;
        }
        let one = self.talkers((device, &work.accesses), clock);
        let other = self.talkers((other.device, &other.accesses), &other.clock);
        one.iter().any(|one| other.iter().any(|other| self.may_talk(*one, *other)))
    }

    /// A piece of work and those before it in flight, if they could signal something to others or
    /// wait for it.
    fn talkers<'f>(&'f self, work: Talker<'f>, clock: &Clock) -> SmallVec<[Talker<'f>; 4]> {
        let flights = self.live.iter().chain(self.possible.live.iter());
        let before = flights.filter(|(_, flight)| flight.epoch.happens_before(clock));
        let before = before.map(|(_, flight)| (flight.device, &*flight.accesses));
        let is_strong = |access: &KernelAccess| access.strength != Strength::Weak;
        let all = std::iter::once(work).chain(before);
        all.filter(|(_, accesses)| accesses.iter().any(is_strong)).collect()
    }

    fn may_talk(&self, one: Talker<'_>, other: Talker<'_>) -> bool {
        self.may_await(one, other) || self.may_await(other, one)
    }

    /// Whether one piece of work may wait for what another one stores.
    fn may_await(&self, one: Talker<'_>, other: Talker<'_>) -> bool {
        let least = if one.0 == other.0 { Strength::Device } else { Strength::System };
        let reach =
            |accesses, mode| strong(accesses, mode, least).flat_map(|access| self.reach(access));
        let stores: SmallVec<[Footprint; 4]> = reach(other.1, Mode::Write).collect();
        reach(one.1, Mode::Read).any(|load| stores.iter().any(|store| store.meets(&load).is_some()))
    }

    /// What work that is over may have waited for, and the host with it.
    pub(super) fn awaited_by(&self, over: &[OpId]) -> Clock {
        let mut heard = Clock::default();
        if !self.listens {
            return heard;
        }
        for one in over.iter().filter_map(|id| self.live.get(*id)) {
            for (_, other) in self.live.iter() {
                let talker = (other.device, &*other.accesses);
                if !self.order.is_known_to_all(other.epoch)
                    && self.may_await((one.device, &*one.accesses), talker)
                {
                    heard.join(&other.clock);
                    heard.acquire(other.epoch);
                }
            }
        }
        heard
    }

    fn signals_host(&self, flight: &Flight, footprint: &Footprint) -> bool {
        let meets = |reached: Footprint| reached.meets(footprint).is_some();
        let mut flags = flight.accesses.iter().filter(|access| access.signals_host());
        flags.any(|access| self.reach(access).into_iter().any(meets))
    }
}

/// Loads or stores that are at least so strong.
fn strong(
    accesses: &[KernelAccess],
    mode: Mode,
    least: Strength,
) -> impl Iterator<Item = &KernelAccess> {
    accesses.iter().filter(move |access| access.mode == mode && access.strength >= least)
}

/// Whether work may wait for what other work stores.
pub(super) fn listens(work: &Work) -> bool {
    strong(&work.accesses, Mode::Read, Strength::Device).next().is_some()
}
