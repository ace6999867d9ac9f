//! Online cycle elimination: nodes on a cycle of inclusion edges have equal sets and are merged
//! (lazy cycle detection, Hardekopf and Lin, PLDI 2007); a cycle with an offset walks through whole
//! objects, whose offsets then become unknown.

use super::{Edge, Node, Solver};
use crate::pool::EMPTY;
use rustc_hash::FxHashSet;

/// Maximum number of sets that one search for a cycle visits.
const MAX_VISITED_SETS: usize = 1_000;

/// How often a step is followed before a circle is looked for around it: if it lies on one,
/// pointers walk through their objects (positive weight cycles, Pearce et al. 2007).
const SEARCH_AFTER_STEPS: [u32; 3] = [4, 64, 1_024];

impl Solver {
    /// Steps of a set that lead back to it can lead anywhere in the object.
    pub(super) fn widen_walks(&mut self, node: Node) {
        let holder = &mut self.holders[node.0 as usize];
        holder.followed += 1;
        if !SEARCH_AFTER_STEPS.contains(&holder.followed) {
            return;
        }
        for at in 0..self.holders[node.0 as usize].edges.len() {
            let Edge::Shift(to, Some(_)) = self.holders[node.0 as usize].edges[at] else {
                continue;
            };
            if self.leads(to, node) {
                self.holders[node.0 as usize].edges[at] = Edge::Shift(to, None);
            }
        }
    }

    /// Whether what is in `from` comes to `to`, by copies and steps.
    pub(super) fn leads(&self, from: Node, to: Node) -> bool {
        let mut seen = FxHashSet::default();
        let mut open = vec![self.root(from)];
        while let Some(node) = open.pop() {
            if node == to {
                return true;
            }
            if seen.len() == MAX_VISITED_SETS || !seen.insert(node) {
                continue;
            }
            let holder = &self.holders[node.0 as usize];
            let stepped = holder.edges.iter().filter_map(|edge| match edge {
                Edge::Shift(to, _) => Some(to),
                _ => None,
            });
            open.extend(holder.copies.iter().chain(stepped).map(|next| self.root(*next)));
        }
        false
    }

    /// Makes one set of those on a way back from `to`, which has what `from` has.
    pub(super) fn join_circle(&mut self, from: Node, to: Node) {
        let (from, to) = (self.root(from), self.root(to));
        let held = self.held_by(from);
        if from == to || held == EMPTY || !self.looked.insert((from, to)) {
            return;
        }
        let mut seen = FxHashSet::from_iter([to]);
        let mut way = vec![(to, 0)];
        while let Some((node, at)) = way.last_mut() {
            let Some(next) = self.holders[node.0 as usize].copies.get(*at) else {
                way.pop();
                continue;
            };
            *at += 1;
            let next = self.root(*next);
            if next == from {
                let circle: Vec<_> = way.iter().map(|(node, _)| *node).collect();
                circle.into_iter().for_each(|node| self.join(from, node));
                return;
            }
            let is_same = self.held_by(next) == held && self.outside != Some(next);
            if seen.len() < MAX_VISITED_SETS && is_same && seen.insert(next) {
                way.push((next, 0));
            }
        }
    }

    /// A set becomes part of another.
    pub(super) fn join(&mut self, into: Node, node: Node) {
        if into == node || [into, node].into_iter().any(|one| self.outside == Some(one)) {
            return;
        }
        let part = std::mem::take(&mut self.holders[node.0 as usize]);
        self.parts[node.0 as usize].set(into);
        let whole = &mut self.holders[into.0 as usize];
        // What either of them brings about has not seen all of the other's.
        whole.copies.extend(part.copies);
        whole.edges.extend(part.edges);
        whole.pointers = self.pool.union(whole.pointers, part.pointers);
        whole.arriving.extend(part.arriving);
        whole.new = whole.pointers;
        self.open.push_back(into);
    }
}
