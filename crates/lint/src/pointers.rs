//! Resolution of indirect calls by points-to sets.
//!
//! Calls of MPI's functions through pointers that can be to one function only, and what threads of
//! C++ run.

use crate::Calls;
use commsan_ir::{Callee, FunctionId, Inst, InstId, Op, Program, Value};
use commsan_points_to::calls::{CREATED_BY, START_OF_CXX};
use commsan_points_to::{Object, Pointer, PointsTo};

/// Turns them into calls by name, which all analyses know. What the program defines itself stays as
/// it is: there analyses follow pointers on their own.
pub fn resolve(program: &mut Program, calls: &Calls, points_to: &PointsTo) {
    let mut found = Vec::new();
    for (function, _, body) in program.defined() {
        for (index, inst) in body.code.iter().enumerate() {
            if inst.op != Op::Call(Callee::Indirect) {
                continue;
            }
            if let Some([callee]) = points_to.callees(function, inst).as_deref()
                && calls.get(*callee).is_some()
            {
                found.push((function, InstId(index as u32), *callee));
            }
        }
    }
    for (function, id, callee) in found {
        call_by_name(program, function, id, callee);
    }
}

fn call_by_name(program: &mut Program, function: FunctionId, id: InstId, callee: FunctionId) {
    if let Some(body) = &mut program.functions[function.0 as usize].body {
        let inst = &mut body[id];
        inst.op = Op::Call(Callee::Direct(callee));
        // The pointer.
        inst.args.pop();
    }
}

/// Names the functions that threads run where the program does not name them. Says whether there
/// are such threads: then more is known of memory.
///
/// `pthread_create` may be given a pointer. `std::thread` of libstdc++ is given an object, and
/// calls a virtual function of it.
pub fn threads(program: &mut Program, points_to: &PointsTo) -> bool {
    let mut found = Vec::new();
    for (function, _, body) in program.defined() {
        for (index, inst) in body.code.iter().enumerate() {
            let entry = run_by_thread(program, points_to, function, inst).map(|run| vec![run]);
            if let Some(entries) = entry.or_else(|| pointed(program, points_to, function, inst)) {
                found.push((function, InstId(index as u32), entries));
            }
        }
    }
    for (function, id, entries) in &found {
        if let Some(body) = &mut program.functions[function.0 as usize].body {
            let args = &mut body[*id].args;
            let mut entries = entries.iter().map(|entry| Value::Function(*entry));
            if args.len() == CREATED_BY {
                args[2] = entries.next().unwrap_or(Value::Opaque);
            }
            args.extend(entries);
        }
    }
    !found.is_empty()
}

/// The functions one of which `pthread_create` starts through a pointer.
fn pointed(
    program: &Program,
    points_to: &PointsTo,
    function: FunctionId,
    inst: &Inst,
) -> Option<Vec<FunctionId>> {
    let Op::Call(Callee::Direct(callee)) = inst.op else { return None };
    let [_, _, entry @ (Value::Inst(_) | Value::Param(_)), _] = *inst.args else { return None };
    if program[callee].name != "pthread_create" || program[callee].body.is_some() {
        return None;
    }
    let entries =
        points_to.targets(function, entry).into_iter().map(|target| match target.object {
            Object::Function(id) if program[id].body.is_some() && program[id].params <= 1 => {
                Some(id)
            }
            _ => None,
        });
    entries.collect::<Option<Vec<_>>>().filter(|entries| !entries.is_empty())
}

fn run_by_thread(
    program: &Program,
    points_to: &PointsTo,
    function: FunctionId,
    inst: &Inst,
) -> Option<FunctionId> {
    /// Where the virtual function is in the table, behind two destructors.
    const RUN: u64 = 16;
    let Op::Call(Callee::Direct(callee)) = inst.op else { return None };
    let [_, state, _] = *inst.args else { return None };
    if !program[callee].name.starts_with(START_OF_CXX) {
        return None;
    }
    let owners = points_to.targets(function, state).into_iter();
    // Each kind of thread has a constructor of its own, which makes the object.
    let own = |state: &Pointer| matches!(state.object, Object::Made(by, ..) if by == function);
    let states = owners.flat_map(|owner| points_to.content(owner)).filter(own);
    let tables = states.flat_map(|state| points_to.content(Pointer { at: Some(0), ..state }));
    let mut runs = tables.filter_map(|table| {
        let Pointer { object: Object::Global(id), at: Some(at) } = table else { return None };
        let at = u64::try_from(at).ok()? + RUN;
        match program[id].initial.iter().find(|(place, _)| *place == at)?.1 {
            Value::Function(run) => program[run].body.is_some().then_some(run),
            _ => None,
        }
    });
    let run = runs.next()?;
    runs.all(|other| other == run).then_some(run)
}
