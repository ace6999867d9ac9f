//! The heap map: finds the allocated block that holds an address, with the size that the program
//! asked for.
//!
//! One byte of the map stands for 16 bytes of memory, the alignment of `malloc`. The byte at a
//! block's beginning has its highest bit set and encodes the size, alone or with the bytes that
//! follow: a block of more than 16 bytes has more than one. One bit says whether the block was
//! reported to an observer. The map is allocated in regions that cover 64 MiB of memory each, where
//! there are blocks. Beside it stand numbers of allocation sites: the return addresses of the calls
//! that allocated blocks, which debug information of the program turns into types after the run.
//!
//! **Soundness.** A query about memory that the program owns returns the block that holds it, or
//! nothing: every function that allocates or frees enters blocks before the program gets them and
//! removes them before they are freed. Unknown are blocks allocated before the runtime was loaded,
//! by statically linked allocators, or with less than 16 bytes' alignment, and all blocks beyond
//! 256 GiB. A block has the site of the call that made it, or none: sites beyond the first 16,000,
//! and those that hash to a full neighbourhood, are not numbered.
//!
//! Allocating and freeing a block takes no lock and does not wait; a region is mapped once.

use std::ops::Range;
use std::ptr;
use std::sync::atomic::{
    AtomicBool, AtomicI64, AtomicPtr, AtomicU8, AtomicU16, AtomicU64, AtomicUsize, Ordering,
};

const GRANULE_SHIFT: u32 = 4;
const REGION_SHIFT: u32 = 26;
const GRANULES: usize = 1 << (REGION_SHIFT - GRANULE_SHIFT);
/// log2 of the granules that one byte of the summary stands for.
const PAGE_SHIFT: u32 = 8;
const PAGES: usize = GRANULES >> PAGE_SHIFT;
const REGIONS: usize = 4096;

/// Set in the byte at a block's beginning.
const BEGIN: u8 = 0x80;
/// Set there if the block was reported to the observer.
const REPORTED: u8 = 0x40;
/// Set there if there were several threads when the block was allocated.
const OF_THREADS: u8 = 0x20;
/// Largest size encoded in the first byte alone; larger values there encode the number of digits.
const SMALL: usize = 16;
/// Bits of a digit: a digit's byte must not look like a beginning.
const DIGIT: u32 = 7;
const MAX_DIGITS: usize = 7;

/// The map of one region, with space for the digits of its last block, and a summary that says for
/// each page of bytes, by the same bit, whether a block ever began there. Where a block begins,
/// `sites` has the number of its allocation site.
#[repr(C)]
struct Map {
    bytes: [AtomicU8; GRANULES + 8],
    pages: [AtomicU8; PAGES],
    sites: [AtomicU16; GRANULES],
}

/// Allocation sites, a hash table whose entries stay once taken. The number of a site is its
/// position plus one.
static SITES: [AtomicUsize; MAX_SITES] = [const { AtomicUsize::new(0) }; MAX_SITES];
const MAX_SITES: usize = 1 << 14;
/// Entries that a site may be in.
const PROBES: usize = 8;

/// The number of an allocation site, 0 if there is no room for it.
#[inline]
fn number_of(site: usize) -> u16 {
    // Fibonacci hashing (Knuth, vol. 3, §6.4).
    let home = site.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (usize::BITS - MAX_SITES.ilog2());
    for probe in 0..PROBES {
        let entry = &SITES[(home + probe) % MAX_SITES];
        let known = entry.load(Ordering::Relaxed);
        if known == site || known == 0 && take(entry, site) {
            return ((home + probe) % MAX_SITES + 1) as u16;
        }
    }
    0
}

/// Whether a free entry is the site's from now on.
#[cold]
fn take(entry: &AtomicUsize, site: usize) -> bool {
    let taken = entry.compare_exchange(0, site, Ordering::Relaxed, Ordering::Relaxed);
    taken.is_ok() || taken == Err(site)
}

struct Region {
    /// The region's number plus one; 0 for a free slot.
    key: AtomicUsize,
    map: AtomicPtr<Map>,
}

static TABLE: [Region; REGIONS] =
    [const { Region { key: AtomicUsize::new(0), map: AtomicPtr::new(ptr::null_mut()) } }; REGIONS];

static IS_ON: AtomicBool = AtomicBool::new(false);

