//! Events by thread, in blocks of which it is known what they hold: part of the time is answered
//! from these where a block is shorter than what can be seen, and else from its records.
//!
//! A block is 32 intervals of one thread in one chunk, so that ten million of them take 25 MB.

use crate::Profile;
use crate::events::{Interval, RankLog, What};
use crate::model::Model;
use commsan_rundir::events::{Flow, Part};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Intervals in a block.
const BLOCK: usize = 32;

/// What calls are.
pub const CLASSES: [&str; 7] =
    ["message", "collective", "completion", "one-sided", "file", "other call", "commsan"];

/// The last but one of [`CLASSES`]: neither of the others.
const OTHER: u8 = 5;
/// The last of [`CLASSES`].
const OWN: u8 = 6;

/// Times by class.
pub type Times = [u64; CLASSES.len()];

/// What calls of this name do.
fn class_of(call: &str, flow: Option<Flow>) -> u8 {
    let has = |parts: &[&str]| parts.iter().any(|part| call.contains(part));
    let begins = |parts: &[&str]| parts.iter().any(|part| call.starts_with(part));
    if begins(&["MPI_File"]) {
        4
    } else if begins(&["MPI_Win", "MPI_Put", "MPI_Get_accumulate", "MPI_Accumulate", "MPI_Rput"])
        || begins(&["MPI_Rget", "MPI_Raccumulate", "MPI_Fetch", "MPI_Compare_and_swap"])
        || matches!(call, "MPI_Get" | "MPI_Get_c")
        || begins(&["shmem_"]) && has(&["put", "get", "atomic", "fence", "quiet"])
    {
        3
    } else if flow.is_some() {
        1
    } else if begins(&["MPI_Wait", "MPI_Test", "MPI_Request"]) {
        2
    } else if begins(&["MPI_"]) && has(&["send", "Send", "recv", "Recv", "robe", "MPI_Start"]) {
        0
    } else {
        OTHER
    }
}

/// Intervals that follow each other.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// Their chunk.
    pub chunk: u32,
    /// How many calls, those that are folded as well.
    pub count: u64,
    /// When the first begins.
    pub begin: u64,
    /// When the last ends.
    pub end: u64,
    /// Nanoseconds in them by class.
    pub times: Times,
}

/// The events of one thread.
#[derive(Debug)]
pub struct Lane {
    /// Position of its rank in the log.
    pub rank: usize,
    /// Its number.
    pub thread: u32,
    /// Its calls.
    pub blocks: Vec<Block>,
    /// Regions: begin, end, name.
    pub regions: Vec<(u64, u64, u32)>,
    /// Its waits, positions in [`crate::waits::Waits::all`].
    pub waits: Vec<u32>,
}

/// The events of a run by thread.
#[derive(Debug, Default)]
pub struct Index {
    /// All threads, by place and number.
    pub lanes: Vec<Lane>,
    /// Lanes of each rank of the log.
    pub of_rank: Vec<Range<usize>>,
    /// Of each rank and shape, the class, if it is a call.
    classes: Vec<Vec<Option<u8>>>,
    /// When the run begins and ends, with all that was recorded.
    pub span: (u64, u64),
    /// Calls in all.
    pub count: u64,
}

impl Index {
    fn of(profile: &Profile) -> Index {
        let model = &profile.model;
        let log = &model.log;
        let mut index = Index { span: model.span, ..Index::default() };
        // A place may have no events; those that have some are in the order of places.
        let mut order: Vec<usize> = (0..log.ranks.len()).collect();
        order.sort_by_key(|rank| log.ranks[*rank].place);
        index.classes = log.ranks.iter().map(|of| classes(model, of)).collect();
        index.of_rank = vec![0..0; log.ranks.len()];
        for rank in order {
            let from = index.lanes.len();
            index.lanes.extend(lanes(&log.ranks[rank], rank, &index.classes[rank]));
            index.of_rank[rank] = from..index.lanes.len();
        }
        for (number, wait) in (0..).zip(&profile.waits.all) {
            if let Some(lane) = index.lane(wait.at.rank, wait.thread) {
                index.lanes[lane].waits.push(number);
            }
        }
        for lane in &index.lanes {
            for block in &lane.blocks {
                index.span.1 = index.span.1.max(block.end);
                index.count += block.count;
            }
        }
        index
    }

