//! What kernels were seen to touch, for those that are executed later to be compared with.

use super::Ticket;
use commsan_ptx::Strength;
use commsan_shadow::Mode;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::ops::Range;

/// Ranges that are kept at most, of all kernels together: some 50 MiB.
const MAX_RANGES: usize = 1 << 21;

/// What each kernel has read and written, by how strongly that is ordered.
#[derive(Debug, Default)]
pub(super) struct Observed {
    by: FxHashMap<(Ticket, Mode, Strength), Ranges>,
    /// Ranges in it.
    count: usize,
}

impl Observed {
    /// A kernel has touched this; false if there is no room to keep it.
    pub fn add(
        &mut self,
        ticket: Ticket,
        (mode, strength): (Mode, Strength),
        bytes: &Range<usize>,
    ) -> bool {
        if self.count >= MAX_RANGES {
            return false;
        }
        let grown = self.by.entry((ticket, mode, strength)).or_default().add(bytes);
        self.count = self.count.saturating_add_signed(grown);
        true
    }

    /// Parts of some bytes that a kernel has touched in this way, in order.
    pub fn common(
        &self,
        ticket: Ticket,
        (mode, strength): (Mode, Strength),
        bytes: &Range<usize>,
    ) -> impl Iterator<Item = Range<usize>> {
        let ranges = self.by.get(&(ticket, mode, strength));
        ranges.into_iter().flat_map(|ranges| ranges.common(bytes.clone()))
    }

    /// Keeps only what some kernels have touched.
    pub fn retain(&mut self, is_kept: impl Fn(Ticket) -> bool) {
        self.by.retain(|(ticket, ..), _| is_kept(*ticket));
        self.count = self.by.values().map(|ranges| ranges.0.len()).sum();
    }
}

/// Disjoint ranges of addresses that do not touch each other: where they begin and end.
#[derive(Debug, Default)]
struct Ranges(BTreeMap<usize, usize>);

impl Ranges {
    /// Adds a range; returns by how much their number grows.
    fn add(&mut self, bytes: &Range<usize>) -> isize {
        let Range { mut start, mut end } = *bytes;
        let mut grown = 1;
        while let Some((&first, &last)) = self.0.range(..=end).next_back()
            && last >= start
        {
            if first <= start && last >= end {
                return grown - 1;
            }
            (start, end, grown) = (start.min(first), end.max(last), grown - 1);
            self.0.remove(&first);
        }
        self.0.insert(start, end);
        grown
    }

    /// What of some bytes is in them, in order.
    fn common(&self, bytes: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let before = self.0.range(..bytes.start).next_back();
        let within = self.0.range(bytes.start..bytes.end);
        let parts = before.into_iter().chain(within);
        let cut =
            move |(start, end): (&usize, &usize)| bytes.start.max(*start)..bytes.end.min(*end);
        parts.map(cut).filter(|part| !part.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    const WAY: (Mode, Strength) = (Mode::Write, Strength::Weak);

    proptest! {
        #[test]
        fn what_is_common_is_what_was_added(
            added in prop::collection::vec((0usize..60, 1usize..12), 0..20),
            (start, size) in (0usize..70, 1usize..20),
        ) {
            let (mut seen, mut bytes) = (Observed::default(), BTreeSet::new());
            for (start, size) in added {
                prop_assert!(seen.add(Ticket(1), WAY, &(start..start + size)));
                bytes.extend(start..start + size);
            }
            let asked = start..start + size;
            let found: Vec<usize> = seen.common(Ticket(1), WAY, &asked).flatten().collect();
            prop_assert!(found.iter().eq(bytes.iter().filter(|byte| asked.contains(byte))));
            prop_assert_eq!(seen.common(Ticket(2), WAY, &asked).count(), 0);
            let runs = bytes.iter().filter(|byte| **byte == 0 || !bytes.contains(&(**byte - 1)));
            prop_assert_eq!(seen.count, runs.count());
            seen.retain(|ticket| ticket != Ticket(1));
            prop_assert_eq!((seen.count, seen.by.len()), (0, 0));
        }
    }

    #[test]
    fn there_is_room_for_so_many_ranges() {
        let mut seen = Observed::default();
        assert!((0..MAX_RANGES).all(|at| seen.add(Ticket(1), WAY, &(2 * at..2 * at + 1))));
        assert!(!seen.add(Ticket(2), WAY, &(0..1)));
        seen.retain(|ticket| ticket != Ticket(1));
        assert!(seen.add(Ticket(2), WAY, &(0..1)));
    }
}
