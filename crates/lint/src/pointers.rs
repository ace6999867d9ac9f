//! Calls of MPI's functions through pointers that can be to one function only.

use crate::Calls;
use crate::memory::Memory;
use commsan_ir::{Callee, FunctionId, InstId, Op, Program};

/// Turns them into calls by name, which all analyses know. What the program defines itself stays as it is: there
/// analyses follow pointers on their own.
pub fn resolve(program: &mut Program, calls: &Calls, memory: &Memory) {
    let mut found = Vec::new();
    for (function, _, body) in program.defined() {
        for (index, inst) in body.code.iter().enumerate() {
            if inst.op != Op::Call(Callee::Indirect) {
                continue;
            }
            if let Some([callee]) = memory.callees(function, inst).as_deref()
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
