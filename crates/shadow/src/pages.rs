//! The page filter, a one-level summary of shadow memory: rejects accesses that no live range can
//! concern.
//!
//! Every page hashes to a slot. A slot's filter byte says whether a live range touches a page of
//! the slot, and how; compiled-in hooks test it first. Where a live range covers a page only in
//! part, one bit per 8-byte granule and direction sharpens the answer, so that a program computing
//! beside a pending halo on the same page still passes quickly.
//!
//! Marks err to one side only: those of ranges that share granules may outlive the range that set
//! them until the slot has no range left (then the exact check finds nothing), but a live byte is
//! always marked. Readers take no lock: a range is marked before the call that starts it returns to
//! the program.

use crate::Mode;
use std::ops::Range;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

/// log2 of the page size of the filter, in bytes.
pub const PAGE_SHIFT: u32 = 12;
/// Words of granule bits per slot, in two planes: bytes that operations read, and bytes that they
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
/// Filter bits: some granule of the page was marked for reading (writing) operations when it
/// already was, so that no mark's granules are known to be its own. Hooks ignore them.
const SHARED_READ: u8 = 32;
const SHARED_WRITTEN: u8 = 64;
/// Filter bit: others may access the page at any time, so hooks record accesses to it.
const EXPOSED: u8 = 16;

/// The filter and its tables; every slice has the same power-of-two number of slots.
///
/// `filter` may be read by any thread at any time. The caller must serialise marking and unmarking.
#[derive(Clone, Copy)]
pub struct Pages {
    filter: &'static [AtomicU8],
    /// For each slot four 16-bit counts of marks, in the order of the filter bits. A saturated
    /// count stays: the slot is then never clean again, which costs time only.
    counts: &'static [AtomicU64],
    /// Absent where the address space is too small: then every access to a marked page may
    /// conflict.
    granules: Option<&'static [[AtomicU64; GRANULE_WORDS]]>,
}

impl Pages {
    /// A filter over zeroed tables.
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

    /// A filter over this many pages with tables of its own, which are never freed: for tests.
    ///
    /// # Panics
    /// If the number is not a power of two.
    pub fn leaked(pages: usize) -> Pages {
        let plane = || [const { AtomicU64::new(0) }; GRANULE_WORDS];
        Pages::new(
            Vec::leak((0..pages).map(|_| AtomicU8::new(0)).collect()),
            Vec::leak((0..pages).map(|_| AtomicU64::new(0)).collect()),
            Some(Vec::leak((0..pages).map(|_| plane()).collect())),
        )
    }

    /// Whether an access to `range` may concern a live range. False is certain.
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

    /// Whether a byte of `range` may lie in an exposed page. False is certain.
    pub fn may_be_exposed(&self, range: &Range<usize>) -> bool {
        let pages = range.start >> PAGE_SHIFT..=range.end.saturating_sub(1) >> PAGE_SHIFT;
        !range.is_empty() && pages.into_iter().any(|page| self.is_exposed(page))
    }

    #[inline(always)]
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

    /// Marks `range` unless that could conflict with a mark there; returns whether it did.
    #[inline(always)]
    pub fn claim(&self, range: &Range<usize>, mode: Mode) -> bool {
        if is_part_of_a_page(range) {
            // The common case of a small message.
            let free = !self.page_may_conflict(range.start, range.end, mode);
            if free {
                self.mark_page(range.start, range.end, kind(mode, false));
            }
            return free;
        }
        let free = !self.may_conflict(range, mode);
        if free {
            self.mark(range.clone(), mode);
        }
        free
    }

    /// Extends a marked range by the `more` bytes behind it, unless they could conflict with a
    /// mark.
    #[inline]
    pub fn claim_more(&self, range: &Range<usize>, more: usize, mode: Mode) -> bool {
        let (at, end) = (range.end, range.end + more);
        if self.may_conflict(&(at..end), mode) {
            return false;
        }
        let page = at & !(PAGE - 1);
        let edge = if at == page { at } else { end.min(page + PAGE) };
        if edge > at {
            self.widen(page.max(range.start)..at, edge, mode);
        }
        if end > edge {
            self.mark(edge..end, mode);
        }
        true
    }

    /// Extends a marked part of a page up to `end`, within the page.
    #[inline]
    fn widen(&self, part: Range<usize>, end: usize, mode: Mode) {
        if end - part.start == PAGE {
            self.unmark_page(part.start, part.end, kind(mode, false));
            self.mark_page(part.start, end, kind(mode, true));
        } else {
            self.set_granules(part.end, end, kind(mode, false));
        }
    }

    /// Marks that an operation reads or writes `range`.
    pub fn mark(&self, range: Range<usize>, mode: Mode) {
        for_each_page(range, |at, end| self.mark_page(at, end, kind(mode, end - at == PAGE)));
    }

    /// Reverts one [`mark`](Self::mark) of the same range and mode.
    #[inline]
    pub fn unmark(&self, range: Range<usize>, mode: Mode) {
        if is_part_of_a_page(&range) {
            return self.unmark_page(range.start, range.end, kind(mode, false));
        }
        for_each_page(range, |at, end| self.unmark_page(at, end, kind(mode, end - at == PAGE)));
    }

