//! Reentrancy guard: whether this thread is inside the MPI library or commsan itself.
//!
//! What happens inside is not the program's doing: the library writes receive buffers, commsan
//! allocates. User callbacks that MPI runs (reduction operations, attribute functions) count as the
//! library: they work on its behalf, on its buffers.
//!
//! A signal handler may leave the code it interrupted, commsan included, by `siglongjmp`, and then
//! drop is never called. So the guard is the stack address at which the thread entered: a later
//! entry from that address or further up proves that the frame is gone.

use crate::thread::{self, Thread};
use std::ops::Deref;
use std::ptr::NonNull;

/// Proof that this thread entered from the program, with its state; dropping it leaves.
///
/// Not `Send`, so it never outlives the thread.
pub struct Inside(NonNull<Thread>);

impl Inside {
    /// Enters, unless this thread is inside already.
    #[inline]
    pub fn enter() -> Option<Inside> {
        let marker = 0u8;
        let here = &raw const marker as usize;
        thread::with(|thread| {
            let outer = thread.inside.get();
            if outer != 0 && !is_gone(thread, outer, here) {
                return None;
            }
            thread.inside.set(here);
            // What an earlier call of MPI has left there lies in frames that are gone.
            thread.calling.set(0);
            Some(Inside(NonNull::from(thread)))
        })
    }
}

/// Whether the frame at `outer` has been left, seen from `here`. On another stack (a signal's own)
/// addresses prove nothing.
#[cold]
fn is_gone(thread: &Thread, outer: usize, here: usize) -> bool {
    let bounds = thread.stack_bounds();
    bounds.contains(&outer) && bounds.contains(&here) && here >= outer
}

impl Deref for Inside {
    type Target = Thread;

    #[inline]
    fn deref(&self) -> &Thread {
        // SAFETY: the state of the current thread, which has no destructor and lives as long.
        unsafe { self.0.as_ref() }
    }
}

impl Drop for Inside {
    #[inline]
    fn drop(&mut self) {
        self.inside.set(0);
    }
}

/// Runs `f` as the program's own code, called back by a library that this thread may be inside of.
pub fn outside<R>(f: impl FnOnce() -> R) -> R {
    let before = thread::with(|thread| (thread.inside.replace(0), thread.calling.get()));
    let result = f();
    thread::with(|thread| {
        thread.inside.set(before.0);
        thread.calling.set(before.1);
    });
    result
}
