//! Integer arithmetic (PTX ISA §9.7.1, §9.7.2).

use super::{Case, halves, longs, raw, words};

/// The cases of this family, each with a unique name.
pub fn cases() -> Vec<Case> {
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
        words("dp4a", "dp4a.s32.s32", 3, |a, b, c| {
            let products = a.to_le_bytes().into_iter().zip(b.to_le_bytes());
            let sum: i32 = products.map(|(a, b)| i32::from(a as i8) * i32::from(b as i8)).sum();
            c.wrapping_add(sum as u32)
        }),
        words("rem_u", "rem.u32", 2, |a, b, _| a.checked_rem(b).unwrap_or(u32::MAX)),
        words("mul24_hi", "mul24.hi.s32", 2, |a, b, _| {
            let low = |v: u32| i64::from((v << 8) as i32 >> 8);
            ((low(a) * low(b)) >> 16) as u32
        }),
        words("mad_hi", "mad.hi.s32", 3, |a, b, c| {
            let product = i64::from(a as i32) * i64::from(b as i32);
            ((product >> 32) as u32).wrapping_add(c)
        }),
        words("neg", "neg.s32", 1, |a, _, _| (a as i32).wrapping_neg() as u32),
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
        halves("add16", "add.s16", 2, |a, b, _| a.wrapping_add(b)),
        halves("mul16_hi", "mul.hi.s16", 2, |a, b, _| {
            ((i32::from(a as i16) * i32::from(b as i16)) >> 16) as u16
        }),
        halves("mad16", "mad.lo.u16", 3, |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
        halves("div16", "div.u16", 2, |a, b, _| a.checked_div(b).unwrap_or(u16::MAX)),
        halves("min16", "min.s16", 2, |a, b, _| (a as i16).min(b as i16) as u16),
        longs("add64", "add.u64", 2, |a, b, _| a.wrapping_add(b)),
        longs("mul64_hi", "mul.hi.u64", 2, |a, b, _| {
            ((u128::from(a) * u128::from(b)) >> 64) as u64
        }),
        longs("mul64_his", "mul.hi.s64", 2, |a, b, _| {
            ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64
        }),
        longs("div64", "div.u64", 2, |a, b, _| a.checked_div(b).unwrap_or(u64::MAX)),
        longs("min64", "min.s64", 2, |a, b, _| (a as i64).min(b as i64) as u64),
        raw("wide", "mad.wide.s32 %result, %aw, %bw, %c;", |a, b, c| {
            (i64::from(a as i32) * i64::from(b as i32)).wrapping_add(c as i64) as u64
        }),
        // The upper half of a 128-bit sum.
        raw("carry", "add.cc.u64 %a, %a, %b; addc.u64 %result, %c, %b;", |a, b, c| {
            c.wrapping_add(b).wrapping_add(a.overflowing_add(b).1.into())
        }),
        raw(
            "borrow",
            "sub.cc.u32 %aw, %aw, %bw; subc.u32 %rw, %cw, %bw; cvt.u64.u32 %result, %rw;",
            |a, b, c| {
                let borrow = ((a as u32) < (b as u32)) as u32;
                u64::from((c as u32).wrapping_sub(b as u32).wrapping_sub(borrow))
            },
        ),
        // A difference sets the carry if there was no borrow, and reads it the same way.
        raw("sub_addc", "sub.cc.u64 %a, %a, %b; addc.u64 %result, %c, 0;", |a, b, c| {
            c.wrapping_add((a >= b).into())
        }),
        raw(
            "add_subc",
            "add.cc.u32 %aw, %aw, %bw; subc.u32 %rw, %cw, %bw; cvt.u64.u32 %result, %rw;",
            |a, b, c| {
                let carry = (a as u32).overflowing_add(b as u32).1;
                u64::from((c as u32).wrapping_sub(b as u32).wrapping_sub((!carry).into()))
            },
        ),
        raw(
            "subc_addc",
            "sub.cc.s32 %rw, %aw, %bw; subc.cc.s32 %bw, %bw, %cw; addc.u32 %rw, %rw, 0;
         cvt.u64.u32 %result, %rw;",
            |a, b, c| {
                let [a, b, c] = [a as u32, b as u32, c as u32];
                let kept = u64::from(b) >= u64::from(c) + u64::from(a < b);
                a.wrapping_sub(b).wrapping_add(kept.into()).into()
            },
        ),
        raw(
            "addc_subc",
            "add.cc.u64 %a, %a, %b; addc.cc.u64 %b, %b, %c; subc.u64 %result, %a, %c;",
            {
                |a, b, c| {
                    let (sum, carry) = a.overflowing_add(b);
                    let carried =
                        u128::from(b) + u128::from(c) + u128::from(carry) > u64::MAX.into();
                    sum.wrapping_sub(c).wrapping_sub((!carried).into())
                }
            },
        ),
        raw(
            "sub_madc",
            "sub.cc.u32 %rw, %aw, %bw; madc.lo.cc.u32 %aw, %bw, %cw, %aw; subc.u32 %rw, %aw, 0;
         cvt.u64.u32 %result, %rw;",
            |a, b, c| {
                let [a, b, c] = [a as u32, b as u32, c as u32];
                let sum = u64::from(b.wrapping_mul(c)) + u64::from(a) + u64::from(a >= b);
                (sum as u32).wrapping_sub((sum >> 32 == 0).into()).into()
            },
        ),
        raw("mul_wide", "mul.wide.s16 %rw, %ah, %bh; cvt.u64.u32 %result, %rw;", |a, b, _| {
            u64::from((i32::from(a as i16) * i32::from(b as i16)) as u32)
        }),
        raw("mul_wide_u", "mul.wide.u32 %result, %aw, %bw;", |a, b, _| {
            u64::from(a as u32) * u64::from(b as u32)
        }),
        raw("abs64", "abs.s64 %a, %a; neg.s64 %result, %a;", |a, _, _| {
            (a as i64).wrapping_abs().wrapping_neg() as u64
        }),
        raw(
            "madc",
            "mad.lo.cc.u32 %rw, %aw, %bw, %cw; madc.hi.u32 %rw, %aw, %bw, 0; cvt.u64.u32 %result, %rw;",
            |a, b, c| {
                let [a, b, c] = [a, b, c].map(|v| u64::from(v as u32));
                (a * b + c) >> 32
            },
        ),
    ]
}

/// Applies a function to each 16-bit half.
fn each_half(a: u32, b: u32, f: fn(i16, i16) -> i16) -> u32 {
    let half = |n: u32| u32::from(f((a >> n) as i16, (b >> n) as i16) as u16);
    half(0) | half(16) << 16
}
