//! The entry and exit of every call: errors, panics; typed pointers of the program.

use crate::abi::{Code, DataType};
use crate::error::{self, Failure, Result};
use crate::group;
use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs the body of a call, and turns panics into errors.
pub(crate) fn call(name: &str, body: impl FnOnce() -> Result) -> c_int {
    let panicked = |_| {
        let message = "the simulation has failed".to_owned();
        Err(Failure { code: Code::Internal, message })
    };
    let outcome = catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(panicked);
    let Err(mut failure) = outcome else { return Code::Success as c_int };
    if failure.code != Code::InProgress {
        failure.message = format!("{name} : {}", failure.message);
        error::note(&failure);
        group::note(&failure);
    }
    failure.code as c_int
}

/// Defines entry points under both names: `fn name | twin (arguments) { body }`. Neither calls the
/// other, since a profiler may interpose one.
macro_rules! calls {
    ($( fn $name:ident | $twin:ident ($($arg:ident: $ty:ty),* $(,)?) $body:block )*) => { $(
        const _: () = {
            #[allow(clippy::too_many_arguments, reason = "as many as NCCL's function has")]
            fn body($($arg: $ty),*) -> std::ffi::c_int {
                crate::api::entry::call(stringify!($name), || $body)
            }
            #[unsafe(no_mangle)]
            extern "C" fn $name($($arg: $ty),*) -> std::ffi::c_int {
                body($($arg),*)
            }
            #[unsafe(no_mangle)]
            extern "C" fn $twin($($arg: $ty),*) -> std::ffi::c_int {
                body($($arg),*)
            }
        };
    )* };
}

/// A pointer of the program to which a result is written. Only the program makes them.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct Out<T>(*mut T);

// SAFETY: the program lends the memory to the call until it returns, even if one of the library's
// own threads writes it.
unsafe impl<T> Send for Out<T> {}

impl<T> Out<T> {
    /// The pointer, if it is not null; `name` is the argument's.
    pub(crate) fn required(self, name: &str) -> Result<Out<T>> {
        if self.0.is_null() {
            return Err(Failure::argument(format!("{name} argument is NULL")));
        }
        Ok(self)
    }

    /// Writes through a [required][Out::required] pointer.
    pub(crate) fn put(self, value: T) {
        // SAFETY: not null, and the program has promised that a T can be written there.
        unsafe { self.0.write_unaligned(value) };
    }

    /// The value at a [required][Out::required] pointer.
    pub(crate) fn get(self) -> T {
        // SAFETY: not null, and the program has promised that there is a T.
        unsafe { self.0.read_unaligned() }
    }

    /// The pointer `count` elements further.
    pub(crate) fn after(self, count: usize) -> Out<T> {
        Out(self.0.wrapping_add(count))
    }
}

/// A pointer of the program from which an argument is read. Only the program makes them.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct In<T>(*const T);

impl<T: Copy> In<T> {
    /// A null pointer.
    pub(crate) fn nothing() -> In<T> {
        In(std::ptr::null())
    }

    /// Reads the value; `None` if the pointer is null.
    pub(crate) fn get(self) -> Option<T> {
        // SAFETY: the program has promised that there is a T unless the pointer is null.
        (!self.0.is_null()).then(|| unsafe { self.0.read_unaligned() })
    }

    /// Reads `count` values; `None` if the pointer is null.
    pub(crate) fn all(self, count: usize) -> Option<Vec<T>> {
        if self.0.is_null() {
            return None;
        }
        // SAFETY: the program has promised that there are so many.
        Some((0..count).map(|at| unsafe { self.0.add(at).read_unaligned() }).collect())
    }

    /// The address; `None` if it is null.
    pub(crate) fn address(self) -> Option<u64> {
        (!self.0.is_null()).then_some(self.0 as u64)
    }
}

/// The datatype with a number.
pub(crate) fn datatype(number: c_int) -> Result<DataType> {
    DataType::of(number).ok_or_else(|| Failure::argument(format!("invalid type {number}")))
}

/// Checks the number of a rank, as a root or a peer.
pub(crate) fn rank(number: c_int, ranks: usize) -> Result<usize> {
    let rank = usize::try_from(number).ok().filter(|&rank| rank < ranks);
    let invalid = || format!("invalid root {number} (root should be in the 0..{ranks} range)");
    rank.ok_or_else(|| Failure::argument(invalid()))
}
