//! What compiled-in hooks and the release interceptors call.

use crate::state;
use commsan_checker::Host;
use commsan_findings::stats::Counter;
#[cfg(not(feature = "serial"))]
use commsan_mpi::AtomicUse;
#[cfg(not(feature = "serial"))]
use commsan_process::abi;
use commsan_process::abi::{AccessHook, SynchroniseHook};
use commsan_process::inside::{Inside, outside};
use commsan_process::stack::Caller;
use commsan_process::{stats, thread};
use commsan_shadow::Mode;
use commsan_threads::{Here, Observer};
use std::ffi::{CStr, c_char, c_void};
use std::ops::Range;

/// Starts receiving accesses.
pub fn connect() {
    let (access, synchronise): (AccessHook, SynchroniseHook) = match stats::are_wanted() {
        true => (on_counted_access, on_counted_synchronise),
        false => (on_access, on_synchronise),
    };
    commsan_process::abi::connect(access, on_leave, synchronise);
    let (popped, sequential, lock) = (on_popped, state::on_sequential, on_lock);
    commsan_threads::connect(Observer { popped, sequential, lock });
}

/// Added to `write` where an access shall be noted, not checked.
const NOTE: i32 = 2;
/// Added to `write` where from now on accesses to its page shall be noted, too.
const SHARE: i32 = 4;

/// An access to a page with something pending. Most leave here again: the bytes are others.
unsafe extern "C" fn on_access(
    addr: usize,
    size: usize,
    write: i32,
    by: *const c_char,
    pc: *const c_void,
    frame: *const c_void,
) {
    let mode = if write & 1 != 0 { Mode::Write } else { Mode::Read };
    let bytes = addr..addr.saturating_add(size);
    if write & NOTE != 0 {
        return state::note(bytes, mode, pc as usize, by as usize);
    }
    if write & SHARE != 0 {
        if let Some(inside) = Inside::enter() {
            state::share(&inside, &bytes);
        }
        return;
    }
    if !state::may_conflict(&bytes, mode) {
        return;
    }
    let by = match (by.is_null(), mode) {
        (true, Mode::Read) => "load",
        (true, Mode::Write) => "store",
        // SAFETY: the hooks pass string constants.
        (false, _) => unsafe { CStr::from_ptr(by) }.to_str().unwrap_or("library call"),
    };
    let caller = Caller { pc: pc as usize, frame: frame as usize, sp: 0 };
    match Inside::enter() {
        Some(inside) => access(&inside, by, mode, bytes, caller),
        None => called_back(by, mode, bytes, caller),
    }
}

/// An access that is counted for statistics.
unsafe extern "C" fn on_counted_access(
    addr: usize,
    size: usize,
    write: i32,
    by: *const c_char,
    pc: *const c_void,
    frame: *const c_void,
) {
    if write & SHARE == 0 {
        stats::accessed(write & NOTE != 0, size);
    }
    // SAFETY: the hooks' own arguments.
    unsafe { on_access(addr, size, write, by, pc, frame) }
}

/// An atomic access that is counted for statistics.
unsafe extern "C" fn on_counted_synchronise(addr: usize, kind: i32) {
    stats::add(Counter::Atomics, 1);
    // SAFETY: the hooks' own arguments.
    unsafe { on_synchronise(addr, kind) }
}

/// The program accesses memory in a function that MPI has called: a reduction, which is given
/// memory of the library's, or a function for attributes, which does as the program does.
#[cold]
fn called_back(by: &'static str, mode: Mode, bytes: Range<usize>, caller: Caller) {
    #[cfg(not(feature = "serial"))]
    commsan_mpi_shim::accessed_by_operation(by, mode, &bytes, caller);
    if thread::with(|thread| thread.calls_back.get()) {
        outside(|| {
            if let Some(inside) = Inside::enter() {
                access(&inside, by, mode, bytes, caller);
            }
        });
    }
}

