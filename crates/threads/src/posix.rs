//! Threads of POSIX and C11, and what they synchronise by.
//!
//! Threads are followed if the program makes them, itself or through C++'s library. Those of other
//! libraries, MPI's and OpenMP's own among them, synchronise in ways that are not seen: they stay
//! unknown, and count as ordered.

use crate::agents::{self, Kind, Suspended, acquire, begin, cell, end, release};
use crate::tasks::{lock, lock_alone, nothing, unlock, unlock_shared};
use crate::unjoined;
use crate::work::{self, Wait, over};
use crate::{concerns, from_program};
use commsan_process::{caller, modules};
use std::cell::Cell as Local;
use std::ffi::{c_int, c_void};
use std::sync::atomic::Ordering::{AcqRel, Relaxed};
use std::sync::atomic::{AtomicBool, AtomicU64};

/// What a thread runs, with its argument; `R` is a pointer for POSIX, a number for C11.
type Routine<R> = extern "C" fn(*mut c_void) -> R;

struct Start<R> {
    routine: Routine<R>,
    argument: *mut c_void,
    id: u64,
    detached: bool,
}

/// Ends the agent when the thread does, in whatever way.
struct Agent(Local<Option<Suspended>>);

impl Drop for Agent {
    fn drop(&mut self) {
        if let Some(suspended) = self.0.take() {
            end(&[ended(this())], suspended);
            work::end();
            if !unjoined::ends(this()) {
                agents::gather();
            }
        }
    }
}

thread_local! {
    static AGENT: Agent = const { Agent(Local::new(None)) };
}

/// Threads that are not followed, as many as fit.
static STRANGERS: [AtomicU64; 64] = [const { AtomicU64::new(0) }; 64];
/// There were more.
static MORE: AtomicBool = AtomicBool::new(false);

fn note_stranger(thread: libc::pthread_t) {
    let takes = |slot: &&AtomicU64| slot.compare_exchange(0, thread, AcqRel, Relaxed).is_ok();
    if STRANGERS.iter().find(takes).is_none() {
        MORE.store(true, Relaxed);
    }
}

/// Whoever had this thread's number before has ended.
fn forget_stranger() {
    for slot in &STRANGERS {
        let _ = slot.compare_exchange(this(), 0, AcqRel, Relaxed);
    }
}

fn this() -> libc::pthread_t {
    // SAFETY: no arguments, no effects.
    unsafe { libc::pthread_self() }
}

fn ended(thread: libc::pthread_t) -> agents::Cell {
    cell(Kind::End, thread)
}

extern "C" fn run<R>(start: *mut c_void) -> R {
    // SAFETY: the box that was made for this thread.
    let start = unsafe { Box::from_raw(start.cast::<Start<R>>()) };
    work::begin();
    forget_stranger();
    unjoined::begins(this(), start.detached);
    let suspended = begin(cell(Kind::Begin, start.id));
    AGENT.with(|agent| agent.0.set(Some(suspended)));
    // Whoever had this stack before had nothing to do with it.
    crate::popped();
    let (routine, argument) = (start.routine, start.argument);
    drop(start);
    routine(argument)
}

/// Makes a thread by `next`, which takes what to run and its argument, and returns 0 for success.
///
/// # Safety
/// If it succeeds, `next` has stored the thread's number at `thread`.
unsafe fn create<R>(
    caller: usize,
    thread: *const libc::pthread_t,
    detached: bool,
    (routine, argument): (Routine<R>, *mut c_void),
    next: impl FnOnce(Routine<R>, *mut c_void) -> c_int,
) -> c_int {
    if !from_program() || agents::current().is_none() || !modules::is_the_programs(caller) {
        let code = next(routine, argument);
        if code == 0 {
            // SAFETY: as the caller says.
            note_stranger(unsafe { *thread });
        }
        return code;
    }
    let id = agents::new_id();
    agents::spread();
    agents::expect(1);
    work::announce(1);
    release(cell(Kind::Begin, id));
    let start = Box::into_raw(Box::new(Start { routine, argument, id, detached }));
    let code = next(run::<R>, start.cast());
    if code != 0 {
        agents::expect(-1);
        work::announce(-1);
        agents::gather();
        // SAFETY: no thread has it.
        drop(unsafe { Box::from_raw(start) });
    }
    code
}

/// Interposes `pthread_create`.
///
/// # Safety
/// As for that.
#[unsafe(no_mangle)]
#[inline(never)]
pub unsafe extern "C" fn pthread_create(
    thread: *mut libc::pthread_t,
    attributes: *const libc::pthread_attr_t,
    routine: Routine<*mut c_void>,
    argument: *mut c_void,
) -> c_int {
    type Run = Routine<*mut c_void>;
    let next = next!(
        pthread_create,
        fn(*mut libc::pthread_t, *const libc::pthread_attr_t, Run, *mut c_void) -> c_int
    );
    // SAFETY: the program's attributes.
    let detached = unsafe { is_detached(attributes) };
    // SAFETY: the program's arguments, or what to run instead.
    let next = |routine, argument| unsafe { next(thread, attributes, routine, argument) };
    // SAFETY: the call stores the thread's number there.
    unsafe { create(caller!().pc, thread, detached, (routine, argument), next) }
}

