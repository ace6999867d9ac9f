//! Single instructions on random operands, against the host's own arithmetic.

mod device;

use commsan_simt::Program;
use device::program;
use device::words::{HEAD, apply, kernel};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::collections::HashMap;

/// An instruction and what it should make of three operands.
struct Case<T> {
    name: &'static str,
    body: String,
    expected: fn(T, T, T) -> T,
}

/// `instruction %rw, %aw, %bw, %cw` for as many operands as it has, its result widened.
fn words(
    name: &'static str,
    instruction: &str,
    count: usize,
    expected: fn(u32, u32, u32) -> u32,
) -> Case<u32> {
    let operands = ["%aw", "%bw", "%cw"][..count].join(", ");
    Case {
        name,
        body: format!("{instruction} %rw, {operands}; cvt.u64.u32 %result, %rw;"),
        expected,
    }
}

fn longs(
    name: &'static str,
    instruction: &str,
    count: usize,
    expected: fn(u64, u64, u64) -> u64,
) -> Case<u64> {
    let operands = ["%a", "%b", "%c"][..count].join(", ");
    Case { name, body: format!("{instruction} %result, {operands};"), expected }
}

fn halves(
    name: &'static str,
    instruction: &str,
    count: usize,
    expected: fn(u16, u16, u16) -> u16,
) -> Case<u16> {
    let operands = ["%ah", "%bh", "%ch"][..count].join(", ");
    Case {
        name,
        body: format!("{instruction} %rh, {operands}; cvt.u64.u16 %result, %rh;"),
        expected,
    }
}

fn f(bits: u32) -> f32 {
    f32::from_bits(bits)
}

fn d(bits: u64) -> f64 {
    f64::from_bits(bits)
}

/// The bits of a result: all NaNs are one.
fn bits(value: f32) -> u32 {
    if value.is_nan() { 0x7fff_ffff } else { value.to_bits() }
}

/// `yes` in each half of 32 bits where that of `a` is greater than that of `b`, or one is no
/// number.
fn set_halves(a: u64, b: u64, yes: u64) -> u64 {
    let half = |v: u64| half::f16::from_bits(v as u16).to_f64();
    let set = |n: u32| if half(a >> n) <= half(b >> n) { 0 } else { yes };
    set(0) | set(16) << 16
}

/// A function of both halves of 32 bits.
fn each_half(a: u32, b: u32, f: fn(i16, i16) -> i16) -> u32 {
    let half = |n: u32| u32::from(f((a >> n) as i16, (b >> n) as i16) as u16);
    half(0) | half(16) << 16
}

