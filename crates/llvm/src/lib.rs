//! LLVM's values over its C interface, as much of them as commsan needs: the pass plugin changes
//! modules with it, `commsan-ir` reads them.
//!
//! All of these are plain references into a module. They are only used while that module lives, and
//! only for what they are: that is the safety argument of every call below.
//!
//! This crate links no LLVM: a plugin finds it in the compiler, a program links it itself. What
//! only changes modules may also call the plugin's shim, whose functions are named `commsan_…`.

#![expect(
    clippy::macro_metavars_in_unsafe,
    reason = "one argument covers all calls of LLVM, and stands above"
)]

use llvm_sys::bit_writer::LLVMWriteBitcodeToMemoryBuffer;
use llvm_sys::core::*;
use llvm_sys::debuginfo::*;
use llvm_sys::prelude::*;
use llvm_sys::target::*;
pub use llvm_sys::{
    LLVMAtomicOrdering as Ordering, LLVMIntPredicate as Predicate, LLVMOpcode as Opcode,
    LLVMTypeKind as TypeKind,
};
use std::ffi::{CStr, c_char, c_uint};

/// A call of LLVM's C interface.
#[macro_export]
macro_rules! llvm {
    ($function:ident($($argument:expr),* $(,)?)) => {
        // SAFETY: see the head of this module.
        unsafe { $function($($argument),*) }
    };
}

mod reading;

/// A module.
#[derive(Clone, Copy)]
pub struct Module(pub LLVMModuleRef);

/// Instruction, constant, argument, function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Value(pub LLVMValueRef);

/// A basic block.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Block(pub LLVMBasicBlockRef);

/// A type.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Type(pub LLVMTypeRef);

fn values(
    first: LLVMValueRef,
    next: unsafe extern "C" fn(LLVMValueRef) -> LLVMValueRef,
) -> impl Iterator<Item = Value> {
    let some = |value: LLVMValueRef| (!value.is_null()).then_some(Value(value));
    // SAFETY: see the head of this module.
    std::iter::successors(some(first), move |value| some(unsafe { next(value.0) }))
}

fn text<'a>(begin: *const c_char, length: usize) -> &'a str {
    // SAFETY: LLVM returns a string of this length that lives as long as its owner.
    std::str::from_utf8(unsafe { std::slice::from_raw_parts(begin.cast(), length) }).unwrap_or("")
}

impl Module {
    /// Those defined and those declared.
    pub fn functions(self) -> impl Iterator<Item = Value> {
        values(llvm!(LLVMGetFirstFunction(self.0)), LLVMGetNextFunction)
    }

    /// Other names of functions and variables.
    pub fn aliases(self) -> impl Iterator<Item = Value> {
        values(llvm!(LLVMGetFirstGlobalAlias(self.0)), LLVMGetNextGlobalAlias)
    }

    /// Functions that choose an implementation while the program is being relocated.
    pub fn resolvers(self) -> impl Iterator<Item = Value> {
        values(llvm!(LLVMGetFirstGlobalIFunc(self.0)), LLVMGetNextGlobalIFunc)
            .map(|ifunc| Value(llvm!(LLVMGetGlobalIFuncResolver(ifunc.0))))
    }

    /// Whether metadata of this name is there.
    pub fn has_note(self, name: &str) -> bool {
        !llvm!(LLVMGetNamedMetadata(self.0, name.as_ptr().cast(), name.len())).is_null()
    }

    /// Adds metadata of this name.
    pub fn add_note(self, name: &str) {
        llvm!(LLVMGetOrInsertNamedMetadata(self.0, name.as_ptr().cast(), name.len()));
    }

