//! Copies, fills and comparisons that the code generator may expand after instrumentation.
//!
//! Each is checked exactly once. Small ones of constant size are checked in place, and forced to be
//! expanded. All others call libc, whose wrappers check and name them.

use crate::access::expanded_copy;
use crate::builder::Builder;
use crate::hooks::{Hook, MEMCPY, MEMMOVE, MEMSET, SHARE};
use crate::ir::{Module, Opcode, TypeKind, Value};

/// Library functions that the code generator would expand without a check.
const KEPT_CALLS: &[&str] = &["memcmp", "bcmp", "mempcpy"];

/// Converts the copies of a function, after their checks are inserted. `shares`: whether accesses
/// of the function are recorded.
pub fn settle(module: Module, function: Value, shares: bool) {
    let calls = function.blocks().flat_map(|block| block.instructions());
    let calls: Vec<_> = calls.filter(|i| i.opcode() == Some(Opcode::LLVMCall)).collect();
    for call in calls {
        let name = call.callee_name();
        if expanded_copy(call).is_some() {
            pin(module, call, name);
        } else if let Some(hook) = library_function(name) {
            replace(module, call, hook, shares);
        } else if KEPT_CALLS.contains(&name) {
            call.add_call_attribute(module, "nobuiltin");
        }
    }
}

fn library_function(name: &str) -> Option<&'static Hook> {
    let kinds = [("llvm.memcpy.", &MEMCPY), ("llvm.memmove.", &MEMMOVE), ("llvm.memset.", &MEMSET)];
    kinds.into_iter().find_map(|(prefix, hook)| name.starts_with(prefix).then_some(hook))
}

/// Replaces an intrinsic by its variant that never becomes a call, if there is one: LLVM 14 has
/// none of fills, and expands those of this size anyway.
fn pin(module: Module, call: Value, name: &str) {
    let pinned = name.replacen(".p0", ".inline.p0", 1);
    if !name.contains(".inline.") && Module::has_intrinsic(&pinned) {
        call.set_callee(module.function_like(&pinned, call));
    }
}

fn replace(module: Module, call: Value, hook: &'static Hook, shares: bool) {
    let builder = Builder::before(module, call);
    let widened = |index: u32, bits| {
        let value = call.operand(index);
        let narrow = value.ty().kind() == TypeKind::LLVMIntegerTypeKind && value.ty().bits() < bits;
        if narrow { builder.zero_extend(value, bits) } else { value }
    };
    let size = widened(2, 64);
    if shares {
        let copies = hook.name != MEMSET.name;
        for buffer in (0..=u32::from(copies)).rev() {
            builder.call(&SHARE, &[call.operand(buffer), size]);
        }
    }
    builder.call(hook, &[call.operand(0), widened(1, 32), size]);
    call.erase();
}
