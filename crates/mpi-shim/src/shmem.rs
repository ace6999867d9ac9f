//! OpenSHMEM: what its entry points do around the library's functions.
//!
//! Open MPI's OpenSHMEM is a layer of its MPI, so that this runtime checks programs of either and
//! of
//! both: `shmem_init` initialises MPI too, and `shmem_finalize` finalises it, without a call that
//! entry points of MPI would see. Nothing is linked: the library's function is the next definition
//! of the same name, and a program that has none calls no entry point.

use crate::calling::Calling;
use crate::ending;
use crate::outside;
use crate::rank::{Rank, mode, rank};
use crate::real;
use crate::startup;
use crate::stats;
use crate::traffic;
use crate::waiting;
use crate::word::table;
use commsan_guards::keys::{self, Open};
use commsan_mpi::{Args, Doubt};
use commsan_mpi_calls::shmem::Kind;
use commsan_process::inside::Inside;
use commsan_process::modules;
use commsan_process::next::Next;
use commsan_process::stack::Caller;
use commsan_threads::{Here, agents};
use std::ffi::{c_int, c_void};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU8, AtomicUsize};

/// How far the process has come.
static PHASE: AtomicU8 = AtomicU8::new(BEFORE);
const BEFORE: u8 = 0;
const INITIALISED: u8 = 1;
const FINALISED: u8 = 2;

/// The library's function, which returns its result as a word.
type Real<'a> = &'a mut dyn FnMut() -> usize;

/// Runs the library's function `call` between commsan's checks. `row` is the call's row in the
/// table.
pub(crate) fn around(row: usize, words: &[usize], caller: Caller, call: Real) {
    let Some(rank) = rank() else {
        call();
        return;
    };
    let Some(inside) = Inside::enter() else {
        call();
        return;
    };
    let call_of = &table()[row];
    let Some(kind) = call_of.symmetric_kind() else {
        call();
        return;
    };
    if is_librarys(caller.pc) {
        leave(rank, kind, &Here::new(caller, &inside));
        call();
        return;
    }
    let here = Here::new(inside.outer.get().unwrap_or(caller), &inside);
    let args = Args::new(call_of, words, false);
    let mode = mode();
    // Whatever the library does until the call returns.
    let _open;
    if mode.is_guarded() {
        _open = Open::new();
        if keys::is_time_for_review() && mode.is_active() {
            rank.with(here.thread, &mut |tracker, _| tracker.review_guards());
        }
    }
    if mode.has_statistics() {
        stats::called(rank, row, &here);
    }
    let begins = traffic::symmetric::before(rank, kind, &here);
    let mut result = 0;
    let mut counted = || {
        result = call();
        result
    };
    let call: Real = &mut counted;
    let is_ours = rank.checks() && real::is_ours();
    match kind {
        Kind::Init => initialise(rank, &args, &here, call),
        Kind::Finalize => finalise(rank, &args, &here, call),
        Kind::Exit => {
            rank.abort(here.thread);
            call();
        }
        _ if !is_ours => {
            call();
        }
        _ if PHASE.load(Relaxed) != INITIALISED => {
            call_outside(rank, kind, &args, &here);
            call();
        }
        _ => checked(rank, kind, &args, &here, call),
    }
    if let Some(begin) = begins {
        traffic::symmetric::after(rank, kind, &args, &here, begin, result);
    }
}

/// `shmem_init`, or another call that initialises.
#[cold]
fn initialise(rank: &'static dyn Rank, args: &Args, here: &Here, call: Real) {
    // Before the library starts threads of its own.
    here.thread.number();
    call();
    if !real::is_ours() || PHASE.load(Relaxed) != BEFORE {
        return;
    }
    if !mode().is_active() {
        startup::begin_by_shmem(rank, args, here);
        traffic::begin(rank, here);
    }
    PHASE.store(INITIALISED, Relaxed);
    find_library();
    if rank.checks() {
        let world = crate::library::world();
        rank.with(here.thread, &mut |tracker, _| {
            let (me, data) = ((world.rank, world.size), modules::program_variables());
            tracker.shmem_begins(me, default_ctx(), data, args, here);
        });
    }
}

/// `shmem_finalize`, which ends MPI as well.
#[cold]
fn finalise(rank: &dyn Rank, args: &Args, here: &Here, call: Real) {
    if PHASE.swap(FINALISED, Relaxed) != INITIALISED || !mode().is_active() {
        call();
        return;
    }
    if rank.checks() {
        rank.with(here.thread, &mut |tracker, out| tracker.shmem_ends(args, here, out));
    }
    let calling = Calling::new(args, here);
    here.thread.calling.set(&raw const calling as usize);
    ending::look(rank, here);
    waiting::begin_to_wait(here.thread);
    call();
    waiting::over(here.thread);
    here.thread.calling.set(0);
}

