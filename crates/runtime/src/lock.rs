//! The lock around this process's state.
//!
//! It is taken for some tens of nanoseconds at each MPI call, nearly always by one thread. Unlike
//! a mutex, unlocking is a plain store; who finds it taken yields the processor. A panic leaves
//! it unlocked: what it protects is then switched off. It can also be abandoned, by a signal
//! handler that never returns to what it interrupted: nobody waits for ever.
//!
//! Locking is a plain store, too, for the thread that came first, as long as no other one has come: an atomic
//! exchange would take as long as much of what is done under the lock. The first other thread withdraws this
//! favour for good: it says so, makes each thread of the process pass a memory barrier (`membarrier(2)`), and
//! then sees whether the favoured one is inside. That one looks, when it has said that it is inside, whether the
//! favour stands; the compiler keeps that order, and the barrier makes the processor keep it.

use commsan_process::fence;
use commsan_process::thread::Thread;
use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release, SeqCst};
use std::sync::atomic::{AtomicU32, compiler_fence};

/// A value with a lock.
pub struct Lock<T> {
    /// Number of the favoured thread plus one, or one of the numbers below.
    bias_owner: AtomicU32,
    /// Number of the favoured thread plus one while it has the value, else 0.
    inside: AtomicU32,
    /// Number of the thread that has the value plus one, 0 if free, once nobody is favoured.
    owner: AtomicU32,
    value: UnsafeCell<T>,
}

/// Nobody has come yet.
const UNOWNED: u32 = 0;
/// Somebody is about to withdraw the favour.
const REVOKING: u32 = u32::MAX - 1;
/// Nobody is favoured any more.
const REVOKED: u32 = u32::MAX;

// SAFETY: the value is reached only through a guard, of which there is one at a time.
unsafe impl<T: Send> Sync for Lock<T> {}

/// Access to the value until dropped.
pub struct Guard<'a, T> {
    value: &'a UnsafeCell<T>,
    /// What says that it is taken.
    taken: &'a AtomicU32,
}

/// Rounds of yielding before a lock counts as abandoned: seconds, where it is held for
/// nanoseconds.
const MAX_YIELDS: u32 = 10_000_000;

impl<T> Lock<T> {
    /// An unlocked value.
    pub const fn new(value: T) -> Lock<T> {
        Lock {
            bias_owner: AtomicU32::new(UNOWNED),
            inside: AtomicU32::new(0),
            owner: AtomicU32::new(0),
            value: UnsafeCell::new(value),
        }
    }

    /// Waits for the lock; `None` if it was abandoned.
    #[inline]
    pub fn lock(&self, thread: &Thread) -> Option<Guard<'_, T>> {
        let me = thread.number().wrapping_add(1);
        match self.bias_owner.load(Acquire) {
            known if known == me => self.lock_biased(me),
            REVOKED => self.lock_unbiased(me),
            _ => self.revoke(me),
        }
    }

    #[inline]
    fn lock_biased(&self, me: u32) -> Option<Guard<'_, T>> {
        // Nobody takes the lock twice, so what this thread holds it has lost.
        if self.inside.load(Relaxed) == me {
            return None;
        }
        self.inside.store(me, Relaxed);
        compiler_fence(SeqCst);
        if self.bias_owner.load(Acquire) == me {
            return Some(self.guard(&self.inside));
        }
        self.inside.store(0, Release);
        self.revoke(me)
    }

    #[inline]
    fn lock_unbiased(&self, me: u32) -> Option<Guard<'_, T>> {
        match self.owner.compare_exchange(0, me, Acquire, Relaxed) {
            Ok(_) => Some(self.guard(&self.owner)),
            Err(owner) => self.wait(me, owner),
        }
    }

    fn guard<'a>(&'a self, taken: &'a AtomicU32) -> Guard<'a, T> {
        Guard { value: &self.value, taken }
    }

    #[cold]
    fn wait(&self, me: u32, mut owner: u32) -> Option<Guard<'_, T>> {
        for _ in 0..MAX_YIELDS {
            if owner == me {
                return None;
            }
            std::thread::yield_now();
            match self.owner.compare_exchange(0, me, Acquire, Relaxed) {
                Ok(_) => return Some(self.guard(&self.owner)),
                Err(other) => owner = other,
            }
        }
        None
    }

    /// Favours the first thread to come, until a second one does.
    #[cold]
    fn revoke(&self, me: u32) -> Option<Guard<'_, T>> {
        loop {
            let known = self.bias_owner.load(Acquire);
            let next = match known {
                REVOKED => return self.lock_unbiased(me),
                REVOKING if eventually(|| self.bias_owner.load(Acquire) == REVOKED) => continue,
                REVOKING => return None,
                UNOWNED if fence::prepare() => me,
                UNOWNED => REVOKED,
                _ if known == me => return self.lock_biased(me),
                _ => REVOKING,
            };
            let is_done = self.bias_owner.compare_exchange(known, next, AcqRel, Relaxed).is_ok();
            if is_done && next == REVOKING {
                let is_seen = fence::on_all_threads();
                if !is_seen || !eventually(|| self.inside.load(Acquire) == 0) {
                    // It is abandoned, or may be in use: nobody can have it any more.
                    self.owner.store(known, Relaxed);
                }
                self.bias_owner.store(REVOKED, Release);
            }
        }
    }
}

