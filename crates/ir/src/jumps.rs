//! Jump threading.
//!
//! Jumps that the block before has decided. Where a scope is left early, clang notes in a variable
//! where to go on, cleans up, and asks the variable; if there was nothing to clean up, the way is
//! clear.

use crate::{BlockId, Body, InstId, Op, Value};

/// Sends blocks straight to where the one after them would, if that only asks a variable to which
/// they have stored a constant. Before variables become values ([`crate::promote`]).
pub fn shorten(body: &mut Body) {
    let switches: Vec<_> = body.block_ids().filter_map(|block| asked(body, block)).collect();
    let mut changed = !switches.is_empty();
    while std::mem::replace(&mut changed, false) {
        for (switch, variable) in &switches {
            for block in body.block_ids() {
                if body[block].next[..] == [*switch]
                    && body[block].unwind.is_none()
                    && let Some(stored) = last_stored(body, block, *variable)
                    && let Some(target) = target(body, *switch, stored)
                    && target != *switch
                {
                    body.blocks[block.0 as usize].next[0] = target;
                    changed = true;
                }
            }
        }
    }
}

/// The variable that a block asks where to go on, if it does nothing else.
fn asked(body: &Body, block: BlockId) -> Option<(BlockId, InstId)> {
    let mut code = body.instructions(block).filter(|(_, inst)| inst.op != Op::Nop);
    let (load, first) = code.next()?;
    let (_, switch) = code.next()?;
    let asks = matches!(first.op, Op::Load(_))
        && matches!(switch.op, Op::Switch(_))
        && switch.args[..] == [Value::Inst(load)];
    match first.args[..] {
        [Value::Inst(variable)] if asks && is_plain(body, variable) => Some((block, variable)),
        _ => None,
    }
}

/// Whether a variable is only ever loaded and stored.
fn is_plain(body: &Body, variable: InstId) -> bool {
    matches!(body[variable].op, Op::Alloca(_))
        && body.code.iter().all(|inst| {
            let places = inst.args.iter().enumerate();
            let mut uses = places.filter(|(_, arg)| **arg == Value::Inst(variable));
            uses.all(|(place, _)| match inst.op {
                Op::Load(_) => true,
                Op::Store(_) => place == 1,
                _ => false,
            })
        })
}

fn last_stored(body: &Body, block: BlockId, variable: InstId) -> Option<i64> {
    let stores = |id: &&InstId| {
        matches!(body[**id].op, Op::Store(_)) && body[**id].args[1] == Value::Inst(variable)
    };
    match body[*body[block].code.iter().rev().find(stores)?].args[0] {
        Value::Int(number) => Some(number),
        _ => None,
    }
}

/// Where a switch leads for a value; nowhere if that block must know where one comes from.
fn target(body: &Body, switch: BlockId, value: i64) -> Option<BlockId> {
    let Op::Switch(cases) = &body.end(switch)?.op else { return None };
    // A jump to an address.
    if cases.is_empty() {
        return None;
    }
    let way = cases.iter().position(|case| *case == value).map_or(0, |case| case + 1);
    let target = *body[switch].next.get(way)?;
    let asks = body.instructions(target).any(|(_, inst)| matches!(inst.op, Op::Phi(_)));
    (!asks).then_some(target)
}
