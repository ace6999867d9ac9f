//! Floating-point arithmetic on `f16` and `bf16` (PTX ISA §9.7.4).

use super::{Case, b, brain, d, h, halves, narrow, narrowed, raw, two_sum_error};

/// The cases of this family, each with a unique name.
pub fn cases() -> Vec<Case> {
    vec![
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
        raw("h2", "add.f16x2 %rw, %aw, %bw; cvt.u64.u32 %result, %rw;", |a, b, _| {
            let half = |v: u64| ::half::f16::from_bits(v as u16).to_f64();
            let sum = |n: u32| match half(a >> n) + half(b >> n) {
                sum if sum.is_nan() => 0x7fff,
                sum => u64::from(narrow(sum)),
            };
            sum(0) | sum(16) << 16
        }),
        raw("hfma", "fma.rn.f16 %rh, %ah, %bh, %ch; cvt.u64.u16 %result, %rh;", |a, b, c| {
            // Exact in f64 except for the sum, which rounds to odd, so that double rounding is
            // innocuous.
            let [a, b, c] = [a, b, c].map(|v| ::half::f16::from_bits(v as u16).to_f64());
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
        }),
    ]
}
