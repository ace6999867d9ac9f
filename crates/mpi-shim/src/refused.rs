//! Calls that return an error because of a mistake of the program's, with MPI_ERRORS_RETURN.
//!
//! **Soundness.** The classes below say that the call was wrong (MPI 4.1 §9.4), whatever else the library makes of it; not
//! among them is what a program may come across or find out by trying: files that are not there, names that nobody has published,
//! what is not supported, and types of a size that no type has. Completing a request returns the operation's own error,
//! which for a generalized request is the program's: there a truncated message alone counts. Where the program has error
//! handlers of its own, nothing is said.

use crate::calling;
use crate::library::Mpi;
use crate::rank::Rank;
use crate::sys;
use crate::waiting;
use commsan_mpi::{Args, Effect, Library};
use commsan_threads::Here;
use std::ffi::c_int;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// The program has an error handler.
static HANDLES: AtomicBool = AtomicBool::new(false);

/// The program has named an error handler.
static ARE_RETURNED: AtomicBool = AtomicBool::new(false);

/// Whether errors may be returned: then it matters which requests have failed.
#[inline]
pub(crate) fn are_returned() -> bool {
    ARE_RETURNED.load(Relaxed)
}

/// A call that only leaves where it was made has returned.
#[inline]
pub(crate) fn noted(rank: &dyn Rank, args: &Args, here: &Here, code: c_int) {
    if code != 0 {
        look(rank, args, here, code);
    } else if args.call.makes_handler {
        HANDLES.store(true, Relaxed);
    }
}

/// The program may ask what an error means, or say what is to be done about them.
#[inline]
pub(crate) fn called(rank: &dyn Rank, args: &Args, here: &Here) {
    if args.call.sets_handler {
        ARE_RETURNED.store(true, Relaxed);
    } else if args.call.explains_errors && args.int(0) != 0 {
        rank.with(here.thread, &mut |tracker, _| tracker.asks_about_errors());
    }
}

/// A call has returned an error.
#[cold]
pub(crate) fn look(rank: &dyn Rank, args: &Args, here: &Here, code: c_int) {
    if HANDLES.load(Relaxed)
        || calling::is_told(here.thread)
        || waiting::has_mismatch()
        || tries(args)
    {
        return;
    }
    let class = match class(code) {
        sys::COMMSAN_ERR_IN_STATUS => in_statuses(args),
        class => name(class),
    };
    let completes = args.call.at.requests.is_some() || args.call.at.request.is_some();
    let counts = |class: &&str| {
        !completes
            || *class == TRUNCATED
            || matches!(args.call.effect, Effect::Start | Effect::Init)
    };
    if let Some(class) = class.filter(counts) {
        rank.with(here.thread, &mut |tracker, _| tracker.refused(args, class, here));
    }
}

/// Whether the program may find out something by calling it, or nothing is to be done.
fn tries(args: &Args) -> bool {
    let name = &*args.call.name;
    let is_nowhere = args.call.at.peer.is_some_and(|peer| args.int(peer) == Mpi::PROC_NULL);
    is_nowhere
        || matches!(args.call.effect, Effect::Window | Effect::Finalize)
        || name.starts_with("MPI_Type_create_f90")
        || name == "MPI_Type_match_size"
}

fn class(code: c_int) -> c_int {
    let mut class = 0;
    // SAFETY: a code that the library has returned; stores an integer.
    unsafe { sys::PMPI_Error_class(code, &mut class) };
    class
}

/// The first error of one of several requests, of which at most as many are looked at as the call has.
fn in_statuses(args: &Args) -> Option<&'static str> {
    let statuses = args.words[args.call.named("statuses")?];
    let count = args.call.at.count.map_or(0, |index| args.int(index).max(0) as usize);
    if args.fortran || statuses == 0 || statuses == sys::COMMSAN_STATUS_IGNORE as usize {
        return None;
    }
    let error = |at: usize| {
        // SAFETY: the call has set the errors of all statuses that it was given.
        unsafe { (*(statuses as *const sys::MPI_Status).add(at)).MPI_ERROR }
    };
    // Calls that complete some of them fill the first ones only, and say how many.
    let all = matches!(args.call.effect, Effect::WaitAll | Effect::TestAll);
    (0..count).filter(|_| all).find_map(|at| name(class(error(at))))
}

const TRUNCATED: &str = "MPI_ERR_TRUNCATE";

/// The name of a class that only a mistake leads to.
fn name(class: c_int) -> Option<&'static str> {
    Some(match class {
        sys::COMMSAN_ERR_TRUNCATE => TRUNCATED,
        sys::COMMSAN_ERR_BUFFER => "MPI_ERR_BUFFER",
        sys::COMMSAN_ERR_COUNT => "MPI_ERR_COUNT",
        sys::COMMSAN_ERR_TYPE => "MPI_ERR_TYPE",
        sys::COMMSAN_ERR_TAG => "MPI_ERR_TAG",
        sys::COMMSAN_ERR_COMM => "MPI_ERR_COMM",
        sys::COMMSAN_ERR_RANK => "MPI_ERR_RANK",
        sys::COMMSAN_ERR_REQUEST => "MPI_ERR_REQUEST",
        sys::COMMSAN_ERR_ROOT => "MPI_ERR_ROOT",
        sys::COMMSAN_ERR_GROUP => "MPI_ERR_GROUP",
        sys::COMMSAN_ERR_OP => "MPI_ERR_OP",
        sys::COMMSAN_ERR_TOPOLOGY => "MPI_ERR_TOPOLOGY",
        sys::COMMSAN_ERR_DIMS => "MPI_ERR_DIMS",
        sys::COMMSAN_ERR_ARG => "MPI_ERR_ARG",
        sys::COMMSAN_ERR_KEYVAL => "MPI_ERR_KEYVAL",
        sys::COMMSAN_ERR_WIN => "MPI_ERR_WIN",
        sys::COMMSAN_ERR_BASE => "MPI_ERR_BASE",
        sys::COMMSAN_ERR_SIZE => "MPI_ERR_SIZE",
        sys::COMMSAN_ERR_DISP => "MPI_ERR_DISP",
        sys::COMMSAN_ERR_LOCKTYPE => "MPI_ERR_LOCKTYPE",
        sys::COMMSAN_ERR_ASSERT => "MPI_ERR_ASSERT",
        sys::COMMSAN_ERR_RMA_CONFLICT => "MPI_ERR_RMA_CONFLICT",
        sys::COMMSAN_ERR_RMA_SYNC => "MPI_ERR_RMA_SYNC",
        sys::COMMSAN_ERR_RMA_RANGE => "MPI_ERR_RMA_RANGE",
        sys::COMMSAN_ERR_RMA_ATTACH => "MPI_ERR_RMA_ATTACH",
        sys::COMMSAN_ERR_AMODE => "MPI_ERR_AMODE",
        sys::COMMSAN_ERR_UNSUPPORTED_DATAREP => "MPI_ERR_UNSUPPORTED_DATAREP",
        _ => return None,
    })
}
