//! Comparison and selection (PTX ISA §9.7.6, §9.7.7).

use super::{Case, bits, d, f, h, halves, raw, words};

/// The cases of this family, each with a unique name.
pub fn cases() -> Vec<Case> {
    let mut all = vec![
        words("set", "set.lt.u32.f32", 2, |a, b, _| if f(a) < f(b) { u32::MAX } else { 0 }),
        words("set_f", "set.hs.f32.u32", 2, |a, b, _| bits(if a >= b { 1.0 } else { 0.0 })),
        words("slct", "slct.u32.s32", 3, |a, b, c| if (c as i32) < 0 { b } else { a }),
        words("slct_f", "slct.b32.f32", 3, |a, b, c| if f(c) >= 0.0 { a } else { b }),
        halves("set_h", "set.gt.f16.f16", 2, |x, y, _| if h(x) > h(y) { 0x3c00 } else { 0 }),
        raw(
            "setp",
            "setp.lt.and.f32 %p|%q, %aw, %bw, 1; selp.u64 %result, 1, 0, %p; @%q add.u64 %result, %result, 2;",
            |a, b, _| if f(a as u32) < f(b as u32) { 1 } else { 2 },
        ),
        raw("setp_u", "setp.geu.f64 %p, %a, %b; selp.u64 %result, %a, %c, %p;", |a, b, c| {
            if d(a) < d(b) { c } else { a }
        }),
        raw(
            "setp_xor",
            "setp.lt.s32 %q, %aw, %cw; setp.hi.xor.u32 %p, %aw, %bw, %q; selp.u64 %result, 1, 0, %p;",
            |a, b, c| u64::from((a as u32 > b as u32) ^ ((a as i32) < c as i32)),
        ),
        raw("setp_nan", "setp.nan.f64 %p, %a, %b; selp.u64 %result, 1, 0, %p;", |a, b, _| {
            (d(a).is_nan() || d(b).is_nan()).into()
        }),
        raw("set_h2", "set.gtu.f16x2.f16x2 %rw, %aw, %bw; cvt.u64.u32 %result, %rw;", |a, b, _| {
            set_halves(a, b, 0x3c00)
        }),
        raw(
            "set_h2_mask",
            "set.gtu.u32.f16x2 %rw, %aw, %bw; cvt.u64.u32 %result, %rw;",
            |a, b, _| set_halves(a, b, 0xffff),
        ),
    ];
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
        all.push(raw(name, &body, expected));
    }
    all
}

/// For each 16-bit half: `yes` if the half of `a` is greater than that of `b`, or either is NaN.
fn set_halves(a: u64, b: u64, yes: u64) -> u64 {
    let half = |v: u64| ::half::f16::from_bits(v as u16).to_f64();
    let set = |n: u32| if half(a >> n) <= half(b >> n) { 0 } else { yes };
    set(0) | set(16) << 16
}
