//! POSIX and C11 threads: interceptors of thread creation, locks, semaphores, condition variables.
//!
//! Threads are followed if the program creates them, itself or through the C++ library. Threads of
//! other libraries, MPI's and OpenMP's own among them, synchronise in ways that are not observed:
//! they stay unknown, and count as ordered.

use crate::activity::{self, Wait, over};
use crate::agents::{self, Kind, Suspended, acquire, begin, cell, end, release};
use crate::tasks::{lock, lock_alone, nothing, unlock, unlock_shared};
use crate::unjoined;
use crate::{concerns, from_program};
use commsan_findings::stats::Counter;
use commsan_guards::keys;
use commsan_process::thread::{self, Thread};
use commsan_process::{caller, modules, stats};
use std::cell::Cell as Local;
use std::ffi::{c_int, c_void};
use std::sync::atomic::Ordering::{AcqRel, Relaxed};
use std::sync::atomic::{AtomicBool, AtomicU64};

/// The start routine of a thread, with its argument; `R` is a pointer for POSIX, an integer for
/// C11.
type Routine<R> = extern "C" fn(*mut c_void) -> R;

struct Start<R> {
    routine: Routine<R>,
    argument: *mut c_void,
    id: u64,
    detached: bool,
}

/// Ends the agent when the thread ends, however it does.
struct Agent(Local<Option<Suspended>>);

impl Drop for Agent {
    fn drop(&mut self) {
        if let Some(suspended) = self.0.take() {
            end(&[ended(this())], suspended);
            activity::end();
            if !unjoined::ends(this()) {
                agents::leave_parallel();
            }
        }
    }
}

thread_local! {
    static AGENT: Agent = const { Agent(Local::new(None)) };
}

/// Threads that are not followed, as many as fit.
static UNOBSERVED: [AtomicU64; 64] = [const { AtomicU64::new(0) }; 64];
/// Whether threads that may be the program's are not followed.
static ARE_UNSEEN: AtomicBool = AtomicBool::new(false);
/// Whether more threads were not followed.
static UNOBSERVED_OVERFLOW: AtomicBool = AtomicBool::new(false);

/// Whether threads are not followed that the program may have: code that commsan has not compiled
/// has created some, other than within calls of MPI.
pub fn are_unseen() -> bool {
    ARE_UNSEEN.load(Relaxed)
}

fn note_unobserved(thread: libc::pthread_t) {
    let takes = |slot: &&AtomicU64| slot.compare_exchange(0, thread, AcqRel, Relaxed).is_ok();
    if UNOBSERVED.iter().find(takes).is_none() {
        UNOBSERVED_OVERFLOW.store(true, Relaxed);
    }
}

/// The thread that had this thread's number before has ended.
fn forget_unobserved() {
    for slot in &UNOBSERVED {
        let _ = slot.compare_exchange(this(), 0, AcqRel, Relaxed);
    }
}

fn this() -> libc::pthread_t {
    // SAFETY: no arguments, no side effects.
    unsafe { libc::pthread_self() }
}

fn ended(thread: libc::pthread_t) -> agents::Cell {
    cell(Kind::End, thread)
}

extern "C" fn run<R>(start: *mut c_void) -> R {
    // SAFETY: the box that was made for this thread.
    let start = unsafe { Box::from_raw(start.cast::<Start<R>>()) };
    activity::begin();
    forget_unobserved();
    unjoined::begins(this(), start.detached);
    let suspended = begin(cell(Kind::Begin, start.id));
    AGENT.with(|agent| agent.0.set(Some(suspended)));
    // Earlier uses of this stack are unrelated.
    crate::popped();
    let (routine, argument) = (start.routine, start.argument);
    drop(start);
    routine(argument)
}

/// Creates a thread by `next`, which takes the start routine and its argument, and returns 0 for
/// success.
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
    let is_from_program = from_program();
    if !is_from_program || agents::current().is_none() || !modules::is_program_code(caller) {
        // Those that the MPI library creates for itself use none of the program's objects.
        if is_from_program {
            ARE_UNSEEN.store(true, Relaxed);
        }
        let code = match thread::with(Thread::is_inside) {
            true => keys::inherited(|| next(routine, argument)),
            false => next(routine, argument),
        };
        if code == 0 {
            // SAFETY: by the contract, the creation succeeded and stored the number.
            note_unobserved(unsafe { *thread });
        }
        return code;
    }
    let id = agents::new_id();
    stats::count(Counter::Threads);
    agents::enter_parallel();
    agents::expect(1);
    activity::announce(1);
    release(cell(Kind::Begin, id));
    let start = Box::into_raw(Box::new(Start { routine, argument, id, detached }));
    let code = next(run::<R>, start.cast());
    if code != 0 {
        agents::expect(-1);
        activity::announce(-1);
        agents::leave_parallel();
        // SAFETY: the creation failed, so no thread owns the box.
        drop(unsafe { Box::from_raw(start) });
    }
    code
}

/// Interposes `pthread_create`.
///
/// # Safety
/// The contract of `pthread_create`.
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

/// Interposes `thrd_create`, which does not call `pthread_create` through the dynamic linker.
///
/// # Safety
/// The contract of `thrd_create`.
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

