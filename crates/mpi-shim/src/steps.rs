//! Steps for which other ranks may wait: which calls `commsan_mpi` follows, and where it must stop.

use crate::levels;
use crate::library::Mpi;
use crate::outcome::After;
use crate::rank::Rank;
use commsan_mpi::{Args, Token, Tracker};
use commsan_mpi_calls::{Call, Effect};
use commsan_threads::Here;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU32};

/// Steps are asked for.
static ARE_OPEN: AtomicBool = AtomicBool::new(false);

/// There is a request of a receive from any rank.
static HAS_OPEN_WILDCARDS: AtomicBool = AtomicBool::new(false);

/// It matters what the program finds out of a status.
static WATCHES_A_STATUS: AtomicBool = AtomicBool::new(false);

/// The thread that calls, if any has.
static CALLER: AtomicU32 = AtomicU32::new(NOBODY);

/// No thread's number.
const NOBODY: u32 = u32::MAX;
/// Several threads.
const SEVERAL: u32 = u32::MAX - 1;

/// MPI has been initialised.
pub(crate) fn begin() {
    ARE_OPEN.store(true, Relaxed);
}

fn remember(tracker: &Tracker) {
    ARE_OPEN.store(tracker.steps.are_open(), Relaxed);
    HAS_OPEN_WILDCARDS.store(tracker.steps.have_open_wildcards(), Relaxed);
    WATCHES_A_STATUS.store(tracker.accounts.watches_a_status(), Relaxed);
}

/// One of several threads calls: the steps are invalid if another one has called.
#[cold]
pub(crate) fn called_in_parallel(rank: &dyn Rank, args: &Args, here: &Here) {
    let at = &args.call.at;
    let matters = args.call.waits || args.call.enters || at.dest.is_some() || at.source.is_some();
    if matters && !is_caller(here) && CALLER.swap(SEVERAL, Relaxed) != SEVERAL {
        rank.with(here.thread, &mut |tracker, _| {
            tracker.steps.give_up();
            remember(tracker);
        });
    }
}

/// Whether no thread but this one calls.
fn is_caller(here: &Here) -> bool {
    let me = here.thread.number();
    CALLER.compare_exchange(NOBODY, me, Relaxed, Relaxed).map_or_else(|known| known == me, |_| true)
}

/// A call has failed: its effect is not known.
#[cold]
pub(crate) fn failed(tracker: &mut Tracker) {
    tracker.steps.end();
    remember(tracker);
}

/// Whether the library must return the statuses of requests, though the program ignores them.
#[inline]
pub(crate) fn needs_statuses() -> bool {
    HAS_OPEN_WILDCARDS.load(Relaxed)
}

/// A call that only leaves where it was made has returned, or one about a status.
#[inline]
pub(crate) fn noted(rank: &dyn Rank, args: &Args, here: &Here) {
    if WATCHES_A_STATUS.load(Relaxed) && counts_elements(args.call) {
        rank.with(here.thread, &mut |tracker, out| {
            tracker.looked(Some(&args.call.name), here, out);
        });
    }
}

/// Whether the program asks by this call how long a message is.
fn counts_elements(call: &Call) -> bool {
    ["MPI_Get_count", "MPI_Get_elements"].iter().any(|name| call.name.starts_with(name))
}

impl After<'_> {
    /// The call has started an operation with this request, or completed its operation.
    #[inline]
    pub(crate) fn steps(&self, request: Option<usize>) {
        if ARE_OPEN.load(Relaxed) {
            self.step(request);
        }
    }

    #[cold]
    fn step(&self, request: Option<usize>) {
        let call = self.args.call;
        let got = || {
            let status = call.at.status.filter(|_| request.is_none() && self.flag());
            self.got(status.map_or(0, |index| self.args.words[index]))
        };
        self.with(|tracker, out| {
            if self.follows(tracker) {
                if call.probes() && !self.flag() {
                    tracker.step_missed::<Mpi>(self.args, self.here, out);
                } else if !completes(call) {
                    let got = got().filter(|_| call.effect == Effect::Block);
                    tracker.step(self.args, request, got, self.here, &Mpi, out);
                }
            }
            remember(tracker);
        });
    }

    /// These requests are complete.
    #[inline]
    pub(crate) fn steps_done(&self, done: &[Token]) {
        if ARE_OPEN.load(Relaxed) {
            self.step_done(done);
        }
    }

    #[cold]
    fn step_done(&self, done: &[Token]) {
        self.with(|tracker, out| {
            if self.follows(tracker) {
                let got = |nth: usize| self.got(self.status_of(nth, done.len()));
                tracker.steps_done(self.args.call, done, &got, self.here, out);
            }
            remember(tracker);
        });
    }

    /// Whether the steps go on with this call.
    fn follows(&self, tracker: &mut Tracker) -> bool {
        if !is_caller(self.here) {
            tracker.steps.give_up();
        } else if !self.ok || may_be_elsewhere(self.here) || is_unknown(self.args.call) {
            tracker.steps.end();
        } else if depends_on_time(self.args) {
            tracker.steps.time_decides();
        }
        tracker.steps.are_open()
    }
}

/// In a team, another thread might as well have come here, and continue while this one waits:
/// tasks, sections and `single` are executed by any thread that is free. Not where only one thread
/// may call.
fn may_be_elsewhere(here: &Here) -> bool {
    commsan_threads::is_in_team() && !levels::is_only(here.thread)
}

/// Whether what the program does next may depend on the progress of other ranks.
fn depends_on_time(args: &Args) -> bool {
    use Effect::*;
    let call = args.call;
    match call.effect {
        Test | TestAll | TestAny => true,
        WaitAny | Some => !call.waits || call.at.count.is_none_or(|count| args.int(count) != 1),
        Block => call.at.flag.is_some() && call.probes(),
        _ => false,
    }
}

/// Whether the call completes requests, which is a step of its own.
fn completes(call: &Call) -> bool {
    use Effect::*;
    matches!(call.effect, Wait | WaitAll | WaitAny | Some | Test | TestAll | TestAny | SplitEnd)
}

/// Whether the call is not followed, though it matters to other ranks.
fn is_unknown(call: &Call) -> bool {
    use Effect::*;
    match call.effect {
        GetStatus | Cancel | Parrived | Window => true,
        Pready | PreadyRange | PreadyList | InitPartitioned | Enqueue => true,
        Block => call.at.message.is_some(),
        _ => false,
    }
}
