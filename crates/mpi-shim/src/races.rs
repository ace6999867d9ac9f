//! Message races: receives from any rank, and later ones that may miss a message because of them:
//! what `commsan_mpi` needs to know of calls.

use crate::files;
use crate::library::{Mpi, envelope};
use crate::order;
use crate::outcome::{After, arrived};
use crate::rank::Rank;
use crate::refused;
use crate::steps;
use crate::sys;
use commsan_callsite::Place;
use commsan_mpi::buffers::resolve;
use commsan_mpi::{Args, Got, Library, Standing, Token, Tracker};
use commsan_mpi_calls::{Call, Effect};
use commsan_process::memory;
use commsan_threads::Here;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicUsize};

/// There is a receive from any rank that might have got another message.
static ARE_POSSIBLE: AtomicBool = AtomicBool::new(false);

/// Such a receive is complete, and no other rank has been informed since.
static ARE_SECRET: AtomicBool = AtomicBool::new(false);

/// This program's receives are not followed.
static ARE_USELESS: AtomicBool = AtomicBool::new(false);

/// The communicator on which a message of any rank was probed last: only one is kept.
static PROBED: AtomicUsize = AtomicUsize::new(0);

fn remember(tracker: &Tracker) {
    let Standing { possible, secret, useless } = tracker.accounts.races_stand();
    ARE_POSSIBLE.store(possible, Relaxed);
    ARE_SECRET.store(secret, Relaxed);
    ARE_USELESS.store(useless, Relaxed);
}

/// A communicator is gone, and its handle may come to mean another.
pub(crate) fn freed() {
    PROBED.store(0, Relaxed);
}

/// Requests of one call for which statuses are obtained even if the program passes none.
pub(crate) const OWN_STATUSES: usize = 32;

/// Whether the library must return the statuses of requests, though the program ignores them.
#[inline]
pub(crate) fn needs_statuses(count: usize, statuses: usize) -> bool {
    (are_possible() || steps::needs_statuses() || files::are_read() || refused::are_returned())
        && statuses == sys::MPI_STATUS_IGNORE as usize
        && count <= OWN_STATUSES
}

#[inline]
pub(crate) fn are_possible() -> bool {
    ARE_POSSIBLE.load(Relaxed)
}

/// A call begins by which other ranks may find out what this one has received.
#[inline]
pub(crate) fn called(rank: &dyn Rank, args: &Args, here: &Here) {
    if ARE_SECRET.load(Relaxed) && informs(args.call) {
        rank.with(here.thread, &mut |tracker, _| {
            tracker.accounts.inform_others();
            remember(tracker);
        });
    }
}

/// Only synchronous senders find out that a receive has been posted, which the report takes into
/// account.
fn informs(call: &Call) -> bool {
    let sends = call.collective || call.at.dest.is_some();
    order::releases(call) && (sends || call.effect != Effect::Start)
}

impl After<'_> {
    /// A receive has returned, or been posted: then with this request.
    #[inline]
    pub(crate) fn races(&self, request: Option<usize>) {
        let source = self.args.call.at.source.map(|index| self.args.int(index));
        let matters = |source| source < 0 && source != Mpi::PROC_NULL || are_possible();
        if source.is_some_and(matters) && !ARE_USELESS.load(Relaxed) {
            self.look_for_races(request);
        }
    }

    #[cold]
    fn look_for_races(&self, request: Option<usize>) {
        let args = self.args;
        if args.call.probes() {
            let comm = args.call.at.comm.map_or(0, |index| args.words[index]);
            let anybody = args.call.at.source.is_some_and(|index| args.int(index) < 0);
            if anybody && PROBED.swap(comm, Relaxed) != comm {
                self.with(|tracker, _| {
                    tracker.probed_anybody(comm);
                    remember(tracker);
                });
            }
            return;
        }
        let status = args.call.at.status.map_or(0, |index| args.words[index]);
        self.with(|tracker, _| {
            let state = request.map_or_else(|| Ok(self.got(status)), Err);
            let words = if request.is_some() { args.words.into() } else { arrived(args) };
            let accesses = resolve(&Args { words: &words, ..*args }, &Mpi);
            tracker.receive::<Mpi>(args, accesses, state, &memory::read, self.here);
            remember(tracker);
        });
    }

    /// Requests are complete.
    #[cold]
    pub(crate) fn have_received(&self, done: &[Token]) {
        self.with(|tracker, _| {
            for (nth, token) in done.iter().enumerate() {
                tracker.has_received(
                    *token,
                    self.got(self.status_of(nth, done.len())),
                    &memory::read,
                );
            }
            remember(tracker);
        });
    }

    /// The status of one of so many requests that the call has completed; 0 if there is none.
    pub(crate) fn status_of(&self, nth: usize, done: usize) -> usize {
        let (args, at) = (self.args, &self.args.call.at);
        let all = args.call.named("statuses").filter(|_| !args.fortran);
        match (at.status, all) {
            (Some(one), _) if done == 1 => args.words[one],
            (None, Some(all)) if is_there(args.words[all]) => {
                args.words[all] + nth * size_of::<sys::MPI_Status>()
            }
            _ => 0,
        }
    }

    /// The source and tag in a status.
    pub(crate) fn got(&self, status: usize) -> Option<Got> {
        // SAFETY: the call has filled it, if it is one.
        let (source, tag) = unsafe { envelope(status) }?;
        let asked = !self.here.is_popped(status); // or it is one of the entry point's
        let status = asked.then(|| status..status + size_of::<sys::MPI_Status>());
        Some(Got { source, tag, status })
    }
}

fn is_there(statuses: usize) -> bool {
    statuses != 0 && statuses != sys::MPI_STATUS_IGNORE as usize
}
