//! Events: what this process did when, in a budget of memory that is never exceeded.
//!
//! Records (`commsan_rundir::events`) go into chunks of one block of memory that is mapped once and
//! touched as it fills. When it is full, the oldest chunks are folded (`fold.rs`), a few at a time
//! so that no call waits long, and the memory that this frees is used again.
//!
//! **What stays whole.** The first sixteenth of the budget, and at least the last eighth. Between
//! them time is divided into windows of equal length, the same in all ranks; of 2^`level`
//! neighbouring ones the first stays. In the others, each kind of interval of a thread is one
//! record: how many, the time in all of them, from when until when; and the longest stays itself.

mod calls;
mod fold;
mod write;

pub use calls::Meeting;
pub use write::write_events;

use crate::clock::{Clock, moment, ticks};
use commsan_rundir::events::{CHUNK, Collectives, MAX_PARTS, Of, Part, Pen, Record, Shape, What};
use fold::Folding;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// Maximum number of kinds of intervals; later ones are not recorded.
const MAX_SHAPES: usize = 1 << 16;

/// Maximum number of operations that have begun and are not complete; later ones complete
/// unnoticed.
const MAX_REQUESTS: usize = 1 << 14;

/// Maximum number of communicators whose collectives are counted.
const MAX_COMMUNICATORS: usize = 1 << 12;

/// Chunks, of so many, that folding has to write to before it frees others.
const RESERVE: usize = 64;

/// Fewest chunks of a budget.
const LEAST: usize = 32;

/// Records that are decoded together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chunk {
    slot: u32,
    length: usize,
    /// The time that the first is relative to.
    pub(crate) base: u64,
    /// The time that the next would be relative to.
    last: u64,
}

impl Chunk {
    fn empty(slot: u32) -> Chunk {
        Chunk { slot, length: 0, base: 0, last: 0 }
    }
}

/// What a call is one of, if it may be made again.
#[derive(Clone, Copy, Debug)]
pub struct EventOf {
    pub(crate) shape: u32,
    pub(crate) collective: Option<u32>,
}

/// Intervals of this process.
#[derive(Debug)]
pub struct Events {
    memory: Vec<u8>,
    budget: u64,
    /// Chunks that are never folded, and how many these are at most.
    first: Vec<Chunk>,
    most_first: usize,
    /// Chunks that are folded, as far as they are to be at present.
    done: VecDeque<Chunk>,
    /// Chunks that are not; the last of them stay.
    rest: VecDeque<Chunk>,
    free: Vec<u32>,
    reserve: usize,
    current: Chunk,
    folding: Folding,
    shapes: Vec<Shape>,
    known_shapes: FxHashMap<Shape, u32>,
    /// What requests are to complete.
    requests: FxHashMap<usize, Part>,
    collectives: Vec<(Collectives, u64)>,
    by_communicator: FxHashMap<usize, u32>,
    clock: Vec<(u64, u64)>,
    error: u64,
    lost: (u64, u64),
    is_stopped: bool,
}

impl Events {
    /// Nothing yet; `budget` is in bytes, `epoch` in nanoseconds since 1970.
    pub fn new(budget: u64, epoch: u64) -> Events {
        let chunks = (budget as usize / CHUNK).max(LEAST);
        let mut requests = FxHashMap::default();
        requests.reserve(MAX_REQUESTS / 8);
        let mut events = Events {
            // Mapped, and not touched.
            memory: vec![0; chunks * CHUNK],
            budget,
            first: Vec::with_capacity(chunks / 16 + 1),
            most_first: chunks / 16,
            done: VecDeque::with_capacity(chunks),
            rest: VecDeque::with_capacity(chunks),
            free: (1..chunks as u32).rev().collect(),
            reserve: (chunks / RESERVE).max(2),
            current: Chunk::empty(0),
            folding: Folding::from(epoch),
            shapes: Vec::new(),
            known_shapes: FxHashMap::default(),
            requests,
            collectives: Vec::new(),
            by_communicator: FxHashMap::default(),
            clock: Vec::new(),
            error: 0,
            lost: (0, 0),
            is_stopped: false,
        };
        events.set_clock();
        events
    }

    /// Adds a moment at which both clocks are known.
    pub fn set_clock(&mut self) {
        let (ticks, time, error) = moment();
        self.error = self.error.max(error);
        // The system's clock may be set back; then the processor's goes on.
        if self.clock.last().is_none_or(|last| last.0 < ticks && last.1 < time) {
            self.clock.push((ticks, time));
        }
    }

    /// The number of a shape; `None` if there are too many.
    #[inline]
    pub fn shape(&mut self, shape: Shape) -> Option<u32> {
        if let Some(known) = self.known_shapes.get(&shape) {
            return Some(*known);
        }
        let number = self.shapes.len();
        if number >= MAX_SHAPES {
            return None;
        }
        self.shapes.push(shape);
        self.known_shapes.insert(shape, number as u32);
        Some(number as u32)
    }

