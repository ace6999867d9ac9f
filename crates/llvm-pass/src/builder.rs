//! Instruction builder over LLVM's C interface.

use crate::hooks::Hook;
use crate::ir::{Block, Module, Type, TypeKind, Value};
use commsan_llvm::llvm;
use llvm_sys::core::*;
use llvm_sys::debuginfo::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMIntPredicate, LLVMOpcode};
use std::collections::HashMap;
use std::ffi::c_uint;

unsafe extern "C" {
    fn commsan_branch_unlikely(condition: LLVMValueRef, before: LLVMValueRef) -> LLVMValueRef;
}

const UNNAMED: *const std::ffi::c_char = c"".as_ptr();

/// Inserts instructions in front of another one, with its source line.
pub struct Builder {
    builder: LLVMBuilderRef,
    module: Module,
    /// The instruction in front of which the builder inserts.
    before: Value,
}

impl Drop for Builder {
    fn drop(&mut self) {
        llvm!(LLVMDisposeBuilder(self.builder));
    }
}

impl Builder {
    /// Builds in front of an instruction. If it has no source line, new instructions get that of
    /// the function, so that no report names an unrelated line nearby.
    pub fn before(module: Module, instruction: Value) -> Builder {
        let builder = llvm!(LLVMCreateBuilderInContext(module.context()));
        llvm!(LLVMPositionBuilderBefore(builder, instruction.0));
        let mut location = llvm!(LLVMInstructionGetDebugLoc(instruction.0));
        let scope = llvm!(LLVMGetSubprogram(instruction.function().0));
        if location.is_null() && !scope.is_null() {
            let line = llvm!(LLVMDISubprogramGetLine(scope));
            let outermost = std::ptr::null_mut();
            location = llvm!(LLVMDIBuilderCreateDebugLocation(
                module.context(),
                line,
                0,
                scope,
                outermost
            ));
        }
        llvm!(LLVMSetCurrentDebugLocation2(builder, location));
        Builder { builder, module, before: instruction }
    }

    /// Builds at the end of a new block, with the source line of `like`.
    pub fn at_end(module: Module, block: Block, like: Value) -> Builder {
        let builder = Builder::before(module, like);
        llvm!(LLVMPositionBuilderAtEnd(builder.builder, block.0));
        builder
    }

    /// Continues in a new, unlikely block that is entered if `condition` holds.
    pub fn enter_if(&mut self, condition: Value) {
        let location = llvm!(LLVMGetCurrentDebugLocation2(self.builder));
        let end = llvm!(commsan_branch_unlikely(condition.0, self.before.0));
        llvm!(LLVMPositionBuilderBefore(self.builder, end));
        llvm!(LLVMSetCurrentDebugLocation2(self.builder, location));
        self.before = Value(end);
    }

    pub fn integer(&self, bits: u32) -> Type {
        Type::integer(self.module, bits)
    }

    pub fn constant(&self, value: u64) -> Value {
        self.integer(64).constant(value)
    }

    pub fn binary(&self, operation: LLVMOpcode, a: Value, b: Value) -> Value {
        Value(llvm!(LLVMBuildBinOp(self.builder, operation, a.0, b.0, UNNAMED)))
    }

    pub fn add(&self, a: Value, b: u64) -> Value {
        self.binary(LLVMOpcode::LLVMAdd, a, a.ty().constant(b))
    }

    pub fn sub(&self, a: Value, b: u64) -> Value {
        self.binary(LLVMOpcode::LLVMSub, a, a.ty().constant(b))
    }

    pub fn multiply(&self, a: Value, b: u64) -> Value {
        self.binary(LLVMOpcode::LLVMMul, a, a.ty().constant(b))
    }

    pub fn divide(&self, a: Value, b: u64) -> Value {
        self.binary(LLVMOpcode::LLVMUDiv, a, a.ty().constant(b))
    }

    pub fn and(&self, a: Value, b: u64) -> Value {
        self.binary(LLVMOpcode::LLVMAnd, a, a.ty().constant(b))
    }

    pub fn or(&self, a: Value, b: Value) -> Value {
        self.binary(LLVMOpcode::LLVMOr, a, b)
    }

    pub fn shift_left(&self, a: Value, b: Value) -> Value {
        self.binary(LLVMOpcode::LLVMShl, a, b)
    }

    pub fn shift_right(&self, a: Value, b: u64) -> Value {
        self.binary(LLVMOpcode::LLVMLShr, a, a.ty().constant(b))
    }

    pub fn is_not_zero(&self, a: Value) -> Value {
        self.compare(LLVMIntPredicate::LLVMIntNE, a, a.ty().null())
    }

    pub fn is_negative(&self, a: Value) -> Value {
        self.compare(LLVMIntPredicate::LLVMIntSLT, a, a.ty().null())
    }

    /// The minimum of an unsigned number and a constant.
    pub fn at_most(&self, a: Value, most: u64) -> Value {
        let most = a.ty().constant(most);
        self.select(self.is_below(a, most, false, false), a, most)
    }

    /// Whether a number is less than another one, or equal if `or_equal`.
    pub fn is_below(&self, a: Value, b: Value, or_equal: bool, signed: bool) -> Value {
        use LLVMIntPredicate::*;
        let how = match (or_equal, signed) {
            (false, true) => LLVMIntSLT,
            (true, true) => LLVMIntSLE,
            (false, false) => LLVMIntULT,
            (true, false) => LLVMIntULE,
        };
        self.compare(how, a, b)
    }

