//! Sparse sets of integers: most have a few elements, some in large programs tens of thousands.

use roaring::RoaringBitmap;
use smallvec::SmallVec;

/// Maximum number of elements that are kept in a sorted list; more become a bitmap.
const MAX_LIST_ELEMENTS: usize = 12;

/// How many times as large as another a set must be for a search of it, element by element of the
/// other, to be faster than a merge.
const MIN_SEARCH_RATIO: u64 = 8;

/// A set that grows. Equal sets are kept in the same way.
#[derive(Clone, PartialEq, Debug)]
pub enum Set {
    /// In order.
    Few(SmallVec<[u32; 4]>),
    /// More than that.
    Many(Box<RoaringBitmap>),
}

impl Default for Set {
    fn default() -> Set {
        Set::Few(SmallVec::new())
    }
}

impl FromIterator<u32> for Set {
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> Set {
        let mut numbers: SmallVec<[u32; 4]> = numbers.into_iter().collect();
        if !numbers.is_sorted() {
            numbers.sort_unstable();
        }
        numbers.dedup();
        if numbers.len() <= MAX_LIST_ELEMENTS {
            return Set::Few(numbers);
        }
        let many = RoaringBitmap::from_sorted_iter(numbers);
        Set::Many(Box::new(many.expect("they are in order")))
    }
}

impl Set {
    /// Whether the set has no elements.
    pub fn is_empty(&self) -> bool {
        match self {
            Set::Few(few) => few.is_empty(),
            Set::Many(many) => many.is_empty(),
        }
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        match self {
            Set::Few(few) => few.len(),
            Set::Many(many) => many.len() as usize,
        }
    }

    /// Bytes that it takes, about.
    pub fn bytes(&self) -> usize {
        size_of::<Set>()
            + match self {
                Set::Few(few) if few.spilled() => size_of_val(&**few),
                Set::Few(_) => 0,
                Set::Many(many) => many.serialized_size(),
            }
    }

    /// Says whether it is new.
    pub fn insert(&mut self, number: u32) -> bool {
        match self {
            Set::Few(few) => {
                let Err(at) = few.binary_search(&number) else { return false };
                few.insert(at, number);
                if few.len() > MAX_LIST_ELEMENTS {
                    let many = RoaringBitmap::from_sorted_iter(few.iter().copied());
                    *self = Set::Many(Box::new(many.expect("they are in order")));
                }
                true
            }
            Set::Many(many) => many.insert(number),
        }
    }

    /// Whether a number is an element.
    pub fn contains(&self, number: u32) -> bool {
        match self {
            Set::Few(few) => few.binary_search(&number).is_ok(),
            Set::Many(many) => many.contains(number),
        }
    }

    /// What another has and this has not.
    pub fn missing(&self, other: &Set) -> Set {
        match (self, other) {
            (Set::Many(ours), Set::Many(theirs))
                if theirs.len() > ours.len() / MIN_SEARCH_RATIO =>
            {
                let missing = &**theirs - &**ours;
                match missing.len() as usize > MAX_LIST_ELEMENTS {
                    true => Set::Many(Box::new(missing)),
                    false => Set::Few(missing.iter().collect()),
                }
            }
            _ => other.iter().filter(|number| !self.contains(*number)).collect(),
        }
    }

    /// Adds all of another.
    pub fn absorb(&mut self, other: &Set) {
        if let (Set::Many(ours), Set::Many(theirs)) = (&mut *self, other) {
            **ours |= &**theirs;
            return;
        }
        for number in other.iter() {
            self.insert(number);
        }
    }

    /// The elements, in ascending order.
    pub fn iter(&self) -> Box<dyn Iterator<Item = u32> + '_> {
        match self {
            Set::Few(few) => Box::new(few.iter().copied()),
            Set::Many(many) => Box::new(many.iter()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn it_is_a_set(steps in prop::collection::vec(prop::collection::vec(0..64u32, 0..24), 1..6)) {
            let (mut set, mut model) = (Set::default(), BTreeSet::new());
            for step in steps {
                let other = Set::from_iter(step.iter().copied());
                let step = BTreeSet::from_iter(step);
                let new: Vec<u32> = step.difference(&model).copied().collect();
                prop_assert_eq!(set.missing(&other).iter().collect::<Vec<_>>(), new);
                set.absorb(&other);
                model.extend(step);
                prop_assert!(set.iter().eq(model.iter().copied()));
                prop_assert_eq!(set.len(), model.len());
                prop_assert!((0..64).all(|n| set.contains(n) == model.contains(&n)));
            }
        }
    }
}
