//! Memory footprints: the bytes that one access touches, at absolute addresses.

use crate::Pattern;
use std::ops::{ControlFlow, Range};

/// The bytes that an operation or a call touches.
#[derive(Clone, Debug)]
pub enum Footprint {
    /// Every byte of a range; by far the most common case, which allocates nothing.
    Dense(Range<usize>),
    /// A pattern with its origin at an address.
    Sparse(Box<(usize, Pattern)>),
}

impl Footprint {
    /// `pattern` with its origin at address `base`.
    pub fn new(base: usize, pattern: Pattern) -> Footprint {
        match pattern.is_dense() {
            true => Footprint::Dense(moved(base, &pattern.span())),
            false => Footprint::Sparse(Box::new((base, pattern))),
        }
    }

    /// `count` elements of `pattern` from address `base`, `extent` bytes apart.
    pub fn elements(base: usize, pattern: &Pattern, count: usize, extent: isize) -> Footprint {
        let span = pattern.span();
        if pattern.is_dense() && extent == span.end - span.start && count > 0 {
            let last = extent * (count as isize - 1);
            return Footprint::Dense(moved(base, &(span.start..span.end + last)));
        }
        Footprint::new(base, pattern.repeat(count, extent))
    }

    /// The bounding range: from the first byte touched to past the last.
    pub fn span(&self) -> Range<usize> {
        match self {
            Footprint::Dense(range) => range.clone(),
            Footprint::Sparse(at) => moved(at.0, &at.1.span()),
        }
    }

    /// Ranges of the first and the last `most` blocks that the program placed individually, by
    /// displacements; the whole range if the pattern is regular.
    pub fn pieces(&self, most: usize, f: &mut impl FnMut(Range<usize>)) {
        match self {
            Footprint::Dense(range) => f(range.clone()),
            Footprint::Sparse(at) => {
                at.1.pieces(at.0 as isize, most, &mut |piece| {
                    f(piece.start as usize..piece.end as usize);
                });
            }
        }
    }

    /// Number of bytes touched.
    pub fn bytes(&self) -> usize {
        match self {
            Footprint::Dense(range) => range.len(),
            Footprint::Sparse(at) => at.1.bytes(),
        }
    }

    /// Calls `f` with each run of touched addresses inside `window`, until it breaks.
    pub fn visit<B>(
        &self,
        window: &Range<usize>,
        f: &mut impl FnMut(Range<usize>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        match self {
            Footprint::Dense(range) => {
                let run = range.start.max(window.start)..range.end.min(window.end);
                if run.is_empty() { ControlFlow::Continue(()) } else { f(run) }
            }
            Footprint::Sparse(at) => {
                let window = window.start as isize..window.end as isize;
                let (at, pattern) = (at.0 as isize, &at.1);
                pattern.visit(at, &window, &mut |run| f(run.start as usize..run.end as usize))
            }
        }
    }

    /// Some bytes of `range` that are touched.
    pub fn within(&self, range: &Range<usize>) -> Option<Range<usize>> {
        match self.visit(range, &mut ControlFlow::Break) {
            ControlFlow::Break(run) => Some(run),
            ControlFlow::Continue(()) => None,
        }
    }

    /// Whether both are strided blocks that never overlap, like two columns of a matrix; spares a
    /// comparison block by block.
    fn interleaves(&self, other: &Footprint) -> bool {
        match (self, other) {
            (Footprint::Sparse(a), Footprint::Sparse(b)) => {
                a.1.interleaves(&b.1, b.0.wrapping_sub(a.0) as isize)
            }
            _ => false,
        }
    }

    /// Some bytes that both touch.
    pub fn meets(&self, other: &Footprint) -> Option<Range<usize>> {
        let (a, b) = (self.span(), other.span());
        let common = a.start.max(b.start)..a.end.min(b.end);
        if common.is_empty() || self.interleaves(other) {
            return None;
        }
        let found = self.visit(&common, &mut |run| match other.within(&run) {
            Some(bytes) => ControlFlow::Break(bytes),
            None => ControlFlow::Continue(()),
        });
        match found {
            ControlFlow::Break(bytes) => Some(bytes),
            ControlFlow::Continue(()) => None,
        }
    }
}

fn moved(base: usize, span: &Range<isize>) -> Range<usize> {
    base.wrapping_add_signed(span.start)..base.wrapping_add_signed(span.end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn combs_meet_where_a_byte_is_shared(
            a in 0usize..40, b in 0usize..40, la in 1isize..12, lb in 1isize..12,
            na in 1usize..5, nb in 1usize..5, sa in -13isize..13, same: bool, sb in -13isize..13,
        ) {
            let sb = if same { sa } else { sb };
            let a = Footprint::new(1000 + a, Pattern::dense(0, la).repeat(na, sa));
            let b = Footprint::new(1000 + b, Pattern::dense(0, lb).repeat(nb, sb));
            let shared = (900..1100).any(|byte: usize| {
                let byte = byte..byte + 1;
                a.within(&byte).is_some() && b.within(&byte).is_some()
            });
            prop_assert_eq!(a.meets(&b).is_some(), shared);
        }
    }
}
