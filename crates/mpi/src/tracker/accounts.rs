//! What this process passes to other ranks and gets from them, accounted for the comparison with their own accounts
//! when the job is over.

use super::matched::Matched;
use crate::ledger::Ledger;
use crate::pairwise_volumes::PairwiseVolumes;
use crate::races::Races;
use commsan_shadow::Pages;

/// The accounts of this process.
pub struct Accounts {
    /// Messages by communicator, other side, type and place.
    pub(super) ledger: Ledger,
    /// Messages that a matching probe has found.
    pub(super) matched: Matched,
    /// Receives from any rank.
    pub(super) races: Races,
    /// Collectives in which each pair of ranks has amounts of its own.
    pub(super) volumes: PairwiseVolumes,
}

impl Accounts {
    /// Nothing accounted; buffers that receives from any rank have filled are marked in `pages`.
    pub(super) fn new(pages: Pages) -> Accounts {
        Accounts {
            ledger: Ledger::default(),
            matched: Matched::default(),
            races: Races::new(pages),
            volumes: PairwiseVolumes::default(),
        }
    }

    /// From now on it is not known what happens to messages on this communicator, given by its name.
    pub(super) fn unbalance(&mut self, name: u64) {
        self.ledger.unbalance(name);
        self.races.give_up(name);
    }

    /// From now on it is not known what happens to any message.
    pub fn lose_count(&mut self) {
        self.ledger.give_up();
        self.races.give_up_all();
    }

    /// A datatype or communicator is gone, and its handle may come to stand for another one.
    pub fn handle_gone(&mut self, handle: usize) {
        self.ledger.forget(handle);
    }
}
