//! The longest messages that each rank of a node has sent from a place to another rank: what a
//! receiver needs to know when one of them is longer than its room.
//!
//! Only the sender writes, when a message is longer than all before from that place. It has a few
//! slots, of which the oldest is overwritten; a receiver that reads one meanwhile reads nothing.
//! What is overwritten, or on another node, is not found.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::fence;

/// Slots of a rank.
const SLOTS: usize = 31;
/// Words of a slot: a version, odd while it is written, the communicator's name, receiver and tag,
/// bytes, and the place's number.
const SLOT: usize = 5;
/// Words of a rank: how many messages were written, and the slots.
pub(crate) const WORDS: usize = 8 + SLOTS * SLOT;

/// A message that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentMessage {
    /// The communicator's name.
    pub comm: u64,
    /// The receiver, as rank of the job.
    pub to: u32,
    /// The tag.
    pub tag: i32,
    /// Bytes of its data.
    pub bytes: u64,
    /// Number of the place in the sender's log.
    pub place: u32,
}

/// The messages of one rank.
#[derive(Clone, Copy)]
pub(crate) struct SentMessages(pub &'static [AtomicU64]);

impl SentMessages {
    fn slot(self, index: usize) -> &'static [AtomicU64] {
        &self.0[8 + index * SLOT..][..SLOT]
    }

    /// Enters a message of this rank, instead of one from the same place to the same rank.
    pub fn enter(self, message: &SentMessage) {
        let same = |known: &SentMessage| {
            (known.comm, known.to, known.place) == (message.comm, message.to, message.place)
        };
        let known = (0..SLOTS).find(|index| self.read(*index).as_ref().is_some_and(same));
        let index = known.unwrap_or_else(|| {
            let count = self.0[0].load(Relaxed);
            self.0[0].store(count + 1, Relaxed);
            count as usize % SLOTS
        });
        let slot = self.slot(index);
        let version = slot[0].load(Relaxed);
        slot[0].store(version + 1, Relaxed);
        fence(Release);
        slot[1].store(message.comm, Relaxed);
        slot[2].store(u64::from(message.to) << 32 | u64::from(message.tag as u32), Relaxed);
        slot[3].store(message.bytes, Relaxed);
        slot[4].store(message.place.into(), Relaxed);
        slot[0].store(version + 2, Release);
    }

    fn read(self, index: usize) -> Option<SentMessage> {
        let slot = self.slot(index);
        let version = slot[0].load(Acquire);
        let [comm, envelope, bytes, place] = [1, 2, 3, 4].map(|word| slot[word].load(Relaxed));
        fence(Acquire);
        let is_whole =
            version != 0 && version.is_multiple_of(2) && slot[0].load(Relaxed) == version;
        is_whole.then_some(SentMessage {
            comm,
            to: (envelope >> 32) as u32,
            tag: envelope as u32 as i32,
            bytes,
            place: place as u32,
        })
    }

    /// The messages that are known.
    pub fn all(self) -> impl Iterator<Item = SentMessage> {
        (0..SLOTS).filter_map(move |index| self.read(index))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_ones_are_known_and_each_place_once() {
        let words: Vec<AtomicU64> = (0..WORDS).map(|_| AtomicU64::new(0)).collect();
        let messages = SentMessages(words.leak());
        let message =
            |place: u32, bytes| SentMessage { comm: 1 << 63, to: 7, tag: -1, bytes, place };
        assert_eq!(messages.all().count(), 0);
        messages.enter(&message(5, 10));
        messages.enter(&message(5, 20));
        assert_eq!(messages.all().collect::<Vec<_>>(), [message(5, 20)]);
        (0..SLOTS as u32).for_each(|place| messages.enter(&message(100 + place, 1)));
        assert_eq!(messages.all().count(), SLOTS);
        assert!(messages.all().all(|message| message.place != 5));
    }
}
