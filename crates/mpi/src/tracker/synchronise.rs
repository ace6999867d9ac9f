//! The happens-before order that fences, exposures, locks and atomic reads create between ranks.

use super::OneSided;
use super::Tracker;
use crate::ids::{Key, mixed};
use crate::rma::clock::Clock;
use crate::rma::knowledge::Event;
use crate::rma::message::{AccessEpoch, RmaMessage, Which};
use crate::rma::windows::{Active, Fetch, Granted, Held, Window};
use crate::threads::Threads;
use commsan_callsite::{Findings, Place, Site};

impl OneSided {
    /// This process is about to release locks.
    pub(super) fn pass_locks(&mut self, handle: usize, target: Option<i32>, threads: &Threads) {
        let (Some(window), Some(clock)) = (self.windows.get_mut(handle), &mut self.clock) else {
            return;
        };
        let exclusive = window.locks.iter().any(|lock| lock.target == target && lock.exclusive);
        window.ended = Some(clock.segment());
        window.publish(clock.segment());
        for rank in window.targets(target) {
            let (actor, by) = (threads.between_ranks(), threads.by_call());
            clock.release(rank, lock_key(window.name, exclusive), actor, by);
        }
        self.set_segment();
    }
}

impl Tracker {
    pub(super) fn enter_fence(&mut self, handle: usize) {
        self.send_complete(handle, None, Which::All);
        let segment = self.end_segment();
        let rma = &mut self.rma;
        let Some(window) = rma.windows.get_mut(handle) else { return };
        window.fences.push(segment);
        window.publish(segment);
        window.ended = Some(segment);
        if let Some(clock) = &rma.clock {
            clock.shm().enter(fence_key(window), segment);
        }
    }

    pub(super) fn leave_fence(
        &mut self,
        handle: usize,
        fence: Option<Site>,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let Some(window) = self.rma.windows.get_mut(handle) else { return };
        window.fence = fence;
        window.used = false;
        let (key, group) = (fence_key(window), window.made.group.clone());
        self.unstash(place, out);
        let me = self.rma.clock.as_ref().map_or(0, Clock::me);
        self.acquire_from_collective(key, &group, &group.others(me), true, place, out);
        self.unstash(place, out);
        match fence {
            Some(_) => self.guard_window(handle),
            None => self.unguard_window(handle),
        }
    }

    pub(super) fn expose(&mut self, handle: usize, active: Active) {
        let segment = self.end_segment();
        let rma = &mut self.rma;
        let Some(window) = rma.windows.get_mut(handle) else { return };
        for origin in &active.ranks {
            let granted = window.granted.entry(*origin).or_default();
            *granted = Granted { count: granted.count + 1, segment };
            if let Some(clock) = &mut rma.clock {
                let message =
                    RmaMessage::Exposed { window: window.name, target: clock.me(), segment };
                clock.send(*origin, &message);
            }
        }
        window.publish(segment);
        window.exposure = Some(active);
        window.fence = None;
        self.guard_window(handle);
    }

    /// Acquires from the targets of an access epoch, which have exposed their windows.
    pub(super) fn join_exposures(
        &mut self,
        handle: usize,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        self.drain(place, out);
        let rma = &mut self.rma;
        let (Some(window), Some(clock)) = (rma.windows.get(handle), &mut rma.clock) else { return };
        let Some(access) = &window.access else { return };
        for rank in &access.ranks {
            for segment in rma.exposures.remove(&(window.name, *rank)).unwrap_or_default() {
                clock.join(*rank, segment, self.threads.between_ranks());
            }
        }
        self.acquired(place, out);
    }

    pub(super) fn close_exposure(
        &mut self,
        handle: usize,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        self.unstash(place, out);
        self.drain(place, out);
        let rma = &mut self.rma;
        let Some(window) = rma.windows.get_mut(handle) else { return };
        let origins = window.exposure.take().map(|exposure| exposure.ranks).unwrap_or_default();
        let name = window.name;
        self.unguard_window(handle);
        let rma = &mut self.rma;
        let Some(clock) = &mut rma.clock else { return };
        let me = clock.me();
        for origin in &origins {
            for segment in rma.completions.remove(&(name, *origin)).unwrap_or_default() {
                clock.join(*origin, segment, self.threads.between_ranks());
            }
        }
        let segment = self.end_segment();
        for origin in &origins {
            let when = Event { rank: me, segment, stamp: self.threads.stamp() };
            self.rma.remotes.complete(name, *origin, Which::All, when);
        }
        self.acquired(place, out);
    }

