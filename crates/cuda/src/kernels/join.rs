//! Sets of bytes that are one: what covers what, and which two make a third.
//!
//! A [`Footprint`] is runs of bytes, repeated at equal distances in some dimensions. Everything
//! here is exact: what is said to be covered is, and a union has no byte that neither part has.

use commsan_ptx::Footprint;

/// The most parts that an unrolled loop's body is taken to have.
const MAX_PARTS: u64 = 16;

/// A footprint whose runs do not touch each other in its first dimension, and whose dimensions do
/// not continue each other.
pub(super) fn normal(footprint: &Footprint) -> Footprint {
    let mut normal = Footprint { repeats: Vec::new(), ..*footprint };
    let mut repeats = footprint.repeats.clone();
    repeats.retain(|(_, count)| *count > 1);
    repeats.sort_unstable();
    for (distance, count) in repeats {
        match normal.repeats.last_mut() {
            None if distance <= normal.run => normal.run += distance * (count - 1),
            Some((step, n)) if distance.is_multiple_of(*step) && distance / *step <= *n => {
                *n += distance / *step * (count - 1);
            }
            _ => normal.repeats.push((distance, count)),
        }
    }
    normal
}

/// Whether all bytes of `b` are in `a`, as far as can be seen from their dimensions.
pub(super) fn covers(a: &Footprint, b: &Footprint) -> bool {
    if b.start < a.start || b.end() > a.end() {
        return false;
    }
    if a.repeats.is_empty() {
        return true;
    }
    let mut rest = b.start - a.start;
    let fits = a.repeats.iter().rev().all(|(distance, count)| {
        let first = (rest / distance).min(count - 1);
        rest -= first * distance;
        first + count_at(b, *distance) <= *count
    });
    let known = b.repeats.iter().all(|(distance, _)| count_at(a, *distance) > 1);
    fits && known && rest + b.run <= a.run
}

/// How often a footprint repeats at a distance.
fn count_at(footprint: &Footprint, distance: u64) -> u64 {
    footprint.repeats.iter().find(|(d, _)| *d == distance).map_or(1, |(_, count)| *count)
}

/// The bytes of both, if that is a footprint too.
pub(super) fn union(a: &Footprint, b: &Footprint) -> Option<Footprint> {
    let (a, b) = if (a.start, b.end()) <= (b.start, a.end()) { (a, b) } else { (b, a) };
    if covers(a, b) {
        return Some(a.clone());
    }
    let distance = b.start - a.start;
    if a.repeats == b.repeats {
        if distance <= a.run {
            let run = a.run.max(distance + b.run);
            return Some(normal(&Footprint { run, ..a.clone() }));
        }
        if a.run == b.run && is_part(a, distance) {
            let mut both = a.clone();
            both.repeats.push((distance, 2));
            return Some(normal(&both));
        }
    }
    longer(a, b, distance)
}

/// Whether equal bytes at that distance fill the gaps of a footprint evenly, as the parts of an
/// unrolled loop's body do.
fn is_part(footprint: &Footprint, distance: u64) -> bool {
    let fills = |(step, _): &(u64, u64)| {
        distance < *step && step.is_multiple_of(distance) && step / distance <= MAX_PARTS
    };
    footprint.repeats.iter().any(fills)
}

/// The union if it is longer in one dimension, and otherwise the same.
fn longer(a: &Footprint, b: &Footprint, apart: u64) -> Option<Footprint> {
    let distances = a.repeats.iter().chain(&b.repeats).map(|(distance, _)| *distance);
    let extend = |distance: u64| {
        let (count, more) = (count_at(a, distance), count_at(b, distance));
        let others = |f: &Footprint| {
            let others = f.repeats.iter().filter(|(d, _)| *d != distance);
            others.copied().collect::<Vec<_>>()
        };
        let steps = apart / distance;
        let joins = apart.is_multiple_of(distance) && steps <= count;
        if !joins || a.run != b.run || others(a) != others(b) {
            return None;
        }
        let mut longer = Footprint { repeats: others(a), ..*a };
        longer.repeats.push((distance, count.max(steps + more)));
        Some(normal(&longer))
    };
    distances.into_iter().find_map(extend)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn bytes(footprint: &Footprint) -> BTreeSet<u64> {
        footprint.runs().flatten().collect()
    }

    fn footprints() -> impl Strategy<Value = Footprint> {
        let repeats = prop::collection::vec((1u64..30, 1u64..5), 0..3);
        (0u64..60, 1u64..9, repeats)
            .prop_map(|(start, run, repeats)| normal(&Footprint { start, run, repeats }))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn what_is_normal_has_the_same_bytes(
            start in 0u64..9, run in 1u64..9,
            repeats in prop::collection::vec((1u64..30, 1u64..5), 0..4),
        ) {
            let footprint = Footprint { start, run, repeats };
            prop_assert_eq!(bytes(&normal(&footprint)), bytes(&footprint));
        }

        #[test]
        fn unions_and_covers_are_exact(a in footprints(), b in footprints()) {
            let both: BTreeSet<u64> = &bytes(&a) | &bytes(&b);
            if covers(&a, &b) {
                prop_assert_eq!(&bytes(&a), &both);
            }
            if let Some(union) = union(&a, &b) {
                prop_assert_eq!(bytes(&union), both);
            }
        }

        #[test]
        fn shifted_by_parts_unions_are_exact(a in footprints(), which: prop::sample::Index, by in 0u64..7) {
            let steps: Vec<u64> = a.repeats.iter().map(|(d, _)| *d).chain([1, a.run]).collect();
            let b = Footprint { start: a.start + by * steps[which.index(steps.len())], ..a.clone() };
            let both: BTreeSet<u64> = &bytes(&a) | &bytes(&b);
            if let Some(union) = union(&a, &b) {
                prop_assert_eq!(bytes(&union), both);
            }
        }
    }

    fn rows(start: u64, run: u64, pitch: u64, count: u64) -> Footprint {
        Footprint { start, run, repeats: vec![(pitch, count)] }
    }

    #[test]
    fn rows_of_stencils_are_joined() {
        let (west, east) = (rows(92, 40, 100, 5), rows(108, 40, 100, 5));
        let (north, south) = (rows(0, 40, 100, 5), rows(200, 40, 100, 5));
        assert_eq!(union(&west, &east), Some(rows(92, 56, 100, 5)));
        assert_eq!(union(&north, &south), Some(rows(0, 40, 100, 7)));
        assert_eq!(union(&south, &north), Some(rows(0, 40, 100, 7)));
        assert!(covers(&rows(0, 40, 100, 7), &rows(108, 32, 100, 6)));
        assert!(!covers(&rows(0, 40, 100, 7), &rows(108, 33, 100, 6)));
    }

    #[test]
    fn unrolled_loops_are_joined() {
        let parts = (0..4).map(|part| rows(8 * part, 8, 32, 10));
        let whole = parts.reduce(|a, b| union(&a, &b).expect("a union")).expect("parts");
        assert_eq!(whole, Footprint { start: 0, run: 320, repeats: Vec::new() });
        let column = (0..4).map(|part| rows(1000 * part, 8, 4000, 10));
        let whole = column.reduce(|a, b| union(&a, &b).expect("a union")).expect("parts");
        assert_eq!(whole, rows(0, 8, 1000, 40));
    }
}
