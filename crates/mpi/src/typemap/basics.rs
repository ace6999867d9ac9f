//! The basic types of a typemap with their displacements (MPI 4.1 §5.1), in the order of the
//! constructor's arguments.
//!
//! **Soundness.** Every run that is kept is a part of the typemap. Of a type of very many runs the
//! first are kept; what is of any type (`MPI_BYTE`, `MPI_PACKED`) and types without a name are in
//! none.

use super::Map;
use crate::collective::signature::Signature;
use std::sync::Arc;

/// Runs that are kept of a type at most.
const MAX_RUNS: usize = 64;

/// Equal basic types, one behind the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Displacement of the first.
    pub at: isize,
    /// Their class: `integer`, `real`.
    pub class: &'static str,
    /// Size of each.
    pub bytes: usize,
    /// How many.
    pub count: usize,
}

/// The basic types of one element.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Basics(Arc<[Run]>);

impl Basics {
    /// Those of a predefined type, by its name and size.
    pub fn predefined(name: &str, size: usize) -> Basics {
        if let Some(pair) = Basics::pair(name, size) {
            return pair;
        }
        let all = Signature::predefined(name, size as u64);
        all.elements().map_or_else(Basics::default, |(class, bytes)| {
            let bytes = bytes as usize;
            Basics([Run { at: 0, class, bytes, count: size / bytes.max(1) }].into())
        })
    }

    /// A value and an index, as a C struct of both would lie (§6.9.4), or two values of Fortran.
    fn pair(name: &str, size: usize) -> Option<Basics> {
        const INT: usize = 4;
        let two = |class, bytes| Run { at: 0, class, bytes, count: 2 };
        let (class, value) = match name {
            "MPI_2INT" => return Some(Basics([two("integer", INT)].into())),
            "MPI_2INTEGER" => return Some(Basics([two("integer", size / 2)].into())),
            "MPI_2REAL" | "MPI_2DOUBLE_PRECISION" => {
                return Some(Basics([two("real", size / 2)].into()));
            }
            "MPI_FLOAT_INT" => ("real", 4),
            "MPI_DOUBLE_INT" => ("real", 8),
            "MPI_LONG_DOUBLE_INT" => ("real", 16),
            "MPI_LONG_INT" => ("integer", 8),
            "MPI_SHORT_INT" => ("integer", 2),
            _ => return None,
        };
        let one = |at, class, bytes| Run { at, class, bytes, count: 1 };
        let index = value.max(INT) as isize;
        Some(Basics([one(0, class, value), one(index, "integer", INT)].into()))
    }

    /// Each run.
    pub fn runs(&self) -> &[Run] {
        &self.0
    }
}

/// Adds a run to others, or joins it with the last.
fn push(runs: &mut Vec<Run>, run: Run) {
    let next = |last: &Run| last.at.wrapping_add(last.count.wrapping_mul(last.bytes) as isize);
    match runs.last_mut() {
        Some(last)
            if (last.class, last.bytes) == (run.class, run.bytes) && next(last) == run.at =>
        {
            last.count = last.count.saturating_add(run.count);
        }
        _ => runs.push(run),
    }
}

impl Map for Basics {
    fn repeat(&self, count: usize, stride: isize) -> Basics {
        if let ([run], true) = (&*self.0, count > 0)
            && stride == run.count.wrapping_mul(run.bytes) as isize
        {
            return Basics([Run { count: run.count.saturating_mul(count), ..*run }].into());
        }
        let repeated =
            (0..count.min(MAX_RUNS)).map(|i| ((i as isize).wrapping_mul(stride), self.clone()));
        Basics::parts(repeated)
    }

    fn parts(parts: impl IntoIterator<Item = (isize, Basics)>) -> Basics {
        let mut runs = Vec::new();
        // Parts without runs are not counted: of bytes there may be any number.
        for (displacement, part) in parts.into_iter().take(MAX_RUNS * MAX_RUNS) {
            for run in &*part.0 {
                push(&mut runs, Run { at: run.at.wrapping_add(displacement), ..*run });
            }
            if runs.len() > MAX_RUNS {
                runs.truncate(MAX_RUNS);
                break;
            }
        }
        Basics(runs.into())
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Constructor, map};
    use super::*;

    fn runs(basics: &Basics) -> Vec<(isize, &'static str, usize, usize)> {
        basics.runs().iter().map(|run| (run.at, run.class, run.bytes, run.count)).collect()
    }

    #[test]
    fn predefined_types_are_of_one_class_or_two() {
        let of = |name, size| runs(&Basics::predefined(name, size));
        assert_eq!(of("MPI_DOUBLE", 8), [(0, "real", 8, 1)]);
        assert_eq!(of("MPI_UNSIGNED", 4), [(0, "unsigned integer", 4, 1)]);
        assert_eq!(of("MPI_C_DOUBLE_COMPLEX", 16), [(0, "real", 8, 2)]);
        assert_eq!(of("MPI_DOUBLE_INT", 12), [(0, "real", 8, 1), (8, "integer", 4, 1)]);
        assert_eq!(of("MPI_SHORT_INT", 6), [(0, "integer", 2, 1), (4, "integer", 4, 1)]);
        assert_eq!(of("MPI_2DOUBLE_PRECISION", 16), [(0, "real", 8, 2)]);
        assert_eq!(of("MPI_BYTE", 1), []);
        assert_eq!(of("particle", 8), []);
    }

    #[test]
    fn constructors_place_basic_types() {
        let double = (Basics::predefined("MPI_DOUBLE", 8), 8);
        let int = (Basics::predefined("MPI_INT", 4), 4);
        let fields = Constructor::Blocks(vec![(3, 0, 0), (1, 24, 1)]);
        let particle = map(&fields, &[double.clone(), int]);
        assert_eq!(runs(&particle), [(0, "real", 8, 3), (24, "integer", 4, 1)]);
        let two = map(&Constructor::Contiguous(2), &[(particle, 32)]);
        assert_eq!(runs(&two)[2..], [(32, "real", 8, 3), (56, "integer", 4, 1)]);
        let column = Constructor::Vector { count: 3, blocklength: 2, stride: 80 };
        let column = map(&column, std::slice::from_ref(&double));
        assert_eq!(runs(&column), [(0, "real", 8, 2), (80, "real", 8, 2), (160, "real", 8, 2)]);
        let long = map(&Constructor::Contiguous(1 << 40), &[double]);
        assert_eq!(runs(&long), [(0, "real", 8, 1 << 40)]);
    }

    #[test]
    fn of_very_many_runs_the_first_are_kept() {
        let double = (Basics::predefined("MPI_DOUBLE", 8), 8);
        let bytes = (Basics::default(), 1 << 20);
        let column = Constructor::Vector { count: 1 << 40, blocklength: 1, stride: 80 };
        assert_eq!(map(&column, &[double]).runs().len(), MAX_RUNS);
        assert_eq!(map(&Constructor::Contiguous(1 << 40), &[bytes]).runs().len(), 0);
    }
}
