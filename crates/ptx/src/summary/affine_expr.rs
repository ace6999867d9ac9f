//! Affine expressions over the variables that differ between threads and iterations, and intervals.

use super::graph::NodeId;
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// A variable of an affine expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Var {
    /// `%tid`, by dimension.
    Tid(u8),
    /// `%ctaid`, by dimension.
    Ctaid(u8),
    /// The iteration of a loop, from 0.
    Loop(u32),
    /// The quotient of a division, by number in [`Values`](super::values::Values).
    Quotient(u32),
    /// The remainder of a division, by number in [`Values`](super::values::Values).
    Remainder(u32),
    /// A value of which only bounds are known.
    Opaque(NodeId, Reading),
}

/// How the bits of an opaque value are interpreted; each interpretation is a different variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Reading {
    /// Any number that agrees with the bits modulo 2 to the power of their width.
    Bits,
    /// As a signed integer.
    Signed,
    /// As an unsigned integer.
    Unsigned,
}

/// A constant plus coefficients times variables; coefficients are not 0, variables in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct AffineExpr {
    pub(super) constant: i64,
    pub(super) terms: SmallVec<[(Var, i64); 4]>,
}

/// Maximum number of terms of an affine expression; larger ones are dropped.
const MAX_TERMS: usize = 16;

impl AffineExpr {
    pub(super) fn constant(constant: i64) -> AffineExpr {
        AffineExpr { constant, terms: SmallVec::new() }
    }

    pub(super) fn var(var: Var) -> AffineExpr {
        AffineExpr { constant: 0, terms: SmallVec::from_slice(&[(var, 1)]) }
    }

    /// The value, if the expression is constant.
    pub(super) fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    pub(super) fn coefficient(&self, var: Var) -> i64 {
        self.terms.iter().find(|(v, _)| *v == var).map_or(0, |(_, c)| *c)
    }

    /// `self + factor * other`; `None` on overflow.
    pub(super) fn plus(&self, other: &AffineExpr, factor: i64) -> Option<AffineExpr> {
        let mut sum: BTreeMap<Var, i64> = self.terms.iter().copied().collect();
        for &(var, coefficient) in &other.terms {
            let entry = sum.entry(var).or_default();
            *entry = entry.checked_add(coefficient.checked_mul(factor)?)?;
        }
        let constant = self.constant.checked_add(other.constant.checked_mul(factor)?)?;
        let terms: SmallVec<_> = sum.into_iter().filter(|(_, c)| *c != 0).collect();
        (terms.len() <= MAX_TERMS).then_some(AffineExpr { constant, terms })
    }

    pub(super) fn times(&self, factor: i64) -> Option<AffineExpr> {
        AffineExpr::default().plus(self, factor)
    }

    /// The expression modulo 2 to the power of `bits`, with coefficients as close to 0 as possible.
    pub(super) fn reduced(mut self, bits: u32) -> AffineExpr {
        let reduce = |n: i64| (n << (64 - bits)) >> (64 - bits);
        self.constant = reduce(self.constant);
        self.terms.iter_mut().for_each(|(_, c)| *c = reduce(*c));
        self.terms.retain(|(_, c)| *c != 0);
        self
    }

    /// The factor `f` such that `self - f * line` has none of the line's variables, if there is
    /// one.
    pub(super) fn factor(&self, line: &AffineExpr) -> Option<i64> {
        let (first, coefficient) = line.terms.first()?;
        let own = self.coefficient(*first);
        let factor = (own % coefficient == 0).then(|| own / coefficient)?;
        let same = |(var, c): &(Var, i64)| c.checked_mul(factor) == Some(self.coefficient(*var));
        line.terms.iter().all(same).then_some(factor)
    }

