//! Lowers bit instructions (PTX ISA §9.7.8, and the integer ones of §9.7.1 that count or extract
//! bits).

use super::arithmetic::by_integer;
use super::{Lowering, Refusal};
use crate::compute::{Compute, binary, logic, quaternary, ternary, unary};
use commsan_ptx::words::{Flag, Mode, Type};
use commsan_ptx::{Op, Operand};

/// Instantiates a computation for the unsigned integer of a type's width.
macro_rules! by_width {
    ($ty:expr, $t:ident => $body:expr) => {
        match $ty.size() {
            1 => {
                type $t = u8;
                Some($body)
            }
            2 => {
                type $t = u16;
                Some($body)
            }
            4 => {
                type $t = u32;
                Some($body)
            }
            8 => {
                type $t = u64;
                Some($body)
            }
            _ => None,
        }
    };
}
pub(super) use by_width;

impl Lowering<'_> {
    /// Lowers a bit instruction; `None` for other opcodes.
    pub(super) fn bits(&mut self) -> Option<Result<(), Refusal>> {
        Some(match self.instruction.op {
            Op::And | Op::Or | Op::Xor | Op::Not | Op::Cnot => self.bitwise(),
            Op::Lop3 => self.any_logic(),
            Op::Shl | Op::Shr => self.shift(),
            Op::ShfL | Op::ShfR => self.funnel_shift(),
            Op::Popc | Op::Clz | Op::Bfind | Op::Brev => self.count(),
            Op::Fns => self.nth_set(),
            Op::Bfe | Op::Bfi => self.field(),
            Op::Bmsk | Op::Szext => self.low_bits(),
            Op::Prmt => self.permute(),
            _ => return None,
        })
    }

    /// Emits a step of an instruction that PTX defines for 32 bits only.
    fn words(&mut self, compute: Compute, operands: usize) -> Result<(), Refusal> {
        let fits = self.ty()?.size() == 4;
        let compute = self.allowed(fits.then_some(compute))?;
        self.uniform(compute, operands)
    }

    fn bitwise(&mut self) -> Result<(), Refusal> {
        let (ty, op) = (self.ty()?, self.instruction.op);
        if ty == Type::Pred {
            return self.predicate_logic();
        }
        let compute = by_width!(ty, T => match op {
            Op::And => binary(|a: T, b: T| a & b),
            Op::Or => binary(|a: T, b: T| a | b),
            Op::Xor => binary(|a: T, b: T| a ^ b),
            Op::Not => unary(|a: T| !a),
            _ => unary(|a: T| T::from(a == 0)),
        });
        let compute = self.allowed(compute)?;
        self.uniform(compute, if matches!(op, Op::Not | Op::Cnot) { 1 } else { 2 })
    }

    fn predicate_logic(&mut self) -> Result<(), Refusal> {
        let compute = match self.instruction.op {
            Op::And => logic(|a, b| a & b),
            Op::Or => logic(|a, b| a | b),
            Op::Xor => logic(|a, b| a ^ b),
            Op::Not => logic(|a, _| !a),
            _ => return self.allowed(None),
        };
        let a = self.predicate(1)?;
        let b = if self.instruction.op == Op::Not { a } else { self.predicate(2)? };
        let d = self.written_predicate(0)?;
        self.compute(compute, d, &[a, b]);
        Ok(())
    }

    /// `lop3`: any logical function of three bits, by its truth table.
    fn any_logic(&mut self) -> Result<(), Refusal> {
        let Operand::Imm(table) = self.operand(4)? else {
            return Err("a table of bits that is no constant".to_owned());
        };
        let compute = ternary(move |a: u32, b: u32, c: u32| {
            (0..8u32).filter(|row| table >> row & 1 == 1).fold(0, |all, row| {
                let pick = |bit: u32, value: u32| if row & bit != 0 { value } else { !value };
                all | pick(4, a) & pick(2, b) & pick(1, c)
            })
        });
        self.words(compute, 3)
    }

    /// Amounts beyond the width shift all bits out.
    fn shift(&mut self) -> Result<(), Refusal> {
        let ty = self.ty()?;
        let compute = match self.instruction.op {
            Op::Shl => by_width!(ty, T => {
                binary(|a: T, b: u32| if b < T::BITS { a << b } else { 0 })
            }),
            _ => by_integer!(ty, T => binary(|a: T, b: u32| match b < T::BITS {
                true => a >> b,
                false => (a >> (T::BITS - 1)) >> 1,
            })),
        };
        let compute = self.allowed(compute)?;
        self.mixed(compute, ty, &[ty, Type::U32])
    }

    fn funnel_shift(&mut self) -> Result<(), Refusal> {
        let clamp = self.instruction.modifiers.mode == Some(Mode::Clamp);
        let amount = move |c: u32| if clamp { c.min(32) } else { c & 31 };
        let both = |a: u32, b: u32| u64::from(b) << 32 | u64::from(a);
        let compute = match self.instruction.op {
            Op::ShfL => ternary(move |a, b, c| ((both(a, b) << amount(c)) >> 32) as u32),
            _ => ternary(move |a, b, c| (both(a, b) >> amount(c)) as u32),
        };
        self.words(compute, 3)
    }

    fn count(&mut self) -> Result<(), Refusal> {
        let ty = self.ty()?;
        let shift = self.instruction.modifiers.has(Flag::ShiftAmount);
        let (compute, d): (Option<Compute>, Type) = match self.instruction.op {
            Op::Popc => (by_width!(ty, T => unary(|a: T| a.count_ones())), Type::U32),
            Op::Clz => (by_width!(ty, T => unary(|a: T| a.leading_zeros())), Type::U32),
            Op::Brev => (by_width!(ty, T => unary(|a: T| a.reverse_bits())), ty),
            _ => {
                let find = by_integer!(ty, T => unary(move |a: T| {
                    // The highest bit that differs from the sign.
                    let zeros = if a < (0 as T) { (!a).leading_zeros() } else { a.leading_zeros() };
                    match (zeros == T::BITS, shift) {
                        (true, _) => u32::MAX,
                        (false, true) => zeros,
                        (false, false) => T::BITS - 1 - zeros,
                    }
                }));
                (find, Type::U32)
            }
        };
        let compute = self.allowed(compute)?;
        self.mixed(compute, d, &[ty])
    }

    /// `fns`: finds the n-th set bit, upwards or downwards from a base.
    fn nth_set(&mut self) -> Result<(), Refusal> {
        let find = |mask: u32, base: u32, offset: i32| {
            let set = |bit: &u32| mask >> bit & 1 == 1;
            let base = base.min(32);
            let found = match offset {
                0 => (base..32).take(1).find(set),
                n @ 1.. => (base..32).filter(set).nth(n as usize - 1),
                n => {
                    let below = (0..32.min(base + 1)).rev();
                    below.filter(set).nth((n.unsigned_abs() - 1) as usize)
                }
            };
            found.unwrap_or(u32::MAX)
        };
        self.mixed(ternary(find), Type::B32, &[Type::B32, Type::B32, Type::S32])
    }

    fn field(&mut self) -> Result<(), Refusal> {
        let ty = self.ty()?;
        if self.instruction.op == Op::Bfi {
            let compute = by_width!(ty, T => quaternary(|field: T, into: T, at: u32, len: u32| {
                let (at, len) = bit_field::<{ T::BITS }>(at, len);
                let mask = (T::MAX.checked_shl(len).map_or(T::MAX, |high| !high))
                    .checked_shl(at)
                    .unwrap_or(0);
                into & !mask | field.checked_shl(at).unwrap_or(0) & mask
            }));
            let compute = self.allowed(compute)?;
            return self.mixed(compute, ty, &[ty, ty, Type::U32, Type::U32]);
        }
        let compute = by_integer!(ty, T => ternary(|a: T, at: u32, len: u32| {
            let (at, len) = bit_field::<{ T::BITS }>(at, len);
            if len == 0 {
                return 0;
            }
            // The sign is the field's highest bit, or the value's if the field extends beyond it.
            let top = at.saturating_add(len - 1).min(T::BITS - 1);
            let shifted = if at < T::BITS { a >> at } else { (a >> (T::BITS - 1)) >> 1 };
            let kept = (top + 1).saturating_sub(at).min(T::BITS);
            match kept {
                0 => shifted,
                _ => (shifted << (T::BITS - kept)) >> (T::BITS - kept),
            }
        }));
        let compute = self.allowed(compute)?;
        self.mixed(compute, ty, &[ty, Type::U32, Type::U32])
    }

    fn low_bits(&mut self) -> Result<(), Refusal> {
        let clamp = self.instruction.modifiers.mode == Some(Mode::Clamp);
        let amount = move |v: u32| if clamp { v.min(32) } else { v & 31 };
        let low = |width: u32| if width < 32 { !(u32::MAX << width) } else { u32::MAX };
        let compute = match (self.instruction.op, self.ty()?) {
            (Op::Bmsk, _) => {
                binary(move |a: u32, b: u32| low(amount(b)).checked_shl(amount(a)).unwrap_or(0))
            }
            (_, Type::S32) => binary(move |a: u32, b: u32| match amount(b) {
                0 => 0,
                width => (((a << (32 - width)) as i32) >> (32 - width)) as u32,
            }),
            _ => binary(move |a: u32, b: u32| a & low(amount(b))),
        };
        self.words(compute, 2)
    }

    /// `prmt`: permutes the bytes of two words, by a selector or by a mode.
    fn permute(&mut self) -> Result<(), Refusal> {
        let bytes = |a: u32, b: u32| (u64::from(b) << 32 | u64::from(a)).to_le_bytes();
        let compute = match self.instruction.modifiers.mode {
            None => ternary(move |a: u32, b: u32, c: u32| {
                let all = bytes(a, b);
                u32::from_le_bytes(std::array::from_fn(|n| {
                    let selector = c >> (4 * n);
                    let byte = all[(selector & 7) as usize];
                    if selector & 8 != 0 { (byte as i8 >> 7) as u8 } else { byte }
                }))
            }),
            Some(mode) => {
                let pick = move |n: usize, c: usize| match mode {
                    Mode::Forward4 => n + c,
                    Mode::Backward4 => (8 + c - n) % 8,
                    Mode::Replicate8 => c,
                    Mode::EdgeLeft => n.max(c),
                    Mode::EdgeRight => n.min(c),
                    _ => c % 2 * 2 + n % 2,
                };
                ternary(move |a: u32, b: u32, c: u32| {
                    let all = bytes(a, b);
                    u32::from_le_bytes(std::array::from_fn(|n| all[pick(n, (c & 3) as usize)]))
                })
            }
        };
        self.words(compute, 3)
    }
}

/// Position and length of a bit field in a value of `BITS` bits. PTX restricts both to a byte.
/// Hardware takes a byte of each for 32 bits, and both unrestricted for 64 bits, which are several
/// instructions there (measured on an H100).
fn bit_field<const BITS: u32>(at: u32, len: u32) -> (u32, u32) {
    if BITS == 64 { (at, len) } else { (at & 0xff, len & 0xff) }
}
