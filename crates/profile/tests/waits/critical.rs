//! The critical path, compared with the longest path through all that a simulation knows.

use crate::nanoseconds;
use crate::simulation::{Action, Edge, World, action, read, simulated};
use commsan_profile::api::{CriticalPath, EventsQuery, PathPart};
use commsan_profile::export::{Format, write_tables};
use commsan_rundir::events::{Record, Shape, What};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// A program all of whose ranks end when they have nothing more to do.
fn ended(size: usize, actions: &[Action]) -> World {
    let mut world = simulated(size, actions);
    world.until = world.ranks.iter().map(|rank| rank.now).collect();
    world
}

/// Nanoseconds that a rank does not wait between two moments.
fn active(world: &World, rank: usize, from: u64, to: u64) -> u64 {
    let waits = world.edges.iter().filter(|edge| edge.rank == rank);
    let waits = waits.map(|edge| edge.span.1.min(to).saturating_sub(edge.span.0.max(from)));
    to - from - waits.sum::<u64>()
}

/// The most activity on any chain to the end of each rank: by all moments at which anything begins
/// or ends, over program order and all ends of waits.
fn longest(world: &World) -> Vec<u64> {
    let spans = world.edges.iter().flat_map(|edge| [edge.span.0, edge.span.1]);
    let ends = world.ranks.iter().map(|rank| rank.now);
    let moments: BTreeSet<u64> = spans.chain(ends).filter(|time| *time > 0).collect();
    let (mut longest, mut last) = (vec![0; world.ranks.len()], 0);
    for time in moments {
        for (rank, of) in longest.iter_mut().enumerate() {
            *of += active(world, rank, last, time.max(last).min(world.ranks[rank].now.max(last)));
        }
        last = time;
        // Chains may change the rank several times at one moment.
        for _ in 0..world.ranks.len() {
            for Edge { rank, span, source } in &world.edges {
                if span.1 == time {
                    longest[*rank] = longest[*rank].max(longest[*source]);
                }
            }
        }
    }
    longest
}

/// Checks that the parts are a path through what the simulation knows, and sums up its activity.
fn walked(world: &World, path: &CriticalPath) -> u64 {
    for pair in path.parts.windows(2) {
        let (one, next) = (pair[0], pair[1]);
        assert_eq!(one.end, next.begin, "the path has no gaps: {path:?}");
        assert!(leads(world, one.lane, next.lane, one.end), "{pair:?}: {:?}", world.edges);
    }
    path.parts.iter().map(|part| active(world, part.lane, part.begin, part.end)).sum()
}

/// Whether ends of waits lead from one rank to another at a moment.
fn leads(world: &World, from: usize, to: usize, time: u64) -> bool {
    let mut reached = BTreeSet::from([from]);
    for _ in 0..world.ranks.len() {
        let edges = world.edges.iter().filter(|edge| edge.span.1 == time);
        let next: Vec<usize> =
            edges.filter(|edge| reached.contains(&edge.source)).map(|edge| edge.rank).collect();
        reached.extend(next);
    }
    reached.contains(&to)
}