fn word_cases() -> Vec<Case<u32>> {
    vec![
        words("add", "add.s32", 2, |a, b, _| a.wrapping_add(b)),
        words("add_sat", "add.sat.s32", 2, |a, b, _| (a as i32).saturating_add(b as i32) as u32),
        words("sub_sat", "sub.sat.s32", 2, |a, b, _| (a as i32).saturating_sub(b as i32) as u32),
        words("mul_lo", "mul.lo.s32", 2, |a, b, _| a.wrapping_mul(b)),
        words("mul_hi_u", "mul.hi.u32", 2, |a, b, _| ((u64::from(a) * u64::from(b)) >> 32) as u32),
        words("mul_hi_s", "mul.hi.s32", 2, |a, b, _| {
            ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32
        }),
        words("mad_lo", "mad.lo.u32", 3, |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
        words("mad24", "mad24.lo.u32", 3, |a, b, c| {
            (a & 0xff_ffff).wrapping_mul(b & 0xff_ffff).wrapping_add(c)
        }),
        words("div_u", "div.u32", 2, |a, b, _| a.checked_div(b).unwrap_or(u32::MAX)),
        words("div_s", "div.s32", 2, |a, b, _| match b {
            0 => u32::MAX,
            b => (a as i32).wrapping_div(b as i32) as u32,
        }),
        words("rem_s", "rem.s32", 2, |a, b, _| match b {
            0 => u32::MAX,
            b => (a as i32).wrapping_rem(b as i32) as u32,
        }),
        words("min_s", "min.s32", 2, |a, b, _| (a as i32).min(b as i32) as u32),
        words("max_u", "max.u32", 2, |a, b, _| a.max(b)),
        words("max_relu", "max.relu.s32", 2, |a, b, _| (a as i32).max(b as i32).max(0) as u32),
        words("min_relu", "min.relu.s16x2", 2, |a, b, _| each_half(a, b, |a, b| a.min(b).max(0))),
        words("abs", "abs.s32", 1, |a, _, _| (a as i32).wrapping_abs() as u32),
        words("sad", "sad.s32", 3, |a, b, c| (a as i32).abs_diff(b as i32).wrapping_add(c)),
        words("shl", "shl.b32", 2, |a, b, _| a.checked_shl(b).unwrap_or(0)),
        words("shr_u", "shr.u32", 2, |a, b, _| a.checked_shr(b).unwrap_or(0)),
        words("shr_s", "shr.s32", 2, |a, b, _| ((a as i32) >> b.min(31)) as u32),
        words("shf_l", "shf.l.wrap.b32", 3, |a, b, c| {
            ((u64::from(b) << 32 | u64::from(a)) << (c & 31) >> 32) as u32
        }),
        words("shf_r", "shf.r.clamp.b32", 3, |a, b, c| {
            ((u64::from(b) << 32 | u64::from(a)) >> c.min(32)) as u32
        }),
        words("popc", "popc.b32", 1, |a, _, _| a.count_ones()),
        words("clz", "clz.b32", 1, |a, _, _| a.leading_zeros()),
        words("brev", "brev.b32", 1, |a, _, _| a.reverse_bits()),
        words("bfind", "bfind.u32", 1, |a, _, _| a.checked_ilog2().unwrap_or(u32::MAX)),
        words("dp4a", "dp4a.s32.s32", 3, |a, b, c| {
            let products = a.to_le_bytes().into_iter().zip(b.to_le_bytes());
            let sum: i32 = products.map(|(a, b)| i32::from(a as i8) * i32::from(b as i8)).sum();
            c.wrapping_add(sum as u32)
        }),
        words("add_f", "add.rn.f32", 2, |a, b, _| bits(f(a) + f(b))),
        words("mul_f", "mul.rn.f32", 2, |a, b, _| bits(f(a) * f(b))),
        words("fma_f", "fma.rn.f32", 3, |a, b, c| bits(f(a).mul_add(f(b), f(c)))),
        words("div_f", "div.rn.f32", 2, |a, b, _| bits(f(a) / f(b))),
        words("sqrt_f", "sqrt.rn.f32", 1, |a, _, _| bits(f(a).sqrt())),
        words("add_sat_f", "add.sat.f32", 2, |a, b, _| {
            let sum = f(a) + f(b);
            if sum.is_nan() { 0 } else { sum.clamp(0.0, 1.0).abs().to_bits() }
        }),
        words("mul_ftz", "mul.ftz.f32", 2, |a, b, _| {
            let flush = |v: f32| if v.is_subnormal() { 0f32.copysign(v) } else { v };
            bits(flush(flush(f(a)) * flush(f(b))))
        }),
        words("cvt_rni", "cvt.rni.s32.f32", 1, |a, _, _| f(a).round_ties_even() as i32 as u32),
        words("cvt_rmi_u8", "cvt.rmi.u8.f32", 1, |a, _, _| u32::from(f(a).floor() as u8)),
        words("cvt_s8", "cvt.s32.s8", 1, |a, _, _| a as i8 as u32),
        words("cvt_sat_u8", "cvt.sat.u8.s32", 1, |a, _, _| (a as i32).clamp(0, 255) as u32),
        words("cvt_f_s", "cvt.rn.f32.s32", 1, |a, _, _| (a as i32 as f32).to_bits()),
        words("rem_u", "rem.u32", 2, |a, b, _| a.checked_rem(b).unwrap_or(u32::MAX)),
        words("mul24_hi", "mul24.hi.s32", 2, |a, b, _| {
            let low = |v: u32| i64::from((v << 8) as i32 >> 8);
            ((low(a) * low(b)) >> 16) as u32
        }),
        words("mad_hi", "mad.hi.s32", 3, |a, b, c| {
            let product = i64::from(a as i32) * i64::from(b as i32);
            ((product >> 32) as u32).wrapping_add(c)
        }),
        words("cnot", "cnot.b32", 1, |a, _, _| u32::from(a == 0)),
        words("neg", "neg.s32", 1, |a, _, _| (a as i32).wrapping_neg() as u32),
        words("bfind_s", "bfind.s32", 1, |a, _, _| {
            let magnitude = if (a as i32) < 0 { !a } else { a };
            magnitude.checked_ilog2().unwrap_or(u32::MAX)
        }),
        words("bfind_shift", "bfind.shiftamt.u32", 1, |a, _, _| {
            a.checked_ilog2().map_or(u32::MAX, |bit| 31 - bit)
        }),
        words("dp4a_mixed", "dp4a.u32.s32", 3, |a, b, c| {
            let products = a.to_le_bytes().into_iter().zip(b.to_le_bytes());
            let sum: i32 = products.map(|(a, b)| i32::from(a) * i32::from(b as i8)).sum();
            c.wrapping_add(sum as u32)
        }),
        words("dp2a_hi", "dp2a.hi.s32.u32", 3, |a, b, c| {
            let [.., low, high] = b.to_le_bytes().map(i64::from);
            let sum = i64::from(a as i16) * low + i64::from((a >> 16) as i16) * high;
            c.wrapping_add(sum as u32)
        }),
        words("absdiff4", "vabsdiff4.u32.u32.s32.add", 3, |a, b, c| {
            let pairs = a.to_le_bytes().into_iter().zip(b.to_le_bytes());
            let sum: i32 = pairs.map(|(a, b)| (i32::from(a) - i32::from(b as i8)).abs()).sum();
            c.wrapping_add(sum as u32)
        }),
        // A mask of `b` bits from bit `a`; what is beyond the word is cut off.
        words("bmsk", "bmsk.clamp.b32", 2, |a, b, _| {
            ((((1u128 << b.min(32)) - 1) << a.min(32)) & 0xffff_ffff) as u32
        }),
        words("bmsk_wrap", "bmsk.wrap.b32", 2, |a, b, _| ((1 << (b & 31)) - 1) << (a & 31)),
        words("szext_u", "szext.wrap.u32", 2, |a, b, _| a & ((1 << (b & 31)) - 1)),
        words("szext_s", "szext.clamp.s32", 2, |a, b, _| match b {
            0 => 0,
            1..32 if a >> (b - 1) & 1 == 1 => a | u32::MAX << b,
            1..32 => a & !(u32::MAX << b),
            _ => a,
        }),
        words("fns", "and.b32 %bw, %bw, 31; shr.s32 %cw, %cw, 28; fns.b32", 3, |mask, base, n| {
            let (n, mut at) = ((n as i32) >> 28, (base & 31) as i32);
            let mut left = n.abs() - 1;
            while (0..32).contains(&at) {
                let set = mask >> at & 1 == 1;
                if set && left <= 0 {
                    return at as u32;
                }
                if n == 0 {
                    break;
                }
                left -= i32::from(set);
                at += n.signum();
            }
            u32::MAX
        }),
        words("prmt", "prmt.b32", 3, |a, b, c| {
            let all = [a.to_le_bytes(), b.to_le_bytes()].concat();
            (0..4).fold(0, |word, n| {
                let by = c >> (4 * n) & 15;
                let byte = all[by as usize % 8];
                let byte = if by < 8 { byte } else { 0xff * (byte >> 7) };
                word | u32::from(byte) << (8 * n)
            })
        }),
        words("prmt_f4e", "prmt.b32.f4e", 3, |a, b, c| {
            ((u64::from(b) << 32 | u64::from(a)) >> (8 * (c & 3))) as u32
        }),
        words("prmt_b4e", "prmt.b32.b4e", 3, |a, b, c| {
            // Bytes c, c - 1, c - 2, c - 3 of the ring of eight.
            let ring = (u64::from(b) << 32 | u64::from(a)).rotate_right(8 * (c & 3));
            (ring.rotate_left(24) as u32).swap_bytes()
        }),
        words("prmt_ecl", "prmt.b32.ecl", 3, |a, _, c| {
            let bytes = a.to_le_bytes();
            let at = |n: u32| bytes[n.max(c & 3) as usize];
            u32::from_le_bytes([at(0), at(1), at(2), at(3)])
        }),
        words("prmt_rc16", "prmt.b32.rc16", 3, |a, _, c| {
            let half = a >> (16 * (c & 1)) & 0xffff;
            half << 16 | half
        }),
        words("set", "set.lt.u32.f32", 2, |a, b, _| if f(a) < f(b) { u32::MAX } else { 0 }),
        words("set_f", "set.hs.f32.u32", 2, |a, b, _| bits(if a >= b { 1.0 } else { 0.0 })),
        words("slct", "slct.u32.s32", 3, |a, b, c| if (c as i32) < 0 { b } else { a }),
        words("slct_f", "slct.b32.f32", 3, |a, b, c| if f(c) >= 0.0 { a } else { b }),
        words("copysign", "copysign.f32", 2, |a, b, _| b & 0x7fff_ffff | a & 1 << 31),
        // Which NaN it makes is not defined.
        words("abs_f", "abs.f32 %bw, %aw; mov.b32 %aw, %bw; min.f32", 2, |a, _, _| {
            bits(f(a & 0x7fff_ffff))
        }),
        words("max_nan", "max.NaN.f32", 2, |a, b, _| {
            let (a, b) = (f(a), f(b));
            match a.partial_cmp(&b) {
                None => bits(f32::NAN),
                Some(std::cmp::Ordering::Equal) => a.to_bits() & b.to_bits(),
                Some(_) => bits(if a > b { a } else { b }),
            }
        }),
        words("max_xorsign", "max.xorsign.abs.f32", 2, |a, b, _| {
            let (x, y) = (f(a).abs(), f(b).abs());
            if x.is_nan() && y.is_nan() {
                return bits(f32::NAN);
            }
            x.max(y).to_bits() | (a ^ b) & 1 << 31
        }),
        words("mul_rz", "mul.rz.f32", 2, |a, b, _| {
            // The exact product of 48 bits, cut off.
            let exact = f64::from(f(a)) * f64::from(f(b));
            let near = exact as f32;
            if near.is_nan() || f(a).is_infinite() || f(b).is_infinite() {
                return bits(near);
            }
            let beyond = f64::from(near).abs() > exact.abs();
            near.to_bits() - u32::from(beyond)
        }),
        words("add_rp", "add.rp.f32", 2, |a, b, _| directed_sum(f(a), f(b), true)),
        words("add_rm", "add.rm.f32", 2, |a, b, _| directed_sum(f(a), f(b), false)),
        words("cvt_rzi_u", "cvt.rzi.u32.f32", 1, |a, _, _| f(a) as u32),
        words("cvt_rpi_s16", "cvt.rpi.s16.f32", 1, |a, _, _| f(a).ceil() as i16 as u32),
        words("cvt_rni_f", "cvt.rni.f32.f32", 1, |a, _, _| bits(f(a).round_ties_even())),
        words("cvt_sat_f", "cvt.sat.f32.f32", 1, |a, _, _| match f(a) {
            v if v > 0.0 => bits(v.min(1.0)),
            _ => 0,
        }),
        words("cvt_u_f", "cvt.rn.f32.u32", 1, |a, _, _| (a as f32).to_bits()),
        words("cvt_s16", "cvt.sat.s16.s32", 1, |a, _, _| {
            (a as i32).clamp(i16::MIN.into(), i16::MAX.into()) as u32
        }),
    ]
}

/// A sum rounded upwards or downwards.
fn directed_sum(a: f32, b: f32, up: bool) -> u32 {
    let near = a + b;
    if !near.is_finite() && (near.is_nan() || a.is_infinite() || b.is_infinite()) {
        return bits(near);
    }
    // Terms of opposite signs that cancel make the zero of the direction (IEEE 754 §6.3).
    if near == 0.0 {
        let same = a.to_bits() == b.to_bits();
        return if same { a.to_bits() } else { if up { 0f32 } else { -0f32 }.to_bits() };
    }
    // In f64 a sum of two f32 is exact or has an error, which says on which side it is.
    let (x, y) = (f64::from(a), f64::from(b));
    let sum = x + y;
    let error = two_sum_error(x, y, sum);
    let distance = f64::from(near) - sum;
    let near_is_below = distance < 0.0 || distance == 0.0 && error > 0.0;
    let near_is_above = distance > 0.0 || distance == 0.0 && error < 0.0;
    let result = match up {
        true if near_is_below => near.next_up(),
        false if near_is_above => near.next_down(),
        _ => near,
    };
    result.to_bits()
}

fn half_cases() -> Vec<Case<u16>> {
    fn h(bits: u16) -> f64 {
        half::f16::from_bits(bits).to_f64()
    }
    fn narrowed(value: f64) -> u16 {
        if value.is_nan() { 0x7fff } else { narrow(value) }
    }
    fn b(bits: u16) -> f64 {
        half::bf16::from_bits(bits).to_f64()
    }
    fn brain(value: f64) -> u16 {
        if value.is_nan() { 0x7fff } else { half::bf16::from_f64(value).to_bits() }
    }
    vec![
        halves("add16", "add.s16", 2, |a, b, _| a.wrapping_add(b)),
        halves("mul16_hi", "mul.hi.s16", 2, |a, b, _| {
            ((i32::from(a as i16) * i32::from(b as i16)) >> 16) as u16
        }),
        halves("mad16", "mad.lo.u16", 3, |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
        halves("div16", "div.u16", 2, |a, b, _| a.checked_div(b).unwrap_or(u16::MAX)),
        halves("min16", "min.s16", 2, |a, b, _| (a as i16).min(b as i16) as u16),
        halves("not16", "not.b16", 1, |a, _, _| !a),
        halves("shr16", "shr.s16 %rh, %ah, 3; mov.b16 %ah, %rh; mov.b16", 1, |a, _, _| {
            (a as i16 >> 3) as u16
        }),
        halves("add_h", "add.rn.f16", 2, |x, y, _| narrowed(h(x) + h(y))),
        halves("sub_h", "sub.f16", 2, |x, y, _| narrowed(h(x) - h(y))),
        halves("mul_h", "mul.rn.f16", 2, |x, y, _| narrowed(h(x) * h(y))),
        halves("sat_h", "add.sat.f16", 2, |x, y, _| match h(x) + h(y) {
            sum if sum > 0.0 => narrow(sum.min(1.0)),
            _ => 0,
        }),
        halves("neg_h", "neg.f16 %bh, %ah; mov.b16 %ah, %bh; min.f16", 2, |x, _, _| {
            if h(x).is_nan() { 0x7fff } else { x ^ 0x8000 }
        }),
        halves("max_h", "max.f16", 2, |x, y, _| match (h(x), h(y)) {
            (p, q) if p.is_nan() && q.is_nan() => 0x7fff,
            (p, q) if p == q => x & y,
            (p, q) => {
                if q.is_nan() || p > q {
                    x
                } else {
                    y
                }
            }
        }),
        halves("add_b", "add.rn.bf16", 2, |x, y, _| brain(b(x) + b(y))),
        halves("mul_b", "mul.rn.bf16", 2, |x, y, _| brain(b(x) * b(y))),
        halves(
            "cvt_b",
            "cvt.f32.bf16 %rw, %ah; cvt.rn.bf16.f32 %ah, %rw; mov.b16",
            1,
            |x, _, _| {
                if b(x).is_nan() { 0x7fff } else { x }
            },
        ),
        halves("set_h", "set.gt.f16.f16", 2, |x, y, _| if h(x) > h(y) { 0x3c00 } else { 0 }),
    ]
}

fn long_cases() -> Vec<Case<u64>> {
    let mut all = vec![
        longs("add64", "add.u64", 2, |a, b, _| a.wrapping_add(b)),
        longs("mul64_hi", "mul.hi.u64", 2, |a, b, _| {
            ((u128::from(a) * u128::from(b)) >> 64) as u64
        }),
        longs("mul64_his", "mul.hi.s64", 2, |a, b, _| {
            ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64
        }),
        longs("div64", "div.u64", 2, |a, b, _| a.checked_div(b).unwrap_or(u64::MAX)),
        longs("min64", "min.s64", 2, |a, b, _| (a as i64).min(b as i64) as u64),
        longs("fma64", "fma.rn.f64", 3, |a, b, c| d(a).mul_add(d(b), d(c)).to_bits()),
        longs("div64_f", "div.rn.f64", 2, |a, b, _| (d(a) / d(b)).to_bits()),
        longs("cvt_ll", "cvt.rzi.s64.f64", 1, |a, _, _| match d(a).is_nan() {
            true => 1 << 63,
            false => d(a) as i64 as u64,
        }),
    ];
    let mut other =
        |name, body: &str, expected| all.push(Case { name, body: body.to_owned(), expected });
    other("wide", "mad.wide.s32 %result, %aw, %bw, %c;", |a, b, c| {
        (i64::from(a as i32) * i64::from(b as i32)).wrapping_add(c as i64) as u64
    });
    // A sum of 128 bits, of which the upper half remains.
    other("carry", "add.cc.u64 %a, %a, %b; addc.u64 %result, %c, %b;", |a, b, c| {
        c.wrapping_add(b).wrapping_add(a.overflowing_add(b).1.into())
    });
    other(
        "borrow",
        "sub.cc.u32 %aw, %aw, %bw; subc.u32 %rw, %cw, %bw; cvt.u64.u32 %result, %rw;",
        |a, b, c| {
            let borrow = ((a as u32) < (b as u32)) as u32;
            u64::from((c as u32).wrapping_sub(b as u32).wrapping_sub(borrow))
        },
    );
    // Carries of differences are set where nothing was borrowed, and are taken as such.
    other("sub_addc", "sub.cc.u64 %a, %a, %b; addc.u64 %result, %c, 0;", |a, b, c| {
        c.wrapping_add((a >= b).into())
    });
    other(
        "add_subc",
        "add.cc.u32 %aw, %aw, %bw; subc.u32 %rw, %cw, %bw; cvt.u64.u32 %result, %rw;",
        |a, b, c| {
            let carry = (a as u32).overflowing_add(b as u32).1;
            u64::from((c as u32).wrapping_sub(b as u32).wrapping_sub((!carry).into()))
        },
    );
    other(
        "subc_addc",
        "sub.cc.s32 %rw, %aw, %bw; subc.cc.s32 %bw, %bw, %cw; addc.u32 %rw, %rw, 0;
         cvt.u64.u32 %result, %rw;",
        |a, b, c| {
            let [a, b, c] = [a as u32, b as u32, c as u32];
            let kept = u64::from(b) >= u64::from(c) + u64::from(a < b);
            a.wrapping_sub(b).wrapping_add(kept.into()).into()
        },
    );
    other(
        "addc_subc",
        "add.cc.u64 %a, %a, %b; addc.cc.u64 %b, %b, %c; subc.u64 %result, %a, %c;",
        {
            |a, b, c| {
                let (sum, carry) = a.overflowing_add(b);
                let carried = u128::from(b) + u128::from(c) + u128::from(carry) > u64::MAX.into();
                sum.wrapping_sub(c).wrapping_sub((!carried).into())
            }
        },
    );
    other(
        "sub_madc",
        "sub.cc.u32 %rw, %aw, %bw; madc.lo.cc.u32 %aw, %bw, %cw, %aw; subc.u32 %rw, %aw, 0;
         cvt.u64.u32 %result, %rw;",
        |a, b, c| {
            let [a, b, c] = [a as u32, b as u32, c as u32];
            let sum = u64::from(b.wrapping_mul(c)) + u64::from(a) + u64::from(a >= b);
            (sum as u32).wrapping_sub((sum >> 32 == 0).into()).into()
        },
    );
    other("pack", "mov.b64 {%aw, %bw}, %a; mov.b64 %result, {%bw, %cw};", |a, _, c| {
        a >> 32 | c << 32
    });
    other("bfi_word", "bfi.b32 %rw, %aw, %bw, %cw, 13; cvt.u64.u32 %result, %rw;", |a, b, c| {
        let at = c as u32 & 0xff;
        let mask = 0x1fffu32.checked_shl(at).unwrap_or(0);
        (b as u32 & !mask | (a as u32).checked_shl(at).unwrap_or(0) & mask).into()
    });
    other("bfi", "bfi.b64 %result, %a, %b, %cw, 13;", |a, b, c| {
        let at = c as u32;
        let mask = 0x1fffu64.checked_shl(at).unwrap_or(0);
        b & !mask | a.checked_shl(at).unwrap_or(0) & mask
    });
    other("bfe", "bfe.s32 %rw, %aw, %bw, 9; cvt.s64.s32 %result, %rw;", |a, b, _| {
        // The sign is the field's highest bit, or the value's where the field ends beyond it.
        let (a, at) = (i64::from(a as i32), b as u32 & 0xff);
        let top = (at + 8).min(31);
        let signed = a << (63 - top) >> (63 - top);
        (signed >> at.min(63)) as u64
    });
    other("lop3", "lop3.b32 %rw, %aw, %bw, %cw, 0x96; cvt.u64.u32 %result, %rw;", |a, b, c| {
        (a ^ b ^ c) & 0xffff_ffff
    });
    other(
        "setp",
        "setp.lt.and.f32 %p|%q, %aw, %bw, 1; selp.u64 %result, 1, 0, %p; @%q add.u64 %result, %result, 2;",
        |a, b, _| if f(a as u32) < f(b as u32) { 1 } else { 2 },
    );
    other("setp_u", "setp.geu.f64 %p, %a, %b; selp.u64 %result, %a, %c, %p;", |a, b, c| {
        if d(a) < d(b) { c } else { a }
    });
    other("min_f", "min.f32 %rw, %aw, %bw; cvt.u64.u32 %result, %rw;", |a, b, _| {
        let (a, b) = (f(a as u32), f(b as u32));
        let least = match (a.is_nan(), b.is_nan()) {
            (true, _) => b,
            (_, true) => a,
            _ if a == b => f(a.to_bits() | b.to_bits()),
            _ => a.min(b),
        };
        bits(least).into()
    });
    for (name, class, expected) in [
        (
            "finite",
            "finite",
            (|a, _, _| f(a as u32).is_finite().into()) as fn(u64, u64, u64) -> u64,
        ),
        ("infinite", "infinite", |a, _, _| f(a as u32).is_infinite().into()),
        ("number", "number", |a, _, _| (!f(a as u32).is_nan()).into()),
        ("nan", "notanumber", |a, _, _| f(a as u32).is_nan().into()),
        // Zeros count as normal numbers.
        ("normal", "normal", |a, _, _| (f(a as u32).is_normal() || f(a as u32) == 0.0).into()),
        ("subnormal", "subnormal", |a, _, _| f(a as u32).is_subnormal().into()),
    ] {
        let body = format!("testp.{class}.f32 %p, %aw; selp.u64 %result, 1, 0, %p;");
        other(name, &body, expected);
    }
    other(
        "setp_xor",
        "setp.lt.s32 %q, %aw, %cw; setp.hi.xor.u32 %p, %aw, %bw, %q; selp.u64 %result, 1, 0, %p;",
        |a, b, c| u64::from((a as u32 > b as u32) ^ ((a as i32) < c as i32)),
    );
    other("setp_nan", "setp.nan.f64 %p, %a, %b; selp.u64 %result, 1, 0, %p;", |a, b, _| {
        (d(a).is_nan() || d(b).is_nan()).into()
    });
    other("mul_wide", "mul.wide.s16 %rw, %ah, %bh; cvt.u64.u32 %result, %rw;", |a, b, _| {
        u64::from((i32::from(a as i16) * i32::from(b as i16)) as u32)
    });
    other("mul_wide_u", "mul.wide.u32 %result, %aw, %bw;", |a, b, _| {
        u64::from(a as u32) * u64::from(b as u32)
    });
    other(
        "clz64",
        "clz.b64 %rw, %a; popc.b64 %aw, %b; add.u32 %rw, %rw, %aw; cvt.u64.u32 %result, %rw;",
        |a, b, _| u64::from(a.leading_zeros() + b.count_ones()),
    );
    other("shl64", "shl.b64 %a, %a, %bw; shr.s64 %result, %a, %cw;", |a, b, c| {
        let left = a.checked_shl(b as u32).unwrap_or(0) as i64;
        (left >> (c as u32).min(63)) as u64
    });
    other("abs64", "abs.s64 %a, %a; neg.s64 %result, %a;", |a, _, _| {
        (a as i64).wrapping_abs().wrapping_neg() as u64
    });
    other(
        "madc",
        "mad.lo.cc.u32 %rw, %aw, %bw, %cw; madc.hi.u32 %rw, %aw, %bw, 0; cvt.u64.u32 %result, %rw;",
        |a, b, c| {
            let [a, b, c] = [a, b, c].map(|v| u64::from(v as u32));
            (a * b + c) >> 32
        },
    );
    other("h2", "add.f16x2 %rw, %aw, %bw; cvt.u64.u32 %result, %rw;", |a, b, _| {
        let half = |v: u64| half::f16::from_bits(v as u16).to_f64();
        let sum = |n: u32| match half(a >> n) + half(b >> n) {
            sum if sum.is_nan() => 0x7fff,
            sum => u64::from(narrow(sum)),
        };
        sum(0) | sum(16) << 16
    });
    other("set_h2", "set.gtu.f16x2.f16x2 %rw, %aw, %bw; cvt.u64.u32 %result, %rw;", |a, b, _| {
        set_halves(a, b, 0x3c00)
    });
    other(
        "set_h2_mask",
        "set.gtu.u32.f16x2 %rw, %aw, %bw; cvt.u64.u32 %result, %rw;",
        |a, b, _| set_halves(a, b, 0xffff),
    );
    other("to_h2", "cvt.rn.f16x2.f32 %rw, %aw, %bw; cvt.u64.u32 %result, %rw;", |a, b, _| {
        let half = |v: u64| match f64::from(f(v as u32)) {
            v if v.is_nan() => 0x7fff,
            v => u64::from(narrow(v)),
        };
        half(a) << 16 | half(b)
    });
    other(
        "half",
        "cvt.f32.f16 %rw, %ah; cvt.rn.f16.f32 %rh, %rw; cvt.u64.u16 %result, %rh;",
        |a, _, _| {
            let half = half::f16::from_bits(a as u16);
            if half.is_nan() { 0x7fff } else { a & 0xffff }
        },
    );
    other("hfma", "fma.rn.f16 %rh, %ah, %bh, %ch; cvt.u64.u16 %result, %rh;", |a, b, c| {
        // Exact in f64 but for the sum, which rounds to odd so that rounding again does no harm.
        let [a, b, c] = [a, b, c].map(|v| half::f16::from_bits(v as u16).to_f64());
        let (product, sum) = (a * b, a * b + c);
        if sum.is_nan() {
            return 0x7fff;
        }
        let error = if sum.is_finite() { two_sum_error(product, c, sum) } else { 0.0 };
        let odd = match error != 0.0 && sum.to_bits() & 1 == 0 {
            true if (error > 0.0) == (sum > 0.0) => d(sum.to_bits() + 1),
            true => d(sum.to_bits() - 1),
            false => sum,
        };
        u64::from(narrow(odd))
    });
    all
}

/// What a sum has lost (Knuth, TAOCP 2, §4.2.2, theorem B).
fn two_sum_error(a: f64, b: f64, sum: f64) -> f64 {
    let back = sum - a;
    (a - (sum - back)) + (b - back)
}

/// The nearest half, by comparing with its neighbours.
fn narrow(value: f64) -> u16 {
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let magnitude = value.abs();
    let below = (0..0x7c00u16).collect::<Vec<_>>();
    let at = below.partition_point(|h| half::f16::from_bits(*h).to_f64() <= magnitude) as u16 - 1;
    let (low, high) = (half::f16::from_bits(at).to_f64(), half::f16::from_bits(at + 1));
    // Beyond the largest one follows what would be the next.
    let high = if high.is_infinite() { 65536.0 } else { high.to_f64() };
    let up = match (magnitude - low).partial_cmp(&(high - magnitude)) {
        Some(std::cmp::Ordering::Greater) => true,
        Some(std::cmp::Ordering::Equal) => at & 1 == 1,
        _ => false,
    };
    sign | (at + u16::from(up))
}

/// What each kernel should make of three words.
type Expected = HashMap<&'static str, Box<dyn Fn(u64, u64, u64) -> u64>>;

/// All cases, with a kernel each.
fn kernels() -> (Vec<(&'static str, String)>, Expected) {
    let mut kernels = Vec::new();
    let mut expected = Expected::new();
    for case in word_cases() {
        kernels.push((case.name, kernel(case.name, &case.body)));
        let f = case.expected;
        expected.insert(case.name, Box::new(move |a, b, c| f(a as u32, b as u32, c as u32).into()));
    }
    for case in half_cases() {
        kernels.push((case.name, kernel(case.name, &case.body)));
        let f = case.expected;
        expected.insert(case.name, Box::new(move |a, b, c| f(a as u16, b as u16, c as u16).into()));
    }
    for case in long_cases() {
        kernels.push((case.name, kernel(case.name, &case.body)));
        expected.insert(case.name, Box::new(case.expected));
    }
    (kernels, expected)
}

/// All cases as kernels of one module.
fn module() -> (Program, Expected) {
    let (kernels, expected) = kernels();
    let texts: String = kernels.iter().map(|(_, text)| text.as_str()).collect();
    (program(&format!("{HEAD}{texts}")), expected)
}

/// Writes all instructions with random operands and their results to the file that `COMMSAN_INSTRUCTIONS` names, for
/// `gpu-check` to execute them on a device.
#[test]
#[ignore = "makes a part of the kit of `make gpu-kit`"]
fn export() {
    const THREADS: usize = 256;
    let path = std::env::var_os("COMMSAN_INSTRUCTIONS").expect("a file's name");
    let (kernels, _) = kernels();
    let mut runner = TestRunner::deterministic();
    let mut word = || operand().new_tree(&mut runner).expect("no filter").current();
    let mut all = Vec::new();
    for (name, text) in kernels {
        let ptx = format!("{HEAD}{text}");
        let mut input: Vec<_> = (0..THREADS).map(|_| [word(), word(), word()]).collect();
        let given = input.clone();
        let output = apply(&program(&ptx), name, THREADS as u32, &mut input).expect("no fault");
        all.push(serde_json::json!({ "name": name, "ptx": ptx, "input": given, "output": output }));
    }
    std::fs::write(path, serde_json::Value::from(all).to_string())
        .expect("a file that can be written");
}

/// Numbers of all sizes, and those at which arithmetic changes.
fn operand() -> impl Strategy<Value = u64> {
    let corner = prop::sample::select(vec![
        0,
        1,
        31,
        32,
        63,
        64,
        0x7fff_ffff,
        0x8000_0000,
        0xffff_ffff,
        u64::MAX,
        1 << 63,
        0x7f80_0000,
        0xff80_0000,
        0x7fc0_0000,
        0x0000_0001_0000_0001,
        0x3f80_0000,
        0xbf80_0000,
        0x7ff0 << 48,
        0xfff0 << 48,
        0x3ff0 << 48,
        0x0080_0000,
        0x007f_ffff,
        0x7c00,
        0x3c00,
    ]);
    prop_oneof![
        any::<u64>(),
        corner,
        any::<u64>().prop_map(|v| v >> 40),
        any::<f32>().prop_map(|v| v.to_bits().into()),
        any::<f64>().prop_map(f64::to_bits)
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]
    #[test]
    fn instructions_agree_with_the_host(
        rows in prop::collection::vec([operand(), operand(), operand()], 32),
        threads in 1u32..=32,
    ) {
        thread_local! {
            static MODULE: (Program, Expected) = module();
        }
        MODULE.with(|(program, expected)| {
            for (name, expected) in expected {
                let mut input: Vec<[u64; 3]> = rows.clone();
                let out = apply(program, name, threads, &mut input).map_err(|f| f.to_string()).unwrap();
                for ([a, b, c], got) in rows.iter().zip(out).take(threads as usize) {
                    let expected = expected(*a, *b, *c);
                    // Payloads of NaNs of 64 bits are not defined.
                    let both_nan = name.contains("64") && d(expected).is_nan() && d(got).is_nan();
                    prop_assert!(got == expected || both_nan,
                        "{name}({a:#x}, {b:#x}, {c:#x}) = {got:#x}, not {expected:#x}");
                }
            }
            Ok(())
        })?;
    }
}
