//! Compact layouts: a pattern as a few strided runs, for messages to the user.

use crate::Pattern;
use smallvec::SmallVec;
use std::ops::{ControlFlow, Range};

/// Evenly spaced runs of bytes; several where the layout is less even.
#[derive(Clone, Debug, PartialEq)]
pub struct Runs(pub SmallVec<[Comb; 1]>);

/// `count` runs of `size` bytes, `stride` bytes apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comb {
    /// The first byte.
    pub start: i64,
    /// Bytes of a run.
    pub size: u64,
    /// Distance from one run to the next, in bytes.
    pub stride: i64,
    /// Number of runs.
    pub count: u64,
}

impl Runs {
    /// The layout of a pattern moved by `at`.
    pub fn of(pattern: &Pattern, at: i64) -> Runs {
        Runs::at_most(usize::MAX, pattern, at).unwrap_or_else(|| Runs(SmallVec::new()))
    }

    /// The layout of a pattern moved by `at`; `None` if it takes more than `most` rows of runs.
    pub fn at_most(most: usize, pattern: &Pattern, at: i64) -> Option<Runs> {
        if pattern.is_dense() {
            let (span, (stride, count)) = (pattern.span(), (0, 1));
            let (start, size) = (at + span.start as i64, (span.end - span.start) as u64);
            return Some(Runs(SmallVec::from_buf([Comb { start, size, stride, count }])));
        }
        let mut combs: SmallVec<[Comb; 1]> = SmallVec::new();
        let span = pattern.span();
        let window = at as isize + span.start..at as isize + span.end;
        let all = pattern.visit::<()>(at as isize, &window, &mut |run: Range<isize>| {
            let (start, size) = (run.start as i64, (run.end - run.start) as u64);
            let is_full = combs.len() == most;
            match combs.last_mut() {
                Some(last) if last.size == size && last.count == 1 => {
                    (last.stride, last.count) = (start - last.start, 2);
                }
                Some(last)
                    if last.size == size
                        && start == last.start + last.stride * last.count as i64 =>
                {
                    last.count += 1;
                }
                _ if is_full => return ControlFlow::Break(()),
                _ => combs.push(Comb { start, size, stride: 0, count: 1 }),
            }
            ControlFlow::Continue(())
        });
        all.is_continue().then_some(Runs(combs))
    }

    /// Converts back to a pattern.
    pub fn pattern(&self) -> Pattern {
        if let [Comb { start, size, count: 1, .. }] = *self.0 {
            return Pattern::dense(start as isize, start as isize + size as isize);
        }
        Pattern::parts(self.0.iter().map(|comb| {
            let tooth = Pattern::dense(0, comb.size as isize);
            (comb.start as isize, tooth.repeat(comb.count as usize, comb.stride as isize))
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn runs_are_the_bytes_of_the_pattern(
            size in 1isize..9, n in 1usize..6, stride in 9isize..30, m in 1usize..4, at in 0i64..99,
        ) {
            let pattern = Pattern::dense(0, size).repeat(n, stride).repeat(m, 200);
            let runs = Runs::of(&pattern, at);
            let back = runs.pattern();
            let bytes = |pattern: &Pattern, at| {
                let mut all = std::collections::BTreeSet::new();
                let _ = pattern.visit::<()>(at, &(0..2000), &mut |run| {
                    all.extend(run);
                    ControlFlow::Continue(())
                });
                all
            };
            prop_assert_eq!(bytes(&back, 0), bytes(&pattern, at as isize));
            let rows = runs.0.len();
            prop_assert_eq!(Runs::at_most(rows, &pattern, at), Some(runs));
            prop_assert!(rows == 1 || Runs::at_most(rows - 1, &pattern, at).is_none());
        }
    }
}
