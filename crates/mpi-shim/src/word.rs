//! Calls as the entry points pass them on: arguments as machine words, the language of the binding,
//! the call table.

use commsan_mpi_calls::{CALLS, Call};
use commsan_process::thread;

/// Whose binding a call came through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    C,
    Fortran,
}

/// An argument as one machine word.
pub(crate) trait Word {
    fn word(self) -> usize;
}

impl<T> Word for *const T {
    fn word(self) -> usize {
        self as usize
    }
}

impl<T> Word for *mut T {
    fn word(self) -> usize {
        self as usize
    }
}

impl Word for i32 {
    fn word(self) -> usize {
        self as isize as usize
    }
}

impl Word for isize {
    fn word(self) -> usize {
        self as usize
    }
}

impl Word for i64 {
    fn word(self) -> usize {
        self as usize
    }
}

/// Words of the values that calls of OpenSHMEM pass; nothing depends on those of reals.
macro_rules! values {
    ($($of:ty),*) => {
        $(impl Word for $of {
            fn word(self) -> usize {
                self as usize
            }
        })*
    };
}

values!(i8, u8, i16, u16, u32, u64, usize, f32, f64);

/// The call table, whose rows the entry points name.
pub(crate) fn table() -> &'static [Call] {
    &CALLS
}

/// Whether the library's Fortran layer is calling.
pub(crate) fn from_fortran_layer() -> bool {
    thread::with(|thread| thread.outer.get().is_some())
}
