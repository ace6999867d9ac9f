//! Random programs on ranks that share one clock, and the files that they would leave.

use commsan_profile::Profile;
use commsan_rundir::RunDirectory;
use commsan_rundir::events::{
    CHUNK, Collectives, Flow, Messages, Of, Part, Pen, Record, Shape, Tables, What, Writer,
};
use commsan_rundir::traffic::{Calls, Place, Snapshot};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs::File;

pub const EPOCH: u64 = 1_700_000_000_000_000_000;
/// Nanoseconds that a call takes if it need not wait, and that a message takes. All times are
/// multiples of ten, but for the end of a send that is buffered: nothing begins meanwhile.
const CALL: u64 = 30;
const LATENCY: u64 = 700;

pub const CALLS: [&str; 9] = [
    "MPI_Send",
    "MPI_Recv",
    "MPI_Isend",
    "MPI_Irecv",
    "MPI_Wait",
    "MPI_Barrier",
    "MPI_Allreduce",
    "MPI_Bcast",
    "MPI_Reduce",
];

/// What ranks do together; ranks are numbers to be reduced.
#[derive(Clone, Copy, Debug)]
pub enum Action {
    /// A rank computes.
    Compute(u8, u64),
    /// A message, received by a blocking call; the send may be synchronous.
    Message { from: u8, to: u8, tag: u8, synchronous: bool },
    /// The receive is posted before, and waited for after so much time.
    Posted { from: u8, to: u8, tag: u8, after: u64 },
    /// The send is synchronous and waited for after so much time.
    Waited { from: u8, to: u8, tag: u8, after: u64 },
    /// Two messages with some time between them, the second of which is received first.
    Swapped { from: u8, to: u8, between: u64 },
    /// A collective, by its position in `CALLS` from `MPI_Barrier` on; and its root.
    Collective(u8, u8),
}

pub fn action() -> impl Strategy<Value = Action> {
    let pair = (any::<u8>(), any::<u8>(), 0..3_u8);
    prop_oneof![
        (any::<u8>(), 0..900_u64).prop_map(|(rank, time)| Action::Compute(rank, 10 * time)),
        (pair.clone(), any::<bool>()).prop_map(|((from, to, tag), synchronous)| {
            Action::Message { from, to, tag, synchronous }
        }),
        (pair.clone(), (0..500_u64).prop_map(|time| 10 * time))
            .prop_map(|((from, to, tag), after)| Action::Posted { from, to, tag, after }),
        (pair, (0..500_u64).prop_map(|time| 10 * time))
            .prop_map(|((from, to, tag), after)| Action::Waited { from, to, tag, after }),
        (any::<u8>(), any::<u8>(), (0..500_u64).prop_map(|time| 10 * time))
            .prop_map(|(from, to, between)| Action::Swapped { from, to, between }),
        (0..4_u8, any::<u8>()).prop_map(|(which, root)| Action::Collective(which, root)),
    ]
}

/// What a rank records.
#[derive(Default)]
pub struct Rank {
    pub now: u64,
    /// Intervals, with what they are part of.
    pub records: Vec<(Record, Vec<Part>)>,
    /// Other end, whether this one sends, tag.
    pub channels: Vec<(u32, bool, i32)>,
    numbers: BTreeMap<(u32, bool, i32), u64>,
    /// What they are.
    pub shapes: Vec<Shape>,
    met: u64,
}

impl Rank {
    fn call(&mut self, shape: Shape, begin: u64, end: u64, part: Part) {
        let known = self.shapes.iter().position(|known| *known == shape);
        let number = known.unwrap_or_else(|| {
            self.shapes.push(shape);
            self.shapes.len() - 1
        });
        let record = Record { shape: number as u32, begin, end, folded: None };
        self.records.push((record, vec![part]));
        self.now = end;
    }

    /// A send that is buffered.
    fn send(&mut self, begin: u64, part: Part) {
        self.call(shape(0), begin, begin + 1, part);
        self.now = begin + CALL;
    }

    fn part(&mut self, peer: u32, sent: bool, tag: i32) -> Part {
        let channel = (peer, sent, tag);
        let at = self.channels.iter().position(|known| *known == channel);
        let at = at.unwrap_or_else(|| {
            self.channels.push(channel);
            self.channels.len() - 1
        });
        let number = self.numbers.entry(channel).or_default();
        *number += 1;
        Part { of: Of::Messages(at as u32), number: *number, completes: false, bytes: 8 }
    }
}

fn shape(call: usize) -> Shape {
    let begins = matches!(CALLS[call], "MPI_Isend" | "MPI_Irecv");
    Shape { begins, ..Shape::new(What::Call(call as u32), 0) }
}

