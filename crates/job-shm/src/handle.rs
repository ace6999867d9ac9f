//! A rank's handle on the memory that the ranks of a node share.

use crate::board::Board;
use crate::far::{Far, Home};
use crate::memory::{Kept, Memory, Region};

/// One rank's view of the memory, and of that of other nodes.
pub struct Fabric {
    pub(crate) memory: Memory,
    regions: Box<[Region]>,
    board: Board,
    pub(crate) me: usize,
    /// Clocks that each rank keeps, of segments and of locks and atomics.
    pub(crate) kept: Kept,
    /// Other nodes, if there may be some.
    pub(crate) far: Option<&'static Far>,
}

impl Fabric {
    /// The view of rank `me`.
    pub fn new(memory: Memory, me: usize) -> Fabric {
        assert!(me < memory.ranks(), "a rank of the job");
        let regions = (0..memory.ranks()).map(|rank| memory.region(rank)).collect();
        let kept = Kept::of(memory.ranks());
        Fabric { memory, regions, board: memory.board(), me, kept, far: None }
    }

    /// Opens the memory of this node where some ranks of the job are on other nodes.
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
    pub fn board(&self) -> Board {
        self.board
    }
}
