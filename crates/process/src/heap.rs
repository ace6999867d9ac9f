//! Which blocks of the heap there are, and how large the program made them.
//!
//! A byte stands for 16 bytes of memory, the alignment of what `malloc` gives. The one for a block's beginning
//! has its highest bit set and tells the size, by itself or with bytes that follow: a block of more than 16
//! bytes has more than one. One bit says whether somebody was told of the block. Such bytes are mapped for 64 MiB of memory at a time, where there are blocks.
//!
//! **Soundness.** Who asks about memory that the program owns gets the block that holds it, or nothing: blocks
//! are entered before the program gets them and taken out before they are given back, by every function that
//! does so. Nothing is known of blocks that were made before the runtime was loaded, by allocators that are linked
//! statically, or with less than 16 bytes' alignment, nor of any beyond 256 GiB.
//!
//! Making and freeing a block takes no lock and does not wait; memory is mapped once for each 64 MiB.

use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU64, AtomicUsize, Ordering};

const GRANULE_SHIFT: u32 = 4;
const REGION_SHIFT: u32 = 26;
const GRANULES: usize = 1 << (REGION_SHIFT - GRANULE_SHIFT);
/// Granules, by twos exponent, that one byte of the summary stands for.
const PAGE_SHIFT: u32 = 8;
const PAGES: usize = GRANULES >> PAGE_SHIFT;
const REGIONS: usize = 4096;

/// Set in the byte of a block's beginning.
const BEGIN: u8 = 0x80;
/// Set there if somebody was told of the block.
const TOLD: u8 = 0x40;
/// Sizes up to this are in the first byte itself; what is above tells how many digits follow.
const SMALL: usize = 16;
/// Bits of a digit: its byte must not look like a beginning.
const DIGIT: u32 = 7;
const MOST_DIGITS: usize = 7;

/// The bytes for a region, its last blocks' digits included, and for each page of them whether any ever was a
/// beginning, by the same bit.
#[repr(C)]
struct Map {
    bytes: [AtomicU8; GRANULES + 8],
    pages: [AtomicU8; PAGES],
}

struct Region {
    /// Its number, plus one; 0 for none yet.
    key: AtomicUsize,
    map: AtomicPtr<Map>,
}

static TABLE: [Region; REGIONS] =
    [const { Region { key: AtomicUsize::new(0), map: AtomicPtr::new(ptr::null_mut()) } }; REGIONS];

static IS_ON: AtomicBool = AtomicBool::new(false);

/// What all blocks ever made tell about where to look for one.
static ALL: Extremes = Extremes {
    lowest: AtomicUsize::new(usize::MAX),
    highest: AtomicUsize::new(0),
    largest: AtomicUsize::new(0),
};

struct Extremes {
    /// The first byte of any block.
    lowest: AtomicUsize,
    /// Past the last byte of any.
    highest: AtomicUsize,
    /// The largest size.
    largest: AtomicUsize,
}

impl Extremes {
    #[inline]
    fn add(&self, block: &Range<usize>) {
        let (highest, largest) = (&self.highest, &self.largest);
        if block.start < self.lowest.load(Ordering::Relaxed) {
            self.lowest.fetch_min(block.start, Ordering::Relaxed);
        }
        if block.end > highest.load(Ordering::Relaxed) {
            highest.fetch_max(block.end, Ordering::Relaxed);
        }
        if block.len() > largest.load(Ordering::Relaxed) {
            largest.fetch_max(block.len(), Ordering::Relaxed);
        }
    }

    #[inline]
    fn may_hold(&self, address: usize) -> bool {
        address < self.highest.load(Ordering::Relaxed)
            && address >= self.lowest.load(Ordering::Relaxed)
    }

    /// How many regions before the one of an address its block may begin.
    #[inline]
    fn back(&self) -> usize {
        (self.largest.load(Ordering::Relaxed) >> REGION_SHIFT) + 1
    }
}

/// From now on blocks are entered.
pub fn begin() {
    IS_ON.store(true, Ordering::Relaxed);
}

/// A block is there; the program does not know it yet.
#[inline]
pub(crate) fn made(address: usize, size: usize) {
    if IS_ON.load(Ordering::Relaxed) && address != 0 && address.is_multiple_of(1 << GRANULE_SHIFT) {
        enter(address, size);
    }
}

/// A block is about to be given back. Whether somebody was told of it; `None` if it is not known.
#[inline]
pub(crate) fn gone(address: usize) -> Option<bool> {
    if !IS_ON.load(Ordering::Relaxed) {
        return None;
    }
    let byte = &find(address >> REGION_SHIFT)?.bytes[granule(address)];
    let was = byte.load(Ordering::Relaxed);
    byte.store(0, Ordering::Release);
    (was & BEGIN != 0).then_some(was & TOLD != 0)
}