/// Whether a thread with these attributes is detached.
///
/// # Safety
/// `attributes` is null or points to initialised attributes.
unsafe fn is_detached(attributes: *const libc::pthread_attr_t) -> bool {
    unsafe extern "C" {
        fn pthread_attr_getdetachstate(
            attributes: *const libc::pthread_attr_t,
            state: *mut c_int,
        ) -> c_int;
    }
    let mut state = libc::PTHREAD_CREATE_JOINABLE;
    if !attributes.is_null() {
        // SAFETY: by this function's contract.
        unsafe { pthread_attr_getdetachstate(attributes, &mut state) };
    }
    state == libc::PTHREAD_CREATE_DETACHED
}

/// A thread was joined: its end happened before the present point.
fn joined(thread: libc::pthread_t) {
    acquire(ended(thread));
    if unjoined::joined(thread) {
        agents::leave_parallel();
    }
}

/// A thread was detached: it cannot be joined.
fn detached(thread: libc::pthread_t) {
    if unjoined::detached(thread) {
        agents::leave_parallel();
    }
}

/// Defines interceptors of C library functions whose arguments are words and that return 0
/// (`thrd_success`) for success, from an action before the call and one after success.
macro_rules! on_success {
    ($($name:ident ($($arg:ident),*), $before:expr, $after:expr;)*) => { $(
        /// Interposes the C library function of this name.
        ///
        /// # Safety
        /// The contract of the C library function.
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

/// Looks up `sem_post` early: signal handlers may call it, and cannot look up the next definition.
pub fn prepare() {
    let mut semaphore = std::mem::MaybeUninit::<libc::sem_t>::uninit();
    // SAFETY: a local semaphore that no other thread can access.
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
    // Threads that wait for the routine may continue before the one that ran it returns here.
    pthread_once(control, routine), nothing(), agents::acquire_release_all();
    thrd_join(thread, value), wait_for(thread as libc::pthread_t), joined(thread as libc::pthread_t);
    thrd_detach(thread), nothing(), detached(thread as libc::pthread_t);
    mtx_lock(mutex), nothing(), lock(mutex as u64);
    mtx_trylock(mutex), nothing(), lock(mutex as u64);
    mtx_timedlock(mutex, until), nothing(), lock(mutex as u64);
    mtx_unlock(mutex), unlock(mutex as u64), nothing();
}

around! {
    // All arrivals before all departures: a late thread may order itself after the next barrier,
    // too.
    pthread_barrier_wait(barrier) -> c_int, arrive(barrier, caller!().pc), lock(barrier as u64);
    // The mutex is locked again even after a timeout.
    pthread_cond_wait [c"GLIBC_2.3.2"] (condition, mutex) -> c_int,
        unlock(mutex as u64), lock(mutex as u64);
    pthread_cond_timedwait [c"GLIBC_2.3.2"] (condition, mutex, until) -> c_int,
        unlock(mutex as u64), lock(mutex as u64);
    pthread_cond_clockwait(condition, mutex, clock, until) -> c_int,
        unlock(mutex as u64), lock(mutex as u64);
    cnd_wait(condition, mutex) -> c_int, unlock(mutex as u64), lock(mutex as u64);
    cnd_timedwait(condition, mutex, until) -> c_int, unlock(mutex as u64), lock(mutex as u64);
    call_once(control, routine), nothing(), agents::acquire_release_all();
    // Static variables of C++ functions: a thread that finds one ready has read a guard byte
    // atomically.
    __cxa_guard_acquire(guard) -> c_int, nothing(), lock(guard as u64);
    __cxa_guard_release(guard), ready(guard), nothing();
}

thread_local! {
    /// Locks that this thread holds in shared mode. A lock that does not fit counts as exclusive
    /// when it is released.
    static SHARED: Local<[usize; 8]> = const { Local::new([0; 8]) };
}

/// Replaces an element of [`SHARED`]; returns whether it was found.
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

/// Whether the caller is the program's code and the threads that it waits for may be the program's.
/// Other processes may use the same lock.
fn is_among_threads(caller: usize) -> bool {
    agents::is_parallel() && activity::is_program(caller)
}

fn arrive(barrier: usize, caller: usize) -> Option<Wait> {
    unlock(barrier as u64);
    is_among_threads(caller).then(activity::wait)
}

/// A wait for the end of a thread, if it is certain that the thread is followed.
fn wait_for(thread: libc::pthread_t) -> Option<Wait> {
    let is_unobserved = UNOBSERVED.iter().any(|slot| slot.load(Relaxed) == thread);
    (!is_unobserved && !UNOBSERVED_OVERFLOW.load(Relaxed)).then(activity::wait)
}

/// Interposes the C library function. Only a thread that finds the mutex locked waits.
///
/// # Safety
/// The contract of `pthread_mutex_lock`.
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
        activity::assume_active();
    }
    let is_free = next!(pthread_mutex_trylock, fn(usize) -> c_int);
    // SAFETY: the program's argument.
    let mut code = unsafe { is_free(mutex) };
    if code == libc::EBUSY {
        let waits = is_program.then(activity::wait);
        // SAFETY: the program's argument.
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
