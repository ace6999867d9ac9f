//! How much memory copies and fills write: what was there is gone then, all of it.
//!
//! Fortran's assignments of text are a copy of what there is and a loop that writes blanks behind
//! it, to the end of the variable.

use commsan_ir::{Binary, BlockId, Body, InstId, Op, Value};
use rustc_hash::FxHashMap;

/// By copy or fill: the bytes it writes, with the blanks that follow it, where that is constant.
pub fn lengths(body: &Body) -> FxHashMap<InstId, u64> {
    let mut lengths = FxHashMap::default();
    for block in body.block_ids() {
        for (id, inst) in body.instructions(block) {
            if !matches!(inst.op, Op::Copy | Op::Fill) {
                continue;
            }
            let [to, _, length] = *inst.args else { continue };
            let alone = match length {
                Value::Int(bytes) => Some(bytes),
                _ => None,
            };
            let padded = padded(body, block, to, length);
            if let Some(bytes) = padded.or(alone).and_then(|bytes| u64::try_from(bytes).ok()) {
                lengths.insert(id, bytes);
            }
        }
    }
    lengths
}

/// The bytes of a text of which a copy writes the first ones, and the loop after it the rest.
fn padded(body: &Body, block: BlockId, to: Value, length: Value) -> Option<i64> {
    let [header] = *body[block].next else { return None };
    let from_here = |inst: &commsan_ir::Inst| match &inst.op {
        Op::Phi(from) => {
            let place = from.iter().position(|from| *from == block)?;
            inst.args.get(place).copied()
        }
        _ => None,
    };
    let phis = || body.instructions(header).filter_map(|(id, i)| Some((id, from_here(i)?)));
    let is_counted = |id: InstId| {
        let Some(Op::Branch) = body.end(header).map(|end| &end.op) else { return false };
        body.instructions(header).any(|(_, inst)| {
            matches!(inst.op, Op::Compare(_)) && *inst.args == [Value::Inst(id), Value::Int(0)]
        })
    };
    let (_, rest) = phis().find(|(id, _)| is_counted(*id))?;
    let (at, _) = phis().find(|(id, first)| *first == length && !is_counted(*id))?;
    let writes = |inst: &commsan_ir::Inst| match (&inst.op, inst.args.get(1)) {
        (Op::Store(1), Some(Value::Inst(address))) => {
            let address = &body[*address];
            matches!(address.op, Op::Offset(0, _))
                && address.args.first() == Some(&to)
                && address.args.last() == Some(&Value::Inst(at))
        }
        _ => false,
    };
    let round = body[header].next.iter();
    let is_written = |next: &BlockId| body.instructions(*next).any(|(_, inst)| writes(inst));
    round.copied().find(is_written)?;
    match (length, rest) {
        (Value::Int(first), Value::Int(rest)) => first.checked_add(rest),
        (_, Value::Inst(rest)) => match (&body[rest].op, &*body[rest].args) {
            (Op::Binary(Binary::Sub), [Value::Int(all), first]) if *first == length => Some(*all),
            _ => None,
        },
        _ => None,
    }
}
