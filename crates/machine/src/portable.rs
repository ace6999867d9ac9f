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
