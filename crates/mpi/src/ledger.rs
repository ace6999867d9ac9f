//! The ledger of messages: those that this process has sent and received, counted by communicator,
//! peer, type and place, for the comparison of all ranks when the job is over.
//!
//! A look-up by the handles of the call finds the entry of most messages; what handles stand for is
//! resolved once for each.

use crate::collective::signature::Signature;
use commsan_callsite::Site;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A message as the call describes it. Its handles may come to stand for something else: see
/// [`Ledger::forget`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub pc: usize,
    pub comm: usize,
    pub datatype: usize,
    pub peer: i32,
    /// Row of the call, and whether it is the message that the call sends.
    pub row: u32,
    pub sends: bool,
    /// There is no data, so that the type does not matter.
    pub empty: bool,
}

/// What messages that are counted together have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Sort {
    /// The communicator's name.
    pub name: u64,
    pub sends: bool,
    /// The peer's rank in the job; `None` for any.
    pub peer: Option<u32>,
    /// The basic type of all elements; `None` for several types, any type, or no elements.
    pub element: Option<Signature>,
    pub row: u32,
    pub pc: usize,
}

/// The messages of one sort.
pub(crate) struct Entry {
    pub sort: Sort,
    pub call: &'static str,
    /// The communicator in words.
    pub on: String,
    pub tag: Option<i32>,
    pub site: Site,
    pub count: u64,
}

/// Entries looked up by their keys, each in one of two neighbouring slots.
const SLOTS: usize = 256;
/// Sorts that are counted at most: beyond that, nothing is compared.
const MAX_ENTRIES: usize = 20_000;
/// Marks a slot of messages that are not counted.
const UNCOUNTED: u32 = u32::MAX;

/// A key, the index of its entry, and the number of elements of the longest message.
type Slot = (Key, u32, usize);

pub(crate) struct Ledger {
    slots: Box<[Option<Slot>]>,
    entries: Vec<Entry>,
    by_sort: FxHashMap<Sort, u32>,
    /// Communicators whose messages may end in ways that are not counted.
    unbalanced: Vec<u64>,
    /// No messages are compared.
    useless: bool,
}

impl Default for Ledger {
    fn default() -> Ledger {
        Ledger {
            slots: vec![None; SLOTS].into(),
            entries: Vec::new(),
            by_sort: FxHashMap::default(),
            unbalanced: Vec::new(),
            useless: false,
        }
    }
}

impl Ledger {
    /// Counts a message whose key is known, and which is no longer than those before; returns
    /// whether it is.
    #[inline(always)]
    pub fn count(&mut self, key: Key, elements: usize) -> bool {
        let home = slot(&key);
        let is_known = |slot: &Option<Slot>| slot.is_some_and(|(known, ..)| known == key);
        let at = if is_known(&self.slots[home]) { home } else { home ^ 1 };
        match self.slots[at] {
            Some((known, UNCOUNTED, _)) => known == key,
            Some((known, index, most)) if known == key && elements <= most => {
                self.entries[index as usize].count += 1;
                true
            }
            _ => false,
        }
    }

    /// Counts a message with a new key, or the longest so far; with `None`, messages of this key
    /// are never counted.
    pub fn count_new(&mut self, key: &Key, elements: usize, entry: Option<Entry>) {
        let index = entry.map_or(UNCOUNTED, |entry| self.add(entry));
        let home = slot(key);
        let new = Some((*key, index, elements));
        match [home, home ^ 1].into_iter().find(|at| self.slots[*at].is_some_and(|s| s.0 == *key)) {
            Some(known) => self.slots[known] = new,
            None => self.slots[home ^ 1] = std::mem::replace(&mut self.slots[home], new),
        }
    }

