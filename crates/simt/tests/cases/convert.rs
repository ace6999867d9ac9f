//! Conversions and moves (PTX ISA §9.7.9).

use super::{Case, b, bits, d, f, halves, longs, narrow, raw, words};

/// The cases of this family, each with a unique name.
pub fn cases() -> Vec<Case> {
    vec![
        words("cvt_rni", "cvt.rni.s32.f32", 1, |a, _, _| f(a).round_ties_even() as i32 as u32),
        words("cvt_rmi_u8", "cvt.rmi.u8.f32", 1, |a, _, _| u32::from(f(a).floor() as u8)),
        words("cvt_s8", "cvt.s32.s8", 1, |a, _, _| a as i8 as u32),
        words("cvt_sat_u8", "cvt.sat.u8.s32", 1, |a, _, _| (a as i32).clamp(0, 255) as u32),
        words("cvt_f_s", "cvt.rn.f32.s32", 1, |a, _, _| (a as i32 as f32).to_bits()),
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
        halves(
            "cvt_b",
            "cvt.f32.bf16 %rw, %ah; cvt.rn.bf16.f32 %ah, %rw; mov.b16",
            1,
            |x, _, _| {
                if b(x).is_nan() { 0x7fff } else { x }
            },
        ),
        longs("cvt_ll", "cvt.rzi.s64.f64", 1, |a, _, _| match d(a).is_nan() {
            true => 1 << 63,
            false => d(a) as i64 as u64,
        }),
        raw("pack", "mov.b64 {%aw, %bw}, %a; mov.b64 %result, {%bw, %cw};", |a, _, c| {
            a >> 32 | c << 32
        }),
        raw("to_h2", "cvt.rn.f16x2.f32 %rw, %aw, %bw; cvt.u64.u32 %result, %rw;", |a, b, _| {
            let half = |v: u64| match f64::from(f(v as u32)) {
                v if v.is_nan() => 0x7fff,
                v => u64::from(narrow(v)),
            };
            half(a) << 16 | half(b)
        }),
        raw(
            "half",
            "cvt.f32.f16 %rw, %ah; cvt.rn.f16.f32 %rh, %rw; cvt.u64.u16 %result, %rh;",
            |a, _, _| {
                let half = ::half::f16::from_bits(a as u16);
                if half.is_nan() { 0x7fff } else { a & 0xffff }
            },
        ),
    ]
}
