//! Answers compared with what adding up pair by pair gives, on random runs.

mod support;

use commsan_profile::Profile;
use commsan_profile::api::{By, Filter, Level, Matrix, MatrixQuery, TimelineQuery, Total};
use commsan_rundir::RunInfo;
use commsan_rundir::traffic::{Bin, Calls, End, Frame, Key, Kind, Place, Side, Snapshot, Transfer};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use support::object;

/// Transfers as random numbers; what they mean depends on how many ranks there are.
#[derive(Clone, Debug)]
struct Random {
    rank: u8,
    kind: u8,
    shape: u8,
    peer: u8,
    group: u8,
    line: u8,
    count: u8,
    bytes: u16,
    bin: u8,
}

fn random() -> impl Strategy<Value = Random> {
    let first = (any::<u8>(), 0..3_u8, 0..8_u8, any::<u8>(), any::<u8>());
    let second = (1..6_u8, 1..9_u8, any::<u16>(), 0..40_u8);
    (first, second).prop_map(|((rank, kind, shape, peer, group), (line, count, bytes, bin))| {
        Random { rank, kind, shape, peer, group, line, count, bytes, bin }
    })
}

/// Groups as bits of ranks, rotated, so that ranks in a group are not those of the job.
fn members(ranks: u32, (bits, turn): (u8, u8)) -> Vec<u32> {
    let all = (0..ranks).map(|rank| (rank + u32::from(turn)) % ranks);
    all.filter(|rank| bits & (1 << (rank % 8)) != 0).collect()
}

const KINDS: [Kind; 3] = [Kind::PointToPoint, Kind::Collective, Kind::Rma];

/// (source rank, target rank, kind, line, bin) → (count, bytes)
type Naive = BTreeMap<(u32, u32, usize, u32, u32), (u64, u64)>;

fn snapshots(ranks: u32, groups: &[(u8, u8)], all: &[Random]) -> (Vec<Snapshot>, Naive) {
    let mut naive = Naive::new();
    let mut snapshots: Vec<Snapshot> = (0..ranks).map(|rank| empty(rank, ranks, groups)).collect();
    for random in all {
        let rank = u32::from(random.rank) % ranks;
        let peer = u32::from(random.peer) % ranks;
        let number = usize::from(random.group) % groups.len();
        let group = number as u32;
        let at = |rank| End::At(Place::Rank(rank));
        let (source, target) = match random.shape {
            0 | 1 => (at(rank), at(peer)),
            2 => (at(rank), End::Others(group)),
            3 => (at(rank), End::Above(group)),
            4 => (at(rank), End::Below(group)),
            5 => (End::Others(group), at(rank)),
            6 => (End::Above(group), at(rank)),
            _ => (End::Below(group), at(rank)),
        };
        let (count, bytes) = (u64::from(random.count), u64::from(random.bytes));
        let kind = usize::from(random.kind);
        let outwards = random.shape < 5;
        for other in naive_members(&members(ranks, groups[number]), random.shape, rank, peer) {
            let (from, to) = if outwards { (rank, other) } else { (other, rank) };
            let key = (from, to, kind, u32::from(random.line), u32::from(random.bin));
            let sum = naive.entry(key).or_default();
            *sum = (sum.0 + count, sum.1 + bytes);
        }
        let key = Key::new(KINDS[kind], 0, random.line.into(), Side::Source, (source, target));
        let bins = vec![Bin { bin: random.bin.into(), count, amount: bytes }];
        let transfer = Transfer { bins, ..Transfer::new(key, count, bytes) };
        snapshots[rank as usize].transfers.push(transfer);
    }
    (snapshots, naive)
}

