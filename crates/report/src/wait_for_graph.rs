//! Wait-for graph of ranks (AND-OR model, Knapp 1987), a shortest cycle in it, and its description
//! in words.

use crate::ranks;
use fixedbitset::FixedBitSet;
use std::collections::VecDeque;

/// Maximum number of ranks from which a cycle of more than two is searched: jobs are large.
const MAX_STARTS: usize = 256;

/// The ranks for which each rank waits.
pub(crate) struct WaitForGraph(Vec<FixedBitSet>);

impl WaitForGraph {
    /// A graph of `ranks` ranks, in which the n-th waits for those of `of(n)`.
    pub(crate) fn new<I>(ranks: usize, of: impl Fn(usize) -> I) -> WaitForGraph
    where
        I: IntoIterator<Item = u32>,
    {
        let row = |rank| {
            let mut row = FixedBitSet::with_capacity(ranks);
            let others = of(rank).into_iter().map(|other| other as usize);
            others.filter(|other| *other < ranks).for_each(|other| row.insert(other));
            row
        };
        WaitForGraph((0..ranks).map(row).collect())
    }

    /// A shortest cycle, from its lowest rank on: each waits for the next, the last for the first.
    pub(crate) fn shortest_cycle(&self) -> Option<Vec<usize>> {
        let ranks = 0..self.0.len();
        if let Some(rank) = ranks.clone().find(|rank| self.0[*rank].contains(*rank)) {
            return Some(vec![rank]);
        }
        let pair = |rank: usize| {
            let mut others = self.0[rank].ones().filter(|other| *other > rank);
            others.find(|other| self.0[*other].contains(rank)).map(|other| vec![rank, other])
        };
        if let Some(pair) = ranks.clone().find_map(pair) {
            return Some(pair);
        }
        let cycles = ranks.take(MAX_STARTS).filter_map(|rank| self.back_to(rank));
        cycles.min_by_key(Vec::len).map(from_lowest)
    }

    /// A shortest path from a rank back to itself, by breadth-first search.
    fn back_to(&self, start: usize) -> Option<Vec<usize>> {
        let mut before = vec![usize::MAX; self.0.len()];
        let mut next = VecDeque::from([start]);
        while let Some(rank) = next.pop_front() {
            for other in self.0[rank].ones() {
                if other == start {
                    let mut way = vec![rank];
                    while let Some(&last) = way.last().filter(|last| **last != start) {
                        way.push(before[last]);
                    }
                    way.reverse();
                    return Some(way);
                }
                if before[other] == usize::MAX {
                    before[other] = rank;
                    next.push_back(other);
                }
            }
        }
        None
    }
}

/// Who waits for whom, in which calls.
pub(crate) fn in_words(waiting: &[(u32, &str)]) -> String {
    match waiting {
        [(rank, call)] => format!("rank {rank} waits in {call} for itself"),
        [(a, a_call), (b, b_call)] => {
            format!("rank {a} in {a_call} and rank {b} in {b_call} wait for each other")
        }
        _ => {
            let mut members: Vec<u32> = waiting.iter().map(|(rank, _)| *rank).collect();
            members.sort_unstable();
            let call = waiting.first().map(|(_, call)| *call);
            let alike = call.filter(|call| waiting.iter().all(|(_, other)| other == call));
            let whereby = alike.map_or_else(String::new, |call| format!(" in {call}"));
            format!("{} form a cycle of waits{whereby}", ranks::named(&members))
        }
    }
}

/// The tag of a message, and its communicator unless that is the usual one.
pub(crate) fn envelope(tag: Option<i32>, on: &str) -> String {
    match (tag, on) {
        (Some(tag), "MPI_COMM_WORLD") => format!(" (tag {tag})"),
        (Some(tag), on) => format!(" (tag {tag}, on {on})"),
        (None, "MPI_COMM_WORLD") => String::new(),
        (None, on) => format!(" (on {on})"),
    }
}

fn from_lowest(mut cycle: Vec<usize>) -> Vec<usize> {
    let lowest = cycle.iter().enumerate().min_by_key(|(_, rank)| **rank);
    let at = lowest.map_or(0, |(at, _)| at);
    cycle.rotate_left(at);
    cycle
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Compares the cycle with all pairwise distances (Floyd and Warshall).
        #[test]
        fn a_shortest_cycle_is_found(edges in prop::collection::vec((0..9_u32, 0..9_u32), 0..20)) {
            const RANKS: usize = 9;
            let of = |rank: usize| {
                edges.iter().filter(move |edge| edge.0 as usize == rank).map(|edge| edge.1)
            };
            let mut distance = [[usize::MAX / 2; RANKS]; RANKS];
            edges.iter().for_each(|(a, b)| distance[*a as usize][*b as usize] = 1);
            for k in 0..RANKS {
                for a in 0..RANKS {
                    for b in 0..RANKS {
                        distance[a][b] = distance[a][b].min(distance[a][k] + distance[k][b]);
                    }
                }
            }
            let shortest = (0..RANKS).map(|rank| distance[rank][rank]).min().unwrap();
            let cycle = WaitForGraph::new(RANKS, of).shortest_cycle();
            prop_assert_eq!(cycle.as_ref().map_or(usize::MAX / 2, Vec::len), shortest);
            for (at, rank) in cycle.iter().flatten().enumerate() {
                let cycle = cycle.as_ref().unwrap();
                let next = cycle[(at + 1) % cycle.len()] as u32;
                prop_assert!(of(*rank).any(|other| other == next));
                prop_assert!(*rank >= cycle[0]);
            }
        }
    }

    #[test]
    fn ranks_beyond_the_job_are_left_out() {
        assert_eq!(WaitForGraph::new(2, |_| [7, 9]).shortest_cycle(), None);
    }
}
