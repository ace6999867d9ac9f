//! The access histogram of an object: which of its bytes were transferred, and how often.
//!
//! Programs transfer the same bytes again and again, so each distinct set of bytes is stored once
//! with a count. Too many sets are summed byte by byte; if the sum has too many steps, boundaries
//! are rounded outwards. Memory is therefore bounded, and the counts are exact for all but
//! scattered access.

use commsan_rundir::traffic::{Extent, ExtentSum};
use commsan_shadow::{Footprint, Pattern};
use rustc_hash::FxHashMap;
use std::ops::{ControlFlow, Range};

/// Distinct sets of bytes stored before they are summed.
const MAX_SETS: usize = 256;

/// Maximum number of extents of a row.
const MAX_EXTENTS: usize = 2048;

/// Maximum number of runs of a pattern that are enumerated; a pattern with more counts by its span.
const MAX_RUNS: usize = 1 << 16;

/// Bytes of an object, each with a count.
#[derive(Clone, Debug, Default)]
pub struct Extents {
    /// The run counted last: its start, its size, and how often it was counted since.
    recent: (u64, u64, u64),
    runs: FxHashMap<(u64, u64), u64>,
    /// Counts of patterns, by origin and fingerprint.
    patterns: FxHashMap<(i64, u64), (Pattern, u64)>,
    /// Earlier counts, summed: ascending and disjoint.
    folded: Vec<Extent>,
}

impl Extents {
    /// Counts each byte that `footprint` touches `times` times; `base` is the object's first
    /// address.
    #[inline]
    pub fn add(&mut self, base: u64, footprint: &Footprint, times: u64) {
        match footprint {
            Footprint::Dense(range) => {
                self.add_run(
                    range.start as u64 - base.min(range.start as u64),
                    range.len() as u64,
                    times,
                );
            }
            Footprint::Sparse(at) => self.add_pattern(at.0 as i64 - base as i64, &at.1, times),
        }
    }

    /// Counts a run of `bytes` bytes `count` times.
    #[inline]
    pub fn add_run(&mut self, start: u64, bytes: u64, count: u64) {
        if (self.recent.0, self.recent.1) != (start, bytes) {
            self.put_recent();
            self.recent = (start, bytes, 0);
        }
        self.recent.2 += count;
    }

    fn put_recent(&mut self) {
        let (start, bytes, count) = std::mem::take(&mut self.recent);
        if count > 0 && bytes > 0 {
            *self.runs.entry((start, bytes)).or_default() += count;
            self.bound();
        }
    }

    fn add_pattern(&mut self, origin: i64, pattern: &Pattern, times: u64) {
        let key = (origin, pattern.fingerprint());
        self.patterns.entry(key).or_insert_with(|| (pattern.clone(), 0)).1 += times;
        self.bound();
    }

    fn bound(&mut self) {
        if self.runs.len() + self.patterns.len() > MAX_SETS {
            self.folded = self.add_up();
            self.runs.clear();
            self.patterns.clear();
        }
    }

    /// All counts, as ascending, disjoint extents.
    pub fn list(&self) -> Vec<Extent> {
        let mut whole = self.clone();
        whole.put_recent();
        whole.add_up()
    }

    fn add_up(&self) -> Vec<Extent> {
        let mut sum = ExtentSum::default();
        for extent in &self.folded {
            sum.add(extent.start..extent.start + extent.bytes, extent.count);
        }
        for (&(start, bytes), count) in &self.runs {
            sum.add(start..start + bytes, *count);
        }
        for (&(origin, ..), (pattern, count)) in &self.patterns {
            add_pattern(&mut sum, origin, pattern, *count);
        }
        bounded(sum.extents())
    }
}