/// Interposes `thrd_create`, which does not call `pthread_create` by its name.
///
/// # Safety
/// As for that.
#[unsafe(no_mangle)]
#[inline(never)]
pub unsafe extern "C" fn thrd_create(
    thread: *mut libc::pthread_t,
    routine: Routine<c_int>,
    argument: *mut c_void,
) -> c_int {
    let next = next!(thrd_create, fn(*mut libc::pthread_t, Routine<c_int>, *mut c_void) -> c_int);
    // SAFETY: the program's arguments, or what to run instead.
    let next = |routine, argument| unsafe { next(thread, routine, argument) };
    // SAFETY: the call stores the thread's number there.
    unsafe { create(caller!().pc, thread, false, (routine, argument), next) }
}

/// Whether a thread with these attributes is one that nobody waits for.
///
/// # Safety
/// They are null, or attributes.
unsafe fn is_detached(attributes: *const libc::pthread_attr_t) -> bool {
    unsafe extern "C" {
        fn pthread_attr_getdetachstate(
            attributes: *const libc::pthread_attr_t,
            state: *mut c_int,
        ) -> c_int;
    }
    let mut state = libc::PTHREAD_CREATE_JOINABLE;
    if !attributes.is_null() {
        // SAFETY: as the caller says.
        unsafe { pthread_attr_getdetachstate(attributes, &mut state) };
    }
    state == libc::PTHREAD_CREATE_DETACHED
}

/// Somebody has waited for a thread.
fn joined(thread: libc::pthread_t) {
    acquire(ended(thread));
    if unjoined::joined(thread) {
        agents::gather();
    }
}

/// Nobody will wait for a thread.
fn detached(thread: libc::pthread_t) {
    if unjoined::detached(thread) {
        agents::gather();
    }
}

/// Functions of the C library that take words and return 0 (`thrd_success`) for success: what is done before, and
/// after success.
macro_rules! on_success {
    ($($name:ident ($($arg:ident),*), $before:expr, $after:expr;)*) => { $(
        /// Interposes the function of the C library.
        ///
        /// # Safety
        /// As for that.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: usize),*) -> c_int {
            let next = next!($name, fn($(on_success!(@word $arg)),*) -> c_int);
            if !concerns() {
                // SAFETY: the program's arguments.
                return unsafe { next($($arg),*) };
            }
            let waits = $before;
            // SAFETY: the program's arguments.
            let code = unsafe { next($($arg),*) };
            over(waits);
            if code == 0 || code == libc::EOWNERDEAD {
                $after;
            }
            code
        }
    )* };
    (@word $arg:ident) => { usize };
}

/// `sem_post` may be called in signal handlers, where its next definition could not be looked up.
pub fn prepare() {
    let mut semaphore = std::mem::MaybeUninit::<libc::sem_t>::uninit();
    // SAFETY: a semaphore that nobody else knows.
    unsafe {
        if libc::sem_init(semaphore.as_mut_ptr(), 0, 0) == 0 {
            sem_post(semaphore.as_mut_ptr() as usize);
            libc::sem_destroy(semaphore.as_mut_ptr());
        }
    }
}

on_success! {
    pthread_join(thread, value), wait_for(thread as libc::pthread_t), joined(thread as libc::pthread_t);
    pthread_tryjoin_np(thread, value), nothing(), joined(thread as libc::pthread_t);
    pthread_timedjoin_np(thread, value, until), nothing(), joined(thread as libc::pthread_t);
    pthread_detach(thread), nothing(), detached(thread as libc::pthread_t);
    pthread_mutex_trylock(mutex), nothing(), lock(mutex as u64);
    pthread_mutex_timedlock(mutex, until), nothing(), lock(mutex as u64);
    pthread_mutex_clocklock(mutex, clock, until), nothing(), lock(mutex as u64);
    pthread_mutex_unlock(mutex), unlock(mutex as u64), nothing();
    pthread_rwlock_rdlock(rwlock), nothing(), share(rwlock);
    pthread_rwlock_tryrdlock(rwlock), nothing(), share(rwlock);
    pthread_rwlock_timedrdlock(rwlock, until), nothing(), share(rwlock);
    pthread_rwlock_clockrdlock(rwlock, clock, until), nothing(), share(rwlock);
    pthread_rwlock_wrlock(rwlock), nothing(), lock_alone(rwlock as u64);
    pthread_rwlock_trywrlock(rwlock), nothing(), lock_alone(rwlock as u64);
    pthread_rwlock_timedwrlock(rwlock, until), nothing(), lock_alone(rwlock as u64);
    pthread_rwlock_clockwrlock(rwlock, clock, until), nothing(), lock_alone(rwlock as u64);
    pthread_rwlock_unlock(rwlock), unshare(rwlock), nothing();
    pthread_spin_lock(spinlock), nothing(), lock(spinlock as u64);
    pthread_spin_trylock(spinlock), nothing(), lock(spinlock as u64);
    pthread_spin_unlock(spinlock), unlock(spinlock as u64), nothing();
    sem_post(semaphore), unlock(semaphore as u64), nothing();
    sem_wait(semaphore), nothing(), lock(semaphore as u64);
    sem_trywait(semaphore), nothing(), lock(semaphore as u64);
    sem_timedwait(semaphore, until), nothing(), lock(semaphore as u64);
    // Who waits for the routine may go on before who runs it returns here.
    pthread_once(control, routine), nothing(), agents::meet_all();
    thrd_join(thread, value), wait_for(thread as libc::pthread_t), joined(thread as libc::pthread_t);
    thrd_detach(thread), nothing(), detached(thread as libc::pthread_t);
    mtx_lock(mutex), nothing(), lock(mutex as u64);
    mtx_trylock(mutex), nothing(), lock(mutex as u64);
    mtx_timedlock(mutex, until), nothing(), lock(mutex as u64);
    mtx_unlock(mutex), unlock(mutex as u64), nothing();
}

