//! Floating-point arithmetic as PTX defines it (ISA §9.7.3 to §9.7.5): rounding, flushing of
//! subnormals, saturation, NaN.
//!
//! f32 and f64 rounded to nearest use the host's arithmetic. All other formats and roundings use
//! LLVM's software floating point (APFloat), which is exact.

use crate::rows::Lane;
use half::{bf16, f16};
use rustc_apfloat::ieee::{BFloat, Double, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

/// A floating-point format.
pub trait Real: Lane + PartialEq + PartialOrd {
    /// The format in software floating point.
    type Soft: Float;
    /// The canonical NaN, the result of invalid operations.
    const NAN: Self;

    /// Converts to software floating point.
    fn soft(self) -> Self::Soft;
    /// Converts from software floating point.
    fn of(soft: Self::Soft) -> Self;
    /// Sum, rounded to nearest.
    fn add(self, other: Self) -> Self;
    /// Product, rounded to nearest.
    fn mul(self, other: Self) -> Self;
    /// Quotient, rounded to nearest.
    fn div(self, other: Self) -> Self;
    /// `self * b + c`, rounded to nearest once.
    fn fma(self, b: Self, c: Self) -> Self;
    /// Square root, rounded to nearest.
    fn sqrt(self) -> Self;
    /// Whether the value is NaN.
    fn is_nan(self) -> bool;
    /// Whether the sign bit is set.
    fn negative(self) -> bool;
    /// The value with its sign bit flipped, even of a NaN.
    fn negate(self) -> Self;
    /// The value, with subnormals replaced by zero of the same sign.
    fn flush(self) -> Self;
    /// Positive zero.
    fn zero() -> Self;
    /// One.
    fn one() -> Self;
    /// Converts from f64, rounded to nearest, perhaps twice: for approximate functions.
    fn approximate(value: f64) -> Self;
    /// Converts from f64, rounded once.
    fn rounded(value: f64, round: Round) -> Self;
    /// Converts to f64, exactly.
    fn wide(self) -> f64;

    /// The value, with every NaN replaced by the canonical one.
    #[inline(always)]
    fn canonical(self) -> Self {
        if self.is_nan() { Self::NAN } else { self }
    }

    /// The value without its sign.
    #[inline(always)]
    fn abs(self) -> Self {
        if self.negative() { self.negate() } else { self }
    }

    /// Clamps to 0..=1; NaN becomes 0.
    #[inline(always)]
    fn saturate(self) -> Self {
        // Written so that NaN takes the last branch.
        if self >= Self::one() {
            Self::one()
        } else if self > Self::zero() {
            self
        } else {
            Self::zero()
        }
    }

    /// The minimum; a number is preferred to NaN; −0 is below +0.
    #[inline(always)]
    fn lesser(self, other: Self) -> Self {
        if self.is_nan() {
            return other.canonical();
        }
        let smaller = self < other || self == other && self.negative();
        if smaller || other.is_nan() { self } else { other }
    }

    /// The maximum; a number is preferred to NaN; −0 is below +0.
    #[inline(always)]
    fn greater(self, other: Self) -> Self {
        if self.is_nan() {
            return other.canonical();
        }
        let larger = self > other || self == other && !self.negative();
        if larger || other.is_nan() { self } else { other }
    }

    /// Sum, with a rounding mode.
    fn add_directed(self, other: Self, round: Round) -> Self {
        Self::of(self.soft().add_r(other.soft(), round).value).canonical()
    }

    /// Product, with a rounding mode.
    fn mul_directed(self, other: Self, round: Round) -> Self {
        Self::of(self.soft().mul_r(other.soft(), round).value).canonical()
    }

    /// Quotient, with a rounding mode.
    fn div_directed(self, other: Self, round: Round) -> Self {
        Self::of(self.soft().div_r(other.soft(), round).value).canonical()
    }

    /// `self * b + c`, rounded once with a rounding mode.
    fn fma_directed(self, b: Self, c: Self, round: Round) -> Self {
        Self::of(self.soft().mul_add_r(b.soft(), c.soft(), round).value).canonical()
    }

    /// Square root, with a rounding mode.
    fn sqrt_directed(self, round: Round) -> Self {
        let nearest = self.sqrt();
        let (root, square) = (nearest.soft(), self.soft());
        if !root.is_finite_non_zero() {
            return nearest;
        }
        // Comparing r² with x decides on which side of the root r lies. Both are scaled by a power
        // of four, so that their difference, which is exact then, does not underflow.
        let scale = -(square.ilogb() & !1);
        let (root, square) = (root.scalbn(scale / 2), square.scalbn(scale));
        let error = root.mul_add_r(root, -square, Round::NearestTiesToEven).value;
        if error.is_zero() {
            return nearest;
        }
        match (round, error.is_negative()) {
            (Round::TowardPositive, true) => Self::of(nearest.soft().next_up().value),
            (Round::TowardNegative | Round::TowardZero, false) => {
                Self::of(nearest.soft().next_down().value)
            }
            _ => nearest,
        }
    }
}

macro_rules! hardware {
    ($ty:ident, $soft:ident, $bits:ident, $nan:expr) => {
        impl Real for $ty {
            type Soft = $soft;
            const NAN: Self = $ty::from_bits($nan);

            fn soft(self) -> $soft {
                $soft::from_bits(self.to_bits().into())
            }
            fn of(soft: $soft) -> Self {
                $ty::from_bits(soft.to_bits() as $bits)
            }
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                (self + other).canonical()
            }
            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                (self * other).canonical()
            }
            #[inline(always)]
            fn div(self, other: Self) -> Self {
                (self / other).canonical()
            }
            #[inline(always)]
            fn fma(self, b: Self, c: Self) -> Self {
                self.mul_add(b, c).canonical()
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                $ty::sqrt(self).canonical()
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                // Compares integers: the compiler may exchange one NaN for another.
                self.to_bits() & !(1 << ($bits::BITS - 1)) > $ty::INFINITY.to_bits()
            }
            #[inline(always)]
            fn negative(self) -> bool {
                self.is_sign_negative()
            }
            #[inline(always)]
            fn negate(self) -> Self {
                -self
            }
            #[inline(always)]
            fn flush(self) -> Self {
                if $ty::abs(self) < $ty::MIN_POSITIVE { (0.0 as $ty).copysign(self) } else { self }
            }
            #[inline(always)]
            fn zero() -> Self {
                0.0
            }
            #[inline(always)]
            fn one() -> Self {
                1.0
            }
            #[inline(always)]
            fn approximate(value: f64) -> Self {
                (value as $ty).canonical()
            }
            fn rounded(value: f64, round: Round) -> Self {
                $ty::of(value.soft().convert_r(round, &mut false).value).canonical()
            }
            #[inline(always)]
            fn wide(self) -> f64 {
                self.into()
            }
        }
    };
}
hardware!(f32, Single, u32, 0x7fff_ffff);
hardware!(f64, Double, u64, 0xfff8_0000_0000_0000);

