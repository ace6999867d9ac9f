//! What every call does first and last.

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

/// Does what a call is to do, under the lock. No panic gets out.
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
            // "Not ready" is an answer, which is not kept as an error.
            if error != Error::NOT_READY {
                thread::set_last_error(error);
            }
            error.code()
        }
    }
}

/// A function that the simulation does not have.
pub(crate) fn unsupported(name: &str) -> c_int {
    eprintln!("commsan: simulated GPU: {name} is not supported");
    thread::set_last_error(Error::NOT_SUPPORTED);
    Error::NOT_SUPPORTED.code()
}

/// Defines entry points: `fn name, twin in (session, which)(arguments) { body }`.
///
/// The body has the locked runtime as `session`. With a twin, `which` makes of a stream's handle
/// what it means in this function or in its twin for per-thread default streams.
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

/// Where the program wants something written. Only the program makes them.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct Out<T>(*mut T);

impl<T> Out<T> {
    /// Writes it; an error if there is no place to.
    pub(crate) fn put(self, value: T) -> Result {
        if self.0.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        self.put_if_wanted(value);
        Ok(())
    }

    /// Writes it if there is a place to.
    pub(crate) fn put_if_wanted(self, value: T) {
        if !self.0.is_null() {
            // SAFETY: the program has promised that a T can be written there.
            unsafe { self.0.write_unaligned(value) };
        }
    }

    /// Where it is.
    pub(crate) fn address(self) -> usize {
        self.0 as usize
    }

    /// This output place as one of another type.
    pub(crate) fn cast<U>(self) -> Out<U> {
        Out(self.0.cast())
    }

    pub(crate) fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// Writes elements one after the other.
    pub(crate) fn put_all(self, values: impl IntoIterator<Item = T>) {
        for (at, value) in values.into_iter().enumerate() {
            // SAFETY: the program has promised room for so many.
            unsafe { self.0.add(at).write_unaligned(value) };
        }
    }

    /// What is there now.
    pub(crate) fn get(self) -> Result<T>
    where
        T: Copy,
    {
        In(self.0.cast_const()).get()
    }
}

/// What the program wants read. Only the program makes them.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct In<T>(*const T);

impl<T: Copy> In<T> {
    /// Reads it; an error if there is nothing.
    pub(crate) fn get(self) -> Result<T> {
        if self.0.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        // SAFETY: the program has promised that there is a T.
        Ok(unsafe { self.0.read_unaligned() })
    }

    /// Reads so many.
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

    /// What is so many bytes further.
    pub(crate) fn after<U>(self, bytes: usize) -> In<U> {
        In(self.0.wrapping_byte_add(bytes).cast())
    }

    /// This input place as one that the call also writes.
    pub(crate) fn written(self) -> Out<T> {
        Out(self.0.cast_mut())
    }

    /// This input place as one of another type.
    pub(crate) fn cast<U>(self) -> In<U> {
        In(self.0.cast())
    }
}

impl<T> From<*const T> for In<T> {
    /// What something that the program has given points to.
    fn from(pointer: *const T) -> In<T> {
        In(pointer)
    }
}

impl In<c_char> {
    /// Reads a text that ends in a zero.
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
