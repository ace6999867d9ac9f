//! Sessions (MPI 4.1 §11.3): MPI without `MPI_Init`.
//!
//! A process is followed from its first session or `MPI_Init` on, whichever comes first: until `MPI_Finalize`, or where
//! it never calls `MPI_Init`, until its last session ends. In the meantime who is who follows from the process set
//! `mpi://WORLD`, as there is no `MPI_COMM_WORLD`. Not followed are sessions that begin after all earlier ones
//! have ended, and thread levels of sessions.

use crate::handles::handle_at;
use crate::phase::{self, are_alone};
use crate::rank::Rank;
use crate::sys;
use crate::word::Word;
use commsan_mpi::Args;
use commsan_mpi_calls::Effect;
use commsan_threads::Here;
use std::ffi::c_int;

/// Whether a call ends all that is followed.
pub(crate) fn ends_all(args: &Args) -> bool {
    match args.call.effect {
        Effect::Finalize => true,
        Effect::SessionEnd => are_alone() && phase::is_last(session(args)),
        _ => false,
    }
}

/// A call is about to be made that may end a session.
pub(crate) fn ends(args: &Args) {
    if args.call.effect != Effect::SessionEnd {
        return;
    }
    phase::ended(session(args));
}

/// A call has made one.
#[cold]
pub(crate) fn follow(rank: &dyn Rank, args: &Args, here: &Here) {
    phase::has_session();
    rank.look(here.thread, &mut |tracker, _| {
        let made = (args.call, tracker.reporter.site(args.call, here));
        phase::made(session(args), made);
    });
}

/// The session whose variable a call is given: the last argument of that which makes it, the first of that which ends it.
pub(crate) fn session(args: &Args) -> usize {
    let variable = match args.call.effect {
        Effect::Session => args.words[2],
        _ => args.words[0],
    };
    // SAFETY: a variable of the program that the library has stored a handle in, or takes one from.
    unsafe { handle_at::<Handle>(variable, args.fortran, from_fortran) }
}

#[cfg(has_sessions)]
type Handle = sys::MPI_Session;
#[cfg(not(has_sessions))]
type Handle = *const c_int;

#[cfg(all(has_sessions, feature = "openmpi"))]
fn from_fortran(session: c_int) -> usize {
    // SAFETY: a conversion; unknown integers give a null handle.
    unsafe { sys::PMPI_Session_f2c(session).word() }
}

// MPICH's handles are the same integers in both languages.
#[cfg(not(all(has_sessions, feature = "openmpi")))]
fn from_fortran(session: c_int) -> usize {
    session.word()
}

/// All processes, as a group that the caller frees.
#[cfg(has_sessions)]
fn everybody(session: usize) -> Option<sys::MPI_Group> {
    use crate::handles::handle;
    let mut group = std::mem::MaybeUninit::uninit();
    // SAFETY: a live session; its error handler does not come to pass, as this set of processes always exists.
    unsafe {
        let session = handle::<sys::MPI_Session>(session);
        let code =
            sys::PMPI_Group_from_session_pset(session, c"mpi://WORLD".as_ptr(), group.as_mut_ptr());
        (code == 0).then(|| group.assume_init())
    }
}

#[cfg(not(has_sessions))]
fn everybody(_: usize) -> Option<sys::MPI_Group> {
    None
}

/// All processes, by the session that was made last.
pub(crate) fn group() -> Option<sys::MPI_Group> {
    everybody(phase::latest()?)
}

/// This process's rank among all, and how many they are.
pub(crate) fn world(session: usize) -> Option<(u32, u32)> {
    let (mut group, mut rank, mut size) = (everybody(session)?, -1, 0);
    // SAFETY: a group, which is freed after use.
    unsafe {
        sys::PMPI_Group_rank(group, &mut rank);
        sys::PMPI_Group_size(group, &mut size);
        sys::PMPI_Group_free(&mut group);
    }
    Some((rank.try_into().ok()?, size.try_into().ok()?))
}
