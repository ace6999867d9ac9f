//! Other jobs that this one meets: by spawning them, being spawned, or over a port.

use super::events;
use crate::groups;
use crate::handles::{comm_from_fortran, handle_at};
use crate::rank::{Rank, mode};
use crate::sys;
use commsan_counters::ticks;
use commsan_mpi::Args;
use commsan_rundir::traffic::{Link, Tie};
use commsan_threads::Here;

/// MPI is initialised: another job may have spawned this one.
pub(crate) fn begin(rank: &dyn Rank, here: &Here) {
    if !mode().counts() {
        return;
    }
    rank.count(here.thread, &mut |traffic, _| events::begin(traffic));
    let now = ticks();
    met(rank, here, groups::parent(), Tie::Parent, (now, now));
}

/// By which call another job is met.
pub(super) fn tie(call: &str) -> Option<Tie> {
    match call {
        "MPI_Comm_spawn" | "MPI_Comm_spawn_multiple" => Some(Tie::Child),
        "MPI_Comm_accept" => Some(Tie::Client),
        "MPI_Comm_connect" => Some(Tie::Server),
        _ => None,
    }
}

/// The call has made an intercommunicator with another job.
#[cold]
pub(super) fn made(rank: &dyn Rank, here: &Here, args: &Args, tie: Tie, times: (u64, u64)) {
    let at = args.call.named("comm_out").map_or(0, |index| args.words[index]);
    // SAFETY: the call has stored a handle there.
    let comm = unsafe { handle_at::<sys::MPI_Comm>(at, args.fortran, comm_from_fortran) };
    met(rank, here, comm, tie, times);
}

#[cold]
fn met(rank: &dyn Rank, here: &Here, comm: usize, tie: Tie, times: (u64, u64)) {
    let Some((own, others)) = groups::meet(comm) else { return };
    rank.count(here.thread, &mut |traffic, _| {
        let span = (traffic.time_of(times.0), traffic.time_of(times.1));
        traffic.add_link(Link { tie, own: own.clone(), others, span });
    });
}
