//! What this process passes to each rank and gets from each in collectives of which each pair of ranks has amounts of
//! its own, summed up by communicator, collective and place, for the comparison of all ranks when the job is over.
//!
//! All ranks of a communicator enter its collectives in one order, so that the n-th is the same one for all. What one
//! passes to another is therefore told by a sum over marks, each made of the collective's number, the type of the
//! elements and the amount: the other's sum is the same, whatever lines the two call from.

use crate::collective::signature::Signature;
use commsan_callsite::Site;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// What is the same for amounts that are summed up together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Sort {
    /// The communicator.
    pub name: u64,
    /// The collective, with large counts or not.
    pub kind: u32,
    pub sends: bool,
    pub pc: usize,
}

/// Amounts of one sort.
pub(crate) struct Entry {
    pub sort: Sort,
    pub call: &'static str,
    /// The communicator in words.
    pub on: String,
    /// The first of the calls.
    pub site: Site,
    pub calls: u64,
    /// What all elements are, once there are any; `None` within if there are several, or some that are not
    /// known.
    pub element: Option<Option<Signature>>,
    /// The ranks of the communicator, as ranks of the job.
    pub members: Arc<[u32]>,
    /// For each of them.
    pub volumes: Vec<Volume>,
}

/// Amounts that are kept at most, 24 bytes each.
const MAX_VOLUMES: usize = 1 << 18;

/// What a process passes to another rank, or gets from it, in collectives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Volume {
    /// Bytes in all.
    pub bytes: u64,
    /// A hash of the sequence of amounts and types: see the module's header.
    pub mark: u64,
    /// Some types are not known, so that bytes alone can be compared.
    pub vague: bool,
}

#[derive(Default)]
pub(crate) struct PairwiseVolumes {
    entries: Vec<Entry>,
    by_sort: FxHashMap<Sort, usize>,
    held: usize,
    /// Communicators of which not all is kept.
    left_out: Vec<u64>,
}

/// What one rank passes to another in one call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Amount {
    /// The rank of the communicator.
    pub rank: usize,
    pub count: u64,
    /// The type of the elements.
    pub datatype: Signature,
}

impl PairwiseVolumes {
    /// Whether amounts of this sort are added up already, or will never be.
    pub fn knows(&self, sort: &Sort) -> bool {
        self.by_sort.contains_key(sort) || self.left_out.contains(&sort.name)
    }

    /// Begins to add up amounts of a new sort, if there is room.
    pub fn begin(&mut self, entry: Entry) {
        if self.held + entry.volumes.len() > MAX_VOLUMES {
            return self.left_out.push(entry.sort.name);
        }
        self.held += entry.volumes.len();
        self.by_sort.insert(entry.sort, self.entries.len());
        self.entries.push(entry);
    }

    /// The amounts of a sort that are to be added to.
    pub fn entry(&mut self, sort: &Sort) -> Option<&mut Entry> {
        let index = *self.by_sort.get(sort)?;
        self.entries.get_mut(index)
    }

    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub fn left_out(&self) -> &[u64] {
        &self.left_out
    }
}

impl Entry {
    /// Nothing so far.
    pub fn new(
        sort: Sort,
        call: &'static str,
        on: String,
        site: Site,
        members: Arc<[u32]>,
    ) -> Entry {
        let volumes = vec![Volume::default(); members.len()];
        Entry { sort, call, on, site, calls: 0, element: None, members, volumes }
    }

    /// Adds what one call passes to or gets from ranks of the communicator; it is the collective of that number.
    pub fn add(&mut self, number: u32, amounts: impl Iterator<Item = Amount>) {
        self.calls += 1;
        for Amount { rank, count, datatype } in amounts.filter(|amount| amount.count > 0) {
            let element = datatype.element();
            // Of a type that is not known only the size counts.
            let kind = element.map_or(0, |one| one.to_words()[2]);
            let bytes = datatype.bytes.wrapping_mul(count);
            let Some(part) = self.volumes.get_mut(rank) else { continue };
            part.bytes = part.bytes.wrapping_add(bytes);
            part.mark = part.mark.wrapping_add(mark(number, kind, bytes));
            part.vague |= element.is_none();
            if *self.element.get_or_insert(element) != element {
                self.element = Some(None);
            }
        }
    }
}

/// A number that no other collective, type or amount has, but by a rare chance.
fn mark(number: u32, kind: u64, bytes: u64) -> u64 {
    [u64::from(number), kind, bytes].into_iter().fold(0x9e37_79b9_7f4a_7c15, |hash: u64, word| {
        let mixed = (hash ^ word).wrapping_mul(0xd6e8_feb8_6659_fd93);
        (mixed ^ mixed >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use commsan_callsite::Stacks;
    use proptest::prelude::*;

    fn sort(sends: bool, pc: usize) -> Sort {
        Sort { name: 7, kind: 1, sends, pc }
    }

    fn entry(sort: Sort, ranks: u32) -> Entry {
        let site = Site { call: None, thread: 0, stack: Stacks::EMPTY, pc: sort.pc, afar: None };
        Entry::new(sort, "", String::new(), site, (0..ranks).collect())
    }

    /// What comes of one pair's amounts in a sequence of collectives: for each its place, type and count.
    fn total(calls: &[(usize, usize, u64)]) -> (u64, u64) {
        let types = [("MPI_INT", 4), ("MPI_FLOAT", 4), ("MPI_DOUBLE", 8)];
        let mut all = PairwiseVolumes::default();
        for (number, &(pc, datatype, count)) in calls.iter().enumerate() {
            let (name, bytes) = types[datatype];
            let datatype = Signature::predefined(name, bytes);
            let sort = sort(true, pc);
            if !all.knows(&sort) {
                all.begin(entry(sort, 3));
            }
            let entry = all.entry(&sort).unwrap();
            entry.add(number as u32, [Amount { rank: 1, count, datatype }].into_iter());
        }
        let parts = all.entries().iter().map(|entry| entry.volumes[1]);
        parts.fold((0, 0), |(bytes, mark), part| (bytes + part.bytes, mark.wrapping_add(part.mark)))
    }

    proptest! {
        /// Sums are equal if and only if each collective's amount and type are, whatever the places.
        #[test]
        fn sums_tell_sequences_apart(
            calls in prop::collection::vec((0..3_usize, 0..3_usize, 0..4_u64), 0..12),
            places in prop::collection::vec(0..3_usize, 12),
            change in (0..12_usize, 0..3_usize, 0..4_u64),
        ) {
            let mut other = calls.clone();
            other.iter_mut().zip(places).for_each(|(call, pc)| call.0 = pc);
            prop_assert_eq!(total(&calls), total(&other));
            let (at, datatype, count) = change;
            if let Some(call) = other.get_mut(at) {
                let same = call.2 == count && (call.1 == datatype || count == 0);
                (call.1, call.2) = (datatype, count);
                prop_assert_eq!(total(&calls) == total(&other), same);
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_left_out() {
        let mut all = PairwiseVolumes::default();
        all.begin(entry(sort(true, 1), MAX_VOLUMES as u32));
        all.begin(entry(sort(true, 2), 3));
        assert!(all.entry(&sort(true, 1)).is_some() && all.entry(&sort(true, 2)).is_none());
        assert!(all.knows(&sort(true, 2)));
        assert_eq!((all.left_out(), all.entries().len()), (&[7][..], 1));
    }
}
