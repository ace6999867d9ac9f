//! The device memory that a rank has for a communicator, and how kernels find their way in it.
//!
//! It begins with a word that ends kernels. Then follows a [`Link`] for each rank, and a queue for
//! each other rank, to which that one sends: [`SLOTS`] slots, used in turn. Who sends waits until a
//! slot is free, stores into it, in the receiver's memory, and then counts on there; who receives
//! counts on at the sender's when it has taken what was in a slot. So whoever waits reads memory of
//! its own.

use std::mem::offset_of;

/// Slots of a queue; kernels rely on this being a power of two.
pub const SLOTS: u64 = 8;

/// What a rank knows of its connection with one other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C, align(64))]
pub struct Link {
    /// Slots that the peer has filled in the queue here; the peer counts.
    pub filled: u64,
    /// Slots that the peer has emptied of what this rank sent; the peer counts.
    pub emptied: u64,
    /// Slots that this rank has filled at the peer.
    pub sent: u64,
    /// Slots that this rank has emptied.
    pub received: u64,
    /// Where the peer has its link with this rank.
    pub peer: u64,
    /// The peer's queue for this rank.
    pub out: u64,
    /// This rank's queue for the peer.
    pub queue: u64,
    unused: u64,
}

/// Where in a link its fields are, for kernels.
pub mod field {
    use super::*;
    /// [`Link::filled`]
    pub const FILLED: usize = offset_of!(Link, filled);
    /// [`Link::emptied`]
    pub const EMPTIED: usize = offset_of!(Link, emptied);
    /// [`Link::sent`]
    pub const SENT: usize = offset_of!(Link, sent);
    /// [`Link::received`]
    pub const RECEIVED: usize = offset_of!(Link, received);
    /// [`Link::peer`]
    pub const PEER: usize = offset_of!(Link, peer);
    /// [`Link::out`]
    pub const OUT: usize = offset_of!(Link, out);
    /// [`Link::queue`]
    pub const QUEUE: usize = offset_of!(Link, queue);
}

/// Where things are in the regions of a communicator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Ranks.
    pub ranks: usize,
    /// Bytes of a slot.
    pub slot: u64,
}

/// Offset in bytes of the links; before them is the word that ends kernels.
const LINKS_OFFSET: u64 = 64;
/// Queues begin at multiples of this.
const ALIGNMENT: u64 = 256;

impl Layout {
    /// Bytes of a rank's region.
    pub fn size(self) -> u64 {
        self.header() + (self.ranks as u64 - 1) * SLOTS * self.slot
    }

    fn header(self) -> u64 {
        (LINKS_OFFSET + self.ranks as u64 * size_of::<Link>() as u64).next_multiple_of(ALIGNMENT)
    }

    /// Where the link with a rank is.
    pub fn link(self, rank: usize) -> u64 {
        LINKS_OFFSET + (rank * size_of::<Link>()) as u64
    }

    /// Where a rank has its queue for another.
    fn queue(self, owner: usize, sender: usize) -> u64 {
        let number = (sender + self.ranks - owner - 1) % self.ranks;
        self.header() + number as u64 * SLOTS * self.slot
    }

    /// What a rank's region begins with when nothing was sent yet. `bases` are where it finds the
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
