//! Promotion of local variables to SSA values (mem2reg).
//!
//! Puts local variables into values: an [`Op::Alloca`] that is only ever loaded and stored whole
//! disappears, with its loads and stores (SSA construction after Cytron et al. 1991).
//!
//! A variable that was never stored to reads as [`Value::Opaque`].

use crate::graph::{Flow, dominators, frontiers};
use crate::{BlockId, Body, Function, Inst, InstId, Op, Place, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Promotes what can be promoted; names of variables go over to values.
pub fn promote(function: &mut Function) {
    let Some(body) = &mut function.body else { return };
    let variables = variables(body);
    if variables.is_empty() {
        return;
    }
    let flow = Flow::of(body);
    let dominators = dominators(body);
    let phis = insert_phis(body, &variables, &flow, &dominators);
    let (values, stored) = rename(body, &variables, &flow, &dominators, &phis);
    name(function, &variables, &phis, &stored);
    if let Some(body) = &mut function.body {
        replace(body, &variables, &values);
    }
}

/// Allocas to promote, numbered.
type Variables = FxHashMap<InstId, usize>;
/// Phis by block and variable.
type Phis = FxHashMap<(BlockId, usize), InstId>;

fn variables(body: &Body) -> Variables {
    // The size that all accesses have so far.
    let mut candidates: FxHashMap<InstId, Option<u32>> = FxHashMap::default();
    for (index, inst) in body.code.iter().enumerate() {
        if matches!(inst.op, Op::Alloca(Some(_))) {
            candidates.insert(InstId(index as u32), None);
        }
    }
    for block in body.block_ids() {
        for (_, inst) in body.instructions(block) {
            for (place, arg) in inst.args.iter().enumerate() {
                let Value::Inst(used) = arg else { continue };
                let size = match inst.op {
                    Op::Load(size) => Some(size),
                    Op::Store(size) if place == 1 => Some(size),
                    _ => None,
                };
                if let Some(known) = candidates.get_mut(used) {
                    if size.is_some() && (known.is_none() || *known == size) {
                        *known = size;
                    } else {
                        candidates.remove(used);
                    }
                }
            }
        }
    }
    let mut found: Vec<_> = candidates.into_keys().collect();
    found.sort_unstable();
    found.into_iter().zip(0..).collect()
}

/// The variable that a load reads or a store writes.
fn accessed(inst: &Inst, variables: &Variables) -> Option<(usize, bool)> {
    let (address, writes) = match inst.op {
        Op::Load(_) => (inst.args[0], false),
        Op::Store(_) => (inst.args[1], true),
        _ => return None,
    };
    let Value::Inst(address) = address else { return None };
    Some((*variables.get(&address)?, writes))
}

fn insert_phis(
    body: &mut Body,
    variables: &Variables,
    flow: &Flow,
    dominators: &[Option<BlockId>],
) -> Phis {
    let mut defined = vec![Vec::new(); variables.len()];
    // Whether a block loads it before it stores to it: only then may a phi be needed.
    let mut live = vec![false; variables.len()];
    for block in &flow.order {
        let mut stored: SmallVec<[usize; 8]> = SmallVec::new();
        for (_, inst) in body.instructions(*block) {
            match accessed(inst, variables) {
                Some((variable, true)) if !stored.contains(&variable) => {
                    stored.push(variable);
                    defined[variable].push(*block);
                }
                Some((variable, false)) => live[variable] |= !stored.contains(&variable),
                _ => {}
            }
        }
    }
    let frontiers = frontiers(flow, dominators);
    let mut phis = Phis::default();
    for (variable, mut open) in defined.into_iter().enumerate().filter(|(v, _)| live[*v]) {
        while let Some(block) = open.pop() {
            for at in &frontiers[block.0 as usize] {
                if phis.contains_key(&(*at, variable)) {
                    continue;
                }
                let from: Box<[_]> = flow.previous[at.0 as usize].iter().copied().collect();
                let args = from.iter().map(|_| Value::Opaque).collect();
                let id = InstId(body.code.len() as u32);
                body.code.push(Inst { op: Op::Phi(from), args, at: Place::default() });
                body.blocks[at.0 as usize].code.insert(0, id);
                phis.insert((*at, variable), id);
                open.push(*at);
            }
        }
    }
    phis
}

/// Finds the value of every load, by its [`InstId`], and fills in the phis. Also says which values
/// were stored to which variables.
fn rename(
    body: &mut Body,
    variables: &Variables,
    flow: &Flow,
    dominators: &[Option<BlockId>],
    phis: &Phis,
) -> (FxHashMap<InstId, Value>, Vec<(Value, usize)>) {
    let mut of_block = vec![Vec::new(); body.blocks.len()];
    for ((block, variable), phi) in phis {
        of_block[block.0 as usize].push((*variable, *phi));
    }
    let mut below = vec![Vec::new(); body.blocks.len()];
    for block in &flow.order {
        if let Some(dominator) = dominators[block.0 as usize] {
            below[dominator.0 as usize].push(*block);
        }
    }
    let mut values = FxHashMap::default();
    let mut stored = Vec::new();
    let mut current = vec![Value::Opaque; variables.len()];
    // What to put back when a block and all that it dominates are done.
    let mut before: Vec<(usize, Value)> = Vec::new();
    let mut open = vec![Step::Enter(BlockId(0))];
    while let Some(step) = open.pop() {
        let block = match step {
            Step::Enter(block) => block,
            Step::Leave(length) => {
                for (variable, value) in before.drain(length..).rev() {
                    current[variable] = value;
                }
                continue;
            }
        };
        open.push(Step::Leave(before.len()));
        open.extend(below[block.0 as usize].iter().map(|block| Step::Enter(*block)));
        let mut set = |variable: usize, value, current: &mut Vec<Value>| {
            before.push((variable, std::mem::replace(&mut current[variable], value)));
        };
        for (variable, phi) in &of_block[block.0 as usize] {
            set(*variable, Value::Inst(*phi), &mut current);
        }
        for (id, inst) in body.instructions(block) {
            match accessed(inst, variables) {
                Some((variable, true)) => {
                    let value = resolved(inst.args[0], &values);
                    stored.push((value, variable));
                    set(variable, value, &mut current);
                }
                Some((variable, false)) => {
                    values.insert(id, current[variable]);
                }
                None => {}
            }
        }
        for next in body[block].next.clone() {
            for (variable, phi) in &of_block[next.0 as usize] {
                let previous = &flow.previous[next.0 as usize];
                for (place, _) in previous.iter().enumerate().filter(|(_, from)| **from == block) {
                    body[*phi].args[place] = current[*variable];
                }
            }
        }
    }
    (values, stored)
}

/// Of a walk through the tree of dominators.
enum Step {
    Enter(BlockId),
    /// With the length that the list of what to put back had before.
    Leave(usize),
}

fn resolved(value: Value, values: &FxHashMap<InstId, Value>) -> Value {
    match value {
        Value::Inst(id) => values.get(&id).copied().unwrap_or(value),
        other => other,
    }
}

/// Phis, parameters and results are called as the variables they are stored to.
fn name(function: &mut Function, variables: &Variables, phis: &Phis, stored: &[(Value, usize)]) {
    let Some(body) = &mut function.body else { return };
    let names: FxHashMap<usize, Box<str>> = variables
        .iter()
        .filter_map(|(alloca, variable)| Some((*variable, body.names.get(alloca)?.clone())))
        .collect();
    for ((_, variable), phi) in phis {
        if let Some(name) = names.get(variable) {
            body.names.insert(*phi, name.clone());
        }
    }
    for (value, variable) in stored {
        let Some(name) = names.get(variable) else { continue };
        match value {
            Value::Param(number) => {
                function.param_names.entry(*number).or_insert_with(|| name.clone());
            }
            Value::Inst(id) => {
                body.names.entry(*id).or_insert_with(|| name.clone());
            }
            _ => {}
        }
    }
}

/// Removes what is not needed any more.
fn replace(body: &mut Body, variables: &Variables, values: &FxHashMap<InstId, Value>) {
    for block in 0..body.blocks.len() {
        let mut code = std::mem::take(&mut body.blocks[block].code);
        code.retain(|id| {
            let inst = &mut body.code[id.0 as usize];
            let gone = variables.contains_key(id) || accessed(inst, variables).is_some();
            if gone {
                inst.op = Op::Nop;
                inst.args.clear();
            }
            for arg in &mut inst.args {
                *arg = resolved(*arg, values);
            }
            !gone
        });
        body.blocks[block].code = code;
    }
}