    pub fn select(&self, condition: Value, then: Value, otherwise: Value) -> Value {
        Value(llvm!(LLVMBuildSelect(self.builder, condition.0, then.0, otherwise.0, UNNAMED)))
    }

    /// The low bits of a 64-bit number, extended to 64 bits.
    pub fn narrowed(&self, a: Value, bits: u32, signed: bool) -> Value {
        match (bits, signed) {
            (64, _) => a,
            (_, true) => self.sign_extend(self.truncate(a, bits), 64),
            (_, false) => self.zero_extend(self.truncate(a, bits), 64),
        }
    }

    fn compare(&self, how: LLVMIntPredicate, a: Value, b: Value) -> Value {
        Value(llvm!(LLVMBuildICmp(self.builder, how, a.0, b.0, UNNAMED)))
    }

    /// The address of a pointer as an integer.
    pub fn address(&self, pointer: Value) -> Value {
        Value(llvm!(LLVMBuildPtrToInt(self.builder, pointer.0, self.integer(64).0, UNNAMED)))
    }

    pub fn zero_extend(&self, a: Value, bits: u32) -> Value {
        Value(llvm!(LLVMBuildZExt(self.builder, a.0, self.integer(bits).0, UNNAMED)))
    }

    pub fn sign_extend(&self, a: Value, bits: u32) -> Value {
        Value(llvm!(LLVMBuildSExt(self.builder, a.0, self.integer(bits).0, UNNAMED)))
    }

    pub fn truncate(&self, a: Value, bits: u32) -> Value {
        Value(llvm!(LLVMBuildTrunc(self.builder, a.0, self.integer(bits).0, UNNAMED)))
    }

    pub fn cast(&self, a: Value, to: Type) -> Value {
        Value(llvm!(LLVMBuildBitCast(self.builder, a.0, to.0, UNNAMED)))
    }

    /// A value that may be used even if it is undefined, such as the address of a disabled lane.
    pub fn freeze(&self, a: Value) -> Value {
        Value(llvm!(LLVMBuildFreeze(self.builder, a.0, UNNAMED)))
    }

    pub fn lane(&self, vector: Value, lane: u32) -> Value {
        let lane = self.constant(lane.into());
        Value(llvm!(LLVMBuildExtractElement(self.builder, vector.0, lane.0, UNNAMED)))
    }

    /// Loads an integer from a fixed address plus an offset.
    pub fn load(&self, bits: u32, base: u64, offset: Option<Value>) -> Value {
        let (byte, ty) = (self.integer(8), self.integer(bits));
        let mut pointer =
            llvm!(LLVMConstIntToPtr(self.constant(base).0, Type::pointer(self.module).0));
        if let Some(offset) = offset {
            let mut index = [offset.0];
            pointer =
                llvm!(LLVMBuildGEP2(self.builder, byte.0, pointer, index.as_mut_ptr(), 1, UNNAMED));
        }
        let pointer = self.cast(Value(pointer), ty.pointer_to());
        Value(llvm!(LLVMBuildLoad2(self.builder, ty.0, pointer.0, UNNAMED)))
    }

    /// Stores a value in the function's frame, and returns its address.
    pub fn spill(&self, a: Value) -> Value {
        let entry = Builder::before(self.module, self.before.function().first_instruction());
        let slot = llvm!(LLVMBuildAlloca(entry.builder, a.ty().0, UNNAMED));
        llvm!(LLVMBuildStore(self.builder, a.0, slot));
        Value(slot)
    }

    /// Calls a function of the hooks archive.
    pub fn call(&self, hook: &Hook, arguments: &[Value]) -> Value {
        let is_pointer = |a: &Value| a.ty().kind() == TypeKind::LLVMPointerTypeKind;
        let plain = Type::pointer(self.module);
        let arguments: Vec<_> = arguments
            .iter()
            .map(|a| if is_pointer(a) { self.cast(*a, plain) } else { *a })
            .collect();
        let types: Vec<_> = arguments.iter().map(|argument| argument.ty()).collect();
        let (function, ty) = hook.declare(self.module, &types);
        let mut arguments: Vec<_> = arguments.iter().map(|argument| argument.0).collect();
        let (begin, count) = (arguments.as_mut_ptr(), arguments.len() as c_uint);
        Value(llvm!(LLVMBuildCall2(self.builder, ty.0, function.0, begin, count, UNNAMED)))
    }
}

/// Control flow.
impl Builder {
    pub fn phi(&self, ty: Type) -> Value {
        Value(llvm!(LLVMBuildPhi(self.builder, ty.0, UNNAMED)))
    }

    pub fn jump(&self, to: Block) {
        llvm!(LLVMBuildBr(self.builder, to.0));
    }

    pub fn branch(&self, condition: Value, then: Block, otherwise: Block) {
        llvm!(LLVMBuildCondBr(self.builder, condition.0, then.0, otherwise.0));
    }

    /// A copy of an instruction whose operands are replaced by their copies.
    pub fn clone_of(&self, original: Value, copies: &HashMap<Value, Value>) -> Value {
        let copy = Value(llvm!(LLVMInstructionClone(original.0)));
        let location = llvm!(LLVMInstructionGetDebugLoc(original.0));
        let own_location = llvm!(LLVMGetCurrentDebugLocation2(self.builder));
        llvm!(LLVMSetCurrentDebugLocation2(self.builder, location));
        llvm!(LLVMInsertIntoBuilder(self.builder, copy.0));
        llvm!(LLVMSetCurrentDebugLocation2(self.builder, own_location));
        for operand in original.operands() {
            if let Some(replacement) = copies.get(&operand) {
                copy.replace_operand(operand, *replacement);
            }
        }
        copy
    }
}
