//! What every entry point does: record the caller, call the library, and pass the call to the
//! semantics.

use crate::again::{Again, Sum};
use crate::arguments;
use crate::bounds;
use crate::callbacks;
use crate::calling::{Calling, Real};
use crate::collectives;
use crate::effects::{Before, look_at_aliases};
use crate::ending;
use crate::levels;
use crate::library::Mpi;
use crate::matched;
use crate::objects;
use crate::order;
use crate::outcome::After;
use crate::outside;
use crate::phase;
use crate::races;
use crate::rank::{Rank, mode, rank};
use crate::real;
use crate::refused;
use crate::sessions;
use crate::startup;
use crate::stats;
use crate::steps;
use crate::traffic;
use crate::waiting;
use crate::windows;
use crate::word::{Language, table};
use commsan_guards::keys::{self, Open};
use commsan_mpi::{Args, Token};
use commsan_mpi_calls::Effect;
use commsan_process::inside::Inside;
use commsan_process::stack::Caller;
use commsan_process::thread::{self, Thread};
use commsan_threads::{Here, agents};
use std::ffi::c_int;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

static STRICT: AtomicBool = AtomicBool::new(false);

/// From now on standard sends are synchronous, which MPI allows (MPI 4.1 §3.4): programs that rely
/// on buffering hang.
pub fn send_strictly() {
    STRICT.store(true, Relaxed);
}

#[inline]
pub(crate) fn is_strict() -> bool {
    STRICT.load(Relaxed)
}

/// From now on collectives synchronise all ranks even where some need not wait, which MPI allows
/// (MPI 4.1 §6.14): programs that rely on their not waiting hang.
pub fn collect_strictly() {
    collectives::ARE_STRICT.store(true, Relaxed);
}

/// Runs the library's function `call` between commsan's checks. `row` is the call's row in the
/// table.
pub(crate) fn around(
    row: usize,
    words: &[usize],
    sum: Sum,
    language: Language,
    caller: Caller,
    call: Real,
) -> c_int {
    let Some(rank) = rank() else { return call() };
    let Some(inside) = Inside::enter() else {
        return match callbacks::count(row) {
            true => callbacks::like_any_other(&|| around(row, words, sum, language, caller, call)),
            false => call(),
        };
    };
    let here = Here::new(inside.outer.get().unwrap_or(caller), &inside);
    let args = Args::new(&table()[row], words, language == Language::Fortran);
    let mode = mode();
    // Whatever the library does until the call returns.
    let _open;
    let opening = || opened(call);
    let mut call = call;
    if !mode.is_usual() {
        if mode.is_guarded() && is_open_anyway(here.thread) {
            call = &opening;
        } else if mode.is_guarded() {
            _open = Open::new();
            if keys::is_time_for_review() && mode.is_active() {
                rank.with(here.thread, &mut |tracker, _| tracker.review_guards());
            }
        }
        if mode.has_statistics() {
            stats::called(rank, row, &here);
        }
        if !mode.is_active() {
            return unfollowed(rank, &args, &here, call);
        }
    }
    let is_only_noted = match args.call.effect {
        Effect::Ask => !arguments::has_no_comm(&args),
        effect => effect == Effect::Bare,
    };
    if is_only_noted {
        bounds::strings(rank, &args, &here);
        let calling = Calling::new(&args, &here);
        here.thread.calling.set(&raw const calling as usize);
        let code = callbacks::during(args.call, here.thread, call);
        refused::noted(rank, &args, &here, code);
        steps::noted(rank, &args, &here);
        return code;
    }
    match mode.observes() {
        true => observed(rank, &args, sum, &here, call),
        false => checked(rank, &args, sum, &here, call),
    }
}

/// Runs the library's function with all pages open: one-sided operations close theirs before it.
fn opened(call: Real) -> c_int {
    let _open = commsan_guards::are_any().then(Open::new);
    call()
}

/// Whether rights may stay as they are until the library's function is [`opened`]: no page is
/// closed, and no other thread can start an operation meanwhile. Threads that the library creates
/// have all open nevertheless ([`commsan_guards::keys::inherited`]).
fn is_open_anyway(thread: &Thread) -> bool {
    !commsan_guards::are_any() && levels::is_only(thread)
}

