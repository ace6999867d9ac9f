//! The entry and exit of every call: lock, error state, panics; typed pointers of the program.

use crate::error::{Error, Result, SUCCESS};
use crate::kernels::Ptx;
use crate::runtime::{Runtime, Session};
use crate::settings::Settings;
use crate::thread;
use std::ffi::{CStr, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;

static RUNTIME: LazyLock<Result<&'static Runtime>> = LazyLock::new(|| {
    let settings = Settings::from_environment();
    let kernels = Ptx::new(settings.seed);
    Runtime::new(settings, Box::new(kernels))
});

/// Runs the body of a call under the lock, and turns panics into errors.
pub(crate) fn call(body: impl FnOnce(&mut Session) -> Result) -> c_int {
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        if thread::is_in_host_call() {
            return Err(Error::NOT_PERMITTED);
        }
        body(&mut (*RUNTIME)?.session())
    }));
    match outcome.unwrap_or(Err(Error::UNKNOWN)) {
        Ok(()) => SUCCESS,
        Err(error) => {
            // "Not ready" is an answer, not an error to be remembered.
            if error != Error::NOT_READY {
                thread::set_last_error(error);
            }
            error.code()
        }
    }
}

/// The body of a function that is not simulated.
pub(crate) fn unsupported(name: &str) -> c_int {
    eprintln!("commsan: simulated GPU: {name} is not supported");
    thread::set_last_error(Error::NOT_SUPPORTED);
    Error::NOT_SUPPORTED.code()
}

/// Defines entry points: `fn name, twin in (session, which)(arguments) { body }`.
///
/// The body has the locked runtime as `session`. If there is a twin, for per-thread default
/// streams, `which` turns a stream handle into its meaning in the function that was called.
macro_rules! calls {
    ($(
        fn $name:ident $(, $twin:ident)? in $bind:tt $args:tt $body:block
    )*) => { $(
        calls!(@one $name legacy $bind $args $body);
        $(calls!(@one $twin per_thread $bind $args $body);)?
    )* };
    (@one $name:ident $default:ident ($session:pat $(, $which:ident)?)
        ($($arg:ident: $ty:ty),* $(,)?) $body:block) => {
        #[unsafe(no_mangle)]
        pub(crate) unsafe extern "C" fn $name($($arg: $ty),*) -> std::ffi::c_int {
            crate::api::entry::call(|$session: &mut crate::runtime::Session| {
                $(let $which = crate::streams::Which::$default;)?
                $body
            })
        }
    };
}

/// A pointer of the program to which a result is written. Only the program makes them.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct Out<T>(*mut T);

impl<T> Out<T> {
    /// Writes the result; an error if the pointer is null.
    pub(crate) fn put(self, value: T) -> Result {
        if self.0.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        self.put_if_wanted(value);
        Ok(())
    }

    /// Writes the result unless the pointer is null.
    pub(crate) fn put_if_wanted(self, value: T) {
        if !self.0.is_null() {
            // SAFETY: the program has promised that a T can be written there.
            unsafe { self.0.write_unaligned(value) };
        }
    }

    /// The address.
    pub(crate) fn address(self) -> usize {
        self.0 as usize
    }

    /// The pointer with another pointee type.
    pub(crate) fn cast<U>(self) -> Out<U> {
        Out(self.0.cast())
    }

    pub(crate) fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// Writes elements one after the other.
    pub(crate) fn put_all(self, values: impl IntoIterator<Item = T>) {
        for (at, value) in values.into_iter().enumerate() {
            // SAFETY: the program has promised space for this many elements.
            unsafe { self.0.add(at).write_unaligned(value) };
        }
    }

    /// The value that is there now.
    pub(crate) fn get(self) -> Result<T>
    where
        T: Copy,
    {
        In(self.0.cast_const()).get()
    }
}

/// A pointer of the program from which an argument is read. Only the program makes them.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct In<T>(*const T);

impl<T: Copy> In<T> {
    /// Reads the value; an error if the pointer is null.
    pub(crate) fn get(self) -> Result<T> {
        if self.0.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        // SAFETY: the program has promised that there is a T.
        Ok(unsafe { self.0.read_unaligned() })
    }

    /// Reads `count` values.
    pub(crate) fn all(self, count: usize) -> Result<Vec<T>> {
        if count > 0 && self.0.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        // SAFETY: the program has promised that there are so many.
        Ok((0..count).map(|at| unsafe { self.0.add(at).read_unaligned() }).collect())
    }
}

impl<T> In<T> {
    pub(crate) fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// The pointer `bytes` bytes further, with another pointee type.
    pub(crate) fn after<U>(self, bytes: usize) -> In<U> {
        In(self.0.wrapping_byte_add(bytes).cast())
    }

    /// The pointer as one to which the call also writes.
    pub(crate) fn written(self) -> Out<T> {
        Out(self.0.cast_mut())
    }

    /// The pointer with another pointee type.
    pub(crate) fn cast<U>(self) -> In<U> {
        In(self.0.cast())
    }
}

impl<T> From<*const T> for In<T> {
    /// Wraps a pointer of the program.
    fn from(pointer: *const T) -> In<T> {
        In(pointer)
    }
}

impl In<c_char> {
    /// Reads a zero-terminated string.
    pub(crate) fn text(self) -> Result<String> {
        if self.0.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        // SAFETY: the program has promised that there is such a text.
        Ok(unsafe { CStr::from_ptr(self.0) }.to_string_lossy().into_owned())
    }
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetLastError() -> c_int {
    thread::take_last_error()
}

#[unsafe(no_mangle)]
extern "C" fn cudaPeekAtLastError() -> c_int {
    thread::last_error()
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetErrorName(code: c_int) -> *const c_char {
    crate::error::describe(code).0.as_ptr()
}

#[unsafe(no_mangle)]
extern "C" fn cudaGetErrorString(code: c_int) -> *const c_char {
    crate::error::describe(code).1.as_ptr()
}
