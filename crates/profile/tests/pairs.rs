//! When what receivers have seen is put beside what senders have, and when not.

mod support;

use commsan_profile::Profile;
use commsan_profile::api::{
    By, Direction, Filter, LineTransfer, MatrixQuery, OfKind, TimelineQuery,
};
use commsan_rundir::RunInfo;
use commsan_rundir::traffic::{Bin, End, Frame, Key, Kind, Place, Side, Snapshot, Transfer};
use support::object;

const RANKS: u32 = 3;
/// Objects of every rank, by the number that rows give.
const OBJECTS: [&str; 3] = ["u", "v", "w"];

/// A run of three ranks, all of one group.
struct Run(Vec<Snapshot>);

impl Run {
    fn new() -> Run {
        let snapshot = |rank| Snapshot {
            rank,
            size: RANKS,
            host: "h".to_owned(),
            complete: true,
            strings: ["MPI_X", "f", "a.c", "u", "v", "w"].map(str::to_owned).to_vec(),
            stacks: (0..40).map(|line| vec![Frame::Line(1, 2, line)]).collect(),
            groups: vec![(0..RANKS).map(Place::Rank).collect()],
            objects: (0..3).map(|number| object(rank, number)).collect(),
            ..Snapshot::default()
        };
        Run((0..RANKS).map(snapshot).collect())
    }

    /// A row of `rank`: line, ends, object, bytes.
    fn row(
        mut self,
        (rank, side, kind): (u32, Side, Kind),
        line: u32,
        (source, target): (End, End),
        object: u32,
        bytes: u64,
    ) -> Run {
        let key = Key {
            group: Some(0),
            tag: (kind == Kind::PointToPoint).then_some(1),
            object: Some(object),
            ..Key::new(kind, 0, line, side, (source, target))
        };
        self.0[rank as usize].transfers.push(Transfer::new(key, 1, bytes));
        self
    }

    fn sends(self, line: u32, object: u32, bytes: u64) -> Run {
        self.row((0, Side::Source, Kind::PointToPoint), line, (at(0), at(1)), object, bytes)
    }

    fn receives(self, line: u32, object: u32, bytes: u64) -> Run {
        self.row((1, Side::Target, Kind::PointToPoint), line, (at(0), at(1)), object, bytes)
    }

    /// The row that was added last holds these messages.
    fn in_order(mut self, order: u64) -> Run {
        let last = self.0.iter_mut().flat_map(|rank| rank.transfers.last_mut());
        let last = last.filter(|transfer| transfer.order.is_none());
        last.for_each(|transfer| transfer.order = Some(order));
        self
    }

    fn profile(&self) -> Profile {
        Profile::of_snapshots(&self.0, RunInfo::default()).unwrap()
    }

    /// Figures of an object, by kind.
    fn of(&self, name: &str) -> Vec<OfKind> {
        let objects = self.profile().run().objects;
        objects.into_iter().find(|object| object.name == name).unwrap().by_kind
    }

    /// What is written by the transfers of a line, each named.
    fn written_by(&self, line: u32) -> Vec<Option<String>> {
        let profile = self.profile();
        let objects = profile.run().objects;
        let name = |transfer: LineTransfer| Some(objects[transfer.target_object?].name.clone());
        profile.line(0, line).unwrap().transfers.into_iter().map(name).collect()
    }
}

fn at(rank: u32) -> End {
    End::At(Place::Rank(rank))
}

fn some(object: usize) -> Option<String> {
    Some(OBJECTS[object].to_owned())
}

#[test]
fn one_receiver_is_the_receiver_of_all() {
    let run = Run::new().sends(10, 0, 8).sends(11, 1, 8).receives(20, 2, 16);
    assert_eq!(run.written_by(10), [some(2)]);
    assert_eq!(run.written_by(11), [some(2)]);
    // The line that receives takes part in both.
    assert_eq!(run.written_by(20), [some(2), some(2)]);
    let total: u64 = run.profile().run().totals.iter().map(|total| total.bytes).sum();
    assert_eq!(total, 16);
}

/// 8 bytes may have arrived as 8, or as a part of the 24.
#[test]
fn equal_amounts_prove_nothing() {
    let run = Run::new().sends(10, 0, 8).sends(11, 1, 24);
    let run = run.receives(20, 1, 24).receives(21, 2, 8);
    assert_eq!(run.written_by(10), [None]);
    assert_eq!(run.written_by(11), [None]);
}