/// Number of threads and parallel regions beside the initial thread.
static OTHERS: AtomicI64 = AtomicI64::new(0);

/// Bounds on all blocks ever allocated, which limit where to search.
static ALL: Extremes = Extremes {
    lowest: AtomicUsize::new(usize::MAX),
    highest: AtomicUsize::new(0),
    largest: AtomicUsize::new(0),
};

struct Extremes {
    /// The lowest first byte of any block.
    lowest: AtomicUsize,
    /// The highest end of any block.
    highest: AtomicUsize,
    /// The largest size of any block.
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

    /// How many regions before that of an address its block may begin.
    #[inline]
    fn back(&self) -> usize {
        (self.largest.load(Ordering::Relaxed) >> REGION_SHIFT) + 1
    }
}

/// Starts to enter blocks into the map.
pub fn begin() {
    IS_ON.store(true, Ordering::Relaxed);
}

/// Adds to the number of threads and parallel regions beside the initial thread.
pub fn add_threads(change: i64) {
    OTHERS.fetch_add(change, Ordering::Relaxed);
}

/// Enters a block that the call before `site` has allocated, and that the program has not got yet.
#[inline]
pub(crate) fn insert(address: usize, size: usize, site: usize) {
    if IS_ON.load(Ordering::Relaxed) && address != 0 && address.is_multiple_of(1 << GRANULE_SHIFT) {
        enter(address, size, site);
    }
}

/// The block at `address` was allocated for the call before `site`, by whatever that called.
#[inline]
pub(crate) fn allocated_for(address: usize, site: usize) {
    if IS_ON.load(Ordering::Relaxed)
        && let Some(map) = find(address >> REGION_SHIFT)
    {
        map.sites[granule(address)].store(number_of(site), Ordering::Relaxed);
    }
}

/// The return address of the call that allocated the block that begins at `address`, if it is
/// known.
pub fn site_of(address: usize) -> Option<usize> {
    let map = find(address >> REGION_SHIFT)?;
    let number = map.sites[granule(address)].load(Ordering::Relaxed);
    let entry = usize::from(number).checked_sub(1)?;
    Some(SITES[entry].load(Ordering::Relaxed))
}

/// Removes a block that is about to be freed. Returns whether it was reported; `None` if it is
/// unknown.
#[inline]
pub(crate) fn remove(address: usize) -> Option<bool> {
    if !IS_ON.load(Ordering::Relaxed) {
        return None;
    }
    let byte = &find(address >> REGION_SHIFT)?.bytes[granule(address)];
    let was = byte.load(Ordering::Relaxed);
    byte.store(0, Ordering::Release);
    (was & BEGIN != 0).then_some(was & REPORTED != 0)
}

/// Whether there were several threads when the block that begins at `address` was allocated, or may
/// have been.
pub fn is_of_threads(address: usize) -> bool {
    let byte = |map: &Map| map.bytes[granule(address)].load(Ordering::Relaxed);
    find(address >> REGION_SHIFT).is_none_or(|map| byte(map) & OF_THREADS != 0)
}

/// Marks the block that begins at `address` as reported, so that its release is reported as well.
pub fn mark_reported(address: usize) {
    if IS_ON.load(Ordering::Relaxed)
        && let Some(map) = find(address >> REGION_SHIFT)
    {
        let byte = &map.bytes[granule(address)];
        if byte.load(Ordering::Relaxed) & BEGIN != 0 {
            byte.fetch_or(REPORTED, Ordering::Relaxed);
        }
    }
}

