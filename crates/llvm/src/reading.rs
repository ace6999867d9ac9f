//! What only readers of whole modules ask: globals, sources, layouts, constants.

use crate::{Block, Module, Type, Value, text, values};
use llvm_sys::core::*;

impl Module {
    /// Global variables, those defined and those declared.
    pub fn globals(self) -> impl Iterator<Item = Value> {
        values(llvm!(LLVMGetFirstGlobal(self.0)), LLVMGetNextGlobal)
    }

    /// The file it was compiled from.
    pub fn source_name<'a>(self) -> &'a str {
        let mut length = 0;
        let begin = llvm!(LLVMGetSourceFileName(self.0, &raw mut length));
        text(begin, length)
    }

    /// Bytes of a type in memory; 0 of a type that is not known.
    pub fn size(self, ty: Type) -> u64 {
        if llvm!(LLVMTypeIsSized(ty.0)) == 0 { 0 } else { self.array_stride(ty) }
    }
}

impl Type {
    /// How many fields a structure has.
    pub fn fields(self) -> u32 {
        llvm!(LLVMCountStructElementTypes(self.0))
    }

    /// How many elements an array has.
    pub fn length(self) -> u64 {
        llvm!(LLVMGetArrayLength2(self.0))
    }
}

impl Value {
    /// Of a function.
    pub fn parameters(self) -> impl Iterator<Item = Value> {
        values(llvm!(LLVMGetFirstParam(self.0)), LLVMGetNextParam)
    }

    /// Whether it is the address of a function.
    pub fn is_function(self) -> bool {
        !llvm!(LLVMIsAFunction(self.0)).is_null()
    }

    /// Whether it is a null pointer.
    pub fn is_null(self) -> bool {
        !llvm!(LLVMIsAConstantPointerNull(self.0)).is_null()
    }

    /// What another name is for.
    pub fn aliased(self) -> Option<Value> {
        let alias = !llvm!(LLVMIsAGlobalAlias(self.0)).is_null();
        alias.then(|| Value(llvm!(LLVMAliasGetAliasee(self.0))))
    }

    /// Of a global variable or function: the type of what is there.
    pub fn value_type(self) -> Type {
        Type(llvm!(LLVMGlobalGetValueType(self.0)))
    }

    /// The value of a global variable at the start, if it is defined here.
    pub fn initializer(self) -> Option<Value> {
        let value = llvm!(LLVMGetInitializer(self.0));
        (!value.is_null()).then_some(Value(value))
    }

    /// A part of a constant structure or array.
    pub fn element(self, index: u32) -> Option<Value> {
        let part = llvm!(LLVMGetAggregateElement(self.0, index));
        (!part.is_null()).then_some(Value(part))
    }

    /// Of an `insertvalue`: which field of which field.
    pub fn indices(self) -> impl Iterator<Item = u32> {
        let count = llvm!(LLVMGetNumIndices(self.0));
        let first = llvm!(LLVMGetIndices(self.0));
        // SAFETY: LLVM returns that many numbers, which live as long as the instruction.
        (0..count as usize).map(move |at| unsafe { *first.add(at) })
    }

    /// Of an alloca.
    pub fn allocated_type(self) -> Type {
        Type(llvm!(LLVMGetAllocatedType(self.0)))
    }

    /// What a call calls: a function or a pointer to one.
    pub fn called_value(self) -> Value {
        Value(llvm!(LLVMGetCalledValue(self.0)))
    }

    /// The function that a call calls, by whatever name.
    pub fn called(self) -> Option<Value> {
        let value = self.called_value();
        Some(value.aliased().unwrap_or(value)).filter(|value| value.is_function())
    }

    /// Whether a call enters inline assembly.
    pub fn is_assembly(self) -> bool {
        !llvm!(LLVMIsAInlineAsm(self.called_value().0)).is_null()
    }

    /// Where an invoke goes on: normally, and after an exception.
    pub fn destinations(self) -> [Block; 2] {
        [Block(llvm!(LLVMGetNormalDest(self.0))), Block(llvm!(LLVMGetUnwindDest(self.0)))]
    }

    /// Of a terminator.
    pub fn successors(self) -> impl Iterator<Item = Block> {
        let count = llvm!(LLVMGetNumSuccessors(self.0));
        (0..count).map(move |index| Block(llvm!(LLVMGetSuccessor(self.0, index))))
    }

    /// Of a branch, if it has one.
    pub fn condition(self) -> Option<Value> {
        let conditional = llvm!(LLVMIsConditional(self.0)) != 0;
        conditional.then(|| Value(llvm!(LLVMGetCondition(self.0))))
    }

    /// The constants of a switch, each for the successor after the default.
    pub fn cases(self) -> impl Iterator<Item = i64> {
        self.operands().skip(2).step_by(2).map(|case| case.as_integer().unwrap_or(i64::MIN))
    }

    /// Of a phi: values with the blocks they come from.
    pub fn all_incoming(self) -> impl Iterator<Item = (Value, Block)> {
        let count = llvm!(LLVMCountIncoming(self.0));
        (0..count).map(move |index| {
            let value = Value(llvm!(LLVMGetIncomingValue(self.0, index)));
            (value, Block(llvm!(LLVMGetIncomingBlock(self.0, index))))
        })
    }
}