    /// The function of this name, declared if need be; it returns a 64-bit number or nothing.
    pub fn function(self, name: &CStr, parameters: &[Type], answers: bool) -> (Value, Type) {
        let mut parameters: Vec<_> = parameters.iter().map(|ty| ty.0).collect();
        let nothing = llvm!(LLVMVoidTypeInContext(self.context()));
        let result = if answers { Type::integer(self, 64).0 } else { nothing };
        let (begin, count) = (parameters.as_mut_ptr(), parameters.len() as c_uint);
        let ty = llvm!(LLVMFunctionType(result, begin, count, 0));
        let mut function = llvm!(LLVMGetNamedFunction(self.0, name.as_ptr()));
        if function.is_null() {
            function = llvm!(LLVMAddFunction(self.0, name.as_ptr(), ty));
            llvm!(LLVMSetVisibility(function, llvm_sys::LLVMVisibility::LLVMHiddenVisibility));
        }
        (Value(function), Type(ty))
    }

    /// The function of this name with the type of the one that `call` calls, declared if need be.
    pub fn function_like(self, name: &str, call: Value) -> Value {
        let name = std::ffi::CString::new(name).unwrap_or_default();
        let found = llvm!(LLVMGetNamedFunction(self.0, name.as_ptr()));
        if !found.is_null() {
            return Value(found);
        }
        let ty = llvm!(LLVMGetCalledFunctionType(call.0));
        Value(llvm!(LLVMAddFunction(self.0, name.as_ptr(), ty)))
    }

    /// Whether this LLVM has an intrinsic function of this name, types included.
    pub fn has_intrinsic(name: &str) -> bool {
        llvm!(LLVMLookupIntrinsicID(name.as_ptr().cast(), name.len())) != 0
    }

    /// As a file would contain it.
    pub fn bitcode(self) -> Vec<u8> {
        let buffer = llvm!(LLVMWriteBitcodeToMemoryBuffer(self.0));
        let (begin, length) = (llvm!(LLVMGetBufferStart(buffer)), llvm!(LLVMGetBufferSize(buffer)));
        // SAFETY: the buffer has this many bytes until it is disposed of.
        let bytes = unsafe { std::slice::from_raw_parts(begin.cast(), length) }.to_vec();
        llvm!(LLVMDisposeMemoryBuffer(buffer));
        bytes
    }

    /// Where its types and metadata live.
    pub fn context(self) -> LLVMContextRef {
        llvm!(LLVMGetModuleContext(self.0))
    }

    fn layout(self) -> LLVMTargetDataRef {
        llvm!(LLVMGetModuleDataLayout(self.0))
    }

    /// Bytes that a load or store of the type touches.
    pub fn store_size(self, ty: Type) -> u64 {
        llvm!(LLVMStoreSizeOfType(self.layout(), ty.0))
    }

    /// Bytes from one element of an array of the type to the next.
    pub fn array_stride(self, ty: Type) -> u64 {
        llvm!(LLVMABISizeOfType(self.layout(), ty.0))
    }

    /// Bytes from the begin of a structure to a field.
    pub fn field_offset(self, structure: Type, field: u64) -> u64 {
        llvm!(LLVMOffsetOfElement(self.layout(), structure.0, field as c_uint))
    }
}

impl Type {
    /// Number, pointer, array, …
    pub fn kind(self) -> TypeKind {
        llvm!(LLVMGetTypeKind(self.0))
    }

    /// The type of a field of a structure.
    pub fn field(self, index: u64) -> Type {
        Type(llvm!(LLVMStructGetTypeAtIndex(self.0, index as c_uint)))
    }

    /// Of vectors and arrays.
    pub fn element(self) -> Type {
        Type(llvm!(LLVMGetElementType(self.0)))
    }

    /// Of a vector.
    pub fn lanes(self) -> u32 {
        llvm!(LLVMGetVectorSize(self.0))
    }

    /// Integers of so many bits.
    pub fn integer(module: Module, bits: u32) -> Type {
        Type(llvm!(LLVMIntTypeInContext(module.context(), bits)))
    }

    /// Plain pointers.
    pub fn pointer(module: Module) -> Type {
        unsafe extern "C" {
            fn commsan_pointer_type(context: LLVMContextRef) -> LLVMTypeRef;
        }
        Type(llvm!(commsan_pointer_type(module.context())))
    }