/// A call while nothing is followed: before MPI is initialised, or after the end.
fn unfollowed(rank: &'static dyn Rank, args: &Args, here: &Here, call: Real) -> c_int {
    if !real::is_ours() {
        real::say_foreign(rank);
        return call();
    }
    outside::called(rank, args, here);
    sessions::ends(args);
    // Before the library starts threads of its own, so that a program of one thread has none but
    // thread 0.
    here.thread.number();
    let code = call();
    match args.call.effect {
        Effect::Begin if code == 0 => {
            startup::begin(rank, args, here);
            traffic::begin(rank, here);
        }
        Effect::Session if code == 0 => startup::session_made(rank, args, here),
        _ => {}
    }
    code
}

/// Runs a call of which something is counted.
fn observed(rank: &dyn Rank, args: &Args, sum: Sum, here: &Here, call: Real) -> c_int {
    let ahead = mode().has_statistics().then(|| stats::Ahead::of(args));
    let code = match mode().counts() {
        true => counted(rank, args, sum, here, call),
        false => checked(rank, args, sum, here, call),
    };
    if let Some(ahead) = ahead {
        // Of arguments that are wrong, which `checked` has found then, nothing must be asked.
        let is_sound = here.thread.calling.get() != 0;
        stats::returned(rank, args, here, &ahead, code == 0 && is_sound);
    }
    code
}

/// Runs a call, and counts what it does.
fn counted(rank: &dyn Rank, args: &Args, sum: Sum, here: &Here, call: Real) -> c_int {
    let ahead = traffic::before(rank, args, here);
    let code = match rank.checks() {
        true => checked(rank, args, sum, here, call),
        false => plain(rank, args, here, call),
    };
    traffic::after(rank, args, here, &ahead, code == 0);
    code
}

/// A call of a process that is not checked.
fn plain(rank: &dyn Rank, args: &Args, here: &Here, call: Real) -> c_int {
    match args.call.effect {
        Effect::Begin => phase::has_world(),
        Effect::Finalize | Effect::SessionEnd => {
            if sessions::ends_all(args) {
                rank.finalize(here);
            }
            sessions::ends(args);
        }
        Effect::Abort => rank.abort(here.thread),
        _ => {}
    }
    callbacks::during(args.call, here.thread, call)
}

/// Runs a call and checks it.
#[inline]
fn checked(rank: &dyn Rank, args: &Args, sum: Sum, here: &Here, call: Real) -> c_int {
    // The library may end the program when it is asked about a handle that it does not know.
    let calling = Calling::new(args, here);
    here.thread.calling.set(&raw const calling as usize);
    let again = Again::find(args, sum, here);
    if !again.is_in_order() && arguments::are_wrong(rank, args, here) {
        // If the library aborts the program now, that was already reported.
        here.thread.calling.set(0);
        lose_count(rank, here);
        collectives::not_looked_at(rank, args, here);
        let code = call();
        if code == 0 {
            // The library may perform it; what it makes may reuse the handle of a freed object.
            objects::changed(rank, args, here, None);
        }
        return code;
    }
    if !again.is_in_order() && arguments::fit::look(rank, args, here) {
        calling.is_reported.set(true);
    }
    if !again.has_room() {
        again.remember(bounds::look(rank, args, here));
    }
    waiting::called(args, here);
    matched::called(rank, args, here);
    races::called(rank, args, here);
    if levels::excludes(here.thread) {
        levels::excluded(rank, args, here);
    }
    if agents::is_parallel() {
        return in_parallel(rank, args, here, call);
    }
    watched(rank, args, here, call)
}

/// One of several threads calls. They may synchronise through other ranks: what another rank
/// acquires may have been released by any thread of this one.
#[cold]
fn in_parallel(rank: &dyn Rank, args: &Args, here: &Here, call: Real) -> c_int {
    let others = agents::cell(agents::Kind::Ranks, 0);
    if order::releases(args.call) {
        agents::release(others);
    }
    steps::called_in_parallel(rank, args, here);
    order::synchronises(rank, args, here);
    let called = levels::before(rank, args, here);
    let code = watched(rank, args, here, call);
    levels::after(rank, here, &called);
    if args.call.probes() && code == 0 {
        levels::has_probed(rank, args, here);
    }
    if order::releases(args.call) {
        // What this thread does next was not released.
        agents::advance();
    }
    if order::acquires(args.call) {
        agents::worksharing::learn();
        agents::acquire(others);
    }
    code
}