fn naive_members(group: &[u32], shape: u8, rank: u32, peer: u32) -> Vec<u32> {
    let position = group.iter().position(|member| *member == rank);
    let is_meant = |(at, member): &(usize, &u32)| match (shape, position) {
        (2 | 5, _) => **member != rank,
        (3 | 6, Some(position)) => *at > position,
        (4 | 7, Some(position)) => *at < position,
        _ => false,
    };
    match shape {
        0 | 1 => vec![peer],
        _ => group.iter().enumerate().filter(is_meant).map(|(_, member)| *member).collect(),
    }
}

/// A rank that has not moved anything; three ranks share a host.
fn empty(rank: u32, ranks: u32, groups: &[(u8, u8)]) -> Snapshot {
    let group = |of: &(u8, u8)| members(ranks, *of).into_iter().map(Place::Rank).collect();
    Snapshot {
        rank,
        size: ranks,
        host: format!("h{}", rank / 3),
        complete: true,
        bin: 1_000_000,
        sample: 1,
        strings: ["MPI_X", "f", "a.c"].map(str::to_owned).to_vec(),
        stacks: (0..6).map(|line| vec![Frame::Line(1, 2, line)]).collect(),
        groups: groups.iter().map(group).collect(),
        ..Snapshot::default()
    }
}

fn profile(snapshots: &[Snapshot]) -> Profile {
    Profile::of_snapshots(snapshots, RunInfo::default()).unwrap()
}

/// Kind name → amounts of a block.
type Block = BTreeMap<String, (u64, u64)>;

fn block(matrix: &Matrix, kinds: &[String], row: usize, col: usize) -> Block {
    let cell = matrix.cells.iter().find(|cell| (cell.0, cell.1) == (row, col));
    let of = |&(kind, count, bytes): &(usize, u64, u64)| (kinds[kind].clone(), (count, bytes));
    cell.map(|cell| cell.2.iter().map(of).collect()).unwrap_or_default()
}

/// What the pairs of `keep` amount to, by kind.
fn naive_block(naive: &Naive, keep: impl Fn(&(u32, u32, usize, u32, u32)) -> bool) -> Block {
    let mut sums = Block::new();
    for (key, (count, bytes)) in naive.iter().filter(|(key, _)| keep(key)) {
        let sum = sums.entry(KINDS[key.2].name().to_owned()).or_default();
        *sum = (sum.0 + count, sum.1 + bytes);
    }
    sums
}

