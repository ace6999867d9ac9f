//! The rendezvous board of a job: that of the own node, and where the first of all nodes meet.

use crate::far::Home;
use crate::local_board::{ENTRY, LocalBoard, Posted};
use crate::memory::Memory;
use std::ops::Deref;

/// One rank's view of the board.
#[derive(Clone, Copy)]
pub struct Board {
    here: LocalBoard,
    /// Where entries go that are the first of their node.
    home: Option<Home>,
}

impl Board {
    /// The board of ranks of which some are on other nodes.
    pub(crate) fn with_home(self, home: Home) -> Board {
        Board { home: Some(home), ..self }
    }

    /// Leaves an entry, unless one of this key, which is not 0, is there. On several nodes, whoever is the first of his
    /// own finds the one that is the first of all.
    pub fn post(&self, key: u64, entry: &[u64; ENTRY]) -> Posted {
        match (self.post_here(key, entry), &self.home) {
            (Posted::First, Some(home)) => home.post(key, entry),
            (posted, _) => posted,
        }
    }

    /// Some ranks do not match, which is in their logs.
    pub fn count_mismatch(&self) {
        self.count_mismatch_here();
        self.home.inspect(Home::count_mismatch);
    }
}

impl Deref for Board {
    type Target = LocalBoard;

    #[inline]
    fn deref(&self) -> &LocalBoard {
        &self.here
    }
}

impl Memory {
    /// The board, behind all regions.
    pub fn board(self) -> Board {
        Board { here: self.local_board(), home: None }
    }
}