    /// Records an interval.
    #[inline]
    pub fn record(&mut self, shape: u32, times: (u64, u64), parts: &[Part], clock: &Clock) {
        let parts = &parts[..parts.len().min(MAX_PARTS)];
        let record = Record { shape, begin: times.0, end: times.1.max(times.0), folded: None };
        if !self.try_to_write(&record, parts) {
            self.turn_over(clock);
            if !self.try_to_write(&record, parts) {
                self.lose(1, record.end - record.begin);
            }
        }
    }

    #[inline]
    fn try_to_write(&mut self, record: &Record, parts: &[Part]) -> bool {
        !self.is_stopped && write(&mut self.memory, &mut self.current, record, parts)
    }

    fn lose(&mut self, count: u64, time: u64) {
        self.lost = (self.lost.0 + count, self.lost.1.saturating_add(time));
    }

    /// Records that commsan itself has worked since `begin`.
    pub fn record_own(&mut self, begin: u64, thread: u32, clock: &Clock) {
        if let Some(shape) = self.shape(Shape::new(What::Own, thread)) {
            self.record(shape, (begin, ticks()), &[], clock);
        }
    }

    /// An operation has begun that a request stands for.
    #[inline]
    pub fn begun(&mut self, request: usize, part: Part) {
        if self.requests.len() < MAX_REQUESTS {
            self.requests.insert(request, Part { completes: true, bytes: 0, ..part });
        }
    }

    /// A request is complete: what it has stood for.
    #[inline]
    pub fn completed(&mut self, request: usize) -> Option<Part> {
        if self.requests.is_empty() {
            return None;
        }
        self.requests.remove(&request)
    }

    /// The collectives of a communicator.
    #[inline]
    pub fn collectives(&mut self, communicator: usize, group: u32) -> Option<u32> {
        if let Some(known) = self.by_communicator.get(&communicator) {
            return Some(*known);
        }
        let number = self.collectives.len();
        if number >= MAX_COMMUNICATORS {
            return None;
        }
        let nth = self.collectives.iter().filter(|of| of.0.group == group).count() as u32;
        self.collectives.push((Collectives { group, nth }, 0));
        self.by_communicator.insert(communicator, number as u32);
        Some(number as u32)
    }

    /// The next collective of a communicator.
    #[inline]
    pub fn collective(&mut self, number: u32, bytes: u64) -> Part {
        let next = &mut self.collectives[number as usize].1;
        *next += 1;
        Part { of: Of::Collectives(number), number: *next, completes: false, bytes }
    }

    /// A communicator is freed: its handle may be another one's later.
    pub fn forget(&mut self, communicator: usize) {
        self.by_communicator.remove(&communicator);
    }

    /// Goes on in a new chunk.
    #[cold]
    fn turn_over(&mut self, clock: &Clock) {
        if self.is_stopped {
            return;
        }
        match self.first.len() < self.most_first {
            true => self.first.push(self.current),
            false => self.rest.push_back(self.current),
        }
        while self.free.len() <= self.reserve {
            if !self.fold_one(clock) {
                self.is_stopped = true;
                return;
            }
        }
        if let Some(slot) = self.free.pop() {
            self.current = Chunk::empty(slot);
        }
    }

    /// What is recorded, in order: for the file.
    pub(crate) fn chunks(&mut self) -> impl Iterator<Item = (u64, &[u8])> {
        self.end_folding();
        let all = self.first.iter().chain(&self.done).chain(&self.rest).chain([&self.current]);
        all.map(|chunk| (chunk.base, bytes(&self.memory, chunk)))
    }

    /// Bytes that records take, at most a chunk more.
    fn size(&self) -> usize {
        (self.memory.len() / CHUNK - self.free.len()) * CHUNK
    }

    pub(crate) fn tables(&self) -> Recorded<'_> {
        let (level, window) = self.folding.rule();
        Recorded {
            shapes: &self.shapes,
            collectives: self.collectives.iter().map(|of| of.0).collect(),
            clock: &self.clock,
            error: self.error,
            budget: self.budget,
            level,
            window,
            lost: self.lost,
        }
    }
}

/// What belongs into the file beside records.
pub(crate) struct Recorded<'e> {
    pub(crate) shapes: &'e [Shape],
    pub(crate) collectives: Vec<Collectives>,
    pub(crate) clock: &'e [(u64, u64)],
    pub(crate) error: u64,
    pub(crate) budget: u64,
    pub(crate) level: u32,
    pub(crate) window: u64,
    pub(crate) lost: (u64, u64),
}

fn bytes<'m>(memory: &'m [u8], chunk: &Chunk) -> &'m [u8] {
    let start = chunk.slot as usize * CHUNK;
    &memory[start..start + chunk.length]
}

/// Appends a record to a chunk, if there is room.
#[inline]
fn write(memory: &mut [u8], chunk: &mut Chunk, record: &Record, parts: &[Part]) -> bool {
    if chunk.length == 0 {
        (chunk.base, chunk.last) = (record.begin, record.begin);
    }
    let start = chunk.slot as usize * CHUNK;
    let pen = Pen::new(&mut memory[start..start + CHUNK], chunk.length, chunk.last);
    if !pen.has_room(parts.len()) {
        return false;
    }
    (chunk.length, chunk.last) = pen.write(record, parts);
    true
}

#[cfg(test)]
mod tests;
