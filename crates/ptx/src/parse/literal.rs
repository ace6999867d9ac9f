//! Parses numeric constants, into the bits of the type that they are used with (PTX ISA §4.5).

use crate::words::Type;

/// A number as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Literal {
    Int(u64),
    Single(f32),
    Double(f64),
}

impl Literal {
    /// Parses a number that begins with a digit.
    pub(super) fn parse(text: &str) -> Option<Literal> {
        let radix = |digits: &str, radix| {
            let digits = digits.strip_suffix('U').unwrap_or(digits);
            u64::from_str_radix(digits, radix).ok().map(Literal::Int)
        };
        let bytes = text.as_bytes();
        match (bytes.first()?, bytes.get(1).unwrap_or(&b' ')) {
            (b'0', b'f' | b'F') => {
                let bits = u32::from_str_radix(text.get(2..)?, 16).ok()?;
                Some(Literal::Single(f32::from_bits(bits)))
            }
            (b'0', b'd' | b'D') => {
                let bits = u64::from_str_radix(text.get(2..)?, 16).ok()?;
                Some(Literal::Double(f64::from_bits(bits)))
            }
            (b'0', b'x' | b'X') => radix(text.get(2..)?, 16),
            (b'0', b'b' | b'B') => radix(text.get(2..)?, 2),
            (b'0', b'0'..=b'7') => radix(&text[1..], 8),
            _ => radix(text, 10).or_else(|| text.parse().ok().map(Literal::Double)),
        }
    }

    /// The number with the opposite sign.
    pub(super) fn negated(self) -> Literal {
        match self {
            Literal::Int(value) => Literal::Int(value.wrapping_neg()),
            Literal::Single(value) => Literal::Single(-value),
            Literal::Double(value) => Literal::Double(-value),
        }
    }

    /// The value of an integer.
    pub(super) fn int(self) -> Option<u64> {
        match self {
            Literal::Int(value) => Some(value),
            _ => None,
        }
    }

    /// The bits of a value of type `ty`.
    pub(super) fn bits(self, ty: Type) -> Option<u64> {
        let double = match self {
            Literal::Int(value) if ty == Type::Pred => return Some((value != 0).into()),
            Literal::Int(value) => return Some(value & mask(ty)),
            // Not converted to another format, which could change a NaN.
            Literal::Single(value) if ty.size() == 4 => return Some(value.to_bits().into()),
            Literal::Single(value) => f64::from(value),
            Literal::Double(value) => value,
        };
        match ty.size() {
            4 => Some((double as f32).to_bits().into()),
            8 => Some(double.to_bits()),
            _ => None,
        }
    }
}

/// The bits of a register that a value of a type occupies.
fn mask(ty: Type) -> u64 {
    match ty.size() {
        size @ 1..8 => (1 << (8 * size)) - 1,
        _ => u64::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_become_bits_of_their_type() {
        let bits = |text: &str, ty| Literal::parse(text).and_then(|l| l.bits(ty));
        assert_eq!(bits("255", Type::U8), Some(255));
        assert_eq!(bits("0x1FFU", Type::B8), Some(0xFF));
        assert_eq!(bits("0b101", Type::B32), Some(5));
        assert_eq!(bits("017", Type::B32), Some(15));
        assert_eq!(bits("0", Type::B32), Some(0));
        assert_eq!(bits("0f3F800000", Type::F32), Some(0x3F80_0000));
        assert_eq!(bits("0f7F800001", Type::F32), Some(0x7F80_0001));
        assert_eq!(bits("0f3F800000", Type::F64), Some(1.0f64.to_bits()));
        assert_eq!(bits("0d3FF0000000000000", Type::F64), Some(1.0f64.to_bits()));
        assert_eq!(bits("1.5e-3", Type::F64), Some(1.5e-3f64.to_bits()));
        assert_eq!(bits("1.5", Type::B16), None);
        assert_eq!(bits("0q", Type::B32), None);
        let minus = Literal::parse("1").unwrap().negated();
        assert_eq!((minus.bits(Type::S16), minus.bits(Type::Pred)), (Some(0xFFFF), Some(1)));
    }
}
