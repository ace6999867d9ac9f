//! Calls of several threads, against the thread level that MPI provides.

use crate::collectives;
use crate::datatypes;
use crate::outcome::{self, After, Tokens};

use crate::library::{Mpi, comm_self, comm_world};
use crate::objects;
use crate::rank::Rank;
use crate::sys;
use crate::waiting;
use crate::word::Word;
use commsan_mpi::collective::communicators::On;
use commsan_mpi::{Args, Library, Sought, ThreadLevel};
use commsan_mpi_calls::{Effect, Object, Role};
use commsan_process::thread::Thread;
use commsan_threads::Here;
use smallvec::SmallVec;
use std::ffi::c_int;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32};

/// The number of the thread that has initialised MPI, if it alone may call; else [`ANY_THREAD`].
static ONLY: AtomicU32 = AtomicU32::new(ANY_THREAD);
const ANY_THREAD: u32 = u32::MAX;
/// Whether threads must not call at once.
static SERIALISED: AtomicU8 = AtomicU8::new(0);

/// Whether threads may call at once; so it is where sessions alone are in use, whose level is not
/// asked.
static MULTIPLE: AtomicBool = AtomicBool::new(true);

/// MPI has been initialised by this call.
pub(crate) fn begin(rank: &dyn Rank, args: &Args, here: &Here) {
    let required = args.call.named("required").map(|index| args.int(index));
    let required = required.map_or(Some(ThreadLevel::Single), level);
    let mut provided = 0;
    // SAFETY: MPI is initialised; the call stores an integer.
    unsafe { sys::PMPI_Query_thread(&mut provided) };
    let (Some(required), Some(provided)) = (required, level(provided)) else { return };
    rank.with(here.thread, &mut |tracker, _| {
        tracker.initialised(args.call, required, provided, here);
    });
    match provided <= ThreadLevel::Funneled {
        true => ONLY.store(here.thread.number(), Release),
        false => waiting::follow_threads(),
    }
    SERIALISED.store((provided == ThreadLevel::Serialized).into(), Release);
    MULTIPLE.store(provided == ThreadLevel::Multiple, Release);
}

/// Whether several threads may call at once.
pub(crate) fn may_be_several() -> bool {
    MULTIPLE.load(Relaxed)
}

fn level(number: c_int) -> Option<ThreadLevel> {
    Some(match number {
        sys::MPI_THREAD_SINGLE => ThreadLevel::Single,
        sys::MPI_THREAD_FUNNELED => ThreadLevel::Funneled,
        sys::MPI_THREAD_SERIALIZED => ThreadLevel::Serialized,
        sys::MPI_THREAD_MULTIPLE => ThreadLevel::Multiple,
        _ => return None,
    })
}

/// Whether another thread alone may call.
#[inline]
pub(crate) fn excludes(thread: &Thread) -> bool {
    let only = ONLY.load(Relaxed);
    only != ANY_THREAD && only != thread.number()
}

/// Whether no other thread may call.
#[inline]
pub(crate) fn is_only(thread: &Thread) -> bool {
    ONLY.load(Relaxed) == thread.number()
}

/// A thread calls that may not.
#[cold]
pub(crate) fn excluded(rank: &dyn Rank, args: &Args, here: &Here) {
    rank.with(here.thread, &mut |tracker, out| tracker.excluded(args.call, here, out));
}

/// A call by one of several threads.
pub(crate) struct Called {
    /// The requests that it completes.
    tokens: Tokens,
    /// The communicator, window or file that it is a collective of.
    on: Option<On>,
    /// Whether it was passed objects that may be freed.
    uses: bool,
}

