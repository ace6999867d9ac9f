//! Single instructions on random operands, against the host's own arithmetic.

mod device;

use commsan_simt::{Fault, Program};
use device::{Arguments, program, run, shape};
use proptest::prelude::*;
use std::collections::HashMap;

/// A kernel that applies instructions to what each of 32 threads finds in `in`, three 64-bit words, and
/// stores `%result`. `%a`, `%b`, `%c` are the words, with 32 and 16 bits of them in `%aw` and `%ah`.
fn kernel(name: &str, body: &str) -> String {
    format!(
        ".visible .entry {name}(.param .u64 in, .param .u64 out) {{
            .reg .b64 %pin, %pout, %a, %b, %c, %result, %at;
            .reg .b32 %aw, %bw, %cw, %rw, %t;
            .reg .b16 %ah, %bh, %ch, %rh;
            .reg .pred %p, %q;
            ld.param.u64 %pin, [in];
            ld.param.u64 %pout, [out];
            mov.u32 %t, %tid.x;
            mad.wide.u32 %at, %t, 24, %pin;
            ld.global.u64 %a, [%at];
            ld.global.u64 %b, [%at+8];
            ld.global.u64 %c, [%at+16];
            cvt.u32.u64 %aw, %a; cvt.u32.u64 %bw, %b; cvt.u32.u64 %cw, %c;
            cvt.u16.u64 %ah, %a; cvt.u16.u64 %bh, %b; cvt.u16.u64 %ch, %c;
            mov.u64 %result, 0;
            {body}
            mad.wide.u32 %at, %t, 8, %pout;
            st.global.u64 [%at], %result;
            ret;
        }}\n"
    )
}

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
            0 => a,
            b => (a as i32).wrapping_rem(b as i32) as u32,
        }),
        words("min_s", "min.s32", 2, |a, b, _| (a as i32).min(b as i32) as u32),
        words("max_u", "max.u32", 2, |a, b, _| a.max(b)),
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
    other("pack", "mov.b64 {%aw, %bw}, %a; mov.b64 %result, {%bw, %cw};", |a, _, c| {
        a >> 32 | c << 32
    });
    other("bfi", "bfi.b64 %result, %a, %b, %cw, 13;", |a, b, c| {
        let at = c as u32 & 0xff;
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

const HEAD: &str = ".version 8.5\n.target sm_90\n.address_size 64\n";

/// What each kernel should make of three words.
type Expected = HashMap<&'static str, Box<dyn Fn(u64, u64, u64) -> u64>>;

/// All cases as kernels of one module.
fn module() -> (Program, Expected) {
    let mut text = HEAD.to_owned();
    let mut expected = Expected::new();
    for case in word_cases() {
        text.push_str(&kernel(case.name, &case.body));
        let f = case.expected;
        expected.insert(case.name, Box::new(move |a, b, c| f(a as u32, b as u32, c as u32).into()));
    }
    for case in long_cases() {
        text.push_str(&kernel(case.name, &case.body));
        expected.insert(case.name, Box::new(case.expected));
    }
    (program(&text), expected)
}

fn apply(
    program: &Program,
    name: &str,
    threads: u32,
    input: &mut [[u64; 3]],
) -> Result<Vec<u64>, Box<Fault>> {
    let mut out = vec![0u64; input.len()];
    let arguments = Arguments::new().array(input).array(&mut out);
    run(program, name, &shape(1, threads), &arguments)?;
    Ok(out)
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
