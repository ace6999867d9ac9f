//! The device memory of a rank for a communicator: links and queues that kernels use.
//!
//! It begins with a word that ends kernels. Then follows a [`Link`] for each rank, and a queue for
//! each other rank, into which that rank sends: a ring buffer of [`SLOTS`] slots. A sender waits
//! for a free slot, stores into it, in the receiver's memory, and increments a counter there; a
//! receiver increments a counter at the sender when it has emptied a slot. So each rank polls its
//! own memory.

use std::mem::offset_of;

/// Slots of a queue; kernels rely on this being a power of two.
pub const SLOTS: u64 = 8;

/// A rank's state of its connection with one other rank.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Link {
    /// Slots that the peer has filled in the queue here; written by the peer.
    pub filled: u64,
    /// Slots that the peer has emptied of this rank's data; written by the peer.
    pub emptied: u64,
    /// Slots that this rank has filled at the peer.
    pub sent: u64,
    /// Slots that this rank has emptied.
    pub received: u64,
    /// Address of the peer's link with this rank.
    pub peer: u64,
    /// Address of the peer's queue for this rank.
    pub out: u64,
    /// Address of this rank's queue for the peer.
    pub queue: u64,
    unused: u64,
}

/// Offsets of a link's fields in bytes, for kernels.
pub mod field {
    use super::*;
    /// Offset of [`Link::filled`].
    pub const FILLED: usize = offset_of!(Link, filled);
    /// Offset of [`Link::emptied`].
    pub const EMPTIED: usize = offset_of!(Link, emptied);
    /// Offset of [`Link::sent`].
    pub const SENT: usize = offset_of!(Link, sent);
    /// Offset of [`Link::received`].
    pub const RECEIVED: usize = offset_of!(Link, received);
    /// Offset of [`Link::peer`].
    pub const PEER: usize = offset_of!(Link, peer);
    /// Offset of [`Link::out`].
    pub const OUT: usize = offset_of!(Link, out);
    /// Offset of [`Link::queue`].
    pub const QUEUE: usize = offset_of!(Link, queue);
}

/// The layout of a communicator's regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Number of ranks.
    pub ranks: usize,
    /// Size of a slot, in bytes.
    pub slot: u64,
}

/// Offset in bytes of the links; the word that ends kernels precedes them.
const LINKS_OFFSET: u64 = 64;
/// Alignment of queues, in bytes.
const ALIGNMENT: u64 = 256;

impl Layout {
    /// Size of a rank's region, in bytes.
    pub fn size(self) -> u64 {
        self.header() + (self.ranks as u64 - 1) * SLOTS * self.slot
    }

    fn header(self) -> u64 {
        (LINKS_OFFSET + self.ranks as u64 * size_of::<Link>() as u64).next_multiple_of(ALIGNMENT)
    }

    /// Offset of the link with a rank.
    pub fn link(self, rank: usize) -> u64 {
        LINKS_OFFSET + (rank * size_of::<Link>()) as u64
    }

    /// Offset of an owner's queue for a sender.
    fn queue(self, owner: usize, sender: usize) -> u64 {
        let number = (sender + self.ranks - owner - 1) % self.ranks;
        self.header() + number as u64 * SLOTS * self.slot
    }

    /// The initial header of a rank's region. `bases` are the addresses at which it accesses the
    /// regions of all ranks.
    pub fn header_of(self, rank: usize, bases: &[u64]) -> Vec<u8> {
        let mut bytes = vec![0; LINKS_OFFSET as usize];
        for (peer, &base) in bases.iter().enumerate() {
            let mut link = Link::default();
            if peer != rank {
                link.peer = base + self.link(rank);
                link.out = base + self.queue(peer, rank);
                link.queue = bases[rank] + self.queue(rank, peer);
            }
            let Link { filled, emptied, sent, received, peer, out, queue, unused } = link;
            for word in [filled, emptied, sent, received, peer, out, queue, unused] {
                bytes.extend(word.to_le_bytes());
            }
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_are_told_of_each_other() {
        let layout = Layout { ranks: 3, slot: 1024 };
        let bases = [0x10_0000, 0x20_0000, 0x30_0000];
        let read = |rank: usize, peer: usize, field: usize| {
            let bytes = layout.header_of(rank, &bases);
            let at = layout.link(peer) as usize + field;
            u64::from_le_bytes(bytes[at..at + 8].try_into().expect("a word"))
        };
        let mut queues = Vec::new();
        for (rank, peer) in [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)] {
            assert_eq!(read(rank, peer, field::PEER), bases[peer] + layout.link(rank));
            let out = read(rank, peer, field::OUT);
            assert_eq!(out, read(peer, rank, field::QUEUE));
            assert!(out >= bases[peer] + layout.header() && out % ALIGNMENT == 0);
            assert!(out + SLOTS * layout.slot <= bases[peer] + layout.size());
            queues.push(out);
        }
        queues.sort_unstable();
        assert!(queues.windows(2).all(|pair| pair[0] + SLOTS * layout.slot <= pair[1]));
        assert_eq!(read(1, 1, field::QUEUE), 0);
    }
}
