//! Calls outside of MPI's life, and processes that exit without finalising it.
//!
//! **Soundness.** Before `MPI_Init` and after `MPI_Finalize`, as the library itself reports, only
//! calls are allowed that ask about MPI, are about info objects, errors or error handlers, or
//! belong to a session (MPI 4.1 §11.4.1); most of them are not in the table, and while there is a
//! session, nothing is reported. A process that has initialised MPI, or a session, must finalize it
//! before it exits (§11.2.2, §11.3.2); one that exits with a status other than 0 has failed in a
//! way of its own, and is not reported, nor is one that a signal or `_exit` ends.

use crate::calling::{has_owner, is_owner};
use crate::library;
use crate::phase;
use crate::rank::{Rank, mode, rank};
use crate::shmem;
use crate::sys;
use commsan_mpi::Args;
use commsan_mpi_calls::Effect;
use commsan_process::thread;
use commsan_threads::Here;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

/// How calls are named that may be made at any time, besides those whose effect says so.
const ALWAYS: [&str; 4] =
    ["MPI_Info_", "MPI_Add_error_", "MPI_Errhandler_free", "MPI_Get_library_version"];

/// A call is about to be made while nothing is followed.
#[cold]
pub(crate) fn called(rank: &dyn Rank, args: &Args, here: &Here) {
    use Effect::{Abort, Begin, Session, SessionEnd};
    let may_always = matches!(args.call.effect, Abort | Session | SessionEnd)
        || args.call.explains_errors
        || ALWAYS.iter().any(|name| args.call.name.starts_with(name));
    let is_other = has_owner() && !is_owner();
    if may_always || is_other || !rank.checks() || phase::are_live() {
        return;
    }
    let (mut initialized, mut finalized) = (0, 0);
    // SAFETY: these may be called at any time, and store integers.
    unsafe {
        sys::PMPI_Initialized(&mut initialized);
        sys::PMPI_Finalized(&mut finalized);
    }
    if initialized == 0 && args.call.effect != Begin && phase::were_made() {
        rank.look(here.thread, &mut |tracker, out| {
            tracker.reporter.outside(args, "after MPI_Session_finalize", here, out);
        });
    } else if initialized == 0 && args.call.effect != Begin {
        rank.early(here.thread, library::version(), &mut |tracker, out| {
            tracker.reporter.outside(args, "before MPI_Init", here, out);
        });
    } else if finalized != 0 {
        rank.look(here.thread, &mut |tracker, out| {
            tracker.reporter.outside(args, "after MPI_Finalize", here, out);
        });
    }
}

/// The status that the process exits with, plus one; 0 if it does not exit.
static STATUS: AtomicU64 = AtomicU64::new(0);

/// Whether the process is about to exit.
pub(crate) fn is_exiting() -> bool {
    STATUS.load(Relaxed) != 0
}

/// MPI has been initialised.
pub(crate) fn begin() {
    unsafe extern "C" {
        fn on_exit(call: extern "C" fn(c_int, *mut c_void), with: *mut c_void) -> c_int;
    }
    extern "C" fn exits(status: c_int, _: *mut c_void) {
        STATUS.store(u64::from(status as u32) + 1, Relaxed);
    }
    // SAFETY: a function of the type that the C library calls.
    unsafe { on_exit(exits, null_mut()) };
}

/// The process exits, and no code of the program will run any more.
pub fn left() {
    let Some(rank) = rank().filter(|_| is_owner() && STATUS.load(Relaxed) == 1) else { return };
    let sessions = phase::left();
    thread::with(|thread| {
        rank.look(thread, &mut |tracker, out| {
            if mode().is_active() && !phase::are_alone() && !shmem::has_begun() {
                tracker.never_finalized(out);
            }
            for (call, site) in &sessions {
                tracker.reporter.never_ended(call, *site, out);
            }
        });
    });
}
