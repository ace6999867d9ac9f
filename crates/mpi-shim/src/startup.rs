//! Start of MPI: `MPI_Init`, a first session, or `MPI_Init` after it; all checks begin here.

use crate::arguments;
use crate::calling;
use crate::collectives;
use crate::crash;
use crate::ending;
use crate::levels;
use crate::library::{comm_self, comm_world, version, world};
use crate::node;
use crate::outside;
use crate::phase;
use crate::rank::{Rank, Shared, World};
use crate::sessions;
use crate::steps;
use crate::sys;
use crate::waiting;
use crate::word::Word;
use commsan_mpi::Args;
use commsan_process::modules;
use commsan_threads::Here;

/// MPI has been initialised.
#[cold]
pub(crate) fn begin(rank: &'static dyn Rank, args: &Args, here: &Here) {
    begin_world(rank, here);
    if rank.checks() {
        levels::begin(rank, args, here);
    }
}

/// OpenSHMEM has been initialised, and MPI with it, whose thread level the program has not asked
/// for.
#[cold]
pub(crate) fn begin_by_shmem(rank: &'static dyn Rank, args: &Args, here: &Here) {
    begin_world(rank, here);
    if rank.checks() {
        rank.with(here.thread, &mut |tracker, _| {
            tracker.began(args.call, here);
        });
        waiting::follow_threads();
    }
}

/// There is `MPI_COMM_WORLD` now.
fn begin_world(rank: &'static dyn Rank, here: &Here) {
    let world = world();
    let size = world.size as usize;
    if !rank.checks() {
        return rank.begin(here.thread, world, Shared::Unneeded);
    }
    arguments::begin(world.size);
    calling::begin();
    crash::begin();
    ending::begin();
    outside::begin();
    commsan_threads::ignore_locks_in(modules::communication_data());
    let (me, own) = (world.rank, comm_self().word());
    let shared = node::share(rank, me as usize, size);
    collectives::begin(&shared);
    rank.begin(here.thread, world, shared);
    steps::begin();
    rank.with(here.thread, &mut |tracker, _| {
        tracker.together.name_world(comm_world().word(), size, (own, me));
    });
}

/// MPI has been initialised in a process that has sessions, and is followed since.
#[cold]
pub(crate) fn join(rank: &dyn Rank, args: &Args, here: &Here) {
    phase::has_world();
    let world = world();
    arguments::begin(world.size);
    ending::begin();
    let (size, own) = (world.size as usize, comm_self().word());
    rank.with(here.thread, &mut |tracker, _| {
        tracker.together.name_world(comm_world().word(), size, (own, world.rank));
    });
    levels::begin(rank, args, here);
}

/// A call has made a session while nothing was followed.
#[cold]
pub(crate) fn session_made(rank: &'static dyn Rank, args: &Args, here: &Here) {
    if !phase::were_made() && !is_initialised() {
        begin_alone(rank, args, here);
    }
    sessions::follow(rank, args, here);
}

/// There is something to follow now: a first session.
fn begin_alone(rank: &'static dyn Rank, args: &Args, here: &Here) {
    let Some((me, size)) = sessions::world(sessions::session(args)) else { return };
    let world = World { rank: me, size, library: version(), owns_log: false };
    phase::has_no_world();
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
        tracker.together.name_process(me);
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
