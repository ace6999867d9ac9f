//! Function and loop versioning: copies without checks, for as long as nothing that is pending
//! concerns them.
//!
//! Where nothing can start an operation, one question at the begin decides for all accesses: if no
//! operation is live and no memory is exposed, none of them can concern one. Such a function, or
//! else each outermost loop of this kind, exists twice: as it is, without checks, and with all of
//! them. This is what frees accesses through an index or a pointer, of which nobody knows the
//! addresses beforehand ([`crate::loops`] has those that are known). Of a loop it may be known at
//! least where they lie (`instrument/llvm-plugin/reach.cc`): then it also runs without checks
//! beside operations on other memory.
//!
//! Nothing starts an operation: computing, functions of libc that are known for it, and calls of
//! this module's own functions that call nothing else. While there are other threads, which could
//! start one meanwhile, checks stay, unless they are a team that runs nothing but this function. Of
//! threads that code without hooks has created nobody knows: an operation that one of them starts
//! is missed by a function or loop that runs already.

use crate::escape::Escapes;
use crate::ir::{Block, Module, Opcode, Value};
use crate::survey::{may_start_operation, survey};
use crate::{access::Access, loops};
use llvm_sys::prelude::{LLVMBasicBlockRef, LLVMValueRef};
use std::collections::{HashMap, HashSet};
use std::ffi::{CString, c_char, c_void};

/// Maximum number of instructions that exist twice.
const MAX_INSTRUCTIONS: usize = 6_000;
/// Minimum number of accesses whose checks the question replaces.
const MIN_ACCESSES: usize = 2;

/// An access as the shim reads it: at most `size` bytes from the address on.
#[repr(C)]
struct Described {
    address: LLVMValueRef,
    size: u64,
    write: i32,
}

/// What the shim asks and tells; `data` is a [`Choice`].
#[repr(C)]
struct Decisions {
    want: extern "C" fn(*const LLVMBasicBlockRef, usize, i32, *mut c_void) -> i32,
    accesses:
        extern "C" fn(*const LLVMBasicBlockRef, usize, *mut *const Described, *mut c_void) -> usize,
    free: extern "C" fn(*const LLVMBasicBlockRef, usize, *mut c_void),
    settle: extern "C" fn(*const LLVMBasicBlockRef, usize, *mut c_void),
    data: *mut c_void,
}

unsafe extern "C" {
    fn commsan_copy_regions(
        function: LLVMValueRef,
        decisions: *const Decisions,
        is_teams: i32,
        again: i32,
    ) -> i32;
    fn commsan_is_harmless_call(name: *const c_char) -> i32;
    fn commsan_is_interposable(function: LLVMValueRef) -> i32;
}

/// Functions of a module that start nothing, whatever they call.
pub struct Calm(HashSet<Value>);

impl Calm {
    /// Those of a module without hooks yet.
    pub fn of(module: Module) -> Calm {
        // SAFETY: the shim only looks at the function.
        let is_final = |f: &Value| unsafe { commsan_is_interposable(f.0) } == 0;
        let own = module.functions().filter(|f| !f.is_declaration() && is_final(f));
        // All are taken to be until one is found not to be: also those that call each other.
        let mut calm = Calm(own.collect());
        loop {
            let starts_something = |f: &Value| {
                !f.blocks().flat_map(|block| block.instructions()).all(|i| calm.starts_nothing(i))
            };
            let others: Vec<_> = calm.0.iter().copied().filter(starts_something).collect();
            if others.is_empty() {
                return calm;
            }
            calm.0.retain(|function| !others.contains(function));
        }
    }

    /// Whether an instruction starts no operation. What waits for other threads, such as atomic
    /// instructions, may: there are none that could start one.
    fn starts_nothing(&self, instruction: Value) -> bool {
        let is_call = matches!(
            instruction.opcode(),
            Some(Opcode::LLVMCall | Opcode::LLVMInvoke | Opcode::LLVMCallBr)
        );
        !is_call
            || !may_start_operation(instruction)
            || instruction.callee().is_some_and(|callee| {
                self.0.contains(&callee) || callee.is_declaration() && is_harmless(callee.name())
            })
    }
}

fn is_harmless(name: &str) -> bool {
    // SAFETY: the shim reads the string.
    CString::new(name).is_ok_and(|name| unsafe { commsan_is_harmless_call(name.as_ptr()) } != 0)
}

/// What decides about a function's regions, and those that were chosen.
struct Choice<'c> {
    module: Module,
    calm: &'c Calm,
    accesses: HashMap<Block, Vec<Access>>,
    /// What the shim was told last.
    described: Vec<Described>,
    /// Blocks that are entered while nothing that is pending concerns them.
    free: HashSet<Block>,
    /// Blocks that are entered while something is pending in what they may access.
    settled: HashSet<Block>,
}

