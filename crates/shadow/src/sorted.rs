//! A chunked list of ranges sorted by address: insertion and removal stay cheap with thousands of
//! ranges, also of the same bytes, and a few ranges take no allocation.

use std::cmp::Reverse;

/// A range and its owner.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    pub start: usize,
    pub end: usize,
    pub slot: u32,
    pub access: u32,
}

impl Entry {
    /// Among ranges at one address, the latest comes first as a rule.
    fn key(&self) -> (usize, Reverse<u32>, u32) {
        (self.start, Reverse(self.slot), self.access)
    }
}

#[derive(Default)]
pub(crate) struct Sorted {
    /// No chunk is empty, except the only one.
    chunks: Vec<Vec<Entry>>,
}

/// A chunk that reaches this length is split.
const LONGEST: usize = 256;

impl Sorted {
    pub fn is_empty(&self) -> bool {
        self.chunks.first().is_none_or(Vec::is_empty)
    }

    /// The chunk that holds, or would hold, the first entry with this start or a larger one.
    fn chunk_of(&self, start: usize) -> usize {
        let ends_before = |chunk: &Vec<Entry>| chunk.last().is_some_and(|e| e.start < start);
        self.chunks.partition_point(ends_before)
    }

    /// The chunk that holds, or would hold, an entry.
    fn chunk_with(&self, entry: &Entry) -> usize {
        let ends_before = |chunk: &Vec<Entry>| chunk.last().is_some_and(|e| e.key() < entry.key());
        self.chunks.partition_point(ends_before)
    }

    pub fn insert(&mut self, entry: Entry) {
        if self.chunks.is_empty() {
            self.chunks.push(Vec::new());
        }
        let index = self.chunk_with(&entry).min(self.chunks.len() - 1);
        let chunk = &mut self.chunks[index];
        chunk.insert(chunk.partition_point(|e| e.key() < entry.key()), entry);
        if chunk.len() == LONGEST {
            let upper = chunk.split_off(LONGEST / 2);
            self.chunks.insert(index + 1, upper);
        }
    }

    /// Removes an entry; returns whether it was there.
    pub fn remove(&mut self, entry: &Entry) -> bool {
        let index = self.chunk_with(entry);
        let Some(chunk) = self.chunks.get_mut(index) else { return false };
        let Ok(at) = chunk.binary_search_by_key(&entry.key(), Entry::key) else { return false };
        chunk.remove(at);
        if chunk.is_empty() && self.chunks.len() > 1 {
            self.chunks.remove(index);
        }
        true
    }

    /// Entries from the first that starts at `start` or later, in order.
    pub fn from(&self, start: usize) -> impl Iterator<Item = &Entry> {
        let chunks = &self.chunks[self.chunk_of(start)..];
        let skipped = chunks.first().map_or(0, |c| c.partition_point(|e| e.start < start));
        chunks.iter().flatten().skip(skipped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn behaves_like_a_sorted_vector(steps in prop::collection::vec((prop_oneof![0usize..400, 7usize..9], any::<bool>()), 0..3000)) {
            let (mut sorted, mut model) = (Sorted::default(), Vec::<Entry>::new());
            for (number, (start, insert)) in steps.into_iter().enumerate() {
                if insert || model.is_empty() {
                    let entry = Entry { start, end: start + 1, slot: number as u32, access: 0 };
                    sorted.insert(entry);
                    model.push(entry);
                } else {
                    let entry = model.swap_remove(start % model.len());
                    prop_assert!(sorted.remove(&entry));
                    prop_assert!(!sorted.remove(&entry));
                }
                prop_assert_eq!(sorted.is_empty(), model.is_empty());
            }
            for start in [0, 1, 100, 399, 400] {
                let found: Vec<_> = sorted.from(start).map(|e| (e.start, e.slot)).collect();
                prop_assert!(found.is_sorted_by_key(|e| e.0));
                prop_assert_eq!(found.len(), model.iter().filter(|e| e.start >= start).count());
            }
        }
    }
}
