//! Datatypes and reductions, as PTX instructions.

use crate::abi::DataType;

/// The PTX to load, compute with and store values of a datatype. In instructions, `$d` stands for
/// the destination, `$a` and `$b` for the sources.
#[derive(Debug)]
pub struct Arithmetic {
    /// The datatype.
    pub of: DataType,
    /// Its name, as part of kernel names.
    pub name: &'static str,
    /// Size of a value, in bytes.
    pub size: usize,
    /// The type of loads and stores, and of the register for them.
    pub stored: (&'static str, &'static str),
    /// The register type of the computation.
    pub computed: &'static str,
    /// The conversion from a loaded value; empty if none is needed.
    pub widen: &'static str,
    /// The conversion to a stored value; empty if none is needed.
    pub narrow: &'static str,
    /// Sum, product, minimum and maximum.
    pub combine: [&'static str; 4],
    /// Integer division, which first truncates values to the datatype.
    pub divide: Option<&'static str>,
}

const SIGNED: [&str; 4] =
    ["add.s32 $d, $a, $b;", "mul.lo.s32 $d, $a, $b;", "min.s32 $d, $a, $b;", "max.s32 $d, $a, $b;"];
const UNSIGNED: [&str; 4] =
    ["add.u32 $d, $a, $b;", "mul.lo.u32 $d, $a, $b;", "min.u32 $d, $a, $b;", "max.u32 $d, $a, $b;"];
const SIGNED_LONG: [&str; 4] =
    ["add.s64 $d, $a, $b;", "mul.lo.s64 $d, $a, $b;", "min.s64 $d, $a, $b;", "max.s64 $d, $a, $b;"];
const UNSIGNED_LONG: [&str; 4] =
    ["add.u64 $d, $a, $b;", "mul.lo.u64 $d, $a, $b;", "min.u64 $d, $a, $b;", "max.u64 $d, $a, $b;"];
const FLOAT: [&str; 4] = [
    "add.rn.f32 $d, $a, $b;",
    "mul.rn.f32 $d, $a, $b;",
    "min.f32 $d, $a, $b;",
    "max.f32 $d, $a, $b;",
];
const DOUBLE: [&str; 4] = [
    "add.rn.f64 $d, $a, $b;",
    "mul.rn.f64 $d, $a, $b;",
    "min.f64 $d, $a, $b;",
    "max.f64 $d, $a, $b;",
];

/// Hardware converts 8-bit floats in pairs; the value is the lower half.
macro_rules! eighth {
    (widen $name:literal) => {
        concat!(
            "{ .reg .b32 pair; .reg .b16 low, high; cvt.rn.f16x2.",
            $name,
            "x2 pair, $a; mov.b32 {low, high}, pair; cvt.f32.f16 $d, low; }"
        )
    };
    (narrow $name:literal) => {
        concat!("cvt.rn.satfinite.", $name, "x2.f32 $d, 0f00000000, $a;")
    };
}

/// All datatypes. Numbers of 16 bits or fewer are computed as `float`, which has so many digits
/// that sums and products, rounded again, equal those of 16-bit units (Figueroa, "When is double
/// rounding innocuous?").
#[rustfmt::skip]
static TABLE: [Arithmetic; 12] = [
    Arithmetic { of: DataType::I8,  name: "i8",  size: 1, stored: ("s8", "b32"),  computed: "b32", widen: "", narrow: "", combine: SIGNED,        divide: Some("cvt.s32.s8 $d, $a; div.s32 $d, $d, $b;") },
    Arithmetic { of: DataType::U8,  name: "u8",  size: 1, stored: ("u8", "b32"),  computed: "b32", widen: "", narrow: "", combine: UNSIGNED,      divide: Some("cvt.u32.u8 $d, $a; div.u32 $d, $d, $b;") },
    Arithmetic { of: DataType::I32, name: "i32", size: 4, stored: ("b32", "b32"), computed: "b32", widen: "", narrow: "", combine: SIGNED,        divide: Some("div.s32 $d, $a, $b;") },
    Arithmetic { of: DataType::U32, name: "u32", size: 4, stored: ("b32", "b32"), computed: "b32", widen: "", narrow: "", combine: UNSIGNED,      divide: Some("div.u32 $d, $a, $b;") },
    Arithmetic { of: DataType::I64, name: "i64", size: 8, stored: ("b64", "b64"), computed: "b64", widen: "", narrow: "", combine: SIGNED_LONG,   divide: Some("div.s64 $d, $a, $b;") },
    Arithmetic { of: DataType::U64, name: "u64", size: 8, stored: ("b64", "b64"), computed: "b64", widen: "", narrow: "", combine: UNSIGNED_LONG, divide: Some("div.u64 $d, $a, $b;") },
    Arithmetic { of: DataType::F16, name: "f16", size: 2, stored: ("b16", "b16"), computed: "f32", widen: "cvt.f32.f16 $d, $a;", narrow: "cvt.rn.f16.f32 $d, $a;", combine: FLOAT, divide: None },
    Arithmetic { of: DataType::F32, name: "f32", size: 4, stored: ("f32", "f32"), computed: "f32", widen: "", narrow: "", combine: FLOAT,         divide: None },
    Arithmetic { of: DataType::F64, name: "f64", size: 8, stored: ("f64", "f64"), computed: "f64", widen: "", narrow: "", combine: DOUBLE,        divide: None },
    Arithmetic { of: DataType::BF16, name: "bf16", size: 2, stored: ("b16", "b16"), computed: "f32", widen: "cvt.f32.bf16 $d, $a;", narrow: "cvt.rn.bf16.f32 $d, $a;", combine: FLOAT, divide: None },
    Arithmetic { of: DataType::F8E4M3, name: "f8e4m3", size: 1, stored: ("u8", "b16"), computed: "f32", widen: eighth!(widen "e4m3"), narrow: eighth!(narrow "e4m3"), combine: FLOAT, divide: None },
    Arithmetic { of: DataType::F8E5M2, name: "f8e5m2", size: 1, stored: ("u8", "b16"), computed: "f32", widen: eighth!(widen "e5m2"), narrow: eighth!(narrow "e5m2"), combine: FLOAT, divide: None },
];

/// The PTX of a datatype.
pub fn arithmetic(of: DataType) -> &'static Arithmetic {
    &TABLE[of as usize]
}

