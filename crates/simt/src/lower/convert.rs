//! Lowers `mov`, `cvt` and changes of width (PTX ISA §9.7.9).

use super::arithmetic::by_integer;
use super::real::by_real;
use super::{Lowering, Refusal};
use crate::compute::{Compute, binary, unary};
use crate::float::Real;
use commsan_ptx::words::{Flag, Rounding, Type};
use commsan_ptx::{Class, Op, Operand};
use rustc_apfloat::ieee::{Float8E4M3FN, Float8E5M2, Half, Single};
use rustc_apfloat::{Float, FloatConvert, Round};

/// Truncates wider values, or extends narrower ones.
pub(super) fn resize(from: u64, to: u64, signed: bool) -> Compute {
    macro_rules! convert {
        ($($from:literal $u:ident $s:ident: $($to:literal $t:ident)*;)*) => {
            match (from, to, signed) {
                $($(($from, $to, true) => unary(|a: $s| a as $t),
                ($from, $to, false) => unary(|a: $u| a as $t),)*)*
                _ => unreachable!("registers have 1, 2, 4, 8 or 16 bytes, here {from} and {to}"),
            }
        };
    }
    convert! {
        1 u8 i8: 1 u8 2 u16 4 u32 8 u64 16 u128;
        2 u16 i16: 1 u8 2 u16 4 u32 8 u64 16 u128;
        4 u32 i32: 1 u8 2 u16 4 u32 8 u64 16 u128;
        8 u64 i64: 1 u8 2 u16 4 u32 8 u64 16 u128;
        16 u128 u128: 1 u8 2 u16 4 u32 8 u64 16 u128;
    }
}

/// The modifiers of a conversion.
#[derive(Clone, Copy)]
struct How {
    round: Round,
    /// Whether it rounds to an integer even if the result is a floating-point number.
    integral: bool,
    flush: bool,
    saturate: bool,
    relu: bool,
    finite: bool,
}

impl Lowering<'_> {
    /// Lowers a conversion; `None` for other opcodes.
    pub(super) fn convert(&mut self) -> Option<Result<(), Refusal>> {
        Some(match self.instruction.op {
            Op::Mov => self.mov(),
            Op::Cvt => self.cvt(),
            _ => return None,
        })
    }

    fn mov(&mut self) -> Result<(), Refusal> {
        let ty = self.ty()?;
        if ty == Type::Pred {
            let (a, d) = (self.predicate(1)?, self.written_predicate(0)?);
            self.compute(crate::compute::logic(|a, _| a), d, &[a, a]);
            return Ok(());
        }
        match (self.operand(0)?, self.operand(1)?) {
            (_, Operand::List { .. }) => self.pack(ty),
            (Operand::List { .. }, _) => self.unpack(ty),
            _ => {
                let copy = self.allowed(Self::copy(ty.size()))?;
                let from = self.source(1, ty.size())?;
                let d = self.result(0, ty.size(), ty.is_signed())?;
                self.compute(copy, d, &[from]);
                Ok(())
            }
        }
    }

    fn elements(&self, n: usize) -> Result<Vec<Operand>, Refusal> {
        let list = self.operand(n)?;
        let elements = self.body.elements_of(&list).to_vec();
        if elements.is_empty() { Err("an empty list".to_owned()) } else { Ok(elements) }
    }

    /// Packs elements into one register, the first one lowest, through 128 bits, which hold any.
    fn pack(&mut self, ty: Type) -> Result<(), Refusal> {
        let elements = self.elements(1)?;
        let part = ty.size() / elements.len() as u64;
        if part * elements.len() as u64 != ty.size() || !part.is_power_of_two() {
            return Err("a list that does not fill the register".to_owned());
        }
        let mut all = self.constants.value(16, 0);
        for (n, element) in elements.into_iter().enumerate() {
            let value = self.row(element, part)?;
            let (wide, next) = (self.temporary(16), self.temporary(16));
            self.compute(resize(part, 16, false), wide, &[value]);
            let shift = 8 * part as u32 * n as u32;
            self.compute(binary(move |a: u128, b: u128| a | b << shift), next, &[all, wide]);
            all = next;
        }
        let d = self.result(0, ty.size(), false)?;
        self.compute(resize(16, ty.size(), false), d, &[all]);
        Ok(())
    }

    fn unpack(&mut self, ty: Type) -> Result<(), Refusal> {
        let elements = self.elements(0)?;
        let part = ty.size() / elements.len() as u64;
        if part * elements.len() as u64 != ty.size() || !part.is_power_of_two() {
            return Err("a list that does not take up the register".to_owned());
        }
        let value = self.source(1, ty.size())?;
        let wide = self.temporary(16);
        self.compute(resize(ty.size(), 16, false), wide, &[value]);
        for (n, element) in elements.into_iter().enumerate() {
            let (shift, shifted) = (8 * part as u32 * n as u32, self.temporary(16));
            self.compute(unary(move |a: u128| a >> shift), shifted, &[wide]);
            let d = self.result_row(element, part, false)?;
            self.compute(resize(16, part, false), d, &[shifted]);
        }
        Ok(())
    }

    fn cvt(&mut self) -> Result<(), Refusal> {
        let (to, from) = (self.ty()?, self.nth_type(1)?);
        let modifiers = self.instruction.modifiers;
        let how = How {
            round: self.rounding(),
            integral: modifiers.rounding.is_some_and(|r| r >= Rounding::NearestInt),
            flush: modifiers.has(Flag::FlushToZero),
            saturate: modifiers.has(Flag::Saturate),
            relu: modifiers.has(Flag::Relu),
            finite: modifiers.has(Flag::SaturateFinite),
        };
        if let Some(pair) = packed(to, from, how) {
            return match from {
                Type::F32 => self.mixed(pair, to, &[from, from]),
                _ => self.mixed(pair, to, &[from]),
            };
        }
        if matches!(self.operand(1), Ok(Operand::Reg(r)) if r.class() == Class::Pred) {
            return Err("conversion of a predicate".to_owned());
        }
        let compute = match (to.is_float(), from.is_float()) {
            (false, false) => integers(to, from, how),
            (true, false) => from_integer(to, from, how),
            (false, true) => to_integer(to, from, how),
            (true, true) => reals(to, from, how),
        };
        let compute = compute
            .ok_or_else(|| format!("`cvt.{}.{}` is not simulated", to.word(), from.word()))?;
        self.mixed(compute, to, &[from])
    }
}

