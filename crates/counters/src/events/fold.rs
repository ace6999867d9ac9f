//! Folding: the memory of old events is used again for new ones.

use super::{Chunk, Events, bytes, write};
use crate::clock::Clock;
use commsan_rundir::events::{CHUNK, Part, Record, Records};
use rustc_hash::FxHashMap;

/// Windows that time is divided into when folding begins.
const WINDOWS: u64 = 128;

/// The shortest window, as a power of two of nanoseconds.
const SHORTEST: u32 = 10;

/// Times that the windows that stay are halved at most.
const MOST_LEVELS: u32 = 40;

/// Intervals of one kind that become one record.
#[derive(Clone, Debug)]
struct Sum {
    shape: u32,
    span: (u64, u64),
    count: u64,
    time: u64,
    /// The longest, which does not count.
    longest: Option<(Record, Vec<Part>)>,
}

/// What is being folded.
#[derive(Debug, Default)]
pub(super) struct Folding {
    level: u32,
    /// The length of a window, as a power of two of nanoseconds.
    window: u32,
    /// When the first window begins, in nanoseconds since 1970.
    pub(super) epoch: u64,
    /// What has been taken out of chunks, and not been written.
    sums: Vec<Sum>,
    by_shape: FxHashMap<u32, usize>,
    /// The chunk that is written to.
    to: Option<Chunk>,
}

impl Folding {
    /// Nothing is folded; windows begin at `epoch`, in nanoseconds since 1970.
    pub(super) fn from(epoch: u64) -> Folding {
        Folding { epoch, ..Folding::default() }
    }

    /// The level, and how long windows are, in nanoseconds.
    pub(super) fn rule(&self) -> (u32, u64) {
        (self.level, if self.level == 0 { 0 } else { 1 << self.window })
    }

    fn begin(&mut self, (began, now): (u64, u64)) {
        let each = now.saturating_sub(began) / WINDOWS;
        self.window = each.max(1).ilog2().max(SHORTEST);
    }

    fn stays(&self, time: u64) -> bool {
        let window = time.saturating_sub(self.epoch) >> self.window;
        window.trailing_zeros() >= self.level.min(u64::BITS)
    }

    fn add(&mut self, record: &Record, parts: &[Part]) {
        let Folding { sums, by_shape, .. } = self;
        let at = *by_shape.entry(record.shape).or_insert(sums.len());
        if at == sums.len() {
            let (shape, span) = (record.shape, (u64::MAX, 0));
            sums.push(Sum { shape, span, count: 0, time: 0, longest: None });
        }
        sums[at].add(record, parts);
    }
}

impl Sum {
    fn add(&mut self, record: &Record, parts: &[Part]) {
        let lasts = record.end - record.begin;
        if let Some((count, time)) = record.folded {
            self.take((record.begin, record.end), count, time);
            return;
        }
        match &mut self.longest {
            Some((longest, _)) if longest.end - longest.begin >= lasts => {
                self.take((record.begin, record.end), 1, lasts);
            }
            longest => {
                let shorter = longest.replace((*record, parts.to_vec()));
                if let Some((record, _)) = shorter {
                    self.take((record.begin, record.end), 1, record.end - record.begin);
                }
            }
        }
    }

    fn take(&mut self, (begin, end): (u64, u64), count: u64, time: u64) {
        self.span = (self.span.0.min(begin), self.span.1.max(end));
        self.count = self.count.saturating_add(count);
        self.time = self.time.saturating_add(time);
    }
}

impl Events {
    /// Folds the oldest chunk that is not yet. False if there is none.
    pub(super) fn fold_one(&mut self, clock: &Clock) -> bool {
        let last = self.memory.len() / CHUNK / 8;
        if self.folding.level == 0 || self.rest.len() <= last {
            if self.folding.level >= MOST_LEVELS {
                return false;
            }
            self.end_folding();
            self.folding.level += 1;
            let all = self.clock.first().map_or(0, |first| first.1);
            if self.folding.level == 1 {
                self.folding.begin((all, clock.at(crate::ticks())));
            }
            // From the oldest on again.
            self.done.append(&mut self.rest);
            std::mem::swap(&mut self.done, &mut self.rest);
        }
        let Some(chunk) = self.rest.pop_front() else { return false };
        self.fold(&chunk, clock);
        self.free.push(chunk.slot);
        true
    }

    fn fold(&mut self, chunk: &Chunk, clock: &Clock) {
        // What is written to is another part of the memory, which is why this copies.
        let mut copy = [0; CHUNK];
        let copy = &mut copy[..chunk.length];
        copy.copy_from_slice(bytes(&self.memory, chunk));
        let (mut records, mut parts) = (Records::new(copy, chunk.base), Vec::new());
        while let Ok(Some(record)) = records.next(&mut parts) {
            if record.folded.is_none() && self.folding.stays(clock.at(record.begin)) {
                self.write_sums();
                self.write_folded(&record, &parts);
            } else {
                self.folding.add(&record, &parts);
            }
        }
    }

    /// Writes what is folded so far: something follows that stays, or the file is written.
    fn write_sums(&mut self) {
        if self.folding.sums.is_empty() {
            return;
        }
        let mut sums = std::mem::take(&mut self.folding.sums);
        self.folding.by_shape.clear();
        sums.sort_by_key(|sum| sum.span.0);
        for sum in sums.drain(..) {
            if sum.count > 0 {
                let Sum { shape, span: (begin, end), count, time, .. } = sum;
                let folded = Some((count, time));
                self.write_folded(&Record { shape, begin, end, folded }, &[]);
            }
            if let Some((record, parts)) = sum.longest {
                self.write_folded(&record, &parts);
            }
        }
        // Its memory is used again.
        self.folding.sums = sums;
    }

    fn write_folded(&mut self, record: &Record, parts: &[Part]) {
        if let Some(mut to) = self.folding.to.take() {
            if write(&mut self.memory, &mut to, record, parts) {
                self.folding.to = Some(to);
                return;
            }
            self.done.push_back(to);
        }
        let mut to = self.free.pop().map(Chunk::empty);
        let is_written = to.as_mut().is_some_and(|to| write(&mut self.memory, to, record, parts));
        self.folding.to = to;
        if !is_written {
            let (count, time) = record.folded.unwrap_or((1, record.end - record.begin));
            self.lose(count, time);
        }
    }

    /// All that is folded is in chunks.
    pub(super) fn end_folding(&mut self) {
        self.write_sums();
        self.done.extend(self.folding.to.take());
    }
}
