//! Function cloning, for context sensitivity.
//!
//! Clones functions for each call, so that an analysis that visits each function once distinguishes
//! its effects for each caller: on the memory of two objects of one class, say (cloning; Whaley,
//! Lam, PLDI 2004).
//!
//! Functions that are large with all they call, or call themselves, stay as they are, shared by all
//! callers.

use crate::{Callee, Function, FunctionId, InstId, Op, Program, decided};
use rustc_hash::FxHashSet;

/// Maximum number of instructions of a function and all its callees to be cloned.
const MAX_CLONED_INSTRUCTIONS: usize = 2_000;
/// Maximum number of instructions of all clones together; small functions come first.
const MAX_TOTAL_INSTRUCTIONS: usize = 60_000;
/// Maximum depth of nested calls that are examined.
const MAX_CALL_DEPTH: usize = 200;

/// Gives each call in `callers` a copy, of its own, of what it calls, if that is one of `wanted`.
/// Copies are made of no function in `callers`; originals that nobody calls any more lose their
/// bodies.
pub fn of_callees(
    program: &mut Program,
    callers: &FxHashSet<FunctionId>,
    wanted: &FxHashSet<FunctionId>,
) {
    let sizes =
        Sizes::of(program, |function| wanted.contains(&function) && !callers.contains(&function));
    let called = called(program);
    let by = callers
        .iter()
        .flat_map(|caller| calls(&program[*caller]).map(|(call, callee)| (*caller, call, callee)));
    let mut all: Vec<_> =
        by.filter_map(|call @ (.., callee)| Some((sizes.get(callee)?, call))).collect();
    all.sort_unstable();
    let mut left = MAX_TOTAL_INSTRUCTIONS;
    for (size, call) in all {
        let Some(rest) = left.checked_sub(size) else { break };
        left = rest;
        give_copies(program, &sizes, call);
    }
    drop_originals(program, &sizes, &called);
}

/// Gives a call a copy of what it calls, and all calls in that.
fn give_copies(program: &mut Program, sizes: &Sizes, call: (FunctionId, InstId, FunctionId)) {
    let mut open = vec![call];
    while let Some((caller, call, callee)) = open.pop() {
        let copy = FunctionId(program.functions.len() as u32);
        program.functions.push(Function { address_taken: false, ..program[callee].clone() });
        if let Some(body) = &mut program.functions[caller.0 as usize].body {
            body[call].op = Op::Call(Callee::Direct(copy));
        }
        decided::cut(program, (caller, call), copy);
        let inner = calls(&program[copy]).filter(|(_, callee)| sizes.get(*callee).is_some());
        open.extend(inner.map(|(call, callee)| (copy, call, callee)));
    }
}

/// Functions that are called by name.
fn called(program: &Program) -> FxHashSet<FunctionId> {
    program.defined().flat_map(|(_, function, _)| calls(function)).map(|(_, id)| id).collect()
}

/// Calls by name in a function.
fn calls(function: &Function) -> impl Iterator<Item = (InstId, FunctionId)> {
    let code = function.body.iter().flat_map(|body| body.code.iter().enumerate());
    code.filter_map(|(number, inst)| match inst.op {
        Op::Call(Callee::Direct(callee)) => Some((InstId(number as u32), callee)),
        _ => None,
    })
}

/// Instructions of functions, with those of copies of all they call; none for functions that are
/// not copied.
struct Sizes(Vec<Size>);

#[derive(Clone, Copy, PartialEq)]
enum Size {
    Unknown,
    /// Being found: who calls it from within is recursive.
    Open,
    Known(Option<usize>),
}

impl Sizes {
    fn of(program: &Program, is_copied: impl Fn(FunctionId) -> bool) -> Sizes {
        let size = |number: usize| match program.functions[number].body {
            Some(_) if is_copied(FunctionId(number as u32)) => Size::Unknown,
            _ => Size::Known(None),
        };
        let mut sizes = Sizes((0..program.functions.len()).map(size).collect());
        for number in 0..program.functions.len() {
            sizes.find(program, FunctionId(number as u32), MAX_CALL_DEPTH);
        }
        sizes
    }

    fn get(&self, function: FunctionId) -> Option<usize> {
        match self.0.get(function.0 as usize) {
            Some(Size::Known(size)) => *size,
            _ => None,
        }
    }