/// Somebody is told of the block that begins at `address`, and so is to be told when it is given back.
pub fn tell(address: usize) {
    if IS_ON.load(Ordering::Relaxed)
        && let Some(map) = find(address >> REGION_SHIFT)
    {
        let byte = &map.bytes[granule(address)];
        if byte.load(Ordering::Relaxed) & BEGIN != 0 {
            byte.fetch_or(TOLD, Ordering::Relaxed);
        }
    }
}

/// The block that holds the byte at `address`, as long as the program asked for.
pub fn block_of(address: usize) -> Option<Range<usize>> {
    if !ALL.may_hold(address) {
        return None;
    }
    let region = address >> REGION_SHIFT;
    let mut last = granule(address);
    for back in 0..=ALL.back().min(region) {
        if let Some(map) = find(region - back)
            && let Some(first) = map.last_beginning(last)
        {
            let start = ((region - back) << REGION_SHIFT) + (first << GRANULE_SHIFT);
            let block = start..start + map.size(first)?;
            return block.contains(&address).then_some(block);
        }
        last = GRANULES - 1;
    }
    None
}

#[inline]
fn granule(address: usize) -> usize {
    (address >> GRANULE_SHIFT) % GRANULES
}

#[inline]
fn enter(address: usize, size: usize) {
    let Some(map) = find_or_map(address >> REGION_SHIFT) else { return };
    let first = granule(address);
    let byte = if size <= SMALL {
        size as u8
    } else {
        let digits = (usize::BITS - size.leading_zeros()).div_ceil(DIGIT) as usize;
        if digits > MOST_DIGITS {
            return;
        }
        for digit in 0..digits {
            let value = (size >> (DIGIT * digit as u32)) as u8 & !BEGIN;
            map.bytes[first + 1 + digit].store(value, Ordering::Relaxed);
        }
        (SMALL + digits) as u8
    };
    ALL.add(&(address..address.saturating_add(size)));
    let page = &map.pages[first >> PAGE_SHIFT];
    if page.load(Ordering::Relaxed) == 0 {
        page.store(BEGIN, Ordering::Release);
    }
    map.bytes[first].store(BEGIN | byte, Ordering::Release);
}

impl Map {
    /// The last beginning of a block up to this granule.
    fn last_beginning(&self, last: usize) -> Option<usize> {
        let mut page = last >> PAGE_SHIFT;
        loop {
            page = last_marked(&self.pages, 0, page)?;
            let first = page << PAGE_SHIFT;
            let end = last.min(first + (1 << PAGE_SHIFT) - 1);
            if let Some(found) = last_marked(&self.bytes, first, end) {
                return Some(found);
            }
            page = page.checked_sub(1)?;
        }
    }

    /// The size of the block that begins at this granule; `None` if it has just gone.
    fn size(&self, first: usize) -> Option<usize> {
        let byte = self.bytes[first].load(Ordering::Acquire) & !TOLD;
        let value = (byte & BEGIN != 0).then_some(usize::from(byte & !BEGIN))?;
        if value <= SMALL {
            return Some(value);
        }
        let digits = (0..value - SMALL).rev();
        let size = digits.fold(0, |size, digit| {
            size << DIGIT | usize::from(self.bytes[first + 1 + digit].load(Ordering::Acquire))
        });
        (self.bytes[first].load(Ordering::Acquire) & !TOLD == byte).then_some(size)
    }
}

/// The last byte from `first`, which begins a word, up to `last` whose highest bit is set.
#[inline]
fn last_marked(bytes: &[AtomicU8], first: usize, last: usize) -> Option<usize> {
    const WORD: usize = size_of::<u64>();
    const MARKS: u64 = u64::from_ne_bytes([BEGIN; WORD]);
    (first / WORD..=last / WORD).rev().find_map(|word| {
        // SAFETY: both arrays of a map are aligned and made of whole words, and of atomics.
        let word_of = unsafe { &*bytes.as_ptr().add(word * WORD).cast::<AtomicU64>() };
        let mut marks = u64::from_le(word_of.load(Ordering::Acquire)) & MARKS;
        if word == last / WORD {
            let unused = WORD - 1 - last % WORD;
            marks = marks << (8 * unused) >> (8 * unused);
        }
        let at = (u64::BITS - marks.leading_zeros()) as usize / 8;
        (marks != 0).then(|| word * WORD + at - 1)
    })
}

/// The slots in which a region may be, the likeliest first.
#[inline]
fn slots(region: usize) -> impl Iterator<Item = &'static Region> {
    let home = region.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (usize::BITS - REGIONS.ilog2());
    (0..REGIONS).map(move |step| &TABLE[(home + step) % REGIONS])
}

