//! Shadow memory (ThreadSanitizer; Serebryany and Iskhodzhanov, WBIA 2009): the last accesses of a
//! process to memory that others may access.
//!
//! For every 8 bytes there are two cells, of the last read and the last write: which bytes, and the
//! number of a *place*, an instruction together with the time at which and the agent by which it
//! ran. An older access need not be kept: between it and the younger one this process acquired
//! nothing that would order just one of them before an access of another process, or that access
//! would have been checked then. A page stores the cells of its reads side by side, then those of
//! its writes, so that a loop's accesses are recorded by filling memory with one number.
//!
//! Accesses from different places to different bytes of one cell are distinguished by places that
//! refer to an older one for the bytes that are not theirs.
//!
//! Hooks write cells without a lock, from several threads; of two concurrent accesses one may be
//! lost, as the older of two always is.

use crate::{Epoch, Mode};
use std::ops::Range;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize};

/// Cells of a page: those of reads, then those of writes.
pub const CELLS: usize = 2 * GRANULES;
/// Number of recently used places, found by a hash of the instruction.
pub const RECENT: usize = 4096;

const GRANULE: usize = 8;
const GRANULES: usize = PAGE / GRANULE;
/// Number of pages that share one change mark, beside the mark of each page.
pub const BLOCK: usize = 512;
/// Number of cells compared at once.
const AT_ONCE: usize = 32;
/// Distance, in the table of recent places, between the same instruction for one agent and for the
/// next.
const AGENT_STEP: usize = 0x155;

/// An instruction at a time, the origin of an access. Fields as in `commsan_abi.h`.
#[repr(C)]
#[derive(Default)]
pub struct Place {
    pc: AtomicUsize,
    /// Name of the accessing function, a C string, or 0 for a load or store.
    by: AtomicUsize,
    stamp: AtomicU64,
    segment: AtomicU32,
    /// The bytes that are this place's own; for the others see `older`.
    own: AtomicU32,
    older: AtomicU32,
    reserved: AtomicU32,
}

/// The state of a shadow memory, beside its tables.
#[repr(C)]
#[derive(Default)]
pub struct Header {
    /// The current segment.
    pub segment: AtomicU32,
    next: AtomicU32,
    limit: AtomicU32,
    /// Accesses up to this segment happened before whatever others may still do.
    floor: AtomicU32,
}

/// A shadow memory, by reference to its tables.
#[derive(Clone, Copy)]
pub struct Shadow {
    header: &'static Header,
    cells: &'static [[AtomicU32; CELLS]],
    places: &'static [Place],
    recent: &'static [AtomicU32],
    /// For each page of cells, whether it has changed; then one mark for each [`BLOCK`] of pages.
    changed: &'static [AtomicBool],
}

/// The time of an access: the segment of the process, and the epoch of the agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct When {
    /// The segment of the process.
    pub segment: u32,
    /// The agent and its epoch.
    pub stamp: Epoch,
}

/// An access that a cell records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Past {
    /// The address of the instruction.
    pub pc: usize,
    /// Address of the name of the accessing function, 0 for a load or store.
    pub by: usize,
    /// The time of the access.
    pub when: When,
    /// Read or write.
    pub mode: Mode,
}

impl Shadow {
    /// A shadow memory over zeroed tables: one page of cells for each slot, the places, of which
    /// half are in use at a time, and `RECENT` numbers.
    pub fn new(
        header: &'static Header,
        cells: &'static [[AtomicU32; CELLS]],
        places: &'static [Place],
        recent: &'static [AtomicU32],
    ) -> Shadow {
        let shadow = Shadow::existing(header, cells, places, recent);
        shadow.use_half(0);
        shadow
    }

    /// A shadow memory over tables that are in use already.
    pub fn existing(
        header: &'static Header,
        cells: &'static [[AtomicU32; CELLS]],
        places: &'static [Place],
        recent: &'static [AtomicU32],
    ) -> Shadow {
        assert!(cells.len().is_power_of_two());
        assert!(recent.len() == RECENT);
        Shadow { header, cells, places, recent, changed: &[] }
    }

