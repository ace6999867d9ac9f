//! Happens-before by atomic operations on windows: a rank that atomically reads what another has
//! written atomically acquires all that the other did before (MPI 4.1 §12.7.1 grants atomicity for
//! each element).
//!
//! Each 8 bytes of a window have a cell, to which an atomic write releases, and from which an
//! atomic read acquires. An operation on many of them uses one cell for the whole part of the
//! target instead.
//!
//! **Soundness.** A read is taken to have seen all earlier writes to the same 8 bytes or, where one
//! of the two has many elements, to the whole part: the resulting order can hide a race, and cannot
//! make one.

use crate::ids::{Key, mixed};
use commsan_shadow::Pattern;
use smallvec::SmallVec;
use std::ops::ControlFlow;

/// Bytes that share a cell.
const WORD: isize = 8;
/// Words of one operation that have cells of their own at most.
const MAX_WORDS: usize = 16;

/// The cells of one operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cells {
    window: u64,
    /// In ascending order; empty if there are many.
    words: SmallVec<[i64; 2]>,
}

impl Cells {
    /// The cells of an operation on these bytes, relative to `offset` in a part of the window of
    /// this name.
    pub fn of(window: u64, offset: i64, pattern: &Pattern) -> Cells {
        let mut words = SmallVec::new();
        let all = isize::MIN / 2..isize::MAX / 2;
        let _ = pattern.visit(offset as isize, &all, &mut |run| {
            let (first, last) = (run.start.div_euclid(WORD), (run.end - 1).div_euclid(WORD));
            if words.len() as isize + last - first >= MAX_WORDS as isize {
                words.clear();
                return ControlFlow::Break(());
            }
            words.extend((first..=last).map(|word| word as i64));
            ControlFlow::Continue(())
        });
        words.sort_unstable();
        words.dedup();
        Cells { window, words }
    }

    /// The cells to which a write releases.
    pub fn released(&self) -> impl Iterator<Item = u64> {
        let many = self.words.is_empty().then_some(Key::ManyWords);
        self.keys().chain([Key::AnyWord].into_iter().chain(many).map(|key| key.of(self.window)))
    }

    /// The cells to which a write releases that nobody reads with many others.
    pub fn signalled(&self) -> impl Iterator<Item = u64> {
        let many = self.words.is_empty().then_some(Key::ManyWords);
        self.keys().chain(many.map(|key| key.of(self.window)))
    }

    /// The cells from which a read acquires.
    pub fn acquired(&self) -> impl Iterator<Item = u64> {
        let rest = if self.words.is_empty() { Key::AnyWord } else { Key::ManyWords };
        self.keys().chain([rest.of(self.window)])
    }

    fn keys(&self) -> impl Iterator<Item = u64> {
        self.words.iter().map(|word| mixed(self.window, *word as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a read acquires from a write.
    fn acquires(read: (i64, &Pattern), written: (i64, &Pattern)) -> bool {
        let of = |(at, pattern)| Cells::of(7, at, pattern);
        let released: Vec<_> = of(written).released().collect();
        of(read).acquired().any(|cell| released.contains(&cell))
    }

    #[test]
    fn a_read_learns_from_writes_that_share_an_element() {
        let one = Pattern::dense(0, 8);
        let four = Pattern::dense(0, 32);
        let many = Pattern::dense(0, 8192);
        let gaps = Pattern::dense(0, 4).repeat(4, 16);
        assert!(acquires((8, &one), (8, &one)));
        assert!(!acquires((8, &one), (16, &one)));
        assert!(acquires((0, &four), (24, &one)) && acquires((24, &one), (0, &four)));
        assert!(!acquires((32, &one), (0, &four)));
        assert!(acquires((0, &many), (8184, &one)) && acquires((8184, &one), (0, &many)));
        assert!(acquires((0, &many), (0, &many)));
        assert!(acquires((48, &one), (0, &gaps)) && !acquires((40, &one), (0, &gaps)));
    }
}