proptest! {
    #[test]
    fn matrices_are_sums_of_pairs(
        ranks in 1..9_u32,
        groups in prop::collection::vec((any::<u8>(), any::<u8>()), 1..4),
        all in prop::collection::vec(random(), 0..40),
        max in 1..10_usize,
        range in any::<(u8, u8)>(),
        line in prop::option::of(1..6_u32),
        times in prop::option::of((0..40_u32, 0..40_u32)),
    ) {
        let (snapshots, naive) = snapshots(ranks, &groups, &all);
        let profile = profile(&snapshots);
        let run = profile.run();
        // Hosts are in the order of their ranks here, so places are ranks.
        let (a, b) = (u32::from(range.0) % ranks, u32::from(range.1) % ranks);
        let rows = (a.min(b) as usize, a.max(b) as usize);
        let bins = run.timeline.bins;
        let times = times.map(|(a, b)| (a.min(b), a.max(b)));
        let file = line.and(Some(0)).filter(|_| !run.files.is_empty());
        let line = line.filter(|_| file.is_some());
        let filter = Filter {
            file,
            line,
            t0: times.map(|times| times.0),
            t1: times.map(|times| times.1),
            ..Filter::default()
        };
        for level in [Level::Place, Level::Node] {
            let query = MatrixQuery { level, rows: Some(rows), cols: None, max: Some(max), filter };
            let matrix = profile.matrix(&query).unwrap();
            prop_assert!(matrix.rows.len() <= max && matrix.cols.len() <= max);
            prop_assert_eq!(matrix.rows[0].first, rows.0);
            prop_assert_eq!(matrix.rows.last().unwrap().last, rows.1);
            for (r, row) in matrix.rows.iter().enumerate() {
                for (c, col) in matrix.cols.iter().enumerate() {
                    let within = |block: &commsan_profile::api::Block, rank: u32| {
                        (block.first..=block.last).contains(&(rank as usize))
                    };
                    let expected = naive_block(&naive, |key| {
                        within(row, key.0)
                            && within(col, key.1)
                            && line.is_none_or(|line| line == key.3)
                            && times.is_none_or(|(a, b)| (a..=b).contains(&key.4))
                    });
                    let mut found = block(&matrix, &run.kinds, r, c);
                    found.retain(|_, amount| *amount != (0, 0));
                    prop_assert_eq!(found, expected);
                }
            }
        }
        // Totals of part of the time are those of the pairs then.
        let (t0, t1) = (filter.t0, filter.t1);
        let part = profile.selection(&Filter { t0, t1, ..Filter::default() }).unwrap();
        let of = |total: &Total| (run.kinds[total.kind].clone(), (total.count, total.bytes));
        let expected = naive_block(&naive, |key| {
            times.is_none_or(|(a, b)| (a..=b).contains(&key.4))
        });
        prop_assert_eq!(part.totals.iter().map(of).collect::<Block>(), expected);
        let totals: Block = run
            .totals
            .iter()
            .map(|total| (run.kinds[total.kind].clone(), (total.count, total.bytes)))
            .collect();
        prop_assert_eq!(totals, naive_block(&naive, |_| true));
        prop_assert!(bins <= 40);
    }

    #[test]
    fn places_lines_and_times_agree_with_pairs(
        ranks in 2..8_u32,
        groups in prop::collection::vec((any::<u8>(), any::<u8>()), 1..3),
        all in prop::collection::vec(random(), 1..30),
        place in any::<u8>(),
    ) {
        let (snapshots, naive) = snapshots(ranks, &groups, &all);
        let profile = profile(&snapshots);
        let run = profile.run();
        let place = u32::from(place) % ranks;

        let detail = profile.place(place as usize).unwrap();
        let mut peers: BTreeMap<(u32, bool, String), (u64, u64)> = BTreeMap::new();
        for (key, amount) in &naive {
            for (own, peer, writes) in [(key.0, key.1, true), (key.1, key.0, false)] {
                if own == place {
                    let of = (peer, writes, KINDS[key.2].name().to_owned());
                    let sum = peers.entry(of).or_default();
                    *sum = (sum.0 + amount.0, sum.1 + amount.1);
                }
            }
        }
        let found: BTreeMap<_, _> = detail
            .peers
            .iter()
            .map(|peer| {
                let writes = peer.direction == commsan_profile::api::Direction::Write;
                ((peer.place as u32, writes, run.kinds[peer.kind].clone()), (peer.count, peer.bytes))
            })
            .collect();
        prop_assert_eq!(found, peers);

        for (id, _) in run.files.iter().enumerate() {
            for line in profile.file(id).unwrap().lines {
                let expected = naive_block(&naive, |key| key.3 == line.line);
                let found: Block = line
                    .by_kind
                    .iter()
                    .map(|&(kind, count, bytes)| (run.kinds[kind].clone(), (count, bytes)))
                    .collect();
                prop_assert_eq!(found, expected);
                let detail = profile.line(id, line.line).unwrap();
                prop_assert_eq!(detail.more, 0);
                let bytes: u64 = detail.transfers.iter().map(|transfer| transfer.bytes).sum();
                prop_assert_eq!(bytes, line.bytes);
            }
        }

        for by in [By::Kind, By::Place, By::Node] {
            let all = profile.timeline(&TimelineQuery { by, ..TimelineQuery::default() }).unwrap();
            let one = TimelineQuery { by, place: Some(place as usize), ..TimelineQuery::default() };
            let one = profile.timeline(&one).unwrap();
            for bin in 0..run.timeline.bins {
                let sum = |timeline: &commsan_profile::api::Timeline| -> u64 {
                    timeline.series.iter().map(|series| series.bytes[bin as usize]).sum()
                };
                let naive_sum = |keep: &dyn Fn(u32, u32) -> bool| -> u64 {
                    let of = naive.iter().filter(|(key, _)| key.4 == bin && keep(key.0, key.1));
                    of.map(|(_, amount)| amount.1).sum()
                };
                prop_assert_eq!(sum(&all), naive_sum(&|_, _| true));
                let takes_part = |source, target| source == place || target == place;
                prop_assert_eq!(sum(&one), naive_sum(&takes_part));
            }
        }
    }
}

