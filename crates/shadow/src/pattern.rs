//! Access patterns: the bytes that one element of a datatype touches, relative to the element's
//! address (the type map of MPI 4.1 §5.1 without the types).
//!
//! A pattern keeps the loops it was built from: a column of a million rows is one node, not a
//! million segments, and the test whether a byte is touched costs the depth of the type, not its
//! size.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

/// Maximum number of runs that are compared to find overlaps.
const STEPS: u32 = 1 << 16;

/// A set of byte offsets, built from blocks, repetition and displacement.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// Smallest offset touched; 0 for the empty pattern.
    lo: isize,
    /// One past the largest offset touched.
    hi: isize,
    /// Absent if every byte of `lo..hi` is touched; this common case allocates nothing.
    node: Option<Arc<Node>>,
}

#[derive(Debug)]
struct Node {
    /// Number of bytes touched, where overlapping parts count repeatedly.
    bytes: usize,
    shape: Shape,
}

#[derive(Debug)]
enum Shape {
    Repeat {
        count: usize,
        stride: isize,
        of: Pattern,
    },
    /// Parts with their displacements, ascending by first byte; `reach` is the longest span of a
    /// part.
    Parts {
        parts: Box<[(isize, Pattern)]>,
        reach: isize,
    },
}

impl Pattern {
    /// The bytes `lo..hi`.
    pub fn dense(lo: isize, hi: isize) -> Pattern {
        Pattern { lo, hi: hi.max(lo), node: None }
    }

    /// The empty pattern.
    pub fn empty() -> Pattern {
        Pattern::dense(0, 0)
    }

    /// `count` copies of `self`, each `stride` bytes after the one before.
    pub fn repeat(&self, count: usize, stride: isize) -> Pattern {
        if count == 0 || self.bytes() == 0 {
            return Pattern::empty();
        }
        if count == 1 {
            return self.clone();
        }
        let last = stride * (count as isize - 1);
        let (lo, hi) = (self.lo + last.min(0), self.hi + last.max(0));
        if self.is_dense() && stride.unsigned_abs() == self.bytes() {
            return Pattern::dense(lo, hi);
        }
        let bytes = self.bytes() * count;
        let shape = Shape::Repeat { count, stride, of: self.clone() };
        Pattern { lo, hi, node: Some(Arc::new(Node { bytes, shape })) }
    }

    /// The union of patterns, each moved by its displacement.
    pub fn parts(parts: impl IntoIterator<Item = (isize, Pattern)>) -> Pattern {
        let mut parts: Vec<_> = parts.into_iter().filter(|(_, p)| p.bytes() > 0).collect();
        parts.sort_by_key(|(at, p)| at + p.lo);
        parts = join_adjacent(parts);
        match parts.len() {
            0 => return Pattern::empty(),
            1 if parts[0].0 == 0 => return parts.remove(0).1,
            1 if parts[0].1.is_dense() => {
                let (at, p) = &parts[0];
                return Pattern::dense(at + p.lo, at + p.hi);
            }
            _ => {}
        }
        let lo = parts.iter().map(|(at, p)| at + p.lo).min().unwrap_or(0);
        let hi = parts.iter().map(|(at, p)| at + p.hi).max().unwrap_or(0);
        let bytes = parts.iter().map(|(_, p)| p.bytes()).sum();
        let reach = parts.iter().map(|(_, p)| p.hi - p.lo).max().unwrap_or(0);
        let shape = Shape::Parts { parts: parts.into(), reach };
        Pattern { lo, hi, node: Some(Arc::new(Node { bytes, shape })) }
    }

    /// The bounding range: from the first byte touched to past the last.
    pub fn span(&self) -> Range<isize> {
        self.lo..self.hi
    }

    /// Number of bytes touched, where overlapping parts count repeatedly.
    pub fn bytes(&self) -> usize {
        match &self.node {
            Some(node) => node.bytes,
            None => (self.hi - self.lo) as usize,
        }
    }

