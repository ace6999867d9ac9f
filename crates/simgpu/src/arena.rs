//! Next-fit allocator of an address range.
//!
//! The search continues where the last allocation ended and wraps around at the end of the range,
//! so that a freed address is not reused soon: a stale pointer then points to unmapped memory
//! rather than to other data.

use std::collections::BTreeMap;
use std::ops::Range;

/// Alignment of every allocation in bytes, as `cudaMalloc` guarantees.
pub const ALIGNMENT: usize = 256;

/// An address range with its free parts.
#[derive(Debug)]
pub struct Arena {
    range: Range<usize>,
    /// Start and end of each free part; adjacent parts are merged.
    free: BTreeMap<usize, usize>,
    next: usize,
}

impl Arena {
    /// A range that is entirely free. Its ends are multiples of [`ALIGNMENT`].
    pub fn new(range: Range<usize>) -> Arena {
        let free = BTreeMap::from([(range.start, range.end)]);
        Arena { next: range.start, range, free }
    }

    /// Whether an address lies in the range.
    pub fn contains(&self, address: usize) -> bool {
        self.range.contains(&address)
    }

    /// The whole range.
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// Allocates at least `size` bytes; `None` if no free part is large enough.
    pub fn take(&mut self, size: usize, alignment: usize) -> Option<Range<usize>> {
        let size = size.max(1).checked_next_multiple_of(ALIGNMENT)?;
        let alignment = alignment.max(ALIGNMENT);
        let fits = |(&start, &end): (&usize, &usize), from: usize| {
            let at = start.max(from).next_multiple_of(alignment);
            (at <= end && size <= end - at).then_some((start, end, at))
        };
        // The part that holds `next` may start before it.
        let here = self.free.range(..self.next).next_back();
        let ahead = here.into_iter().chain(self.free.range(self.next..));
        let (start, end, at) = ahead
            .clone()
            .find_map(|part| fits(part, self.next))
            .or_else(|| self.free.iter().find_map(|part| fits(part, 0)))?;
        self.free.remove(&start);
        if start < at {
            self.free.insert(start, at);
        }
        if at + size < end {
            self.free.insert(at + size, end);
        }
        self.next = at + size;
        Some(at..at + size)
    }

    /// Frees an allocated part.
    pub fn give(&mut self, part: Range<usize>) {
        let (mut start, mut end) = (part.start, part.end);
        if let Some((&before, &until)) = self.free.range(..start).next_back()
            && until == start
        {
            start = before;
        }
        if let Some(&until) = self.free.get(&end) {
            self.free.remove(&end);
            end = until;
        }
        self.free.insert(start, end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_was_freed_is_not_used_at_once() {
        let mut arena = Arena::new(0x1000..0x2000);
        let first = arena.take(1, 1).expect("room");
        arena.give(first.clone());
        let second = arena.take(1, 1).expect("room");
        assert_ne!(first, second);
        assert_eq!(second, 0x1100..0x1200);
    }

    #[test]
    fn the_end_is_followed_by_the_start() {
        let mut arena = Arena::new(0x1000..0x1400);
        let parts: Vec<_> = (0..4).map(|_| arena.take(256, 1).expect("room")).collect();
        assert_eq!(arena.take(1, 1), None);
        arena.give(parts[1].clone());
        assert_eq!(arena.take(1, 1), Some(parts[1].clone()));
    }

    proptest! {
        #[test]
        fn parts_never_overlap_and_all_comes_back(
            acts in prop::collection::vec((any::<bool>(), 1..2000_usize, 0..5_u32), 1..100)
        ) {
            let whole = 0x10000..0x18000;
            let mut arena = Arena::new(whole.clone());
            let mut taken: Vec<Range<usize>> = Vec::new();
            for (take, size, shift) in acts {
                if take {
                    if let Some(part) = arena.take(size, ALIGNMENT << shift) {
                        prop_assert!(part.len() >= size && part.start % (ALIGNMENT << shift) == 0);
                        prop_assert!(whole.start <= part.start && part.end <= whole.end);
                        prop_assert!(taken.iter().all(|t| t.end <= part.start || part.end <= t.start));
                        taken.push(part);
                    }
                } else if !taken.is_empty() {
                    arena.give(taken.swap_remove(size % taken.len()));
                }
            }
            taken.into_iter().for_each(|part| arena.give(part));
            prop_assert_eq!(arena.take(whole.len(), 1), Some(whole));
        }
    }
}