/// A place that talks to more others than are listed says how many more.
#[test]
fn what_a_places_lists_leave_out_is_told() {
    let ranks = 601;
    let mut snapshots: Vec<Snapshot> = (0..ranks).map(|rank| empty(rank, ranks, &[])).collect();
    for other in 1..ranks {
        let ends = (End::At(Place::Rank(0)), End::At(Place::Rank(other)));
        let key = Key::new(Kind::PointToPoint, 0, 1, Side::Source, ends);
        snapshots[0].transfers.push(Transfer::new(key, 1, other.into()));
    }
    let detail = profile(&snapshots).place(0).unwrap();
    assert_eq!((detail.peers.len(), detail.more), (500, [0, 0, 0, 100, 0]));
    assert!(detail.peers.iter().all(|peer| peer.bytes > 100));
    assert_eq!(profile(&snapshots).place(1).unwrap().more, [0; 5]);
}

/// Objects of part of the time, and the time in calls then.
#[test]
fn a_selection_has_its_own_objects_and_calls() {
    let mut snapshot = empty(0, 1, &[(1, 0)]);
    (snapshot.until, snapshot.epoch) = (4_000_000, 0);
    snapshot.strings.extend(["u", "v"].map(str::to_owned));
    for number in 0..2 {
        snapshot.objects.push(object(0, number));
        let ends = (End::At(Place::Rank(0)), End::At(Place::Rank(0)));
        let key = Key::new(Kind::PointToPoint, 0, 1, Side::Source, ends);
        let key = Key { object: Some(number), ..key };
        let bins = vec![Bin { bin: 2 * number, count: 1, amount: 8 + u64::from(number) }];
        let bytes = 8 + u64::from(number);
        snapshot.transfers.push(Transfer { bins, ..Transfer::new(key, 1, bytes) });
    }
    let bins = [(0, 250_000), (2, 500_000)].map(|(bin, amount)| Bin { bin, count: 1, amount });
    snapshot.calls = vec![Calls {
        call: 0,
        stack: 1,
        group: None,
        peer: None,
        count: 2,
        time: 750_000,
        longest: 500_000,
        bins: bins.to_vec(),
    }];
    let profile = profile(&[snapshot]);
    let names: Vec<String> = profile.run().objects.into_iter().map(|object| object.name).collect();
    let within = |t0, t1| {
        let filter = Filter { t0: Some(t0), t1: Some(t1), ..Filter::default() };
        let part = profile.selection(&filter).unwrap();
        let objects = part.objects.iter().map(|(id, kinds)| (names[*id].clone(), kinds[0].2));
        (objects.collect::<Vec<_>>(), part.calls.by_rank[0].seconds, part.calls.share_of_time)
    };
    assert_eq!(within(0, 1), (vec![("u".to_owned(), 8)], 0.25e-3, 0.125));
    assert_eq!(within(2, 2), (vec![("v".to_owned(), 9)], 0.5e-3, 0.5));
    assert_eq!(within(1, 1), (vec![], 0.0, 0.0));
}

/// A message as it was: where it was sent from and received by, of what.
#[derive(Clone, Copy, Debug)]
struct Message {
    source: u32,
    target: u32,
    tag: i32,
    line: u8,
    target_line: u8,
    object: u8,
    target_object: u8,
    bytes: u8,
}