#[inline]
fn find(region: usize) -> Option<&'static Map> {
    let mut known = slots(region).map(|slot| (slot.key.load(Ordering::Acquire), slot));
    let (key, slot) = known.find(|(key, _)| *key == 0 || *key == region + 1)?;
    if key == 0 {
        return None;
    }
    // SAFETY: once there, a map stays.
    unsafe { slot.map.load(Ordering::Acquire).as_ref() }
}

#[inline]
fn find_or_map(region: usize) -> Option<&'static Map> {
    match find(region) {
        Some(map) => Some(map),
        None => map(region),
    }
}

#[cold]
fn map(region: usize) -> Option<&'static Map> {
    let slot = slots(region).find(|slot| {
        match slot.key.compare_exchange(0, region + 1, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => true,
            Err(key) => key == region + 1,
        }
    })?;
    // SAFETY: fresh pages for a map, all zero, which every one of its fields may be; two threads may
    // come here at once, and the second takes its own back.
    unsafe {
        let size = size_of::<Map>();
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let fresh = libc::mmap(ptr::null_mut(), size, access, kind, -1, 0);
        if fresh == libc::MAP_FAILED {
            return None;
        }
        let (none, order) = (ptr::null_mut(), Ordering::AcqRel);
        match slot.map.compare_exchange(none, fresh.cast(), order, Ordering::Acquire) {
            Ok(_) => fresh.cast::<Map>().as_ref(),
            Err(other) => {
                libc::munmap(fresh, size);
                other.as_ref()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    const BASE: usize = 0x7000_0000_0000;

    proptest! {
        /// Against a map of the same blocks.
        #[test]
        fn blocks_are_found(
            steps in prop::collection::vec((0usize..1 << 13, 0usize..5000, any::<bool>()), 1..200),
            region in 0usize..1 << 20,
            asked in prop::collection::vec(0usize..(1 << 13) * 16, 100),
        ) {
            // Across the border of two regions, at a place of its own.
            let base = BASE + ((region * 4 + 1) << REGION_SHIFT) - (1 << 12) * 16;
            let mut blocks = BTreeMap::new();
            begin();
            for (at, size, frees) in steps {
                let start = base + at * 16;
                if frees {
                    if blocks.remove(&start).is_some() {
                        gone(start);
                    }
                    continue;
                }
                // As allocators do, blocks do not overlap, and have at least one granule.
                let end = start + size.max(1).next_multiple_of(16);
                let before = blocks.range(..end).next_back();
                if before.is_none_or(|(start_before, size): (&usize, &usize)| {
                    start_before + size.max(&1).next_multiple_of(16) <= start
                }) {
                    blocks.insert(start, size);
                    made(start, size);
                }
            }
            for offset in asked {
                let address = base + offset;
                let expected = blocks.range(..=address).next_back();
                let expected = expected
                    .map(|(start, size)| *start..start + size)
                    .filter(|block| block.contains(&address));
                prop_assert_eq!(block_of(address), expected);
            }
            for start in blocks.keys() {
                gone(*start);
            }
        }
    }

    #[test]
    fn who_was_told_of_a_block_hears_of_its_end() {
        begin();
        let base = BASE + (7 << 40);
        for (at, size) in [(0, 8), (1, 16), (2, 100), (20, 5000)] {
            let start = base + at * 16;
            made(start, size);
            assert_eq!(gone(start), Some(false));
            made(start, size);
            tell(start);
            assert_eq!(block_of(start + size - 1), Some(start..start + size));
            assert_eq!(gone(start), Some(true));
            assert_eq!(gone(start), None);
            tell(start);
            assert_eq!(block_of(start), None);
        }
    }

    #[test]
    fn large_blocks_are_found_from_their_far_end() {
        begin();
        let (start, size) = (BASE + (3 << 40), 10 << 30);
        made(start, size);
        assert_eq!(block_of(start + size - 1), Some(start..start + size));
        assert_eq!(block_of(start + size), None);
        gone(start);
        assert_eq!(block_of(start + size - 1), None);
    }

    #[test]
    fn threads_make_blocks_at_once() {
        begin();
        let base = BASE + (5 << 40);
        std::thread::scope(|scope| {
            for thread in 0..4 {
                scope.spawn(move || {
                    for round in 0..1000 {
                        let start = base + (round * 4 + thread) * 64;
                        made(start, 33 + thread);
                        assert_eq!(block_of(start + 32), Some(start..start + 33 + thread));
                        if round % 3 == 0 {
                            gone(start);
                            assert_eq!(block_of(start + 32), None);
                        }
                    }
                });
            }
        });
    }
}
