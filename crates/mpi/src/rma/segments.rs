//! Segments of this process at which something happened again and again, the last of them.
//!
//! Of what is forgotten, something later is told: what others do then counts as coming after more of
//! what this process has done than it may.

use std::collections::VecDeque;

/// As many are kept: nobody is many fences behind.
const MAX_SEGMENTS: usize = 64;

/// Ascending.
#[derive(Debug, Default)]
pub struct Segments {
    last: VecDeque<u32>,
    forgotten: usize,
}

impl Segments {
    /// It happens once more.
    pub fn push(&mut self, segment: u32) {
        if self.last.len() == MAX_SEGMENTS {
            self.last.pop_front();
            self.forgotten += 1;
        }
        self.last.push_back(segment);
    }

    /// How often it has happened.
    pub fn count(&self) -> usize {
        self.forgotten + self.last.len()
    }

    /// When it happened for the `n`th time.
    pub fn nth(&self, n: usize) -> Option<u32> {
        let kept = n.checked_sub(1)?.saturating_sub(self.forgotten);
        self.last.get(kept).copied()
    }

    /// When it last happened up to a segment.
    pub fn up_to(&self, segment: u32) -> Option<u32> {
        let count = self.last.partition_point(|happened| *happened <= segment);
        match count.checked_sub(1) {
            Some(last) => self.last.get(last).copied(),
            None => (self.forgotten > 0).then_some(segment),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_counted_and_the_last_are_known() {
        let mut segments = Segments::default();
        assert_eq!((segments.nth(0), segments.nth(1), segments.up_to(9)), (None, None, None));
        (1..=100).for_each(|n| segments.push(10 * n));
        assert_eq!(segments.count(), 100);
        assert_eq!(
            (segments.nth(100), segments.nth(37), segments.nth(101)),
            (Some(1000), Some(370), None)
        );
        assert_eq!((segments.up_to(1005), segments.up_to(375)), (Some(1000), Some(370)));
        // Never earlier than it was.
        assert_eq!(
            (segments.nth(36), segments.nth(1), segments.nth(0)),
            (Some(370), Some(370), None)
        );
        assert_eq!((segments.up_to(365), segments.up_to(20)), (Some(365), Some(20)));
    }
}
