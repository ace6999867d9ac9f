//! Ended threads that were not joined yet: until then what they did is ordered before nothing, and
//! every other thread is concurrent with them.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Relaxed};

/// A lock-free set of thread numbers with a fixed capacity; 0 marks a free slot.
struct Set([AtomicU64; 64]);

impl Set {
    const fn new() -> Set {
        Set([const { AtomicU64::new(0) }; 64])
    }

    /// Adds a thread; false if the set is full.
    fn insert(&self, thread: libc::pthread_t) -> bool {
        let takes = |slot: &&AtomicU64| slot.compare_exchange(0, thread, AcqRel, Relaxed).is_ok();
        self.0.iter().find(takes).is_some()
    }

    /// Removes a thread; false if it was not in the set.
    fn remove(&self, thread: libc::pthread_t) -> bool {
        let leaves = |slot: &&AtomicU64| slot.compare_exchange(thread, 0, AcqRel, Relaxed).is_ok();
        self.0.iter().find(leaves).is_some()
    }
}

/// Ended threads that nobody has joined.
static ENDED: Set = Set::new();
/// Detached threads that are running.
static DETACHED: Set = Set::new();

/// A thread begins, perhaps with the number of one that has ended.
pub fn begins(thread: libc::pthread_t, detached: bool) {
    DETACHED.remove(thread);
    if detached {
        DETACHED.insert(thread);
    }
}

/// A thread ends; returns whether it is still to be joined.
pub fn ends(thread: libc::pthread_t) -> bool {
    !DETACHED.remove(thread) && ENDED.insert(thread)
}

/// A thread was joined; returns whether it had ended and was stored.
pub fn joined(thread: libc::pthread_t) -> bool {
    ENDED.remove(thread)
}

/// A thread was detached; returns whether it had ended and was stored.
pub fn detached(thread: libc::pthread_t) -> bool {
    let ended = ENDED.remove(thread);
    if !ended {
        DETACHED.insert(thread);
    }
    ended
}
