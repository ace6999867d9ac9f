//! Memory that a thread may have for itself, so that all pieces of work that it takes may use it.
//!
//! **Soundness.** A thread owns its stack within the parallel region, what is allocated while there
//! are several threads, and thread-local variables. It may also own a part of any memory if it can
//! tell itself from others of its team: by its number, a lock or a message before the construct,
//! the address of a thread-local variable. Neither this nor that holds for variables of modules,
//! the initial thread's stack outside of the region, and blocks that were allocated by a single
//! thread, where the thread has not asked who it is, and the program's modules neither have
//! thread-local variables nor call functions that identify threads. What is not known for certain
//! counts as owned. Not seen is that libraries which commsan has not compiled tell the threads
//! apart for the program, nor that a piece of work takes a number under a lock and leaves it, in a
//! `firstprivate` variable, to those that the same thread takes after it.

use super::{by_thread, worksharing};
use commsan_process::{heap, modules, thread};
use commsan_shadow::Epoch;
use std::ops::Range;
use std::sync::OnceLock;

/// The initial thread's stack.
static INITIAL_STACK: OnceLock<Range<usize>> = OnceLock::new();

/// The calling thread is the initial one.
pub fn prepare() {
    let _ = INITIAL_STACK.set(thread::with(thread::Thread::stack_bounds));
}

/// Whether an epoch happened before the present point only because this thread took two pieces of
/// one construct, which use memory that no thread owns; the range is empty if it is not memory that
/// they have in common.
pub fn is_by_mapping(past: Epoch, bytes: &Range<usize>) -> bool {
    worksharing::is_by_mapping(past)
        && !worksharing::is_told_apart()
        && (bytes.is_empty() || is_common(bytes.start))
        && !modules::identify_threads()
}

/// Whether this thread has executed an epoch before, and these bytes may belong to it, so that what
/// it executes uses them in turns; the range is empty if it is not memory that both have in common.
pub fn is_by_thread(past: Epoch, bytes: &Range<usize>) -> bool {
    !bytes.is_empty()
        && by_thread::has_executed(past)
        && (by_thread::both_have_asked(past) || modules::identify_threads())
}

/// Whether no thread has the memory at an address for itself without knowing who it is.
fn is_common(address: usize) -> bool {
    let own = thread::with(thread::Thread::stack_bounds);
    if own.contains(&address) {
        return address >= worksharing::outside();
    }
    INITIAL_STACK.get().is_some_and(|stack| stack.contains(&address))
        || modules::is_variable(address)
        || heap::block_of(address).is_some_and(|block| !heap::is_of_threads(block.start))
}
