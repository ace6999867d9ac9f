//! Lists of small numbers, packed: most of what a run's rows weigh is their time bins and extents.
//!
//! A list is its length and its items, each number in LEB128, positions as differences. Lists are
//! only made here, so that reading one cannot fail.

use commsan_rundir::traffic::{Bin, Extent};

/// All lists of a run.
#[derive(Clone, Debug)]
pub struct Packed {
    bytes: Vec<u8>,
}

/// A list in [`Packed`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct List(u64);

impl Default for Packed {
    fn default() -> Packed {
        // The list at 0 is empty.
        Packed { bytes: vec![0] }
    }
}

impl Packed {
    /// Keeps time bins, ascending.
    pub fn add_bins(&mut self, bins: &[Bin]) -> List {
        let mut before = 0;
        self.add(bins, |bin| {
            let step = u64::from(bin.bin).wrapping_sub(before);
            before = bin.bin.into();
            [step, bin.count, bin.amount]
        })
    }

    /// Keeps extents, ascending.
    pub fn add_extents(&mut self, extents: &[Extent]) -> List {
        let mut before = 0;
        self.add(extents, |extent| {
            let step = extent.start.wrapping_sub(before);
            before = extent.start;
            [step, extent.bytes, extent.count]
        })
    }

    /// The time bins of a list.
    pub fn bins(&self, list: List) -> impl Iterator<Item = Bin> + '_ {
        let mut before = 0_u64;
        self.items(list).map(move |[step, count, amount]| {
            before = before.wrapping_add(step);
            Bin { bin: before as u32, count, amount }
        })
    }

    /// The extents of a list.
    pub fn extents(&self, list: List) -> impl Iterator<Item = Extent> + '_ {
        let mut start = 0_u64;
        self.items(list).map(move |[step, bytes, count]| {
            start = start.wrapping_add(step);
            Extent { start, bytes, count }
        })
    }

    fn add<T>(&mut self, items: &[T], mut numbers: impl FnMut(&T) -> [u64; 3]) -> List {
        if items.is_empty() {
            return List::default();
        }
        let list = List(self.bytes.len() as u64);
        self.number(items.len() as u64);
        for item in items {
            numbers(item).into_iter().for_each(|number| self.number(number));
        }
        list
    }

    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    fn items(&self, list: List) -> impl Iterator<Item = [u64; 3]> + '_ {
        let mut bytes = self.bytes[list.0 as usize..].iter();
        let mut next = move || {
            let mut number = 0;
            for (position, byte) in bytes.by_ref().enumerate() {
                number |= u64::from(byte & 0x7f) << (7 * position);
                if byte & 0x80 == 0 {
                    break;
                }
            }
            number
        };
        let length = next();
        (0..length).map(move |_| [next(), next(), next()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn lists_are_what_was_kept(
            bins in prop::collection::vec((any::<u32>(), any::<u64>(), any::<u64>()), 0..9),
            extents in prop::collection::vec((any::<u64>(), any::<u64>(), any::<u64>()), 0..9),
        ) {
            let bin = |(bin, count, amount)| Bin { bin, count, amount };
            let bins: Vec<_> = bins.into_iter().map(bin).collect();
            let extent = |(start, bytes, count)| Extent { start, bytes, count };
            let extents: Vec<_> = extents.into_iter().map(extent).collect();
            let mut packed = Packed::default();
            let (first, second) = (packed.add_bins(&bins), packed.add_extents(&extents));
            prop_assert_eq!(packed.bins(first).collect::<Vec<_>>(), bins);
            prop_assert_eq!(packed.extents(second).collect::<Vec<_>>(), extents);
            prop_assert_eq!(packed.bins(List::default()).count(), 0);
        }
    }
}
