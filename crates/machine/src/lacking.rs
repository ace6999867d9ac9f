//! What only `x86_64.rs` has: protection keys of memory, and stacks of other threads. Elsewhere
//! nothing is closed, and such stacks stay empty.

use crate::CallTo;
use std::ffi::c_void;

/// Whether a store has caused the fault by which a thread was interrupted, where that is known.
///
/// # Safety
/// None is needed.
pub unsafe fn is_store_fault(_: *mut c_void) -> bool {
    false
}

/// Whether memory may have protection keys: not known here.
pub fn has_protection_keys() -> bool {
    false
}

/// This thread's rights by key.
///
/// # Safety
/// Never called without protection keys.
pub unsafe fn key_rights() -> u32 {
    0
}

/// Sets this thread's rights by key.
///
/// # Safety
/// Never called without protection keys.
pub unsafe fn set_key_rights(_: u32) {}

/// The rights by key with which an interrupted thread goes on: none.
///
/// # Safety
/// None is needed.
pub unsafe fn key_rights_of<'c>(_: *mut c_void) -> Option<&'c mut u32> {
    None
}

/// Lets a thread stop after the next instruction: not done here.
///
/// # Safety
/// None is needed.
pub unsafe fn set_single_step(_: *mut c_void, _: bool) {}

/// The general registers of an interrupted thread: not known here.
///
/// # Safety
/// None is needed.
pub unsafe fn registers(_: *mut c_void) -> [u64; 16] {
    [0; 16]
}

/// Calls `f` with `data`: on this stack, for others are not changed to here.
///
/// # Safety
/// That of `f`.
pub unsafe fn call_on_stack(f: unsafe extern "C" fn(*mut c_void), data: *mut c_void, _: usize) {
    // SAFETY: by the caller.
    unsafe { f(data) };
}

/// DWARF's numbers of the stack pointer and the return address: stacks of other threads are not
/// unwound here.
pub const STACK_REGISTER: u16 = 0;
/// See [`STACK_REGISTER`].
pub const RETURN_REGISTER: u16 = 0;

/// Registers that functions preserve for their callers.
pub const PRESERVED: &[(u16, usize)] = &[];

/// The call instruction at the end of some code: not known here.
pub fn call_at_end(_: &[u8; LONGEST_CALL]) -> Option<CallTo> {
    None
}

/// Bytes of the longest call instruction.
pub const LONGEST_CALL: usize = 4;

/// Distance from the stack pointer to the frame pointer in a function that begins so: not known
/// here.
pub fn frame_size(_: &[u8]) -> Option<u64> {
    None
}
