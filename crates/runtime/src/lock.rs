//! The lock around this process's state.
//!
//! It is taken for some tens of nanoseconds at each MPI call, nearly always by one thread. Unlike
//! a mutex, unlocking is a plain store; who finds it taken yields the processor. A panic leaves
//! it unlocked: what it protects is then switched off.

use std::cell::UnsafeCell;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};

/// A value with a lock.
pub struct Lock<T> {
    taken: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: the value is reached only through a guard, of which there is one at a time.
unsafe impl<T: Send> Sync for Lock<T> {}

/// Access to the value until dropped.
pub struct Guard<'a, T>(&'a Lock<T>);

impl<T> Lock<T> {
    /// An unlocked value.
    pub const fn new(value: T) -> Lock<T> {
        Lock { taken: AtomicBool::new(false), value: UnsafeCell::new(value) }
    }

    /// Waits for the lock. The same thread must not hold it.
    #[inline]
    pub fn lock(&self) -> Guard<'_, T> {
        while self.taken.swap(true, Ordering::Acquire) {
            while self.taken.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
        }
        Guard(self)
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
        self.0.taken.store(false, Ordering::Release);
    }
}