/// Receives that had more room got what was sent, and when is known as well.
#[test]
fn the_same_messages_are_told_apart() {
    let run = Run::new().sends(10, 0, 8).in_order(5).sends(11, 1, 24).in_order(6);
    let mut run = run.receives(20, 1, 64).in_order(6).receives(21, 2, 64).in_order(5);
    assert_eq!(run.written_by(10), [some(2)]);
    assert_eq!(run.written_by(11), [some(1)]);
    assert_eq!(run.written_by(20), [some(1)]);
    for snapshot in &mut run.0 {
        snapshot.bin = 1_000_000;
        for transfer in &mut snapshot.transfers {
            let half = |bin| Bin { bin, count: 1, amount: transfer.bytes / 2 };
            (transfer.count, transfer.bins) = (2, vec![half(0), half(1)]);
        }
    }
    let filter = Filter { file: Some(0), line: Some(20), ..Filter::default() };
    let query = TimelineQuery { by: By::Kind, place: None, filter };
    let timeline = run.profile().timeline(&query).unwrap();
    assert_eq!(timeline.series[0].bytes, [12, 12]);
}

#[test]
fn what_cannot_be_told_apart_stays_empty() {
    let run = Run::new().sends(10, 0, 8).sends(11, 1, 8);
    let run = run.receives(20, 1, 8).receives(21, 2, 8);
    assert_eq!(run.written_by(10), [None]);
    assert_eq!(run.written_by(11), [None]);
    // What was received into is known nevertheless.
    assert_eq!(run.written_by(20), [some(1)]);
}

/// Two arrays that take turns: each is sent from and received into.
#[test]
fn what_may_be_the_same_messages_is_counted_once() {
    let run = Run::new().sends(10, 0, 8).sends(10, 1, 8);
    let run = run.receives(20, 0, 8).receives(20, 1, 8);
    assert_eq!(run.of("u"), [(0, 1, 8)]);
    assert_eq!(run.of("v"), [(0, 1, 8)]);
    assert_eq!(run.sends(10, 0, 8).receives(21, 2, 8).of("w"), [(0, 1, 8)]);
    // A line that sends and receives, beside another one that does.
    let run = Run::new().sends(10, 0, 8).sends(11, 0, 8);
    let run = run.receives(10, 1, 8).receives(11, 2, 8);
    let lines = run.profile().file(0).unwrap().lines;
    assert_eq!(
        lines.iter().map(|line| (line.line, line.bytes)).collect::<Vec<_>>(),
        [(10, 8), (11, 8)]
    );
}

/// A nonblocking receive has room for more than comes, and nothing comes for one that is cancelled.
#[test]
fn receives_count_no_more_than_was_sent() {
    let run = Run::new().sends(10, 0, 8).receives(20, 1, 4000);
    assert_eq!(run.of("v"), [(0, 1, 8)]);
    let two = Run::new().sends(10, 0, 8).sends(10, 0, 8);
    let two = two.receives(20, 1, 4000).receives(21, 2, 4000);
    assert_eq!((two.of("v"), two.of("w")), (vec![(0, 1, 8)], vec![(0, 1, 8)]));
    assert_eq!(Run::new().receives(20, 1, 4000).of("v"), []);
}

/// Each side of an intercommunicator records the other's group.
#[test]
fn ends_of_an_intercommunicator_belong_together() {
    let mut run = Run::new().sends(10, 0, 8).receives(20, 1, 8);
    for (rank, other) in [(0, 1), (1, 0)] {
        run.0[rank].groups = vec![vec![Place::Rank(other)]];
    }
    assert_eq!(run.written_by(10), [some(1)]);
}

/// Whichever rank sent it, the message is among those that senders recorded.
#[test]
fn a_receive_that_names_no_sender_is_counted_once() {
    let run = Run::new().sends(10, 0, 8);
    let target = (1, Side::Target, Kind::PointToPoint);
    let run = run.row(target, 10, (End::At(Place::Unknown), at(1)), 0, 8);
    assert_eq!(run.of("u"), [(0, 1, 8)]);
    assert_eq!(run.profile().file(0).unwrap().lines[0].bytes, 8);
    // The matrix of what counts needs no place for it.
    let matrix = run.profile().matrix(&MatrixQuery::default()).unwrap();
    assert_eq!(matrix.rows.len(), 3);
    // Its line and object do.
    let run = run.row(target, 20, (End::At(Place::Unknown), at(1)), 1, 8);
    assert_eq!(run.of("v"), [(0, 1, 8)]);
    let filter = Filter { object: Some(1), ..Filter::default() };
    let matrix = run.profile().matrix(&MatrixQuery { filter, ..MatrixQuery::default() }).unwrap();
    assert_eq!((matrix.rows.len(), matrix.cells.len()), (4, 1));
}

