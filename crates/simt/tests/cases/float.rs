//! Floating-point arithmetic in single and double precision (PTX ISA §9.7.3).

use super::{Case, bits, d, f, longs, raw, two_sum_error, words};

/// The cases of this family, each with a unique name.
pub fn cases() -> Vec<Case> {
    vec![
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
        words("copysign", "copysign.f32", 2, |a, b, _| b & 0x7fff_ffff | a & 1 << 31),
        // Which NaN results is undefined.
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
            // The exact product has 48 bits; it is truncated.
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
        longs("fma64", "fma.rn.f64", 3, |a, b, c| d(a).mul_add(d(b), d(c)).to_bits()),
        longs("div64_f", "div.rn.f64", 2, |a, b, _| (d(a) / d(b)).to_bits()),
        raw("min_f", "min.f32 %rw, %aw, %bw; cvt.u64.u32 %result, %rw;", |a, b, _| {
            let (a, b) = (f(a as u32), f(b as u32));
            let least = match (a.is_nan(), b.is_nan()) {
                (true, _) => b,
                (_, true) => a,
                _ if a == b => f(a.to_bits() | b.to_bits()),
                _ => a.min(b),
            };
            bits(least).into()
        }),
    ]
}

/// A sum rounded towards positive (`up`) or negative infinity.
fn directed_sum(a: f32, b: f32, up: bool) -> u32 {
    let near = a + b;
    if !near.is_finite() && (near.is_nan() || a.is_infinite() || b.is_infinite()) {
        return bits(near);
    }
    // Terms of opposite signs that cancel give the zero of the direction (IEEE 754 §6.3).
    if near == 0.0 {
        let same = a.to_bits() == b.to_bits();
        return if same { a.to_bits() } else { if up { 0f32 } else { -0f32 }.to_bits() };
    }
    // In f64 the sum of two f32 is exact, or its error says on which side of it the exact sum lies.
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
