//! Constant folding of loads.
//!
//! Values that need no instruction: what is read of a constant is its number (Fortran's named
//! constants, of derived types too, and `static const`), and the first part of something is where
//! the whole is. Before variables become values ([`crate::promote`]).

use crate::{Body, Global, InstId, Op, Value};
use rustc_hash::FxHashMap;

/// Replaces results of such instructions.
pub fn fold(globals: &[Global], body: &mut Body) {
    let mut known: FxHashMap<InstId, Value> = FxHashMap::default();
    for (index, inst) in body.code.iter().enumerate() {
        let value = match (&inst.op, &inst.args[..]) {
            (Op::Load(size), [Value::Global(global, at)]) => {
                number(&globals[global.0 as usize], *at, *size).map(Value::Int)
            }
            (Op::Offset(0, scales), [base]) if scales.is_empty() => Some(*base),
            _ => None,
        };
        if let Some(value) = value {
            known.insert(InstId(index as u32), value);
        }
    }
    if known.is_empty() {
        return;
    }
    // A part of a part; nothing is a part of itself in code that is reached.
    let resolve = |mut value: Value| {
        for _ in 0..known.len() {
            match value {
                Value::Inst(id) if known.contains_key(&id) => value = known[&id],
                _ => break,
            }
        }
        value
    };
    for block in &mut body.blocks {
        block.code.retain(|id| !known.contains_key(id));
    }
    for (index, inst) in body.code.iter_mut().enumerate() {
        if known.contains_key(&InstId(index as u32)) {
            inst.op = Op::Nop;
            inst.args.clear();
        }
        for arg in &mut inst.args {
            *arg = resolve(*arg);
        }
    }
}

/// The number in so many bytes of a variable, if it is all that is known to be there, and fits.
fn number(global: &Global, at: i64, size: u32) -> Option<i64> {
    if !(global.constant && global.defined) {
        return None;
    }
    let begin = u64::try_from(at).ok()?;
    let end = begin.checked_add(u64::from(size)).filter(|end| *end <= global.size)?;
    let mut there = global.initial.iter().filter(|(offset, _)| (begin..end).contains(offset));
    let (Some((offset, Value::Int(number))), None) = (there.next(), there.next()) else {
        return None;
    };
    // With its sign or without.
    let fits = size >= 8 || number >> (8 * size) == 0 || number >> (8 * size - 1) == -1;
    (*offset == begin && fits).then_some(*number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_where_they_are() {
        let initial = vec![(0, Value::Int(5)), (4, Value::Int(-2)), (8, Value::Int(1 << 40))];
        let mut global =
            Global { name: "handles".to_owned(), size: 16, constant: true, defined: true, initial };
        assert_eq!(number(&global, 0, 4), Some(5));
        assert_eq!(number(&global, 4, 4), Some(-2));
        assert_eq!(number(&global, 8, 8), Some(1 << 40));
        for (at, size) in [(0, 8), (8, 4), (2, 2), (12, 8), (-4, 4)] {
            assert_eq!(number(&global, at, size), None, "{at} {size}");
        }
        global.constant = false;
        assert_eq!(number(&global, 0, 4), None);
    }
}
