//! Which threads are at work, and not waiting: within MPI, or for other threads of the process, at a barrier, at
//! the end of a region, for tasks, for a lock or for the end of a thread. A process of which none is at work waits for
//! other processes.
//!
//! That is one word, which others look at: how many threads are at work, how often that has changed, and in its lowest
//! bit whether none is. Before somebody wants to know, nobody counts.
//!
//! **Soundness.** A thread is at work as long as it is not known to wait. So are those that wait by condition
//! variables, semaphores and the like, which other processes and libraries may end, and all in which a thread that
//! commsan has not seen being created takes part: has called MPI, or locked a mutex from the program's code. What
//! libraries wait for may come from threads of their own: their mutexes and barriers do not count. Tasks that cannot be
//! followed (of gcc's `taskloop nogroup`), or are ended by others (`detach`), make a process count as being at work for
//! ever.

use commsan_process::modules;
use std::cell::Cell;
use std::ops::Range;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicPtr, AtomicU64};

/// One thread at work, in the word.
const ONE: u64 = 1 << 48;
/// A change, below that.
const MOVE: u64 = 2;

/// The word, once somebody wants to know.
static WORD: AtomicPtr<AtomicU64> = AtomicPtr::new(null_mut());

/// Threads that are known, at work or not.
static KNOWN: AtomicI64 = AtomicI64::new(1);

/// The program's code.
static TEXT: OnceLock<Vec<Range<usize>>> = OnceLock::new();

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// It is not known; the thread does not count.
    Unknown,
    /// It is at work.
    Works,
    /// It waits, or has ended.
    Waits,
}

thread_local! {
    static THIS: Cell<Doing> = const { Cell::new(Doing::Unknown) };
}

/// This thread is the process's first.
pub(crate) fn first() {
    THIS.set(Doing::Works);
}

/// From now on it is counted, in this word. This thread is the only one that is known.
pub fn show_on(word: &'static AtomicU64) {
    if THIS.get() == Doing::Works {
        let _ = TEXT.set(modules::program_text());
        word.store(ONE, Release);
        WORD.store(std::ptr::from_ref(word).cast_mut(), Release);
    }
}

/// From now on it is not: the process ends, or is a copy of the one that was meant.
pub fn hide() {
    WORD.store(null_mut(), Release);
}

/// Whether code is the program's, and counts.
pub(crate) fn is_program(pc: usize) -> bool {
    TEXT.get().is_some_and(|text| text.iter().any(|code| code.contains(&pc)))
}

/// Whether it is.
pub fn is_shown() -> bool {
    !WORD.load(Relaxed).is_null()
}

/// Threads come to work, or go.
fn change(threads: i64) {
    // SAFETY: a word that lives as long as the process.
    let Some(word) = (unsafe { WORD.load(Acquire).as_ref() }) else { return };
    let next = |word: u64| {
        let word = (word & !1).wrapping_add(ONE.wrapping_mul(threads as u64)).wrapping_add(MOVE);
        Some(word | u64::from(word < ONE))
    };
    let _ = word.fetch_update(AcqRel, Relaxed, next);
}

/// So many threads begin to work soon, or some will not after all.
pub(crate) fn announce(threads: i64) {
    if threads != 0 {
        KNOWN.fetch_add(threads, Relaxed);
        change(threads);
    }
}

/// How many threads of the process are known, at work or not.
pub fn known() -> u32 {
    u32::try_from(KNOWN.load(Relaxed)).unwrap_or(1)
}

/// This thread is one of them.
pub(crate) fn begin() {
    THIS.set(Doing::Works);
}

/// Its work is done.
pub(crate) fn end() {
    KNOWN.fetch_sub(1, Relaxed);
    pause();
}

/// This thread waits from now on, if it is known; returns what it did before.
pub fn pause() -> Doing {
    let before = THIS.get();
    if before == Doing::Works {
        THIS.set(Doing::Waits);
        change(-1);
    }
    before
}

/// It works again.
pub fn resume() -> Doing {
    let before = THIS.get();
    if before == Doing::Waits {
        change(1);
        THIS.set(Doing::Works);
    }
    before
}

/// For as long as this thread waits.
#[must_use]
pub(crate) struct Wait(Doing);

/// This thread waits for others of the process.
pub(crate) fn wait() -> Wait {
    Wait(pause())
}

impl Wait {
    /// That it is over will be told.
    pub(crate) fn lasts(self) {
        std::mem::forget(self);
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        restore(self.0);
    }
}

/// What was waited for has come, if there was anything.
pub(crate) fn over<W>(waits: W) {
    drop(waits);
}

/// It does what it did before.
pub(crate) fn restore(before: Doing) {
    match before {
        Doing::Waits => _ = pause(),
        Doing::Works => _ = resume(),
        Doing::Unknown => {}
    }
}

/// Somebody takes part of whom it is not known when he waits.
pub fn doubt() {
    static DOUBTED: AtomicBool = AtomicBool::new(false);
    if is_shown() && !DOUBTED.swap(true, Relaxed) {
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
        assert_eq!((pause(), resume()), (Doing::Works, Doing::Waits), "nobody counts");
        show_on(&SHOWN);
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
            assert_eq!(resume(), Doing::Waits);
            restore(Doing::Waits);
            assert!(waits());
            restore(Doing::Works);
            assert_eq!(known(), 2);
            end();
        })
        .join()
        .unwrap();
        assert!(waits());
        doubt();
        doubt();
        assert!(!waits());
        resume();
        hide();
        pause();
        assert_eq!(SHOWN.load(Relaxed) >> 48, 2);
    }
}