    /// Pointers to values of this type; plain ones unless LLVM tells them apart, as before 15.
    pub fn pointer_to(self) -> Type {
        Type(llvm!(LLVMPointerType(self.0, 0)))
    }

    /// Of an integer.
    pub fn bits(self) -> u32 {
        llvm!(LLVMGetIntTypeWidth(self.0))
    }

    /// A number or an address that fits a register.
    pub fn is_scalar_of_64_bits_at_most(self) -> bool {
        match self.kind() {
            TypeKind::LLVMPointerTypeKind => true,
            TypeKind::LLVMIntegerTypeKind => self.bits() <= 64,
            _ => false,
        }
    }

    /// Whether pointers of this type, or a vector of them, are plain addresses, not relative to a
    /// segment.
    pub fn is_flat_pointer(self) -> bool {
        let vector = self.kind() == TypeKind::LLVMVectorTypeKind;
        let pointer = if vector { self.element() } else { self };
        llvm!(LLVMGetPointerAddressSpace(pointer.0)) == 0
    }

    /// A constant of this integer type.
    pub fn constant(self, value: u64) -> Value {
        Value(llvm!(LLVMConstInt(self.0, value, 0)))
    }

    /// Zero of this type.
    pub fn null(self) -> Value {
        Value(llvm!(LLVMConstNull(self.0)))
    }
}

impl Value {
    /// Its type.
    pub fn ty(self) -> Type {
        Type(llvm!(LLVMTypeOf(self.0)))
    }

    /// The name in the module; often empty, but for functions and global variables.
    pub fn name<'a>(self) -> &'a str {
        let mut length = 0;
        let begin = llvm!(LLVMGetValueName2(self.0, &raw mut length));
        text(begin, length)
    }

    /// One operand.
    pub fn operand(self, index: u32) -> Value {
        Value(llvm!(LLVMGetOperand(self.0, index)))
    }

    /// All operands, those of calls with the callee last.
    pub fn operands(self) -> impl Iterator<Item = Value> {
        (0..llvm!(LLVMGetNumOperands(self.0)) as u32).map(move |index| self.operand(index))
    }

    /// Each use by an instruction or constant.
    pub fn users(self) -> impl Iterator<Item = Value> {
        let some = |at: LLVMUseRef| (!at.is_null()).then_some(at);
        std::iter::successors(some(llvm!(LLVMGetFirstUse(self.0))), move |at| {
            some(llvm!(LLVMGetNextUse(*at)))
        })
        .map(|at| Value(llvm!(LLVMGetUser(at))))
    }

    /// Of an instruction or constant expression.
    pub fn opcode(self) -> Option<Opcode> {
        if !llvm!(LLVMIsAInstruction(self.0)).is_null() {
            Some(llvm!(LLVMGetInstructionOpcode(self.0)))
        } else if !llvm!(LLVMIsAConstantExpr(self.0)).is_null() {
            Some(llvm!(LLVMGetConstOpcode(self.0)))
        } else {
            None
        }
    }

    /// Whether it is the address of a global variable.
    pub fn is_global_variable(self) -> bool {
        !llvm!(LLVMIsAGlobalVariable(self.0)).is_null()
    }

    /// Of an addition, or a bitwise or that amounts to one.
    pub fn is_sum(self) -> bool {
        unsafe extern "C" {
            fn commsan_is_disjoint(value: LLVMValueRef) -> LLVMBool;
        }
        self.opcode() == Some(Opcode::LLVMAdd) || llvm!(commsan_is_disjoint(self.0)) != 0
    }

