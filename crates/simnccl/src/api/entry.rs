//! What every call does first and last.

use crate::abi::{Code, DataType};
use crate::error::{self, Failure, Result};
use crate::group;
use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Does what a call is to do. No panic gets out.
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
/// other, since a profiler may stand in front of one.
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

/// Where the program wants something written. Only the program makes them.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct Out<T>(*mut T);

// SAFETY: the program gives the place to the call for as long as that lasts, even where a thread of
// the library's own does what is asked.
unsafe impl<T> Send for Out<T> {}

impl<T> Out<T> {
    /// The place, if there is one; `name` is the argument's.
    pub(crate) fn required(self, name: &str) -> Result<Out<T>> {
        if self.0.is_null() {
            return Err(Failure::argument(format!("{name} argument is NULL")));
        }
        Ok(self)
    }

    /// Writes to a place that is [required][Out::required].
    pub(crate) fn put(self, value: T) {
        // SAFETY: not null, and the program has promised that a T can be written there.
        unsafe { self.0.write_unaligned(value) };
    }

    /// What is at a place that is [required][Out::required].
    pub(crate) fn get(self) -> T {
        // SAFETY: not null, and the program has promised that there is a T.
        unsafe { self.0.read_unaligned() }
    }

    /// The place that many elements further.
    pub(crate) fn after(self, count: usize) -> Out<T> {
        Out(self.0.wrapping_add(count))
    }
}

/// What the program wants read. Only the program makes them.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct In<T>(*const T);

impl<T: Copy> In<T> {
    /// Nothing to read.
    pub(crate) fn nothing() -> In<T> {
        In(std::ptr::null())
    }

    /// Reads it, if there is something.
    pub(crate) fn get(self) -> Option<T> {
        // SAFETY: the program has promised that there is a T where there is anything.
        (!self.0.is_null()).then(|| unsafe { self.0.read_unaligned() })
    }

    /// Reads so many; nothing if there is nothing.
    pub(crate) fn all(self, count: usize) -> Option<Vec<T>> {
        if self.0.is_null() {
            return None;
        }
        // SAFETY: the program has promised that there are so many.
        Some((0..count).map(|at| unsafe { self.0.add(at).read_unaligned() }).collect())
    }

    /// Where it is, if there is something.
    pub(crate) fn address(self) -> Option<u64> {
        (!self.0.is_null()).then_some(self.0 as u64)
    }
}

/// A datatype by its number.
pub(crate) fn datatype(number: c_int) -> Result<DataType> {
    DataType::of(number).ok_or_else(|| Failure::argument(format!("invalid type {number}")))
}

/// A rank by its number, as a root or a peer.
pub(crate) fn rank(number: c_int, ranks: usize) -> Result<usize> {
    let rank = usize::try_from(number).ok().filter(|&rank| rank < ranks);
    let invalid = || format!("invalid root {number} (root should be in the 0..{ranks} range)");
    rank.ok_or_else(|| Failure::argument(invalid()))
}