/// Copies the regions of a function; returns the blocks that are entered while nothing is pending
/// that concerns them.
pub fn copy_regions(module: Module, function: Value, calm: &Calm) -> HashSet<Block> {
    let is_small = |name| function.has_attribute(name);
    if is_small("optsize") || is_small("minsize") || is_small("optnone") {
        return HashSet::new();
    }
    let (described, free, settled) = (Vec::new(), HashSet::new(), HashSet::new());
    let mut choice = Choice { module, calm, accesses: HashMap::new(), described, free, settled };
    let is_outlined =
        function.name().contains("omp_outlined") || function.name().contains("..omp_par");
    for again in 0..2 {
        choice.accesses = accesses_of(module, function);
        let data = (&raw mut choice).cast();
        let decisions = Decisions { want, accesses, free: is_free, settle, data };
        // SAFETY: the shim calls back with blocks of the function and with the choice, which
        // nothing else uses meanwhile.
        let is_more = unsafe {
            commsan_copy_regions(function.0, &raw const decisions, i32::from(is_outlined), again)
        };
        if is_more == 0 {
            break;
        }
    }
    choice.free
}

fn accesses_of(module: Module, function: Value) -> HashMap<Block, Vec<Access>> {
    let mut accesses: HashMap<Block, Vec<Access>> = HashMap::new();
    for access in survey(module, function, &mut Escapes::default()) {
        if let Some(block) = access.at.parent() {
            accesses.entry(block).or_default().push(access);
        }
    }
    accesses
}

/// What the shim passes: blocks of the function, and the choice.
///
/// # Safety
/// The shim passes an array of blocks, and the pointer that [`copy_regions`] has given it.
unsafe fn passed<'d, 'c>(
    blocks: *const LLVMBasicBlockRef,
    count: usize,
    data: *mut c_void,
) -> (Vec<Block>, &'d mut Choice<'c>) {
    // SAFETY: see above.
    let (blocks, choice) =
        unsafe { (std::slice::from_raw_parts(blocks, count), &mut *data.cast::<Choice>()) };
    (blocks.iter().copied().map(Block).collect(), choice)
}

extern "C" fn want(
    blocks: *const LLVMBasicBlockRef,
    count: usize,
    is_whole: i32,
    data: *mut c_void,
) -> i32 {
    // SAFETY: called by the shim.
    let (blocks, choice) = unsafe { passed(blocks, count, data) };
    i32::from(choice.is_worth_two(&blocks, is_whole != 0))
}

extern "C" fn accesses(
    blocks: *const LLVMBasicBlockRef,
    count: usize,
    found: *mut *const Described,
    data: *mut c_void,
) -> usize {
    // SAFETY: called by the shim.
    let (blocks, choice) = unsafe { passed(blocks, count, data) };
    let all = blocks.iter().filter_map(|block| choice.accesses.get(block)).flatten();
    choice.described = all
        .map(|access| Described {
            address: access.address.0,
            size: access.size,
            write: i32::from(access.write),
        })
        .collect();
    // SAFETY: the shim's own variable.
    unsafe { *found = choice.described.as_ptr() };
    choice.described.len()
}

extern "C" fn is_free(blocks: *const LLVMBasicBlockRef, count: usize, data: *mut c_void) {
    // SAFETY: called by the shim.
    let (blocks, choice) = unsafe { passed(blocks, count, data) };
    choice.free.extend(blocks);
}

extern "C" fn settle(blocks: *const LLVMBasicBlockRef, count: usize, data: *mut c_void) {
    // SAFETY: called by the shim.
    let (blocks, choice) = unsafe { passed(blocks, count, data) };
    choice.settled.extend(blocks);
}

impl Choice<'_> {
    fn is_worth_two(&self, blocks: &[Block], is_whole: bool) -> bool {
        if blocks.iter().any(|block| self.free.contains(block) || self.settled.contains(block)) {
            return false;
        }
        let mut instructions = blocks.iter().flat_map(|block| block.instructions());
        let is_calm =
            instructions.by_ref().take(MAX_INSTRUCTIONS).all(|i| self.calm.starts_nothing(i));
        if !is_calm || instructions.next().is_some() {
            return false;
        }
        // Loops that ask beforehand for each of their accesses gain nothing alone.
        let is_free = |block: &Block, of: &[Access]| {
            (is_whole || blocks.len() == 1) && loops::has_known_addresses(self.module, *block, of)
        };
        let checked = blocks.iter().filter_map(|block| Some((block, self.accesses.get(block)?)));
        let checked = checked.filter(|(block, of)| !is_free(block, of));
        checked.map(|(_, of)| of.len()).sum::<usize>() >= MIN_ACCESSES
    }
}
