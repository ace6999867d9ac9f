//! Escape analysis: memory whose address does not leave the function, so that no MPI operation can
//! use it.
//!
//! A local variable, or a global one that only this module can name, is private when its address is
//! used for nothing but accesses. That an argument is marked as not captured proves nothing:
//! Fortran promises it of buffers handed on to MPI.

use crate::ir::{Opcode, Value};
use std::collections::{HashMap, HashSet};

/// What is known so far.
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

    /// Whether a function has a variable on its stack that others may know.
    pub fn exposes_locals(&mut self, function: Value) -> bool {
        let mut instructions = function.blocks().flat_map(|block| block.instructions());
        instructions.any(|i| i.opcode() == Some(Opcode::LLVMAlloca) && self.escapes(i))
    }

    fn escapes(&mut self, variable: Value) -> bool {
        *self.known.entry(variable).or_insert_with(|| escapes(variable))
    }
}

/// The variable that an address lies in, as far as it can be seen.
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
    /// The result may be the same pointer, or one into the same variable.
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

/// Intrinsics that do with a pointer what a load or store does, or less.
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
        // The value that a masked store writes is a vector, and no pointer is one.
        || name.starts_with("llvm.masked.store.")
        || name.starts_with("llvm.masked.compressstore.")
}
