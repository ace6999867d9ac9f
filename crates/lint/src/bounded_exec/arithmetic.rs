//! Abstract arithmetic on values that are constants, addresses or unknown.

use super::store::{Datum, ObjectId, UNKNOWN_SIZE_BYTES};
use commsan_ir::{Binary, Compare};

/// So many bytes further; nobody knows what is far beyond an object.
pub fn address(object: ObjectId, at: i64, by: i64) -> Datum {
    match at.checked_add(by).filter(|at| at.abs() < UNKNOWN_SIZE_BYTES) {
        Some(at) => Datum::Address(object, at),
        None => Datum::Unknown,
    }
}

/// Of two values.
pub fn binary(op: Binary, left: Datum, right: Datum) -> Datum {
    use Datum::{Address, Int};
    match (left, right) {
        (Int(left), Int(right)) => number(op, left, right).map_or(Datum::Unknown, Int),
        (Address(object, at), Int(by)) if op == Binary::Add => address(object, at, by),
        (Int(by), Address(object, at)) if op == Binary::Add => address(object, at, by),
        (Address(object, at), Int(by)) if op == Binary::Sub => {
            address(object, at, by.wrapping_neg())
        }
        (Address(one, at), Address(other, to)) if op == Binary::Sub && one == other => Int(at - to),
        (Int(0), _) | (_, Int(0)) if matches!(op, Binary::And | Binary::Mul) => Int(0),
        _ => Datum::Unknown,
    }
}

/// The result of an operation on integers of unknown width; none where 32 and 64 bits may differ.
fn number(op: Binary, left: i64, right: i64) -> Option<i64> {
    let result = match op {
        Binary::Add => left.checked_add(right)?,
        Binary::Sub => left.checked_sub(right)?,
        Binary::Mul => left.checked_mul(right)?,
        Binary::Div => left.checked_div(right)?,
        Binary::Rem => left.checked_rem(right)?,
        Binary::And => left & right,
        Binary::Or => left | right,
        Binary::Xor => left ^ right,
        Binary::ShiftLeft => left.checked_shl(u32::try_from(right).ok()?)?,
        Binary::ShiftRight if left >= 0 => left.checked_shr(u32::try_from(right).ok()?)?,
        Binary::ShiftRight | Binary::Float => return None,
    };
    let small = |number: i64| i32::try_from(number).is_ok();
    (small(result) || !small(left) || !small(right)).then_some(result)
}

/// Of two values: whether it holds.
pub fn compare(how: Compare, left: Datum, right: Datum) -> Datum {
    use Datum::{Address, Int};
    let answer = match (left, right) {
        (Datum::Unknown, _) | (_, Datum::Unknown) => None,
        (Int(left), Int(right)) => how.of(left, right),
        (Address(one, at), Address(other, to)) if one == other => how.of(at, to),
        // A number is no handle, and no address but that of nothing.
        (left, right) => match how {
            Compare::Equal => Some(left == right),
            Compare::NotEqual => Some(left != right),
            _ => None,
        },
    };
    answer.map_or(Datum::Unknown, |answer| Int(i64::from(answer)))
}
