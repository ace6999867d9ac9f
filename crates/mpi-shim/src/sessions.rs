//! Sessions (MPI 4.1 §11.3): MPI without `MPI_Init`.
//!
//! A process is followed from its first session or `MPI_Init` on, whichever comes first: until `MPI_Finalize`, or where
//! it never calls `MPI_Init`, until its last session ends. In the meantime who is who follows from the process set
//! `mpi://WORLD`, as there is no `MPI_COMM_WORLD`. Not followed are sessions that begin after all earlier ones
//! have ended, and thread levels of sessions.

use crate::arguments;
use crate::calling;
use crate::collectives;
use crate::crash;
use crate::ending;
use crate::entry::Word;
use crate::library::{handle_at, version};
use crate::node;
use crate::outside;
use crate::rank::{Rank, Shared, World};
use crate::steps;
use crate::sys;
use crate::waiting;
use commsan_mpi::Args;
use commsan_mpi_calls::{Call, Effect};
use commsan_place::Site;
use commsan_sense::modules;
use commsan_threads::Here;
use std::ffi::c_int;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The sessions that have not ended, and where they were made.
static LIVE: Mutex<Vec<Session>> = Mutex::new(Vec::new());
/// There was one.
static MADE: AtomicBool = AtomicBool::new(false);
/// There is nothing but sessions: `MPI_Init` was not called.
static ALONE: AtomicBool = AtomicBool::new(false);

/// A session, and what has made it.
struct Session {
    handle: usize,
    made: (&'static Call, Site),
}

fn live() -> MutexGuard<'static, Vec<Session>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether there is a session.
pub(crate) fn are_live() -> bool {
    were_made() && !live().is_empty()
}

/// Whether there ever was one.
pub(crate) fn were_made() -> bool {
    MADE.load(Relaxed)
}

/// Whether there is no `MPI_COMM_WORLD`, though something of MPI is followed.
#[inline]
pub(crate) fn are_alone() -> bool {
    ALONE.load(Relaxed)
}

/// What has made the sessions that have not ended.
pub(crate) fn left() -> Vec<(&'static Call, Site)> {
    live().iter().map(|session| session.made).collect()
}

/// Whether a call ends all that is followed.
pub(crate) fn ends_all(args: &Args) -> bool {
    match args.call.effect {
        Effect::Finalize => true,
        Effect::SessionEnd => are_alone() && live().iter().all(|last| last.handle == session(args)),
        _ => false,
    }
}

/// A call is about to be made that may end a session.
pub(crate) fn ends(args: &Args) {
    if args.call.effect != Effect::SessionEnd {
        return;
    }
    let ended = session(args);
    live().retain(|session| session.handle != ended);
}

/// A call has made one while nothing was followed.
#[cold]
pub(crate) fn made(rank: &'static dyn Rank, args: &Args, here: &Here) {
    if !were_made() && !is_initialised() {
        begin(rank, args, here);
    }
    follow(rank, args, here);
}

/// A call has made one.
#[cold]
pub(crate) fn follow(rank: &dyn Rank, args: &Args, here: &Here) {
    MADE.store(true, Relaxed);
    rank.look(here.thread, &mut |tracker, _| {
        let made = (args.call, tracker.site_of(args.call, here));
        live().push(Session { handle: session(args), made });
    });
}

/// `MPI_Init` has been called besides.
pub(crate) fn has_world() {
    ALONE.store(false, Relaxed);
}

/// There is something to follow now.
fn begin(rank: &'static dyn Rank, args: &Args, here: &Here) {
    let Some((me, size)) = world(session(args)) else { return };
    let world = World { rank: me, size, library: version() };
    ALONE.store(true, Relaxed);
    if !rank.checks() {
        return rank.begin(here.thread, world, Shared::Unneeded);
    }
    calling::begin();
    crash::begin();
    ending::has_no_attributes();
    outside::begin();
    commsan_threads::ignore_locks_in(modules::communication_data());
    let shared = node::share(rank, me as usize, size as usize);
    collectives::begin(&shared);
    rank.begin(here.thread, world, shared);
    steps::begin();
    arguments::begin(size);
    rank.with(here.thread, &mut |tracker, _| {
        tracker.name_process(me);
        tracker.began(args.call, here);
    });
    waiting::follow_threads();
}

fn is_initialised() -> bool {
    let mut initialised = 0;
    // SAFETY: may be called at any time, and stores an integer.
    unsafe { sys::PMPI_Initialized(&mut initialised) };
    initialised != 0
}

/// The session whose variable a call is given: the last argument of that which makes it, the first of that which ends it.
fn session(args: &Args) -> usize {
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
    use crate::library::handle;
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
    let latest = live().last()?.handle;
    everybody(latest)
}

/// This process's rank among all, and how many they are.
fn world(session: usize) -> Option<(u32, u32)> {
    let (mut group, mut rank, mut size) = (everybody(session)?, -1, 0);
    // SAFETY: a group, which is freed after use.
    unsafe {
        sys::PMPI_Group_rank(group, &mut rank);
        sys::PMPI_Group_size(group, &mut size);
        sys::PMPI_Group_free(&mut group);
    }
    Some((rank.try_into().ok()?, size.try_into().ok()?))
}
