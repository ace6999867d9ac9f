//! Whether this thread is inside the MPI library or commsan itself.
//!
//! What happens there is not the program's doing: the library writes receive buffers, commsan
//! allocates. User callbacks that MPI runs (reduction operations, attribute functions) count as
//! the library: they work on its behalf, on its buffers.

//!
//! A signal handler may leave by `siglongjmp` what it interrupted, commsan included, and drop is
//! never called. So what is remembered is where on the stack the thread entered: someone who enters
//! from there or further up is not below that frame, which is therefore gone.

use crate::thread;
use std::cell::Cell;

thread_local! {
    /// Stack address of the frame that entered, 0 outside.
    static INSIDE: Cell<usize> = const { Cell::new(0) };
}

/// Proof that this thread entered from the program; leaving happens on drop.
pub struct Inside(());

impl Inside {
    /// Enters, unless this thread is inside already (or is being torn down).
    #[inline]
    pub fn enter() -> Option<Inside> {
        let marker = 0u8;
        let here = &raw const marker as usize;
        let entered = INSIDE.try_with(|inside| {
            let outer = inside.get();
            if outer != 0 && !is_gone(outer, here) {
                return false;
            }
            inside.set(here);
            true
        });
        (entered == Ok(true)).then(|| Inside(()))
    }
}

/// Whether the frame at `outer` has been left, seen from `here`. On another stack (a signal's own)
/// addresses tell nothing.
#[cold]
fn is_gone(outer: usize, here: usize) -> bool {
    let bounds = thread::stack_bounds();
    bounds.contains(&outer) && bounds.contains(&here) && here >= outer
}

impl Drop for Inside {
    #[inline]
    fn drop(&mut self) {
        let _ = INSIDE.try_with(|inside| inside.set(0));
    }
}