around! {
    // All before all: who is late for one barrier may order itself after the next, too.
    pthread_barrier_wait(barrier) -> c_int, meet(barrier, caller!().pc), lock(barrier as u64);
    // The mutex is locked again whether or not the time is over.
    pthread_cond_wait [c"GLIBC_2.3.2"] (condition, mutex) -> c_int,
        unlock(mutex as u64), lock(mutex as u64);
    pthread_cond_timedwait [c"GLIBC_2.3.2"] (condition, mutex, until) -> c_int,
        unlock(mutex as u64), lock(mutex as u64);
    pthread_cond_clockwait(condition, mutex, clock, until) -> c_int,
        unlock(mutex as u64), lock(mutex as u64);
    cnd_wait(condition, mutex) -> c_int, unlock(mutex as u64), lock(mutex as u64);
    cnd_timedwait(condition, mutex, until) -> c_int, unlock(mutex as u64), lock(mutex as u64);
    call_once(control, routine), nothing(), agents::meet_all();
    // Static variables of C++ functions: who finds one ready reads a byte of its guard, atomically.
    __cxa_guard_acquire(guard) -> c_int, nothing(), lock(guard as u64);
    __cxa_guard_release(guard), ready(guard), nothing();
}

thread_local! {
    /// Locks that this thread shares. What does not fit counts as its own alone when it is given up.
    static SHARED: Local<[usize; 8]> = const { Local::new([0; 8]) };
}

/// Replaces an element of [`SHARED`]; whether it was there.
fn replace_shared(from: usize, to: usize) -> bool {
    let mut shared = SHARED.get();
    let place = shared.iter_mut().find(|lock| **lock == from);
    let found = place.map(|place| *place = to).is_some();
    SHARED.set(shared);
    found
}

fn share(rwlock: usize) {
    replace_shared(0, rwlock);
    lock(rwlock as u64);
}

fn unshare(rwlock: usize) {
    match replace_shared(rwlock, 0) {
        true => unlock_shared(rwlock as u64),
        false => unlock(rwlock as u64),
    }
}

/// Whether code is the program's, and what it waits for may come from its threads. Other processes may have the
/// same lock.
fn is_among_threads(caller: usize) -> bool {
    agents::is_parallel() && work::is_program(caller)
}

fn meet(barrier: usize, caller: usize) -> Option<Wait> {
    unlock(barrier as u64);
    is_among_threads(caller).then(work::wait)
}

/// The end of a thread, which is waited for if it is known when that works.
fn wait_for(thread: libc::pthread_t) -> Option<Wait> {
    let is_stranger = STRANGERS.iter().any(|slot| slot.load(Relaxed) == thread);
    (!is_stranger && !MORE.load(Relaxed)).then(work::wait)
}

/// Interposes the function of the C library. Only who finds the mutex locked waits.
///
/// # Safety
/// As for that.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_mutex_lock(mutex: usize) -> c_int {
    let next = next!(pthread_mutex_lock, fn(usize) -> c_int);
    if !concerns() {
        // SAFETY: the program's argument.
        return unsafe { next(mutex) };
    }
    // Libraries and their threads have locks of their own.
    let is_program = is_among_threads(caller!().pc);
    if is_program && agents::current().is_none() {
        work::doubt();
    }
    let is_free = next!(pthread_mutex_trylock, fn(usize) -> c_int);
    // SAFETY: the program's argument.
    let mut code = unsafe { is_free(mutex) };
    if code == libc::EBUSY {
        let waits = is_program.then(work::wait);
        // SAFETY: as above.
        code = unsafe { next(mutex) };
        over(waits);
    }
    if code == 0 || code == libc::EOWNERDEAD {
        lock(mutex as u64);
    }
    code
}

fn ready(guard: usize) {
    unlock(guard as u64);
    release(cell(Kind::Atomic, guard as u64));
}
