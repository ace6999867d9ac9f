//! Calls that return an error, or within which the library ends the program: what
//! `commsan_mpi` needs to know of them.
//!
//! **Soundness.** A message that is too long is a mistake of the program (MPI 4.1 §3.2.4), and its
//! data is partly lost; one that makes communicators until there is room for no more never frees
//! them. Other errors that are returned prove nothing: programs use them to find out what a library
//! can do, and whether they check the returned code cannot be seen; arguments that the standard
//! forbids are reported before the call (`arguments.rs`). Where the program has error handlers of
//! its own, nothing is reported of what is returned.

use crate::calling;
use crate::library::{Mpi, envelope, received};
use crate::outcome::{self, Tokens};
use crate::rank::Rank;
use crate::sys;
use crate::waiting;
use commsan_mpi::{Args, Failure, Token};
use commsan_mpi_calls::{Call, Effect};
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
pub(crate) fn noted(rank: &dyn Rank, args: &Args, here: &Here, code: c_int) {
    if code == 0 && args.call.makes_handler && !HANDLES.swap(true, Relaxed) {
        rank.with(here.thread, &mut |tracker, out| tracker.handles_errors(out));
    }
}

/// The program may ask what an error means, or change error handling.
#[inline]
pub(crate) fn called(rank: &dyn Rank, args: &Args, here: &Here) {
    if args.call.sets_handler {
        ARE_RETURNED.store(true, Relaxed);
    } else if args.call.explains_errors && args.int(0) != 0 {
        rank.with(here.thread, &mut |tracker, out| tracker.handles_errors(out));
    }
}

/// The program is about to end the job because of an error.
#[cold]
pub(crate) fn aborts(rank: &dyn Rank, here: &Here) {
    rank.with(here.thread, &mut |tracker, out| tracker.handles_errors(out));
}

/// A call has returned an error; it was given these requests.
#[cold]
pub(crate) fn look(rank: &dyn Rank, args: &Args, here: &Here, code: c_int, tokens: &[Token]) {
    if HANDLES.load(Relaxed) || calling::is_reported(here.thread) || waiting::has_mismatch() {
        return;
    }
    let class = class(code);
    let is_of_several = class == sys::MPI_ERR_IN_STATUS;
    let nth = if is_of_several { truncated_one(args) } else { None };
    if is_of_several && nth.is_none() {
        return;
    }
    let status = match (args.call.at.status, nth) {
        (Some(status), _) => args.words[status],
        (None, Some((_, status))) => status,
        (None, None) => 0,
    };
    let class = if is_of_several { sys::MPI_ERR_TRUNCATE } else { class };
    let is_truncated = class == sys::MPI_ERR_TRUNCATE;
    let tokens = match nth {
        Some((nth, _)) => tokens.get(nth..=nth).unwrap_or_default(),
        None => tokens,
    };
    // SAFETY: the call has filled its statuses, if it is given some.
    let message = unsafe { envelope(status) }.filter(|(source, _)| is_truncated && *source >= 0);
    // SAFETY: as above. Open MPI says how long the message was.
    let bytes = || unsafe { received(status, sys::MPI_BYTE()) };
    let bytes = message.filter(|_| cfg!(feature = "openmpi")).and_then(|_| bytes());
    let bytes = bytes.and_then(|bytes| u64::try_from(bytes).ok());
    let failure = Failure { class: name_of(class), tokens, message, bytes };
    rank.with(here.thread, &mut |tracker, out| {
        tracker.refused(args, &failure, here, &Mpi, out);
    });
}

/// The library ends the program within a call, with this exit status if that is known.
#[cold]
pub(crate) fn ends(rank: &dyn Rank, args: &Args, here: &Here, status: Option<c_int>) {
    // MPICH's codes have the class in their lowest bits.
    const CLASS: c_int = 0x7f;
    let class = status.filter(|status| *status > 0).and_then(|status| {
        name_of(if cfg!(feature = "openmpi") { status } else { status & CLASS })
    });
    let tokens = match completes(args.call) {
        true => outcome::tokens(args, rank.now()),
        false => Tokens::new(),
    };
    let failure = Failure { class, tokens: &tokens, ..Failure::default() };
    rank.look(here.thread, &mut |tracker, out| {
        tracker.failed(args, &failure, here, &Mpi, out);
    });
}

/// Whether the call is given requests to complete.
fn completes(call: &Call) -> bool {
    use Effect::*;
    matches!(call.effect, Wait | WaitAll | WaitAny | Some | Test | TestAll | TestAny)
}

/// The name of an error class, by its distance from the one whose number is known.
fn name_of(class: c_int) -> Option<&'static str> {
    /// Classes 1 to 6, which have these numbers in all families of MPI libraries.
    const FIRST: [&str; 6] = [
        "MPI_ERR_BUFFER",
        "MPI_ERR_COUNT",
        "MPI_ERR_TYPE",
        "MPI_ERR_TAG",
        "MPI_ERR_COMM",
        "MPI_ERR_RANK",
    ];
    /// Consecutive classes: their numbers differ between families of MPI libraries, their order
    /// does not, and the number of `MPI_ERR_TRUNCATE` is known.
    const AROUND: [&str; 10] = [
        "MPI_ERR_ROOT",
        "MPI_ERR_GROUP",
        "MPI_ERR_OP",
        "MPI_ERR_TOPOLOGY",
        "MPI_ERR_DIMS",
        "MPI_ERR_ARG",
        "MPI_ERR_UNKNOWN",
        "MPI_ERR_TRUNCATE",
        "MPI_ERR_OTHER",
        "MPI_ERR_INTERN",
    ];
    let nth = |from: c_int| usize::try_from(class - from).ok();
    let first = nth(1).and_then(|nth| FIRST.get(nth));
    let around = || nth(sys::MPI_ERR_TRUNCATE - 7).and_then(|nth| AROUND.get(nth));
    first.or_else(around).copied()
}

fn class(code: c_int) -> c_int {
    let mut class = 0;
    // SAFETY: a code that the library has returned; stores an integer.
    unsafe { sys::PMPI_Error_class(code, &mut class) };
    class
}

/// The first of the statuses of a call that says that a message was truncated: which, and where.
fn truncated_one(args: &Args) -> Option<(usize, usize)> {
    let statuses = args.call.named("statuses").map_or(0, |index| args.words[index]);
    let count = args.call.at.count.map_or(0, |index| args.int(index).max(0) as usize);
    if args.fortran || statuses == 0 || statuses == sys::MPI_STATUS_IGNORE as usize {
        return None;
    }
    let status = |at: usize| statuses + at * size_of::<sys::MPI_Status>();
    // SAFETY: the call has set the errors of all statuses that it was given.
    let error = |at: usize| unsafe { (*(status(at) as *const sys::MPI_Status)).MPI_ERROR };
    // Calls that complete some of them fill the first ones only, and say how many.
    let all = matches!(args.call.effect, Effect::WaitAll | Effect::TestAll);
    let mut truncated = (0..count).filter(|at| class(error(*at)) == sys::MPI_ERR_TRUNCATE);
    truncated.next().filter(|_| all).map(|at| (at, status(at)))
}
