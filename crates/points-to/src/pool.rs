//! Hash-consed points-to sets (Barbar and Sui, SAS 2021): equal sets are kept once, named by a
//! number, and the union of two of them is computed once. Where a method is called for thousands of
//! objects, the same field of each grows by the same steps.

use super::set::Set;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// The number of a set.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct SetId(u32);

/// The set without anything in it.
pub const EMPTY: SetId = SetId(0);

/// Bytes that unused sets may occupy before they are collected.
const COLLECTION_THRESHOLD_BYTES: usize = 64 << 20;

/// All sets.
#[derive(Debug)]
pub struct Pool {
    sets: Vec<Set>,
    /// By set: the sum of what its numbers are hashed to.
    sums: Vec<u64>,
    /// By sum.
    numbers: FxHashMap<u64, SmallVec<[SetId; 1]>>,
    free: Vec<SetId>,
    unions: FxHashMap<(SetId, SetId), SetId>,
    /// Bytes of all sets, and of those that were in use when that was looked at.
    bytes: usize,
    used: usize,
}

impl Default for Pool {
    fn default() -> Pool {
        Pool {
            sets: vec![Set::default()],
            sums: vec![0],
            numbers: FxHashMap::from_iter([(0, SmallVec::from_elem(EMPTY, 1))]),
            free: Vec::new(),
            unions: FxHashMap::default(),
            bytes: 0,
            used: 0,
        }
    }
}

impl std::ops::Index<SetId> for Pool {
    type Output = Set;

    fn index(&self, id: SetId) -> &Set {
        &self.sets[id.0 as usize]
    }
}

impl Pool {
    /// The number of a set.
    pub fn id(&mut self, set: Set) -> SetId {
        let sum = set.iter().map(hash).fold(0, u64::wrapping_add);
        self.known(set, sum)
    }

    /// The set of what is in a set, or in another that has nothing in common with it.
    pub fn with(&mut self, id: SetId, new: SetId) -> SetId {
        if id == EMPTY || new == EMPTY {
            return id.max(new);
        }
        let sum = self.sums[id.0 as usize].wrapping_add(self.sums[new.0 as usize]);
        let mut set = self[id].clone();
        set.absorb(&self[new]);
        self.known(set, sum)
    }

    /// The set of what is in either.
    pub fn union(&mut self, one: SetId, other: SetId) -> SetId {
        if one == other || other == EMPTY {
            return one;
        }
        if one == EMPTY {
            return other;
        }
        let pair = (one.min(other), one.max(other));
        if let Some(union) = self.unions.get(&pair) {
            return *union;
        }
        let missing = self[one].missing(&self[other]);
        let missing = self.id(missing);
        let union = self.with(one, missing);
        self.unions.insert(pair, union);
        union
    }

    fn known(&mut self, set: Set, sum: u64) -> SetId {
        let alike = self.numbers.entry(sum).or_default();
        if let Some(id) = alike.iter().find(|id| self.sets[id.0 as usize] == set) {
            return *id;
        }
        self.bytes += set.bytes();
        let id = match self.free.pop() {
            Some(id) => id,
            None => {
                self.sets.push(Set::default());
                self.sums.push(0);
                SetId(self.sets.len() as u32 - 1)
            }
        };
        alike.push(id);
        self.sets[id.0 as usize] = set;
        self.sums[id.0 as usize] = sum;
        id
    }

    /// Whether sets of the past take so much that they are worth looking for.
    pub fn is_large(&self) -> bool {
        self.bytes > COLLECTION_THRESHOLD_BYTES + self.used + self.used / 2
    }

    /// Forgets all other sets than these, whose numbers stand for other sets from now on.
    pub fn keep(&mut self, used: &FxHashSet<SetId>) {
        for at in 1..self.sets.len() {
            let id = SetId(at as u32);
            if used.contains(&id) || self.sets[at].is_empty() {
                continue;
            }
            let set = std::mem::take(&mut self.sets[at]);
            self.bytes -= set.bytes();
            let sum = self.sums[at];
            if let Some(alike) = self.numbers.get_mut(&sum) {
                alike.retain(|one| *one != id);
            }
            self.free.push(id);
        }
        self.numbers.retain(|_, alike| !alike.is_empty());
        let is_used = |id: &SetId| *id == EMPTY || used.contains(id);
        self.unions.retain(|(one, other), union| [*one, *other, *union].iter().all(is_used));
        self.used = self.bytes;
    }
}

/// Of a number, for sums that are different for different sets (SplitMix64, Steele et al., OOPSLA
/// 2014).
fn hash(number: u32) -> u64 {
    let mut mixed = u64::from(number).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn sets_have_one_number_and_outlive_others(
            steps in prop::collection::vec((0..8usize, prop::collection::vec(0..64u32, 0..24)), 1..32),
        ) {
            let mut pool = Pool::default();
            let mut held = vec![(EMPTY, BTreeSet::new()); 8];
            for (at, step) in steps {
                let other = pool.id(Set::from_iter(step.iter().copied()));
                held[at].0 = pool.union(held[at].0, other);
                held[at].1.extend(step);
                pool.keep(&held.iter().map(|(id, _)| *id).collect());
                for (id, model) in &held {
                    prop_assert!(pool[*id].iter().eq(model.iter().copied()));
                    for (other, also) in &held {
                        prop_assert_eq!(id == other, model == also);
                    }
                }
            }
        }
    }
}