/// If one end's object is not known, the profile shows the other, and that it is read or written
/// itself.
#[test]
fn places_tell_what_happens_to_objects() {
    let sent = Run::new().sends(10, 0, 8).profile();
    for place in [0, 1] {
        let objects = sent.place(place).unwrap().objects;
        let told: Vec<_> = objects.iter().map(|of| (of.object, of.direction, of.bytes)).collect();
        assert_eq!(told, [(0, Direction::Read, 8)], "place {place}");
    }
}

/// A launcher's time is none of the run's.
#[test]
fn time_begins_with_the_first_rank() {
    let mut run = Run::new().sends(10, 0, 8);
    for snapshot in &mut run.0 {
        (snapshot.epoch, snapshot.bin) = (1_000_000, 100);
        (snapshot.began, snapshot.until) = (1_005_030, 1_005_250);
    }
    run.0[0].transfers[0].bins = vec![Bin { bin: 52, count: 1, amount: 8 }];
    let profile = run.profile();
    assert_eq!(profile.run().timeline.bins, 3);
    let within = |t0, t1| {
        let filter = Filter { t0: Some(t0), t1: Some(t1), ..Filter::default() };
        profile.matrix(&MatrixQuery { filter, ..MatrixQuery::default() }).unwrap().cells.len()
    };
    assert_eq!((within(0, 1), within(2, 2)), (0, 1));
}

#[test]
fn members_of_a_collective_receive_into_one_object() {
    let root = (0, Side::Source, Kind::Collective);
    let bcast = Run::new().row(root, 10, (at(0), End::Others(0)), 0, 8);
    let target = |rank| (rank, Side::Target, Kind::Collective);
    let bcast = bcast.row(target(1), 10, (at(0), at(1)), 2, 8);
    let same = bcast.row(target(2), 10, (at(0), at(2)), 2, 8);
    assert_eq!(same.written_by(10), [some(2), some(2)]);

    let gather = (0..RANKS).fold(Run::new(), |run, rank| match rank {
        0 => run.row((0, Side::Target, Kind::Collective), 10, (End::Others(0), at(0)), 1, 8),
        _ => run.row((rank, Side::Source, Kind::Collective), 10, (at(rank), at(0)), 0, 8),
    });
    assert_eq!(gather.written_by(10), [some(1), some(1)]);

    let allreduce = |last: u32| {
        (0..RANKS).fold(Run::new(), |run, rank| {
            let (source, others) = ((rank, Side::Source, Kind::Collective), End::Others(0));
            let into = if rank == 2 { last } else { 1 };
            run.row(source, 10, (at(rank), others), 0, 8).row(
                (rank, Side::Target, Kind::Collective),
                10,
                (others, at(rank)),
                into,
                8,
            )
        })
    };
    assert_eq!(allreduce(1).written_by(10), vec![some(1); 6]);
    assert_eq!(allreduce(2).written_by(10), vec![None; 6]);
}

/// A lost rank's part of a collective counts where it arrived; the others' is counted where it
/// left.
#[test]
fn collectives_of_lost_ranks_are_counted_once() {
    let mut run = (0..RANKS).fold(Run::new(), |run, rank| {
        let (kind, others) = (Kind::Collective, End::Others(0));
        run.row((rank, Side::Source, kind), 10, (at(rank), others), 0, 8).row(
            (rank, Side::Target, kind),
            10,
            (others, at(rank)),
            1,
            8,
        )
    });
    let total =
        |run: &Run| -> u64 { run.profile().run().totals.iter().map(|total| total.bytes).sum() };
    assert_eq!(total(&run), 6 * 8);
    run.0.remove(1);
    assert_eq!(total(&run), 6 * 8);
    assert_eq!(run.of("u"), [(0, 4, 32)]);
    assert_eq!(run.of("v"), [(0, 6, 48)]);
}
