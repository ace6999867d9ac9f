//! The lock around this process's state.
//!
//! It is taken for some tens of nanoseconds at each MPI call, nearly always by one thread. Unlike
//! a mutex, unlocking is a plain store; who finds it taken yields the processor. A panic leaves
//! it unlocked: what it protects is then switched off. It can also be abandoned, by a signal
//! handler that never returns to what it interrupted: nobody waits for ever.

use commsan_sense::thread::Thread;
use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicU32, Ordering};

/// A value with a lock.
pub struct Lock<T> {
    /// Number of the owning thread plus one, 0 if free.
    owner: AtomicU32,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached only through a guard, of which there is one at a time.
unsafe impl<T: Send> Sync for Lock<T> {}

/// Access to the value until dropped.
pub struct Guard<'a, T>(&'a Lock<T>);

/// Rounds of yielding before a lock counts as abandoned: seconds, where it is held for
/// nanoseconds.
const PATIENCE: u32 = 10_000_000;

impl<T> Lock<T> {
    /// An unlocked value.
    pub const fn new(value: T) -> Lock<T> {
        Lock { owner: AtomicU32::new(0), value: UnsafeCell::new(value) }
    }

    /// Waits for the lock; `None` if it was abandoned.
    #[inline]
    pub fn lock(&self, thread: &Thread) -> Option<Guard<'_, T>> {
        let me = thread.number().wrapping_add(1);
        match self.owner.compare_exchange(0, me, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => Some(Guard(self)),
            Err(owner) => self.wait(me, owner),
        }
    }

    #[cold]
    fn wait(&self, me: u32, mut owner: u32) -> Option<Guard<'_, T>> {
        // Nobody takes the lock twice, so what this thread holds it has lost.
        for _ in 0..PATIENCE {
            if owner == me {
                return None;
            }
            std::thread::yield_now();
            match self.owner.compare_exchange(0, me, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Some(Guard(self)),
                Err(other) => owner = other,
            }
        }
        None
    }
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: this guard is the only one.
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: this guard is the only one, and borrowed mutably.
        unsafe { &mut *self.0.value.get() }
    }
}

impl<T> Drop for Guard<'_, T> {
    fn drop(&mut self) {
        self.0.owner.store(0, Ordering::Release);
    }
}
