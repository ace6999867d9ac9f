//! What ranks move with MPI begins and ends at the devices that own the memory.

use commsan_profile::Profile;
use commsan_profile::api::MatrixQuery;
use commsan_rundir::RunInfo;
use commsan_rundir::traffic::{
    End, Frame, Key, Kind, Memory, Object, Place, Side, Snapshot, Transfer,
};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Where a rank may have memory.
const MEMORIES: u32 = 4;
/// The memory of the host; the others are devices.
const HOST: u32 = 3;

fn place(rank: u32, memory: u32) -> Place {
    if memory == HOST { Place::Rank(rank) } else { Place::Device(memory) }
}

fn name(rank: u32, memory: u32) -> String {
    if memory == HOST { format!("rank {rank}") } else { format!("gpu {memory}") }
}

fn at(rank: u32) -> End {
    End::At(Place::Rank(rank))
}

/// Ranks of one host, each with an object in every memory; object n is in memory n.
struct Run(Vec<Snapshot>);

impl Run {
    fn new(ranks: u32) -> Run {
        let object = |rank: u32, memory: u32| Object {
            memory: if memory == HOST { Memory::Heap } else { Memory::Device },
            place: place(rank, memory),
            stack: 0,
            call: None,
            name: Some(3 + memory),
            bytes: 64,
            count: 1,
            address: 0,
            beside: vec![],
        };
        let snapshot = |rank| Snapshot {
            rank,
            size: ranks,
            host: "h".to_owned(),
            complete: true,
            strings: ["MPI_X", "f", "a.c", "a", "b", "c", "d"].map(str::to_owned).to_vec(),
            stacks: (0..40).map(|line| vec![Frame::Line(1, 2, line)]).collect(),
            groups: vec![(0..ranks).map(Place::Rank).collect()],
            objects: (0..MEMORIES).map(|memory| object(rank, memory)).collect(),
            ..Snapshot::default()
        };
        Run((0..ranks).map(snapshot).collect())
    }

    /// A row of `rank`: kind, ends, line, memory, bytes.
    fn row(
        &mut self,
        (rank, side, kind): (u32, Side, Kind),
        ends: (End, End),
        line: u32,
        memory: u32,
        bytes: u64,
    ) -> &mut Transfer {
        let key = Key {
            group: Some(0),
            tag: (kind == Kind::PointToPoint).then_some(1),
            object: Some(memory),
            ..Key::new(kind, 0, line, side, ends)
        };
        let rows = &mut self.0[rank as usize].transfers;
        rows.push(Transfer::new(key, 1, bytes));
        rows.last_mut().unwrap()
    }

    /// A message of 8 bytes from rank 0 to rank 1.
    fn message(mut self, from: u32, to: u32) -> Run {
        let (kind, ends) = (Kind::PointToPoint, (at(0), at(1)));
        self.row((0, Side::Source, kind), ends, 10, from, 8);
        self.row((1, Side::Target, kind), ends, 20, to, 8);
        self
    }

    fn profile(&self) -> Profile {
        Profile::of_snapshots(&self.0, RunInfo::default()).unwrap()
    }

    /// The whole matrix, by names of places: count, bytes.
    fn matrix(&self) -> Matrix {
        let matrix = self.profile().matrix(&MatrixQuery::default()).unwrap();
        let mut cells = Matrix::new();
        for (row, col, kinds) in &matrix.cells {
            let (row, col) = (&matrix.rows[*row].label, &matrix.cols[*col].label);
            let cell = cells.entry((row.clone(), col.clone())).or_default();
            kinds.iter().for_each(|(_, count, bytes)| *cell = (cell.0 + count, cell.1 + bytes));
        }
        cells
    }
}

type Matrix = BTreeMap<(String, String), (u64, u64)>;

fn cells<const N: usize>(all: [(&str, &str, u64, u64); N]) -> Matrix {
    let cell = |(row, col, count, bytes): (&str, &str, _, _)| {
        ((row.to_owned(), col.to_owned()), (count, bytes))
    };
    all.into_iter().map(cell).collect()
}

#[test]
fn messages_go_between_the_owners_of_the_memory() {
    assert_eq!(Run::new(2).message(0, 1).matrix(), cells([("gpu 0", "gpu 1", 1, 8)]));
    assert_eq!(Run::new(2).message(0, HOST).matrix(), cells([("gpu 0", "rank 1", 1, 8)]));
    assert_eq!(Run::new(2).message(HOST, 1).matrix(), cells([("rank 0", "gpu 1", 1, 8)]));
    assert_eq!(Run::new(2).message(HOST, HOST).matrix(), cells([("rank 0", "rank 1", 1, 8)]));
    // Two ranks that share a device.
    assert_eq!(Run::new(2).message(0, 0).matrix(), cells([("gpu 0", "gpu 0", 1, 8)]));
}