fn close(a: f64, b: u64) -> bool {
    nanoseconds(a).abs_diff(b) <= 1
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn no_chain_has_more_activity(
        size in 2..6_usize,
        actions in prop::collection::vec(action(), 1..60),
    ) {
        let world = ended(size, &actions);
        let profile = read(&world);
        let path = profile.critical();
        // Ranks without calls have no lane.
        let has_lane = |rank: &usize| !world.ranks[*rank].records.is_empty();
        prop_assume!((0..size).all(|rank| has_lane(&rank)));
        let end = world.ranks.iter().map(|rank| rank.now).max().unwrap();
        prop_assert_eq!((path.begin, path.end, path.more_parts), (0, end, 0));
        let last = path.parts.last().unwrap().lane;
        prop_assert_eq!(world.ranks[last].now, end);
        let most = longest(&world)[last];
        prop_assert_eq!(walked(&world, &path), most);
        // Nobody waits on it.
        prop_assert_eq!(most, end);
        // What it consists of is all of it.
        let by_place: f64 = path.by_place.iter().map(|of| of.calls + of.own).sum();
        let by_call: f64 = path.by_call.iter().map(|of| of.inside + of.before).sum();
        prop_assert!(close(by_place, end) && close(by_call, end), "{path:?}");
        for of in &path.by_place {
            let parts = path.parts.iter().filter(|part| part.lane == of.place);
            let sum: u64 = parts.map(|part| part.end - part.begin).sum();
            prop_assert!(close(of.calls + of.own, sum), "{path:?}");
        }
    }

    /// The figure has the same path, without what is shorter than a bin.
    #[test]
    fn the_figure_shows_it(
        size in 2..6_usize,
        actions in prop::collection::vec(action(), 1..60),
    ) {
        let profile = read(&ended(size, &actions));
        let path = profile.critical();
        let all = profile.events(&EventsQuery { width: Some(4096), ..EventsQuery::default() });
        let all = all.unwrap();
        let bin = (all.to - all.from).div_ceil(u64::from(all.bins));
        for PathPart { lane, begin, end } in &path.parts {
            let is_shown = |(row, from, to): &(usize, u64, u64)| {
                all.rows[*row].lanes == [*lane, *lane] && from <= begin && end <= to
            };
            prop_assert!(all.path.iter().any(is_shown), "{:?}", all.path);
        }
        let shown: u64 = all.path.iter().map(|(_, from, to)| to - from).sum();
        let of_path: u64 = path.parts.iter().map(|part| part.end - part.begin).sum();
        prop_assert!(shown >= of_path && shown <= of_path + bin * path.parts.len() as u64);
    }
}

fn parts(path: &CriticalPath) -> Vec<(usize, u64, u64)> {
    path.parts.iter().map(|of| (of.lane, of.begin, of.end)).collect()
}

/// All ranks begin at 1000, and each call takes 30 ns, after a latency of 700 ns where it waits.
#[test]
fn a_slow_rank_before_a_barrier_is_the_path_up_to_it() {
    let actions = [Action::Compute(2, 40_000), Action::Collective(0, 0), Action::Compute(0, 5_000)];
    let path = read(&ended(4, &actions)).critical();
    // Rank 0 leaves the barrier 700 ns after the last one has entered it, and ends last.
    assert_eq!(parts(&path), [(2, 0, 41_000), (0, 41_000, 46_700)]);
    assert_eq!((path.changes, path.end), (1, 46_700));
    let by_place: Vec<_> = (path.by_place.iter())
        .map(|of| (of.place, nanoseconds(of.calls), nanoseconds(of.own)))
        .collect();
    assert_eq!(by_place, [(2, 0, 41_000), (0, 700, 5_000)]);
    let by_call: Vec<_> = (path.by_call.iter())
        .map(|of| (of.call.as_deref(), nanoseconds(of.inside), nanoseconds(of.before)))
        .collect();
    assert_eq!(by_call, [(Some("MPI_Barrier"), 700, 41_000), (None, 0, 5_000)]);
}

/// What a rank does before commsan's own work leads to the call that follows.
#[test]
fn own_work_is_told_apart_from_what_leads_to_a_call() {
    let mut world = ended(4, &[Action::Compute(2, 40_000), Action::Collective(0, 0)]);
    let rank = &mut world.ranks[2];
    rank.shapes.push(Shape::new(What::Own, 0));
    let shape = rank.shapes.len() as u32 - 1;
    let record = Record { shape, begin: 30_000, end: 30_500, folded: None };
    rank.records.insert(0, (record, vec![]));
    let path = read(&world).critical();
    let by_call: Vec<_> = (path.by_call.iter())
        .map(|of| (of.call.as_deref(), nanoseconds(of.inside), nanoseconds(of.before)))
        .collect();
    assert_eq!(by_call, [(Some("MPI_Barrier"), 700, 40_500), (Some("commsan"), 500, 0)]);
}

/// Folded calls take their share of the path, wherever they were; what is between them leads to
/// none of them.
#[test]
fn folded_calls_take_their_share() {
    let message = Action::Message { from: 0, to: 0, tag: 0, synchronous: false };
    let mut world = ended(2, &[message, Action::Compute(1, 100_000)]);
    let rank = &mut world.ranks[1];
    let shape = rank.records[0].0.shape;
    let record = Record { shape, begin: 10_000, end: 90_000, folded: Some((50, 20_000)) };
    rank.records.push((record, vec![]));
    let path = read(&world).critical();
    // The receive of the message, of 730 ns, has nothing to wait for.
    assert_eq!(parts(&path), [(1, 0, 101_730)]);
    let by_call: Vec<_> = (path.by_call.iter())
        .map(|of| (of.call.as_deref(), nanoseconds(of.inside), nanoseconds(of.before)))
        .collect();
    assert_eq!(by_call, [(None, 0, 80_000), (Some("MPI_Recv"), 20_730, 1_000)]);
}

