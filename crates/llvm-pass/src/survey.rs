//! Selects the accesses of a function that need a check, without redundant ones.
//!
//! It omits accesses to private memory, and to bytes that have already been checked in the same
//! block or in one that always precedes it, if nothing in between could start an operation. Of a
//! read and a write of the same bytes on one line, such as `a[i] += x`, only the write is checked,
//! at the place of the read.

use crate::access::{Access, Part, accesses};
use crate::escape::Escapes;
use crate::ir::{Block, Module, Opcode, Value};
use crate::place::Place;
use std::collections::HashMap;

/// Maximum number of checked byte ranges remembered at a time.
const MAX_REMEMBERED: usize = 32;

#[derive(Clone)]
struct Checked {
    place: Place,
    size: u64,
    write: bool,
    block: Block,
    /// Its index among the accesses found.
    access: usize,
}

/// The accesses that need a check, in the order of execution as far as there is one.
pub fn survey(module: Module, function: Value, escapes: &mut Escapes) -> Vec<Access> {
    let before = only_predecessors(function);
    let mut at_end: HashMap<Block, Vec<Checked>> = HashMap::new();
    let mut found = Vec::new();
    for block in function.blocks() {
        let earlier = before.get(&block).and_then(|before| at_end.get(before.as_ref()?));
        let mut checked = earlier.cloned().unwrap_or_default();
        for instruction in block.instructions() {
            let mut own = Vec::new();
            accesses(module, instruction, &mut own);
            own.retain(|access| {
                access.address.ty().is_flat_pointer()
                    && !escapes.is_private(access.address, access.write)
            });
            for access in own {
                consider(module, block, access, &mut checked, &mut found);
            }
            if may_start_operation(instruction) {
                checked.clear();
            }
        }
        at_end.insert(block, checked);
    }
    found
}

/// Adds an access unless an earlier check covers it.
fn consider(
    module: Module,
    block: Block,
    access: Access,
    checked: &mut Vec<Checked>,
    found: &mut Vec<Access>,
) {
    if !matches!(access.part, Part::All) {
        found.push(access);
        return;
    }
    let place = Place::of(module, access.address);
    let covers = |c: &&mut Checked| {
        c.place.terms == place.terms
            && c.place.distance <= place.distance
            && place.distance + access.size as i64 <= c.place.distance + c.size as i64
    };
    for earlier in checked.iter_mut().filter(covers) {
        if earlier.write || !access.write {
            return;
        }
        let first = &mut found[earlier.access];
        let one_statement = earlier.block == block && first.at.line() == access.at.line();
        if one_statement && first.size == access.size {
            first.write = true;
            earlier.write = true;
            return;
        }
    }
    if checked.len() == MAX_REMEMBERED {
        checked.remove(0);
    }
    let (size, write) = (access.size, access.write);
    checked.push(Checked { place, size, write, block, access: found.len() });
    found.push(access);
}

/// For each block, its predecessor if there is exactly one.
fn only_predecessors(function: Value) -> HashMap<Block, Option<Block>> {
    let mut found = HashMap::new();
    for block in function.blocks() {
        for successor in block.successors() {
            let only = found.entry(successor).or_insert(Some(block));
            if *only != Some(block) {
                *only = None;
            }
        }
    }
    found
}

/// Whether this thread, or another one that it waited for, may have started an operation since.
pub fn may_start_operation(instruction: Value) -> bool {
    match instruction.opcode() {
        Some(Opcode::LLVMCall | Opcode::LLVMInvoke | Opcode::LLVMCallBr) => {
            let name = instruction.callee_name();
            !name.starts_with("llvm.") && !is_mathematics(name)
        }
        Some(Opcode::LLVMLoad | Opcode::LLVMStore) => {
            instruction.is_atomic() || instruction.is_volatile()
        }
        Some(Opcode::LLVMFence | Opcode::LLVMAtomicRMW | Opcode::LLVMAtomicCmpXchg) => true,
        _ => false,
    }
}

/// Functions of libm, by their names for `double`.
const MATHEMATICS: &[&str] = &[
    "acos", "asin", "atan", "atan2", "cbrt", "ceil", "cos", "cosh", "erf", "exp", "exp2", "fabs",
    "floor", "fmax", "fmin", "fmod", "hypot", "log", "log10", "log2", "pow", "rint", "round",
    "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
];

fn is_mathematics(name: &str) -> bool {
    let bare = name.strip_suffix(['f', 'l']).unwrap_or(name);
    MATHEMATICS.contains(&name) || MATHEMATICS.contains(&bare)
}
