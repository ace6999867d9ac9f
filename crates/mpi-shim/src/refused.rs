//! Receives that return an error because the message is longer than their buffer, with
//! MPI_ERRORS_RETURN.
//!
//! **Soundness.** A message that is too long is a mistake of the program (MPI 4.1 §3.2.4), and its
//! data is partly lost. Other errors prove nothing: programs use them to find out what a library
//! can do, and whether they check the returned code cannot be seen; arguments that the standard
//! forbids are reported before the call (`arguments.rs`). Where the program has error handlers of
//! its own, nothing is reported.

use crate::calling;
use crate::rank::Rank;
use crate::sys;
use crate::waiting;
use commsan_mpi::Args;
use commsan_mpi_calls::Effect;
use commsan_threads::Here;
use std::ffi::c_int;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// The program has made an error handler.
static HANDLES: AtomicBool = AtomicBool::new(false);

/// The program has set an error handler.
static ARE_RETURNED: AtomicBool = AtomicBool::new(false);

/// Whether errors may be returned: then it matters which requests have failed.
#[inline]
pub(crate) fn are_returned() -> bool {
    ARE_RETURNED.load(Relaxed)
}

/// A call that only leaves where it was made has returned.
#[inline]
pub(crate) fn noted(args: &Args, code: c_int) {
    if code == 0 && args.call.makes_handler {
        HANDLES.store(true, Relaxed);
    }
}

/// The program may ask what an error means, or change error handling.
#[inline]
pub(crate) fn called(rank: &dyn Rank, args: &Args, here: &Here) {
    if args.call.sets_handler {
        ARE_RETURNED.store(true, Relaxed);
    } else if args.call.explains_errors && args.int(0) != 0 {
        rank.with(here.thread, &mut |tracker, _| tracker.refused.forget());
    }
}

/// A call has returned an error.
#[cold]
pub(crate) fn look(rank: &dyn Rank, args: &Args, here: &Here, code: c_int) {
    if HANDLES.load(Relaxed) || calling::is_reported(here.thread) || waiting::has_mismatch() {
        return;
    }
    let is_truncated = match class(code) {
        sys::MPI_ERR_IN_STATUS => has_truncated(args),
        class => class == sys::MPI_ERR_TRUNCATE,
    };
    if is_truncated {
        rank.with(here.thread, &mut |tracker, _| tracker.refused(args, here));
    }
}

fn class(code: c_int) -> c_int {
    let mut class = 0;
    // SAFETY: a code that the library has returned; stores an integer.
    unsafe { sys::PMPI_Error_class(code, &mut class) };
    class
}

/// Whether one of the statuses of a call says that a message was truncated.
fn has_truncated(args: &Args) -> bool {
    let statuses = args.call.named("statuses").map_or(0, |index| args.words[index]);
    let count = args.call.at.count.map_or(0, |index| args.int(index).max(0) as usize);
    if args.fortran || statuses == 0 || statuses == sys::MPI_STATUS_IGNORE as usize {
        return false;
    }
    let error = |at: usize| {
        // SAFETY: the call has set the errors of all statuses that it was given.
        unsafe { (*(statuses as *const sys::MPI_Status).add(at)).MPI_ERROR }
    };
    // Calls that complete some of them fill the first ones only, and say how many.
    let all = matches!(args.call.effect, Effect::WaitAll | Effect::TestAll);
    all && (0..count).any(|at| class(error(at)) == sys::MPI_ERR_TRUNCATE)
}