    /// Number of change marks for `cells` pages of cells.
    pub fn marks(cells: usize) -> usize {
        cells + cells.div_ceil(BLOCK)
    }

    /// Starts to mark, for each slot, whether its page has changed.
    pub fn mark_changes(&mut self, changed: &'static [AtomicBool]) {
        assert!(changed.len() == Shadow::marks(self.cells.len()));
        self.changed = changed;
    }

    /// The change marks.
    pub fn changes(&self) -> &'static [AtomicBool] {
        self.changed
    }

    /// Adds to `pages` those of a range, and some beside, that have changed since the last call.
    pub fn take_changed(&self, range: &Range<usize>, pages: &mut Vec<usize>) {
        if range.is_empty() || self.changed.is_empty() {
            return;
        }
        let take = |mark: usize| {
            let mark = &self.changed[mark];
            mark.load(Relaxed) && mark.swap(false, Acquire)
        };
        for block in range.start / PAGE / BLOCK..(range.end - 1) / PAGE / BLOCK + 1 {
            let first = block * BLOCK % self.cells.len();
            if take(self.cells.len() + first / BLOCK) {
                let changed = (0..BLOCK.min(self.cells.len())).filter(|index| take(first + index));
                pages.extend(changed.map(|index| block * BLOCK + index));
            }
        }
    }

    /// Begins a segment.
    pub fn set_segment(&self, segment: u32) {
        self.header.segment.store(segment, Relaxed);
    }

    /// Declares accesses up to a segment irrelevant.
    pub fn set_floor(&self, segment: u32) {
        self.header.floor.store(segment, Relaxed);
    }

    /// The current segment.
    pub fn segment(&self) -> u32 {
        self.header.segment.load(Relaxed)
    }

    /// Records an access by the instruction at `pc`, at a time that may be in the past.
    pub fn record(&self, when: When, bytes: Range<usize>, mode: Mode, pc: usize, by: usize) {
        let part = |at: usize, mask: u8| {
            let cell = self.cell(at, mode);
            let old = cell.load(Relaxed);
            let (older, kept) = self.reduced(old >> 8, old as u8 & !mask);
            let number = self.number(pc, by, when, older, mask);
            cell.store(number << 8 | u32::from(kept | mask), Relaxed);
            self.mark(at);
        };
        let whole = bytes.start.next_multiple_of(GRANULE)..bytes.end & !(GRANULE - 1);
        if whole.is_empty() {
            return each_granule(bytes, part);
        }
        each_granule(bytes.start..whole.start, part);
        each_granule(whole.end..bytes.end, part);
        self.fill(whole, mode, self.number(pc, by, when, 0, 0xff));
    }

    /// Assigns whole granules to a place: nothing older is left of them.
    fn fill(&self, granules: Range<usize>, mode: Mode, number: u32) {
        let mut at = granules.start;
        while at < granules.end {
            let end = granules.end.min((at | (PAGE - 1)) + 1);
            let first = at % PAGE / GRANULE;
            let cells = &self.plane(at, mode)[first..first + (end - at) / GRANULE];
            cells.iter().for_each(|cell| cell.store(number << 8 | 0xff, Relaxed));
            self.mark(at);
            at = end;
        }
    }

    fn mark(&self, at: usize) {
        let slot = at / PAGE % self.cells.len();
        if let Some(mark) = self.changed.get(slot) {
            mark.store(true, Release);
            self.changed[self.cells.len() + slot / BLOCK].store(true, Release);
        }
    }

    /// Calls `f` with each access to bytes of `range` after a segment, and those bytes.
    pub fn since(&self, range: &Range<usize>, segment: u32, mut f: impl FnMut(Past, Range<usize>)) {
        let mut at = range.start & !(GRANULE - 1);
        while at < range.end {
            let end = ((at | (PAGE - 1)) + 1).min(range.end);
            for mode in [Mode::Read, Mode::Write] {
                let first = at % PAGE / GRANULE;
                let cells = &self.plane(at, mode)[first..first + (end - at).div_ceil(GRANULE)];
                self.since_in(cells, at, range, segment, |past| f(past.0.past(mode), past.1));
            }
            at = end;
        }
    }

    /// Calls `f` with the accesses recorded in cells of one page; the first is that of the granule
    /// at `at`.
    fn since_in(
        &self,
        cells: &[AtomicU32],
        at: usize,
        range: &Range<usize>,
        segment: u32,
        mut f: impl FnMut((&Place, Range<usize>)),
    ) {
        let mut next = 0;
        while let Some(cell) = cells.get(next).map(|cell| cell.load(Acquire)) {
            let first = next;
            // A loop leaves equal cells.
            next += 1;
            next += cells[next..].iter().take_while(|other| other.load(Relaxed) == cell).count();
            let place = &self.places[(cell >> 8) as usize];
            let is_single = place.older.load(Relaxed) == 0;
            let granules = at + first * GRANULE..at + next * GRANULE;
            match () {
                () if cell >> 8 == 0 || is_single && place.when().segment <= segment => {}
                () if is_single && cell as u8 == 0xff => {
                    f((place, granules.start.max(range.start)..granules.end.min(range.end)));
                }
                () => {
                    let both = granules.start.max(range.start)..granules.end.min(range.end);
                    each_granule(both, |at, mask| {
                        self.each_place(cell >> 8, cell as u8 & mask, |place, bytes| {
                            if place.when().segment > segment {
                                runs(bytes).for_each(|r| f((place, at + r.start..at + r.end)));
                            }
                            true
                        });
                    });
                }
            }
        }
    }

    /// Calls `f` with the places that own bytes of a granule, and those bytes, until it returns
    /// false.
    fn each_place(&self, mut number: u32, mut bytes: u8, mut f: impl FnMut(&Place, u8) -> bool) {
        while bytes != 0 && number != 0 {
            let place = &self.places[number as usize];
            // A place without an older one owns all the bytes.
            let older = place.older.load(Relaxed);
            let own = place.own.load(Relaxed) as u8 & bytes;
            let here = if older == 0 { bytes } else { own };
            if here != 0 && !f(place, here) {
                return;
            }
            bytes &= !here;
            number = older;
        }
    }

    /// Calls `f` with accesses to bytes of `range` that a read (write) of them would conflict with,
    /// and those bytes, until it returns false.
    pub fn conflicts(
        &self,
        range: &Range<usize>,
        mode: Mode,
        mut f: impl FnMut(Past, Range<usize>) -> bool,
    ) {
        // Other processes mostly access other parts of a window.
        if self.is_untouched(range, mode) {
            return;
        }
        let mut go_on = true;
        each_granule(range.clone(), |at, mask| {
            for past in [Mode::Write, Mode::Read] {
                let cell = self.cell(at, past).load(Acquire);
                if !go_on || cell == 0 || past == Mode::Read && mode == Mode::Read {
                    continue;
                }
                self.each_place(cell >> 8, cell as u8 & mask, |place, bytes| {
                    go_on = f(place.past(past), bytes_of(at, bytes));
                    go_on
                });
            }
        });
    }

    /// Whether nothing recorded conflicts with a read (write) of the granules that hold these
    /// bytes.
    fn is_untouched(&self, range: &Range<usize>, mode: Mode) -> bool {
        let is_empty = |cells: &[AtomicU32]| {
            // One combined test, without a branch for each cell.
            let parts = cells.chunks(AT_ONCE);
            parts
                .map(|part| part.iter().fold(0, |all, cell| all | cell.load(Relaxed)))
                .all(|all| all == 0)
        };
        let mut at = range.start;
        while at < range.end {
            let end = range.end.min((at | (PAGE - 1)) + 1);
            let cells = at % PAGE / GRANULE..(end - 1) % PAGE / GRANULE + 1;
            let written = !is_empty(&self.plane(at, Mode::Write)[cells.clone()]);
            if written || mode == Mode::Write && !is_empty(&self.plane(at, Mode::Read)[cells]) {
                return false;
            }
            at = end;
        }
        true
    }

    /// Clears these pages.
    pub fn forget(&self, bytes: &Range<usize>) {
        let mut at = bytes.start & !(PAGE - 1);
        while at < bytes.end {
            let page = &self.cells[at / PAGE % self.cells.len()];
            // Reading first leaves never-touched pages unmapped.
            page.iter().filter(|cell| cell.load(Relaxed) != 0).for_each(|c| c.store(0, Relaxed));
            at += PAGE;
        }
    }

    /// Clears these bytes, and those that share a granule with them.
    pub fn forget_bytes(&self, bytes: Range<usize>) {
        each_granule(bytes, |at, _| {
            self.cell(at, Mode::Read).store(0, Relaxed);
            self.cell(at, Mode::Write).store(0, Relaxed);
        });
    }

    /// Whether places run out, so that it is time to [`start_over`](Self::start_over).
    pub fn is_crowded(&self) -> bool {
        let (next, limit) = (self.header.next.load(Relaxed), self.header.limit.load(Relaxed));
        next + self.places.len() as u32 / 4 > limit
    }

    /// Renumbers places; everything must have been cleared. Numbers that other threads still hold
    /// belong to the other half of the table, and stay valid until the next call.
    pub fn start_over(&self) {
        let half = u32::from(self.header.limit.load(Relaxed) <= self.places.len() as u32 / 2);
        self.recent.iter().for_each(|recent| recent.store(0, Relaxed));
        self.use_half(half);
    }

    fn use_half(&self, half: u32) {
        let size = self.places.len() as u32 / 2;
        self.header.next.store((half * size).max(1), Relaxed);
        self.header.limit.store((half + 1) * size, Relaxed);
    }

    fn cell(&self, at: usize, mode: Mode) -> &AtomicU32 {
        &self.plane(at, mode)[at % PAGE / GRANULE]
    }

    /// The cells of a page for one kind of access.
    fn plane(&self, at: usize, mode: Mode) -> &[AtomicU32] {
        let (reads, writes) = self.cells[at / PAGE % self.cells.len()].split_at(GRANULES);
        if mode == Mode::Write { writes } else { reads }
    }

    /// The number of a place that owns the bytes `rest` as `number` does, if that is worth keeping,
    /// or 0; and the bytes that it owns.
    fn reduced(&self, number: u32, rest: u8) -> (u32, u8) {
        if number == 0 || rest == 0 {
            return (0, 0);
        }
        let place = &self.places[number as usize];
        let older = place.older.load(Relaxed);
        let own = if older == 0 { rest } else { place.own.load(Relaxed) as u8 & rest };
        let (older, kept) = self.reduced(older, rest & !own);
        let when = place.when();
        if own == 0 || when.segment <= self.header.floor.load(Relaxed) {
            return (older, kept);
        }
        let (pc, by) = (place.pc.load(Relaxed), place.by.load(Relaxed));
        match self.number(pc, by, when, older, own) {
            0 => (0, 0),
            number => (number, own | kept),
        }
    }

    /// The number of a place, new if it has none yet; 0 if the table is full.
    fn number(&self, pc: usize, by: usize, when: When, older: u32, own: u8) -> u32 {
        // A place without an older one owns all bytes.
        let own = if older == 0 { 0xff } else { own };
        let agent = when.stamp.agent as usize;
        let home = (pc ^ (pc >> 12) ^ (agent * AGENT_STEP) ^ (older as usize * 0x9e5)) % RECENT;
        let known = self.recent[home].load(Acquire);
        let place = &self.places[known as usize];
        let same = place.pc.load(Relaxed) == pc
            && place.by.load(Relaxed) == by
            && place.when() == when
            && place.older.load(Relaxed) == older
            && place.own.load(Relaxed) == u32::from(own);
        if known != 0 && same {
            return known;
        }
        let number = self.header.next.fetch_add(1, Relaxed);
        if number >= self.header.limit.load(Relaxed) {
            self.header.next.fetch_sub(1, Relaxed);
            return 0;
        }
        let place = &self.places[number as usize];
        place.pc.store(pc, Relaxed);
        place.by.store(by, Relaxed);
        place.segment.store(when.segment, Relaxed);
        place.stamp.store(when.stamp.to_bits(), Relaxed);
        place.older.store(older, Relaxed);
        place.own.store(own.into(), Relaxed);
        self.recent[home].store(number, Release);
        number
    }
}