    /// Acquires from ranks that held the locks before.
    pub(super) fn take_locks(
        &mut self,
        handle: usize,
        target: Option<i32>,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let rma = &mut self.rma;
        let (Some(window), Some(clock)) = (rma.windows.get(handle), &mut rma.clock) else { return };
        let exclusive = window.locks.iter().any(|lock| lock.target == target && lock.exclusive);
        let (mut news, actor) = (false, self.threads.between_ranks());
        for rank in window.targets(target) {
            news |= clock.acquire(rank, lock_key(window.name, true), actor);
            if exclusive {
                news |= clock.acquire(rank, lock_key(window.name, false), actor);
            }
        }
        if news || exclusive {
            self.acquired(place, out);
        }
    }

    /// Atomic reads have returned: acquires from every atomic write that they may have read.
    pub(super) fn acquire_from_fetches(
        &mut self,
        handle: usize,
        returned: impl Fn(&Fetch) -> bool,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        if self.rma.windows.get(handle).is_none_or(|window| window.fetches.is_empty()) {
            return;
        }
        self.drain(place, out);
        let rma = &mut self.rma;
        let (Some(window), Some(clock)) = (rma.windows.get_mut(handle), &mut rma.clock) else {
            return;
        };
        let mut news = false;
        let (done, left): (Vec<_>, _) =
            std::mem::take(&mut window.fetches).into_iter().partition(|fetch| returned(fetch));
        window.fetches = left;
        for fetch in done {
            let Some(rank) = window.world(fetch.target) else { continue };
            for cell in fetch.cells.acquired() {
                news |= clock.acquire(rank, cell, self.threads.between_ranks());
            }
            if rank == clock.me() {
                let at = |offset: i64| window.made.base.wrapping_add(offset as usize);
                let bytes = at(fetch.span.start)..at(fetch.span.end);
                rma.remotes.observed(window.name, bytes, (rank, fetch.number));
            }
        }
        if news {
            self.acquired(place, out);
        }
    }
}

fn fence_key(window: &Window) -> u64 {
    mixed(window.name ^ 0xfe2ce, window.fences.count() as u64)
}

fn lock_key(window: u64, exclusive: bool) -> u64 {
    if exclusive { Key::ExclusiveLock } else { Key::SharedLock }.of(window)
}

impl Window {
    /// The target, or all members of the window, as ranks in the job.
    fn targets(&self, target: Option<i32>) -> Vec<u32> {
        match target {
            Some(target) => self.world(target).into_iter().collect(),
            None => self.made.group.members.to_vec(),
        }
    }

    /// This process acquires a lock on its own part in a segment.
    pub(super) fn hold(&mut self, target: Option<i32>, exclusive: bool, from: u32) {
        if target.is_none() || target == self.made.own.map(|own| own as i32) {
            if self.held.len() == MAX_HELD {
                self.held.remove(0);
            }
            self.held.push(Held { from, to: u32::MAX, exclusive });
        }
    }

    pub(super) fn release(&mut self, target: Option<i32>, to: u32) {
        if target.is_none() || target == self.made.own.map(|own| own as i32) {
            let held = self.held.iter_mut().filter(|held| held.to == u32::MAX);
            held.for_each(|held| held.to = to);
        }
    }

    /// Whether a lock that this process holds on its own part excludes an operation of another
    /// rank.
    pub(super) fn is_locked(&self, epoch: AccessEpoch, origin: u32) -> bool {
        let own = self.made.own.and_then(|own| self.lock_on(own as i32));
        !self.is_own(origin) && own.is_some_and(|lock| excludes(lock.exclusive, epoch))
    }

    /// Whether a lock that this process held on its own part in a past segment excluded an
    /// operation of another rank.
    pub(super) fn was_locked(&self, segment: u32, epoch: AccessEpoch, origin: u32) -> bool {
        let at = |held: &&Held| (held.from..=held.to).contains(&segment);
        !self.is_own(origin)
            && self.held.iter().filter(at).any(|held| excludes(held.exclusive, epoch))
    }

    /// Whether a rank in the job is this process.
    fn is_own(&self, rank: u32) -> bool {
        self.made.own.and_then(|own| self.world(own as i32)) == Some(rank)
    }
}

/// Locks of its own part that a process remembers for each window.
const MAX_HELD: usize = 64;

fn excludes(exclusive: bool, epoch: AccessEpoch) -> bool {
    match epoch {
        AccessEpoch::Exclusive => true,
        AccessEpoch::Shared => exclusive,
        _ => false,
    }
}
