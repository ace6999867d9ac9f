//! Groups of communicators: what "each other member" means.

use crate::model::Pattern;
use rustc_hash::FxHashMap;

/// Members of a group in the order of their ranks in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Group {
    members: Vec<u32>,
    /// Rank of each; of a place that occurs more than once, the lowest.
    ranks: FxHashMap<u32, u32>,
}

impl Group {
    /// A group of these places.
    pub fn new(members: Vec<u32>) -> Group {
        let mut ranks = FxHashMap::default();
        for (rank, place) in members.iter().enumerate() {
            ranks.entry(*place).or_insert(rank as u32);
        }
        Group { members, ranks }
    }

    /// Its places in the order of ranks.
    pub fn places(&self) -> &[u32] {
        &self.members
    }

    /// Whether no place occurs twice.
    pub fn is_plain(&self) -> bool {
        self.ranks.len() == self.members.len()
    }

    /// Rank of a place.
    pub fn rank(&self, place: u32) -> Option<usize> {
        self.ranks.get(&place).map(|rank| *rank as usize)
    }

    /// Members that `pattern` means as seen from `other`. Someone who is no member, as the root of
    /// an intercommunicator's collective, sees all as others, and none as above or below.
    pub fn members(&self, pattern: Pattern, other: u32) -> impl Iterator<Item = u32> + '_ {
        let rank = self.rank(other);
        let range = match (pattern, rank) {
            (Pattern::Others | Pattern::All, _) => 0..self.members.len(),
            (Pattern::Above, Some(rank)) => rank + 1..self.members.len(),
            (Pattern::Below, Some(rank)) => 0..rank,
            (_, None) => 0..0,
        };
        let is_meant = move |member: &u32| pattern == Pattern::All || *member != other;
        self.members[range].iter().copied().filter(is_meant)
    }

    /// How often `pattern` as seen from `other` means `place`.
    pub fn times(&self, pattern: Pattern, other: u32, place: u32) -> u64 {
        let Some(rank) = self.rank(place) else { return 0 };
        // A place may occur twice.
        if !self.is_plain() {
            return self.members(pattern, other).filter(|member| *member == place).count() as u64;
        }
        let is_meant = match (pattern, self.rank(other)) {
            (Pattern::All, _) => true,
            (Pattern::Others, _) => place != other,
            (Pattern::Above, Some(of)) => rank > of,
            (Pattern::Below, Some(of)) => rank < of,
            (_, None) => false,
        };
        u64::from(is_meant)
    }

    /// How many these are.
    pub fn count(&self, pattern: Pattern, other: u32) -> u64 {
        if !self.is_plain() {
            return self.members(pattern, other).count() as u64;
        }
        let count = match (pattern, self.rank(other)) {
            (Pattern::All, _) => self.members.len(),
            (Pattern::Others, rank) => self.members.len() - usize::from(rank.is_some()),
            (Pattern::Above, Some(rank)) => self.members.len() - 1 - rank,
            (Pattern::Below, Some(rank)) => rank,
            (_, None) => 0,
        };
        count as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_seen_from_the_other_end() {
        let group = Group::new(vec![7, 3, 9, 5]);
        for (pattern, other, expected) in [
            (Pattern::Others, 3, vec![7, 9, 5]),
            (Pattern::Above, 3, vec![9, 5]),
            (Pattern::Below, 9, vec![7, 3]),
            (Pattern::Others, 4, vec![7, 3, 9, 5]),
            (Pattern::Above, 4, vec![]),
            (Pattern::All, 3, vec![7, 3, 9, 5]),
        ] {
            assert_eq!(group.members(pattern, other).collect::<Vec<_>>(), expected);
            for place in 0..10 {
                let times = expected.iter().filter(|member| **member == place).count() as u64;
                assert_eq!(group.times(pattern, other, place), times);
            }
            assert_eq!(group.count(pattern, other), expected.len() as u64);
        }
    }

    #[test]
    fn places_that_occur_twice_never_send_to_themselves() {
        let group = Group::new(vec![1, 2, 1, 3]);
        assert_eq!(group.members(Pattern::Others, 1).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(group.count(Pattern::Others, 1), 2);
        assert_eq!(group.count(Pattern::Above, 2), 2);
        assert_eq!(group.count(Pattern::All, 1), 4);
        assert_eq!(group.times(Pattern::Others, 2, 1), 2);
        assert_eq!(group.times(Pattern::All, 1, 1), 2);
    }
}
