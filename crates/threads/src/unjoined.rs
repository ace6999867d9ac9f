//! Threads that have ended, and that somebody is to wait for: as long as nobody has, nobody knows what they did, and
//! whoever goes on acts beside them.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{AcqRel, Relaxed};

/// Numbers of threads, as many as fit; 0 is none.
struct Set([AtomicU64; 64]);

impl Set {
    const fn new() -> Set {
        Set([const { AtomicU64::new(0) }; 64])
    }

    /// Whether there was room.
    fn insert(&self, thread: libc::pthread_t) -> bool {
        let takes = |slot: &&AtomicU64| slot.compare_exchange(0, thread, AcqRel, Relaxed).is_ok();
        self.0.iter().find(takes).is_some()
    }

    /// Whether it was there.
    fn remove(&self, thread: libc::pthread_t) -> bool {
        let leaves = |slot: &&AtomicU64| slot.compare_exchange(thread, 0, AcqRel, Relaxed).is_ok();
        self.0.iter().find(leaves).is_some()
    }
}

/// Those that nobody has waited for.
static ENDED: Set = Set::new();
/// Those that nobody will wait for, and that run.
static DETACHED: Set = Set::new();

/// A thread begins, perhaps with the number of one that has ended.
pub fn begins(thread: libc::pthread_t, detached: bool) {
    DETACHED.remove(thread);
    if detached {
        DETACHED.insert(thread);
    }
}

/// A thread ends; says whether somebody is to wait for it.
pub fn ends(thread: libc::pthread_t) -> bool {
    !DETACHED.remove(thread) && ENDED.insert(thread)
}

/// Somebody has waited for a thread; says whether it had ended and was kept.
pub fn joined(thread: libc::pthread_t) -> bool {
    ENDED.remove(thread)
}

/// Nobody will wait for a thread; says whether it had ended and was kept.
pub fn detached(thread: libc::pthread_t) -> bool {
    let ended = ENDED.remove(thread);
    if !ended {
        DETACHED.insert(thread);
    }
    ended
}
