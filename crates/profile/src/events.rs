//! What ranks did when: their files of events, with the numbers of the model, and all of them in
//! the order of time.
//!
//! Records stay packed: they are decoded chunk by chunk when somebody asks. Times are those of the
//! system's clock of each host. On one host all ranks read the same clock; those of several hosts
//! are taken as they are, which a note says.

use crate::merge::{Rank, Table};
use commsan_rundir::events::{Chunk, Events, Flow, Of, Part, Record, Records, Tables};
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// Messages that both ends number alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Channel {
    /// Who sends.
    pub source: Rank,
    /// Who receives.
    pub target: Rank,
    /// The group of the communicators: of ranks as recorded.
    pub group: u32,
    /// The tag.
    pub tag: i32,
}

/// A communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Communicator {
    /// Its group, as recorded.
    pub group: u32,
    /// Of those with the same members, the how manieth.
    pub nth: u32,
}

/// What the logs of all ranks refer to.
#[derive(Debug, Default)]
pub struct Log {
    /// Ranks that have left one.
    pub ranks: Vec<RankLog>,
    /// Messages.
    pub channels: Table<Channel>,
    /// Communicators.
    pub communicators: Table<Communicator>,
    /// Members of each of these.
    pub sizes: Vec<u32>,
    /// Its group in the model.
    pub groups: Vec<u32>,
    /// Names of regions.
    pub regions: Table<String>,
}

/// What one rank did.
#[derive(Debug)]
pub struct RankLog {
    /// Which.
    pub rank: Rank,
    /// Its place in the model.
    pub place: u32,
    /// Its host.
    pub host: String,
    /// Kinds of intervals.
    pub shapes: Vec<Shape>,
    /// What numbers of messages mean, if their order is known, and whether the rank sends them.
    pub messages: Vec<Option<(u32, bool)>>,
    /// What numbers of communicators mean.
    pub collectives: Vec<Option<u32>>,
    /// The clock, and what was folded.
    pub tables: Tables,
    /// Records.
    pub chunks: Vec<Chunk>,
}

/// What intervals of a rank have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// What they are.
    pub what: What,
    /// Number of the thread.
    pub thread: u32,
    /// Whether another call completes what it begins.
    pub begins: bool,
    /// Who waits for whom.
    pub flow: Option<Flow>,
    /// The root.
    pub root: Option<Rank>,
}

/// What an interval is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum What {
    /// A call: its site.
    Call(u32),
    /// A region of the program.
    Region(u32),
    /// commsan's own work.
    Own,
}

/// An interval, in nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The rank, a position in [`Log::ranks`].
    pub rank: usize,
    /// What it is, a position in its shapes.
    pub shape: u32,
    /// When it begins.
    pub begin: u64,
    /// When it ends.
    pub end: u64,
    /// How many there are, and the nanoseconds in them, if they are folded.
    pub folded: Option<(u64, u64)>,
}

impl RankLog {
    /// The interval of a record, unless it means nothing.
    fn interval(&self, rank: usize, record: &Record) -> Option<Interval> {
        let Record { shape, begin, end, folded } = *record;
        self.shapes.get(shape as usize)?;
        let folded = folded.map(|(count, ticks)| {
            // The rate hardly changes within a run.
            let (from, to) =
                (self.tables.time(begin), self.tables.time(begin.saturating_add(ticks)));
            (count, to.saturating_sub(from))
        });
        let begin = self.tables.time(begin);
        let end = self.tables.time(end).max(begin);
        Some(Interval { rank, shape, begin, end, folded })
    }

    /// All intervals of a chunk; what is damaged ends it.
    pub fn chunk(&self, rank: usize, number: usize, mut f: impl FnMut(Interval, &[Part])) {
        let chunk = &self.chunks[number];
        let Ok(bytes) = chunk.bytes() else { return };
        let (mut records, mut parts) = (Records::new(&bytes, chunk.base), vec![]);
        while let Ok(Some(record)) = records.next(&mut parts) {
            if let Some(interval) = self.interval(rank, &record) {
                f(interval, &parts);
            }
        }
    }
}