    /// Whether every byte of the span is touched, by construction.
    pub fn is_dense(&self) -> bool {
        self.node.is_none()
    }

    /// A fingerprint: while this pattern lives, patterns of other bytes have, almost surely,
    /// another one. Equal patterns built separately may differ.
    pub fn fingerprint(&self) -> u64 {
        let mix = |a: u64, b: u64| (a ^ b).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
        let own = mix(self.lo as u64, mix(self.hi as u64, 1));
        match self.node.as_ref().map(|node| &node.shape) {
            None => own,
            Some(Shape::Repeat { count, stride, of }) => {
                mix(own, mix(*count as u64, mix(*stride as u64, of.fingerprint())))
            }
            Some(shape @ Shape::Parts { .. }) => mix(own, &raw const *shape as u64),
        }
    }

    /// Some offsets that are touched more than once. A pattern that is too large to examine in a
    /// bounded number of steps counts as touching each offset once.
    pub fn overlap(&self) -> Option<Range<isize>> {
        self.overlap_within(&mut { STEPS })
    }

    fn overlap_within(&self, steps: &mut u32) -> Option<Range<isize>> {
        match &self.node.as_ref()?.shape {
            Shape::Repeat { stride: 0, of, .. } => Some(of.first_run()),
            Shape::Repeat { count, stride, of } => {
                let within = of.overlap_within(steps);
                let length = of.hi - of.lo;
                // Only these copies reach into the first one; the distances among the others are
                // the same.
                let near = (length - 1) / stride.abs() + 1;
                let others = 1..near.min(*count as isize);
                let with = |n: isize| of.meets(of, n * stride, steps);
                within.or_else(|| others.into_iter().find_map(with))
            }
            Shape::Parts { parts, .. } => {
                // The earlier parts that reach furthest.
                let mut reaching: Vec<&(isize, Pattern)> = Vec::new();
                for part in parts {
                    let (at, pattern) = part;
                    if let Some(run) = pattern.overlap_within(steps) {
                        return Some(run.start + at..run.end + at);
                    }
                    reaching.retain(|(other, before)| other + before.hi > at + pattern.lo);
                    for (other, before) in &reaching {
                        if let Some(run) = before.meets(pattern, at - other, steps) {
                            return Some(run.start + other..run.end + other);
                        }
                    }
                    reaching.push(part);
                }
                None
            }
        }
    }

    /// Some offsets of this pattern that `other`, moved by `by`, touches as well.
    fn meets(&self, other: &Pattern, by: isize, steps: &mut u32) -> Option<Range<isize>> {
        *steps = steps.saturating_sub(1);
        if *steps == 0 || self.interleaves(other, by) {
            return None;
        }
        let window = other.lo + by..other.hi + by;
        let found = self.visit(0, &window, &mut |run| {
            *steps = steps.saturating_sub(1);
            if *steps == 0 {
                return ControlFlow::Break(None);
            }
            match other.visit(by, &run, &mut ControlFlow::Break) {
                ControlFlow::Break(run) => ControlFlow::Break(Some(run)),
                ControlFlow::Continue(()) => ControlFlow::Continue(()),
            }
        });
        found.break_value()?
    }

    /// Whether both are strided blocks with one stride that never overlap if `other` is moved by
    /// `by`, like neighbouring columns of one matrix.
    pub(crate) fn interleaves(&self, other: &Pattern, by: isize) -> bool {
        let (Some((distance, a)), Some((other_distance, b))) = (self.comb(), other.comb()) else {
            return false;
        };
        let (a_length, b_length) = (a.end - a.start, b.end - b.start);
        // From the start of a block of `self` to the next start of a block of `other`.
        let gap = (b.start + by - a.start).rem_euclid(distance);
        distance == other_distance && gap >= a_length && gap + b_length <= distance
    }