/// The block that holds the byte at `address`, with the size that the program asked for.
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
fn enter(address: usize, size: usize, site: usize) {
    let Some(map) = find_or_map(address >> REGION_SHIFT) else { return };
    let first = granule(address);
    let byte = if size <= SMALL {
        size as u8
    } else {
        let digits = (usize::BITS - size.leading_zeros()).div_ceil(DIGIT) as usize;
        if digits > MAX_DIGITS {
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
    map.sites[first].store(number_of(site), Ordering::Relaxed);
    let threads = if OTHERS.load(Ordering::Relaxed) != 0 { OF_THREADS } else { 0 };
    map.bytes[first].store(BEGIN | threads | byte, Ordering::Release);
}

impl Map {
    /// The last beginning of a block at or before this granule.
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

    /// The size of the block that begins at this granule; `None` if it was freed concurrently.
    fn size(&self, first: usize) -> Option<usize> {
        let byte = self.bytes[first].load(Ordering::Acquire) & !REPORTED;
        let value = (byte & BEGIN != 0).then_some(usize::from(byte & !(BEGIN | OF_THREADS)))?;
        if value <= SMALL {
            return Some(value);
        }
        let digits = (0..value - SMALL).rev();
        let size = digits.fold(0, |size, digit| {
            size << DIGIT | usize::from(self.bytes[first + 1 + digit].load(Ordering::Acquire))
        });
        (self.bytes[first].load(Ordering::Acquire) & !REPORTED == byte).then_some(size)
    }
}

/// The last byte with its highest bit set, from `first`, which begins a word, to `last`.
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

/// The slots that may hold a region, the likeliest first (open addressing).
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
    // SAFETY: a map is never freed once it is published.
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
    // SAFETY: fresh pages for a map, all zero, which is valid for every field. Two threads may come
    // here concurrently; the second unmaps its own pages.
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
        /// Compares the heap map with a `BTreeMap` of the same blocks.
        #[test]
        fn blocks_are_found(
            steps in prop::collection::vec((0usize..1 << 13, 0usize..5000, any::<bool>()), 1..200),
            region in 0usize..1 << 20,
            asked in prop::collection::vec(0usize..(1 << 13) * 16, 100),
        ) {
            // Across the border of two regions, in a different place for each case.
            let base = BASE + ((region * 4 + 1) << REGION_SHIFT) - (1 << 12) * 16;
            let mut blocks = BTreeMap::new();
            begin();
            for (at, size, frees) in steps {
                let start = base + at * 16;
                if frees {
                    if blocks.remove(&start).is_some() {
                        remove(start);
                    }
                    continue;
                }
                // As real allocators do: blocks do not overlap, and occupy at least one granule.
                let end = start + size.max(1).next_multiple_of(16);
                let before = blocks.range(..end).next_back();
                if before.is_none_or(|(start_before, size): (&usize, &usize)| {
                    start_before + size.max(&1).next_multiple_of(16) <= start
                }) {
                    blocks.insert(start, size);
                    insert(start, size, 1);
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
                remove(*start);
            }
        }
    }

    #[test]
    fn who_was_told_of_a_block_hears_of_its_end() {
        begin();
        let base = BASE + (7 << 40);
        for (at, size) in [(0, 8), (1, 16), (2, 100), (20, 5000)] {
            let start = base + at * 16;
            insert(start, size, 1);
            assert_eq!(remove(start), Some(false));
            insert(start, size, 1);
            mark_reported(start);
            assert_eq!(block_of(start + size - 1), Some(start..start + size));
            assert_eq!(remove(start), Some(true));
            assert_eq!(remove(start), None);
            mark_reported(start);
            assert_eq!(block_of(start), None);
        }
    }

    #[test]
    fn blocks_have_the_sites_of_their_allocations() {
        begin();
        let base = BASE + (9 << 40);
        for round in 0..3 {
            for block in 0..4000 {
                insert(base + block * 32, 24, 0x40_0000 + 5 * block + round);
            }
            let site = |block: usize| site_of(base + block * 32);
            let known = (0..4000).filter(|block| site(*block).is_some()).count();
            assert!(known > 3900, "{known} of round {round}");
            for block in 0..4000 {
                let found = site(block);
                assert!(found.is_none_or(|found| found == 0x40_0000 + 5 * block + round));
            }
        }
        allocated_for(base, 0x40_0000);
        assert_eq!(site_of(base), Some(0x40_0000));
        assert_eq!(site_of(base + 16), None);
    }

    #[test]
    fn large_blocks_are_found_from_their_far_end() {
        begin();
        let (start, size) = (BASE + (3 << 40), 10 << 30);
        insert(start, size, 1);
        assert_eq!(block_of(start + size - 1), Some(start..start + size));
        assert_eq!(block_of(start + size), None);
        remove(start);
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
                        insert(start, 33 + thread, 1);
                        assert_eq!(block_of(start + 32), Some(start..start + 33 + thread));
                        if round % 3 == 0 {
                            remove(start);
                            assert_eq!(block_of(start + 32), None);
                        }
                    }
                });
            }
        });
    }
}
