//! Whether this thread is inside the MPI library or commsan itself.
//!
//! What happens there is not the program's doing: the library writes receive buffers, commsan
//! allocates. User callbacks that MPI runs (reduction operations, attribute functions) count as
//! the library: they work on its behalf, on its buffers.

use std::cell::Cell;

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Proof that this thread entered from the program; leaving happens on drop.
pub struct Inside(());

impl Inside {
    /// Enters, unless this thread is inside already (or is being torn down).
    #[inline]
    pub fn enter() -> Option<Inside> {
        match INSIDE.try_with(|inside| inside.replace(true)) {
            Ok(false) => Some(Inside(())),
            Ok(true) | Err(_) => None,
        }
    }
}

impl Drop for Inside {
    #[inline]
    fn drop(&mut self) {
        let _ = INSIDE.try_with(|inside| inside.set(false));
    }
}
