//! Which threads' work the clock of a segment covers, of ranks with several threads.
//!
//! A rank publishes it, in words that only those who read them interpret, before it publishes the
//! clock itself. It is kept in a ring that the owner overwrites. What is not found there, because
//! the segment had no threads, because it was overwritten, or because the rank is on another node,
//! means that the clock covers all threads: that claims more order than there may be.

use crate::JobShm;
use crate::memory::{HAS_THREADS, THREADS, THREADS_END};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::fence;

impl JobShm {
    /// Whether any rank of this node has published something of its threads.
    #[inline]
    pub fn has_threads(&self) -> bool {
        self.of(0).header[HAS_THREADS].load(Relaxed) != 0
    }

    /// This rank is about to begin a segment whose clock does not hold for all threads. Nothing is
    /// kept of more words than there is room for.
    pub fn publish_threads(&self, segment: u32, words: &[u64]) {
        if words.len() >= THREADS / 4 {
            return;
        }
        self.of(0).header[HAS_THREADS].store(1, Relaxed);
        let mine = self.mine();
        let begin = mine.header[THREADS_END].load(Relaxed);
        let word = |index: u64| &mine.threads[(begin + index) as usize % THREADS];
        // Readers of what is overwritten look at the end afterwards.
        mine.header[THREADS_END].store(begin + 1 + words.len() as u64, Relaxed);
        fence(Release);
        word(0).store(words.len() as u64, Relaxed);
        for (index, value) in (1..).zip(words) {
            word(index).store(*value, Relaxed);
        }
        let at = &mine.threads_at[segment as usize % self.kept.rows];
        at.store(u64::from(segment) << 32 | begin & 0xffff_ffff, Release);
    }

    /// What a rank has published of its threads for a segment: appends it to `words`, and returns
    /// whether there is anything.
    pub fn threads(&self, rank: usize, segment: u32, words: &mut Vec<u64>) -> bool {
        if !self.has_threads() || !self.is_here(rank) {
            return false;
        }
        let region = self.of(rank);
        let at = region.threads_at[segment as usize % self.kept.rows].load(Acquire);
        if segment == 0 || (at >> 32) as u32 != segment {
            return false;
        }
        let begin = at as u32;
        let word = |index: u64| {
            region.threads[(u64::from(begin) + index) as usize % THREADS].load(Relaxed)
        };
        let (before, count) = (words.len(), word(0).min(THREADS as u64 / 4));
        words.extend((1..=count).map(word));
        fence(Acquire);
        // The positions are the lower halves of larger numbers.
        let end = region.header[THREADS_END].load(Relaxed) as u32;
        let is_whole = end.wrapping_sub(begin) as usize <= THREADS;
        if !is_whole {
            words.truncate(before);
        }
        is_whole
    }
}

#[cfg(test)]
mod tests {
    use crate::memory::THREADS;
    use crate::{JobShm, Memory};

    #[test]
    fn what_is_kept_of_threads_is_found_until_overwritten() {
        let (memory, _file, _) = Memory::create(2).unwrap();
        let (a, b) = (JobShm::new(memory, 0), JobShm::new(memory, 1));
        let read = |segment| {
            let mut words = vec![7];
            b.threads(0, segment, &mut words).then(|| words.split_off(1))
        };
        assert!(!b.has_threads());
        assert_eq!(read(3), None);
        a.publish_threads(3, &[1, 2, 3]);
        a.publish_threads(4, &[]);
        assert!(b.has_threads());
        assert_eq!((read(3), read(4), read(5)), (Some(vec![1, 2, 3]), Some(vec![]), None));
        a.publish_threads(5, &vec![9; THREADS]);
        assert_eq!(read(5), None, "there is no room for so much");
        (5..100).for_each(|segment| a.publish_threads(segment, &vec![segment.into(); 1000]));
        assert_eq!((read(3), read(4)), (None, None), "overwritten");
        assert_eq!(read(99), Some(vec![99; 1000]));
        assert_eq!(read(60), Some(vec![60; 1000]));
    }

    #[test]
    fn segments_that_share_a_place_are_told_apart() {
        let (memory, _file, _) = Memory::create(2).unwrap();
        let a = JobShm::new(memory, 0);
        a.publish_threads(1, &[5]);
        let other = 1 + a.kept.rows as u32;
        let mut words = Vec::new();
        assert!(!a.threads(0, other, &mut words) && words.is_empty());
        a.publish_threads(other, &[6]);
        assert!(!a.threads(0, 1, &mut words) && a.threads(0, other, &mut words));
        assert_eq!(words, [6]);
    }
}
