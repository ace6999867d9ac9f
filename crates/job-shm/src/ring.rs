//! Notices: many ranks append, the owner takes.
//!
//! A notice is a header word, its length and [`COMMITTED`], and its payload. A writer reserves room
//! by moving the tail, fills in the payload, and writes the header last; the owner stops at a
//! header that is not there yet, and clears what it has read. Reservation is the order of
//! notices: who learns of a notice through any synchronisation appends behind it.
//!
//! Where there is no room, a notice is lost, and the owner is told: what the writer said before it
//! is worth nothing without it.

use crate::JobShm;
use crate::memory::{HEAD, LOSSES, RING, TAIL};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

const COMMITTED: u64 = 1 << 63;

impl JobShm {
    /// Appends a notice to the ring of `rank`; false if there is no room, and it is lost. Whether there is on another
    /// node, [`await_delivery`](Self::await_delivery) says.
    pub fn post(&self, rank: usize, payload: &[u64]) -> bool {
        let is_here = self.is_here(rank);
        if !is_here {
            self.post_there(rank, payload);
        }
        !is_here || self.post_here(self.me(), rank, payload)
    }

    pub(crate) fn post_here(&self, from: usize, rank: usize, payload: &[u64]) -> bool {
        let region = self.of(rank);
        let size = payload.len() as u64 + 1;
        let room = |tail| tail + size <= region.header[HEAD].load(Acquire) + RING as u64;
        let reserved = region.header[TAIL]
            .fetch_update(Relaxed, Relaxed, |tail| room(tail).then_some(tail + size));
        let Ok(at) = reserved else {
            let end = region.header[TAIL].load(Relaxed);
            region.lost[from].fetch_max(end.max(1), Release);
            region.header[LOSSES].fetch_add(1, Release);
            return false;
        };
        let word = |index: u64| &region.ring[(at + index) as usize % RING];
        for (index, payload) in (1..).zip(payload) {
            word(index).store(*payload, Relaxed);
        }
        word(0).store(COMMITTED | payload.len() as u64, Release);
        true
    }

    /// Whether there is a notice to take; quickly.
    pub fn has_message(&self) -> bool {
        let mine = self.mine();
        mine.header[HEAD].load(Relaxed) != mine.header[TAIL].load(Relaxed)
    }

    /// How many notices to this rank were lost.
    pub fn losses(&self) -> u64 {
        self.mine().header[LOSSES].load(Acquire)
    }

    /// Up to which position notices of `rank` are worth nothing, as one of them was lost there; 0
    /// if none was.
    pub fn lost(&self, rank: usize) -> u64 {
        self.mine().lost[rank].load(Acquire)
    }

    /// Takes this rank's next notice into `payload`, replacing what is there, and returns its
    /// position.
    pub fn take(&self, payload: &mut Vec<u64>) -> Option<u64> {
        let mine = self.mine();
        let at = mine.header[HEAD].load(Relaxed);
        let word = |index: u64| &mine.ring[(at + index) as usize % RING];
        let header = word(0).load(Acquire);
        if header & COMMITTED == 0 {
            return None;
        }
        let size = header & !COMMITTED;
        payload.clear();
        payload.extend((1..=size).map(|index| word(index).load(Relaxed)));
        (0..=size).for_each(|index| word(index).store(0, Relaxed));
        mine.header[HEAD].store(at + size + 1, Release);
        Some(at)
    }
}

#[cfg(test)]
mod tests {
    use crate::memory::RING;
    use crate::{JobShm, Memory};

    #[test]
    fn notices_arrive_whole_and_in_order_from_many_writers() {
        const WRITERS: usize = 4;
        let (memory, _file, _) = Memory::create(WRITERS + 1).unwrap();
        let reader = JobShm::new(memory, WRITERS);
        std::thread::scope(|scope| {
            for rank in 0..WRITERS {
                let writer = JobShm::new(memory, rank);
                scope.spawn(move || {
                    for n in 0..20_000u64 {
                        let payload = vec![(rank as u64) << 32 | n; 1 + n as usize % 7];
                        while !writer.post(WRITERS, &payload) {
                            std::thread::yield_now();
                        }
                    }
                });
            }
            let (mut next, mut payload) = ([0; WRITERS], Vec::new());
            while next.iter().sum::<u64>() < WRITERS as u64 * 20_000 {
                if reader.take(&mut payload).is_none() {
                    std::thread::yield_now();
                    continue;
                }
                let (rank, n) = ((payload[0] >> 32) as usize, payload[0] & 0xffff_ffff);
                assert_eq!(n, next[rank]);
                assert_eq!(payload, vec![payload[0]; 1 + n as usize % 7]);
                next[rank] += 1;
            }
        });
        assert!(!reader.has_message());
    }

    #[test]
    fn a_full_ring_refuses() {
        let (memory, _file, _) = Memory::create(2).unwrap();
        let (writer, reader) = (JobShm::new(memory, 0), JobShm::new(memory, 1));
        let mut sent = 0;
        while writer.post(1, &[sent, 0, 0]) {
            sent += 1;
        }
        assert_eq!(sent as usize, RING / 4);
        let mut payload = Vec::new();
        let lost = reader.lost(0);
        assert_eq!(lost, RING as u64);
        assert!(reader.take(&mut payload).is_some_and(|position| position < lost));
        assert!(writer.post(1, &[sent]) && !writer.post(1, &[0; 9]));
        while let Some(position) = reader.take(&mut payload) {
            assert_eq!(position >= lost, payload == [sent]);
        }
    }
}