/// Formats whose arithmetic is done in f32, which has more than twice their digits, so that double
/// rounding is innocuous (Figueroa, "When is double rounding innocuous?", 1995).
macro_rules! through_single {
    ($ty:ident, $soft:ident) => {
        impl Real for $ty {
            type Soft = $soft;
            const NAN: Self = $ty::from_bits(0x7fff);

            fn soft(self) -> $soft {
                $soft::from_bits(self.to_bits().into())
            }
            fn of(soft: $soft) -> Self {
                $ty::from_bits(soft.to_bits() as u16)
            }
            fn add(self, other: Self) -> Self {
                $ty::from_f32(self.to_f32() + other.to_f32()).canonical()
            }
            fn mul(self, other: Self) -> Self {
                $ty::from_f32(self.to_f32() * other.to_f32()).canonical()
            }
            fn div(self, other: Self) -> Self {
                $ty::from_f32(self.to_f32() / other.to_f32()).canonical()
            }
            fn fma(self, b: Self, c: Self) -> Self {
                self.fma_directed(b, c, Round::NearestTiesToEven)
            }
            fn sqrt(self) -> Self {
                $ty::from_f32(self.to_f32().sqrt()).canonical()
            }
            fn is_nan(self) -> bool {
                $ty::is_nan(self)
            }
            fn negative(self) -> bool {
                self.is_sign_negative()
            }
            fn negate(self) -> Self {
                $ty::from_bits(self.to_bits() ^ 0x8000)
            }
            fn flush(self) -> Self {
                match self.is_normal() || !self.is_finite() {
                    true => self,
                    false => $ty::from_bits(self.to_bits() & 0x8000),
                }
            }
            fn zero() -> Self {
                $ty::ZERO
            }
            fn one() -> Self {
                $ty::ONE
            }
            fn approximate(value: f64) -> Self {
                $ty::from_f32(value as f32).canonical()
            }
            fn rounded(value: f64, round: Round) -> Self {
                $ty::of(value.soft().convert_r(round, &mut false).value).canonical()
            }
            fn wide(self) -> f64 {
                self.to_f64()
            }
        }
    };
}
through_single!(f16, Half);
through_single!(bf16, BFloat);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn zeros_and_nan_in_order() {
        assert_eq!((-0.0f32).lesser(0.0).to_bits(), (-0.0f32).to_bits());
        assert_eq!(0.0f32.lesser(-0.0).to_bits(), (-0.0f32).to_bits());
        assert_eq!((-0.0f64).greater(0.0).to_bits(), 0);
        assert_eq!(f32::NAN.greater(1.0), 1.0);
        assert_eq!(1.0f32.lesser(f32::NAN), 1.0);
        assert_eq!(f32::NAN.lesser(f32::NAN).to_bits(), 0x7fff_ffff);
        assert_eq!(f32::NAN.saturate(), 0.0);
        assert_eq!((-1e-40f32).flush().to_bits(), (-0.0f32).to_bits());
        assert_eq!((0.0f32).div(0.0).to_bits(), 0x7fff_ffff);
    }

    /// Whether the results rounded down and up enclose the exact value: they are adjacent, or equal
    /// if it is exact.
    fn encloses(down: f64, up: f64, near: f64) -> bool {
        (down == near && up == near) || (down.next_up() == up && (near == down || near == up))
    }

    proptest! {
        #[test]
        fn directions_enclose(a: f64, b: f64, c: f64) {
            use Round::{TowardNegative as Down, TowardPositive as Up};
            prop_assume!(a.is_normal() && b.is_normal() && c.is_normal());
            let pairs = [
                (a.add_directed(b, Down), a.add_directed(b, Up), a + b),
                (a.mul_directed(b, Down), a.mul_directed(b, Up), a * b),
                (a.div_directed(b, Down), a.div_directed(b, Up), a / b),
                (a.fma_directed(b, c, Down), a.fma_directed(b, c, Up), a.mul_add(b, c)),
                (Real::abs(a).sqrt_directed(Down), Real::abs(a).sqrt_directed(Up), f64::sqrt(a.abs())),
            ];
            for (down, up, near) in pairs {
                prop_assert!(encloses(down, up, near), "{down:e} {near:e} {up:e}");
            }
        }

        #[test]
        fn roots_of_singles_agree_with_doubles(bits in 1u32..0x7f80_0000) {
            let value = f32::from_bits(bits);
            let exact = f64::from(value).sqrt();
            let down = f64::from(value.sqrt_directed(Round::TowardZero));
            let up = f64::from(value.sqrt_directed(Round::TowardPositive));
            prop_assert!(down <= exact && exact <= up && (down == up || down < exact && exact < up));
        }

        #[test]
        fn halves_agree_with_software(a: u16, b: u16) {
            let (x, y) = (f16::from_bits(a), f16::from_bits(b));
            let near = Round::NearestTiesToEven;
            prop_assert_eq!(x.add(y).to_bits(), x.add_directed(y, near).to_bits());
            prop_assert_eq!(x.mul(y).to_bits(), x.mul_directed(y, near).to_bits());
            prop_assert_eq!(x.div(y).to_bits(), x.div_directed(y, near).to_bits());
            let (x, y) = (bf16::from_bits(a), bf16::from_bits(b));
            prop_assert_eq!(x.add(y).to_bits(), x.add_directed(y, near).to_bits());
            prop_assert_eq!(x.mul(y).to_bits(), x.mul_directed(y, near).to_bits());
        }
    }
}
