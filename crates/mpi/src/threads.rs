//! Threads of this process as agents: who acts, which completions others have not heard of, and calls of several threads.

use commsan_callsite::Site;
use commsan_shadow::{Actor, Clock, Epoch, OpId, When};
use smallvec::SmallVec;
use std::collections::VecDeque;

/// Completed operations that are kept.
pub(crate) const MAX_RETIRED: usize = 64;
/// Ends of segments that are remembered.
const MAX_SEGMENTS: usize = 256;

/// What there is to know about threads.
#[derive(Default)]
pub(crate) struct Threads {
    /// Who acts, if there are several and it is known.
    pub actor: Option<Actor>,
    /// Operations that are complete, but not for everybody.
    retired: VecDeque<(OpId, Epoch)>,
    /// What the threads that ended segments knew.
    ends: VecDeque<(u32, Clock)>,
}

/// A completion that some threads have not heard of.
#[derive(Clone, Debug)]
pub(crate) struct Retired {
    pub when: Epoch,
    /// The same of calls that would have completed it, had it not been complete.
    pub again: SmallVec<[Epoch; 2]>,
    /// The completing call.
    pub site: Site,
    /// How often its memory has been used since by threads that know of it.
    pub touched: u8,
}

impl Retired {
    pub fn new(when: Epoch, site: Site) -> Retired {
        Retired { when, again: SmallVec::new(), site, touched: 0 }
    }

    /// Whether the acting thread knows.
    pub fn is_known(&self, threads: &Threads) -> bool {
        self.again.iter().chain([&self.when]).any(|when| threads.comes_after(*when))
    }
}

impl Threads {
    /// Whether what happened then is ordered before what the acting thread does.
    pub fn comes_after(&self, stamp: Epoch) -> bool {
        self.actor.as_ref().is_none_or(|actor| stamp.happens_before(&actor.clock))
    }

    /// The acting thread's present.
    pub fn stamp(&self) -> Epoch {
        self.actor.as_ref().map_or(Epoch::default(), |actor| actor.stamp)
    }

    /// Operations that are complete, but not for everybody.
    pub fn retired(&self) -> impl Iterator<Item = OpId> {
        self.retired.iter().map(|(id, _)| *id)
    }

    /// Whether it matters who acts.
    pub fn are_known(&self) -> bool {
        self.actor.is_some() || !self.retired.is_empty()
    }

    /// An operation was completed then, which not everybody knows.
    pub fn retire(&mut self, id: OpId, when: Epoch) {
        self.retired.push_back((id, when));
    }

    /// The operation that was completed first is known to everybody.
    pub fn take_oldest(&mut self) -> Option<OpId> {
        self.retired.pop_front().map(|(id, _)| id)
    }

    /// The operation that was completed first, if everybody knows it or there are too many.
    pub fn take_known(&mut self, known_to_all: impl Fn(Epoch) -> bool) -> Option<OpId> {
        let (_, when) = self.retired.front()?;
        match self.retired.len() > MAX_RETIRED || known_to_all(*when) {
            true => self.take_oldest(),
            false => None,
        }
    }

    /// Forgets such operations, which the caller ends.
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

    /// Whether something was told to whoever knows of all segments up to one.
    pub fn was_released(&self, when: When, until: u32) -> bool {
        let end = |segment| self.ends.iter().find(|(ended, _)| *ended == segment);
        // What is not remembered ended when there were no threads, or long ago.
        let told = |segment| end(segment).is_none_or(|(_, clock)| when.stamp.happens_before(clock));
        let many = until.saturating_sub(when.segment) as usize >= self.ends.len();
        when.segment <= until && (many || (when.segment..=until).rev().any(told))
    }
}

/// A call by one of several threads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Calling {
    pub stamp: Epoch,
    pub site: Site,
    /// Whether it has not returned.
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
        threads.actor = None;
        assert!(threads.comes_after(Epoch { agent: 2, time: 4 }), "who acts is not known");
    }
}
