//! Sets of numbers: most have a few, some in large programs tens of thousands.

use roaring::RoaringBitmap;
use smallvec::SmallVec;

/// Numbers that are kept one by one, at most.
const FEW: usize = 12;

/// A set that grows.
#[derive(Clone, Debug)]
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

impl Set {
    pub fn is_empty(&self) -> bool {
        match self {
            Set::Few(few) => few.is_empty(),
            Set::Many(many) => many.is_empty(),
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Set::Few(few) => few.len(),
            Set::Many(many) => many.len() as usize,
        }
    }

    /// Says whether it is new.
    pub fn insert(&mut self, number: u32) -> bool {
        match self {
            Set::Few(few) => {
                let Err(at) = few.binary_search(&number) else { return false };
                few.insert(at, number);
                if few.len() > FEW {
                    let many = RoaringBitmap::from_sorted_iter(few.iter().copied());
                    *self = Set::Many(Box::new(many.expect("they are in order")));
                }
                true
            }
            Set::Many(many) => many.insert(number),
        }
    }

    /// Adds all of another; says what of that is new.
    pub fn absorb(&mut self, other: &Set) -> Set {
        if let (Set::Many(ours), Set::Many(theirs)) = (&mut *self, other) {
            let new = &**theirs - &**ours;
            **ours |= &new;
            return if new.is_empty() { Set::default() } else { Set::Many(Box::new(new)) };
        }
        let mut new = Set::default();
        for number in other.iter() {
            if self.insert(number) {
                new.insert(number);
            }
        }
        new
    }

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
                let mut other = Set::default();
                for number in &step {
                    other.insert(*number);
                }
                let step = BTreeSet::from_iter(step);
                let new: Vec<u32> = step.difference(&model).copied().collect();
                prop_assert_eq!(set.absorb(&other).iter().collect::<Vec<_>>(), new);
                model.extend(step);
                prop_assert!(set.iter().eq(model.iter().copied()));
                prop_assert_eq!(set.len(), model.len());
            }
        }
    }
}
