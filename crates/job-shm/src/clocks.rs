//! The vector clocks that ranks share: of segments, of collectives, of locks and atomics.
//!
//! These are not `VectorClock`s of `commsan-shadow`: a row is an array of atomics in memory that
//! its owner overwrites while others read it, or words in transit between nodes.

use crate::JobShm;
use crate::memory::{ENTERED, ENTRIES, NEWEST, PARTS, WINDOWS};
use crate::wire::{self, Question};
use std::collections::HashMap;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU32, fence};

impl JobShm {
    /// This rank begins a segment, in which its clock is `row`.
    pub fn publish(&self, row: &[u32]) {
        let segment = row[self.me()];
        let mine = self.mine();
        let (stamp, kept) = self.row_of(mine.rows, segment);
        stamp.store(0, Relaxed);
        fence(Release);
        for (to, from) in kept.iter().zip(row) {
            to.store(*from, Relaxed);
        }
        stamp.store(segment, Release);
        mine.header[NEWEST].store(segment.into(), Release);
    }

    /// Joins the clock that `rank` had in a segment; its newest one if that is overwritten.
    pub fn join(&self, rank: usize, segment: u32, into: &mut [u32]) {
        match self.is_here(rank) {
            true => self.join_here(rank, segment, into),
            false => self.join_there(rank, segment, into),
        }
    }

    pub(crate) fn join_here(&self, rank: usize, segment: u32, into: &mut [u32]) {
        if !self.join_exactly(rank, segment, into) {
            self.join_newest_here(rank, into);
        }
    }

    /// Joins the present clock of `rank`.
    pub fn join_newest(&self, rank: usize, into: &mut [u32]) {
        if self.is_here(rank) {
            self.join_newest_here(rank, into);
        } else if let Some(row) = self.ask(rank, Question::Newest, &[rank as u64]) {
            wire::join(&row, into);
        }
    }

    pub(crate) fn join_newest_here(&self, rank: usize, into: &mut [u32]) {
        // The rank may overwrite a row while it is read, but not every time.
        for _ in 0..100 {
            let newest = self.of(rank).header[NEWEST].load(Acquire) as u32;
            if newest == 0 || self.join_exactly(rank, newest, into) {
                return;
            }
        }
    }

    fn join_exactly(&self, rank: usize, segment: u32, into: &mut [u32]) -> bool {
        let (stamp, kept) = self.row_of(self.of(rank).rows, segment);
        if segment == 0 || stamp.load(Acquire) != segment {
            return false;
        }
        // What is read of a row that changes meanwhile is of this rank's later segments: that
        // claims more order than there is, as the newest does.
        for (to, from) in into.iter_mut().zip(kept) {
            *to = (*to).max(from.load(Relaxed));
        }
        fence(Acquire);
        stamp.load(Relaxed) == segment
    }

