//! The phase of the process: which sessions (MPI 4.1 §11.3) exist, and whether there is
//! `MPI_COMM_WORLD`.

use commsan_callsite::Site;
use commsan_mpi_calls::Call;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The sessions that have not ended, and where they were made.
static LIVE: Mutex<Vec<Session>> = Mutex::new(Vec::new());
/// Some session was made.
static MADE: AtomicBool = AtomicBool::new(false);
/// Only sessions exist: `MPI_Init` was not called.
static ALONE: AtomicBool = AtomicBool::new(false);

/// A session, and what has made it.
struct Session {
    handle: usize,
    made: (&'static Call, Site),
}

fn live() -> MutexGuard<'static, Vec<Session>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// There is a session from now on.
pub(crate) fn has_session() {
    MADE.store(true, Relaxed);
}

/// A session was made here.
pub(crate) fn made(handle: usize, made: (&'static Call, Site)) {
    live().push(Session { handle, made });
}

/// A session has ended, or is about to.
pub(crate) fn ended(handle: usize) {
    live().retain(|session| session.handle != handle);
}

/// Whether no other session is left.
pub(crate) fn is_last(handle: usize) -> bool {
    live().iter().all(|session| session.handle == handle)
}

/// The session that was made last.
pub(crate) fn latest() -> Option<usize> {
    live().last().map(|session| session.handle)
}

/// There is nothing but sessions.
pub(crate) fn has_no_world() {
    ALONE.store(true, Relaxed);
}

/// Whether there is a session.
pub(crate) fn are_live() -> bool {
    were_made() && !live().is_empty()
}

/// Whether there ever was a session.
pub(crate) fn were_made() -> bool {
    MADE.load(Relaxed)
}

/// Whether there is no `MPI_COMM_WORLD`, though something of MPI is followed.
#[inline]
pub(crate) fn are_alone() -> bool {
    ALONE.load(Relaxed)
}

/// The calls that made the sessions that have not ended.
pub(crate) fn left() -> Vec<(&'static Call, Site)> {
    live().iter().map(|session| session.made).collect()
}

/// `MPI_Init` has been called besides.
pub(crate) fn has_world() {
    ALONE.store(false, Relaxed);
}