    /// Whether it is a function's argument that is passed by value, in memory of its own.
    pub fn is_by_value_argument(self) -> bool {
        if llvm!(LLVMIsAArgument(self.0)).is_null() {
            return false;
        }
        let function = llvm!(LLVMGetParamParent(self.0));
        let count = llvm!(LLVMCountParams(function));
        let number = (0..count).find(|n| llvm!(LLVMGetParam(function, *n)) == self.0);
        let by_value =
            |n| llvm!(LLVMGetEnumAttributeAtIndex(function, n + 1, attribute_kind("byval")));
        number.is_some_and(|n| !by_value(n).is_null())
    }

    /// A global variable that no other module knows.
    pub fn is_internal(self) -> bool {
        use llvm_sys::LLVMLinkage::{LLVMInternalLinkage, LLVMPrivateLinkage};
        matches!(llvm!(LLVMGetLinkage(self.0)), LLVMInternalLinkage | LLVMPrivateLinkage)
    }

    /// A global variable that is never written.
    pub fn is_constant_global(self) -> bool {
        llvm!(LLVMIsGlobalConstant(self.0)) != 0
    }

    /// A constant integer of up to 64 bits, with its sign.
    pub fn as_integer(self) -> Option<i64> {
        let constant = llvm!(LLVMIsAConstantInt(self.0));
        let fits = !constant.is_null() && self.ty().bits() <= 64;
        fits.then(|| llvm!(LLVMConstIntGetSExtValue(constant)))
    }

    /// Of loads, stores and atomic operations.
    pub fn alignment(self) -> u64 {
        u64::from(llvm!(LLVMGetAlignment(self.0)))
    }

    /// Whether a load or store is atomic.
    pub fn is_atomic(self) -> bool {
        self.ordering() != Ordering::LLVMAtomicOrderingNotAtomic
    }

    /// Of a load, a store or an atomic update.
    pub fn ordering(self) -> Ordering {
        llvm!(LLVMGetOrdering(self.0))
    }

    /// Of a compare-exchange.
    pub fn success_ordering(self) -> Ordering {
        llvm!(LLVMGetCmpXchgSuccessOrdering(self.0))
    }

    /// What follows in the block.
    pub fn next(self) -> Option<Value> {
        let next = llvm!(LLVMGetNextInstruction(self.0));
        (!next.is_null()).then_some(Value(next))
    }

    /// Of loads, stores, atomic operations and copies.
    pub fn is_volatile(self) -> bool {
        llvm!(LLVMGetVolatile(self.0)) != 0
    }

    /// Of an address computation.
    pub fn source_element_type(self) -> Type {
        Type(llvm!(LLVMGetGEPSourceElementType(self.0)))
    }

    /// The name of the function that a call calls, "" where that is not known.
    pub fn callee_name<'a>(self) -> &'a str {
        self.callee().map_or("", Value::name)
    }

    /// The function that a call calls.
    pub fn callee(self) -> Option<Value> {
        let function = llvm!(LLVMIsAFunction(LLVMGetCalledValue(self.0)));
        (!function.is_null()).then_some(Value(function))
    }

    /// Lets a call enter another function.
    pub fn set_callee(self, function: Value) {
        let last = llvm!(LLVMGetNumOperands(self.0)) as c_uint - 1;
        llvm!(LLVMSetOperand(self.0, last, function.0));
    }

    /// Adds an attribute to a call.
    pub fn add_call_attribute(self, module: Module, name: &str) {
        let attribute = llvm!(LLVMCreateEnumAttribute(module.context(), attribute_kind(name), 0));
        llvm!(LLVMAddCallSiteAttribute(self.0, FUNCTION, attribute));
    }

    /// How many arguments a call has.
    pub fn arguments(self) -> u32 {
        llvm!(LLVMGetNumArgOperands(self.0))
    }

    /// The type that a call's argument is passed by value of, in memory.
    pub fn by_value(self, argument: u32) -> Option<Type> {
        let kind = attribute_kind("byval");
        let attribute = llvm!(LLVMGetCallSiteEnumAttribute(self.0, argument + 1, kind));
        (!attribute.is_null()).then(|| Type(llvm!(LLVMGetTypeAttributeValue(attribute))))
    }

