//! Lowers integer and floating-point arithmetic (PTX ISA §9.7.1 to 9.7.5).

use super::real::{Shape, by_real, fused, one, two};
use super::{Lowering, Refusal};
use crate::compute::{Compute, binary, carrying, ternary, unary};
use crate::float::Real;
use commsan_ptx::Op;
use commsan_ptx::words::{Combine, Flag, Mode, Type};

/// Instantiates a computation for an integer type; bit types count as unsigned.
macro_rules! by_integer {
    ($ty:expr, $t:ident => $body:expr) => {
        match $ty {
            Type::U8 | Type::B8 => {
                type $t = u8;
                Some($body)
            }
            Type::U16 | Type::B16 => {
                type $t = u16;
                Some($body)
            }
            Type::U32 | Type::B32 => {
                type $t = u32;
                Some($body)
            }
            Type::U64 | Type::B64 => {
                type $t = u64;
                Some($body)
            }
            Type::S8 => {
                type $t = i8;
                Some($body)
            }
            Type::S16 => {
                type $t = i16;
                Some($body)
            }
            Type::S32 => {
                type $t = i32;
                Some($body)
            }
            Type::S64 => {
                type $t = i64;
                Some($body)
            }
            _ => None,
        }
    };
}
pub(super) use by_integer;

/// The upper half of a product.
macro_rules! high_half {
    ($a:expr, $b:expr, $t:ident, $w:ident) => {
        (($a as $w).wrapping_mul($b as $w) >> $t::BITS) as $t
    };
}

/// Instantiates a computation for 16- and 32-bit integers and the integers of twice their width.
macro_rules! by_widened {
    ($ty:expr, $t:ident, $w:ident => $body:expr) => {
        match $ty {
            Type::U16 => {
                type $t = u16;
                type $w = u32;
                Some($body)
            }
            Type::S16 => {
                type $t = i16;
                type $w = i32;
                Some($body)
            }
            Type::U32 => {
                type $t = u32;
                type $w = u64;
                Some($body)
            }
            Type::S32 => {
                type $t = i32;
                type $w = i64;
                Some($body)
            }
            _ => None,
        }
    };
}