/// Adds `count` to each byte that a pattern touches.
fn add_pattern(sum: &mut ExtentSum, origin: i64, pattern: &Pattern, count: u64) {
    let moved = |run: Range<isize>| run.start.max(0) as u64..run.end.max(0) as u64;
    let span = pattern.span();
    let whole = span.start + origin as isize..span.end + origin as isize;
    let (mut runs, mut seen) = (Vec::new(), 0);
    let all = pattern.visit(origin as isize, &whole, &mut |run| {
        runs.push(moved(run));
        seen += 1;
        if seen > MAX_RUNS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    if all.is_break() {
        runs = vec![moved(whole)];
    }
    runs.into_iter().for_each(|run| sum.add(run, count));
}

/// Reduces the list to the maximum length: boundaries are rounded outwards to increasing powers of
/// two, and where extents merge the larger count stays.
fn bounded(mut extents: Vec<Extent>) -> Vec<Extent> {
    let mut grain = 8;
    while extents.len() > MAX_EXTENTS {
        let mut rounded: Vec<Extent> = Vec::with_capacity(extents.len());
        for extent in &extents {
            let start = extent.start / grain * grain;
            let end = (extent.start + extent.bytes).next_multiple_of(grain);
            match rounded.last_mut() {
                Some(last) if start < last.start + last.bytes => {
                    last.bytes = last.bytes.max(end - last.start);
                    last.count = last.count.max(extent.count);
                }
                Some(last) if start == last.start + last.bytes && last.count == extent.count => {
                    last.bytes += end - start;
                }
                _ => rounded.push(Extent { start, bytes: end - start, count: extent.count }),
            }
        }
        extents = rounded;
        grain *= 2;
    }
    extents
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    enum Added {
        Run(usize, usize),
        Column { start: usize, count: usize, stride: usize, bytes: usize },
    }

    fn added() -> impl Strategy<Value = Added> {
        prop_oneof![
            (0usize..200, 1usize..20).prop_map(|(start, bytes)| Added::Run(start, bytes)),
            (0usize..100, 1usize..6, 9usize..20, 1usize..8).prop_map(
                |(start, count, stride, bytes)| Added::Column { start, count, stride, bytes }
            ),
        ]
    }

    proptest! {
        #[test]
        fn every_byte_has_its_count(added in prop::collection::vec(added(), 0..600)) {
            const BASE: usize = 0x1000;
            let (mut extents, mut bytes) = (Extents::default(), vec![0u64; 400]);
            for added in &added {
                let footprint = match *added {
                    Added::Run(start, size) => Footprint::Dense(BASE + start..BASE + start + size),
                    Added::Column { start, count, stride, bytes } => {
                        let tooth = Pattern::dense(0, bytes as isize);
                        Footprint::new(BASE + start, tooth.repeat(count, stride as isize))
                    }
                };
                extents.add(BASE as u64, &footprint, 1);
                let _ = footprint.visit(&(0..usize::MAX / 2), &mut |run| {
                    run.for_each(|byte| bytes[byte - BASE] += 1);
                    ControlFlow::<()>::Continue(())
                });
            }
            let mut found = vec![0u64; 400];
            let list = extents.list();
            for extent in &list {
                let range = extent.start as usize..(extent.start + extent.bytes) as usize;
                found[range].iter_mut().for_each(|count| *count += extent.count);
            }
            prop_assert_eq!(found, bytes);
            let apart = list.windows(2).all(|two| two[0].start + two[0].bytes <= two[1].start);
            prop_assert!(apart);
        }
    }

    #[test]
    fn scattered_bytes_stay_bounded_and_covered() {
        let mut extents = Extents::default();
        let places = (0..100_000u64).map(|n| n * 7919 % 1_000_003 * 3);
        places.clone().for_each(|start| extents.add_run(start, 1, 1));
        let list = extents.list();
        assert!(list.len() <= MAX_EXTENTS, "{}", list.len());
        for start in places {
            let covered = list.iter().any(|e| (e.start..e.start + e.bytes).contains(&start));
            assert!(covered, "{start}");
        }
    }
}