    #[inline(always)]
    fn mark_page(&self, at: usize, end: usize, kind: Kind) {
        let slot = self.slot(at);
        let counts = self.counts[slot].load(Relaxed);
        if !kind.is_full(counts) {
            self.counts[slot].store(counts + kind.one(), Relaxed);
        }
        self.filter[slot].store(self.filter[slot].load(Relaxed) | kind.bit(), Relaxed);
        self.set_granules(at, end, kind);
    }

    #[inline(always)]
    fn set_granules(&self, at: usize, end: usize, kind: Kind) {
        let (Some(granules), Some(plane)) = (self.granules, kind.plane()) else { return };
        let slot = self.slot(at);
        let words = &granules[slot][plane..plane + PLANE];
        let mut again = 0;
        for_each_word(at, end, |word, mask| {
            let bits = words[word].load(Relaxed);
            again |= bits & mask;
            words[word].store(bits | mask, Relaxed);
        });
        if again != 0 {
            self.filter[slot].store(self.filter[slot].load(Relaxed) | kind.shared(), Relaxed);
        }
    }

    #[inline(always)]
    fn unmark_page(&self, at: usize, end: usize, kind: Kind) {
        let slot = self.slot(at);
        let counts = self.counts[slot].load(Relaxed);
        if kind.is_full(counts) {
            return;
        }
        let counts = counts - kind.one();
        self.counts[slot].store(counts, Relaxed);
        let marks = self.filter[slot].load(Relaxed);
        if !kind.is_zero(counts) {
            if marks & kind.shared() == 0
                && let (Some(granules), Some(plane)) = (self.granules, kind.plane())
            {
                let words = &granules[slot][plane..plane + PLANE];
                for_each_word(at, end, |word, mask| {
                    words[word].store(words[word].load(Relaxed) & !mask, Relaxed);
                });
            }
            return;
        }
        self.filter[slot].store(marks & !(kind.bit() | kind.shared()), Relaxed);
        if let (Some(granules), Some(plane)) = (self.granules, kind.plane()) {
            granules[slot][plane..plane + PLANE].iter().for_each(|word| word.store(0, Relaxed));
        }
    }

    /// The slot of a page, by the page's number.
    pub(crate) fn slot_of(&self, page: usize) -> usize {
        page & (self.filter.len() - 1)
    }

    /// Whether a page is exposed.
    pub(crate) fn is_exposed(&self, page: usize) -> bool {
        self.filter[self.slot_of(page)].load(Relaxed) & EXPOSED != 0
    }

    /// Sets whether a page is exposed.
    pub(crate) fn set_exposed(&self, page: usize, exposed: bool) {
        let byte = &self.filter[self.slot_of(page)];
        let others = byte.load(Relaxed) & !EXPOSED;
        byte.store(if exposed { others | EXPOSED } else { others }, Relaxed);
    }

    #[inline]
    fn slot(&self, at: usize) -> usize {
        (at >> PAGE_SHIFT) & (self.filter.len() - 1)
    }
}

/// Which of a slot's four counts an access belongs to.
#[derive(Clone, Copy)]
struct Kind(u8);

#[inline]
fn kind(mode: Mode, whole: bool) -> Kind {
    Kind(u8::from(mode == Mode::Write) + 2 * u8::from(whole))
}

impl Kind {
    fn bit(self) -> u8 {
        1 << self.0
    }

    /// The bit that says that marks of this kind share granules.
    fn shared(self) -> u8 {
        match self.0 {
            0 => SHARED_READ,
            1 => SHARED_WRITTEN,
            _ => 0,
        }
    }

    fn count(self, counts: u64) -> u16 {
        (counts >> (self.0 * 16)) as u16
    }

    fn is_full(self, counts: u64) -> bool {
        self.count(counts) == u16::MAX
    }

    fn is_zero(self, counts: u64) -> bool {
        self.count(counts) == 0
    }

    /// The increment of its count.
    fn one(self) -> u64 {
        1 << (self.0 * 16)
    }

    /// Where its granule words begin, for a partly covered page.
    fn plane(self) -> Option<usize> {
        (self.0 < 2).then_some(usize::from(self.0) * PLANE)
    }
}

#[inline]
fn is_part_of_a_page(range: &Range<usize>) -> bool {
    range.start < range.end && range.end <= range.start | (PAGE - 1)
}

fn for_each_page(range: Range<usize>, mut f: impl FnMut(usize, usize)) {
    let mut at = range.start;
    while at < range.end {
        let end = range.end.min((at | (PAGE - 1)) + 1);
        f(at, end);
        at = end;
    }
}

/// Calls `f` with each granule word of the page that `at..end` touches, and the touched bits.
#[inline(always)]
fn for_each_word(at: usize, end: usize, mut f: impl FnMut(usize, u64)) {
    let first = (at & (PAGE - 1)) >> GRANULE_SHIFT;
    let last = ((end - 1) & (PAGE - 1)) >> GRANULE_SHIFT;
    if first / 64 == last / 64 {
        return f(first / 64, (u64::MAX >> (63 - (last - first))) << (first % 64));
    }
    for word in first / 64..=last / 64 {
        let from = first.max(word * 64) % 64;
        let to = last.min(word * 64 + 63) % 64;
        f(word, (u64::MAX >> (63 - (to - from))) << from);
    }
}
