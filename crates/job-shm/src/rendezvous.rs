//! The rendezvous of a job: that of this node, and that of the first ranks of all nodes.

use crate::memory::Memory;
use crate::node_rendezvous::{ENTRY, NodeRendezvous, Posted};
use crate::other_nodes::RootRendezvous;
use std::ops::Deref;

/// One rank's view of the rendezvous.
#[derive(Clone, Copy)]
pub struct Rendezvous {
    here: NodeRendezvous,
    /// Where the first entries of nodes go.
    root: Option<RootRendezvous>,
}

impl Rendezvous {
    /// The rendezvous of ranks of which some are on other nodes.
    pub(crate) fn with_root(self, root: RootRendezvous) -> Rendezvous {
        Rendezvous { root: Some(root), ..self }
    }

    /// Leaves an entry, unless there is one of this key, which is not 0. On several nodes, the
    /// first rank of its node finds the first entry of all nodes.
    pub fn post(&self, key: u64, entry: &[u64; ENTRY]) -> Posted {
        match (self.post_here(key, entry), &self.root) {
            (Posted::First, Some(root)) => root.post(key, entry),
            (posted, _) => posted,
        }
    }

    /// Counts a mismatch between ranks, which is in their logs, on all nodes.
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
    /// The rendezvous, behind all regions.
    pub fn rendezvous(self) -> Rendezvous {
        Rendezvous { here: self.node_rendezvous(), root: None }
    }
}