/// A pipeline: each rank works after the one before, so that all of them are on the path.
#[test]
fn a_pipeline_goes_through_all_ranks() {
    let mut actions = vec![];
    for rank in 0..3 {
        actions.push(Action::Compute(rank, 10_000));
        actions.push(Action::Message { from: rank, to: 0, tag: 0, synchronous: false });
    }
    let path = read(&ended(4, &actions)).critical();
    // Each receives 700 ns after it was sent, and its call takes 30 ns more.
    let expected = [(0, 0, 11_000), (1, 11_000, 21_730), (2, 21_730, 32_460), (3, 32_460, 33_190)];
    assert_eq!(parts(&path), expected);
}

/// The message that is sent first is received second: the wait is the receiver's own fault, but
/// the path comes from the sender.
#[test]
fn the_wrong_order_leads_to_the_sender() {
    let actions = [Action::Compute(1, 3_000), Action::Swapped { from: 0, to: 0, between: 9_000 }];
    let path = read(&ended(2, &actions)).critical();
    assert_eq!(parts(&path), [(0, 0, 10_030), (1, 10_030, 10_790)]);
}

/// A rank that is late, but for whom nobody waits, is not on it.
#[test]
fn without_waits_the_last_rank_is_all_of_it() {
    let message = Action::Message { from: 0, to: 0, tag: 0, synchronous: false };
    let actions = [message, Action::Compute(1, 50_000), Action::Compute(0, 20_000), message];
    let path = read(&ended(2, &actions)).critical();
    // Two receives of 730 and 30 ns: the second message has been there for long.
    assert_eq!(parts(&path), [(1, 0, 51_760)]);
}

/// The tables hold the same path as the answer.
#[test]
fn the_tables_hold_the_path() {
    let mut actions = vec![];
    for rank in [2, 0, 1] {
        actions.extend([Action::Compute(rank, 4000), Action::Collective(1, 0)]);
    }
    let profile = read(&ended(3, &actions));
    let path = profile.critical();
    let parent = tempfile::tempdir().unwrap();
    write_tables(&profile, parent.path(), Format::Csv).unwrap();
    let rows = |name: &str| -> Vec<BTreeMap<String, String>> {
        let file = parent.path().join(format!("{name}.csv"));
        csv::Reader::from_path(file).unwrap().deserialize().map(Result::unwrap).collect()
    };
    let lanes = profile.lanes().lanes;
    let parts: Vec<(usize, u64, u64)> = rows("critical_path")
        .iter()
        .map(|row| {
            let rank = row["place"].strip_prefix("rank ").unwrap().parse().unwrap();
            let time = |column: &str| nanoseconds(row[column].parse().unwrap());
            let begin = time("start_seconds");
            (rank, begin, begin + time("seconds"))
        })
        .collect();
    let wanted: Vec<(usize, u64, u64)> =
        path.parts.iter().map(|of| (lanes[of.lane].place, of.begin, of.end)).collect();
    assert_eq!(parts, wanted);
    assert!(parts.len() > 2, "{parts:?}");
    let mut by_call: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let mut by_place: BTreeMap<String, u64> = BTreeMap::new();
    for row in rows("critical_calls") {
        let time = |column: &str| nanoseconds(row[column].parse().unwrap());
        let (inside, before) = (time("inside_seconds"), time("before_seconds"));
        let sum = by_call.entry(row["call"].clone()).or_default();
        *sum = (sum.0 + inside, sum.1 + before);
        *by_place.entry(row["place"].clone()).or_default() += inside + before;
    }
    for of in &path.by_call {
        let call = of.call.clone().unwrap_or_default();
        assert_eq!(by_call.remove(&call), Some((nanoseconds(of.inside), nanoseconds(of.before))));
    }
    assert!(by_call.is_empty(), "{by_call:?}");
    for of in &path.by_place {
        let found = by_place.remove(&format!("rank {}", of.place));
        assert_eq!(found, Some(nanoseconds(of.calls + of.own)));
    }
    assert!(by_place.is_empty(), "{by_place:?}");
}