impl Place {
    fn when(&self) -> When {
        let stamp = Epoch::from_bits(self.stamp.load(Relaxed));
        When { segment: self.segment.load(Relaxed), stamp }
    }

    fn past(&self, mode: Mode) -> Past {
        let (pc, by) = (self.pc.load(Relaxed), self.by.load(Relaxed));
        Past { pc, by, when: self.when(), mode }
    }
}

const PAGE: usize = 1 << crate::PAGE_SHIFT;

/// Calls `f` with the start of each granule of a range and the bits of its bytes in the range.
fn each_granule(bytes: Range<usize>, mut f: impl FnMut(usize, u8)) {
    let mut at = bytes.start & !(GRANULE - 1);
    while at < bytes.end {
        let from = bytes.start.saturating_sub(at);
        let to = (bytes.end - at).min(GRANULE);
        f(at, ((0xffu16 << from) & ((1 << to) - 1)) as u8);
        at += GRANULE;
    }
}

/// The runs of set bits.
fn runs(mut bits: u8) -> impl Iterator<Item = Range<usize>> {
    std::iter::from_fn(move || {
        let start = bits.trailing_zeros();
        let end = start + (bits.checked_shr(start)?).trailing_ones();
        bits &= (!0u8).checked_shl(end).unwrap_or(0);
        Some(start as usize..end as usize)
    })
}

