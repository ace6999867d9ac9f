//! Interceptors of memory releases: `free`, `realloc`, `munmap`.
//!
//! These are interposed for the whole process, so that memory released inside libraries (C++
//! containers, interpreters) is seen as well. While nothing is pending each costs one load.

use crate::inside::Inside;
use crate::next::Next;
use crate::stack::Caller;
use crate::{abi, allocate, caller, heap};
use std::ffi::{c_int, c_void};
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

/// Called before memory in which an operation may be pending is released.
pub type Observer = fn(by: &'static str, bytes: Range<usize>, caller: Caller);

static OBSERVER: OnceLock<Observer> = OnceLock::new();

/// Starts to report releases to `observer`; the shared memory must be mapped.
pub fn observe(observer: Observer) {
    let _ = OBSERVER.set(observer);
}

#[inline]
fn watched() -> Option<&'static Observer> {
    // The observer is set after the shared memory was mapped.
    OBSERVER.get().filter(|_| abi::abi().live.load(Ordering::Relaxed) != 0)
}

fn report(by: &'static str, start: usize, size: usize, caller: Caller) {
    if size > 0
        && let Some(observer) = watched()
    {
        observer(by, start..start + size, caller);
    }
}

fn usable(ptr: *mut c_void) -> usize {
    // SAFETY: the program passes a pointer it may free.
    unsafe { libc::malloc_usable_size(ptr) }
}

/// Interposes `free`.
///
/// # Safety
/// The contract of C's `free`.
#[unsafe(no_mangle)]
#[inline(never)]
pub unsafe extern "C" fn free(ptr: *mut c_void) {
    if watched().is_some() && !ptr.is_null() {
        let caller = caller!();
        report("free", ptr as usize, usable(ptr), caller);
    }
    allocate::gone(ptr);
    // SAFETY: the program's own block.
    unsafe { free_really(ptr) };
}

/// The C library's `free`.
unsafe fn free_really(ptr: *mut c_void) {
    static NEXT: Next = Next::new(c"free");
    // `dlsym` first frees the text that `dlerror` would have returned, and only then forgets it:
    // what it frees while `free` is looked up is freed again by the call that led here, or leaked.
    let next = NEXT.unless_looking_up();
    if !next.is_null() {
        // SAFETY: this is the C library's `free`, with the program's argument.
        unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut c_void)>(next)(ptr) }
    }
}

/// Interposes `realloc`.
///
/// # Safety
/// The contract of C's `realloc`.
#[unsafe(no_mangle)]
#[inline(never)]
pub unsafe extern "C" fn realloc(ptr: *mut c_void, size: usize) -> *mut c_void {
    if watched().is_some() && !ptr.is_null() {
        let caller = caller!();
        report("realloc", ptr as usize, usable(ptr), caller);
    }
    allocate::gone(ptr);
    static NEXT: Next = Next::new(c"realloc");
    type Realloc = unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void;
    let mut moved;
    if allocate::is_isolated(size) && allocate::fits(ptr, size) {
        moved = ptr;
    } else {
        moved = allocate::isolated(1, size);
        if !ptr.is_null() && !moved.is_null() {
            // SAFETY: both blocks have so many bytes; the old one is the program's to free.
            unsafe {
                std::ptr::copy_nonoverlapping(
                    ptr.cast::<u8>(),
                    moved.cast::<u8>(),
                    usable(ptr).min(size),
                );
                free_really(ptr);
            }
        }
    }
    if moved.is_null() {
        // SAFETY: this is the C library's `realloc`, with the program's arguments.
        moved = unsafe { std::mem::transmute::<*mut c_void, Realloc>(NEXT.get())(ptr, size) };
    }
    let caller = caller!();
    heap::insert(moved as usize, size, caller.pc);
    if allocate::is_reported(size, caller.pc) {
        allocate::made("realloc", moved, size, caller);
    }
    moved
}

/// Interposes `munmap`.
///
/// # Safety
/// The contract of `munmap`.
#[unsafe(no_mangle)]
#[inline(never)]
pub unsafe extern "C" fn munmap(addr: *mut c_void, length: usize) -> c_int {
    if watched().is_some() {
        let caller = caller!();
        report("munmap", addr as usize, length, caller);
    }
    static NEXT: Next = Next::new(c"munmap");
    type Munmap = unsafe extern "C" fn(*mut c_void, usize) -> c_int;
    // SAFETY: this is the C library's `munmap`, with the program's arguments.
    unsafe { std::mem::transmute::<*mut c_void, Munmap>(NEXT.get())(addr, length) }
}

/// Runs `f` unless this thread is inside MPI or commsan.
pub fn from_program(f: impl FnOnce()) {
    if let Some(_inside) = Inside::enter() {
        f();
    }
}
