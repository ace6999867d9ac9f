//! What this rank has called of NCCL, which the work of others may need.
//!
//! **Soundness.** Nothing is sure where some calls are not counted, as those of a communicator that
//! is not compared any more, where ranks are not known by their numbers in the job, or functions of
//! the host are in streams, which may call anything.

use super::operation::Kind;
use super::{Nccl, hashed};
use crate::waiting::MAX_ENTERED;
use rustc_hash::FxHashMap;

/// Which messages a rank has sent or received, as the other side knows them.
pub(super) fn messages(communicator: u64, kind: Kind, from: i32, to: i32) -> u64 {
    hashed((communicator, kind, from, to))
}

impl Nccl {
    /// A communicator is no more.
    pub(super) fn keep_past(&mut self, handle: usize) {
        let calls: Vec<_> = self.calls_on(handle).collect();
        self.past.extend(calls);
    }

    fn calls_on(&self, handle: usize) -> impl Iterator<Item = (u64, u32)> {
        self.all.get(&handle).filter(|known| known.name != 0).into_iter().flat_map(|known| {
            let own = known.rank.map_or(-1, |rank| rank as i32);
            let messages = known.messages.iter().map(move |((kind, peer), number)| {
                let (from, to) = if *kind == Kind::Send { (own, *peer) } else { (*peer, own) };
                (messages(known.name, *kind, from, to), *number)
            });
            messages.chain([(known.name, known.entered)])
        })
    }

    /// What this rank has called that others may need; `None` if that is too much, or not known.
    pub(crate) fn entered(&self) -> Option<Vec<(u64, u32)>> {
        let now = self.all.keys().flat_map(|handle| self.calls_on(*handle));
        let mut all: FxHashMap<u64, u32> = FxHashMap::default();
        for (name, number) in now.chain(self.past.iter().copied()) {
            // A process that drives several devices has called what all of them have.
            all.entry(name).and_modify(|least| *least = number.min(*least)).or_insert(number);
        }
        let is_known = !self.is_unsure && all.len() <= MAX_ENTERED;
        is_known.then(|| all.into_iter().collect())
    }
}