    /// Adds the messages of an entry to those of the same sort.
    pub fn add(&mut self, entry: Entry) -> u32 {
        if self.entries.len() >= MAX_ENTRIES {
            self.useless = true;
            return UNCOUNTED;
        }
        let index = *self.by_sort.entry(entry.sort).or_insert(self.entries.len() as u32);
        match self.entries.get_mut(index as usize) {
            Some(known) => known.count += entry.count,
            None => self.entries.push(entry),
        }
        index
    }

    /// A handle may come to stand for something else.
    pub fn forget(&mut self, handle: usize) {
        for slot in &mut self.slots {
            if slot.is_some_and(|(key, ..)| key.comm == handle || key.datatype == handle) {
                *slot = None;
            }
        }
    }

    /// Messages of this communicator may end in ways that are not counted.
    pub fn unbalance(&mut self, name: u64) {
        if !self.unbalanced.contains(&name) {
            self.unbalanced.push(name);
        }
    }

    /// Messages of any communicator may end in ways that are not counted.
    pub fn give_up(&mut self) {
        self.useless = true;
    }

    /// What was counted; `None` if nothing can be compared.
    pub fn entries(&self) -> Option<&[Entry]> {
        (!self.useless).then_some(&self.entries)
    }

    pub fn unbalanced(&self) -> &[u64] {
        &self.unbalanced
    }
}

#[inline(always)]
fn slot(key: &Key) -> usize {
    const MIX: usize = 0x9e37_79b9_7f4a_7c15;
    let what = key.pc ^ (key.peer as usize) << 32 ^ usize::from(key.sends) << 31;
    what.wrapping_mul(MIX) >> (usize::BITS - SLOTS.ilog2())
}

/// Messages that each start of a persistent request counts: their sorts, communicators in words,
/// and tags.
pub(crate) type Repeated = SmallVec<[(Sort, String, Option<i32>); 2]>;

#[cfg(test)]
mod tests {
    use super::*;
    use commsan_callsite::Stacks;
    use proptest::prelude::*;

    fn entry(key: &Key) -> Entry {
        let site = Site { call: None, thread: 0, stack: Stacks::EMPTY, pc: key.pc, remote: None };
        let sort = Sort {
            name: key.comm as u64,
            sends: key.sends,
            peer: u32::try_from(key.peer).ok(),
            element: None,
            row: key.row,
            pc: key.pc,
        };
        Entry { sort, call: "MPI_Send", on: String::new(), tag: None, site, count: 1 }
    }

    proptest! {
        /// Compared with a plain count, though keys share slots and handles change their meaning.
        #[test]
        fn every_message_is_counted_once(
            messages in prop::collection::vec(
                (0..90_usize, -1..3_i32, any::<bool>(), 1..4_usize, 0..4_usize), 0..400
            )
        ) {
            let mut ledger = Ledger::default();
            let mut expected: FxHashMap<Sort, u64> = FxHashMap::default();
            for (n, (pc, peer, sends, comm, elements)) in messages.into_iter().enumerate() {
                let key = Key { pc, comm, datatype: 9, peer, row: 1, sends, empty: false };
                if n % 37 == 0 {
                    ledger.forget(comm);
                }
                if !ledger.count(key, elements) {
                    ledger.count_new(&key, elements, Some(entry(&key)));
                }
                *expected.entry(entry(&key).sort).or_default() += 1;
            }
            let counted = ledger.entries().unwrap().iter();
            let counted: FxHashMap<Sort, u64> = counted.map(|e| (e.sort, e.count)).collect();
            prop_assert_eq!(counted, expected);
        }
    }

    #[test]
    fn what_is_not_counted_stays_so() {
        let mut ledger = Ledger::default();
        let key = Key { pc: 1, comm: 2, datatype: 3, peer: 0, row: 1, sends: true, empty: false };
        ledger.count_new(&key, 0, None);
        assert!(ledger.count(key, 0));
        assert!(ledger.entries().unwrap().is_empty());
        ledger.forget(3);
        assert!(!ledger.count(key, 0));
        ledger.give_up();
        assert!(ledger.entries().is_none());
    }
}
