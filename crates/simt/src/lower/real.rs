//! Variants of floating-point instructions: rounding, flushing and saturation around an operation.

use crate::compute::{Compute, binary, ternary, unary};
use crate::float::Real;
use rustc_apfloat::Round;

/// What happens before and after an operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub(super) round: Round,
    /// Whether subnormal operands and results become zero.
    pub(super) flush: bool,
    /// Whether results are clamped to 0..=1.
    pub(super) saturate: bool,
    /// Whether negative results become zero.
    pub(super) relu: bool,
    /// Whether operands are packed pairs.
    pub(super) packed: bool,
}

impl Shape {
    fn plain(&self) -> bool {
        self.round == Round::NearestTiesToEven && !self.saturate && !self.relu && !self.packed
    }

    #[inline(always)]
    fn enter<T: Real>(&self, value: T) -> T {
        if self.flush { value.flush() } else { value }
    }

    #[inline(always)]
    fn leave<T: Real>(&self, value: T) -> T {
        let value = if self.flush { value.flush() } else { value };
        let value = if self.saturate { value.saturate() } else { value };
        if self.relu && (value.negative() && !value.is_nan()) { T::zero() } else { value }
    }
}

/// An operation on one number.
pub(super) fn one<T: Real>(
    shape: Shape,
    near: impl Fn(T) -> T + Copy + Send + Sync + 'static,
    directed: fn(T, Round) -> T,
) -> Compute
where
    [T; 2]: crate::rows::Lane,
{
    if shape.plain() {
        return match shape.flush {
            false => unary(near),
            true => unary(move |a: T| near(a.flush()).flush()),
        };
    }
    let full = move |a: T| {
        let a = shape.enter(a);
        shape.leave(match shape.round {
            Round::NearestTiesToEven => near(a),
            round => directed(a, round),
        })
    };
    match shape.packed {
        false => unary(full),
        true => unary(move |a: [T; 2]| a.map(full)),
    }
}

/// An operation on two numbers.
pub(super) fn two<T: Real>(
    shape: Shape,
    near: impl Fn(T, T) -> T + Copy + Send + Sync + 'static,
    directed: fn(T, T, Round) -> T,
) -> Compute
where
    [T; 2]: crate::rows::Lane,
{
    if shape.plain() {
        return match shape.flush {
            false => binary(near),
            true => binary(move |a: T, b: T| near(a.flush(), b.flush()).flush()),
        };
    }
    let full = move |a: T, b: T| {
        let (a, b) = (shape.enter(a), shape.enter(b));
        shape.leave(match shape.round {
            Round::NearestTiesToEven => near(a, b),
            round => directed(a, b, round),
        })
    };
    match shape.packed {
        false => binary(full),
        true => binary(move |a: [T; 2], b: [T; 2]| [full(a[0], b[0]), full(a[1], b[1])]),
    }
}

/// `a * b + c`.
pub(super) fn fused<T: Real>(shape: Shape) -> Compute
where
    [T; 2]: crate::rows::Lane,
{
    if shape.plain() {
        return match shape.flush {
            false => ternary(|a: T, b: T, c: T| a.fma(b, c)),
            true => ternary(|a: T, b: T, c: T| a.flush().fma(b.flush(), c.flush()).flush()),
        };
    }
    let full = move |a: T, b: T, c: T| {
        let (a, b, c) = (shape.enter(a), shape.enter(b), shape.enter(c));
        shape.leave(match shape.round {
            Round::NearestTiesToEven => a.fma(b, c),
            round => a.fma_directed(b, c, round),
        })
    };
    match shape.packed {
        false => ternary(full),
        true => ternary(move |a: [T; 2], b: [T; 2], c: [T; 2]| {
            [full(a[0], b[0], c[0]), full(a[1], b[1], c[1])]
        }),
    }
}

/// Instantiates a computation for a floating-point type, scalar or packed.
macro_rules! by_real {
    ($ty:expr, $t:ident => $body:expr) => {
        match $ty {
            Type::F32 | Type::F32x2 => {
                type $t = f32;
                Some($body)
            }
            Type::F64 => {
                type $t = f64;
                Some($body)
            }
            Type::F16 | Type::F16x2 => {
                type $t = half::f16;
                Some($body)
            }
            Type::BF16 | Type::BF16x2 => {
                type $t = half::bf16;
                Some($body)
            }
            _ => None,
        }
    };
}
pub(super) use by_real;
