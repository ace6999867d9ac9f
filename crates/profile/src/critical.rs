//! The critical path: the chain of activity, over all ranks, that determines when the run ends.
//!
//! It is followed backwards from the rank that ends last: along the thread's activity up to the end
//! of a wait, from there in the thread whose call has ended that wait, and so on to the beginning
//! (Böhme, Wolf, de Supinski, Schulz, Geimer, Scalable critical-path based performance analysis,
//! IPDPS 2012). Nobody waits on it, so that it is as long as the run, and whatever makes a part of
//! it shorter may make the run shorter.
//!
//! **What it can miss.** It changes the rank where a wait is known ([`crate::waits`]); otherwise it
//! stays, and time in which the rank waits for something that is not known is on it. Threads of a
//! rank are followed from call to call: what else they wait for each other is not known.

use crate::Profile;
use crate::events::{Interval, What};
use crate::lanes::Index;
use rustc_hash::FxHashMap;

/// A part of the path, in nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// Position of the thread's lane.
    pub lane: usize,
    /// When the path comes to it.
    pub from: u64,
    /// When it leaves.
    pub to: u64,
}

/// Where the path comes to a thread: the end of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// When the wait ends.
    pub until: u64,
    /// The lane of the thread that ends it.
    pub source: usize,
}

/// What the path has of a call at a site, and what leads to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// Nanoseconds in the call.
    pub inside: u64,
    /// Nanoseconds outside of calls, before it.
    pub before: u64,
}

/// The path, and what it consists of.
#[derive(Debug, Default)]
pub struct Path {
    /// Its parts, in the order of time.
    pub stretches: Vec<Stretch>,
    /// By place, and what follows or is done there; none after the last call, and where calls were
    /// folded.
    pub by_what: FxHashMap<(u32, Option<What>), Share>,
    /// Of each place, nanoseconds in calls and outside of them.
    pub by_place: FxHashMap<u32, (u64, u64)>,
}

/// Follows the path backwards from `time` in the thread `last`; `hops` are those of each thread in
/// the order of time.
pub fn follow(
    hops: &[Vec<Hop>],
    (last, time): (usize, u64),
    begins: impl Fn(usize) -> u64,
) -> Vec<Stretch> {
    let (mut lane, mut time) = (last, time);
    // Each wait is taken once: clocks that do not agree cannot send the path round in circles.
    let mut left: Vec<usize> = hops.iter().map(Vec::len).collect();
    let mut stretches = vec![];
    loop {
        let known = &hops[lane][..left[lane]];
        let number = known.partition_point(|hop| hop.until <= time);
        let hop = number.checked_sub(1).map(|at| known[at]);
        let from = hop.map_or_else(|| begins(lane).min(time), |hop| hop.until);
        if from < time {
            stretches.push(Stretch { lane, from, to: time });
        }
        let Some(hop) = hop else { break };
        left[lane] = number - 1;
        (lane, time) = (hop.source, hop.until);
    }
    stretches.reverse();
    stretches
}

impl Path {
    fn of(profile: &Profile) -> Path {
        let index = profile.by_lane();
        let model = &profile.model;
        // Waits of a lane are by their beginnings, and a thread waits for one after the other.
        let hop = |wait: &u32| {
            let wait = &profile.waits.all[*wait as usize];
            let (rank, thread) = wait.source;
            Some(Hop { until: wait.span.1, source: index.lane(rank, thread)? })
        };
        let hops: Vec<Vec<Hop>> =
            index.lanes.iter().map(|lane| lane.waits.iter().filter_map(hop).collect()).collect();
        let known = |rank: usize| {
            let place = model.log.ranks[rank].place;
            model.ranks.iter().find(|of| of.place == place)
        };
        let begins = |lane: usize| {
            let lane = &index.lanes[lane];
            let first = lane.blocks.first().map_or(u64::MAX, |block| block.begin);
            known(lane.rank).map_or(first, |of| of.began.min(first))
        };
        let last_call =
            |lane: usize| index.lanes[lane].blocks.iter().map(|block| block.end).max().unwrap_or(0);
        let end = |rank: &usize| {
            let last = index.of_rank[*rank].clone().map(last_call).max().unwrap_or(0);
            known(*rank).map_or(last, |of| (of.began + of.time).max(last))
        };
        // Of ranks that end together, the last: their order does not matter.
        let ranks = (0..model.log.ranks.len()).filter(|rank| !index.of_rank[*rank].is_empty());
        let Some(last) = ranks.max_by_key(end) else { return Path::default() };
        // The thread that has initialised MPI ends it.
        let stretches = follow(&hops, (index.of_rank[last].start, end(&last)), begins);
        let mut path = Path { stretches, ..Path::default() };
        path.take_apart(profile, index);
        path
    }