/// A wait of a rank, which another rank ends.
#[derive(Clone, Copy, Debug)]
pub struct Edge {
    pub rank: usize,
    pub span: (u64, u64),
    pub source: usize,
}

/// (kind, late rank) → nanoseconds; and of each rank that waits.
pub type Expected = (BTreeMap<(&'static str, usize), u64>, Vec<u64>);

/// (kind, who waits, for whom) → how often, nanoseconds, the longest.
pub type Pairs = BTreeMap<(&'static str, usize, usize), (u64, u64, u64)>;

pub struct World {
    pub ranks: Vec<Rank>,
    pub expected: Expected,
    pub pairs: Pairs,
    pub edges: Vec<Edge>,
    /// When each rank ends.
    pub until: Vec<u64>,
}

impl World {
    /// A rank waits from one time until another, if that is later.
    fn waits(&mut self, kind: &'static str, rank: usize, late: usize, span: (u64, u64)) {
        // A receive in the wrong order is late itself: what it waits for, its action knows.
        if span.1 > span.0 && rank != late {
            self.edges.push(Edge { rank, span, source: late });
        }
        if span.1 > span.0 {
            *self.expected.0.entry((kind, late)).or_default() += span.1 - span.0;
            self.expected.1[rank] += span.1 - span.0;
            let of = self.pairs.entry((kind, rank, late)).or_default();
            let time = span.1 - span.0;
            *of = (of.0 + 1, of.1 + time, of.2.max(time));
        }
    }

    fn act(&mut self, action: Action) {
        let size = self.ranks.len();
        let pair = |from: u8, to: u8| {
            let from = usize::from(from) % size;
            (from, (from + 1 + usize::from(to) % (size - 1)) % size)
        };
        match action {
            Action::Compute(rank, time) => self.ranks[usize::from(rank) % size].now += time,
            Action::Message { from, to, tag, synchronous } => {
                let (from, to) = pair(from, to);
                let (sent, posted) = (self.ranks[from].now, self.ranks[to].now);
                if synchronous {
                    self.waits("late receiver", from, to, (sent, posted));
                }
                self.waits("late sender", to, from, (posted, sent));
                let part = self.ranks[from].part(to as u32, true, tag.into());
                match synchronous {
                    true => {
                        let until = sent.max(posted) + LATENCY;
                        self.ranks[from].call(shape(0), sent, until, part);
                    }
                    false => self.ranks[from].send(sent, part),
                }
                let part = self.ranks[to].part(from as u32, false, tag.into());
                self.ranks[to].call(shape(1), posted, posted.max(sent + LATENCY) + CALL, part);
            }
            Action::Posted { from, to, tag, after } => {
                let (from, to) = pair(from, to);
                let part = self.ranks[to].part(from as u32, false, tag.into());
                let now = self.ranks[to].now;
                self.ranks[to].call(shape(3), now, now + CALL, part);
                self.ranks[to].now += after;
                let (sent, waits) = (self.ranks[from].now, self.ranks[to].now);
                self.waits("late sender", to, from, (waits, sent));
                let other = self.ranks[from].part(to as u32, true, tag.into());
                self.ranks[from].send(sent, other);
                let part = Part { completes: true, bytes: 0, ..part };
                self.ranks[to].call(shape(4), waits, waits.max(sent + LATENCY) + CALL, part);
            }
            Action::Waited { from, to, tag, after } => {
                let (from, to) = pair(from, to);
                let part = self.ranks[from].part(to as u32, true, tag.into());
                let sent = self.ranks[from].now;
                self.ranks[from].call(shape(2), sent, sent + CALL, part);
                self.ranks[from].now += after;
                let (waits, posted) = (self.ranks[from].now, self.ranks[to].now);
                self.waits("late receiver", from, to, (waits, posted));
                self.waits("late sender", to, from, (posted, sent));
                let part = Part { completes: true, bytes: 0, ..part };
                let until = waits.max(posted.max(sent) + LATENCY);
                self.ranks[from].call(shape(4), waits, until, part);
                let part = self.ranks[to].part(from as u32, false, tag.into());
                let until = posted.max(sent + LATENCY) + CALL;
                self.ranks[to].call(shape(1), posted, until, part);
            }
            Action::Swapped { from, to, between } => {
                let (from, to) = pair(from, to);
                let first = self.ranks[from].now;
                let part = self.ranks[from].part(to as u32, true, 10);
                self.ranks[from].send(first, part);
                let second = first + CALL + between;
                let part = self.ranks[from].part(to as u32, true, 11);
                self.ranks[from].send(second, part);
                for (tag, sent) in [(11, second), (10, first)] {
                    let posted = self.ranks[to].now;
                    let is_there = tag == 11 && first < posted;
                    let (kind, late) =
                        if is_there { ("wrong order", to) } else { ("late sender", from) };
                    self.waits(kind, to, late, (posted, sent));
                    if is_there && sent > posted {
                        self.edges.push(Edge { rank: to, span: (posted, sent), source: from });
                    }
                    let part = self.ranks[to].part(from as u32, false, tag);
                    let until = posted.max(sent + LATENCY) + CALL;
                    self.ranks[to].call(shape(1), posted, until, part);
                }
            }
            Action::Collective(which, root) => self.meet(which, usize::from(root) % size),
        }
    }

    fn meet(&mut self, which: u8, root: usize) {
        let entered: Vec<u64> = self.ranks.iter().map(|rank| rank.now).collect();
        // Of those that come at the same time, any may be last: the analysis takes the last rank.
        let last = (0..entered.len()).max_by_key(|rank| (entered[*rank], *rank)).unwrap_or(0);
        let flow = [Flow::All, Flow::All, Flow::FromRoot, Flow::ToRoot][usize::from(which)];
        for rank in 0..entered.len() {
            let begin = entered[rank];
            let awaited = match which {
                0 => Some(("wait at barrier", last)),
                1 => Some(("wait at NxN", last)),
                2 if rank != root => Some(("late broadcast", root)),
                3 if rank == root => Some(("early reduce", last)),
                _ => None,
            };
            let mut end = begin + CALL;
            if let Some((kind, late)) = awaited {
                self.waits(kind, rank, late, (begin, entered[late]));
                end = end.max(entered[late] + LATENCY);
            }
            let of = &mut self.ranks[rank];
            of.met += 1;
            let part = Part { of: Of::Collectives(0), number: of.met, completes: false, bytes: 8 };
            let root = (which > 1).then_some(root as u32);
            let shape = Shape { flow: Some(flow), root, ..shape(5 + usize::from(which)) };
            of.call(shape, begin, end, part);
        }
    }
}

pub fn simulated(size: usize, actions: &[Action]) -> World {
    let ranks = (0..size).map(|_| Rank { now: 1000, ..Rank::default() }).collect();
    let mut world = World {
        ranks,
        expected: (BTreeMap::new(), vec![0; size]),
        pairs: Pairs::new(),
        edges: vec![],
        until: vec![1_000_000; size],
    };
    actions.iter().for_each(|action| world.act(*action));
    world
}

pub fn write(world: &World, directory: &RunDirectory) {
    let size = world.ranks.len() as u32;
    let all: Vec<Place> = (0..size).map(Place::Rank).collect();
    for (rank, of) in (0..).zip(&world.ranks) {
        let calls = (0..CALLS.len() as u32).map(|call| {
            let (stack, peer, count, time, longest, bins) = Default::default();
            Calls { call, stack, group: Some(0), peer, count, time, longest, bins }
        });
        let snapshot = Snapshot {
            rank,
            size,
            host: "node".to_owned(),
            began: EPOCH,
            until: EPOCH + world.until[rank as usize],
            complete: true,
            bin: 1_000_000,
            epoch: EPOCH,
            strings: CALLS.map(str::to_owned).to_vec(),
            stacks: vec![vec![]],
            groups: vec![all.clone()],
            ..Snapshot::default()
        };
        std::fs::write(directory.rank_traffic(rank), snapshot.encode()).unwrap();
        let messages = of.channels.iter().map(|(peer, sent, tag)| {
            let (peer, sent, tag) = (Place::Rank(*peer), *sent, *tag);
            Messages { sent, group: 0, peer, tag, ordered: true }
        });
        let tables = Tables {
            of: Snapshot { calls: calls.collect(), ..snapshot },
            clock: vec![(0, EPOCH), (1_000_000_000, EPOCH + 1_000_000_000)],
            shapes: of.shapes.clone(),
            messages: messages.collect(),
            collectives: vec![Collectives { group: 0, nth: 0 }],
            ..Tables::default()
        };
        let path = directory.rank_traffic(rank).with_extension("events");
        let mut writer = Writer::new(File::create(path).unwrap(), &tables).unwrap();
        // Short chunks, so that there are several.
        for records in of.records.chunks(5) {
            let mut bytes = vec![0; CHUNK];
            let base = records[0].0.begin;
            let (mut at, mut last) = (0, base);
            for (record, parts) in records {
                (at, last) = Pen::new(&mut bytes, at, last).write(record, parts);
            }
            writer.chunk(base, &bytes[..at]).unwrap();
        }
        writer.finish().unwrap();
    }
}

pub fn read(world: &World) -> Profile {
    let parent = tempfile::tempdir().unwrap();
    let directory = RunDirectory::create_at(&parent.path().join("run")).unwrap();
    write(world, &directory);
    Profile::read(&directory, &mut |_| ()).unwrap()
}