/// From the first to the last of the bytes.
fn bytes_of(at: usize, mask: u8) -> Range<usize> {
    at + mask.trailing_zeros() as usize..at + 8 - mask.leading_zeros() as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn leaked<T: Default>(n: usize) -> &'static [T] {
        Box::leak((0..n).map(|_| T::default()).collect())
    }

    fn shadow() -> Shadow {
        let pages = (0..4).map(|_| std::array::from_fn(|_| AtomicU32::new(0))).collect::<Vec<_>>();
        Shadow::new(&leaked(1)[0], Vec::leak(pages), leaked(1 << 13), leaked(RECENT))
    }

    fn at(segment: u32) -> When {
        When { segment, stamp: Epoch::default() }
    }

    #[derive(Clone, Debug)]
    struct Step {
        at: usize,
        size: usize,
        write: bool,
        pc: usize,
        later: bool,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let size = prop_oneof![8 => 1usize..20, 1 => 1usize..2 * PAGE];
        let step = (0usize..40, size, any::<bool>(), 1usize..5, prop::bool::weighted(0.2));
        let step =
            step.prop_map(|(at, size, write, pc, later)| Step { at, size, write, pc, later });
        prop::collection::vec(step, 1..60)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// Every byte remembers its own last read and write.
        #[test]
        fn bytes_remember_their_last_accesses(steps in steps()) {
            let shadow = shadow();
            let base = PAGE - 24;
            let mut last = HashMap::new();
            let mut segment = 1u32;
            for step in steps {
                if step.later {
                    segment += 1;
                    // Accesses before the floor may be forgotten, but must not turn into others.
                    shadow.set_floor(segment.saturating_sub(3));
                }
                shadow.set_segment(segment);
                let mode = if step.write { Mode::Write } else { Mode::Read };
                let bytes = base + step.at..base + step.at + step.size;
                shadow.record(at(segment), bytes.clone(), mode, step.pc, 0);
                for byte in bytes {
                    last.insert((byte, step.write), (step.pc, segment));
                }
            }
            for byte in base..base + 40 + 2 * PAGE {
                let mut seen = Vec::new();
                shadow.conflicts(&(byte..byte + 1), Mode::Write, |past, bytes| {
                    assert_eq!(bytes, byte..byte + 1);
                    seen.push(((byte, past.mode == Mode::Write), (past.pc, past.when.segment)));
                    true
                });
                let expected: Vec<_> = [true, false].iter().filter_map(|write| {
                    last.get(&(byte, *write)).map(|past| ((byte, *write), *past))
                }).collect();
                let kept = |(_, (_, at)): &&((usize, bool), (usize, u32))| *at + 3 > segment;
                let worth: Vec<_> = expected.iter().filter(kept).collect();
                prop_assert!(seen.iter().all(|past| expected.contains(past)));
                prop_assert!(worth.iter().all(|past| seen.contains(past)));
            }
            // The same comparison, restricted to accesses after some segment.
            let all = base..base + 40 + 2 * PAGE;
            let after = segment.saturating_sub(2);
            let mut seen = HashMap::new();
            shadow.since(&all, after, |past, bytes| {
                let write = past.mode == Mode::Write;
                seen.extend(bytes.map(|byte| ((byte, write), (past.pc, past.when.segment))));
            });
            last.retain(|(byte, _), (_, segment)| all.contains(byte) && *segment > after);
            prop_assert_eq!(seen, last);
        }
    }

    #[test]
    fn reads_conflict_with_writes_only() {
        let shadow = shadow();
        shadow.record(at(1), 64..72, Mode::Read, 1, 0);
        shadow.conflicts(&(64..72), Mode::Read, |past, _| panic!("{past:?}"));
        shadow.record(at(1), 68..70, Mode::Write, 2, 0);
        let mut found = Vec::new();
        shadow.conflicts(&(60..90), Mode::Read, |past, bytes| {
            found.push((past.pc, bytes));
            true
        });
        assert_eq!(found, [(2, 68..70)]);
        shadow.forget(&(0..4096));
        shadow.conflicts(&(60..90), Mode::Write, |past, _| panic!("{past:?}"));
    }

    #[test]
    fn pages_that_change_are_told_once() {
        let mut shadow = shadow();
        let changed = || {
            let mut pages = Vec::new();
            shadow.take_changed(&(0..4 * PAGE), &mut pages);
            pages
        };
        assert_eq!(changed(), [0; 0]);
        shadow.mark_changes(leaked(Shadow::marks(4)));
        let changed = || {
            let mut pages = Vec::new();
            shadow.take_changed(&(0..4 * PAGE), &mut pages);
            pages
        };
        shadow.record(at(1), PAGE - 4..PAGE + 4, Mode::Write, 1, 0);
        shadow.record(at(1), 3 * PAGE..4 * PAGE, Mode::Read, 1, 0);
        assert_eq!(changed(), [0, 1, 3]);
        assert_eq!(changed(), [0; 0]);
    }

    #[test]
    fn alternating_accesses_need_few_places() {
        let shadow = shadow();
        for round in 0..10_000 {
            let byte = 64 + round % 3;
            shadow.record(at(1), byte..byte + 1, Mode::Write, round % 3 + 1, 0);
        }
        assert!(shadow.header.next.load(Relaxed) < 1000);
        for _ in 0..3 {
            while !shadow.is_crowded() {
                let segment = shadow.header.segment.load(Relaxed) + 1;
                shadow.set_segment(segment);
                shadow.record(at(segment), 64..65, Mode::Write, 1, 0);
            }
            shadow.forget(&(0..4096));
            shadow.start_over();
            assert!(!shadow.is_crowded());
        }
    }
}