impl Lowering<'_> {
    /// Lowers an arithmetic instruction; `None` for other opcodes.
    pub(super) fn arithmetic(&mut self) -> Option<Result<(), Refusal>> {
        Some(match self.instruction.op {
            Op::Add | Op::Sub => self.sum(),
            Op::AddC | Op::SubC | Op::MadC => self.carried(),
            Op::Mul => self.product(),
            Op::Mad => self.multiply_add(),
            Op::Fma => self.fused(),
            Op::Mul24 | Op::Mad24 => self.narrow_product(),
            Op::Div | Op::Rem => self.quotient(),
            Op::Abs | Op::Neg => self.sign(),
            Op::Min | Op::Max => self.extreme(),
            Op::Rcp | Op::Sqrt | Op::Rsqrt => self.root(),
            Op::Sin | Op::Cos | Op::Lg2 | Op::Ex2 | Op::Tanh => self.function(),
            Op::Copysign => self.copysign(),
            Op::Sad => self.absolute_differences(),
            Op::Dp4a | Op::Dp2a => self.dot_product(),
            Op::VAbsDiff4 => self.byte_differences(),
            _ => return None,
        })
    }

    pub(super) fn shape(&self, ty: Type) -> Shape {
        let has = |flag| self.instruction.modifiers.has(flag);
        Shape {
            round: self.rounding(),
            flush: has(Flag::FlushToZero),
            saturate: has(Flag::Saturate),
            relu: has(Flag::Relu),
            packed: matches!(ty, Type::F16x2 | Type::BF16x2 | Type::F32x2),
        }
    }

    fn has(&self, flag: Flag) -> bool {
        self.instruction.modifiers.has(flag)
    }

    /// Emits a step, if the type allows the computation.
    fn typed(&mut self, compute: Option<Compute>, operands: usize) -> Result<(), Refusal> {
        let compute = self.allowed(compute)?;
        self.uniform(compute, operands)
    }

    /// The computation, or the refusal for a type that does not allow it.
    pub(super) fn allowed<T>(&self, compute: Option<T>) -> Result<T, Refusal> {
        let name = self.instruction.op.row().names[0];
        let ty = self.instruction.modifiers.types[0].map_or("", Type::word);
        compute.ok_or_else(|| format!("`{name}.{ty}` is not simulated"))
    }

    fn sum(&mut self) -> Result<(), Refusal> {
        if self.has(Flag::CarryOut) {
            return self.carried();
        }
        if self.instruction.modifiers.types[1].is_some() {
            return Err("sums of mixed precision are not simulated".to_owned());
        }
        let (ty, add) = (self.ty()?, self.instruction.op == Op::Add);
        let shape = self.shape(ty);
        let compute = match (ty, self.has(Flag::Saturate)) {
            (Type::S32, true) if add => Some(binary(i32::saturating_add)),
            (Type::S32, true) => Some(binary(i32::saturating_sub)),
            (Type::U16x2 | Type::S16x2, false) => Some(binary(|a: [u16; 2], b: [u16; 2]| {
                [a[0].wrapping_add(b[0]), a[1].wrapping_add(b[1])]
            })),
            _ if ty.is_float() && add => {
                by_real!(ty, T => two(shape, |a: T, b: T| a.add(b), T::add_directed))
            }
            _ if ty.is_float() => by_real!(ty, T => two(
                shape,
                |a: T, b: T| Real::add(a, b.negate()),
                |a, b, round| a.add_directed(b.negate(), round),
            )),
            _ if add => by_integer!(ty, T => binary(T::wrapping_add)),
            _ => by_integer!(ty, T => binary(T::wrapping_sub)),
        };
        self.typed(compute, 2)
    }

    /// `add.cc`, `addc`, `sub.cc`, `subc`, `mad.cc`, `madc`: reads the carry of the previous
    /// instruction, and writes it for the next.
    ///
    /// A difference is a sum with the complement, whose carry is set if there was no borrow. PTX
    /// ISA §9.7.2 calls it the borrow, but ptxas generates this, and nvcc's 128-bit divisions read
    /// it with `addc`.
    fn carried(&mut self) -> Result<(), Refusal> {
        let (ty, op) = (self.ty()?, self.instruction.op);
        let keep = self.has(Flag::CarryOut);
        let takes = matches!(op, Op::AddC | Op::SubC | Op::MadC);
        let high = self.instruction.modifiers.mode == Some(Mode::Hi);
        macro_rules! carry {
            ($t:ident, $wide:ident, $bits:ident) => {{
                let add = move |a: $t, b: $t, carry: bool| {
                    let (sum, over) = (a as $bits).overflowing_add(b as $bits);
                    let (sum, more) = sum.overflowing_add(carry.into());
                    (sum as $t, over || more)
                };
                match op {
                    Op::Add | Op::AddC => {
                        carrying(move |(a, b), _, carry| add(a, b, takes && carry), keep)
                    }
                    Op::Sub | Op::SubC => {
                        carrying(move |(a, b), _, carry| add(a, !b, !takes || carry), keep)
                    }
                    _ => carrying(
                        move |(a, b): ($t, $t), c, carry| {
                            let product = (a as $wide).wrapping_mul(b as $wide);
                            let part = if high { product >> $t::BITS } else { product };
                            add(part as $t, c, takes && carry)
                        },
                        keep,
                    ),
                }
            }};
        }
        let compute = match ty {
            Type::U32 | Type::B32 => Some(carry!(u32, u64, u32)),
            Type::S32 => Some(carry!(i32, i64, u32)),
            Type::U64 | Type::B64 => Some(carry!(u64, u128, u64)),
            Type::S64 => Some(carry!(i64, i128, u64)),
            _ => None,
        };
        let (compute, width) = (self.allowed(compute)?, ty.size());
        let (a, b) = (self.source(1, width)?, self.source(2, width)?);
        let c = match op {
            Op::Mad | Op::MadC => self.source(3, width)?,
            _ => a,
        };
        let d = self.result(0, width, ty.is_signed())?;
        let carry = self.carry;
        self.compute(compute, d, &[a, b, c, carry]);
        Ok(())
    }

    fn product(&mut self) -> Result<(), Refusal> {
        let ty = self.ty()?;
        let shape = self.shape(ty);
        if ty.is_float() {
            let compute = by_real!(ty, T => two(shape, |a: T, b: T| a.mul(b), T::mul_directed));
            return self.typed(compute, 2);
        }
        match self.instruction.modifiers.mode {
            Some(Mode::Wide) => {
                let compute = by_widened!(ty, T, W => {
                    binary(|a: T, b: T| (a as W).wrapping_mul(b as W))
                });
                let compute = self.allowed(compute)?;
                self.mixed(compute, ty.widened(), &[ty, ty])
            }
            Some(Mode::Hi) => {
                let compute = match ty {
                    Type::U64 => Some(binary(|a: u64, b: u64| high_half!(a, b, u64, u128))),
                    Type::S64 => Some(binary(|a: i64, b: i64| high_half!(a, b, i64, i128))),
                    _ => by_widened!(ty, T, W => binary(|a: T, b: T| high_half!(a, b, T, W))),
                };
                self.typed(compute, 2)
            }
            _ => {
                let compute = by_integer!(ty, T => binary(T::wrapping_mul));
                self.typed(compute, 2)
            }
        }
    }

    fn multiply_add(&mut self) -> Result<(), Refusal> {
        let ty = self.ty()?;
        if ty.is_float() {
            return self.fused();
        }
        if self.has(Flag::CarryOut) {
            return self.carried();
        }
        match (self.instruction.modifiers.mode, self.has(Flag::Saturate)) {
            (Some(Mode::Wide), _) => {
                let compute = by_widened!(ty, T, W => {
                    ternary(|a: T, b: T, c: W| (a as W).wrapping_mul(b as W).wrapping_add(c))
                });
                let compute = self.allowed(compute)?;
                self.mixed(compute, ty.widened(), &[ty, ty, ty.widened()])
            }
            (Some(Mode::Hi), true) => {
                let compute = (ty == Type::S32).then(|| {
                    ternary(|a: i32, b: i32, c: i32| {
                        (((i64::from(a) * i64::from(b)) >> 32) as i32).saturating_add(c)
                    })
                });
                self.typed(compute, 3)
            }
            (Some(Mode::Hi), false) => {
                let compute = match ty {
                    Type::U64 => Some(ternary(|a: u64, b: u64, c: u64| {
                        high_half!(a, b, u64, u128).wrapping_add(c)
                    })),
                    Type::S64 => Some(ternary(|a: i64, b: i64, c: i64| {
                        high_half!(a, b, i64, i128).wrapping_add(c)
                    })),
                    _ => by_widened!(ty, T, W => ternary(|a: T, b: T, c: T| {
                        high_half!(a, b, T, W).wrapping_add(c)
                    })),
                };
                self.typed(compute, 3)
            }
            _ => {
                let compute = by_integer!(ty, T => {
                    ternary(|a: T, b: T, c: T| a.wrapping_mul(b).wrapping_add(c))
                });
                self.typed(compute, 3)
            }
        }
    }

    fn fused(&mut self) -> Result<(), Refusal> {
        if self.instruction.modifiers.types[1].is_some() {
            return Err("sums of mixed precision are not simulated".to_owned());
        }
        let ty = self.ty()?;
        let shape = self.shape(ty);
        let compute = by_real!(ty, T => fused::<T>(shape));
        self.typed(compute, 3)
    }

    /// Products of the low 24 bits.
    fn narrow_product(&mut self) -> Result<(), Refusal> {
        let ty = self.ty()?;
        let high = self.instruction.modifiers.mode == Some(Mode::Hi);
        let saturate = self.has(Flag::Saturate);
        let part = move |product: i64| if high { product >> 16 } else { product } as u32;
        let signed = move |a: u32, b: u32| {
            let extend = |v: u32| i64::from((v << 8) as i32 >> 8);
            part(extend(a) * extend(b))
        };
        let unsigned = move |a: u32, b: u32| {
            let product = u64::from(a & 0xff_ffff) * u64::from(b & 0xff_ffff);
            part(product as i64)
        };
        let compute = match (ty, self.instruction.op == Op::Mad24) {
            (Type::S32, false) => Some(binary(signed)),
            (Type::U32, false) => Some(binary(unsigned)),
            (Type::S32, true) => Some(ternary(move |a: u32, b: u32, c: u32| match saturate {
                true => (signed(a, b) as i32).saturating_add(c as i32) as u32,
                false => signed(a, b).wrapping_add(c),
            })),
            (Type::U32, true) => {
                Some(ternary(move |a: u32, b: u32, c: u32| unsigned(a, b).wrapping_add(c)))
            }
            _ => None,
        };
        self.typed(compute, if self.instruction.op == Op::Mad24 { 3 } else { 2 })
    }

    /// Division by zero gives the hardware's result (measured on an H100): all bits set, and as a
    /// 64-bit remainder the dividend.
    fn quotient(&mut self) -> Result<(), Refusal> {
        let ty = self.ty()?;
        let shape = self.shape(ty);
        let compute = match self.instruction.op {
            Op::Div if ty.is_float() => {
                by_real!(ty, T => two(shape, |a: T, b: T| a.div(b), T::div_directed))
            }
            Op::Div => by_integer!(ty, T => binary(|a: T, b: T| match b {
                0 => !0,
                b => a.wrapping_div(b),
            })),
            _ => by_integer!(ty, T => binary(|a: T, b: T| match b {
                0 if T::BITS < 64 => !0,
                0 => a,
                b => a.wrapping_rem(b),
            })),
        };
        self.typed(compute, 2)
    }

    fn sign(&mut self) -> Result<(), Refusal> {
        let (ty, absolute) = (self.ty()?, self.instruction.op == Op::Abs);
        let shape = Shape { round: rustc_apfloat::Round::NearestTiesToEven, ..self.shape(ty) };
        let compute = match ty {
            _ if ty.is_float() && absolute => {
                by_real!(ty, T => one(shape, |a: T| Real::abs(a), |a, _| Real::abs(a)))
            }
            _ if ty.is_float() => {
                by_real!(ty, T => one(shape, |a: T| a.negate(), |a, _| a.negate()))
            }
            Type::S16 if absolute => Some(unary(i16::wrapping_abs)),
            Type::S32 if absolute => Some(unary(i32::wrapping_abs)),
            Type::S64 if absolute => Some(unary(i64::wrapping_abs)),
            _ if absolute => None,
            _ => by_integer!(ty, T => unary(T::wrapping_neg)),
        };
        self.typed(compute, 1)
    }

    fn extreme(&mut self) -> Result<(), Refusal> {
        let (ty, min) = (self.ty()?, self.instruction.op == Op::Min);
        if self.present(3) {
            return Err("extremes of three are not simulated".to_owned());
        }
        let (nan, sign, absolute) =
            (self.has(Flag::NaN), self.has(Flag::XorSign), self.has(Flag::Abs));
        let shape = self.shape(ty);
        if shape.relu {
            return self.extreme_not_negative(ty, min);
        }
        let compute = match ty {
            Type::U16x2 if min => {
                Some(binary(|a: [u16; 2], b: [u16; 2]| [a[0].min(b[0]), a[1].min(b[1])]))
            }
            Type::U16x2 => {
                Some(binary(|a: [u16; 2], b: [u16; 2]| [a[0].max(b[0]), a[1].max(b[1])]))
            }
            Type::S16x2 if min => {
                Some(binary(|a: [i16; 2], b: [i16; 2]| [a[0].min(b[0]), a[1].min(b[1])]))
            }
            Type::S16x2 => {
                Some(binary(|a: [i16; 2], b: [i16; 2]| [a[0].max(b[0]), a[1].max(b[1])]))
            }
            _ if ty.is_float() => by_real!(ty, T => {
                let pick = move |a: T, b: T| {
                    if nan && (a.is_nan() || b.is_nan()) {
                        return T::NAN.canonical();
                    }
                    let flip = sign && a.negative() != b.negative();
                    let (a, b) = if absolute { (Real::abs(a), Real::abs(b)) } else { (a, b) };
                    let picked = if min { a.lesser(b) } else { a.greater(b) };
                    if flip && !picked.is_nan() { picked.negate() } else { picked }
                };
                match (nan || sign || absolute, min) {
                    (true, _) => two(shape, pick, |a, _, _| a),
                    (false, true) => two(shape, |a: T, b: T| a.lesser(b), |a, _, _| a),
                    (false, false) => two(shape, |a: T, b: T| a.greater(b), |a, _, _| a),
                }
            }),
            _ if min => by_integer!(ty, T => binary(|a: T, b: T| a.min(b))),
            _ => by_integer!(ty, T => binary(|a: T, b: T| a.max(b))),
        };
        self.typed(compute, 2)
    }

    /// `min.relu` and `max.relu`: negative results become zero.
    fn extreme_not_negative(&mut self, ty: Type, min: bool) -> Result<(), Refusal> {
        macro_rules! pick {
            ($t:ident) => {
                move |a: $t, b: $t| (if min { a.min(b) } else { a.max(b) }).max(0)
            };
        }
        let compute = match ty {
            Type::S32 => Some(binary(pick!(i32))),
            Type::S16x2 => {
                let pick = pick!(i16);
                Some(binary(move |a: [i16; 2], b: [i16; 2]| [pick(a[0], b[0]), pick(a[1], b[1])]))
            }
            _ => None,
        };
        self.typed(compute, 2)
    }

    fn root(&mut self) -> Result<(), Refusal> {
        let ty = self.ty()?;
        let shape = self.shape(ty);
        let compute = match self.instruction.op {
            Op::Rcp => by_real!(ty, T => one(
                shape,
                |a: T| T::one().div(a),
                |a, round| T::one().div_directed(a, round),
            )),
            Op::Sqrt => by_real!(ty, T => one(shape, |a: T| Real::sqrt(a), T::sqrt_directed)),
            _ => by_real!(ty, T => {
                one(shape, |a: T| T::approximate(1.0 / a.wide().sqrt()), |a, _| a)
            }),
        };
        self.typed(compute, 1)
    }

    /// Functions that hardware approximates; here they are as exact as f64 makes them.
    fn function(&mut self) -> Result<(), Refusal> {
        let (ty, op) = (self.ty()?, self.instruction.op);
        let shape = self.shape(ty);
        let compute = by_real!(ty, T => match op {
            Op::Sin => one(shape, |a: T| T::approximate(a.wide().sin()), |a, _| a),
            Op::Cos => one(shape, |a: T| T::approximate(a.wide().cos()), |a, _| a),
            Op::Lg2 => one(shape, |a: T| T::approximate(a.wide().log2()), |a, _| a),
            Op::Ex2 => one(shape, |a: T| T::approximate(a.wide().exp2()), |a, _| a),
            _ => one(shape, |a: T| T::approximate(a.wide().tanh()), |a, _| a),
        });
        self.typed(compute, 1)
    }

    /// The second operand with the first one's sign.
    fn copysign(&mut self) -> Result<(), Refusal> {
        let compute = match self.ty()? {
            Type::F32 => Some(binary(|a: f32, b: f32| b.copysign(a))),
            Type::F64 => Some(binary(|a: f64, b: f64| b.copysign(a))),
            _ => None,
        };
        self.typed(compute, 2)
    }

    fn absolute_differences(&mut self) -> Result<(), Refusal> {
        let compute = by_integer!(self.ty()?, T => ternary(|a: T, b: T, c: T| {
            (if a < b { b.wrapping_sub(a) } else { a.wrapping_sub(b) }).wrapping_add(c)
        }));
        self.typed(compute, 3)
    }

    /// Four products of bytes, or two of a half and a byte, added to a third operand.
    fn dot_product(&mut self) -> Result<(), Refusal> {
        let signed = [self.nth_type(0)?.is_signed(), self.nth_type(1)?.is_signed()];
        let high = self.instruction.modifiers.mode == Some(Mode::Hi);
        let byte = move |value: u32, n: u32, signed: bool| {
            let byte = (value >> (8 * n)) as u8;
            if signed { i32::from(byte as i8) } else { byte.into() }
        };
        let half = move |value: u32, n: u32, signed: bool| {
            let half = (value >> (16 * n)) as u16;
            if signed { i32::from(half as i16) } else { half.into() }
        };
        let compute = match self.instruction.op {
            Op::Dp4a => ternary(move |a: u32, b: u32, c: u32| {
                let products = (0..4).map(|n| byte(a, n, signed[0]) * byte(b, n, signed[1]));
                c.wrapping_add(products.fold(0, i32::wrapping_add) as u32)
            }),
            _ => ternary(move |a: u32, b: u32, c: u32| {
                let at = if high { 2 } else { 0 };
                let products =
                    (0..2).map(|n| half(a, n, signed[0]).wrapping_mul(byte(b, at + n, signed[1])));
                c.wrapping_add(products.fold(0, i32::wrapping_add) as u32)
            }),
        };
        self.mixed(compute, Type::B32, &[Type::B32; 3])
    }

    /// Differences of the four bytes: each, or their sum and the third operand.
    fn byte_differences(&mut self) -> Result<(), Refusal> {
        let signed = [self.nth_type(1)?.is_signed(), self.nth_type(2)?.is_signed()];
        let sum = self.instruction.modifiers.combine == Some(Combine::Add);
        let limit = match (self.has(Flag::Saturate), self.nth_type(0)?.is_signed()) {
            (true, true) => 0x7f,
            (true, false) => 0xff,
            _ => u32::MAX,
        };
        let byte = |value: u32, n: usize, signed: bool| {
            let byte = value.to_le_bytes()[n];
            if signed { i32::from(byte as i8) } else { byte.into() }
        };
        let compute = ternary(move |a: u32, b: u32, c: u32| {
            let difference = |n| byte(a, n, signed[0]).abs_diff(byte(b, n, signed[1]));
            match sum {
                true => (0..4).map(difference).fold(c, u32::wrapping_add),
                false => {
                    u32::from_le_bytes(std::array::from_fn(|n| difference(n).min(limit) as u8))
                }
            }
        });
        self.mixed(compute, Type::B32, &[Type::B32; 3])
    }
}
