//! Escape analysis: finds memory whose address does not leave the function, so that no MPI
//! operation can use it.
//!
//! A local variable, or a global one that only this module can name, is private if its address is
//! used only for accesses. An argument attribute "not captured" proves nothing: Fortran sets it for
//! buffers passed on to MPI.

use crate::ir::{Opcode, Value};
use std::collections::{HashMap, HashSet};

/// Memoised results.
#[derive(Default)]
pub struct Escapes {
    known: HashMap<Value, bool>,
}

impl Escapes {
    /// Whether an access needs no check.
    pub fn is_private(&mut self, address: Value, write: bool) -> bool {
        let root = root(address);
        if root.is_global_variable() {
            return (!write && root.is_constant_global())
                || (root.is_internal() && !self.escapes(root));
        }
        let local = root.opcode() == Some(Opcode::LLVMAlloca) || root.is_by_value_argument();
        local && !self.escapes(root)
    }

    /// Whether a function has an escaping variable on its stack.
    pub fn exposes_locals(&mut self, function: Value) -> bool {
        let mut instructions = function.blocks().flat_map(|block| block.instructions());
        instructions.any(|i| i.opcode() == Some(Opcode::LLVMAlloca) && self.escapes(i))
    }

    fn escapes(&mut self, variable: Value) -> bool {
        *self.known.entry(variable).or_insert_with(|| escapes(variable))
    }
}

/// The variable that an address points into, as far as the IR shows it.
fn root(mut address: Value) -> Value {
    use Opcode::*;
    while let Some(LLVMGetElementPtr | LLVMBitCast | LLVMAddrSpaceCast) = address.opcode() {
        address = address.operand(0);
    }
    address
}

fn escapes(variable: Value) -> bool {
    let mut seen = HashSet::from([variable]);
    let mut pending = vec![variable];
    while let Some(pointer) = pending.pop() {
        for user in pointer.users() {
            match fate(pointer, user) {
                Fate::Access => (),
                Fate::Derived if seen.insert(user) => pending.push(user),
                Fate::Derived => (),
                Fate::Escape => return true,
            }
        }
    }
    false
}

/// What a use does with a pointer.
enum Fate {
    Access,
    /// The result may be the same pointer, or point into the same variable.
    Derived,
    Escape,
}

fn fate(pointer: Value, user: Value) -> Fate {
    use Opcode::*;
    match user.opcode() {
        Some(LLVMLoad | LLVMICmp) => Fate::Access,
        Some(LLVMStore) if user.operand(0) != pointer => Fate::Access,
        Some(LLVMAtomicRMW) if user.operand(1) != pointer => Fate::Access,
        Some(LLVMAtomicCmpXchg) if user.operands().skip(1).all(|o| o != pointer) => Fate::Access,
        Some(LLVMGetElementPtr | LLVMBitCast | LLVMAddrSpaceCast | LLVMPHI | LLVMSelect) => {
            Fate::Derived
        }
        Some(LLVMCall) if only_accesses(user.callee_name()) => Fate::Access,
        _ => Fate::Escape,
    }
}

/// Intrinsics that only access memory through the pointer.
fn only_accesses(name: &str) -> bool {
    const PREFIXES: &[&str] = &[
        "llvm.dbg.",
        "llvm.lifetime.",
        "llvm.invariant.",
        "llvm.assume",
        "llvm.memcpy.",
        "llvm.memmove.",
        "llvm.memset.",
        "llvm.masked.load.",
        "llvm.masked.expandload.",
        "llvm.prefetch.",
        "llvm.va_start",
        "llvm.va_end",
    ];
    PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        // The stored value of a masked store is a vector, and never a pointer.
        || name.starts_with("llvm.masked.store.")
        || name.starts_with("llvm.masked.compressstore.")
}
