//! Lookups by name in the MPI library itself: `dlsym(handle, "MPI_Send")`, as Julia, `ctypes` and
//! programs that load MPI by `dlopen` make them, return commsan's entry point.
//!
//! `dlsym` is interposed without a frame of its own: all other lookups are jumps to the C library's
//! function, which finds by its return address what the caller's scope is.

use crate::rank::rank;
use crate::real;
use crate::sys;
use commsan_process::machine::{self, Dlsym};
use std::ffi::{CStr, c_char, c_void};
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::Ordering::Relaxed;

/// The C library's function, once it has been looked up.
static REAL: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

/// Looks up the C library's function: others may call `dlsym` before this library's constructors.
extern "C" fn find() -> *mut c_void {
    let version = machine::OLDEST_GLIBC.as_ptr();
    // SAFETY: a lookup by name and version.
    let real = unsafe { libc::dlvsym(libc::RTLD_NEXT, c"dlsym".as_ptr(), version) };
    REAL.store(real, Relaxed);
    real
}

machine::interpose_dlsym!(REAL, find, in_library);

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
        || real::module_of(own).dli_fbase != real::module_of(in_library as *const c_void).dli_fbase
    {
        return found;
    }
    own
}
