//! Waiting: shows the launcher that this process waits within a call, and answers which, for the
//! wait-for graph.
//!
//! A waiting thread only leaves a pointer. A thread of commsan's own sleeps until the launcher asks
//! what the process waits for; then it inspects the call from outside, while the waiting thread
//! continues. Neither needs a fence on the program's side: the asking thread makes all threads of
//! the process pass one (`process/fence.rs`), so that either it sees that the call is over, or the
//! call sees that it is being inspected, and delays its return.
//!
//! A roll call asks for more: what the threads do that are outside of MPI, and how far the process
//! has come on each communicator. None of them is disturbed by that, either (`process/tasks.rs`).
//!
//! A process with several threads waits when none of them is at work (`threads/work.rs`), unless
//! MPI's thread level allows only one of them to call: then it waits with that one. Threads that
//! are not followed, those of libraries, may call at any time, if one of them ever has: such a
//! process does not count as waiting.

use crate::calling::Real;
use crate::calling::{Calling, is_owner};
use crate::collectives;
use crate::datatypes;
use crate::levels;
use crate::library::{Mpi, reduction};
use crate::outcome::{Tokens, tokens};
use crate::rank::Rank;
use crate::word::table;
use commsan_callsite::DEPTH;
use commsan_job_shm::{Answer, Rendezvous};
use commsan_mpi::{Args, Asked, Facts, Library, Outside};
use commsan_mpi_calls::Effect;
use commsan_mpi_calls::reduction::OTHER;
use commsan_process::fence;
use commsan_process::inside::Inside;
use commsan_process::python;
use commsan_process::tasks;
use commsan_process::thread::Thread;
use commsan_threads::{Here, activity, agents};
use std::ffi::c_int;
use std::io;
use std::num::NonZero;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, compiler_fence};
use std::time::Duration;

/// The rendezvous through which ranks show that they wait, and this rank.
static RENDEZVOUS: OnceLock<(Rendezvous, usize)> = OnceLock::new();

/// The calls in which it waits: that of a thread that calls alone, and those of several.
static BLOCKED: [AtomicPtr<Calling>; 1 + MAX_THREADS] =
    [const { AtomicPtr::new(std::ptr::null_mut()) }; 1 + MAX_THREADS];
const ALONE: usize = 0;
/// Threads that can wait besides others; further ones count as being at work.
const MAX_THREADS: usize = 64;

/// A thread that alone calls waits for work of a device, which needs other ranks.
static BY_WORK: AtomicBool = AtomicBool::new(false);

/// The call is being inspected.
static LOOKING: AtomicBool = AtomicBool::new(false);

/// A thread has called whose work is not followed.
static STRANGER: AtomicBool = AtomicBool::new(false);

/// The latest call: its return address, and above that its row in the table; 0 if there was none.
static LATEST: AtomicU64 = AtomicU64::new(0);
/// Bits of an address in user space.
const ADDRESS: u32 = 48;

/// How many calls there were. Threads that call at once may count one.
static CALLS: AtomicU64 = AtomicU64::new(0);

/// A thread calls MPI.
#[inline]
pub(crate) fn called(args: &Args, here: &Here) {
    let thread = here.thread;
    if thread.number() != 0 && agents::current().is_none() {
        STRANGER.store(true, Relaxed);
        activity::assume_active();
    }
    LATEST.store(here.return_address() as u64 | u64::from(args.call.row) << ADDRESS, Relaxed);
    CALLS.store(CALLS.load(Relaxed) + 1, Relaxed);
}

/// Whether only the thread that calls can call now.
fn is_alone(thread: &Thread) -> bool {
    let others = agents::is_parallel() || STRANGER.load(Relaxed);
    !others || levels::is_only(thread)
}

/// This process takes part.
pub(crate) fn begin(rank: &'static dyn Rank, rendezvous: Rendezvous, me: usize) {
    if RENDEZVOUS.set((rendezvous, me)).is_err() {
        return;
    }
    rendezvous.attend(me, std::process::id());
    if !fence::prepare() {
        return; // nobody can be asked, and nobody is ended for that
    }
    let before = rendezvous.asked();
    // Without that thread no question is answered, and the job is not ended.
    let _ = begin_thread(move || answer(rank, rendezvous, me, before));
}

/// Begins a thread of commsan's own.
pub(crate) fn begin_thread(run: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let thread = std::thread::Builder::new().name("commsan".to_owned()).stack_size(STACK);
    without_signals(|| thread.spawn(run)).map(drop)
}

/// Several threads may call from now on.
pub(crate) fn follow_threads() {
    if let Some((rendezvous, me)) = RENDEZVOUS.get()
        && !agents::is_parallel()
    {
        activity::publish_to(rendezvous.word_of(*me));
    }
}

