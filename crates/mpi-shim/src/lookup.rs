//! Lookups by name in the MPI library itself: `dlsym(handle, "MPI_Send")`, as Julia, `ctypes` and
//! programs that load MPI by `dlopen` make them, return commsan's entry point.
//!
//! `dlsym` is interposed without a frame of its own: all other lookups are jumps to the C library's
//! function, which finds by its return address what the caller's scope is.

use crate::rank::rank;
use crate::real;
use crate::sys;
use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::Relaxed;

type Dlsym = unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void;

/// The C library's function, once it has been looked up.
static REAL: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

/// Looks up the C library's function: others may call `dlsym` before this library's constructors.
extern "C" fn find() -> *mut c_void {
    // The oldest version of the symbol on x86-64.
    // SAFETY: a lookup by name and version.
    let real = unsafe { libc::dlvsym(libc::RTLD_NEXT, c"dlsym".as_ptr(), c"GLIBC_2.2.5".as_ptr()) };
    REAL.store(real, Relaxed);
    real
}

/// Interposes `dlsym`.
///
/// # Safety
///
/// As of `dlsym`.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void {
    std::arch::naked_asm!(
        "mov rax, qword ptr [rip + {real}]",
        "test rax, rax",
        "jnz 2f",
        "push rdi",
        "push rsi",
        "sub rsp, 8",
        "call {find}",
        "add rsp, 8",
        "pop rsi",
        "pop rdi",
        // RTLD_DEFAULT and RTLD_NEXT find the entry points anyway.
        "2:",
        "lea rcx, [rdi + 1]",
        "cmp rcx, 1",
        "jbe 3f",
        "cmp byte ptr [rsi], 77", // M
        "jne 3f",
        "cmp byte ptr [rsi + 1], 80", // P
        "jne 3f",
        "cmp byte ptr [rsi + 2], 73", // I
        "jne 3f",
        "jmp {in_library}",
        "3:",
        "jmp rax",
        real = sym REAL,
        find = sym find,
        in_library = sym in_library,
    )
}

/// As the C library's `dlsym`, also for functions of MPI.
///
/// # Safety
///
/// As of `dlsym`.
#[inline(always)]
pub(crate) unsafe fn past_ours(handle: *mut c_void, name: &CStr) -> *mut c_void {
    let known = REAL.load(Relaxed);
    let real = if known.is_null() { find() } else { known };
    // SAFETY: the C library's function, with the caller's arguments.
    unsafe { std::mem::transmute::<*mut c_void, Dlsym>(real)(handle, name.as_ptr()) }
}

/// A symbol of MPI in a library that was opened.
unsafe extern "C" fn in_library(handle: *mut c_void, name: *const c_char) -> *mut c_void {
    // SAFETY: it was looked up before the jump here.
    let real: Dlsym = unsafe { std::mem::transmute(REAL.load(Relaxed)) };
    // SAFETY: the caller's arguments.
    let found = unsafe { real(handle, name) };
    match (found.is_null(), real::family_of(found)) {
        (false, Some(family)) if family == sys::FAMILY => {}
        (false, Some(_)) => {
            if let Some(rank) = rank() {
                real::say_foreign(rank);
            }
            return found;
        }
        _ => return found,
    }
    // SAFETY: a lookup by the caller's name.
    let own = unsafe { real(libc::RTLD_DEFAULT, name) };
    if own.is_null()
        || real::module_of(own).dli_fbase != real::module_of(dlsym as *const c_void).dli_fbase
    {
        return found;
    }
    own
}
