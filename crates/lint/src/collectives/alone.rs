//! Conditions that one rank meets alone, as those within `if (rank == 0)`, and in functions that
//! are called only there: however they come out, no other rank takes another way. What the others
//! do instead is looked at where they part.

use super::comm::{Comms, RANK};
use super::rank_divergence::Divergent;
use super::terms::named;
use commsan_ir::graph::{Flow, dominators};
use commsan_ir::{BlockId, Body, Compare, FunctionId, Inst, InstId, Op, Value};
use rustc_hash::FxHashSet;

/// All such branches and calls through pointers, given which values are the rank.
pub fn conditions(
    comms: &Comms,
    divergent: &Divergent,
    is_rank: impl Fn(FunctionId, Value) -> bool,
) -> FxHashSet<(FunctionId, InstId)> {
    let mut found = FxHashSet::default();
    for (function, _, body) in comms.program.defined() {
        let parts = |id: InstId| divergent.conditions.get(&(function, id)) == Some(&RANK);
        let is_rank = |value| is_rank(function, named(body, value));
        for block in alone_in(body, parts, is_rank) {
            found.extend(body[block].code.iter().map(|id| (function, *id)));
        }
    }
    for (function, body) in only_called_from(comms, &found) {
        found.extend((0..body.code.len() as u32).map(|id| (function, InstId(id))));
    }
    found.retain(|place| divergent.conditions.contains_key(place));
    found
}

/// Blocks that one rank runs alone, by conditions in the function itself.
fn alone_in(
    body: &Body,
    parts: impl Fn(InstId) -> bool,
    is_rank: impl Fn(Value) -> bool,
) -> Vec<BlockId> {
    let of_one = |block: BlockId| {
        let id = *body[block].code.last()?;
        let way = way_of_one(body, &body[id], &is_rank).filter(|_| parts(id))?;
        body[block].next.get(way).copied()
    };
    let firsts: Vec<_> = body.block_ids().filter_map(of_one).collect();
    if firsts.is_empty() {
        return firsts;
    }
    let flow = Flow::of(body);
    let dominators = dominators(body);
    let entered_once = |first: &BlockId| flow.previous[first.0 as usize].len() == 1;
    let firsts: FxHashSet<_> = firsts.into_iter().filter(entered_once).collect();
    let is_inside = |block: &BlockId| {
        let mut at = Some(*block);
        while let Some(outside) = at.filter(|at| !firsts.contains(at)) {
            at = dominators[outside.0 as usize].filter(|next| *next != outside);
        }
        at.is_some()
    };
    body.block_ids().filter(is_inside).collect()
}

/// Which way out of a branch only one rank takes.
fn way_of_one(body: &Body, end: &Inst, is_rank: impl Fn(Value) -> bool) -> Option<usize> {
    let Some(Value::Inst(id)) = end.args.first().filter(|_| end.op == Op::Branch) else {
        return None;
    };
    let (Op::Compare(comparison), [left, Value::Int(with)]) = (&body[*id].op, &*body[*id].args)
    else {
        return None;
    };
    let way = match (comparison, with) {
        (Compare::Equal, _) | (Compare::Less, 1) | (Compare::LessOrEqual, 0) => 0,
        (Compare::NotEqual, _) | (Compare::Greater, 0) | (Compare::GreaterOrEqual, 1) => 1,
        _ => return None,
    };
    is_rank(*left).then_some(way)
}

/// Functions that are called from these places only, and from each other.
fn only_called_from<'p>(
    comms: &Comms<'p>,
    places: &FxHashSet<(FunctionId, InstId)>,
) -> Vec<(FunctionId, &'p Body)> {
    let mut found: FxHashSet<FunctionId> = FxHashSet::default();
    loop {
        let before = found.len();
        for (id, ..) in comms.program.defined().filter(|(_, f, _)| !f.address_taken) {
            let callers = comms.graph.callers(id);
            let is_alone =
                |call: &(FunctionId, InstId)| places.contains(call) || found.contains(&call.0);
            if !callers.is_empty() && callers.iter().all(is_alone) {
                found.insert(id);
            }
        }
        if found.len() == before {
            break;
        }
    }
    comms
        .program
        .defined()
        .filter(|(id, ..)| found.contains(id))
        .map(|(id, _, body)| (id, body))
        .collect()
}