    /// Sums up what the path consists of.
    fn take_apart(&mut self, profile: &Profile, index: &Index) {
        let mut by_lane: FxHashMap<usize, Vec<(u64, u64)>> = FxHashMap::default();
        for Stretch { lane, from, to } in &self.stretches {
            by_lane.entry(*lane).or_default().push((*from, *to));
        }
        for (number, spans) in by_lane {
            let lane = &index.lanes[number];
            let place = profile.model.log.ranks[lane.rank].place;
            let by_what = &mut self.by_what;
            let mut sums = Sums { spans: &spans, covered: 0, folded: 0, before: 0, place, by_what };
            // What the path leaves a thread in leads to the call that comes next.
            let mut last = 0;
            let wanted = |block: &crate::lanes::Block| {
                let at = spans.partition_point(|span| span.1 <= last);
                last = last.max(block.end);
                spans.get(at).is_some_and(|span| span.0 < block.end)
            };
            let mut inside = 0;
            index.visit(profile, lane, wanted, |interval, _| {
                inside += sums.add(interval, profile.model.log.shape(interval).what);
            });
            sums.end();
            let all: u64 = spans.iter().map(|span| span.1 - span.0).sum();
            let sum = self.by_place.entry(place).or_default();
            let inside = inside.min(all);
            *sum = (sum.0 + inside, sum.1 + all - inside);
        }
    }
}

/// Sums of one thread, whose calls come one after the other.
struct Sums<'s> {
    /// When the path is in the thread.
    spans: &'s [(u64, u64)],
    /// Until when all is attributed.
    covered: u64,
    /// Nanoseconds on the path since then that are in folded calls.
    folded: u64,
    /// Nanoseconds before commsan's own work since the last call: they lead to the next one.
    before: u64,
    /// Of its rank.
    place: u32,
    by_what: &'s mut FxHashMap<(u32, Option<What>), Share>,
}

impl Sums<'_> {
    fn share(&mut self, of: Option<What>) -> &mut Share {
        self.by_what.entry((self.place, of)).or_default()
    }

    /// Nanoseconds of the path between two moments.
    fn overlap(&self, from: u64, to: u64) -> u64 {
        let first = self.spans.partition_point(|span| span.1 <= from);
        let spans = self.spans[first..].iter().take_while(|span| span.0 < to);
        spans.map(|span| span.1.min(to) - span.0.max(from)).sum()
    }

    /// Adds a call with what leads to it; returns the nanoseconds of the path in it.
    fn add(&mut self, of: &Interval, what: What) -> u64 {
        if let Some((_, time)) = of.folded {
            // Where in their time these calls are is not known.
            let length = u128::from((of.end - of.begin).max(1));
            let share = u128::from(self.overlap(of.begin, of.end)) * u128::from(time) / length;
            let inside = share as u64;
            self.folded = self.folded.saturating_add(inside);
            self.share(Some(what)).inside += inside;
            return inside;
        }
        let begin = of.begin.max(self.covered);
        self.before += self.overlap(self.covered, begin);
        if what != What::Own {
            let leads_to = (self.folded == 0).then_some(what);
            let before = std::mem::take(&mut self.before);
            let before = before.saturating_sub(std::mem::take(&mut self.folded));
            self.share(leads_to).before += before;
        }
        let inside = if begin < of.end { self.overlap(begin, of.end) } else { 0 };
        self.share(Some(what)).inside += inside;
        self.covered = self.covered.max(of.end);
        inside
    }

    /// Adds what follows the last call.
    fn end(mut self) {
        let rest = self.before + self.overlap(self.covered, u64::MAX);
        let rest = rest.saturating_sub(self.folded);
        self.share(None).before += rest;
    }
}

impl Profile {
    /// The critical path, followed when it is asked for first.
    pub(crate) fn critical_path(&self) -> &Path {
        self.path.get_or_init(|| Path::of(self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(hops: &[&[(u64, usize)]], end: (usize, u64)) -> Vec<(usize, u64, u64)> {
        let hop = |(until, source): &(u64, usize)| Hop { until: *until, source: *source };
        let hops: Vec<Vec<Hop>> = hops.iter().map(|of| of.iter().map(hop).collect()).collect();
        let path = follow(&hops, end, |_| 0);
        path.iter().map(|of| (of.lane, of.from, of.to)).collect()
    }

    #[test]
    fn it_stays_where_nobody_waits() {
        assert_eq!(path(&[&[], &[]], (1, 50)), [(1, 0, 50)]);
    }

    #[test]
    fn it_leads_to_whom_a_wait_was_for() {
        // Thread 0 waits until 30 for thread 1, which has waited until 10 for thread 2; what
        // thread 1 waits for later is not on it.
        let hops: [&[_]; 3] = [&[(30, 1)], &[(10, 2), (40, 0)], &[]];
        assert_eq!(path(&hops, (0, 100)), [(2, 0, 10), (1, 10, 30), (0, 30, 100)]);
    }

    #[test]
    fn ranks_that_take_turns() {
        let hops: [&[_]; 2] = [&[(20, 1), (60, 1)], &[(40, 0), (80, 0)]];
        let expected = [(1, 0, 20), (0, 20, 40), (1, 40, 60), (0, 60, 80), (1, 80, 90)];
        assert_eq!(path(&hops, (1, 90)), expected);
    }

    #[test]
    fn waits_that_end_together_do_not_lead_in_circles() {
        let hops: [&[_]; 2] = [&[(20, 1)], &[(20, 0)]];
        assert_eq!(path(&hops, (0, 50)), [(0, 0, 20), (0, 20, 50)]);
    }
}
