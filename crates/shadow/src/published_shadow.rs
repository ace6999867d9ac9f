//! What a process tells others that share memory with it about its loads and stores there.
//!
//! They lie in memory that the others read, while only this process writes: a [`Shadow`] of the shared
//! memory, addressed by the offset in it, what of that was ever touched, which bytes some process uses
//! atomically, and which segments a memory barrier begins or ends.
//!
//! Who tells first and then looks at what others have told misses nothing: of two that do so at the same time,
//! at least one sees the other ([`settle`](Bulletin::settle)). What is read while it changes is of this
//! process's past or present, never of another place.

use crate::shadow::Header;
use crate::{CELLS, Mode, PAGE_SHIFT, Past, Place, RECENT, Shadow};
use std::ops::Range;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicU32, AtomicU64, fence};

/// Places that are told apart, in two halves.
const PLACES: usize = 1 << 15;
/// Segments of which it is known whether barriers begin or end them.
const BARRIERS: usize = 512;
/// Bytes of a granule, which is atomic or not.
const GRANULE: usize = 8;
const PAGE: usize = 1 << PAGE_SHIFT;
const PAGE_WORDS: usize = PAGE / 8;

/// One process's bulletin.
#[derive(Clone, Copy)]
pub struct PublishedShadow {
    shadow: Shadow,
    /// A bit for each page that was ever touched.
    used: &'static [AtomicU64],
    /// How many of these are set.
    changes: &'static AtomicU64,
    /// The name of the memory that it is about.
    name: &'static AtomicU64,
    /// A bit for each granule.
    atomic: &'static [AtomicU64],
    /// The latest segments that begin at a barrier.
    barriers: &'static [AtomicU64],
}

type Cells = &'static [[AtomicU32; CELLS]];

/// Lengths of the parts, in words, the shadow's cells first, for they are pages.
struct Layout {
    pages: usize,
    cells: usize,
    places: usize,
    used: usize,
    atomic: usize,
}

impl Layout {
    fn of(bytes: usize) -> Layout {
        let pages = bytes.div_ceil(PAGE).next_power_of_two();
        Layout {
            pages,
            cells: pages * PAGE_WORDS,
            places: PLACES * size_of::<Place>() / 8,
            used: pages.div_ceil(64),
            atomic: (pages * PAGE / GRANULE).div_ceil(64),
        }
    }

    fn words(&self) -> usize {
        HEADER + 2 + BARRIERS + RECENT / 2 + self.cells + self.places + self.used + self.atomic
    }
}

const HEADER: usize = size_of::<Header>() / 8;
const _: () = assert!(HEADER * 8 == size_of::<Header>() && CELLS * 4 == PAGE);

impl PublishedShadow {
    /// Words of memory that a bulletin on so many bytes takes.
    pub fn words(bytes: usize) -> usize {
        Layout::of(bytes).words()
    }

    /// This process's own about memory of this name, which is not 0, in words that are all zero.
    pub fn new(words: &'static [AtomicU64], bytes: usize, name: u64) -> PublishedShadow {
        let bulletin = PublishedShadow::over(words, bytes, Shadow::new);
        bulletin.name.store(name, Release);
        bulletin
    }

    /// That of another process.
    pub fn of_another(words: &'static [AtomicU64], bytes: usize) -> PublishedShadow {
        PublishedShadow::over(words, bytes, Shadow::existing)
    }