    /// Of a shuffle: the elements it takes, of both vectors in a row.
    pub fn shuffled(self) -> impl Iterator<Item = Option<u32>> {
        let count = llvm!(LLVMGetNumMaskElements(self.0));
        (0..count).map(move |index| u32::try_from(llvm!(LLVMGetMaskValue(self.0, index))).ok())
    }

    /// The line of source an instruction comes from, 0 if unknown.
    pub fn line(self) -> u32 {
        let location = llvm!(LLVMInstructionGetDebugLoc(self.0));
        if location.is_null() { 0 } else { llvm!(LLVMDILocationGetLine(location)) }
    }

    /// Whether two instructions come from one line, of the same inlined function.
    pub fn is_on_line_of(self, other: Value) -> bool {
        let place = |value: Value| {
            let at = llvm!(LLVMInstructionGetDebugLoc(value.0));
            (!at.is_null()).then(|| {
                let (scope, line) = (llvm!(LLVMDILocationGetScope(at)), value.line());
                (scope, line, llvm!(LLVMDILocationGetInlinedAt(at)))
            })
        };
        place(self) == place(other)
    }

    /// Of an integer comparison, what it asks.
    pub fn predicate(self) -> Option<Predicate> {
        let compares = self.opcode() == Some(Opcode::LLVMICmp);
        compares.then(|| llvm!(LLVMGetICmpPredicate(self.0)))
    }

    /// That an instruction belongs to.
    pub fn function(self) -> Value {
        Value(llvm!(LLVMGetBasicBlockParent(LLVMGetInstructionParent(self.0))))
    }

    /// The block of an instruction.
    pub fn parent(self) -> Option<Block> {
        let is_instruction = !llvm!(LLVMIsAInstruction(self.0)).is_null();
        is_instruction.then(|| Block(llvm!(LLVMGetInstructionParent(self.0))))
    }

    /// Puts `new` where `old` is an operand.
    pub fn replace_operand(self, old: Value, new: Value) {
        for (index, operand) in self.operands().enumerate() {
            if operand == old {
                llvm!(LLVMSetOperand(self.0, index as c_uint, new.0));
            }
        }
    }

    /// Whether it comes first in the block of another instruction.
    pub fn precedes_in_block(self, other: Value) -> bool {
        let block = Block(llvm!(LLVMGetInstructionParent(other.0)));
        block.instructions().take_while(|i| *i != other).any(|i| i == self)
    }

    /// Removes an instruction without uses.
    pub fn erase(self) {
        llvm!(LLVMInstructionEraseFromParent(self.0));
    }
}

/// Phis.
impl Value {
    /// Values with the blocks they come from, if there are two.
    pub fn incoming(self) -> Option<[(Value, Block); 2]> {
        let from = |index| {
            let value = Value(llvm!(LLVMGetIncomingValue(self.0, index)));
            (value, Block(llvm!(LLVMGetIncomingBlock(self.0, index))))
        };
        (llvm!(LLVMCountIncoming(self.0)) == 2).then(|| [from(0), from(1)])
    }

    /// Adds values to a phi, each from a block.
    pub fn add_incoming(self, incoming: &[(Value, Block)]) {
        for (value, block) in incoming {
            let (mut value, mut block) = (value.0, block.0);
            llvm!(LLVMAddIncoming(self.0, &raw mut value, &raw mut block, 1));
        }
    }

    /// Replaces what comes from a block.
    pub fn set_incoming(self, block: Block, value: Value) {
        let count = llvm!(LLVMCountIncoming(self.0));
        for index in (0..count).filter(|i| llvm!(LLVMGetIncomingBlock(self.0, *i)) == block.0) {
            llvm!(LLVMSetOperand(self.0, index, value.0));
        }
    }
}