    fn find(&mut self, program: &Program, function: FunctionId, depth: usize) {
        let place = function.0 as usize;
        if self.0[place] != Size::Unknown {
            return;
        }
        self.0[place] = Size::Open;
        let mut size = program[function].body.as_ref().map_or(0, |body| body.code.len());
        let mut shared = depth == 0;
        for (_, callee) in calls(&program[function]).filter(|_| depth > 0) {
            self.find(program, callee, depth - 1);
            match self.0[callee.0 as usize] {
                // A circle is cut where it was entered.
                Size::Open => self.0[callee.0 as usize] = Size::Known(None),
                Size::Known(callee) => size = size.saturating_add(callee.unwrap_or(0)),
                Size::Unknown => shared = true,
            }
        }
        // Cut already: it is called from within itself.
        if self.0[place] == Size::Open {
            let known = (!shared && size <= MAX_CLONED_INSTRUCTIONS).then_some(size);
            self.0[place] = Size::Known(known);
        }
    }
}

/// Takes what nobody calls any more for not defined.
fn drop_originals(program: &mut Program, sizes: &Sizes, called: &FxHashSet<FunctionId>) {
    let was_copied = |id: FunctionId| {
        sizes.get(id).is_some() && called.contains(&id) && !program[id].address_taken
    };
    let mut open: Vec<_> =
        program.defined().map(|(id, ..)| id).filter(|id| !was_copied(*id)).collect();
    let mut kept: FxHashSet<_> = open.iter().copied().collect();
    while let Some(id) = open.pop() {
        let callees = calls(&program[id]).map(|(_, callee)| callee);
        open.extend(callees.filter(|callee| kept.insert(*callee)));
    }
    for (number, function) in program.functions.iter_mut().enumerate() {
        if !kept.contains(&FunctionId(number as u32)) {
            function.body = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Body, Inst, Place};
    use smallvec::SmallVec;

    /// A program in which each function calls these.
    fn program(calls: &[&[u32]]) -> Program {
        let function = |callees: &&[u32]| {
            let call = |callee: &u32| Inst {
                op: Op::Call(Callee::Direct(FunctionId(*callee))),
                args: SmallVec::new(),
                at: Place::default(),
            };
            let body = Body { code: callees.iter().map(call).collect(), ..Body::default() };
            Function {
                name: String::new(),
                shown: String::new(),
                module: 0,
                at: Place::default(),
                params: 0,
                param_names: Default::default(),
                body: Some(body),
                address_taken: false,
            }
        };
        Program { functions: calls.iter().map(function).collect(), ..Program::default() }
    }

    /// Copies these for the calls of the first function.
    fn copy(program: &mut Program, wanted: &[u32]) {
        let set = |functions: &[u32]| functions.iter().copied().map(FunctionId).collect();
        of_callees(program, &set(&[0]), &set(wanted));
    }

    fn callees(program: &Program, function: u32) -> Vec<u32> {
        calls(&program[FunctionId(function)]).map(|(_, callee)| callee.0).collect()
    }

    #[test]
    fn each_call_has_a_copy_of_all_that_it_reaches() {
        let mut program = program(&[&[1, 1], &[2], &[]]);
        copy(&mut program, &[1, 2]);
        let copies = callees(&program, 0);
        assert!(copies[0] != copies[1] && copies.iter().all(|copy| *copy > 2));
        let inner: Vec<_> = copies.iter().flat_map(|copy| callees(&program, *copy)).collect();
        assert!(inner.len() == 2 && inner[0] != inner[1] && inner.iter().all(|copy| *copy > 2));
        assert!(program.functions[1].body.is_none() && program.functions[2].body.is_none());
    }

    #[test]
    fn what_is_not_wanted_is_shared() {
        let mut program = program(&[&[1, 1], &[2], &[]]);
        copy(&mut program, &[1]);
        let copies = callees(&program, 0);
        assert!(
            copies[0] != copies[1] && copies.iter().all(|copy| callees(&program, *copy) == [2])
        );
    }

    #[test]
    fn what_calls_itself_is_shared() {
        let mut program = program(&[&[1, 1, 3], &[2], &[1], &[3]]);
        copy(&mut program, &[1, 2, 3]);
        assert_eq!(callees(&program, 0), [1, 1, 3]);
        assert!(program.functions[1].body.is_some() && program.functions[3].body.is_some());
    }
}
