//! Which bytes of an object: extents of many transfers as one list, and what they say of its shape.

use commsan_rundir::traffic::{Extent, ExtentSum};
use std::collections::BTreeMap;

/// Sizes of elements that are guessed, likeliest first.
const ELEMENTS: [u64; 4] = [8, 4, 2, 1];

/// Elements of a part that may be a row's, at least.
const SHORTEST_ROW: u64 = 4;

/// Rows that are tried.
const MAX_ROWS: u64 = 1 << 16;

/// Shapes that are suggested at most.
const MAX_SHAPES: usize = 8;

/// Extents of several lists as one, apart, with how often each byte was touched; at most `most` of
/// them, the closest ones joined. What is joined says how often its most touched byte was.
pub fn join(extents: &[Extent], most: usize) -> Vec<Extent> {
    let mut sum = ExtentSum::default();
    for extent in extents {
        sum.add(extent.start..extent.start.saturating_add(extent.bytes), extent.count);
    }
    reduce(sum.extents(), most.max(1))
}

/// Joins across the smallest gaps until few enough are left.
fn reduce(extents: Vec<Extent>, most: usize) -> Vec<Extent> {
    if extents.len() <= most {
        return extents;
    }
    let gap = |two: &[Extent]| two[1].start - (two[0].start + two[0].bytes);
    let mut gaps: Vec<(u64, usize)> =
        extents.windows(2).enumerate().map(|(at, two)| (gap(two), at)).collect();
    gaps.sort_unstable();
    let mut joins = vec![false; extents.len()];
    gaps.iter().take(extents.len() - most).for_each(|(_, at)| joins[at + 1] = true);
    let mut reduced: Vec<Extent> = vec![];
    for (extent, joins) in extents.into_iter().zip(joins) {
        match reduced.last_mut().filter(|_| joins) {
            Some(last) => {
                last.bytes = extent.start + extent.bytes - last.start;
                last.count = last.count.max(extent.count);
            }
            None => reduced.push(extent),
        }
    }
    reduced
}

/// Size of an element: the largest usual one that all begins and lengths are multiples of.
pub fn element<'e>(lists: impl Iterator<Item = &'e [Extent]>, size: u64) -> u64 {
    let numbers = lists.flatten().flat_map(|extent| [extent.start, extent.bytes]);
    let all = numbers.chain([size]).fold(0, |a, b| a | b);
    ELEMENTS.into_iter().find(|element| all % element == 0).unwrap_or(1)
}

/// Rows and columns that an object of `size` bytes may have: as its strides say, by how many of
/// them do; then the narrowest of which each part that is touched is within a row; then the square,
/// if it is one.
pub fn shapes<'e>(
    lists: impl Iterator<Item = &'e [Extent]> + Clone,
    size: u64,
    element: u64,
) -> Vec<(u64, u64)> {
    let mut votes: BTreeMap<u64, u64> = BTreeMap::new();
    let row = row(lists.clone().flatten(), size, element);
    for list in lists {
        for three in list.windows(3) {
            let strides = [three[1].start - three[0].start, three[2].start - three[1].start];
            if strides[0] == strides[1] && three[0].bytes == three[1].bytes {
                *votes.entry(strides[0]).or_default() += 1;
            }
        }
    }
    let mut strides: Vec<(u64, u64)> = votes.into_iter().collect();
    strides.sort_by_key(|(stride, votes)| (std::cmp::Reverse(*votes), *stride));
    let elements = size / element;
    let shape = |(stride, _): (u64, u64)| (size / stride, stride / element);
    let side = elements.isqrt();
    let square = (side > 1 && side * side == elements).then_some((side, side));
    let mut shapes: Vec<(u64, u64)> = strides.into_iter().map(shape).collect();
    shapes.extend(row.map(|row| (elements / row, row)));
    shapes.retain(|(rows, columns)| *rows > 1 && *columns > 1);
    shapes.extend(square);
    let mut seen = vec![];
    shapes.retain(|shape| {
        !seen.contains(shape) && {
            seen.push(*shape);
            true
        }
    });
    shapes.truncate(MAX_SHAPES);
    shapes
}

/// Elements of the narrowest row that the most usual part of the object, as a halo's, fits into
/// where it lies, and all other parts, too, unless they are whole rows.
fn row<'e>(
    extents: impl Iterator<Item = &'e Extent> + Clone,
    size: u64,
    element: u64,
) -> Option<u64> {
    let mut lengths: BTreeMap<u64, u64> = BTreeMap::new();
    for extent in extents.clone().filter(|extent| extent.bytes < size) {
        *lengths.entry(extent.bytes / element).or_default() += 1;
    }
    lengths.retain(|length, _| *length >= SHORTEST_ROW);
    let (usual, _) = lengths.into_iter().max_by_key(|(length, votes)| (*votes, *length))?;
    let elements = size / element;
    let fits = |row: &u64| {
        extents.clone().all(|extent| {
            let (start, length) = (extent.start / element % row, extent.bytes / element);
            start + length <= *row || (start == 0 && length % row == 0)
        })
    };
    let fewest = 2..=MAX_ROWS.min(elements / usual.max(1));
    fewest
        .rev()
        .filter(|rows| elements.is_multiple_of(*rows))
        .map(|rows| elements / rows)
        .find(fits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn extent((start, bytes, count): (u64, u64, u64)) -> Extent {
        Extent { start, bytes, count }
    }

    proptest! {
        #[test]
        fn every_byte_keeps_its_count(
            extents in prop::collection::vec((0..64_u64, 0..16_u64, 1..5_u64), 0..12),
            most in 1..8_usize,
        ) {
            let extents: Vec<_> = extents.into_iter().map(extent).collect();
            let touches = |list: &[Extent], byte: u64| -> u64 {
                let holds = |e: &&Extent| (e.start..e.start + e.bytes).contains(&byte);
                list.iter().filter(holds).map(|e| e.count).sum()
            };
            let joined = join(&extents, usize::MAX);
            for byte in 0..80 {
                prop_assert_eq!(touches(&joined, byte), touches(&extents, byte));
            }
            prop_assert!(joined.windows(2).all(|two| two[0].start + two[0].bytes <= two[1].start));
            let few = join(&extents, most);
            prop_assert!(few.len() <= most);
            for byte in 0..80 {
                prop_assert!(touches(&few, byte) >= touches(&extents, byte));
            }
        }
    }

    #[test]
    fn a_column_says_how_wide_the_grid_is() {
        let column: Vec<_> = (0..8).map(|row| extent((row * 80 + 8, 8, 1))).collect();
        assert_eq!(element([&*column].into_iter(), 640), 8);
        assert_eq!(shapes([&*column].into_iter(), 640, 8), [(8, 10)]);
        assert_eq!(shapes(std::iter::empty(), 128, 8), [(4, 4)]);
        // The inner part of the first and of the last row but one, and all of it at once.
        let rows = [extent((8, 62 * 8, 1)), extent(((14 * 64 + 1) * 8, 62 * 8, 1))];
        let all = [extent((0, 1024 * 8, 1))];
        let lists = [&rows[..], &all];
        assert_eq!(shapes(lists.into_iter(), 1024 * 8, 8), [(16, 64), (32, 32)]);
        assert_eq!(element(std::iter::empty(), 6), 2);
    }
}