/// For how long to watch who does not wait.
const GLANCE: Duration = Duration::from_millis(50);

/// Enough for what a report needs.
const STACK: usize = 256 << 10;

/// Runs a call that may wait for other ranks, by a thread that has left its description.
#[inline]
pub(crate) fn during(thread: &Thread, call: Real) -> c_int {
    begin_to_wait(thread);
    let code = call();
    over(thread);
    code
}

/// From now on a call may wait for other ranks.
#[inline]
pub(crate) fn begin_to_wait(thread: &Thread) {
    let Some((rendezvous, me)) = RENDEZVOUS.get() else { return };
    if !is_alone(thread) {
        return wait_beside_others(thread);
    }
    prepare(thread);
    BLOCKED[ALONE].store(thread.calling.get() as *mut Calling, Release);
    rendezvous.enter(*me);
}

/// Runs what waits for work of a device that needs other ranks. Only a thread that calls alone
/// counts as waiting.
pub fn during_work(thread: &Thread, wait: &mut dyn FnMut()) {
    let rendezvous = RENDEZVOUS.get().filter(|_| is_owner() && is_alone(thread));
    let Some((rendezvous, me)) = rendezvous else { return wait() };
    BY_WORK.store(true, Release);
    rendezvous.enter(*me);
    wait();
    rendezvous.leave(*me);
    BY_WORK.store(false, Release);
}

/// Resolves what only this thread can ask the library.
#[inline]
fn prepare(thread: &Thread) {
    thread.stack_bounds();
    if python::is_there() {
        thread.python.set(python::state());
    }
}

#[cold]
fn wait_beside_others(thread: &Thread) {
    if STRANGER.load(Relaxed) || !activity::is_published() || agents::current().is_none() {
        return;
    }
    prepare(thread);
    let (calling, nobody) = (thread.calling.get() as *mut Calling, std::ptr::null_mut());
    let takes =
        |place: &usize| BLOCKED[*place].compare_exchange(nobody, calling, AcqRel, Relaxed).is_ok();
    if let Some(place) = (ALONE + 1..BLOCKED.len()).find(takes) {
        // SAFETY: the call that this thread is in.
        unsafe { (*calling).shown.set(NonZero::new(place)) };
        activity::pause();
    }
}

/// The thread's call has returned, or calls back; no effect if it did not wait.
#[inline]
pub(crate) fn over(thread: &Thread) {
    let Some((rendezvous, me)) = RENDEZVOUS.get() else { return };
    let calling = thread.calling.get() as *mut Calling;
    if calling.is_null() {
        return;
    }
    let place = match BLOCKED[ALONE].load(Relaxed) == calling {
        true => {
            rendezvous.leave(*me);
            ALONE
        }
        // SAFETY: the call that this thread is in.
        false => match unsafe { (*calling).shown.take() } {
            Some(place) => {
                activity::resume();
                place.get()
            }
            None => return,
        },
    };
    BLOCKED[place].store(std::ptr::null_mut(), Release);
    compiler_fence(SeqCst);
    if LOOKING.load(Relaxed) {
        let_look();
    }
}

/// Delays the return while this stack is being inspected.
#[cold]
fn let_look() {
    while LOOKING.load(Acquire) {
        std::thread::yield_now();
    }
}

/// Whether some ranks do not match, which may end in any error.
pub(crate) fn has_mismatch() -> bool {
    RENDEZVOUS.get().is_some_and(|(rendezvous, _)| rendezvous.mismatches() > 0)
}

/// This process is about to end and will not change its state. The end of a forked child means
/// nothing.
pub fn gone() {
    if is_owner()
        && let Some((rendezvous, me)) = RENDEZVOUS.get()
    {
        activity::unpublish();
        rendezvous.enter(*me);
    }
}