fn integers(to: Type, from: Type, how: How) -> Option<Compute> {
    if !how.saturate {
        return Some(resize(from.size(), to.size(), from.is_signed()));
    }
    by_integer!(from, A => by_integer!(to, D => unary(|a: A| {
        (i128::from(a)).clamp(D::MIN.into(), D::MAX.into()) as D
    })))?
}

fn from_integer(to: Type, from: Type, how: How) -> Option<Compute> {
    macro_rules! hardware {
        ($t:ident) => {
            by_integer!(from, A => match (how.round, how.saturate) {
                (Round::NearestTiesToEven, false) => unary(|a: A| a as $t),
                _ => soft!(A, $t),
            })
        };
    }
    macro_rules! soft {
        ($a:ident, $t:ty) => {
            unary(move |a: $a| {
                let number = <$t as Real>::Soft::from_i128_r(a.into(), how.round).value;
                let number = <$t as Real>::of(number);
                if how.saturate { number.saturate() } else { number }
            })
        };
    }
    match to {
        Type::F32 => hardware!(f32),
        Type::F64 => hardware!(f64),
        Type::F16 => by_integer!(from, A => soft!(A, half::f16)),
        Type::BF16 => by_integer!(from, A => soft!(A, half::bf16)),
        _ => None,
    }
}

/// Rounds to an integer.
fn integral(value: f64, round: Round) -> f64 {
    match round {
        Round::TowardZero => value.trunc(),
        Round::TowardNegative => value.floor(),
        Round::TowardPositive => value.ceil(),
        _ => value.round_ties_even(),
    }
}

/// Converts to an integer; values out of range saturate. NaN becomes 0 in conversions of 32 bits
/// and fewer, else the highest bit alone.
fn to_integer(to: Type, from: Type, how: How) -> Option<Compute> {
    let wide = from == Type::F64 || to.size() == 8;
    by_real!(from, A => by_integer!(to, D => unary(move |a: A| {
        let value = if how.flush { a.flush().wide() } else { a.wide() };
        match value.is_nan() && wide {
            true => (1 as D) << (D::BITS - 1),
            false => integral(value, how.round) as D,
        }
    })))?
}

