//! Heap cloning (Nystrom, Kim, Hwu, PASTE 2004): each call of an allocation wrapper gets its own
//! copy of it.
//!
//! Functions of the program that return new memory, one for each call: what one call gets is
//! another object than what any other call gets, as with `malloc` itself (heap cloning; Nystrom,
//! Kim, Hwu, PASTE 2004).
//!
//! Programs that call such functions in many places stay as they are: what pointers may point to
//! grows with each object, and the analysis with the square of it.

use commsan_ir::{Body, Callee, Function, FunctionId, Inst, Op, Program, Value, copies};
use commsan_points_to::library::Library;
use rustc_hash::FxHashSet;

/// Maximum number of instructions of such a function.
const MAX_INSTRUCTIONS: usize = 120;
/// Maximum number of calls of such functions.
const MAX_CALLS: usize = 200;

/// Gives each call of such a function a copy of its own.
pub fn copy(program: &mut Program) {
    let mut wrappers = FxHashSet::default();
    loop {
        let before = wrappers.len();
        let new = program.defined().filter(|(_, function, body)| {
            is_candidate(function, body) && returns_memory(program, &wrappers, body)
        });
        let new: Vec<_> = new.map(|(id, ..)| id).collect();
        wrappers.extend(new);
        if wrappers.len() == before {
            break;
        }
    }
    let is_wrapper =
        |inst: &&Inst| matches!(inst.op, Op::Call(Callee::Direct(f)) if wrappers.contains(&f));
    let calls = program.defined().flat_map(|(.., body)| &body.code).filter(is_wrapper).count();
    if !(1..=MAX_CALLS).contains(&calls) {
        return;
    }
    let callers = program.defined().map(|(id, ..)| id).filter(|id| !wrappers.contains(id));
    copies::of_callees(program, &callers.collect(), &wrappers);
}

/// Objects of the C++ library are distinguished only by the code that uses them.
fn is_candidate(function: &Function, body: &Body) -> bool {
    const LIBRARY: [&str; 5] = ["_ZNSt", "_ZNKSt", "_ZSt", "_ZN9__gnu_cxx", "_ZNK9__gnu_cxx"];
    let name = &*function.name;
    body.code.len() <= MAX_INSTRUCTIONS && !LIBRARY.iter().any(|prefix| name.starts_with(prefix))
}

/// Whether a function returns what it, or one of these, has allocated.
fn returns_memory(program: &Program, wrappers: &FxHashSet<FunctionId>, body: &Body) -> bool {
    let returned = body.code.iter().filter(|inst| inst.op == Op::Return);
    let mut open: Vec<_> = returned.flat_map(|inst| &inst.args).copied().collect();
    let mut seen = FxHashSet::default();
    while let Some(value) = open.pop() {
        let Value::Inst(id) = value else { continue };
        if !seen.insert(id) {
            continue;
        }
        let inst = &body[id];
        match inst.op {
            Op::Call(Callee::Direct(callee)) if allocates(program, callee) => return true,
            Op::Call(Callee::Direct(callee)) if wrappers.contains(&callee) => return true,
            Op::Phi(_) | Op::Cast => open.extend(inst.args.iter().copied()),
            Op::Select => open.extend(inst.args.iter().skip(1).copied()),
            _ => {}
        }
    }
    false
}

fn allocates(program: &Program, callee: FunctionId) -> bool {
    let callee = &program[callee];
    callee.body.is_none()
        && matches!(Library::of(&callee.name), Some(Library::Allocates | Library::Reallocates))
}
