//! Constant propagation into cloned functions, with branch pruning.
//!
//! What the constants that one call passes decide in the copy of a function that is made for it
//! ([`crate::copies`]): ways that they exclude are cut off. Fortran passes constants in variables
//! that nothing else uses.
//!
//! Comparisons carry no signedness: for a negative number, only those that compilers leave to
//! signed ones are decided.

use crate::{Binary, BlockId, Body, Compare, FunctionId, Inst, InstId, Op, Program, Value};
use rustc_hash::FxHashSet;

/// Maximum depth to which the operands of a condition are followed.
const MAX_CONDITION_DEPTH: usize = 8;

/// A parameter whose value a call determines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Given {
    /// The number itself.
    Number(i64),
    /// The address of so many bytes that hold this number, all the time.
    Behind(i64, u32),
}

/// Cuts off what a call of `copy`, which nobody else calls, excludes.
pub(crate) fn cut(program: &mut Program, (caller, call): (FunctionId, InstId), copy: FunctionId) {
    let Some(by) = &program[caller].body else { return };
    let mut given: Vec<_> =
        by[call].args.iter().map(|arg| self::given(program, by, call, *arg)).collect();
    let Some(body) = program.functions[copy.0 as usize].body.as_mut() else { return };
    for (param, given) in given.iter_mut().enumerate() {
        if matches!(given, Some(Given::Behind(_, size)) if !is_only_loaded(body, param, *size)) {
            *given = None;
        }
    }
    let decided: Vec<_> = body.block_ids().filter_map(|block| way(body, &given, block)).collect();
    if decided.is_empty() {
        return;
    }
    for (block, way) in decided {
        body.blocks[block.0 as usize].next = [way].into_iter().collect();
        if let Some(end) = body.blocks[block.0 as usize].code.last() {
            let end = &mut body.code[end.0 as usize];
            *end = Inst { op: Op::Goto, args: Default::default(), at: end.at };
        }
    }
    drop_unreachable(body);
}

/// What a call says of the value of an argument.
fn given(program: &Program, by: &Body, call: InstId, arg: Value) -> Option<Given> {
    match arg {
        Value::Int(number) => Some(Given::Number(number)),
        Value::Global(id, offset) if program[id].constant => {
            let at = |(place, _): &&(u64, Value)| i64::try_from(*place) == Ok(offset);
            match program[id].initial.iter().find(at)?.1 {
                Value::Int(number) if program[id].initial.len() == 1 => {
                    Some(Given::Behind(number, u32::try_from(program[id].size).ok()?))
                }
                _ => None,
            }
        }
        Value::Inst(variable) => stored_for(by, call, variable),
        _ => None,
    }
}

/// The constant in a variable that is made for this call: stored once, and loaded at most
/// otherwise.
fn stored_for(by: &Body, call: InstId, variable: InstId) -> Option<Given> {
    if !matches!(by[variable].op, Op::Alloca(_)) {
        return None;
    }
    let mut stored = None;
    for (number, inst) in by.code.iter().enumerate() {
        let mut uses =
            inst.args.iter().enumerate().filter(|(_, arg)| **arg == Value::Inst(variable));
        let Some((place, _)) = uses.next() else { continue };
        match (&inst.op, &inst.args[..]) {
            (Op::Load(_), _) => {}
            (Op::Store(size), [Value::Int(number), _]) if place == 1 && stored.is_none() => {
                stored = Some(Given::Behind(*number, *size));
            }
            (Op::Call(_), _) if number == call.0 as usize && uses.next().is_none() => {}
            _ => return None,
        }
    }
    stored
}

/// Whether a function does nothing with a parameter but load so many bytes from there.
fn is_only_loaded(body: &Body, param: usize, size: u32) -> bool {
    let uses = |inst: &&Inst| inst.args.contains(&Value::Param(param as u32));
    body.code.iter().filter(uses).all(|inst| inst.op == Op::Load(size))
}

