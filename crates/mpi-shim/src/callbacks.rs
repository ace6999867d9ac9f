//! Calls within callbacks. Functions by which attributes are copied and deleted are how libraries
//! clean up (MPI 4.1 §7.7.1): their calls are checked like any other. Those of reductions, error
//! handlers and generalised requests are not: they work on the library's behalf, on its buffers.

use crate::calling::Real;
use crate::waiting;
use crate::word::table;
use commsan_mpi_calls::Call;
use commsan_process::inside::outside;
use commsan_process::thread::{self, Thread};
use std::ffi::c_int;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

/// Whether the program has sent or received something in a call that was not looked at.
static UNSEEN: AtomicBool = AtomicBool::new(false);

/// Runs the library's function for a call.
#[inline]
pub(crate) fn during(of: &Call, thread: &Thread, call: Real) -> c_int {
    if !of.calls_back {
        return call();
    }
    let before = thread.calls_back.replace(true);
    let code = call();
    thread.calls_back.set(before);
    code
}

/// A call is made from within another one: whether to look at it, by [`like_any_other`].
#[cold]
pub(crate) fn count(row: usize) -> bool {
    let counts = thread::with(|thread| thread.calls_back.get());
    let at = &table()[row].at;
    if !counts && (at.dest.is_some() || at.source.is_some()) {
        UNSEEN.store(true, Relaxed);
    }
    counts
}

/// Whether some messages were not counted.
pub(crate) fn are_unseen() -> bool {
    UNSEEN.load(Relaxed)
}

/// Runs a call that a callback makes. The call that calls back does not wait for other ranks
/// meanwhile, and is not shown as waiting afterwards.
#[cold]
pub(crate) fn like_any_other(call: Real) -> c_int {
    let outer = thread::with(|thread| {
        waiting::over(thread);
        thread.calls_back.set(false);
        thread.outer.replace(None)
    });
    let code = outside(call);
    thread::with(|thread| {
        thread.calls_back.set(true);
        thread.outer.set(outer);
    });
    code
}
