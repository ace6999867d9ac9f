//! Instructions with their expected results, by family as in `src/lower`.

mod bits;
mod compare;
mod convert;
mod float;
mod half;
mod integer;

/// The expected result for three operands.
pub type Expected = Box<dyn Fn(u64, u64, u64) -> u64>;

/// An instruction and its expected result.
pub struct Case {
    /// The name of the case, unique among all.
    pub name: &'static str,
    /// PTX that computes `%result`, as in `device::words::kernel`.
    pub body: String,
    /// The result that the host computes.
    pub expected: Expected,
}

/// The cases of all families.
pub fn all() -> Vec<Case> {
    let families = [
        integer::cases(),
        bits::cases(),
        float::cases(),
        half::cases(),
        compare::cases(),
        convert::cases(),
    ];
    families.into_iter().flatten().collect()
}

/// PTX that leaves the result of three 64-bit operands in `%result`.
fn raw(name: &'static str, body: &str, expected: fn(u64, u64, u64) -> u64) -> Case {
    Case { name, body: body.to_owned(), expected: Box::new(expected) }
}

/// An instruction on 32-bit operands: `instruction %rw, %aw, %bw, %cw`, with `count` operands.
fn words(
    name: &'static str,
    instruction: &str,
    count: usize,
    expected: fn(u32, u32, u32) -> u32,
) -> Case {
    let operands = ["%aw", "%bw", "%cw"][..count].join(", ");
    Case {
        name,
        body: format!("{instruction} %rw, {operands}; cvt.u64.u32 %result, %rw;"),
        expected: Box::new(move |a, b, c| expected(a as u32, b as u32, c as u32).into()),
    }
}

/// An instruction on 64-bit operands: `instruction %result, %a, %b, %c`, with `count` operands.
fn longs(
    name: &'static str,
    instruction: &str,
    count: usize,
    expected: fn(u64, u64, u64) -> u64,
) -> Case {
    let operands = ["%a", "%b", "%c"][..count].join(", ");
    raw(name, &format!("{instruction} %result, {operands};"), expected)
}

/// An instruction on 16-bit operands: `instruction %rh, %ah, %bh, %ch`, with `count` operands.
fn halves(
    name: &'static str,
    instruction: &str,
    count: usize,
    expected: fn(u16, u16, u16) -> u16,
) -> Case {
    let operands = ["%ah", "%bh", "%ch"][..count].join(", ");
    Case {
        name,
        body: format!("{instruction} %rh, {operands}; cvt.u64.u16 %result, %rh;"),
        expected: Box::new(move |a, b, c| expected(a as u16, b as u16, c as u16).into()),
    }
}

/// The `f32` with these bits.
fn f(bits: u32) -> f32 {
    f32::from_bits(bits)
}

/// The `f64` with these bits.
pub fn d(bits: u64) -> f64 {
    f64::from_bits(bits)
}

/// The bits of a result, with every NaN replaced by the canonical one.
fn bits(value: f32) -> u32 {
    if value.is_nan() { 0x7fff_ffff } else { value.to_bits() }
}

/// The value of an `f16`.
fn h(bits: u16) -> f64 {
    ::half::f16::from_bits(bits).to_f64()
}

/// The nearest `f16`, with every NaN replaced by the canonical one.
fn narrowed(value: f64) -> u16 {
    if value.is_nan() { 0x7fff } else { narrow(value) }
}

/// The value of a `bf16`.
fn b(bits: u16) -> f64 {
    ::half::bf16::from_bits(bits).to_f64()
}

/// The nearest `bf16`, with every NaN replaced by the canonical one.
fn brain(value: f64) -> u16 {
    if value.is_nan() { 0x7fff } else { ::half::bf16::from_f64(value).to_bits() }
}

/// The rounding error of a sum (Knuth, TAOCP 2, §4.2.2, theorem B).
fn two_sum_error(a: f64, b: f64, sum: f64) -> f64 {
    let back = sum - a;
    (a - (sum - back)) + (b - back)
}

/// The nearest `f16`, found by comparison with its neighbours.
fn narrow(value: f64) -> u16 {
    let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
    let magnitude = value.abs();
    let below = (0..0x7c00u16).collect::<Vec<_>>();
    let at = below.partition_point(|h| ::half::f16::from_bits(*h).to_f64() <= magnitude) as u16 - 1;
    let (low, high) = (::half::f16::from_bits(at).to_f64(), ::half::f16::from_bits(at + 1));
    // The largest number's successor would be 65536.
    let high = if high.is_infinite() { 65536.0 } else { high.to_f64() };
    let up = match (magnitude - low).partial_cmp(&(high - magnitude)) {
        Some(std::cmp::Ordering::Greater) => true,
        Some(std::cmp::Ordering::Equal) => at & 1 == 1,
        _ => false,
    };
    sign | (at + u16::from(up))
}