/// Functions.
impl Value {
    /// Of a function, the entry first.
    pub fn blocks(self) -> impl Iterator<Item = Block> {
        let some = |block: LLVMBasicBlockRef| (!block.is_null()).then_some(Block(block));
        std::iter::successors(some(llvm!(LLVMGetFirstBasicBlock(self.0))), move |block| {
            some(llvm!(LLVMGetNextBasicBlock(block.0)))
        })
    }

    /// The first instruction of a function's entry.
    pub fn first_instruction(self) -> Value {
        Value(llvm!(LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(self.0))))
    }

    /// Whether a function has no body here.
    pub fn is_declaration(self) -> bool {
        llvm!(LLVMIsDeclaration(self.0)) != 0
    }

    /// Whether a function has the attribute of this name.
    pub fn has_attribute(self, name: &str) -> bool {
        let kind = attribute_kind(name);
        !llvm!(LLVMGetEnumAttributeAtIndex(self.0, FUNCTION, kind)).is_null()
    }

    /// Adds an attribute to a function.
    pub fn add_attribute(self, module: Module, name: &str, value: u64) {
        let attribute =
            llvm!(LLVMCreateEnumAttribute(module.context(), attribute_kind(name), value));
        llvm!(LLVMAddAttributeAtIndex(self.0, FUNCTION, attribute));
    }

    /// Adds an attribute with a text to a function.
    pub fn add_text_attribute(self, module: Module, name: &str, value: &str) {
        let attribute = llvm!(LLVMCreateStringAttribute(
            module.context(),
            name.as_ptr().cast(),
            name.len() as c_uint,
            value.as_ptr().cast(),
            value.len() as c_uint,
        ));
        llvm!(LLVMAddAttributeAtIndex(self.0, FUNCTION, attribute));
    }

    /// Removes an attribute of a function, unless this LLVM does not know it.
    pub fn remove_attribute(self, name: &str) {
        let kind = attribute_kind(name);
        if kind != 0 {
            llvm!(LLVMRemoveEnumAttributeAtIndex(self.0, FUNCTION, kind));
        }
    }
}

const FUNCTION: c_uint = llvm_sys::LLVMAttributeFunctionIndex;

/// In the phis of a block, gives what comes from one block to another.
pub fn replace_phi_block(block: Block, from: Block, to: Block) {
    unsafe extern "C" {
        fn commsan_replace_phi_block(
            block: LLVMBasicBlockRef,
            from: LLVMBasicBlockRef,
            to: LLVMBasicBlockRef,
        );
    }
    llvm!(commsan_replace_phi_block(block.0, from.0, to.0));
}

fn attribute_kind(name: &str) -> c_uint {
    llvm!(LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()))
}

impl Block {
    /// In order, the terminator last.
    pub fn instructions(self) -> impl Iterator<Item = Value> {
        values(llvm!(LLVMGetFirstInstruction(self.0)), LLVMGetNextInstruction)
    }

    /// The instruction that says where to go on.
    pub fn terminator(self) -> Option<Value> {
        let end = llvm!(LLVMGetBasicBlockTerminator(self.0));
        (!end.is_null()).then_some(Value(end))
    }

    /// Where it may go on.
    pub fn successors(self) -> impl Iterator<Item = Block> {
        self.terminator().into_iter().flat_map(Value::successors)
    }

    /// Lets its end lead to another block.
    pub fn retarget(self, from: Block, to: Block) {
        for (index, successor) in self.successors().enumerate() {
            if let (true, Some(end)) = (successor == from, self.terminator()) {
                llvm!(LLVMSetSuccessor(end.0, index as c_uint, to.0));
            }
        }
    }

    /// Whether a jump to a computed address may lead here.
    pub fn has_address_taken(self) -> bool {
        Value(llvm!(LLVMBasicBlockAsValue(self.0))).users().any(|user| user.parent().is_none())
    }

    /// An empty block, placed before this one.
    pub fn new_block_before(self, module: Module) -> Block {
        Block(llvm!(LLVMInsertBasicBlockInContext(module.context(), self.0, c"".as_ptr())))
    }
}
