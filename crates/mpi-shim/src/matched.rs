//! Messages that `MPI_Mprobe` has found: `MPI_Mrecv` says neither on which communicator nor from whom (MPI 4.1 §3.8.2).

use crate::handles::{handle_at, message_from_fortran};
use crate::library::{Mpi, envelope};
use crate::outcome::{After, flag_of};
use crate::rank::Rank;
use crate::sys;
use commsan_mpi::{Args, Library};
use commsan_threads::Here;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// Where a message comes from.
#[derive(Clone, Copy)]
pub(crate) struct Found {
    /// The communicator.
    pub(crate) comm: usize,
    /// Source and tag, where the program has asked for them.
    pub(crate) envelope: Option<(i32, i32)>,
}

/// Messages that were found and not received yet, by their handles.
static FOUND: LazyLock<Mutex<HashMap<usize, Found>>> = LazyLock::new(Mutex::default);

/// The call has returned: it may have found a message.
pub(crate) fn probed(args: &Args) {
    let at = &args.call.at;
    let (Some(comm), true) = (at.comm, flag_of(args)) else { return };
    let Some(message) = handle(args) else { return };
    let status = at.status.map_or(0, |index| args.words[index]);
    // SAFETY: the call has filled its status, if it has one.
    let envelope = unsafe { envelope(status) };
    lock().insert(message, Found { comm: args.words[comm], envelope });
}

/// The message that the call is about to receive.
pub(crate) fn received(args: &Args) -> Option<Found> {
    if args.call.at.comm.is_some() {
        return None;
    }
    lock().remove(&handle(args)?)
}

/// A call is about to receive one.
#[inline]
pub(crate) fn called(rank: &dyn Rank, args: &Args, here: &Here) {
    let at = &args.call.at;
    if at.message.is_some() && at.comm.is_none() {
        let message = handle(args).unwrap_or(0);
        rank.with(here.thread, &mut |tracker, _| tracker.accounts.receives_message(message));
    }
}

impl After<'_> {
    /// The call has looked for a message that only one other can receive.
    pub(crate) fn matched(&self) {
        let at = &self.args.call.at;
        let (Some(comm), Some(source)) = (at.comm, at.source) else { return };
        if self.args.int(source) == Mpi::PROC_NULL {
            return;
        }
        let (comm, message) = (self.args.words[comm], handle(self.args).unwrap_or(0));
        self.with(|tracker, _| {
            tracker.looks_for_message(comm);
            if self.flag() {
                tracker.found_message(self.args, message, self.here, &Mpi);
            }
        });
    }
}

fn handle(args: &Args) -> Option<usize> {
    let message = args.words[args.call.at.message?];
    // SAFETY: an argument that points to the handle of a message.
    Some(unsafe { handle_at::<sys::MPI_Message>(message, args.fortran, message_from_fortran) })
}

fn lock() -> MutexGuard<'static, HashMap<usize, Found>> {
    FOUND.lock().unwrap_or_else(PoisonError::into_inner)
}
