//! Teams that there are on a condition only: flang's `__kmpc_fork_call_if` is given the condition
//! of an `if` clause before what threads share, and calls the region's function itself where the
//! condition does not hold. clang writes both ways down. Either becomes what clang makes of it, so
//! that analyses need to know one of the two only.

use commsan_ir::{Callee, FunctionId, Op, Program, Value};
use smallvec::SmallVec;

/// Rewrites such calls: to those of a function by one thread where the condition is never true,
/// else to those of a team.
pub fn settle(program: &mut Program) {
    const PLAIN: &str = "__kmpc_fork_call";
    let Some(conditional) = program.function("__kmpc_fork_call_if") else { return };
    let plain = program.function(PLAIN).unwrap_or_else(|| {
        let mut plain = program[conditional].clone();
        PLAIN.clone_into(&mut plain.name);
        PLAIN.clone_into(&mut plain.shown);
        program.functions.push(plain);
        FunctionId(program.functions.len() as u32 - 1)
    });
    let bodies = program.functions.iter_mut().filter_map(|function| function.body.as_mut());
    for inst in bodies.flat_map(|body| &mut body.code) {
        if inst.op != Op::Call(Callee::Direct(conditional)) || inst.args.len() < 4 {
            continue;
        }
        let condition = inst.args.remove(3);
        match inst.args[2] {
            Value::Function(region) if condition == Value::Int(0) => {
                // In place of its two numbers of the thread.
                let shared = inst.args.iter().skip(3).copied();
                let args: SmallVec<_> = [Value::Opaque; 2].into_iter().chain(shared).collect();
                inst.op = Op::Call(Callee::Direct(region));
                inst.args = args;
            }
            _ => inst.op = Op::Call(Callee::Direct(plain)),
        }
    }
}
