//! A pass plugin for clang and flang: puts commsan's checks into programs, and keeps what `commsan
//! lint` analyses ([`save`]).
//!
//! It runs when the optimizer is done, so that loops are vectorized and calls inlined as in a
//! program without checks, and each access that is left gets its check inline: a load from the page
//! filter, a test, a branch hardly ever taken (`check.rs`). A function whose variables others may
//! know also has the pages of its frame looked at before it returns.
//!
//! Read in this order: [`access`] determines what an instruction accesses, [`escape`] and
//! [`survey`] which of that needs a check, [`loops`] which of these a loop can make once for many
//! iterations, as many as [`count`] knows of, and [`sweep`] what it then notes. [`check`] writes
//! the rest, [`copies`] handles copies, [`threads`] does what matters to several threads only.
//!
//! Not checked: inline assembly, and gathers written as intrinsics of one processor.

mod access;
mod builder;
mod check;
mod copies;
mod count;
mod escape;
mod hooks;
mod loops;
mod place;
mod save;
mod survey;
mod sweep;
mod threads;

use builder::Builder;
use commsan_llvm as ir;
use ir::{Module, Value};
use llvm_sys::prelude::{LLVMModuleRef, LLVMValueRef};
use std::ffi::{c_char, c_void};

/// What LLVM asks a plugin for.
#[repr(C)]
pub struct PluginInfo {
    api: u32,
    name: *const c_char,
    version: *const c_char,
    register: extern "C" fn(*mut c_void),
}

/// The entry point of a pass plugin.
#[unsafe(no_mangle)]
pub extern "C" fn llvmGetPassPluginInfo() -> PluginInfo {
    PluginInfo { api: 1, name: c"commsan".as_ptr(), version: c"1".as_ptr(), register }
}

type Callback = extern "C" fn(LLVMModuleRef);

unsafe extern "C" {
    fn commsan_register(builder: *mut c_void, first: Callback, last: Callback);
    fn commsan_each_exit(
        function: LLVMValueRef,
        callback: extern "C" fn(LLVMValueRef, *mut c_void),
        data: *mut c_void,
    );
}

extern "C" fn register(builder: *mut c_void) {
    // SAFETY: LLVM passes its own builder on, to our shim that was compiled for this LLVM.
    unsafe { commsan_register(builder, mark, instrument) };
}

/// Says which functions are to be checked. The same attribute keeps the optimizer from reading
/// what the program may not read, and clang has set it where the source does not decline.
const CHECKED: &str = "sanitize_thread";

/// Before the optimizer runs: flang lacks the options that the wrapper passes to clang.
extern "C" fn mark(module: LLVMModuleRef) {
    let module = Module(module);
    if save::is_wanted() {
        save::save(module);
    }
    if module.has_note("llvm.ident") {
        return;
    }
    for function in module.functions().filter(|f| !f.is_declaration()) {
        function.add_attribute(module, CHECKED, 0);
        function.add_text_attribute(module, "frame-pointer", "all");
        function.add_text_attribute(module, "disable-tail-calls", "true");
    }
}

/// After the optimizer: `-ffat-lto-objects` comes here twice with one module.
extern "C" fn instrument(module: LLVMModuleRef) {
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
    for function in functions {
        checked(module, function, sharing.contains(&function));
    }
    let named = module.functions().filter(|f| ALLOCATORS.contains(&f.name()));
    for function in module.resolvers().chain(named).filter(|f| !f.is_declaration()) {
        let nothing = ir::Type::pointer(module).null();
        let builder = Builder::before(module, function.first_instruction());
        builder.call(&hooks::ENTER, &[nothing]);
    }
}

/// What the dynamic linker calls, like the resolvers of indirect functions, before any constructor
/// had a chance to map the filter. Such functions see to that themselves.
const ALLOCATORS: &[&str] = &["malloc", "calloc", "realloc", "free"];

fn checked(module: Module, function: Value, shares: bool) {
    let mut escapes = escape::Escapes::default();
    let exits = if escapes.exposes_locals(function) { exits(function) } else { Vec::new() };
    let accesses = survey::survey(module, function, &mut escapes);
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
    // It reads the filter now, and calls.
    for promise in ["memory", "nosync", "speculatable"] {
        function.remove_attribute(promise);
    }
}

/// The last instruction of each way out of a function.
fn exits(function: Value) -> Vec<Value> {
    extern "C" fn push(exit: LLVMValueRef, found: *mut c_void) {
        // SAFETY: `found` is the vector below, which nobody else uses meanwhile.
        unsafe { (*found.cast::<Vec<Value>>()).push(Value(exit)) };
    }
    let mut found: Vec<Value> = Vec::new();
    // SAFETY: the shim calls back before it returns.
    unsafe { commsan_each_exit(function.0, push, (&raw mut found).cast()) };
    found
}