/// Waits until something holds; whether it does.
fn eventually(holds: impl Fn() -> bool) -> bool {
    (0..MAX_YIELDS).any(|_| {
        let does = holds();
        if !does {
            std::thread::yield_now();
        }
        does
    })
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: this guard is the only one.
        unsafe { &*self.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this guard is the only one, and borrowed mutably.
        unsafe { &mut *self.value.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    fn drop(&mut self) {
        self.taken.store(0, Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use commsan_process::thread;
    use std::sync::Barrier;

    /// Adds one as two accesses, which others must not come between.
    fn add(lock: &Lock<[u64; 2]>) {
        thread::with(|thread| {
            let mut value = lock.lock(thread).unwrap();
            value[0] += 1;
            std::hint::black_box(&mut *value);
            value[1] += 1;
            assert_eq!(value[0], value[1]);
        });
    }

    fn total(lock: &Lock<[u64; 2]>) -> u64 {
        thread::with(|thread| lock.lock(thread).unwrap()[0])
    }

    #[test]
    fn who_comes_alone_is_favoured() {
        let lock = Lock::new([0; 2]);
        (0..5).for_each(|_| add(&lock));
        let me = thread::with(Thread::number) + 1;
        let can = fence::prepare();
        assert_eq!(lock.bias_owner.load(Acquire), if can { me } else { REVOKED });
        std::thread::scope(|scope| scope.spawn(|| add(&lock)).join().unwrap());
        assert_eq!((lock.bias_owner.load(Acquire), total(&lock)), (REVOKED, 6));
    }

    #[test]
    fn one_at_a_time_while_the_favour_is_withdrawn() {
        for round in 0..1000 {
            let (lock, start) = (Lock::new([0; 2]), Barrier::new(4));
            std::thread::scope(|scope| {
                let (lock, start) = (&lock, &start);
                scope.spawn(|| {
                    add(lock);
                    start.wait();
                    (0..20_000).for_each(|_| add(lock));
                });
                for late in 0..3 {
                    scope.spawn(move || {
                        start.wait();
                        (0..late * round).for_each(|_| std::hint::spin_loop());
                        (0..200).for_each(|_| add(lock));
                    });
                }
            });
            assert_eq!(total(&lock), 20_601);
        }
    }

    #[test]
    fn threads_that_come_first_together_share_it() {
        for _ in 0..500 {
            let (lock, start) = (Lock::new([0; 2]), Barrier::new(3));
            std::thread::scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|| {
                        start.wait();
                        (0..50).for_each(|_| add(&lock));
                    });
                }
            });
            assert_eq!(total(&lock), 150);
        }
    }

    #[test]
    fn what_a_thread_has_abandoned_it_does_not_get_again() {
        for is_shared in [false, true] {
            let lock = Lock::new([0; 2]);
            add(&lock);
            if is_shared {
                std::thread::scope(|scope| scope.spawn(|| add(&lock)).join().unwrap());
            }
            thread::with(|thread| {
                std::mem::forget(lock.lock(thread));
                assert!(lock.lock(thread).is_none());
            });
        }
    }
}