    fn over(
        words: &'static [AtomicU64],
        bytes: usize,
        shadow: impl Fn(&'static Header, Cells, &'static [Place], &'static [AtomicU32]) -> Shadow,
    ) -> PublishedShadow {
        let layout = Layout::of(bytes);
        assert!(words.len() >= layout.words(), "memory for a bulletin");
        let (cells, rest) = words.split_at(layout.cells);
        let (header, rest) = rest.split_at(HEADER);
        let (words, rest) = rest.split_at(2);
        let (barriers, rest) = rest.split_at(BARRIERS);
        let (recent, rest) = rest.split_at(RECENT / 2);
        let (places, rest) = rest.split_at(layout.places);
        let (used, rest) = rest.split_at(layout.used);
        // SAFETY: structures of atomics that are valid whatever their bits, no more aligned than words, within
        // the parts just cut out, which nobody uses as words.
        let (table, cells, places, recent) = unsafe {
            (
                &*header.as_ptr().cast::<Header>(),
                std::slice::from_raw_parts(cells.as_ptr().cast(), layout.pages),
                std::slice::from_raw_parts(places.as_ptr().cast::<Place>(), PLACES),
                std::slice::from_raw_parts(recent.as_ptr().cast::<AtomicU32>(), RECENT),
            )
        };
        let shadow = shadow(table, cells, places, recent);
        let (changes, name) = (&words[0], &words[1]);
        PublishedShadow { shadow, used, changes, name, atomic: &rest[..layout.atomic], barriers }
    }

    /// Whether what has been read so far was about memory of this name.
    pub fn is_of(&self, name: u64) -> bool {
        fence(SeqCst);
        self.name.load(Acquire) == name
    }

    /// It is about nothing any more, and its words may be used for something else.
    pub fn retire(&self) {
        self.name.store(0, SeqCst);
        fence(SeqCst);
    }

    /// This process has touched a page. What it did there need not be told before others have touched it, too.
    pub fn use_page(&self, page: usize) {
        let bit = 1 << (page % 64);
        let word = &self.used[page / 64];
        if word.load(Relaxed) & bit == 0 && word.fetch_or(bit, Release) & bit == 0 {
            self.changes.fetch_add(1, Release);
        }
    }

    /// How many pages it has touched.
    pub fn changes(&self) -> u64 {
        self.changes.load(Acquire)
    }

    /// Which of the pages from `64 * word` on it has touched.
    pub fn used(&self, word: usize) -> u64 {
        self.used[word].load(Acquire)
    }

    /// Tells of an access; `bytes` are offsets.
    pub fn publish(&self, past: &Past, bytes: Range<usize>) {
        if self.shadow.is_crowded() {
            self.forget();
        }
        self.shadow.record(past.when, bytes, past.mode, past.pc, past.by);
    }

    /// What was said before is there for others; what they have said before can be looked at now.
    pub fn fence(&self) {
        fence(SeqCst);
    }

    /// Calls `f` with what this process has done that a read (write) would conflict with, and those
    /// bytes, until it returns false.
    pub fn conflicts(
        &self,
        bytes: &Range<usize>,
        mode: Mode,
        mut f: impl FnMut(Past, Range<usize>) -> bool,
    ) {
        let mut at = bytes.start;
        let mut go_on = true;
        while at < bytes.end && go_on {
            let (page, end) = (at / PAGE, bytes.end.min((at | (PAGE - 1)) + 1));
            // Memory that was never touched stays so.
            if self.used[page / 64].load(Acquire) >> (page % 64) & 1 != 0 {
                self.shadow.conflicts(&(at..end), mode, |past, bytes| {
                    go_on = f(past, bytes);
                    go_on
                });
            }
            at = end;
        }
    }

    /// This process uses these bytes atomically.
    pub fn mark_atomic(&self, bytes: &Range<usize>) {
        for granule in bytes.start / GRANULE..bytes.end.div_ceil(GRANULE) {
            self.atomic[granule / 64].fetch_or(1 << (granule % 64), Release);
        }
    }

    /// Whether it has used one of these bytes, or of those that share granules with them, atomically.
    pub fn is_atomic(&self, bytes: &Range<usize>) -> bool {
        (bytes.start / GRANULE..bytes.end.div_ceil(GRANULE))
            .any(|granule| self.atomic[granule / 64].load(Acquire) >> (granule % 64) & 1 != 0)
    }

    /// A segment begins, and the one before ends, at a memory barrier.
    pub fn note_barrier(&self, begins: u32) {
        self.barriers[begins as usize % BARRIERS].store(begins.into(), Release);
    }

    /// Whether a segment begins at a memory barrier, as far as is remembered.
    pub fn begins_at_barrier(&self, segment: u32) -> bool {
        self.barriers[segment as usize % BARRIERS].load(Acquire) == u64::from(segment)
    }

    fn forget(&self) {
        for (index, used) in self.used.iter().enumerate() {
            let mut pages = used.load(Relaxed);
            while pages != 0 {
                let page = index * 64 + pages.trailing_zeros() as usize;
                self.shadow.forget(&(page * PAGE..page * PAGE + 1));
                pages &= pages - 1;
            }
        }
        self.shadow.start_over();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Epoch, When};

    fn memory(bytes: usize) -> &'static [AtomicU64] {
        let words = PublishedShadow::words(bytes);
        Box::leak((0..words).map(|_| AtomicU64::new(0)).collect())
    }

    fn store(segment: u32, pc: usize) -> Past {
        let when = When { segment, stamp: Epoch::default() };
        Past { pc, by: 0, when, mode: Mode::Write }
    }

    fn seen(of: &PublishedShadow, bytes: Range<usize>) -> Vec<(usize, u32, Range<usize>)> {
        let mut found = Vec::new();
        of.conflicts(&bytes, Mode::Write, |past, bytes| {
            found.push((past.pc, past.when.segment, bytes));
            true
        });
        found
    }

    #[test]
    fn others_see_what_one_tells() {
        let words = memory(3 * PAGE);
        let (mine, theirs) = (
            PublishedShadow::new(words, 3 * PAGE, 5),
            PublishedShadow::of_another(words, 3 * PAGE),
        );
        assert!(theirs.is_of(5) && !theirs.is_of(6));
        assert_eq!(seen(&theirs, 0..3 * PAGE), []);
        mine.publish(&store(5, 70), 4092..4104);
        assert_eq!((seen(&theirs, 0..3 * PAGE), theirs.changes()), (Vec::new(), 0), "not said yet");
        [0, 1, 1].into_iter().for_each(|page| mine.use_page(page));
        assert_eq!((theirs.changes(), theirs.used(0)), (2, 3));
        assert_eq!(seen(&theirs, 4090..4093), [(70, 5, 4092..4093)]);
        assert_eq!(seen(&theirs, 4100..5000), [(70, 5, 4100..4104)]);
        mine.mark_atomic(&(4096..4100));
        assert!(theirs.is_atomic(&(4100..4101)) && !theirs.is_atomic(&(4104..4112)));
        mine.note_barrier(6);
        assert!(theirs.begins_at_barrier(6) && !theirs.begins_at_barrier(5));
        mine.retire();
        assert!(!theirs.is_of(5));
    }

    #[test]
    fn many_places_are_forgotten_and_told_again() {
        let words = memory(PAGE);
        let mine = PublishedShadow::new(words, PAGE, 1);
        mine.use_page(0);
        for segment in 1..3 * PLACES as u32 {
            let at = segment as usize % 64 * 8;
            mine.publish(&store(segment, 9), at..at + 8);
            assert_eq!(seen(&mine, at..at + 8), [(9, segment, at..at + 8)]);
        }
    }
}
