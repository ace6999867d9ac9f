//! Propagation along inclusion edges.

use super::{Node, Solver, Step};
use crate::pool::{EMPTY, SetId};
use crate::set::Set;
use crate::{Object, Pointer};
use rustc_hash::{FxHashMap, FxHashSet};

/// Maximum number of offsets of one object in one set: a pointer that steps through it has no
/// offset.
const MAX_OFFSETS: usize = 64;

/// Maximum number of sets that are united pairwise; results of larger unions are rarely met again.
const MAX_MEMOIZED_UNIONS: usize = 3;

impl Solver {
    /// Adds pointers to a set, and hands them on, later.
    pub(super) fn unite(&mut self, to: Node, pointers: SetId) {
        let to = self.root(to);
        let holder = &mut self.holders[to.0 as usize];
        if pointers == EMPTY || pointers == holder.pointers {
            return;
        }
        if holder.arriving.is_empty() {
            self.open.push_back(to);
        }
        if holder.arriving.last() != Some(&pointers) {
            holder.arriving.push(pointers);
        }
    }

    /// What was added to a set comes into it, all at once: sets that grow step by step would be
    /// many. Returns what is to be handed on.
    pub(super) fn arrive(&mut self, node: Node) -> SetId {
        let holder = &mut self.holders[node.0 as usize];
        let arriving = std::mem::take(&mut holder.arriving);
        let unseen = std::mem::take(&mut holder.new);
        let had = holder.pointers;
        let arriving = self.all_of(arriving);
        let (has, new) = self.together(had, arriving, self.outside == Some(node));
        self.holders[node.0 as usize].pointers = has;
        self.pool.union(unseen, new)
    }

    /// What is in any of these sets.
    pub(super) fn all_of(&mut self, mut sets: Vec<SetId>) -> SetId {
        sets.sort_unstable();
        sets.dedup();
        if sets.len() <= MAX_MEMOIZED_UNIONS {
            return sets.into_iter().fold(EMPTY, |all, set| self.pool.union(all, set));
        }
        let mut all = Set::default();
        for set in sets {
            all.absorb(&self.pool[set]);
        }
        self.pool.id(all)
    }

    /// What a set becomes when others are added to what it had, and what of it is new.
    pub(super) fn together(
        &mut self,
        had: SetId,
        others: SetId,
        is_outside: bool,
    ) -> (SetId, SetId) {
        if had == others || others == EMPTY {
            return (had, EMPTY);
        }
        let known = self.added.get(&(had, others));
        if let (Some(known), false) = (known, is_outside) {
            return *known;
        }
        let missing = self.pool[had].missing(&self.pool[others]);
        let mut counts = FxHashMap::default();
        let mut admit = |number| self.admitted(had, number, is_outside, &mut counts);
        let all_are = missing.iter().all(|number| admit(number) == Some(number));
        let new = match all_are {
            true => missing,
            false => {
                let mut counts = FxHashMap::default();
                let admit = |number| self.admitted(had, number, is_outside, &mut counts);
                self.pool[had].missing(&missing.iter().filter_map(admit).collect())
            }
        };
        let new = self.pool.id(new);
        let has = self.pool.with(had, new);
        if !is_outside {
            self.added.insert((had, others), (has, new));
        }
        (has, new)
    }

    /// The pointer that is added to a set for `number`: `None` if the set already has the whole
    /// object, and the whole object if it has so many offsets that a loop must compute them.
    /// `counts` has the number of distinct offsets, of objects with many.
    pub(super) fn admitted(
        &self,
        had: SetId,
        number: u32,
        is_outside: bool,
        counts: &mut FxHashMap<u32, usize>,
    ) -> Option<u32> {
        let whole = self.wholes[number as usize];
        if whole == number {
            return Some(number);
        }
        let had = &self.pool[had];
        if had.contains(whole) {
            return None;
        }
        let places = &self.places[whole as usize];
        // Who knows a place outside knows the whole object.
        if is_outside || places.len() <= MAX_OFFSETS {
            return Some(if is_outside { whole } else { number });
        }
        let count = counts
            .entry(whole)
            .or_insert_with(|| places.iter().filter(|place| had.contains(**place)).count());
        *count += 1;
        Some(if *count > MAX_OFFSETS { whole } else { number })
    }

    /// Pointers so many bytes on.
    pub(super) fn moved(&mut self, by: Step, pointers: SetId) -> SetId {
        if let Some(moved) = self.moved.get(&(pointers, by)) {
            return *moved;
        }
        let mut moved: Vec<_> = self.pool[pointers].iter().collect();
        for number in &mut moved {
            let pointer = self.pointers[*number as usize];
            // Handles and functions have no fields.
            let at = match pointer.object {
                Object::Function(_) | Object::Handle(_) => pointer.at,
                _ => pointer.at.zip(by).map(|(at, by)| at.wrapping_add(by)),
            };
            let pointer = self.bounded(Pointer { at, ..pointer });
            *number = self.number(pointer);
        }
        let moved = Set::from_iter(moved);
        let moved = self.pool.id(moved);
        self.moved.insert((pointers, by), moved);
        moved
    }

    /// Sets that nobody holds any more make room.
    pub(super) fn forget_past(&mut self) {
        let used = self.holders.iter().flat_map(|holder| {
            [holder.pointers, holder.new].into_iter().chain(holder.arriving.iter().copied())
        });
        let used: FxHashSet<_> = used.collect();
        self.pool.keep(&used);
        self.added.retain(|(had, other), (has, new)| {
            [*had, *other, *has, *new].iter().all(|id| *id == EMPTY || used.contains(id))
        });
        self.moved.retain(|(from, _), to| used.contains(from) && used.contains(to));
    }
}