    /// A rank's thread.
    pub fn lane(&self, rank: usize, thread: u32) -> Option<usize> {
        self.of_rank[rank].clone().find(|lane| self.lanes[*lane].thread == thread)
    }

    /// The class of an interval, unless it is a region.
    pub fn class(&self, of: &Interval) -> Option<u8> {
        self.classes[of.rank][of.shape as usize]
    }

    /// Passes on the calls of those blocks of a lane that are wanted.
    pub fn visit(
        &self,
        profile: &Profile,
        lane: &Lane,
        mut wanted: impl FnMut(&Block) -> bool,
        mut f: impl FnMut(&Interval, &[Part]),
    ) {
        let log = &profile.model.log.ranks[lane.rank];
        let mut read: Vec<bool> = vec![];
        for blocks in lane.blocks.chunk_by(|a, b| a.chunk == b.chunk) {
            read.clear();
            read.extend(blocks.iter().map(&mut wanted));
            if !read.contains(&true) {
                continue;
            }
            let mut number = 0;
            log.chunk(lane.rank, blocks[0].chunk as usize, |interval, parts| {
                let is_own = log.shapes[interval.shape as usize].thread == lane.thread;
                if !is_own || self.class(&interval).is_none() {
                    return;
                }
                if read.get(number / BLOCK).is_some_and(|read| *read) {
                    f(&interval, parts);
                }
                number += 1;
            });
        }
    }
}

fn classes(model: &Model, of: &RankLog) -> Vec<Option<u8>> {
    let class = |shape: &crate::events::Shape| match shape.what {
        What::Call(site) => Some(class_of(model.call_of_site(site), shape.flow)),
        What::Own => Some(OWN),
        What::Region(_) => None,
    };
    of.shapes.iter().map(class).collect()
}

/// The threads of a rank.
fn lanes(log: &RankLog, rank: usize, classes: &[Option<u8>]) -> Vec<Lane> {
    let mut lanes: Vec<Lane> = vec![];
    let mut by_thread: FxHashMap<u32, usize> = FxHashMap::default();
    for chunk in 0..log.chunks.len() {
        let mut filled: Vec<usize> = vec![0; lanes.len()];
        log.chunk(rank, chunk, |interval, _| {
            let shape = &log.shapes[interval.shape as usize];
            let at = *by_thread.entry(shape.thread).or_insert_with(|| {
                let (blocks, regions, waits) = Default::default();
                lanes.push(Lane { rank, thread: shape.thread, blocks, regions, waits });
                filled.push(0);
                lanes.len() - 1
            });
            let lane = &mut lanes[at];
            let Some(class) = classes[interval.shape as usize] else {
                if let What::Region(name) = shape.what {
                    lane.regions.push((interval.begin, interval.end, name));
                }
                return;
            };
            if filled[at].is_multiple_of(BLOCK) {
                let (begin, end) = (interval.begin, interval.end);
                let times = Times::default();
                lane.blocks.push(Block { chunk: chunk as u32, count: 0, begin, end, times });
            }
            filled[at] += 1;
            if let Some(block) = lane.blocks.last_mut() {
                let (count, time) = amount(&interval);
                block.count += count;
                block.begin = block.begin.min(interval.begin);
                block.end = block.end.max(interval.end);
                block.times[usize::from(class)] += time;
            }
        });
    }
    lanes.sort_by_key(|lane| lane.thread);
    for lane in &mut lanes {
        lane.regions.sort_unstable_by_key(|(begin, end, _)| (*begin, std::cmp::Reverse(*end)));
    }
    lanes
}

/// How many calls an interval is, and the nanoseconds in them.
pub fn amount(of: &Interval) -> (u64, u64) {
    of.folded.unwrap_or((1, of.end - of.begin))
}

impl Profile {
    /// Nanoseconds from the beginning of the run.
    pub(crate) fn since(&self, time: u64) -> u64 {
        time.saturating_sub(self.model.span.0)
    }

    /// Events by thread.
    pub(crate) fn by_lane(&self) -> &Index {
        self.lanes.get_or_init(|| Index::of(self))
    }
}
