//! A pass plugin for clang and flang: inserts commsan's checks into programs, and stores the
//! bitcode that `commsan lint` analyses ([`save`]).
//!
//! It runs after the optimizer, so that loops are vectorized and calls inlined as in a program
//! without checks. Each remaining access gets its check inline: a load from the page filter, a
//! test, and an unlikely branch (`check.rs`). A function with escaping variables also checks the
//! pages of its frame before it returns.
//!
//! Read in this order: [`access`] determines what an instruction accesses, [`escape`] and
//! [`survey`] which of these accesses need a check, and [`loops`] which of them a loop can check
//! once for many iterations, up to the trip count from [`count`]. [`sweep`] records their accesses.
//! Before all that, [`calm`] copies what needs no checks while nothing is pending.
//! [`check`] inserts all other checks, [`copies`] handles copies, and [`threads`] contains what
//! only concerns several threads. [`sections`] marks OpenMP's sections before the optimizer runs.
//!
//! LLVM's C interface is the same in all versions, so this library is, too. A shim for the version
//! in question (`instrument/llvm-plugin`) is what the compiler loads; it has what C++ is needed
//! for.
//!
//! Not checked: inline assembly, and gathers written as intrinsics of one processor.

mod access;
mod builder;
mod calm;
mod check;
mod copies;
mod count;
mod escape;
mod hooks;
mod loops;
mod place;
mod save;
mod sections;
mod survey;
mod sweep;
mod threads;

use builder::Builder;
use calm::Calm;
use commsan_llvm as ir;
use ir::{Module, Value};
use llvm_sys::prelude::{LLVMModuleRef, LLVMValueRef};
use std::collections::HashSet;
use std::ffi::c_void;

unsafe extern "C" {
    fn commsan_each_exit(
        function: LLVMValueRef,
        callback: extern "C" fn(LLVMValueRef, *mut c_void),
        data: *mut c_void,
    );
}

/// Attribute of functions to be checked. It also prevents the optimizer from introducing reads.
/// clang has set it unless the source declines.
const CHECKED: &str = "sanitize_thread";

/// Runs before the optimizer: flang lacks the options that the wrapper passes to clang.
#[unsafe(no_mangle)]
pub extern "C" fn commsan_mark(module: LLVMModuleRef) {
    let module = Module(module);
    if save::is_wanted() {
        save::save(module);
    }
    sections::mark(module);
    if module.has_note("llvm.ident") {
        return;
    }
    for function in module.functions().filter(|f| !f.is_declaration()) {
        function.add_attribute(module, CHECKED, 0);
        function.add_text_attribute(module, "frame-pointer", "all");
        function.add_text_attribute(module, "disable-tail-calls", "true");
    }
}

/// Runs after the optimizer, twice on one module with `-ffat-lto-objects`.
#[unsafe(no_mangle)]
pub extern "C" fn commsan_instrument(module: LLVMModuleRef) {
    const DONE: &str = "commsan.checked";
    let module = Module(module);
    if module.has_note(DONE) {
        return;
    }
    module.add_note(DONE);
    let wanted =
        |f: &Value| !f.is_declaration() && f.has_attribute(CHECKED) && !f.has_attribute("naked");
    let functions: Vec<_> = module.functions().filter(wanted).collect();
    let sharing = threads::sharing(module);
    let calm = Calm::of(module);
    for function in functions {
        checked(module, function, sharing.contains(&function), &calm);
    }
    let named = module.functions().filter(|f| ALLOCATORS.contains(&f.name()));
    for function in module.resolvers().chain(named).filter(|f| !f.is_declaration()) {
        let nothing = ir::Type::pointer(module).null();
        let builder = Builder::before(module, function.first_instruction());
        builder.call(&hooks::ENTER, &[nothing]);
    }
}

/// Functions that the dynamic linker calls before any constructor could map the filter, as it does
/// resolvers of indirect functions. They map the filter themselves.
const ALLOCATORS: &[&str] = &["malloc", "calloc", "realloc", "free"];

/// Attributes that a function with checks must not have. Before LLVM 16, several stand for
/// `memory`.
const PROMISES: &[&str] = &[
    "memory",
    "readnone",
    "readonly",
    "writeonly",
    "argmemonly",
    "inaccessiblememonly",
    "inaccessiblemem_or_argmemonly",
    "nosync",
    "speculatable",
];

fn checked(module: Module, function: Value, shares: bool, calm: &Calm) {
    let free = match shares {
        true => HashSet::new(),
        false => calm::copy_regions(module, function, calm),
    };
    let mut escapes = escape::Escapes::default();
    let exits = if escapes.exposes_locals(function) { exits(function) } else { Vec::new() };
    let mut accesses = survey::survey(module, function, &mut escapes);
    accesses.retain(|access| access.at.parent().is_none_or(|block| !free.contains(&block)));
    for access in loops::guard_loops(module, function, accesses, shares) {
        if shares {
            check::share(module, &access);
        }
        check::check(module, &access);
    }
    threads::synchronise(module, function);
    copies::settle(module, function, shares);
    for exit in exits {
        check::check_exit(module, exit);
    }
    // The function now reads the filter, and contains calls.
    PROMISES.iter().for_each(|promise| function.remove_attribute(promise));
}

/// The last instruction of each exit of a function.
fn exits(function: Value) -> Vec<Value> {
    extern "C" fn push(exit: LLVMValueRef, found: *mut c_void) {
        // SAFETY: `found` is the vector below, which nothing else uses meanwhile.
        unsafe { (*found.cast::<Vec<Value>>()).push(Value(exit)) };
    }
    let mut found: Vec<Value> = Vec::new();
    // SAFETY: the shim calls back before it returns.
    unsafe { commsan_each_exit(function.0, push, (&raw mut found).cast()) };
    found
}
