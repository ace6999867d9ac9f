//! The page filter: rejects accesses that no live range can concern.
//!
//! Every page hashes to a slot. A slot's filter byte says whether some live range touches a page
//! of the slot, and how; it is what compiled-in hooks test first. Where a live range covers a page
//! only in part, a bit for each 8-byte granule and direction sharpens the answer, so that a
//! program computing beside a pending halo on the same page still leaves quickly.
//!
//! Marks err to one side only: they may outlive the range that set them until the slot has no
//! range left (then the exact check finds nothing), but a live byte is always marked. Readers take
//! no lock: a range is marked before the call that starts it returns to the program.

use crate::Mode;
use std::ops::Range;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

/// log2 of the page size the filter works on.
pub const PAGE_SHIFT: u32 = 12;
/// Words of granule bits for each slot: a plane for bytes operations read, one for those they
/// write.
pub const GRANULE_WORDS: usize = 2 * PLANE;

const PAGE: usize = 1 << PAGE_SHIFT;
const GRANULE_SHIFT: u32 = 3;
const PLANE: usize = PAGE >> GRANULE_SHIFT >> 6;

/// Filter bits: a live operation reads (writes) some (all) bytes of the page.
const PART_READ: u8 = 1;
const PART_WRITTEN: u8 = 2;
const WHOLE_READ: u8 = 4;
const WHOLE_WRITTEN: u8 = 8;

/// The filter and its tables; all slices are as long as a power of two number of slots.
///
/// `filter` may be read by anyone at any time. Marking and unmarking must be serialised by the
/// caller.
#[derive(Clone, Copy)]
pub struct Pages {
    filter: &'static [AtomicU8],
    /// For each slot four 16-bit counts of marks, in the order of the filter bits. A count that
    /// reaches the maximum stays there: the slot is then never clean again, which costs time only.
    counts: &'static [AtomicU64],
    /// Absent where the address space is too small: then every marked page is a possible conflict.
    granules: Option<&'static [[AtomicU64; GRANULE_WORDS]]>,
}

impl Pages {
    /// Tables that are all zero.
    ///
    /// # Panics
    /// If the tables differ in length or the length is not a power of two.
    pub fn new(
        filter: &'static [AtomicU8],
        counts: &'static [AtomicU64],
        granules: Option<&'static [[AtomicU64; GRANULE_WORDS]]>,
    ) -> Pages {
        assert!(filter.len().is_power_of_two() && filter.len() == counts.len());
        assert!(granules.is_none_or(|g| g.len() == filter.len()));
        Pages { filter, counts, granules }
    }

    /// Whether an access to `range` can concern a live range. False answers are certain.
    #[inline]
    pub fn may_conflict(&self, range: &Range<usize>, mode: Mode) -> bool {
        let mut at = range.start;
        while at < range.end {
            let end = range.end.min((at | (PAGE - 1)) + 1);
            if self.page_may_conflict(at, end, mode) {
                return true;
            }
            at = end;
        }
        false
    }

    #[inline]
    fn page_may_conflict(&self, at: usize, end: usize, mode: Mode) -> bool {
        let slot = self.slot(at);
        let (parts, wholes) = match mode {
            Mode::Read => (PART_WRITTEN, WHOLE_WRITTEN),
            Mode::Write => (PART_READ | PART_WRITTEN, WHOLE_READ | WHOLE_WRITTEN),
        };
        let marks = self.filter[slot].load(Relaxed);
        if marks & (parts | wholes) == 0 {
            return false;
        }
        let Some(granules) = self.granules else { return true };
        if marks & wholes != 0 {
            return true;
        }
        let planes = &granules[slot];
        let mut hit = false;
        for_each_word(at, end, |word, mask| {
            let mut bits = planes[PLANE + word].load(Relaxed);
            if mode == Mode::Write {
                bits |= planes[word].load(Relaxed);
            }
            hit |= bits & mask != 0;
        });
        hit
    }

    /// Notes that an operation reads or writes `range`.
    pub fn mark(&self, range: Range<usize>, mode: Mode) {
        self.for_each_page(range, mode, |slot, at, end, kind| {
            let count = self.adjust(slot, kind, |n| n.saturating_add(1));
            if count == 1 {
                self.filter[slot].store(self.filter[slot].load(Relaxed) | 1 << kind, Relaxed);
            }
            if let (Some(granules), true) = (self.granules, kind < 2) {
                let plane = kind as usize * PLANE;
                for_each_word(at, end, |word, mask| {
                    let cell = &granules[slot][plane + word];
                    cell.store(cell.load(Relaxed) | mask, Relaxed);
                });
            }
        });
    }

    /// Takes back one [`mark`](Self::mark) of the same range and mode.
    pub fn unmark(&self, range: Range<usize>, mode: Mode) {
        self.for_each_page(range, mode, |slot, _, _, kind| {
            let count = self.adjust(slot, kind, |n| if n == u16::MAX { n } else { n - 1 });
            if count > 0 {
                return;
            }
            self.filter[slot].store(self.filter[slot].load(Relaxed) & !(1 << kind), Relaxed);
            if let (Some(granules), true) = (self.granules, kind < 2) {
                let plane = kind as usize * PLANE;
                granules[slot][plane..plane + PLANE].iter().for_each(|word| word.store(0, Relaxed));
            }
        });
    }

    /// Changes one count of a slot and returns its new value.
    fn adjust(&self, slot: usize, kind: u8, f: impl Fn(u16) -> u16) -> u16 {
        let counts = self.counts[slot].load(Relaxed);
        let shift = u32::from(kind) * 16;
        let new = f((counts >> shift) as u16);
        self.counts[slot].store(counts & !(0xffff << shift) | u64::from(new) << shift, Relaxed);
        new
    }

    fn for_each_page(
        &self,
        range: Range<usize>,
        mode: Mode,
        mut f: impl FnMut(usize, usize, usize, u8),
    ) {
        let mut at = range.start;
        while at < range.end {
            let end = range.end.min((at | (PAGE - 1)) + 1);
            let whole = end - at == PAGE;
            let kind = u8::from(mode == Mode::Write) + 2 * u8::from(whole);
            f(self.slot(at), at, end, kind);
            at = end;
        }
    }

    fn slot(&self, at: usize) -> usize {
        (at >> PAGE_SHIFT) & (self.filter.len() - 1)
    }
}

/// Calls `f` with each granule word of the page that `at..end` touches, and the touched bits.
#[inline]
fn for_each_word(at: usize, end: usize, mut f: impl FnMut(usize, u64)) {
    let first = (at & (PAGE - 1)) >> GRANULE_SHIFT;
    let last = ((end - 1) & (PAGE - 1)) >> GRANULE_SHIFT;
    for word in first / 64..=last / 64 {
        let from = first.max(word * 64) % 64;
        let to = last.min(word * 64 + 63) % 64;
        f(word, (u64::MAX >> (63 - (to - from))) << from);
    }
}