    fn first_run(&self) -> Range<isize> {
        let all = self.lo..self.hi;
        self.visit(0, &all, &mut ControlFlow::Break).break_value().unwrap_or(all)
    }

    /// For strided dense blocks: the stride, and the first block.
    pub(crate) fn comb(&self) -> Option<(isize, Range<isize>)> {
        let Shape::Repeat { stride, of, .. } = &self.node.as_ref()?.shape else { return None };
        let tooth = of.span();
        let fits = of.is_dense() && tooth.end - tooth.start <= stride.abs();
        fits.then(|| (stride.abs(), tooth))
    }

    /// Ranges, moved by `at`, of the first and the last `most` blocks that the constructor of the
    /// type placed individually; the whole range if the pattern is regular.
    pub(crate) fn pieces(&self, at: isize, most: usize, f: &mut impl FnMut(Range<isize>)) {
        match self.node.as_ref().map(|node| &node.shape) {
            Some(Shape::Parts { parts, .. }) => {
                let skipped = most..parts.len().saturating_sub(most).max(most);
                for (index, (displacement, part)) in parts.iter().enumerate() {
                    if !skipped.contains(&index) {
                        part.pieces(at + displacement, most, f);
                    }
                }
            }
            _ => f(at + self.lo..at + self.hi),
        }
    }

    /// Calls `f` with each run of touched offsets inside `window`, moved by `at`, until it breaks.
    /// Runs may touch or overlap each other and come in no particular order.
    pub fn visit<B>(
        &self,
        at: isize,
        window: &Range<isize>,
        f: &mut impl FnMut(Range<isize>) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let (lo, hi) = ((at + self.lo).max(window.start), (at + self.hi).min(window.end));
        if lo >= hi {
            return ControlFlow::Continue(());
        }
        let Some(node) = &self.node else { return f(lo..hi) };
        match &node.shape {
            Shape::Repeat { count, stride, of } => {
                for i in repetitions(at, of, *count, *stride, window) {
                    of.visit(at + i as isize * stride, window, f)?;
                }
                ControlFlow::Continue(())
            }
            Shape::Parts { parts, reach } => {
                let first = parts.partition_point(|(d, p)| at + d + p.lo + reach <= window.start);
                for (displacement, part) in &parts[first..] {
                    if at + displacement + part.lo >= window.end {
                        break;
                    }
                    part.visit(at + displacement, window, f)?;
                }
                ControlFlow::Continue(())
            }
        }
    }
}

/// The repetitions of `of` whose span meets `window`.
fn repetitions(
    at: isize,
    of: &Pattern,
    count: usize,
    stride: isize,
    window: &Range<isize>,
) -> Range<usize> {
    if stride == 0 {
        return 0..1;
    }
    // Copy i covers at + i*stride + lo .. at + i*stride + hi; with a negative stride, count the
    // copies from the other end.
    let (from, step) = if stride > 0 { (at, stride) } else { (-at, -stride) };
    let (lo, hi) = if stride > 0 { (of.lo, of.hi) } else { (-of.hi + 1, -of.lo + 1) };
    let (start, end) =
        if stride > 0 { (window.start, window.end) } else { (-window.end + 1, -window.start + 1) };
    let first = (start - from - hi).div_euclid(step) + 1;
    let past = (end - from - lo - 1).div_euclid(step) + 1;
    let first = first.clamp(0, count as isize) as usize;
    first..(past.clamp(first as isize, count as isize) as usize)
}

