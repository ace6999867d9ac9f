//! The typemap (datatype map): from datatype constructors to the bytes that an element accesses
//! (MPI 4.1 §5.1).
//!
//! The MPI library itself is asked how a type was made (`MPI_Type_get_contents`) and for its lower
//! bound and extent, whose padding is the library's choice; the location of the bytes follows from
//! the constructor alone and is computed here.

mod basics;

pub use basics::{Basics, Run as BasicRun};

use commsan_shadow::Pattern;

/// The properties of a datatype that matter here.
#[derive(Clone, Debug)]
pub struct Datatype {
    /// The bytes that one element accesses, relative to its address.
    pub pattern: Pattern,
    /// Bytes from one element to the next.
    pub extent: isize,
}

/// How a derived datatype was made: the integers and addresses of its constructor.
#[derive(Clone, Debug)]
pub enum Constructor {
    /// `MPI_Type_dup`, `MPI_Type_create_resized`: the bytes of the old type.
    Same,
    /// `MPI_Type_contiguous`.
    Contiguous(usize),
    /// `MPI_Type_create_hvector`, and `MPI_Type_vector` with the stride in bytes.
    Vector {
        /// Number of blocks.
        count: usize,
        /// Elements in each.
        blocklength: usize,
        /// Bytes from one block to the next.
        stride: isize,
    },
    /// The indexed family and `MPI_Type_create_struct`: for each block its elements, its
    /// displacement in bytes, and which of the old types it is made of.
    Blocks(Vec<(usize, isize, usize)>),
    /// `MPI_Type_create_subarray` and `MPI_Type_create_darray`: for each dimension, fastest
    /// first, its full size and the runs of indices that belong to the type.
    Array(Vec<(usize, Vec<Run>)>),
}

/// Equally long stretches of indices in one dimension of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// First index of the first stretch.
    pub start: usize,
    /// Indices in each stretch.
    pub length: usize,
    /// Number of stretches.
    pub count: usize,
    /// Indices from one stretch to the next.
    pub stride: usize,
}

/// The distribution of one dimension of a distributed array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// `MPI_DISTRIBUTE_BLOCK` with this block size, or the default.
    Block(Option<usize>),
    /// `MPI_DISTRIBUTE_CYCLIC` with this block size, or the default of 1.
    Cyclic(Option<usize>),
    /// `MPI_DISTRIBUTE_NONE`.
    None,
}

/// What constructors place: bytes, or basic types.
pub trait Map: Clone {
    /// `count` of these, every `stride` bytes.
    #[must_use]
    fn repeat(&self, count: usize, stride: isize) -> Self;
    /// All of these, each at its displacement.
    fn parts(parts: impl IntoIterator<Item = (isize, Self)>) -> Self;
}

impl Map for Pattern {
    fn repeat(&self, count: usize, stride: isize) -> Pattern {
        Pattern::repeat(self, count, stride)
    }
    fn parts(parts: impl IntoIterator<Item = (isize, Pattern)>) -> Pattern {
        Pattern::parts(parts)
    }
}

/// The map of one element of a type made by `constructor` from `old` types, of each its map and
/// its extent.
///
/// # Panics
///
/// If a block names an index outside of `old`.
pub fn map<M: Map>(constructor: &Constructor, old: &[(M, isize)]) -> M {
    let block = |count: usize, (map, extent): &(M, isize)| map.repeat(count, *extent);
    match constructor {
        Constructor::Same => old[0].0.clone(),
        Constructor::Contiguous(count) => block(*count, &old[0]),
        Constructor::Vector { count, blocklength, stride } => {
            block(*blocklength, &old[0]).repeat(*count, *stride)
        }
        Constructor::Blocks(blocks) => {
            M::parts(blocks.iter().map(|&(count, at, of)| (at, block(count, &old[of]))))
        }
        Constructor::Array(dimensions) => {
            let (mut all, mut stride) = old[0].clone();
            for (size, runs) in dimensions {
                let stretches = runs.iter().map(|run| {
                    let stretch = all.repeat(run.length, stride);
                    let at = run.start as isize * stride;
                    (at, stretch.repeat(run.count, run.stride as isize * stride))
                });
                all = M::parts(stretches.collect::<Vec<_>>());
                stride *= *size as isize;
            }
            all
        }
    }
}

/// The indices of one dimension that belong to the process at `coordinate` of `processes`
/// (MPI 4.1 §5.1.4).
pub fn deal(
    size: usize,
    distribution: Distribution,
    coordinate: usize,
    processes: usize,
) -> Vec<Run> {
    let one = |start: usize, end: usize| match start < end {
        true => vec![Run { start, length: end - start, count: 1, stride: 0 }],
        false => Vec::new(),
    };
    match distribution {
        Distribution::None => one(0, size),
        Distribution::Block(block) => {
            let block = block.unwrap_or(size.div_ceil(processes.max(1)));
            one(size.min(coordinate * block), size.min((coordinate + 1) * block))
        }
        Distribution::Cyclic(block) => {
            let block = block.unwrap_or(1).max(1);
            let (start, stride) = (coordinate * block, block * processes);
            if start >= size {
                return Vec::new();
            }
            // Whole stretches first, then what is left of the last one.
            let whole = if size >= start + block { (size - start - block) / stride + 1 } else { 0 };
            let mut runs = Vec::new();
            if whole > 0 {
                runs.push(Run { start, length: block, count: whole, stride });
            }
            let rest = start + whole * stride;
            runs.extend(one(rest, size));
            runs
        }
    }
}

/// The coordinates of `rank` in a row-major process grid.
pub fn grid_coordinates(rank: usize, processes: &[usize]) -> Vec<usize> {
    let mut coordinates = vec![0; processes.len()];
    let mut rest = rank;
    for (coordinate, &n) in coordinates.iter_mut().zip(processes).rev() {
        *coordinate = rest % n.max(1);
        rest /= n.max(1);
    }
    coordinates
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn indices(runs: &[Run]) -> Vec<usize> {
        let stretches =
            runs.iter().flat_map(|r| (0..r.count).map(move |i| (r.start + i * r.stride, r.length)));
        stretches.flat_map(|(start, length)| start..start + length).collect()
    }

    proptest! {
        #[test]
        fn dealing_is_a_partition(
            size in 1usize..60, processes in 1usize..6, block in 1usize..8, kind in 0..4
        ) {
            let distribution = match kind {
                0 => Distribution::Block(None),
                1 => Distribution::Block(Some(size.div_ceil(processes) + block)),
                2 => Distribution::Cyclic(None),
                _ => Distribution::Cyclic(Some(block)),
            };
            let mut all = Vec::new();
            for coordinate in 0..processes {
                let own = indices(&deal(size, distribution, coordinate, processes));
                prop_assert!(own.is_sorted());
                if let Distribution::Cyclic(block) = distribution {
                    for index in &own {
                        prop_assert_eq!(index / block.unwrap_or(1) % processes, coordinate);
                    }
                }
                all.extend(own);
            }
            all.sort_unstable();
            prop_assert_eq!(all, (0..size).collect::<Vec<_>>());
        }
    }

    #[test]
    fn grids_are_row_major() {
        assert_eq!(grid_coordinates(5, &[2, 3]), [1, 2]);
        assert_eq!(grid_coordinates(3, &[2, 3]), [1, 0]);
    }
}