    fn part_by_place<'a>(
        &'a self,
        ranks: &'a [u32],
    ) -> (impl Iterator<Item = u32> + 'a, impl Iterator<Item = u32> + 'a) {
        let is_here = |rank: &u32| self.is_here(*rank as usize);
        let ranks = ranks.iter().copied();
        (ranks.clone().filter(is_here), ranks.filter(move |rank| !is_here(rank)))
    }

    fn row_of(
        &self,
        rows: &'static [AtomicU32],
        segment: u32,
    ) -> (&'static AtomicU32, &'static [AtomicU32]) {
        let size = 1 + self.ranks();
        let row = &rows[segment as usize % self.kept.rows * size..][..size];
        (&row[0], &row[1..])
    }

    /// This rank enters the collective `key` in a segment.
    pub fn enter(&self, key: u64, segment: u32) {
        let mine = self.mine();
        let count = mine.header[ENTERED].load(Relaxed);
        let entry = &mine.entries[2 * (count as usize % ENTRIES)..][..2];
        entry[0].store(0, Relaxed);
        fence(Release);
        entry[1].store(segment.into(), Relaxed);
        entry[0].store(key, Release);
        mine.header[ENTERED].store(count + 1, Release);
    }

    /// Joins the clocks that ranks had when they last entered a collective of this key, and calls
    /// `entered` with each rank and its segment then; where that is forgotten, or has not happened,
    /// joins their newest clocks.
    pub fn gather(
        &self,
        key: u64,
        ranks: &[u32],
        into: &mut [u32],
        mut entered: impl FnMut(u32, u32),
    ) {
        let mut tell = |rank, segment| {
            if segment != 0 {
                entered(rank, segment);
            }
        };
        let (here, there) = self.part_by_place(ranks);
        for rank in here {
            tell(rank, self.gather_here(rank as usize, key, into));
        }
        self.ask_all((Question::Gather, key), there, |ranks, words| {
            let (segments, row) = words.split_at(ranks.len().min(words.len()));
            wire::join(row, into);
            ranks.iter().zip(segments).for_each(|(rank, segment)| tell(*rank, *segment as u32));
        });
    }

    /// The segment in which a rank entered a collective, 0 if that is not known; joins the rank's
    /// clock then.
    pub(crate) fn gather_here(&self, rank: usize, key: u64, into: &mut [u32]) -> u32 {
        match self.entered(rank, key) {
            Some(segment) if into[rank] >= segment => segment,
            Some(segment) => {
                self.join_here(rank, segment, into);
                segment
            }
            None => {
                self.join_newest_here(rank, into);
                0
            }
        }
    }

    /// The segment in which `rank`, which is on this node, last entered a collective of this key;
    /// `None` if that is forgotten or has not happened.
    pub fn entered(&self, rank: usize, key: u64) -> Option<u32> {
        let region = self.of(rank);
        let count = region.header[ENTERED].load(Acquire) as usize;
        let latest = (count.saturating_sub(ENTRIES)..count).rev();
        for index in latest {
            let entry = &region.entries[2 * (index % ENTRIES)..][..2];
            if entry[0].load(Acquire) == key {
                let segment = entry[1].load(Relaxed) as u32;
                fence(Acquire);
                return (entry[0].load(Relaxed) == key).then_some(segment);
            }
        }
        None
    }

    /// Whether `rank`, which is on this node, has entered one collective of this key, as far as is
    /// known: communicators of the same members share keys.
    pub fn entered_once(&self, rank: usize, key: u64) -> bool {
        let entries = self.of(rank).entries.chunks_exact(2);
        entries.filter(|entry| entry[0].load(Acquire) == key).count() == 1
    }

    /// Publishes this rank's part of a window that it is about to create with others.
    pub fn publish_part(&self, window: u64, size: u64, unit: u64) {
        let mine = self.mine();
        let count = mine.header[PARTS].fetch_add(1, Relaxed);
        let part = &mine.parts[3 * (count as usize % WINDOWS)..][..3];
        part[0].store(0, Relaxed);
        fence(Release);
        part[1].store(size, Relaxed);
        part[2].store(unit, Relaxed);
        part[0].store(window, Release);
    }

    /// The size and unit of each of these ranks' parts of a window that has just been created.
    pub fn parts(&self, ranks: &[u32], window: u64) -> Vec<Option<(u64, u64)>> {
        let mut known = HashMap::new();
        let (here, there) = self.part_by_place(ranks);
        known.extend(here.map(|rank| (rank, self.part_here(rank as usize, window))));
        self.ask_all((Question::Parts, window), there, |ranks, words| {
            for (rank, part) in ranks.iter().zip(words.as_chunks().0) {
                let [is_known, size, unit] = *part;
                known.insert(*rank, (is_known == 1).then_some((size, unit)));
            }
        });
        ranks.iter().map(|rank| known.get(rank).copied().flatten()).collect()
    }

    /// The size and unit of the part of a rank on this node.
    pub fn part_here(&self, rank: usize, window: u64) -> Option<(u64, u64)> {
        let parts = self.of(rank).parts.chunks_exact(3);
        let mut named = parts.filter(|part| part[0].load(Acquire) == window);
        named.next().map(|part| (part[1].load(Relaxed), part[2].load(Relaxed)))
    }

    /// Releases a clock to the cell `key` of `rank`: what it covers happens before what follows an
    /// [`acquire`](Self::acquire).
    pub fn release(&self, rank: usize, key: u64, row: &[u32]) {
        match self.is_here(rank) {
            true => self.release_here(rank, key, row),
            false => {
                let cell = [rank as u64, key].into_iter();
                let words: Vec<u64> = cell.chain(wire::pack(row)).collect();
                self.ask(rank, Question::Release, &words);
            }
        }
    }

    pub(crate) fn release_here(&self, rank: usize, key: u64, row: &[u32]) {
        for (cell, time) in self.cell(rank, key).iter().zip(row) {
            if cell.load(Relaxed) < *time {
                cell.fetch_max(*time, Release);
            }
        }
    }

    /// Acquires the clocks that were released to a cell; returns whether they added anything.
    pub fn acquire(&self, rank: usize, key: u64, into: &mut [u32]) -> bool {
        match self.is_here(rank) {
            true => self.acquire_here(rank, key, into),
            false => {
                let row = self.ask(rank, Question::Acquire, &[rank as u64, key]);
                row.is_some_and(|row| wire::join(&row, into))
            }
        }
    }

    pub(crate) fn acquire_here(&self, rank: usize, key: u64, into: &mut [u32]) -> bool {
        let mut news = false;
        for (to, cell) in into.iter_mut().zip(self.cell(rank, key)) {
            let time = cell.load(Acquire);
            if time > *to {
                (*to, news) = (time, true);
            }
        }
        news
    }

    fn cell(&self, rank: usize, key: u64) -> &'static [AtomicU32] {
        let home = (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize % self.kept.cells;
        &self.of(rank).cells[home * self.ranks()..][..self.ranks()]
    }
}