fn access(inside: &Inside, by: &'static str, mode: Mode, bytes: Range<usize>, caller: Caller) {
    let here = Here::new(caller, inside);
    state::with(inside, |checker, out| match by {
        // Some communication libraries take munmap over for the whole process; the hooks come
        // first.
        "munmap" => checker.released(by, bytes, &here, out),
        _ => checker.access(by, mode, bytes, &here, out),
    });
}

/// The program uses memory atomically, to synchronise its threads or ranks; or comes to a section
/// of a construct of OpenMP's.
unsafe extern "C" fn on_synchronise(addr: usize, kind: i32) {
    const ACQUIRE: i32 = 1;
    const RELEASE: i32 = 2;
    const BROADCAST: i32 = 4;
    const SECTION: i32 = 16;
    const NO_SECTION: i32 = 32;
    if kind & (SECTION | NO_SECTION) != 0 {
        return commsan_threads::section(kind & SECTION != 0);
    }
    let (acquires, releases) = (kind & ACQUIRE != 0, kind & RELEASE != 0);
    match kind & BROADCAST {
        0 => commsan_threads::synchronise(addr, acquires, releases),
        _ => commsan_threads::broadcast(),
    }
    #[cfg(not(feature = "serial"))]
    if abi::shares_windows() {
        synchronises_windows(addr, kind & BROADCAST != 0, (acquires, releases));
    }
}

/// An atomic operation on memory that ranks may share, or on a volatile variable.
#[cfg(not(feature = "serial"))]
fn synchronises_windows(addr: usize, volatile: bool, (acquires, releases): (bool, bool)) {
    // Of a volatile variable without an address, it is known that it lies in no window.
    if addr == 0 && volatile {
        return;
    }
    // A relaxed operation may order by a fence.
    let relaxed = addr != 0 && !acquires && !releases;
    let how = match volatile {
        false => AtomicUse::Use { acquires: acquires || relaxed, releases: releases || relaxed },
        true => AtomicUse::Volatile,
    };
    state::use_atomically(addr, how);
}

/// A lock in memory that ranks may share is taken, or about to be given up.
#[cfg(not(feature = "serial"))]
fn on_lock(addr: usize, takes: bool) {
    if abi::shares_windows() && addr != 0 {
        state::use_atomically(addr, AtomicUse::Use { acquires: takes, releases: !takes });
    }
}

/// Ranks share no memory.
#[cfg(feature = "serial")]
fn on_lock(_: usize, _takes: bool) {}

/// What used this memory is gone.
fn on_popped(bytes: Range<usize>) {
    state::forget(&bytes);
}

/// A function returns while a stack buffer is pending.
unsafe extern "C" fn on_leave(pc: *const c_void, frame: *const c_void) {
    if frame.is_null() {
        return;
    }
    let Some(inside) = Inside::enter() else { return };
    let caller = Caller { pc: pc as usize, frame: frame as usize, sp: 0 };
    let here = Here::new(caller, &inside);
    state::with(&inside, |checker, out| checker.leave(frame as usize, &here, out));
}

/// Code compiled with `commsan fc` is about to call a procedure of MPI's without the argument for
/// the error code.
///
/// # Safety
/// `procedure` is a C string.
#[cfg(not(feature = "serial"))]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn commsan_api_missing_ierror(
    procedure: *const c_char,
    pc: *const c_void,
    frame: *const c_void,
) {
    // SAFETY: by the caller.
    let Ok(procedure) = unsafe { CStr::from_ptr(procedure) }.to_str() else { return };
    let caller = Caller { pc: pc as usize, frame: frame as usize, sp: 0 };
    commsan_mpi_shim::without_error_code(procedure, caller);
}

/// Memory is given back while something is pending somewhere.
pub fn on_release(by: &'static str, bytes: Range<usize>, caller: Caller) {
    if !state::may_conflict(&bytes, Mode::Write) && !state::may_be_exposed(&bytes) {
        if state::remembers() {
            state::forget(&bytes);
        }
        return;
    }
    let Some(inside) = Inside::enter() else { return };
    let here = Here::new(caller, &inside);
    state::with(&inside, |checker, out| checker.released(by, bytes, &here, out));
}
