//! Executes the schedules of all ranks on the host: checks results and the volume of each edge.

use super::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, VecDeque};

/// The output of each rank, and the number of values sent between each pair.
struct Outcome {
    outputs: Vec<Vec<u64>>,
    edges: BTreeMap<(usize, usize), usize>,
}

/// Executes all ranks' steps in turn, each as soon as its input has arrived. Reductions are sums,
/// and a step that completes a reduction adds a million.
fn execute(schedules: &[Vec<Phase>], inputs: &[Vec<u64>], size: usize) -> Outcome {
    let mut outputs = vec![vec![0; size]; inputs.len()];
    let mut edges = BTreeMap::new();
    let mut links: BTreeMap<(usize, usize), VecDeque<Vec<u64>>> = BTreeMap::new();
    let mut waiting: Vec<VecDeque<Step>> =
        schedules.iter().map(|phases| phases.iter().flatten().copied().collect()).collect();
    while waiting.iter().any(|steps| !steps.is_empty()) {
        let mut progress = false;
        for (rank, steps) in waiting.iter_mut().enumerate() {
            let Some(step) = steps.front().copied() else { continue };
            let got = match step.from {
                None => None,
                Some(from) => match links.entry((from, rank)).or_default().pop_front() {
                    Some(got) => Some(got),
                    None => continue,
                },
            };
            steps.pop_front();
            progress = true;
            let own = step.source.map(|source| match source {
                Source::Input(start) => inputs[rank][start..start + step.length].to_vec(),
                Source::Output(start) => outputs[rank][start..start + step.length].to_vec(),
            });
            let mut values = match (own, got) {
                (Some(own), Some(got)) => {
                    assert_eq!(own.len(), got.len(), "what is combined is as long");
                    own.iter().zip(got).map(|(a, b)| a + b).collect()
                }
                (Some(values), None) | (None, Some(values)) => values,
                (None, None) => panic!("a step of nothing"),
            };
            if step.completes {
                values.iter_mut().for_each(|value| *value += 1_000_000);
            }
            if let Some(start) = step.target {
                outputs[rank][start..start + step.length].copy_from_slice(&values);
            }
            if let Some(to) = step.to {
                *edges.entry((rank, to)).or_default() += values.len();
                links.entry((rank, to)).or_default().push_back(values);
            }
        }
        assert!(progress, "nobody can go on");
    }
    assert!(links.values().all(VecDeque::is_empty), "all that was sent was received");
    Outcome { outputs, edges }
}

fn all(ranks: usize, schedule: impl Fn(Place) -> Vec<Phase>) -> Vec<Vec<Phase>> {
    (0..ranks).map(|rank| schedule(Place { rank, ranks })).collect()
}

/// Different values for every rank and index.
fn inputs(ranks: usize, count: usize) -> Vec<Vec<u64>> {
    (0..ranks).map(|rank| (0..count).map(|at| (at * 31 + rank * 7 + 1) as u64).collect()).collect()
}

fn sums(inputs: &[Vec<u64>]) -> Vec<u64> {
    (0..inputs[0].len()).map(|at| inputs.iter().map(|of| of[at]).sum::<u64>() + 1_000_000).collect()
}

fn without_empty(mut edges: BTreeMap<(usize, usize), usize>) -> BTreeMap<(usize, usize), usize> {
    edges.retain(|_, values| *values > 0);
    edges
}

proptest! {
    #[test]
    fn all_reduce_by_ring(ranks in 1..9_usize, count in 0..200_usize, shift in 0..4_u32) {
        let (size, inputs) = (1 << shift, inputs(ranks, count));
        let schedules = all(ranks, |place| all_reduce_ring(place, count, size));
        let outcome = execute(&schedules, &inputs, count);
        prop_assert!(outcome.outputs.iter().all(|output| *output == sums(&inputs)));
        let of = |number: usize| part(count, size, ranks, number % ranks).len();
        let expected = (0..ranks).filter(|_| ranks > 1)
            .map(|rank| ((rank, (rank + 1) % ranks), 2 * count - of(rank) - of(rank + 1)));
        prop_assert_eq!(without_empty(outcome.edges), without_empty(expected.collect()));
    }

    #[test]
    fn all_reduce_by_tree(ranks in 1..9_usize, count in 0..200_usize) {
        let inputs = inputs(ranks, count);
        let schedules = all(ranks, |place| all_reduce_tree(place, count));
        let outcome = execute(&schedules, &inputs, count);
        prop_assert!(outcome.outputs.iter().all(|output| *output == sums(&inputs)));
        let both = |rank| [((rank, rank + 1), count), ((rank + 1, rank), count)];
        let expected = (0..ranks - 1).flat_map(both).collect();
        prop_assert_eq!(without_empty(outcome.edges), without_empty(expected));
    }

    #[test]
    fn reduce_scatter_by_ring(ranks in 1..9_usize, count in 0..60_usize) {
        let inputs = inputs(ranks, ranks * count);
        let schedules = all(ranks, |place| reduce_scatter(place, count));
        let outcome = execute(&schedules, &inputs, count);
        prop_assert_eq!(outcome.outputs.concat(), sums(&inputs));
        prop_assert!(outcome.edges.values().all(|values| *values == (ranks - 1) * count));
        prop_assert_eq!(outcome.edges.len(), if ranks == 1 { 0 } else { ranks });
    }

    #[test]
    fn all_gather_by_ring(ranks in 1..9_usize, count in 0..60_usize) {
        let inputs = inputs(ranks, count);
        let schedules = all(ranks, |place| all_gather(place, count));
        let outcome = execute(&schedules, &inputs, ranks * count);
        prop_assert!(outcome.outputs.iter().all(|output| *output == inputs.concat()));
        prop_assert!(outcome.edges.values().all(|values| *values == (ranks - 1) * count));
        prop_assert_eq!(outcome.edges.len(), if ranks == 1 { 0 } else { ranks });
    }

    #[test]
    fn broadcast_and_reduce_by_ring(ranks in 1..9_usize, count in 1..60_usize, root in 0..8_usize) {
        let (root, inputs) = (root % ranks, inputs(ranks, count));
        let spread = execute(&all(ranks, |place| broadcast(place, count, root)), &inputs, count);
        prop_assert!(spread.outputs.iter().all(|output| *output == inputs[root]));
        let reduced = execute(&all(ranks, |place| reduce(place, count, root)), &inputs, count);
        prop_assert_eq!(&reduced.outputs[root], &sums(&inputs));
        // All edges of the ring but the one into the root, or the one out of it.
        let next = |rank: usize| (rank + 1) % ranks;
        let ring = (0..ranks).map(|rank| ((rank, next(rank)), count));
        let (into, out) = (ring.clone().filter(|(edge, _)| edge.1 != root), ring.filter(|(edge, _)| edge.0 != root));
        prop_assert_eq!(spread.edges, into.collect());
        prop_assert_eq!(reduced.edges, out.collect());
    }
}
