//! The last segments of this process at which a recurring event happened.
//!
//! For a forgotten event a later segment is returned: what other ranks do then counts as coming
//! after more of what this process has done than it may.

use std::collections::VecDeque;

/// Segments that are kept: no rank is many fences behind.
const MAX_SEGMENTS: usize = 64;

/// Segments in ascending order.
#[derive(Debug, Default)]
pub struct Segments {
    last: VecDeque<u32>,
    forgotten: usize,
}

impl Segments {
    /// The event happens once more.
    pub fn push(&mut self, segment: u32) {
        if self.last.len() == MAX_SEGMENTS {
            self.last.pop_front();
            self.forgotten += 1;
        }
        self.last.push_back(segment);
    }

    /// How often the event has happened.
    pub fn count(&self) -> usize {
        self.forgotten + self.last.len()
    }

    /// The segment of the `n`th event, counted from 1.
    pub fn nth(&self, n: usize) -> Option<u32> {
        let kept = n.checked_sub(1)?.saturating_sub(self.forgotten);
        self.last.get(kept).copied()
    }

    /// The segment of the last event up to a segment.
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
        // Never earlier than the event.
        assert_eq!(
            (segments.nth(36), segments.nth(1), segments.nth(0)),
            (Some(370), Some(370), None)
        );
        assert_eq!((segments.up_to(365), segments.up_to(20)), (Some(365), Some(20)));
    }
}
