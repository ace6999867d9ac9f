//! Marks where the sections of OpenMP constructs begin and where a thread has none left.
//!
//! clang lowers `sections` to a loop with a static schedule over the sections' numbers, whose body
//! is a switch. Which thread gets which is then fixed, but the program does not say so: the runtime
//! treats sections as unordered, and has to know where they begin. A call in front of each keeps
//! the optimizer from mixing two of them.
//!
//! flang's calls do not say that a loop is over sections: its sections are not marked.

use crate::builder::Builder;
use crate::hooks::SYNCHRONISE;
use crate::ir::{Block, Module, Opcode, Type, Value};

unsafe extern "C" {
    safe static commsan_section: u64;
    safe static commsan_no_section: u64;
}

/// Set in the flags of a source location that is given to the runtime (`KMP_IDENT_WORK_SECTIONS`).
const OF_SECTIONS: i64 = 0x400;

/// Blocks between the beginning of the loop and the switch, at most: the loop's bounds and
/// condition.
const MAX_BLOCKS: usize = 8;

/// Marks the sections of a module that was not optimized yet.
pub fn mark(module: Module) {
    for function in module.functions().filter(|f| !f.is_declaration()) {
        let named = |name: &'static str| {
            let all = function.blocks().flat_map(|block| block.instructions());
            all.filter(move |i| is_call(*i) && i.callee_name() == name).filter(is_of_sections)
        };
        let begins: Vec<Value> = named("__kmpc_for_static_init_4").collect();
        let ends: Vec<Value> = named("__kmpc_for_static_fini").collect();
        for section in begins.into_iter().filter_map(switch_after).flat_map(sections) {
            tell(module, section, commsan_section);
        }
        ends.into_iter().for_each(|end| tell(module, end, commsan_no_section));
    }
}

fn is_call(instruction: Value) -> bool {
    matches!(instruction.opcode(), Some(Opcode::LLVMCall | Opcode::LLVMInvoke))
}

/// Whether a call of the runtime is for sections, by the source location that it is given.
fn is_of_sections(call: &Value) -> bool {
    let place = call.operand(0);
    let known = place.is_global_variable().then(|| place.initializer()).flatten();
    known
        .and_then(|place| place.operand(1).as_integer())
        .is_some_and(|flags| flags & OF_SECTIONS != 0)
}

/// The switch in the body of the loop that a call begins.
fn switch_after(call: Value) -> Option<Value> {
    let mut blocks: Vec<Block> = call.parent().into_iter().collect();
    let mut next = 0;
    while let Some(block) = blocks.get(next).copied() {
        if let Some(end) = block.terminator().filter(|end| end.opcode() == Some(Opcode::LLVMSwitch))
        {
            return Some(end);
        }
        for successor in block.successors() {
            if !blocks.contains(&successor) && blocks.len() < MAX_BLOCKS {
                blocks.push(successor);
            }
        }
        next += 1;
    }
    None
}

/// The first instructions of the sections. The switch goes on elsewhere by default.
fn sections(switch: Value) -> Vec<Value> {
    let mut all = switch.successors();
    let default = all.next();
    all.filter(|block| Some(*block) != default)
        .filter_map(|block| block.instructions().find(|i| i.opcode() != Some(Opcode::LLVMPHI)))
        .collect()
}

fn tell(module: Module, before: Value, kind: u64) {
    let builder = Builder::before(module, before);
    builder.call(&SYNCHRONISE, &[Type::pointer(module).null(), builder.constant(kind)]);
}
