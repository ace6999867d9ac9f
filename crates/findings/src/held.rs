//! Locks of windows, encoded as numbers in which ranks publish them.

/// A lock of a window that a rank holds or asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    /// The rank of the window's group whose part it is for; `None` for all.
    pub target: Option<u32>,
    /// Whether nobody else may hold one.
    pub exclusive: bool,
}

impl Held {
    /// It as a number.
    pub fn number(self) -> u32 {
        self.target.map_or(0, |target| target.saturating_add(1)) << 1 | u32::from(self.exclusive)
    }

    /// What [`Held::number`] has given a number for.
    pub fn of(number: u32) -> Held {
        Held { target: (number >> 1).checked_sub(1), exclusive: number & 1 == 1 }
    }

    /// Whether two ranks cannot hold them at once.
    pub fn excludes(self, other: Held) -> bool {
        let same = |a: Option<u32>, b: Option<u32>| a.is_none() || b.is_none() || a == b;
        (self.exclusive || other.exclusive) && same(self.target, other.target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_identify_locks() {
        for target in [None, Some(0), Some(1), Some(4095)] {
            for exclusive in [false, true] {
                let held = Held { target, exclusive };
                assert_eq!(Held::of(held.number()), held);
            }
        }
    }

    #[test]
    fn exclusive_locks_exclude_all_on_the_same_part() {
        let held = |target, exclusive| Held { target, exclusive };
        assert!(held(Some(1), true).excludes(held(Some(1), false)));
        assert!(held(None, false).excludes(held(Some(1), true)));
        assert!(!held(Some(2), true).excludes(held(Some(1), true)));
        assert!(!held(None, false).excludes(held(Some(1), false)));
    }
}
