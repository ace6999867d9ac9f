//! The memory of other nodes, reached through their [relays](crate::Relay).
//!
//! Questions are answered by a thread that waits for no rank, so that a rank waits for one round
//! trip. Messages are sent without waiting for their replies, which [`JobShm::await_delivery`] does
//! before any rank can acquire what they announce. If a node does not answer, the memory is
//! unreliable from then on.

use crate::connection::is_over;
use crate::job_shm::JobShm;
use crate::other_nodes::{
    DISCOVERY_TIMEOUT, Dated, HERE, NodeFinder, OtherNodes, POLL_INTERVAL, lock,
};
use crate::wire::{self, Question};
use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

impl JobShm {
    /// Whether the memory of a rank is on this node.
    #[inline]
    pub fn is_here(&self, rank: usize) -> bool {
        let Some(finder) = &self.finder else { return true };
        self.memory.is_here(rank)
            || finder.nodes(self.memory).is_some_and(|nodes| nodes.of[rank] == HERE)
    }

    /// Whether all ranks of the job, here and on other nodes, publish their clocks; waits for them
    /// within a time limit.
    pub(crate) fn is_complete_there(&self) -> bool {
        let begin = Instant::now();
        let present = || -> Option<bool> {
            let mut all: usize =
                (0..self.ranks()).filter(|rank| self.memory.is_present(*rank)).count();
            for node in &self.nodes()?.all {
                let there = lock(node).ask(Question::Present, &[]);
                all += self.checked(there)?.len();
            }
            Some(all == self.ranks())
        };
        loop {
            match present() {
                Some(true) => return true,
                Some(false) if begin.elapsed() <= DISCOVERY_TIMEOUT => {
                    std::thread::sleep(POLL_INTERVAL)
                }
                Some(false) => {
                    self.finder.inspect(|finder| finder.lost.store(true, Relaxed));
                    self.switch_off();
                    return false;
                }
                None => return false,
            }
        }
    }

    /// Asks the node of a remote rank. Without an answer the memory is unreliable.
    pub(crate) fn ask(&self, rank: usize, question: Question, asked: &[u64]) -> Option<Vec<u64>> {
        let answer = self.nodes()?.of(rank)?.ask(question, asked);
        self.checked(answer)
    }

    fn nodes(&self) -> Option<&'static OtherNodes> {
        match self.finder?.nodes(self.memory) {
            Some(_) if self.is_off() => None,
            None => {
                self.switch_off_here();
                None
            }
            nodes => nodes,
        }
    }

    fn checked<T>(&self, answer: io::Result<T>) -> Option<T> {
        if let (Err(error), Some(finder)) = (&answer, self.finder) {
            // A node that declares the memory unreliable has answered.
            finder.lost.fetch_or(!is_over(error), Relaxed);
            self.switch_off();
        }
        answer.ok()
    }

    /// Whether other nodes could not be found, or did not answer.
    pub fn has_lost_others(&self) -> bool {
        self.finder.is_some_and(|finder| finder.lost.load(Relaxed))
    }

    /// Declares the memory of all other nodes unreliable.
    pub(crate) fn switch_off_there(&self) {
        let nodes = self.finder.and_then(|finder| finder.nodes.get()?.as_ref());
        nodes.into_iter().flat_map(|nodes| &nodes.all).for_each(|node| lock(node).switch_off());
    }

    /// Asks several nodes at once, each for some of these ranks, and passes each answer to `take`.
    pub(crate) fn ask_all(
        &self,
        (question, about): (Question, u64),
        ranks: impl Iterator<Item = u32>,
        mut take: impl FnMut(&[u32], &[u64]),
    ) {
        let Some(nodes) = self.nodes() else { return };
        let mut asked: BTreeMap<u16, Vec<u32>> = BTreeMap::new();
        ranks.for_each(|rank| asked.entry(nodes.of[rank as usize]).or_default().push(rank));
        let asked: Vec<_> = asked
            .into_iter()
            .filter_map(|(node, ranks)| Some((lock(nodes.all.get(usize::from(node))?), ranks)))
            .collect();
        let mut waiting = Vec::new();
        for (mut node, ranks) in asked {
            let words: Vec<u64> =
                std::iter::once(about).chain(ranks.iter().map(|rank| u64::from(*rank))).collect();
            let sent = node.send(question, &words);
            waiting.push((node, ranks, sent));
        }
        let mut all = Ok(());
        for (mut node, ranks, sent) in waiting {
            match sent.and_then(|()| node.receive()) {
                Ok(words) => take(&ranks, &words),
                Err(error) => all = Err(error),
            }
        }
        self.checked(all);
    }

    /// Joins the clock of a remote rank in a segment.
    pub(crate) fn join_there(&self, rank: usize, segment: u32, into: &mut [u32]) {
        let Some(nodes) = self.nodes() else { return };
        let known = |(of, row): &Dated| (*of == segment).then(|| row.clone());
        let known = lock(&nodes.clocks).get(&rank).and_then(known);
        let row = known.or_else(|| {
            let words = self.ask(rank, Question::Join, &[rank as u64, segment.into()])?;
            let mut row = vec![0; into.len()].into_boxed_slice();
            wire::join(&words, &mut row);
            // If this segment is forgotten, it is the clock of a later one.
            if row[rank] == segment {
                lock(&nodes.clocks).insert(rank, (segment, row.clone()));
            }
            Some(row)
        });
        for (to, from) in into.iter_mut().zip(row.iter().flatten()) {
            *to = (*to).max(*from);
        }
    }

    /// Sends a message to a remote rank; it has arrived after
    /// [`await_delivery`](Self::await_delivery).
    pub(crate) fn post_there(&self, rank: usize, notice: &[u64]) {
        let Some(nodes) = self.nodes() else { return };
        nodes.posted.store(true, Relaxed);
        if let Some(mut node) = nodes.of(rank) {
            let posted = node.post(self.me(), rank, notice);
            drop(node);
            self.checked(posted);
        }
    }

    /// Waits until all messages have arrived; false if there was no room for some.
    #[inline]
    pub fn await_delivery(&self) -> bool {
        match &self.finder {
            None => true,
            Some(finder) => self.await_delivery_there(finder),
        }
    }

    fn await_delivery_there(&self, finder: &NodeFinder) -> bool {
        let Some(Some(nodes)) = finder.nodes.get() else { return true };
        if !nodes.posted.swap(false, Relaxed) || self.is_off() {
            return true;
        }
        let mut waiting: Vec<_> =
            nodes.all.iter().map(lock).filter(|node| node.under_way > 0).collect();
        let sent: io::Result<()> = waiting.iter_mut().try_for_each(|node| node.flush());
        let arrived =
            sent.and_then(|()| waiting.iter_mut().try_for_each(|node| node.collect_replies()));
        let is_refused = waiting.iter_mut().any(|node| std::mem::take(&mut node.refused));
        drop(waiting);
        self.checked(arrived);
        !is_refused
    }
}

#[cfg(test)]
mod tests;
