//! What others may wait for: which calls `commsan_mpi` follows for it, and where it must stop.

use crate::levels;
use crate::library::Mpi;
use crate::outcome::After;
use crate::rank::Rank;
use commsan_mpi::{Args, Did, Tracker};
use commsan_mpi_calls::{Call, Effect};
use commsan_threads::Here;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU32};

/// Steps are asked for.
static ARE_OPEN: AtomicBool = AtomicBool::new(false);

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
}

/// One of several threads calls: what was done by another one is worth nothing then.
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

/// A call has failed: who knows what it has done.
#[cold]
pub(crate) fn failed(tracker: &mut Tracker) {
    tracker.steps.end();
    remember(tracker);
}

impl After<'_> {
    /// The call has started what this request stands for, has waited for these, or has done all it does.
    #[inline]
    pub(crate) fn steps(&self, did: Did) {
        if ARE_OPEN.load(Relaxed) {
            self.step(did);
        }
    }

    #[cold]
    fn step(&self, did: Did) {
        self.with(|tracker, out| {
            if !self.ok || depends_on_time(self.args.call, did) {
                tracker.steps.end();
            } else if !is_caller(self.here) {
                tracker.steps.give_up();
            } else if may_be_elsewhere(self.here) {
                tracker.steps.end();
            } else if did_matter(self.args.call, did) {
                tracker.step::<Mpi>(self.args, did, self.here, out);
            }
            remember(tracker);
        });
    }
}

/// In a team, another thread might as well have come here, and goes on while this one waits: tasks, sections and `single`
/// are carried out by whichever is free. Not where one thread alone may call.
fn may_be_elsewhere(here: &Here) -> bool {
    commsan_threads::is_in_team() && !levels::is_only(here.thread)
}

/// What the program does next may depend on how far others are; or the call does what is not followed.
fn depends_on_time(call: &Call, did: Did) -> bool {
    use Effect::*;
    let waits_for_any = matches!(did, Did::Wait(requests) if requests.len() != 1);
    match call.effect {
        Test | TestAll | TestAny | GetStatus | Cancel | Parrived => true,
        Pready | PreadyRange | PreadyList | InitPartitioned | Window => true,
        WaitAny | Some => waits_for_any || !call.waits,
        Block => call.at.message.is_some() || call.at.flag.is_some() && call.probes(),
        _ => false,
    }
}

fn did_matter(call: &Call, did: Did) -> bool {
    use Effect::*;
    match did {
        Did::Wait(requests) => {
            !requests.is_empty() && matches!(call.effect, Wait | WaitAll | WaitAny | Some)
        }
        Did::Block | Did::Start(_) => true,
    }
}