/// Where a block always leads, if that is one of several ways.
fn way(body: &Body, given: &[Option<Given>], block: BlockId) -> Option<(BlockId, BlockId)> {
    let end = body.end(block)?;
    let asked = || number(body, given, *end.args.first()?, MAX_CONDITION_DEPTH);
    let way = match &end.op {
        Op::Branch => usize::from(asked()? == 0),
        Op::Switch(cases) if !cases.is_empty() => {
            let asked = asked()?;
            cases.iter().position(|case| *case == asked).map_or(0, |case| case + 1)
        }
        _ => return None,
    };
    Some((block, *body[block].next.get(way)?))
}

/// The number that a value always is.
fn number(body: &Body, given: &[Option<Given>], value: Value, depth: usize) -> Option<i64> {
    let depth = depth.checked_sub(1)?;
    let of = |value: &Value| number(body, given, *value, depth);
    match value {
        Value::Int(number) => Some(number),
        Value::Param(param) => match given.get(param as usize)? {
            Some(Given::Number(number)) => Some(*number),
            _ => None,
        },
        Value::Inst(id) => match (&body[id].op, &body[id].args[..]) {
            (Op::Load(_), [Value::Param(param)]) => match given.get(*param as usize)? {
                Some(Given::Behind(number, _)) => Some(*number),
                _ => None,
            },
            // Small numbers are the same in all types.
            (Op::Cast, [value]) => of(value).filter(|number| (0..128).contains(number)),
            (Op::Compare(compare), [left, right]) => {
                holds(*compare, of(left)?, of(right)?).map(i64::from)
            }
            (Op::Binary(Binary::And), [left, right]) => match (of(left), of(right)) {
                (Some(0), _) | (_, Some(0)) => Some(0),
                (left, right) => Some(left? & right?),
            },
            _ => None,
        },
        _ => None,
    }
}

/// What a comparison says, if that does not depend on whether the numbers have signs, or is one of
/// those with signs.
fn holds(compare: Compare, left: i64, right: i64) -> Option<bool> {
    let is_sure = left >= 0 && right >= 0
        || match compare {
            Compare::Equal | Compare::NotEqual => true,
            Compare::Less | Compare::GreaterOrEqual => right == 0,
            Compare::Greater | Compare::LessOrEqual => right == -1,
            Compare::Other => false,
        };
    compare.of(left, right).filter(|_| is_sure)
}

