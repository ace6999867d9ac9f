//! Happens-before between the steps of all ranks: vector clocks, computed when the job is over.
//!
//! **Soundness.** What is not known counts as ordered: after a message or a collective of which the
//! other side is not known, a rank counts as knowing all that any rank ever does. A receive follows
//! its send, a synchronous send follows the beginning of its receive, and a collective, whichever
//! it is, follows that all members have entered it, which is more than MPI promises. Missed are
//! orders that ranks establish without MPI: by files, or memory that they share.

use super::matching::{Matching, Meets};
use commsan_findings::{Message, Step};
use std::sync::Arc;

/// Numbers that all clocks of a job take at most.
const MAX_NUMBERS: usize = 32 << 20;

/// Knows everything.
const ALL: u32 = u32::MAX;

/// How many steps of each rank are known to a rank.
type Clock = Arc<[u32]>;

/// What each rank knows of the others, and since which of its steps.
pub(crate) struct Order {
    clocks: Vec<Vec<(u32, Clock)>>,
}

impl Order {
    /// `None` if the job is too large.
    pub fn new(ranks: &[&[Step]], matching: &Matching) -> Option<Order> {
        let steps: usize = ranks.iter().map(|steps| steps.len()).sum();
        if steps.saturating_mul(ranks.len()) > MAX_NUMBERS {
            return None;
        }
        let nothing: Clock = vec![0; ranks.len()].into();
        let clocks = vec![vec![(0, nothing)]; ranks.len()];
        let mut run = Run { ranks, matching, at: vec![0; ranks.len()], order: Order { clocks } };
        // Until none moves any more.
        while (0..ranks.len()).filter(|rank| run.advance(*rank)).count() > 0 {}
        for (rank, at) in run.at.iter().enumerate().filter(|(rank, at)| {
            // It waits for something that does not come: nothing is known of what follows.
            (**at as usize) < ranks[*rank].len()
        }) {
            run.order.clocks[rank].push((*at, vec![ALL; ranks.len()].into()));
        }
        Some(run.order)
    }

    /// Whether a step of a rank may be ordered before a step of another one.
    pub fn may_precede(&self, (rank, step): (u32, u32), (other, at): (u32, u32)) -> bool {
        match rank == other {
            true => step <= at,
            false => self.clock(other as usize, at)[rank as usize] > step,
        }
    }

    fn clock(&self, rank: usize, at: u32) -> &Clock {
        let clocks = &self.clocks[rank];
        let later = clocks.partition_point(|(since, _)| *since <= at);
        &clocks[later.max(1) - 1].1
    }
}

/// How far ranks have come.
struct Run<'r> {
    ranks: &'r [&'r [Step]],
    matching: &'r Matching,
    at: Vec<u32>,
    order: Order,
}

impl Run<'_> {
    /// Lets a rank go on as far as it can; returns whether it has.
    fn advance(&mut self, rank: usize) -> bool {
        let first = self.at[rank];
        while let Some(step) = self.ranks[rank].get(self.at[rank] as usize)
            && let Some(known) = self.acquires(rank, step)
        {
            let at = self.at[rank];
            if !known.is_empty() {
                let mut clock = self.order.clock(rank, at).to_vec();
                for known in known {
                    match known {
                        Some((other, step)) => self.join(&mut clock, other, step),
                        None => clock.fill(ALL),
                    }
                }
                self.order.clocks[rank].push((at, clock.into()));
            }
            self.at[rank] += 1;
        }
        self.at[rank] > first
    }

    /// What a step follows: steps of others, or something that is not known (`None`). Nothing if
    /// one of these is still to come.
    fn acquires(&self, rank: usize, step: &Step) -> Option<Vec<Option<(u32, u32)>>> {
        let is_done = |(other, step): &(u32, u32)| *step < self.at[*other as usize];
        let of_one = |other: Option<(u32, u32)>| match other {
            Some(other) => is_done(&other).then(|| vec![Some(other)]),
            None => Some(vec![None]),
        };
        let partner = |begun: u32| self.matching.partner(rank as u32, begun);
        match *step {
            Step::Probe(_) | Step::Found { .. } => of_one(partner(self.at[rank])),
            Step::Got { begun, .. } => of_one(partner(begun)),
            Step::Finish { begun, .. } => match self.ranks[rank].get(begun as usize) {
                Some(Step::Receive(_) | Step::Any(_)) => of_one(partner(begun)),
                Some(
                    Step::Send(Message { synchronous, .. })
                    | Step::Kept(Message { synchronous, .. }),
                ) => match synchronous {
                    true => of_one(partner(begun)),
                    false => Some(Vec::new()),
                },
                Some(Step::Enter { .. }) => match self.matching.meets(rank as u32, begun) {
                    Meets::Nobody => Some(vec![None]),
                    Meets::All(entered) => entered
                        .iter()
                        .all(is_done)
                        .then(|| entered.iter().map(|other| Some(*other)).collect()),
                },
                _ => Some(Vec::new()),
            },
            _ => Some(Vec::new()),
        }
    }

    /// Adds what a rank knew at a step, and that step.
    fn join(&self, clock: &mut [u32], other: u32, step: u32) {
        let theirs = self.order.clock(other as usize, step);
        clock.iter_mut().zip(theirs.iter()).for_each(|(known, more)| *known = (*known).max(*more));
        let of_other = &mut clock[other as usize];
        *of_other = (*of_other).max(step + 1);
    }
}