/// A rank's intervals, one after the other.
struct Cursor<'l> {
    log: &'l RankLog,
    rank: usize,
    chunk: usize,
    read: std::vec::IntoIter<(Interval, Vec<Part>)>,
}

impl Iterator for Cursor<'_> {
    type Item = (Interval, Vec<Part>);

    fn next(&mut self) -> Option<(Interval, Vec<Part>)> {
        loop {
            if let Some(next) = self.read.next() {
                return Some(next);
            }
            if self.chunk >= self.log.chunks.len() {
                return None;
            }
            let mut read = vec![];
            self.log.chunk(self.rank, self.chunk, |interval, parts| {
                read.push((interval, parts.to_vec()));
            });
            self.chunk += 1;
            self.read = read.into_iter();
        }
    }
}

impl Log {
    /// All intervals of all ranks, as they end; those of one rank in the order in which they were
    /// recorded. One chunk of each rank is unpacked at a time.
    pub fn in_order(&self, mut f: impl FnMut(Interval, &[Part])) {
        let mut cursors: Vec<Cursor> = (self.ranks.iter().enumerate())
            .map(|(rank, log)| Cursor { log, rank, chunk: 0, read: vec![].into_iter() })
            .collect();
        let mut next: Vec<Option<(Interval, Vec<Part>)>> =
            cursors.iter_mut().map(Iterator::next).collect();
        let mut heap: BinaryHeap<Reverse<(u64, usize)>> = (next.iter().enumerate())
            .filter_map(|(rank, of)| Some(Reverse((of.as_ref()?.0.end, rank))))
            .collect();
        while let Some(Reverse((_, rank))) = heap.pop() {
            let following = cursors[rank].next();
            if let Some((interval, _)) = &following {
                heap.push(Reverse((interval.end, rank)));
            }
            if let Some((interval, parts)) = std::mem::replace(&mut next[rank], following) {
                f(interval, &parts);
            }
        }
    }

    /// What the user should know of what was recorded.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = vec![];
        let folded: Vec<&RankLog> = self.ranks.iter().filter(|log| log.tables.level > 0).collect();
        if let Some(most) = folded.iter().max_by_key(|log| log.tables.level) {
            let (ranks, windows) = (folded.len(), 1_u64 << most.tables.level.min(63));
            notes.push(format!(
                "{ranks} of {} ranks had more events than room (`--events`): between the first and the last of \
                 them, all but one in up to {windows} windows of time are folded, and waits there are not known",
                self.ranks.len()
            ));
        }
        let lost: u64 = self.ranks.iter().map(|log| log.tables.lost.0).sum();
        if lost > 0 {
            notes.push(format!("{lost} events had no room at all (`--events`)"));
        }
        let hosts: BTreeSet<&str> = self.ranks.iter().map(|log| &*log.host).collect();
        if hosts.len() > 1 {
            notes.push(format!(
                "waits between {} hosts are by their own clocks, whose differences are not known",
                hosts.len()
            ));
        }
        notes
    }

    /// What an interval is.
    pub fn shape(&self, of: &Interval) -> &Shape {
        &self.ranks[of.rank].shapes[of.shape as usize]
    }

    /// The channel of a part of a rank's, and whether it sends; the communicator.
    pub fn part(&self, rank: usize, part: &Part) -> Option<Known> {
        let log = &self.ranks[rank];
        match part.of {
            Of::Nothing => None,
            Of::Messages(at) => {
                let (channel, sent) = (*log.messages.get(at as usize)?)?;
                Some(Known::Message { channel, sent })
            }
            Of::Collectives(at) => Some(Known::Collective((*log.collectives.get(at as usize)?)?)),
        }
    }
}

/// What a part of an interval is one of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// A message.
    Message {
        /// Position in [`Log::channels`].
        channel: u32,
        /// Whether it is sent there.
        sent: bool,
    },
    /// A collective: position in [`Log::communicators`].
    Collective(u32),
}

/// Files that cannot be read, and what else to say of them.
pub fn read(path: &std::path::Path, rank: u32) -> Result<Events, String> {
    let events = Events::read(path).map_err(|error| error.to_string())?;
    match events.tables.of.rank == rank {
        true => Ok(events),
        false => Err(format!("it is of rank {}: somebody renamed it", events.tables.of.rank)),
    }
}