/// Merges dense parts that follow each other without a gap.
fn join_adjacent(parts: Vec<(isize, Pattern)>) -> Vec<(isize, Pattern)> {
    let mut joined: Vec<(isize, Pattern)> = Vec::with_capacity(parts.len());
    for (at, part) in parts {
        if let Some((before_at, before)) = joined.last_mut()
            && before.is_dense()
            && part.is_dense()
            && *before_at + before.hi == at + part.lo
        {
            *before = Pattern::dense(*before_at + before.lo, at + part.hi);
            *before_at = 0;
            continue;
        }
        joined.push((at, part));
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    /// A pattern together with the offsets that it must touch.
    fn patterns() -> impl Strategy<Value = (Pattern, BTreeSet<isize>)> {
        let block = (-8isize..8, 0isize..6).prop_map(|(lo, len)| {
            (Pattern::dense(lo, lo + len), (lo..lo + len).collect::<BTreeSet<_>>())
        });
        block.prop_recursive(3, 12, 4, |inner| {
            let repeat =
                (inner.clone(), 0usize..4, -20isize..20).prop_map(|((p, set), n, stride)| {
                    let all = (0..n as isize).flat_map(|i| set.iter().map(move |o| o + i * stride));
                    (p.repeat(n, stride), all.collect())
                });
            let parts = prop::collection::vec((-30isize..30, inner), 0..4).prop_map(|list| {
                let all = list.iter().flat_map(|(at, (_, set))| set.iter().map(move |o| o + at));
                let all = all.collect();
                (Pattern::parts(list.into_iter().map(|(at, (p, _))| (at, p))), all)
            });
            prop_oneof![repeat, parts]
        })
    }

    fn touched(pattern: &Pattern, at: isize, window: Range<isize>) -> BTreeSet<isize> {
        let mut all = BTreeSet::new();
        let _ = pattern.visit::<()>(at, &window, &mut |run| {
            assert!(run.start >= window.start && run.end <= window.end && run.start < run.end);
            all.extend(run);
            ControlFlow::Continue(())
        });
        all
    }

    /// How often a pattern touches each offset, from its construction.
    fn times(pattern: &Pattern, at: isize, all: &mut BTreeMap<isize, u32>) {
        match pattern.node.as_ref().map(|node| &node.shape) {
            None => (pattern.lo..pattern.hi).for_each(|o| *all.entry(at + o).or_default() += 1),
            Some(Shape::Repeat { count, stride, of }) => {
                (0..*count as isize).for_each(|i| times(of, at + i * stride, all));
            }
            Some(Shape::Parts { parts, .. }) => {
                parts.iter().for_each(|(by, part)| times(part, at + by, all));
            }
        }
    }

    proptest! {
        #[test]
        fn overlaps_are_touched_more_than_once((pattern, _) in patterns()) {
            let mut all = BTreeMap::new();
            times(&pattern, 0, &mut all);
            let twice = all.values().any(|n| *n > 1);
            let found = pattern.overlap();
            prop_assert_eq!(found.is_some(), twice, "{:?}", found);
            prop_assert!(found.into_iter().flatten().all(|offset| all[&offset] > 1));
        }

        #[test]
        fn visits_exactly_the_touched_bytes(
            (pattern, expected) in patterns(), at in -50isize..50, from in -150isize..150, len in 0isize..200
        ) {
            let window = from..from + len;
            let expected: BTreeSet<_> =
                expected.iter().map(|o| o + at).filter(|o| window.contains(o)).collect();
            prop_assert_eq!(touched(&pattern, at, window), expected);
        }
    }

    #[test]
    fn a_column_stays_one_node() {
        let column = Pattern::dense(0, 8).repeat(1_000_000, 8192);
        assert_eq!(column.bytes(), 8_000_000);
        assert_eq!(touched(&column, 0, 8192 * 500_000..8192 * 500_000 + 9000).len(), 16);
    }

    #[test]
    fn columns_side_by_side_do_not_overlap() {
        let column = Pattern::dense(0, 8).repeat(100_000, 8000);
        assert_eq!(column.repeat(1000, 8).overlap(), None);
        assert!(column.repeat(1001, 8).overlap().is_some());
    }

    #[test]
    fn contiguous_repetition_is_dense() {
        assert!(Pattern::dense(0, 4).repeat(10, 4).is_dense());
        assert!(Pattern::parts([(0, Pattern::dense(0, 4)), (4, Pattern::dense(0, 8))]).is_dense());
    }
}