#[inline]
fn watched(rank: &dyn Rank, args: &Args, here: &Here, call: Real) -> c_int {
    let looked_at;
    let mut args = args;
    if args.is_aliased(&Mpi) && look_at_aliases(rank, args, here) {
        looked_at = Args { are_apart: true, ..*args };
        args = &looked_at;
    }
    match args.call.effect {
        Effect::Start => start(rank, args, here, call),
        Effect::Rma => one_sided(rank, args, here, call),
        _ => pass(rank, args, here, call),
    }
}

/// A call that only starts an operation.
#[inline]
fn start(rank: &dyn Rank, args: &Args, here: &Here, call: Real) -> c_int {
    let acquisitions = mode().is_ordered().then(|| order::before(rank, args, here));
    let entered = collectives::enter(rank, args, here);
    let code = callbacks::during(args.call, here.thread, call);
    if code == 0 {
        After { rank, args, here, ok: true }.start(acquisitions.as_deref().unwrap_or_default());
    } else {
        failed(rank, args, here, code, &[]);
    }
    if let Some(entered) = entered {
        collectives::leave(rank, args, here, entered, code == 0);
    }
    if code == 0 {
        objects::changed(rank, args, here, None);
    }
    code
}

/// A one-sided operation.
#[inline]
fn one_sided(rank: &dyn Rank, args: &Args, here: &Here, call: Real) -> c_int {
    if windows::goes_on(rank, args, here) {
        let code = call();
        if code != 0 {
            windows::retract(rank, args, here);
        }
        return code;
    }
    let at_target = windows::at_target(args);
    let begun = windows::before_rma(rank, args, &at_target, here);
    let code = call();
    After { rank, args, here, ok: code == 0 }.started_rma(&at_target, begun);
    code
}

/// Any other call.
#[inline]
fn pass(rank: &dyn Rank, args: &Args, here: &Here, call: Real) -> c_int {
    let acquisitions = mode().is_ordered().then(|| order::before(rank, args, here));
    let ends = args.call.ends() && sessions::ends_all(args);
    if args.call.effect == Effect::Finalize {
        levels::finalize(rank, args, here);
    }
    if args.call.effect == Effect::Local {
        refused::called(rank, args, here);
        steps::noted(rank, args, here);
    }
    let freed = objects::to_be_freed(args);
    let mut before = Before::default();
    before.look(rank, args, here);
    let entered = collectives::enter(rank, args, here);
    let call: Real = &|| callbacks::during(args.call, here.thread, call);
    let code = match args.call.waits {
        true if ends => ending::during(here.thread, call),
        true if args.call.effect == Effect::SessionEnd => call(),
        true => {
            let all = collectives::to_await(rank, args, here);
            waiting::during(here.thread, &|| {
                all.inspect(|comm| collectives::await_all(*comm));
                call()
            })
        }
        false => call(),
    };
    if let Some(entered) = entered {
        collectives::leave(rank, args, here, entered, code == 0);
    }
    if code != 0 {
        failed(rank, args, here, code, before.tokens());
    }
    let after = After { rank, args, here, ok: code == 0 };
    let acquisitions = acquisitions.as_deref().unwrap_or_default();
    // What a receive has stored comes after all that the sender has released with it.
    let is_receive = args.call.only_receives();
    if is_receive {
        after.order(acquisitions);
    }
    after.run(&before);
    after.steps(None);
    if after.ok {
        objects::changed(rank, args, here, freed);
    }
    if !is_receive {
        after.order(acquisitions);
    }
    code
}

/// A call has returned an error.
#[cold]
fn failed(rank: &dyn Rank, args: &Args, here: &Here, code: c_int, tokens: &[Token]) {
    lose_count(rank, here);
    refused::look(rank, args, here, code, tokens);
}

/// A call has failed, and may have sent or received what it was to.
#[cold]
fn lose_count(rank: &dyn Rank, here: &Here) {
    rank.with(here.thread, &mut |tracker, _| {
        tracker.accounts.lose_count();
        steps::failed(tracker);
    });
}

/// Runs the library's Fortran function `call`, which will call a C entry point: that one is then
/// attributed to `caller`.
#[cfg_attr(not(feature = "mpich"), allow(dead_code, reason = "only MPICH's Fortran layer does"))]
pub(crate) fn calling(caller: Caller, call: impl FnOnce()) {
    let outer = thread::with(|thread| thread.outer.replace(Some(caller)));
    call();
    thread::with(|thread| thread.outer.set(outer));
}
