//! Thread activity, for deadlock detection: which threads are active and which are blocked, within
//! MPI or in a wait for other threads of the process (a barrier, the end of a region, tasks, a
//! lock, the end of a thread). A process without an active thread waits for other processes.
//!
//! The state is one atomic word that other processes read: the number of active threads, a count of
//! changes, and in the lowest bit whether no thread is active. Nothing is counted until
//! [`publish_to`].
//!
//! **Soundness.** A thread is active unless it is known to be blocked. Threads that wait by
//! condition variables, semaphores and the like count as active, because other processes and
//! libraries may wake them. A process counts as active forever once a thread whose creation commsan
//! did not observe takes part, by calling MPI or by locking a mutex from the program's code.
//! Libraries may wait for threads of their own: their mutexes and barriers do not count. Tasks that
//! cannot be followed (of GCC's `taskloop nogroup`) or that another task ends (`detach`) also make
//! a process count as active forever.

use commsan_process::modules;
use std::cell::Cell;
use std::ops::Range;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicPtr, AtomicU64};

/// Increment for one active thread.
const ONE: u64 = 1 << 48;
/// Increment of the change count, in the bits below.
const CHANGE: u64 = 2;

/// The published word; null before.
static WORD: AtomicPtr<AtomicU64> = AtomicPtr::new(null_mut());

/// Number of observed threads, active or not.
static KNOWN: AtomicI64 = AtomicI64::new(1);

/// The program's code.
static TEXT: OnceLock<Vec<Range<usize>>> = OnceLock::new();

/// The activity of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// The thread's creation was not observed; it is not counted.
    Unobserved,
    /// The thread is running.
    Active,
    /// The thread is blocked or has ended.
    Waiting,
}

thread_local! {
    static THIS: Cell<Activity> = const { Cell::new(Activity::Unobserved) };
}

/// Marks this thread as the initial one.
pub(crate) fn first() {
    THIS.set(Activity::Active);
}

/// Starts counting in this word. The calling thread must be the only observed one.
pub fn publish_to(word: &'static AtomicU64) {
    if THIS.get() == Activity::Active {
        let _ = TEXT.set(modules::program_text());
        word.store(ONE, Release);
        WORD.store(std::ptr::from_ref(word).cast_mut(), Release);
    }
}

/// Stops counting: the process ends, or is a forked copy of the one that counted.
pub fn unpublish() {
    WORD.store(null_mut(), Release);
}

/// Whether the code at `pc` is the program's, once counting has started.
pub(crate) fn is_program(pc: usize) -> bool {
    TEXT.get().is_some_and(|text| text.iter().any(|code| code.contains(&pc)))
}

/// Whether activity is counted.
pub fn is_published() -> bool {
    !WORD.load(Relaxed).is_null()
}

/// Adds to the number of active threads.
fn change(threads: i64) {
    // SAFETY: a word that lives as long as the process.
    let Some(word) = (unsafe { WORD.load(Acquire).as_ref() }) else { return };
    let next = |word: u64| {
        let word = (word & !1).wrapping_add(ONE.wrapping_mul(threads as u64)).wrapping_add(CHANGE);
        Some(word | u64::from(word < ONE))
    };
    let _ = word.fetch_update(AcqRel, Relaxed, next);
}

/// Announces threads that will begin; negative for threads that will not begin after all.
pub(crate) fn announce(threads: i64) {
    if threads != 0 {
        KNOWN.fetch_add(threads, Relaxed);
        change(threads);
    }
}

/// Number of observed threads of the process, active or not.
pub fn known() -> u32 {
    u32::try_from(KNOWN.load(Relaxed)).unwrap_or(1)
}

/// This thread begins, one of those announced.
pub(crate) fn begin() {
    THIS.set(Activity::Active);
}

/// This thread ends.
pub(crate) fn end() {
    KNOWN.fetch_sub(1, Relaxed);
    pause();
}

/// This thread blocks, if it was observed; returns its activity before.
pub fn pause() -> Activity {
    let before = THIS.get();
    if before == Activity::Active {
        THIS.set(Activity::Waiting);
        change(-1);
    }
    before
}

/// This thread is active again; returns its activity before.
pub fn resume() -> Activity {
    let before = THIS.get();
    if before == Activity::Waiting {
        change(1);
        THIS.set(Activity::Active);
    }
    before
}

/// A guard: this thread is blocked until it is dropped.
#[must_use]
pub(crate) struct Wait(Activity);

/// This thread blocks in a wait for others of the process.
pub(crate) fn wait() -> Wait {
    Wait(pause())
}

impl Wait {
    /// Keeps the thread blocked beyond the guard: the end of the wait is reported separately.
    pub(crate) fn keep(self) {
        std::mem::forget(self);
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        restore(self.0);
    }
}

/// Ends a wait, if there was one.
pub(crate) fn over<W>(waits: W) {
    drop(waits);
}

/// Restores an earlier activity.
pub(crate) fn restore(before: Activity) {
    match before {
        Activity::Waiting => _ = pause(),
        Activity::Active => _ = resume(),
        Activity::Unobserved => {}
    }
}

/// A thread takes part whose waits are not observed: the process counts as active from now on.
pub fn assume_active() {
    static ASSUMED: AtomicBool = AtomicBool::new(false);
    if is_published() && !ASSUMED.swap(true, Relaxed) {
        change(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_waits_when_no_thread_works() {
        static SHOWN: AtomicU64 = AtomicU64::new(0);
        let waits = || SHOWN.load(Relaxed) % 2 == 1;
        first();
        assert_eq!((pause(), resume()), (Activity::Active, Activity::Waiting), "nobody counts");
        publish_to(&SHOWN);
        pause();
        assert!(waits());
        pause();
        resume();
        let before = SHOWN.load(Relaxed);
        assert!(!waits());
        announce(1);
        pause();
        assert!(!waits() && SHOWN.load(Relaxed) != before);
        std::thread::spawn(move || {
            pause();
            assert!(!waits(), "it is not known");
            begin();
            pause();
            assert!(waits());
            assert_eq!(resume(), Activity::Waiting);
            restore(Activity::Waiting);
            assert!(waits());
            restore(Activity::Active);
            assert_eq!(known(), 2);
            end();
        })
        .join()
        .unwrap();
        assert!(waits());
        assume_active();
        assume_active();
        assert!(!waits());
        resume();
        unpublish();
        pause();
        assert_eq!(SHOWN.load(Relaxed) >> 48, 2);
    }
}
