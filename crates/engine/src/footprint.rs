//! The bytes one access touches, at their addresses.

use crate::Pattern;
use std::ops::{ControlFlow, Range};

/// A pattern laid out in memory: what an operation or a call touches.
#[derive(Clone, Debug)]
pub struct Footprint {
    base: isize,
    pattern: Pattern,
}

impl Footprint {
    /// `pattern` with its origin at address `base`.
    pub fn new(base: usize, pattern: Pattern) -> Footprint {
        Footprint { base: base as isize, pattern }
    }

    /// The bytes `range`.
    pub fn dense(range: Range<usize>) -> Footprint {
        let len = range.end.saturating_sub(range.start) as isize;
        Footprint::new(range.start, Pattern::dense(0, len))
    }

    /// Addresses from the first byte touched to past the last.
    pub fn span(&self) -> Range<usize> {
        let span = self.pattern.span();
        (self.base + span.start) as usize..(self.base + span.end) as usize
    }

    /// Bytes touched.
    pub fn bytes(&self) -> usize {
        self.pattern.bytes()
    }

    /// Calls `f` with each run of touched addresses inside `window`.
    pub fn visit<B>(
        &self,
        window: &Range<usize>,
        f: &mut impl FnMut(Range<usize>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let window = window.start as isize..window.end as isize;
        self.pattern.visit(self.base, &window, &mut |run| f(run.start as usize..run.end as usize))
    }

    /// Some bytes of `range` that are touched.
    pub fn within(&self, range: &Range<usize>) -> Option<Range<usize>> {
        match self.visit(range, &mut ControlFlow::Break) {
            ControlFlow::Break(run) => Some(run),
            ControlFlow::Continue(()) => None,
        }
    }

    /// Some bytes that both footprints touch.
    pub fn meets(&self, other: &Footprint) -> Option<Range<usize>> {
        let (a, b) = (self.span(), other.span());
        let common = a.start.max(b.start)..a.end.min(b.end);
        if common.is_empty() {
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