fn reals(to: Type, from: Type, how: How) -> Option<Compute> {
    let nearest = how.round == Round::NearestTiesToEven;
    if to == Type::TF32 || from == Type::TF32 {
        return (from == Type::F32)
            .then(|| unary(move |a: f32| relu(truncated(a, how.round), how.relu)));
    }
    let plain = !how.integral && !how.saturate && !how.relu && !how.finite && nearest;
    match (to, from) {
        (Type::F64, Type::F32) if plain && !how.flush => {
            return Some(unary(|a: f32| Real::canonical(f64::from(a))));
        }
        (Type::F32, Type::F64) if plain && !how.flush => {
            return Some(unary(|a: f64| (a as f32).canonical()));
        }
        _ => {}
    }
    by_real!(from, A => by_real!(to, D => unary(move |a: A| {
        let a = if how.flush { a.flush() } else { a };
        // An integer rounded in f64 has no further digits: it is exact if the result is as wide.
        let d = match how.integral {
            true => D::rounded(integral(a.wide(), how.round), Round::NearestTiesToEven),
            false => D::rounded(a.wide(), how.round),
        };
        let d = if how.flush { d.flush() } else { d };
        let d = if how.saturate { d.saturate() } else { d };
        let d = relu(d, how.relu);
        if how.finite && !d.is_nan() { D::of(finite(d.soft())) } else { d }
    })))?
}

/// Replaces infinity by the largest finite number.
fn finite<F: Float>(number: F) -> F {
    match number.is_infinite() {
        true => {
            if number.is_negative() {
                -F::largest()
            } else {
                F::largest()
            }
        }
        false => number,
    }
}

fn relu<T: Real>(value: T, relu: bool) -> T {
    if relu && value.negative() && !value.is_nan() { T::zero() } else { value }
}

/// Rounds to the ten fraction bits of tf32.
fn truncated(value: f32, round: Round) -> f32 {
    const DROPPED: u32 = 13;
    if !value.is_finite() {
        return value.canonical();
    }
    let bits = value.to_bits();
    let (kept, rest) = (bits >> DROPPED, bits & ((1 << DROPPED) - 1));
    let half = 1 << (DROPPED - 1);
    let up = match round {
        Round::TowardZero => false,
        Round::NearestTiesToAway => rest >= half,
        _ => rest > half || rest == half && kept & 1 == 1,
    };
    f32::from_bits((kept + u32::from(up)) << DROPPED)
}

/// Converts to and from two numbers in one register; the first operand becomes the high one.
fn packed(to: Type, from: Type, how: How) -> Option<Compute> {
    use half::{bf16, f16};
    type Half2 = [f16; 2];
    let (relu, small, tiny) = (how.relu, eighth::<Float8E4M3FN>, eighth::<Float8E5M2>);
    Some(match (to, from) {
        (Type::F16x2, Type::F32) => {
            binary(move |a: f32, b: f32| [sixteenth::<f16>(b, how), sixteenth(a, how)])
        }
        (Type::BF16x2, Type::F32) => {
            binary(move |a: f32, b: f32| [sixteenth::<bf16>(b, how), sixteenth(a, how)])
        }
        (Type::E4M3x2, Type::F32) => binary(move |a: f32, b: f32| [b, a].map(|v| small(v, relu))),
        (Type::E5M2x2, Type::F32) => binary(move |a: f32, b: f32| [b, a].map(|v| tiny(v, relu))),
        (Type::E4M3x2, Type::F16x2) => unary(move |a: Half2| a.map(|v| small(v.to_f32(), relu))),
        (Type::E5M2x2, Type::F16x2) => unary(move |a: Half2| a.map(|v| tiny(v.to_f32(), relu))),
        (Type::F16x2, Type::E4M3x2) => {
            unary(move |a: [u8; 2]| a.map(|v| widened::<Float8E4M3FN>(v, relu)))
        }
        (Type::F16x2, Type::E5M2x2) => {
            unary(move |a: [u8; 2]| a.map(|v| widened::<Float8E5M2>(v, relu)))
        }
        _ => return None,
    })
}

/// Converts to a 16-bit format.
fn sixteenth<D: Real>(value: f32, how: How) -> D {
    let number = relu(D::rounded(value.into(), how.round), how.relu);
    if how.finite && !number.is_nan() { D::of(finite(number.soft())) } else { number }
}

/// Converts to an 8-bit format, with the largest finite number instead of infinity.
fn eighth<F: Float>(value: f32, only_positive: bool) -> u8
where
    Single: FloatConvert<F>,
{
    if value.is_nan() {
        return 0x7f;
    }
    let value = relu(value, only_positive).soft();
    let mut lost = false;
    let number: F = value.convert_r(Round::NearestTiesToEven, &mut lost).value;
    // A format without infinity encodes NaN beyond its largest number.
    match (number.is_finite(), value.is_negative()) {
        (true, _) => number.to_bits() as u8,
        (false, true) => (-F::largest()).to_bits() as u8,
        (false, false) => F::largest().to_bits() as u8,
    }
}

fn widened<F: FloatConvert<Half>>(bits: u8, only_positive: bool) -> half::f16 {
    let mut lost = false;
    let number: Half = F::from_bits(bits.into()).convert_r(Round::TowardZero, &mut lost).value;
    relu(half::f16::of(number).canonical(), only_positive)
}