/// Empties blocks that nothing leads to any more, and takes them from what values come from.
fn drop_unreachable(body: &mut Body) {
    let mut reached: FxHashSet<BlockId> = [BlockId(0)].into_iter().collect();
    let mut open = vec![BlockId(0)];
    while let Some(block) = open.pop() {
        let after = body[block].next.iter().chain(&body[block].unwind);
        open.extend(after.filter(|next| reached.insert(**next)));
    }
    for block in body.block_ids() {
        let is_reached = reached.contains(&block);
        for id in body[block].code.clone() {
            if !is_reached {
                body.code[id.0 as usize].op = Op::Nop;
                body.code[id.0 as usize].args.clear();
            } else if let Op::Phi(from) = &body[id].op {
                let comes = |from: &BlockId| {
                    let leads = body[*from].next.iter().chain(&body[*from].unwind);
                    reached.contains(from) && leads.into_iter().any(|to| *to == block)
                };
                let kept: Vec<_> = from
                    .iter()
                    .copied()
                    .zip(body[id].args.iter().copied())
                    .filter(|(f, _)| comes(f))
                    .collect();
                let inst = &mut body.code[id.0 as usize];
                inst.op = Op::Phi(kept.iter().map(|(from, _)| *from).collect());
                inst.args = kept.into_iter().map(|(_, value)| value).collect();
            }
        }
        if !is_reached {
            let code = &mut body.blocks[block.0 as usize].code;
            code.drain(..code.len().saturating_sub(1));
            if let Some(end) = body.blocks[block.0 as usize].code.last() {
                body.code[end.0 as usize].op = Op::Unreachable;
            }
            body.blocks[block.0 as usize].next.clear();
            body.blocks[block.0 as usize].unwind = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Block, Callee, Function, Global, GlobalId, Place};
    use smallvec::{SmallVec, smallvec};

    fn inst(op: Op, args: &[Value]) -> Inst {
        Inst { op, args: SmallVec::from_slice(args), at: Place::default() }
    }

    fn function(body: Body) -> Function {
        Function {
            name: String::new(),
            shown: String::new(),
            module: 0,
            at: Place::default(),
            params: 1,
            param_names: Default::default(),
            body: Some(body),
            address_taken: false,
        }
    }

    /// `if (*p < 0) a(); else b();`, and what both ways come to: 1 or 2.
    fn asks(compare: Compare) -> Body {
        let value = |id| Value::Inst(InstId(id));
        let code = vec![
            inst(Op::Load(4), &[Value::Param(0)]),
            inst(Op::Compare(compare), &[value(0), Value::Int(0)]),
            inst(Op::Branch, &[value(1)]),
            inst(Op::Call(Callee::Assembly), &[]),
            inst(Op::Goto, &[]),
            inst(Op::Call(Callee::Assembly), &[]),
            inst(Op::Goto, &[]),
            inst(Op::Phi([BlockId(1), BlockId(2)].into()), &[Value::Int(1), Value::Int(2)]),
            inst(Op::Return, &[value(7)]),
        ];
        let block = |code: &[u32], next: &[u32]| Block {
            code: code.iter().copied().map(InstId).collect(),
            next: next.iter().copied().map(BlockId).collect(),
            unwind: None,
        };
        let blocks = vec![
            block(&[0, 1, 2], &[1, 2]),
            block(&[3, 4], &[3]),
            block(&[5, 6], &[3]),
            block(&[7, 8], &[]),
        ];
        Body { blocks, code, ..Body::default() }
    }

    /// A caller that stores a number in a variable and passes that.
    fn passes(number: i64) -> Body {
        let variable = Value::Inst(InstId(0));
        let code = vec![
            inst(Op::Alloca(Some(4)), &[]),
            inst(Op::Store(4), &[Value::Int(number), variable]),
            inst(Op::Call(Callee::Direct(FunctionId(1))), &[variable]),
            inst(Op::Return, &[]),
        ];
        let block = Block { code: (0..4).map(InstId).collect(), next: smallvec![], unwind: None };
        Body { blocks: vec![block], code, ..Body::default() }
    }

    /// What the function results in, if its call decides that.
    fn result(caller: Body, callee: Body) -> Option<i64> {
        let global = Global {
            name: String::new(),
            size: 4,
            constant: true,
            defined: true,
            initial: vec![(0, Value::Int(-3))],
        };
        let functions = vec![function(caller), function(callee)];
        let mut program = Program { functions, globals: vec![global], ..Program::default() };
        cut(&mut program, (FunctionId(0), InstId(2)), FunctionId(1));
        let body = program.functions[1].body.take()?;
        let calls = body.code.iter().filter(|inst| matches!(inst.op, Op::Call(_))).count();
        match body[InstId(7)].args[..] {
            [Value::Int(number)] if calls == 1 => Some(number),
            _ => None,
        }
    }

    #[test]
    fn constants_in_variables_decide() {
        assert_eq!(result(passes(-1), asks(Compare::Less)), Some(1));
        assert_eq!(result(passes(4), asks(Compare::Less)), Some(2));
        assert_eq!(result(passes(0), asks(Compare::Equal)), Some(1));
        // As a number without a sign, it is greater.
        assert_eq!(result(passes(-1), asks(Compare::Greater)), None);
        let mut by_global = passes(4);
        by_global.code[2].args[0] = Value::Global(GlobalId(0), 0);
        assert_eq!(result(by_global, asks(Compare::Less)), Some(1));
    }

    #[test]
    fn what_others_may_change_decides_nothing() {
        let mut twice = passes(-1);
        twice.code.push(inst(Op::Store(4), &[Value::Int(1), Value::Inst(InstId(0))]));
        assert_eq!(result(twice, asks(Compare::Less)), None);
        let mut shared = passes(-1);
        shared.code.push(inst(Op::Call(Callee::Indirect), &[Value::Inst(InstId(0))]));
        assert_eq!(result(shared, asks(Compare::Less)), None);
        let mut writes = asks(Compare::Less);
        writes.code.push(inst(Op::Store(4), &[Value::Int(1), Value::Param(0)]));
        writes.blocks[3].code.insert(1, InstId(9));
        assert_eq!(result(passes(-1), writes), None);
        let mut half = asks(Compare::Less);
        half.code[0].op = Op::Load(2);
        assert_eq!(result(passes(-1), half), None);
    }
}