impl DataType {
    /// Size of a value, in bytes.
    pub fn size(self) -> usize {
        arithmetic(self).size
    }

    /// The representation of a number in the datatype, in the lowest bytes.
    pub fn bits(self, number: f64) -> u64 {
        match self {
            DataType::I8 | DataType::U8 => u64::from(number as i64 as u8),
            DataType::I32 | DataType::U32 => u64::from(number as i64 as u32),
            DataType::I64 | DataType::U64 => number as i64 as u64,
            DataType::F16 => u64::from(half::f16::from_f64(number).to_bits()),
            DataType::BF16 => u64::from(half::bf16::from_f64(number).to_bits()),
            DataType::F32 => u64::from((number as f32).to_bits()),
            DataType::F64 => number.to_bits(),
            // Values below one, rounded to nearest: the scale of an average over ranks.
            DataType::F8E4M3 => u64::from(small_float(number, 3, 7)),
            DataType::F8E5M2 => u64::from(small_float(number, 2, 15)),
        }
    }
}

/// The nearest nonnegative number with this many fraction bits and this bias, ties to even.
fn small_float(number: f64, fraction: u32, bias: i32) -> u8 {
    let exponent = (number.log2().floor() as i32).max(1 - bias);
    let steps = (number * f64::from(fraction as i32 - exponent).exp2()).round_ties_even() as u32;
    let field = (exponent + bias - 1) as u32;
    // Rounding up to the next power of two carries into the exponent.
    ((field << fraction) + steps) as u8
}

/// Reductions: how kernels combine two values, and convert the first and the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// Sum.
    Sum,
    /// Product.
    Prod,
    /// Minimum.
    Min,
    /// Maximum.
    Max,
    /// Sum of values that each rank has multiplied by a scalar.
    PreMulSum,
    /// Sum, divided at the end: averages of integers.
    SumPostDiv,
}

impl Reduction {
    /// All reductions, with their names as parts of kernel names.
    pub const ALL: [(Reduction, &str); 6] = [
        (Reduction::Sum, "sum"),
        (Reduction::Prod, "prod"),
        (Reduction::Min, "min"),
        (Reduction::Max, "max"),
        (Reduction::PreMulSum, "premulsum"),
        (Reduction::SumPostDiv, "sumpostdiv"),
    ];

    /// Its name, as part of kernel names.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// The instruction that combines two values.
    pub fn combine(self, arithmetic: &Arithmetic) -> &'static str {
        arithmetic.combine[match self {
            Reduction::Sum | Reduction::PreMulSum | Reduction::SumPostDiv => 0,
            Reduction::Prod => 1,
            Reduction::Min => 2,
            Reduction::Max => 3,
        }]
    }

    /// Whether the reduction is defined for a datatype.
    pub fn is_of(self, of: DataType) -> bool {
        self != Reduction::SumPostDiv || arithmetic(of).divide.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_header() {
        for (of, _) in DataType::ALL {
            assert_eq!(arithmetic(*of).of, *of);
        }
        for (at, (reduction, _)) in Reduction::ALL.iter().enumerate() {
            assert_eq!(*reduction as usize, at);
        }
    }

    #[test]
    fn parts_of_one_as_small_floats() {
        // Exponents 7 and 15 encode 1; below the smallest exponent numbers are subnormal.
        assert_eq!(DataType::F8E4M3.bits(1.0), 0x38);
        assert_eq!(DataType::F8E4M3.bits(0.25), 0x28);
        assert_eq!(DataType::F8E4M3.bits(1.0 / 3.0), 0x2b);
        assert_eq!(DataType::F8E4M3.bits(1.0 / 64.0), 0x08);
        assert_eq!(DataType::F8E4M3.bits(1.0 / 128.0), 0x04);
        assert_eq!(DataType::F8E5M2.bits(1.0), 0x3c);
        assert_eq!(DataType::F8E5M2.bits(1.0 / 3.0), 0x35);
        assert_eq!(DataType::F8E5M2.bits(0.9999), 0x3c);
    }

    #[test]
    fn numbers_of_each_kind() {
        assert_eq!(DataType::I8.bits(-2.0), 0xfe);
        assert_eq!(DataType::U32.bits(3.0), 3);
        assert_eq!(DataType::F16.bits(0.25), 0x3400);
        assert_eq!(DataType::BF16.bits(0.25), 0x3e80);
        assert_eq!(DataType::F32.bits(0.25), u64::from(0.25f32.to_bits()));
    }
}