    /// The interval of its values, for variables in these ranges.
    pub(super) fn bounds(&self, mut range: impl FnMut(Var) -> Bounds) -> Bounds {
        let start = Bounds::new(self.constant.into(), self.constant.into());
        let add = |sum: Bounds, (var, coefficient): &(Var, i64)| {
            sum.plus(&range(*var).times(*coefficient))
        };
        self.terms.iter().fold(start, add)
    }

    /// The expression without its constant.
    pub(super) fn linear(&self) -> AffineExpr {
        AffineExpr { constant: 0, ..self.clone() }
    }
}

/// An interval of integers; a `None` end is unbounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bounds {
    pub(super) least: Option<i128>,
    pub(super) greatest: Option<i128>,
}

impl Bounds {
    pub(super) const ANY: Bounds = Bounds { least: None, greatest: None };

    pub(super) fn new(least: i128, greatest: i128) -> Bounds {
        Bounds { least: Some(least), greatest: Some(greatest) }
    }

    /// The interval of all values of an integer type.
    pub(super) fn of_type(bits: u32, signed: bool) -> Bounds {
        match signed {
            true => Bounds::new(-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
            false => Bounds::new(0, (1 << bits) - 1),
        }
    }

    pub(super) fn within(&self, other: &Bounds) -> bool {
        let above = other.least.is_none_or(|o| self.least.is_some_and(|s| s >= o));
        above && other.greatest.is_none_or(|o| self.greatest.is_some_and(|s| s <= o))
    }

    /// The intersection of two intervals.
    pub(super) fn both(&self, other: &Bounds) -> Bounds {
        let choose = |a: Option<i128>, b: Option<i128>, choose: fn(i128, i128) -> i128| {
            a.zip(b).map(|(a, b)| choose(a, b)).or(a).or(b)
        };
        Bounds {
            least: choose(self.least, other.least, i128::max),
            greatest: choose(self.greatest, other.greatest, i128::min),
        }
    }

    pub(super) fn hull(&self, other: &Bounds) -> Bounds {
        Bounds {
            least: self.least.zip(other.least).map(|(a, b)| a.min(b)),
            greatest: self.greatest.zip(other.greatest).map(|(a, b)| a.max(b)),
        }
    }

    pub(super) fn plus(&self, other: &Bounds) -> Bounds {
        Bounds {
            least: self.least.zip(other.least).and_then(|(a, b)| a.checked_add(b)),
            greatest: self.greatest.zip(other.greatest).and_then(|(a, b)| a.checked_add(b)),
        }
    }

    pub(super) fn times(&self, factor: i64) -> Bounds {
        let times = |n: Option<i128>| n.and_then(|n| n.checked_mul(factor.into()));
        match factor < 0 {
            true => Bounds { least: times(self.greatest), greatest: times(self.least) },
            false => Bounds { least: times(self.least), greatest: times(self.greatest) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_add_and_reduce() {
        let x = AffineExpr::var(Var::Tid(0));
        let expr = x.times(3).unwrap().plus(&AffineExpr::constant(5), -1).unwrap();
        assert_eq!((expr.constant, expr.coefficient(Var::Tid(0))), (-5, 3));
        assert_eq!(expr.plus(&x, -3).unwrap().as_constant(), Some(-5));
        let wrapped = AffineExpr::constant(0xFFFF_FFFF).plus(&x, 0xFFFF_FFFE).unwrap().reduced(32);
        assert_eq!((wrapped.constant, wrapped.coefficient(Var::Tid(0))), (-1, -2));
        assert_eq!(AffineExpr::constant(i64::MAX).plus(&AffineExpr::constant(1), 1), None);
    }

    #[test]
    fn bounds_turn_with_the_sign() {
        let bounds = Bounds { least: Some(-1), greatest: None };
        assert_eq!(bounds.times(-2), Bounds { least: None, greatest: Some(2) });
        assert!(
            Bounds::new(0, 5).within(&Bounds::of_type(8, true))
                && !bounds.within(&Bounds::new(-1, 9))
        );
    }
}
