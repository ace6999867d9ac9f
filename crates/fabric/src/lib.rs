//! Memory that the ranks of a node share, so that order and notices travel without messages.
//!
//! Each rank owns a region of one mapping and others read it, or add to it, without locks:
//! - [`clocks`](Fabric::publish): the rank's vector clock in each of its latest segments;
//! - [`entries`](Fabric::enter): in which segment it entered its latest collectives;
//! - [`cells`](Fabric::release): clocks joined at locks and atomics;
//! - [`notices`](Fabric::post): a ring that others append to and only the owner empties.
//!
//! All of them own a [`Board`] together, on which the first to come to a collective leaves what it enters.
//!
//! Where a job runs on several nodes, each has such a memory, and a [`Relay`] that answers what the ranks of others
//! ask of it.
//!
//! Nobody ever waits for another rank: what is full refuses, what is overwritten is answered by
//! something newer. A newer clock claims more order than there is, so the worst is a missed race.

mod board;
mod clocks;
mod far;
mod identity;
mod job;
mod meeting;
mod memory;
mod nodes;
mod process;
mod relay;
mod ring;
pub mod sheets;
mod wire;

pub use board::{Answer, Board, ENTRY, Posted};
pub use identity::identity;
pub use job::{Job, jobs};
pub use meeting::{NotMet, meet, meet_afar};
pub use memory::Memory;
pub use process::Seen;
pub use relay::Relay;
pub use ring::LONGEST;

use far::{Far, Home};
use memory::{Kept, Region};

/// One rank's view of the memory, and of that of other nodes.
pub struct Fabric {
    memory: Memory,
    regions: Box<[Region]>,
    board: Board,
    me: usize,
    /// Clocks that each rank keeps, of segments and of locks and atomics.
    kept: Kept,
    /// Other nodes, if there may be some.
    far: Option<&'static Far>,
}

impl Fabric {
    /// The view of rank `me`.
    pub fn new(memory: Memory, me: usize) -> Fabric {
        assert!(me < memory.ranks(), "a rank of the job");
        let regions = (0..memory.ranks()).map(|rank| memory.region(rank)).collect();
        let kept = Kept::of(memory.ranks());
        Fabric { memory, regions, board: memory.board(), me, kept, far: None }
    }

    /// The same where some ranks are on other nodes.
    pub(crate) fn with_others(memory: Memory, me: usize, far: &'static Far) -> Fabric {
        let board = memory.board().with_home(Home { far, memory });
        Fabric { far: Some(far), board, ..Fabric::new(memory, me) }
    }

    /// This rank.
    pub fn me(&self) -> usize {
        self.me
    }

    /// Ranks of the job.
    pub fn ranks(&self) -> usize {
        self.regions.len()
    }

    #[inline]
    fn mine(&self) -> &Region {
        &self.regions[self.me]
    }

    #[inline]
    fn of(&self, rank: usize) -> &Region {
        &self.regions[rank]
    }
}