#[cfg(test)]
mod tests {
    use crate::memory::{ENTRIES, Kept};
    use crate::{JobShm, Memory};

    fn pair() -> (JobShm, JobShm) {
        let (memory, _file, _) = Memory::create(2).unwrap();
        (JobShm::new(memory, 0), JobShm::new(memory, 1))
    }

    #[test]
    fn clocks_of_past_segments_are_found_and_forgotten_ones_are_newer() {
        let (a, b) = pair();
        let read = |segment| {
            let mut row = [0, 7];
            b.join(0, segment, &mut row);
            row
        };
        assert_eq!(read(1), [0, 7], "nothing is known of a rank that has not begun");
        (1..=3).for_each(|segment| a.publish(&[segment, 10 * segment]));
        assert_eq!(read(2), [2, 20]);
        let newest = Kept::of(2).rows as u32 + 3;
        (4..=newest).for_each(|segment| a.publish(&[segment, 10 * segment]));
        assert_eq!(read(2), [newest, 10 * newest]);
    }

    #[test]
    fn large_jobs_keep_fewer_clocks() {
        let ranks = 5000;
        let (memory, _file, _) = Memory::create(ranks).unwrap();
        let (first, last) = (JobShm::new(memory, 0), JobShm::new(memory, ranks - 1));
        let kept = Kept::of(ranks);
        assert!(4 * ranks * kept.rows <= 4 << 20 && 4 * ranks * kept.cells <= 1 << 20);
        let mut row = vec![0; ranks];
        for segment in 1..=kept.rows as u32 + 1 {
            row[ranks - 1] = segment;
            last.publish(&row);
        }
        let read = |segment| {
            let mut row = vec![0; ranks];
            first.join(ranks - 1, segment, &mut row);
            row[ranks - 1]
        };
        assert_eq!((read(2), read(1)), (2, kept.rows as u32 + 1));
        last.release(ranks - 1, 77, &row);
        let mut learned = vec![0; ranks];
        assert!(first.acquire(ranks - 1, 77, &mut learned) && learned == row);
    }

    #[test]
    fn collectives_are_found_by_name_until_overwritten() {
        let (a, b) = pair();
        assert_eq!(b.entered(0, 5), None);
        a.enter(5, 11);
        a.enter(6, 12);
        assert_eq!((b.entered(0, 5), b.entered(0, 6)), (Some(11), Some(12)));
        a.enter(5, 13);
        assert_eq!(b.entered(0, 5), Some(13));
        assert!(!b.entered_once(0, 5) && b.entered_once(0, 6) && !b.entered_once(0, 7));
        (0..ENTRIES as u64).for_each(|key| a.enter(100 + key, 14));
        assert_eq!(b.entered(0, 5), None);
    }

    #[test]
    fn cells_join_clocks() {
        let (a, b) = pair();
        let mut row = [3, 3];
        assert!(!b.acquire(0, 9, &mut row));
        a.release(0, 9, &[5, 1]);
        b.release(0, 9, &[2, 4]);
        assert!(b.acquire(0, 9, &mut row));
        assert_eq!(row, [5, 4]);
        assert!(!a.acquire(0, 9, &mut row));
    }

    #[test]
    fn other_processes_find_the_memory_by_its_path() {
        let (memory, _file, path) = Memory::create(3).unwrap();
        let (a, b) = (JobShm::new(memory, 0), JobShm::new(Memory::open(&path, 3).unwrap(), 2));
        a.publish(&[1, 0, 8]);
        let mut row = [0; 3];
        b.join_newest(0, &mut row);
        assert_eq!(row, [1, 0, 8]);
        assert!(Memory::open(&path, 4).is_err());
    }
}
