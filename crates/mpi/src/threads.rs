//! Threads of this process as agents: the acting thread, its happens-before order, and completions
//! that not all threads have acquired.

use crate::rma::knowledge::ByCall;
use commsan_callsite::Site;
use commsan_shadow::{Actor, Epoch, OpId};
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::ops::Range;

/// Completed operations that are kept at most.
pub(crate) const MAX_RETIRED: usize = 64;

/// The happens-before order of this process's threads.
#[derive(Default)]
pub(crate) struct Threads {
    /// The acting thread, if there are several and it is known.
    pub actor: Option<Actor>,
    /// Operations that are complete, but whose completion not all threads have acquired.
    retired: VecDeque<(OpId, Epoch)>,
    /// The last call of each agent that synchronises with other ranks.
    synchronising: Vec<(u32, ByCall)>,
    /// Whether the program's atomics are seen, and so all that orders its threads.
    pub sees_all: bool,
}

/// A completion that not all threads have acquired.
#[derive(Clone, Debug)]
pub(crate) struct Retired {
    pub when: Epoch,
    /// Epochs of later calls that would have completed the operation, had it not been complete.
    pub again: SmallVec<[Epoch; 2]>,
    /// The completing call.
    pub site: Site,
    /// How often its memory was accessed since by threads that come after it.
    pub touched: u8,
}

impl Retired {
    pub fn new(when: Epoch, site: Site) -> Retired {
        Retired { when, again: SmallVec::new(), site, touched: 0 }
    }

    /// Whether the acting thread comes after the completion.
    pub fn is_known(&self, threads: &Threads) -> bool {
        self.again.iter().chain([&self.when]).any(|when| threads.comes_after(*when))
    }

    /// Whether what the acting thread does to these bytes comes after the completion.
    pub fn is_known_for(&self, threads: &Threads, bytes: &Range<usize>) -> bool {
        self.again.iter().chain([&self.when]).any(|when| threads.comes_after_at(*when, bytes))
    }
}

impl Threads {
    /// Whether an epoch happens before what the acting thread does next.
    pub fn comes_after(&self, stamp: Epoch) -> bool {
        self.actor.as_ref().is_none_or(|actor| stamp.happens_before(&actor.clock))
    }

    /// Whether an epoch happens before what the acting thread does next to these bytes: whichever
    /// threads take the sections, or the iterations of a loop, that both belong to; or because the
    /// bytes belong to the thread that executes both tasks. The range is empty if it is not memory
    /// that both use.
    pub fn comes_after_at(&self, stamp: Epoch, bytes: &Range<usize>) -> bool {
        self.actor.as_ref().is_none_or(|actor| {
            stamp.happens_before(&actor.clock) && !(actor.is_by_mapping)(stamp, bytes)
                || (actor.is_by_thread)(stamp, bytes)
        })
    }

    /// As [`comes_after_at`](Self::comes_after_at), of two calls that must not be concurrent.
    pub fn calls_after(&self, stamp: Epoch) -> bool {
        self.comes_after_at(stamp, &(0..0))
    }

    /// The acting thread's present epoch.
    pub fn stamp(&self) -> Epoch {
        self.actor.as_ref().map_or(Epoch::default(), |actor| actor.stamp)
    }

    /// Operations that are complete, but whose completion not all threads have acquired.
    pub fn retired(&self) -> impl Iterator<Item = OpId> {
        self.retired.iter().map(|(id, _)| *id)
    }

    /// Whether the acting thread matters.
    pub fn are_known(&self) -> bool {
        self.actor.is_some() || !self.retired.is_empty()
    }

    /// An operation was completed in this epoch, which not all threads have acquired.
    pub fn retire(&mut self, id: OpId, when: Epoch) {
        self.retired.push_back((id, when));
    }

    /// Removes the operation that was completed first.
    pub fn take_oldest(&mut self) -> Option<OpId> {
        self.retired.pop_front().map(|(id, _)| id)
    }

    /// Removes the operation that was completed first, if its completion is known to all threads or
    /// there are too many.
    pub fn take_known(&mut self, known_to_all: impl Fn(Epoch) -> bool) -> Option<OpId> {
        let (_, when) = self.retired.front()?;
        match self.retired.len() > MAX_RETIRED || known_to_all(*when) {
            true => self.take_oldest(),
            false => None,
        }
    }

    /// Forgets the operations for which `is_over` holds; the caller ends them.
    pub fn forget(&mut self, mut is_over: impl FnMut(OpId) -> bool) {
        self.retired.retain(|(id, _)| !is_over(*id));
    }

    /// The acting thread, if what it releases to other ranks is limited to what it knows: the
    /// program's atomics are seen, and so all that orders its threads.
    #[inline]
    pub fn between_ranks(&self) -> Option<&Actor> {
        self.actor.as_ref().filter(|_| self.sees_all)
    }

    /// The acting thread is about to synchronise with other ranks by this call.
    pub fn synchronises(&mut self, by: ByCall) {
        let agent = self.stamp().agent;
        self.synchronising.retain(|(of, _)| *of != agent);
        self.synchronising.push((agent, by));
    }

    /// The call by which the acting thread has synchronised with other ranks last, if there are
    /// several.
    #[inline]
    pub fn by_call(&self) -> Option<ByCall> {
        let agent = self.between_ranks()?.stamp.agent;
        self.synchronising.iter().find(|(of, _)| *of == agent).map(|(_, by)| *by)
    }
}

/// A call by one of several threads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Calling {
    pub stamp: Epoch,
    pub site: Site,
    /// Whether the call has not returned yet.
    pub lasts: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use commsan_shadow::Clock;

    fn clock(agent: usize, epoch: u32) -> Clock {
        let mut epochs = [0; commsan_shadow::AGENTS];
        epochs[agent] = epoch;
        Clock::new(epochs)
    }

    #[test]
    fn who_acts_comes_after_what_its_clock_covers() {
        let known_to_all = |_| false;
        let actor = Actor {
            stamp: Epoch { agent: 1, time: 1 },
            clock: clock(2, 3),
            known_to_all,
            is_by_mapping: |_, bytes| bytes.contains(&4096),
            is_by_thread: |_, bytes| bytes.contains(&16384),
        };
        let mut threads = Threads { actor: Some(actor), ..Threads::default() };
        let known = Epoch { agent: 2, time: 3 };
        assert!(threads.comes_after(known));
        assert!(!threads.comes_after(Epoch { agent: 2, time: 4 }));
        assert!(threads.comes_after_at(known, &(8192..8200)) && threads.calls_after(known));
        assert!(!threads.comes_after_at(known, &(4096..4104)), "but only by the mapping");
        let unknown = Epoch { agent: 2, time: 4 };
        assert!(threads.comes_after_at(unknown, &(16384..16392)), "by the thread");
        assert!(!threads.comes_after_at(unknown, &(8192..8200)) && !threads.calls_after(unknown));
        assert!(threads.between_ranks().is_none(), "its atomics may order more");
        threads.sees_all = true;
        let by = |site| ByCall { call: 7, site };
        assert_eq!(threads.by_call(), None);
        [by(1), by(2)].into_iter().for_each(|by| threads.synchronises(by));
        assert_eq!((threads.by_call(), threads.synchronising.len()), (Some(by(2)), 1));
        threads.actor = None;
        assert!(threads.comes_after(Epoch { agent: 2, time: 4 }), "who acts is not known");
        assert_eq!(threads.by_call(), None);
    }
}