/// One of several threads is about to call.
pub(crate) fn before(rank: &dyn Rank, args: &Args, here: &Here) -> Called {
    if SERIALISED.load(Acquire) != 0 {
        rank.with(here.thread, &mut |tracker, out| tracker.serialised(args.call, here, out));
    }
    if is_only(here.thread) && commsan_threads::is_in_team() {
        rank.with(here.thread, &mut |tracker, out| {
            tracker.called_in_region(args.call, here, out);
        });
    }
    let used = objects(args);
    let mut called =
        Called { tokens: Tokens::new(), on: collectives::subject(args), uses: !used.is_empty() };
    let is_last = objects::to_be_freed(args).is_none_or(|(kind, at)| !objects::is_shared(kind, at));
    let (freed, wanted) = (freed(args), wanted(args).filter(|_| !args.call.probes()));
    if called.uses || freed.is_some() || wanted.is_some() {
        rank.with(here.thread, &mut |tracker, out| {
            if let Some(object) = freed {
                tracker.frees_object(args.call, object, is_last, here, out);
            }
            if called.uses {
                tracker.uses_objects(args.call, &used, here);
            }
            if let Some(wanted) = wanted {
                tracker.receives(args.call, wanted, here, out);
            }
        });
    }
    if completes(args.call.effect) {
        called.tokens = outcome::tokens(args, rank.now());
        rank.with(here.thread, &mut |tracker, out| {
            tracker.completing(args.call, &called.tokens, here, out);
        });
    }
    called
}

/// MPI is about to be finalised.
pub(crate) fn finalize(rank: &dyn Rank, args: &Args, here: &Here) {
    rank.with(here.thread, &mut |tracker, out| {
        tracker.finalized_elsewhere(args.call, here, out);
    });
}

/// Objects that the program passes to a call and may free.
fn objects(args: &Args) -> SmallVec<[(Role, usize); 4]> {
    let mut objects = SmallVec::new();
    for (param, word) in args.call.params.iter().zip(args.words) {
        let may_be_freed = match param.role {
            Role::Comm => ![comm_world().word(), comm_self().word()].contains(word),
            Role::Datatype => *word != sys::MPI_DATATYPE_NULL() && !datatypes::is_predefined(*word),
            Role::Win | Role::Group => true,
            _ => false,
        };
        if may_be_freed && !objects.contains(&(param.role, *word)) {
            objects.push((param.role, *word));
        }
    }
    objects
}

/// The object that a call is about to free.
fn freed(args: &Args) -> Option<(Role, usize)> {
    let kind = match args.call.effect {
        Effect::CommFree => Role::Comm,
        Effect::TypeFree => Role::Datatype,
        Effect::WindowFree => Role::Win,
        _ if args.call.frees == Some(Object::Group) => {
            return Some((Role::Group, objects::at(Object::Group, args.words[0], args.fortran)));
        }
        _ => return None,
    };
    Some((kind, outcome::by_reference(args)))
}

/// The message that a call receives or probes for.
fn wanted(args: &Args) -> Option<Sought> {
    let at = &args.call.at;
    let (comm, source, tag) = (at.comm?, args.int(at.source?), args.int(at.received_tag?));
    (source != Mpi::PROC_NULL).then_some(Sought {
        comm: args.words[comm],
        source: (source != sys::MPI_ANY_SOURCE).then_some(source),
        tag: (tag != sys::MPI_ANY_TAG).then_some(tag),
    })
}

/// The call has returned: it may have found a message.
pub(crate) fn has_probed(rank: &dyn Rank, args: &Args, here: &Here) {
    let Some(mut found) = wanted(args).filter(|_| args.call.probes()) else { return };
    let after = After { rank, args, here, ok: true };
    if args.call.at.message.is_some() || !after.flag() {
        return;
    }
    if let Some((source, tag)) = after.status() {
        (found.source, found.tag) = (Some(source), Some(tag));
    }
    if found.source.is_some() && found.tag.is_some() {
        rank.with(here.thread, &mut |tracker, _| tracker.probed(args.call, found, here));
    }
}

/// The call has returned.
pub(crate) fn after(rank: &dyn Rank, here: &Here, called: &Called) {
    if SERIALISED.load(Acquire) != 0 || called.on.is_some() || called.uses {
        rank.with(here.thread, &mut |tracker, _| tracker.returned(called.on));
    }
    if !called.tokens.is_empty() {
        rank.with(here.thread, &mut |tracker, _| tracker.has_completed(&called.tokens));
    }
}

/// Calls that must not share a request while they run; `MPI_Test` may, as long as it completes
/// nothing (MPI 4.1 §11.6.2).
fn completes(effect: Effect) -> bool {
    use Effect::{TestAll, TestAny, Wait, WaitAll, WaitAny};
    matches!(effect, Wait | WaitAll | WaitAny | TestAll | TestAny | Effect::Some)
}
