//! Lowers comparison and selection (PTX ISA §9.7.6, §9.7.7).

use super::arithmetic::by_integer;
use super::bits::by_width;
use super::real::by_real;
use super::{Lowering, Refusal};
use crate::compute::{
    Combination, Compute, binary, choose, compare, from_predicate, ternary, test,
};
use crate::float::Real;
use crate::rows::Slot;
use commsan_ptx::Op;
use commsan_ptx::words::{Combine, Compare, Flag, Mode, Type};

/// The type of each half of a packed pair.
fn single_of(packed: Type) -> Type {
    if packed == Type::F16x2 { Type::F16 } else { Type::BF16 }
}

/// A predicate as a value of that type: all bits set, or 1.0.
fn truth(to: Type) -> Option<Compute> {
    match to.is_float() {
        true => by_real!(to, T => {
            from_predicate(|held| if held { T::one() } else { T::zero() })
        }),
        false => by_width!(to, T => from_predicate(|held| if held { T::MAX } else { 0 })),
    }
}

impl Lowering<'_> {
    /// Lowers a comparison or selection; `None` for other opcodes.
    pub(super) fn compare(&mut self) -> Option<Result<(), Refusal>> {
        Some(match self.instruction.op {
            Op::Setp => self.set_predicate(),
            Op::Set => self.set(),
            Op::Selp => self.select(),
            Op::Slct => self.select_by_sign(),
            Op::Testp => self.test(),
            _ => return None,
        })
    }

    fn combination(&self) -> Result<Combination, Refusal> {
        Ok(match self.instruction.modifiers.combine {
            None => |held, _| held,
            Some(Combine::And) => |held, with| held & with,
            Some(Combine::Or) => |held, with| held | with,
            Some(Combine::Xor) => |held, with| held ^ with,
            Some(other) => return Err(format!("`setp` with .{}", other.word())),
        })
    }

    #[expect(
        clippy::neg_cmp_op_on_partial_ord,
        clippy::double_comparisons,
        reason = "each says what it makes of NaN"
    )]
    fn comparison(&self, ty: Type) -> Result<Compute, Refusal> {
        use Compare::*;
        let relation = self.instruction.modifiers.compare.ok_or("a comparison is missing")?;
        let combine = self.combination()?;
        let flush = self.instruction.modifiers.has(Flag::FlushToZero);
        let compute = match ty.is_float() {
            true => by_real!(ty, T => {
                macro_rules! relation {
                    ($f:expr) => {
                        match flush {
                            false => compare($f, combine),
                            true => {
                                compare(move |a: T, b: T| $f(a.flush(), b.flush()), combine)
                            }
                        }
                    };
                }
                match relation {
                    Eq => relation!(|a: T, b: T| a == b),
                    Ne => relation!(|a: T, b: T| a < b || a > b),
                    Lt | Lo => relation!(|a: T, b: T| a < b),
                    Le | Ls => relation!(|a: T, b: T| a <= b),
                    Gt | Hi => relation!(|a: T, b: T| a > b),
                    Ge | Hs => relation!(|a: T, b: T| a >= b),
                    Equ => relation!(|a: T, b: T| !(a < b || a > b)),
                    Neu => relation!(|a: T, b: T| a != b),
                    Ltu => relation!(|a: T, b: T| !(a >= b)),
                    Leu => relation!(|a: T, b: T| !(a > b)),
                    Gtu => relation!(|a: T, b: T| !(a <= b)),
                    Geu => relation!(|a: T, b: T| !(a < b)),
                    Num => relation!(|a: T, b: T| !(a.is_nan() || b.is_nan())),
                    Nan => relation!(|a: T, b: T| a.is_nan() || b.is_nan()),
                }
            }),
            false => by_integer!(ty, T => match relation {
                Eq | Equ => compare(|a: T, b: T| a == b, combine),
                Ne | Neu => compare(|a: T, b: T| a != b, combine),
                Lt | Lo | Ltu => compare(|a: T, b: T| a < b, combine),
                Le | Ls | Leu => compare(|a: T, b: T| a <= b, combine),
                Gt | Hi | Gtu => compare(|a: T, b: T| a > b, combine),
                Ge | Hs | Geu => compare(|a: T, b: T| a >= b, combine),
                Num => compare(|_: T, _: T| true, combine),
                Nan => compare(|_: T, _: T| false, combine),
            }),
        };
        self.allowed(compute)
    }

    /// The predicate that a comparison is combined with.
    fn combined_with(&mut self, n: usize) -> Result<Slot, Refusal> {
        match self.present(n) {
            true => self.predicate(n),
            false => Ok(self.constants.predicate(true)),
        }
    }

    fn set_predicate(&mut self) -> Result<(), Refusal> {
        let ty = self.ty()?;
        if matches!(ty, Type::F16x2 | Type::BF16x2) {
            return self.set_packed_predicates(ty);
        }
        let compute = self.comparison(ty)?;
        let (a, b) = (self.source(2, ty.size())?, self.source(3, ty.size())?);
        let c = self.combined_with(4)?;
        let d = self.written_predicate(0)?;
        let e = if self.present(1) { self.written_predicate(1)? } else { self.unwanted };
        self.compute(compute, d, &[a, b, c, e]);
        Ok(())
    }

    /// `setp.f16x2`: compares the low halves for the first predicate, the high halves for the
    /// second.
    fn set_packed_predicates(&mut self, ty: Type) -> Result<(), Refusal> {
        let c = self.combined_with(4)?;
        let held = self.packed_comparisons(ty, 2, c)?;
        let (p, q) = (self.written_predicate(0)?, self.written_predicate(1)?);
        self.compute(crate::compute::logic(|a, _| a), p, &[held[0], held[0]]);
        self.compute(crate::compute::logic(|a, _| a), q, &[held[1], held[1]]);
        Ok(())
    }

    /// Compares the low halves of operand `n` and the next one, and the high halves; each result is
    /// combined with predicate `c`.
    fn packed_comparisons(&mut self, ty: Type, n: usize, c: Slot) -> Result<[Slot; 2], Refusal> {
        let (a, b) = (self.source(n, 4)?, self.source(n + 1, 4)?);
        let single = single_of(ty);
        let held = [self.temporary(1), self.temporary(1)];
        for (half, held) in held.into_iter().enumerate() {
            let part = move |value: u32| (value >> (16 * half)) as u16;
            let (x, y) = (self.temporary(2), self.temporary(2));
            self.compute(crate::compute::unary(part), x, &[a]);
            self.compute(crate::compute::unary(part), y, &[b]);
            let compute = self.comparison(single)?;
            let unwanted = self.unwanted;
            self.compute(compute, held, &[x, y, c, unwanted]);
        }
        Ok(held)
    }

    /// `set`: the result of a comparison as a number, all bits set or 1.0.
    fn set(&mut self) -> Result<(), Refusal> {
        let (to, ty) = (self.ty()?, self.nth_type(1)?);
        if matches!(ty, Type::F16x2 | Type::BF16x2) {
            return self.set_packed(to, ty);
        }
        let compute = self.comparison(ty)?;
        let (a, b) = (self.source(1, ty.size())?, self.source(2, ty.size())?);
        let c = self.combined_with(3)?;
        let (held, unwanted) = (self.temporary(1), self.unwanted);
        self.compute(compute, held, &[a, b, c, unwanted]);
        let number = self.allowed(truth(to))?;
        let d = self.result(0, to.size(), to.is_signed())?;
        self.compute(number, d, &[held]);
        Ok(())
    }

    /// Compares each half of packed pairs, with a result of numbers or of bits.
    fn set_packed(&mut self, to: Type, ty: Type) -> Result<(), Refusal> {
        let c = self.combined_with(3)?;
        let held = self.packed_comparisons(ty, 1, c)?;
        let half = if to.is_float() { single_of(to) } else { Type::B16 };
        let parts = [self.temporary(2), self.temporary(2)];
        for (part, held) in parts.into_iter().zip(held) {
            let number = self.allowed(truth(half))?;
            self.compute(number, part, &[held]);
        }
        let joined = binary(|low: u16, high: u16| u32::from(high) << 16 | u32::from(low));
        let d = self.result(0, 4, false)?;
        self.compute(joined, d, &parts);
        Ok(())
    }

    fn select(&mut self) -> Result<(), Refusal> {
        let ty = self.ty()?;
        let compute = self.allowed(by_width!(ty, T => choose::<T>()))?;
        let (a, b) = (self.source(1, ty.size())?, self.source(2, ty.size())?);
        let c = self.predicate(3)?;
        let d = self.result(0, ty.size(), ty.is_signed())?;
        self.compute(compute, d, &[a, b, c]);
        Ok(())
    }

    fn select_by_sign(&mut self) -> Result<(), Refusal> {
        let (ty, by) = (self.ty()?, self.nth_type(1)?);
        let flush = self.instruction.modifiers.has(Flag::FlushToZero);
        let compute = match by {
            Type::F32 => by_width!(ty, T => ternary(move |a: T, b: T, c: f32| {
                let c = if flush { c.flush() } else { c };
                if c >= 0.0 { a } else { b }
            })),
            Type::S32 => {
                by_width!(ty, T => ternary(|a: T, b: T, c: i32| if c >= 0 { a } else { b }))
            }
            _ => None,
        };
        let compute = self.allowed(compute)?;
        self.mixed(compute, ty, &[ty, ty, by])
    }

    fn test(&mut self) -> Result<(), Refusal> {
        let ty = self.ty()?;
        macro_rules! class {
            ($t:ident) => {
                match self.instruction.modifiers.mode {
                    Some(Mode::Finite) => Some(test(|a: $t| a.is_finite())),
                    Some(Mode::Infinite) => Some(test(|a: $t| a.is_infinite())),
                    Some(Mode::Number) => Some(test(|a: $t| !a.is_nan())),
                    Some(Mode::NotANumber) => Some(test(|a: $t| a.is_nan())),
                    // Zeros count as normal numbers (PTX ISA, `testp`).
                    Some(Mode::Normal) => Some(test(|a: $t| a.is_normal() || a == 0.0)),
                    Some(Mode::Subnormal) => Some(test(|a: $t| a.is_subnormal())),
                    _ => None,
                }
            };
        }
        let compute = match ty {
            Type::F32 => class!(f32),
            Type::F64 => class!(f64),
            _ => None,
        };
        let compute = self.allowed(compute)?;
        let a = self.source(1, ty.size())?;
        let d = self.written_predicate(0)?;
        self.compute(compute, d, &[a]);
        Ok(())
    }

    /// d = a, of values of that width.
    pub(super) fn copy(width: u64) -> Option<Compute> {
        match width {
            16 => Some(crate::compute::unary(|a: u128| a)),
            1 => Some(crate::compute::unary(|a: u8| a)),
            2 => Some(crate::compute::unary(|a: u16| a)),
            4 => Some(crate::compute::unary(|a: u32| a)),
            8 => Some(crate::compute::unary(|a: u64| a)),
            _ => None,
        }
    }
}