fn message() -> impl Strategy<Value = Message> {
    let ends = (0..3_u32, 0..3_u32, 0..2_i32, 1..5_u8);
    (ends, (1..5_u8, 0..3_u8, 0..3_u8, 1..4_u8)).prop_map(
        |((source, target, tag, line), (target_line, object, target_object, bytes))| Message {
            source,
            target,
            tag,
            line,
            target_line,
            object,
            target_object,
            bytes,
        },
    )
}

/// Both sides of messages, each side added up as ranks do.
fn both_sides(messages: &[Message], lost: Option<u32>) -> Vec<Snapshot> {
    let mut snapshots: Vec<Snapshot> = (0..3).map(|rank| empty(rank, 3, &[])).collect();
    for snapshot in &mut snapshots {
        snapshot.strings.extend(["u", "v", "w"].map(str::to_owned));
        snapshot.objects = (0..3).map(|number| object(snapshot.rank, number)).collect();
    }
    for message in messages {
        for (side, rank, line, object) in [
            (Side::Source, message.source, message.line, message.object),
            (Side::Target, message.target, message.target_line, message.target_object),
        ] {
            let place = |rank| End::At(Place::Rank(rank));
            let ends = (place(message.source), place(message.target));
            let key = Key {
                tag: Some(message.tag),
                object: Some(object.into()),
                ..Key::new(Kind::PointToPoint, 0, line.into(), side, ends)
            };
            let bytes = u64::from(message.bytes);
            let rows = &mut snapshots[rank as usize].transfers;
            match rows.iter_mut().find(|row| row.key == key) {
                Some(row) => (row.count, row.bytes) = (row.count + 1, row.bytes + bytes),
                None => rows.push(Transfer::new(key, 1, bytes)),
            }
        }
    }
    snapshots.retain(|snapshot| Some(snapshot.rank) != lost);
    snapshots
}

proptest! {
    /// Where receivers are named, some message was received so; and naming changes no total.
    #[test]
    fn pairs_that_are_told_existed(messages in prop::collection::vec(message(), 1..12)) {
        let profile = profile(&both_sides(&messages, None));
        let run = profile.run();
        let bytes: u64 = messages.iter().map(|message| u64::from(message.bytes)).sum();
        prop_assert_eq!(run.totals.iter().map(|total| total.bytes).sum::<u64>(), bytes);
        let name = |object: Option<usize>| object.map(|object| run.objects[object].name.clone());
        let names = ["u", "v", "w"];
        let lines: BTreeSet<u8> = messages.iter().map(|message| message.line).collect();
        for line in lines {
            for transfer in profile.line(0, line.into()).unwrap().transfers {
                let (Some(from), Some(to)) = (name(transfer.object), name(transfer.target_object))
                else {
                    continue;
                };
                let existed = messages.iter().any(|message| {
                    (message.source as usize, message.target as usize)
                        == (transfer.source, transfer.target)
                        && names[usize::from(message.object)] == from
                        && names[usize::from(message.target_object)] == to
                });
                // Several tags share a pair of places; each is certain on its own.
                prop_assert!(existed, "{transfer:?} of {messages:?}");
            }
        }
    }

    /// What a lost rank has sent is known from those who received it.
    #[test]
    fn receivers_stand_in_for_lost_senders(
        messages in prop::collection::vec(message(), 1..12),
        lost in 0..3_u32,
    ) {
        let profile = profile(&both_sides(&messages, Some(lost)));
        let run = profile.run();
        let known = messages.iter().filter(|m| m.source != lost || m.target != lost);
        let bytes: u64 = known.map(|message| u64::from(message.bytes)).sum();
        prop_assert_eq!(run.totals.iter().map(|total| total.bytes).sum::<u64>(), bytes);
        prop_assert!(!run.complete);
        let says = |note: &String| note.contains(&format!("rank {lost} left no traffic file"));
        prop_assert!(run.notes.iter().any(says), "{:?}", run.notes);
    }
}
