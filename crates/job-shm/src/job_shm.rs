//! A rank's handle on the memory that the ranks of a node share.

use crate::memory::{Kept, Memory, Region};
use crate::other_nodes::{NodeFinder, RootRendezvous};
use crate::rendezvous::Rendezvous;

/// One rank's view of the memory, and of that of other nodes.
pub struct JobShm {
    pub(crate) memory: Memory,
    regions: Box<[Region]>,
    rendezvous: Rendezvous,
    pub(crate) me: usize,
    /// Clocks that each rank keeps, of segments and of locks and atomics.
    pub(crate) kept: Kept,
    /// Other nodes, if there may be some.
    pub(crate) finder: Option<&'static NodeFinder>,
}

impl JobShm {
    /// The view of rank `me`.
    pub fn new(memory: Memory, me: usize) -> JobShm {
        assert!(me < memory.ranks(), "a rank of the job");
        let regions = (0..memory.ranks()).map(|rank| memory.region(rank)).collect();
        let kept = Kept::of(memory.ranks());
        JobShm { memory, regions, rendezvous: memory.rendezvous(), me, kept, finder: None }
    }

    /// Opens the memory of this node where some ranks of the job are on other nodes.
    pub(crate) fn with_others(memory: Memory, me: usize, finder: &'static NodeFinder) -> JobShm {
        let rendezvous = memory.rendezvous().with_root(RootRendezvous { finder, memory });
        JobShm { finder: Some(finder), rendezvous, ..JobShm::new(memory, me) }
    }

    /// This rank.
    pub fn me(&self) -> usize {
        self.me
    }

    /// Ranks of the job.
    pub fn ranks(&self) -> usize {
        self.regions.len()
    }

    /// The region of this rank.
    #[inline]
    pub(crate) fn mine(&self) -> &Region {
        &self.regions[self.me]
    }

    /// The region of a rank, on this node.
    #[inline]
    pub(crate) fn of(&self, rank: usize) -> &Region {
        &self.regions[rank]
    }

    /// The board of all ranks.
    pub fn rendezvous(&self) -> Rendezvous {
        self.rendezvous
    }
}
