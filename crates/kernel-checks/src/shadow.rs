//! Shadow memory: for each granule of what a kernel accesses, its last write and two accesses that
//! did not race with that, or with each other.
//!
//! A granule has four bytes, or fewer where accesses are smaller or not aligned to that: each page
//! has its own size.

use crate::stamp::Stamp;
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Bytes of memory that a page describes.
const PAGE: u64 = 1 << 12;
/// The usual size of granules, as a power of two.
const WORD: u32 = 2;

/// The accesses to a granule.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cell {
    /// The last write.
    pub write: Stamp,
    /// Accesses that are concurrent with it or came after it.
    pub others: [Stamp; 2],
}

#[derive(Debug)]
struct Page {
    /// The size of granules, as a power of two.
    shift: u32,
    cells: Box<[Cell]>,
}

impl Page {
    fn new() -> Page {
        Page { shift: WORD, cells: vec![Cell::default(); (PAGE >> WORD) as usize].into() }
    }

    #[cold]
    fn refine(&mut self, shift: u32) {
        let each = 1 << (self.shift - shift);
        let cells = self.cells.iter().flat_map(|cell| std::iter::repeat_n(*cell, each));
        (self.cells, self.shift) = (cells.collect(), shift);
    }
}

/// The shadow of a memory.
#[derive(Debug, Default)]
pub struct Memory {
    pages: Vec<Page>,
    index: FxHashMap<u64, u32>,
    /// The page that was used last: its number, and where it is.
    last: (u64, u32),
}

impl Memory {
    /// The cells of an access, which lies on one page as far as it counts. `None` if there would be
    /// more pages than `most`.
    #[inline(always)]
    pub fn cells(&mut self, address: u64, size: u64, most: usize) -> Option<&mut [Cell]> {
        let number = address / PAGE;
        let at = match self.last {
            (last, at) if last == number && !self.pages.is_empty() => at,
            _ => self.find(number, most)?,
        };
        let page = &mut self.pages[at as usize];
        let exact = (address | size).trailing_zeros();
        if exact < page.shift {
            page.refine(exact);
        }
        let from = (address % PAGE) >> page.shift;
        let to = (from + (size >> page.shift)).min(page.cells.len() as u64);
        Some(&mut page.cells[from as usize..to as usize])
    }

    fn find(&mut self, number: u64, most: usize) -> Option<u32> {
        let at = match self.index.get(&number) {
            Some(at) => *at,
            None if self.pages.len() < most => {
                let at = self.pages.len() as u32;
                self.pages.push(Page::new());
                self.index.insert(number, at);
                at
            }
            None => return None,
        };
        self.last = (number, at);
        Some(at)
    }

    /// The cells of bytes that were accessed, as far as they have any.
    pub fn each(&mut self, bytes: Range<u64>, mut act: impl FnMut(&mut Cell)) {
        for number in bytes.start / PAGE..bytes.end.div_ceil(PAGE) {
            let Some(at) = self.index.get(&number) else { continue };
            let page = &mut self.pages[*at as usize];
            let within = |at: u64| (at.saturating_sub(number * PAGE).min(PAGE)) as usize;
            let last = within(bytes.end).div_ceil(1 << page.shift);
            page.cells[within(bytes.start) >> page.shift..last].iter_mut().for_each(&mut act);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stamp::Level;

    #[test]
    fn granules_are_as_small_as_accesses() {
        let mut memory = Memory::default();
        let stamp = Stamp::new(1, Level::Thread, 0, 1);
        for cell in memory.cells(PAGE + 8, 8, 9).unwrap() {
            cell.write = stamp;
        }
        assert_eq!(memory.cells(PAGE + 8, 8, 9).unwrap().len(), 2);
        assert_eq!(memory.cells(PAGE + 13, 1, 9).unwrap().len(), 1);
        let all = memory.cells(PAGE + 4, 16, 9).unwrap();
        let written: Vec<_> = all.iter().map(|cell| u8::from(cell.write == stamp)).collect();
        assert_eq!(written, [0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0]);
        let mut seen = 0;
        memory.each(PAGE + 10..PAGE + 12, |_| seen += 1);
        assert_eq!(seen, 2);
        memory.each(0..PAGE, |_| panic!("nothing was accessed there"));
    }

    #[test]
    fn there_are_no_more_pages_than_allowed() {
        let mut memory = Memory::default();
        assert!(memory.cells(0, 4, 1).is_some());
        assert!(memory.cells(PAGE, 4, 1).is_none());
        assert!(memory.cells(4, 4, 1).is_some());
    }
}
