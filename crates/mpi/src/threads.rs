//! Threads of this process as agents: the acting thread, its happens-before order, and completions
//! that not all threads have acquired.

use commsan_callsite::Site;
use commsan_shadow::{Actor, Clock, Epoch, OpId, When};
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::ops::Range;

/// Completed operations that are kept at most.
pub(crate) const MAX_RETIRED: usize = 64;
/// Ends of segments that are remembered.
const MAX_SEGMENTS: usize = 256;

/// The happens-before order of this process's threads.
#[derive(Default)]
pub(crate) struct Threads {
    /// The acting thread, if there are several and it is known.
    pub actor: Option<Actor>,
    /// Operations that are complete, but whose completion not all threads have acquired.
    retired: VecDeque<(OpId, Epoch)>,
    /// The clocks of the threads that ended the last segments.
    ends: VecDeque<(u32, Clock)>,
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

    /// Whether an epoch happens before what the acting thread does next to these bytes, whichever
    /// threads take the sections, or the iterations of a loop, that both belong to. The range is
    /// empty if it is not memory that both use.
    pub fn comes_after_at(&self, stamp: Epoch, bytes: &Range<usize>) -> bool {
        self.actor.as_ref().is_none_or(|actor| {
            stamp.happens_before(&actor.clock) && !(actor.is_by_mapping)(stamp, bytes)
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

    /// The acting thread ends a segment.
    pub fn end_segment(&mut self, segment: u32) {
        if let Some(actor) = &self.actor {
            if self.ends.len() == MAX_SEGMENTS {
                self.ends.pop_front();
            }
            self.ends.push_back((segment, actor.clock.clone()));
        }
    }

    /// Whether an access is covered by what this process has released to a rank that has acquired
    /// all of its segments up to `until`.
    pub fn was_released(&self, when: When, until: u32) -> bool {
        let end = |segment| self.ends.iter().find(|(ended, _)| *ended == segment);
        // Forgotten segments ended when there were no threads, or long ago.
        let covered =
            |segment| end(segment).is_none_or(|(_, clock)| when.stamp.happens_before(clock));
        let many = until.saturating_sub(when.segment) as usize >= self.ends.len();
        when.segment <= until && (many || (when.segment..=until).rev().any(covered))
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

    fn clock(agent: usize, epoch: u32) -> Clock {
        let mut epochs = [0; commsan_shadow::AGENTS];
        epochs[agent] = epoch;
        Clock::new(epochs)
    }

    #[test]
    fn what_was_told_is_what_the_teller_knew() {
        let known_to_all = |_| false;
        let teller = |epoch| Actor {
            stamp: Epoch { agent: 1, time: 1 },
            clock: clock(2, epoch),
            known_to_all,
            is_by_mapping: |_, bytes| bytes.contains(&4096),
        };
        let mut threads = Threads::default();
        // Segments 5 and 6 end in a thread that knows agent 2 up to its epochs 0 and 3.
        for (segment, epoch) in [(5, 0), (6, 3)] {
            threads.actor = Some(teller(epoch));
            threads.end_segment(segment);
        }
        let when = |segment, time| When { segment, stamp: Epoch { agent: 2, time } };
        assert!(!threads.was_released(when(6, 3), 5), "it came after the segment");
        assert!(!threads.was_released(when(5, 3), 5), "nobody knew of it");
        assert!(threads.was_released(when(5, 3), 6), "but somebody did when the next one ended");
        assert!(!threads.was_released(when(5, 4), 6));
        assert!(threads.was_released(when(5, 4), 7), "that one ended when there were no threads");
        assert!(threads.was_released(when(1, 9), 6), "as earlier ones did");

        assert!(threads.comes_after(Epoch { agent: 2, time: 3 }));
        assert!(!threads.comes_after(Epoch { agent: 2, time: 4 }));
        let known = Epoch { agent: 2, time: 3 };
        assert!(threads.comes_after_at(known, &(8192..8200)) && threads.calls_after(known));
        assert!(!threads.comes_after_at(known, &(4096..4104)), "but only by the mapping");
        threads.actor = None;
        assert!(threads.comes_after(Epoch { agent: 2, time: 4 }), "who acts is not known");
    }
}