/// The thread that answers.
fn answer(rank: &'static dyn Rank, rendezvous: Rendezvous, me: usize, mut before: u32) {
    let Some(inside) = Inside::enter() else { return };
    let mut called = 0;
    loop {
        before = rendezvous.await_question(before);
        let call = rendezvous.roll_calls();
        let roll_call = if std::mem::replace(&mut called, call) == call { 0 } else { call };
        LOOKING.store(true, SeqCst);
        let (mut moves, mut is_waiting) = (0, false);
        if fence::on_all_threads() {
            moves = rendezvous.moves_of(me);
            let blocked = BLOCKED.iter().map(|place| place.load(Acquire));
            // A roll call is interested in threads that wait while others are at work, too.
            let blocked =
                blocked.filter(|call| (moves % 2 == 1 || roll_call != 0) && !call.is_null());
            let others = if activity::is_published() { activity::known() } else { 0 };
            let beside = others.saturating_sub(blocked.clone().count() as u32);
            let look = |call: *mut Calling| {
                // SAFETY: threads that wait do not return from their calls while these are
                // inspected.
                unsafe { look(rank, &*call, (moves, beside, roll_call), &inside) }
            };
            let answers = blocked.map(look);
            let mut answer = answers.reduce(Answer::and);
            if answer.is_none() && moves % 2 == 1 && BY_WORK.load(Acquire) {
                rank.look(&inside, &mut |tracker, out| {
                    let asked = (moves, beside, roll_call);
                    answer = Some(tracker.waits_for_work(asked, &facts(), out));
                });
            }
            is_waiting = answer.is_some();
            if let Some(answer) = answer.filter(|_| moves % 2 == 1) {
                rendezvous.answer(me, moves, answer);
            }
        }
        LOOKING.store(false, Release);
        let is_same = || rendezvous.moves_of(me) == moves;
        match roll_call {
            0 if moves % 2 == 0 => {
                let before = CALLS.load(Relaxed);
                see_it_go_on(rank, &inside, (moves, 0), before, is_same);
            }
            0 => {}
            _ => {
                // A thread that gets no processor does not call again soon.
                let before = CALLS.load(Relaxed);
                if moves % 2 == 0 || !is_waiting {
                    see_threads(rank, &inside, roll_call);
                }
                if !is_waiting {
                    // A process that is about to end counts as waiting.
                    let moves = moves & !1;
                    see_it_go_on(rank, &inside, (moves, roll_call), before, || true);
                }
                rank.look(&inside, &mut |tracker, out| tracker.progress_is(roll_call, out));
                rendezvous.reply(me, roll_call);
            }
        }
    }
}

/// Writes what the process's threads do to the log.
fn see_threads(rank: &dyn Rank, inside: &Inside, roll_call: u64) {
    let tasks = tasks::look(DEPTH);
    let threads: Vec<_> = tasks
        .iter()
        .map(|task| Outside {
            id: task.id,
            doing: task.doing,
            file: task.file.as_deref(),
            stack: &task.stack,
        })
        .collect();
    rank.look(inside, &mut |tracker, out| tracker.threads_are(roll_call, &threads, out));
}

/// The process does not wait: writes its last call to the log, unless it has started to wait since,
/// and whether it has called again since there were `before` calls.
fn see_it_go_on(
    rank: &dyn Rank,
    inside: &Inside,
    (moves, roll_call): (u64, u64),
    before: u64,
    is_same: impl Fn() -> bool,
) {
    std::thread::sleep(GLANCE);
    let (latest, again) = (LATEST.load(Relaxed), CALLS.load(Relaxed) != before);
    if latest == 0 || !is_same() {
        return;
    }
    let (call, pc) = (&table()[(latest >> ADDRESS) as usize], latest & ((1 << ADDRESS) - 1));
    rank.look(inside, &mut |tracker, out| {
        tracker.was_at((moves, roll_call), (call, pc as usize, again), &facts(), out);
    });
}

/// Facts that are known without calls.
fn facts() -> Facts<'static> {
    Facts {
        size_of: &datatypes::size_if_known,
        is_program_code: &|op| reduction(op) == OTHER,
        count_at: &|array, index, large| Mpi.int_at(array, index, large),
        proc_null: Mpi::PROC_NULL,
    }
}

/// # Safety
/// The call has not returned.
unsafe fn look(
    rank: &dyn Rank,
    blocked: &Calling,
    (moves, beside, roll_call): (u64, u32, u64),
    inside: &Inside,
) -> Answer {
    // SAFETY: by the caller.
    let (args, here) = unsafe { blocked.parts() };
    let waits_for_requests =
        matches!(args.call.effect, Effect::Wait | Effect::WaitAll | Effect::WaitAny | Effect::Some);
    let mut answer = Answer::Unsure;
    rank.look(inside, &mut |tracker, out| {
        let tokens = match waits_for_requests {
            true => tokens(args, tracker.now()),
            false => Tokens::new(),
        };
        let on = collectives::subject(args);
        let asked = Asked { moves, args, tokens: &tokens, on, beside, roll_call };
        answer = tracker.waits(&asked, &facts(), here, out);
    });
    answer
}

/// Signals are meant for the program: its threads get them.
fn without_signals<R>(f: impl FnOnce() -> R) -> R {
    let mut all = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    let mut before = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: sets that are filled before they are read.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_SETMASK, all.as_ptr(), before.as_mut_ptr());
        let result = f();
        libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), std::ptr::null_mut());
        result
    }
}
