//! Sessions (MPI 4.1 §11.3): MPI without `MPI_Init`.
//!
//! A process is followed from its first session or `MPI_Init` on, whichever comes first: until
//! `MPI_Finalize`, or where it never calls `MPI_Init`, until its last session ends. Before
//! `MPI_Init` there is no `MPI_COMM_WORLD`, and ranks are numbered by the process set
//! `mpi://WORLD`. Not followed are sessions that begin after all earlier ones have ended, and
//! thread levels of sessions.

use crate::handles::{handle, handle_at, session_from_fortran};
use crate::phase::{self, are_alone};
use crate::rank::Rank;
use crate::sys;
use commsan_mpi::Args;
use commsan_mpi_calls::Effect;
use commsan_threads::Here;

/// Whether a call ends everything that is followed.
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

/// A call has made a session.
#[cold]
pub(crate) fn follow(rank: &dyn Rank, args: &Args, here: &Here) {
    phase::has_session();
    rank.look(here.thread, &mut |tracker, _| {
        let made = (args.call, tracker.reporter.site(args.call, here));
        phase::made(session(args), made);
    });
}

/// The session whose variable a call is given: the last argument of the call that makes it, the
/// first of the call that ends it.
pub(crate) fn session(args: &Args) -> usize {
    let variable = match args.call.effect {
        Effect::Session => args.words[2],
        _ => args.words[0],
    };
    // SAFETY: a variable of the program that the library has stored a handle in, or takes one from.
    unsafe { handle_at::<sys::MPI_Session>(variable, args.fortran, session_from_fortran) }
}

/// All processes, as a group that the caller frees.
fn everybody(session: usize) -> Option<sys::MPI_Group> {
    let mut group = std::mem::MaybeUninit::uninit();
    // SAFETY: a live session; its error handler is not called, since this process set always
    // exists.
    unsafe {
        let session = handle::<sys::MPI_Session>(session);
        let code =
            sys::PMPI_Group_from_session_pset(session, c"mpi://WORLD".as_ptr(), group.as_mut_ptr());
        (code == 0).then(|| group.assume_init())
    }
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
