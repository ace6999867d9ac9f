//! Any other processor: calls have no stacks, lookups by name in the MPI library itself are not
//! checked, sanitizers are not recognised. See `x86_64.rs` for what each item is.

use std::ffi::{CStr, c_void};
use std::time::{SystemTime, UNIX_EPOCH};

/// The dynamic linker: none that is known.
pub const LOADER: &str = "ld.so";

/// The version of glibc's oldest symbols on processors that it came to later.
pub const OLDEST_GLIBC: &CStr = c"GLIBC_2.17";

/// DWARF's number of the frame pointer: none.
pub const FRAME_REGISTER: u16 = u16::MAX;

/// Timestamp in nanoseconds.
#[inline]
pub fn ticks() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
}

/// An address of the thread's own.
#[inline]
pub fn thread_pointer() -> usize {
    thread_local!(static OWN: u8 = const { 0 });
    OWN.with(|own| &raw const *own as usize)
}

/// The stack pointer of an interrupted thread: that of its handler.
///
/// # Safety
/// None is needed.
pub unsafe fn stack_pointer(context: *mut c_void) -> usize {
    context as usize
}

/// The instruction at which a thread was interrupted: none that is known.
///
/// # Safety
/// None is needed.
pub unsafe fn instruction_pointer(_: *mut c_void) -> usize {
    0
}

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

/// A frame above which there are none.
#[macro_export]
macro_rules! frame_pointer {
    () => {{
        static LAST: [usize; 2] = [0; 2];
        LAST.as_ptr() as usize
    }};
}

/// The address of a function that may be missing: never there.
#[macro_export]
macro_rules! weak_address {
    ($symbol:literal) => {
        0_usize
    };
}

/// Leaves a function to the C library: what is interposed so is of use with protection keys only.
#[macro_export]
macro_rules! interpose {
    ($name:ident, $real:path, $foreign:path, $flag:path, $other:path, $instead:path) => {
        const _: () = {
            let _ = (&$real, &$foreign, &$flag, &$other, $instead as *const ());
        };
    };
}

/// Leaves `dlsym` to the C library.
#[macro_export]
macro_rules! interpose_dlsym {
    ($real:ident, $find:ident, $in_library:ident) => {
        const _: $crate::Dlsym = $in_library;
    };
}

/// DWARF's numbers of the stack pointer and the return address: stacks of other threads are not
/// unwound here.
pub const STACK_REGISTER: u16 = 0;
/// See [`STACK_REGISTER`].
pub const RETURN_REGISTER: u16 = 0;

/// Registers that functions preserve for their callers.
pub const PRESERVED: &[(u16, usize)] = &[];

/// The call that ends code, if any does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallTo {
    /// A function at this distance from the return address.
    Distance(i32),
    /// A function whose address is in a register or in memory.
    Anything,
}

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
