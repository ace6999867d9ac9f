//! The rendezvous board of a job: that of the own node, and where the first of all nodes meet.

use crate::memory::Memory;
use crate::node_rendezvous::{ENTRY, NodeRendezvous, Posted};
use crate::other_nodes::RootRendezvous;
use std::ops::Deref;

/// One rank's view of the board.
#[derive(Clone, Copy)]
pub struct Rendezvous {
    here: NodeRendezvous,
    /// Where entries go that are the first of their node.
    root: Option<RootRendezvous>,
}

impl Rendezvous {
    /// The board of ranks of which some are on other nodes.
    pub(crate) fn with_root(self, root: RootRendezvous) -> Rendezvous {
        Rendezvous { root: Some(root), ..self }
    }

    /// Leaves an entry, unless one of this key, which is not 0, is there. On several nodes, whoever is the first of his
    /// own finds the one that is the first of all.
    pub fn post(&self, key: u64, entry: &[u64; ENTRY]) -> Posted {
        match (self.post_here(key, entry), &self.root) {
            (Posted::First, Some(root)) => root.post(key, entry),
            (posted, _) => posted,
        }
    }

    /// Some ranks do not match, which is in their logs.
    pub fn count_mismatch(&self) {
        self.count_mismatch_here();
        self.root.inspect(RootRendezvous::count_mismatch);
    }
}

impl Deref for Rendezvous {
    type Target = NodeRendezvous;

    #[inline]
    fn deref(&self) -> &NodeRendezvous {
        &self.here
    }
}

impl Memory {
    /// The board, behind all regions.
    pub fn rendezvous(self) -> Rendezvous {
        Rendezvous { here: self.node_rendezvous(), root: None }
    }
}