/// Which message went where nothing tells.
#[test]
fn a_rank_stands_for_memory_that_is_not_certain() {
    let run = Run::new(2).message(0, 1).message(0, HOST);
    assert_eq!(run.matrix(), cells([("gpu 0", "rank 1", 2, 16)]));
    let mut run = run;
    for (rank, bytes) in
        run.0.iter_mut().flat_map(|rank| rank.transfers.iter_mut()).zip([5, 6, 5, 6])
    {
        rank.order = Some(bytes);
    }
    assert_eq!(run.matrix(), cells([("gpu 0", "gpu 1", 1, 8), ("gpu 0", "rank 1", 1, 8)]));
}

/// A receive from any rank that has not recorded whose message it got.
#[test]
fn whoever_receives_knows_where() {
    let mut run = Run::new(2);
    let kind = Kind::PointToPoint;
    run.row((0, Side::Source, kind), (at(0), at(1)), 10, 2, 8);
    run.row((1, Side::Target, kind), (End::At(Place::Unknown), at(1)), 20, 1, 8);
    assert_eq!(run.matrix(), cells([("gpu 2", "gpu 1", 1, 8)]));
}

/// Files and windows are seen by one process at both ends.
#[test]
fn files_and_windows_too() {
    let mut run = Run::new(2);
    run.0[0].strings.push("out".to_owned());
    run.row((0, Side::Both, Kind::FileWrite), (at(0), End::At(Place::File(7))), 10, 1, 8);
    assert_eq!(run.matrix(), cells([("gpu 1", "out", 1, 8)]));

    let mut run = Run::new(2);
    let window = |place: Place, count: u64| Object {
        memory: Memory::Window,
        place,
        stack: 30,
        name: None,
        bytes: 64 * count,
        count,
        ..run.0[0].objects[0].clone()
    };
    // The origin knows the window by its rank, the target where it is.
    let (known, real) = (window(Place::Rank(1), 0), window(Place::Device(2), 1));
    run.0[0].objects.push(known);
    run.0[1].objects.push(real);
    run.row((0, Side::Both, Kind::Rma), (at(0), at(1)), 10, 1, 8).key.other = Some(4);
    assert_eq!(run.matrix(), cells([("gpu 1", "gpu 2", 1, 8)]));
    let objects = run.profile().run().objects;
    let window = objects.iter().find(|object| object.memory == "window").unwrap();
    assert_eq!((window.place_count, window.bytes), (1, 64));
}

#[test]
fn members_of_a_collective_own_what_they_receive_into() {
    let mut run = Run::new(3);
    let (kind, others) = (Kind::Collective, End::Others(0));
    for rank in 0..3 {
        run.row((rank, Side::Source, kind), (at(rank), others), 10, rank, 8);
        run.row((rank, Side::Target, kind), (others, at(rank)), 10, rank, 8);
    }
    let all = [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)];
    let pair = |(a, b)| ((name(a, a), name(b, b)), (1, 8));
    assert_eq!(run.matrix(), all.into_iter().map(pair).collect());
}

proptest! {
    /// Whatever members send from and receive into, shared devices and the host's memory included.
    #[test]
    fn collectives_agree_with_their_pairs(
        memories in prop::collection::vec((0..MEMORIES, 0..MEMORIES), 1..6),
        pattern in 0..3,
    ) {
        let ranks = memories.len() as u32;
        let mut run = Run::new(ranks);
        let kind = Kind::Collective;
        let mut expected = Matrix::new();
        for (rank, (sends, receives)) in (0..).zip(&memories) {
            let (to, from) = match pattern {
                0 => (End::Others(0), End::Others(0)),
                1 => (End::Above(0), End::Below(0)),
                _ => (End::Below(0), End::Above(0)),
            };
            run.row((rank, Side::Source, kind), (at(rank), to), 10, *sends, 8);
            run.row((rank, Side::Target, kind), (from, at(rank)), 10, *receives, 8);
            for (other, (_, receives)) in (0..).zip(&memories) {
                let is_meant = match pattern {
                    0 => other != rank,
                    1 => other > rank,
                    _ => other < rank,
                };
                if is_meant {
                    let cell = expected.entry((name(rank, *sends), name(other, *receives)));
                    let cell = cell.or_default();
                    *cell = (cell.0 + 1, cell.1 + 8);
                }
            }
        }
        prop_assert_eq!(run.matrix(), expected.clone());
        let profile = run.profile();
        let all = profile.run();
        let bytes: u64 = all.totals.iter().map(|total| total.bytes).sum();
        prop_assert_eq!(bytes, expected.values().map(|(_, bytes)| bytes).sum::<u64>());
        // What places say of each other is what the matrix says.
        let mut by_place = Matrix::new();
        for place in &all.places {
            for peer in profile.place(place.id).unwrap().peers {
                if peer.direction == commsan_profile::api::Direction::Write {
                    let ends = (place.name.clone(), all.places[peer.place].name.clone());
                    by_place.insert(ends, (peer.count, peer.bytes));
                }
            }
        }
        prop_assert_eq!(by_place, expected);
    }
}