/// A call before `shmem_init` or after `shmem_finalize`.
#[cold]
fn call_outside(rank: &dyn Rank, kind: Kind, args: &Args, here: &Here) {
    if kind == Kind::AnyTime {
        return;
    }
    let is_early = PHASE.load(Relaxed) == BEFORE;
    match is_early && !mode().is_active() {
        true => rank.early(here.thread, crate::library::version(), &mut |tracker, out| {
            tracker.reporter.outside_shmem(args, "before shmem_init", here, out);
        }),
        false => rank.look(here.thread, &mut |tracker, out| {
            let when = if is_early { "before shmem_init" } else { "after shmem_finalize" };
            tracker.reporter.outside_shmem(args, when, here, out);
        }),
    }
}

/// A call while the library is initialised.
fn checked(rank: &dyn Rank, kind: Kind, args: &Args, here: &Here, call: Real) {
    let calling = Calling::new(args, here);
    here.thread.calling.set(&raw const calling as usize);
    let (mut doubts, parallel) = (Vec::new(), agents::is_parallel());
    rank.with(here.thread, &mut |tracker, out| {
        doubts = tracker.symmetric.doubts(args);
        if doubts.is_empty() {
            tracker.shmem_calls(args, parallel, here, out);
        }
    });
    let mut is_wrong = false;
    if !doubts.is_empty() {
        is_wrong = report(rank, doubts, args, here);
        if is_wrong {
            // If the library aborts the program now, that was already reported.
            here.thread.calling.set(0);
        }
        if !is_wrong || kind.is_collective() {
            rank.with(here.thread, &mut |tracker, out| {
                tracker.shmem_calls(args, parallel, here, out);
            });
        }
    }
    waiting::called(args, here);
    let waits = kind.waits() && !is_wrong;
    if waits {
        waiting::begin_to_wait(here.thread);
    }
    let result = call();
    if waits {
        waiting::over(here.thread);
    }
    if kind.has_outcome() {
        rank.with(here.thread, &mut |tracker, out| tracker.shmem_called(args, result, here, out));
    }
    here.thread.calling.set(0);
}

/// Reports what is wrong with a call, as far as the library does not know better; returns whether
/// something is.
#[cold]
fn report(rank: &dyn Rank, doubts: Vec<Doubt>, args: &Args, here: &Here) -> bool {
    let mut is_wrong = false;
    for Doubt { wrong, unless } in doubts {
        if let Some((at, pe)) = unless
            && is_accessible(at, pe)
        {
            rank.with(here.thread, &mut |tracker, _| tracker.symmetric.has(at));
            continue;
        }
        is_wrong = true;
        rank.with(here.thread, &mut |tracker, out| {
            tracker.reporter.wrong_argument(args, &wrong, here, out);
        });
    }
    is_wrong
}

/// Where the library's code begins and ends.
static LIBRARY: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

#[cold]
fn find_library() {
    static ONE_OF_ITS: Next = Next::new(c"shmem_my_pe");
    if let Some((_, code)) = modules::code_at(ONE_OF_ITS.get() as usize) {
        LIBRARY[0].store(code.start, Relaxed);
        LIBRARY[1].store(code.end, Relaxed);
    }
}

/// Whether a call comes from the library itself.
fn is_librarys(pc: usize) -> bool {
    (LIBRARY[0].load(Relaxed)..LIBRARY[1].load(Relaxed)).contains(&pc)
}

/// The library calls from outside of all calls of the program that are seen. Its functions for
/// Fortran do, which are not; and when the program exits without `shmem_finalize`, which OpenSHMEM
/// does not forbid, the library begins with a barrier what that would do.
#[cold]
fn leave(rank: &dyn Rank, kind: Kind, here: &Here) {
    let ends = kind == Kind::BarrierAll && outside::is_exiting();
    if !ends || PHASE.swap(FINALISED, Relaxed) != INITIALISED {
        return;
    }
    if rank.checks() && mode().is_active() {
        rank.with(here.thread, &mut |tracker, _| tracker.shmem_left());
        ending::look(rank, here);
    }
}

/// Whether the library says that a PE has an object at an address; also if nobody can be asked.
fn is_accessible(at: usize, pe: i32) -> bool {
    static ASKED: Next = Next::new(c"pshmem_addr_accessible");
    let function = ASKED.get();
    if function.is_null() {
        return true;
    }
    // SAFETY: the library's function, which has this type and takes any address.
    unsafe {
        let function: unsafe extern "C" fn(*const c_void, c_int) -> c_int =
            std::mem::transmute(function);
        function(at as *const c_void, pe) != 0
    }
}

/// The handle of the context of operations that name none.
fn default_ctx() -> usize {
    static AT: Next = Next::new(c"oshmem_ctx_default");
    let variable = AT.get() as *const usize;
    // SAFETY: the library's variable, a handle.
    if variable.is_null() { 0 } else { unsafe { *variable } }
}

/// Whether OpenSHMEM, rather than a call of MPI, has initialised what is followed.
pub(crate) fn has_begun() -> bool {
    PHASE.load(Relaxed) != BEFORE
}
