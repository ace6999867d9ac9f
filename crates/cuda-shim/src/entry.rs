//! What every entry point does: note who calls, call the library, tell what has happened.

use crate::process::{Process, process};
use crate::{Event, ask, streams, symbols};
use commsan_cuda::{StreamName, Ticket};
use commsan_cuda_abi::is_sticky;
use commsan_process::inside::Inside;
use commsan_process::stack::Caller;
use commsan_threads::Here;
use std::cell::Cell;
use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// `cudaSuccess`.
pub(crate) const SUCCESS: c_int = 0;
/// `cudaErrorInvalidValue`.
const INVALID_VALUE: c_int = 1;
/// `cudaErrorInitializationError`, for calls where there is no library.
pub(crate) const NO_LIBRARY: c_int = 3;

/// Which stream a call means that names none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Default {
    Legacy,
    PerThread,
}

/// A call of the program.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a> {
    process: &'a dyn Process,
    pub here: Here<'a>,
    /// Its name, without what tells the variants apart.
    pub name: &'static str,
    default: Default,
    /// The library has refused it for its arguments.
    pub refused: bool,
    /// The library says that the device has failed.
    pub failed: bool,
}

impl<'a> Call<'a> {
    pub fn of(
        process: &'a dyn Process,
        here: Here<'a>,
        name: &'static str,
        default: Default,
    ) -> Call<'a> {
        Call { process, here, name, default, refused: false, failed: false }
    }

    /// The same, from somewhere else.
    pub fn from(&self, caller: Caller) -> Call<'a> {
        Call { here: Here::new(caller, self.here.thread), ..*self }
    }

    pub fn tell(&self, event: Event) -> Option<Ticket> {
        self.process.tell(&self.here, &event)
    }

    /// What launches from here are called by who counts.
    pub fn origin(&self, by: Option<&'static str>) -> u64 {
        self.process.origin(&self.here, by)
    }

    /// Whether work is looked for races.
    pub fn checks(&self) -> bool {
        self.process.checks()
    }

    /// Whether what moves is counted.
    pub fn counts(&self) -> bool {
        self.process.counts()
    }

    /// The device that is current.
    pub fn device(&self) -> u32 {
        current_device()
    }

    /// The current device has done all its work, or fails, and will never do what is left.
    pub fn device_synchronized(&self) {
        self.tell(Event::DeviceSynchronized { call: self.name, device: self.device() });
    }

    /// The stream that a handle means in this call.
    pub fn stream(&self, handle: usize) -> StreamName {
        const LEGACY: usize = 1;
        const PER_THREAD: usize = 2;
        let legacy = || StreamName::Legacy { device: self.device() };
        let thread = self.here.thread.number();
        let per_thread = || StreamName::PerThread { device: self.device(), thread };
        match (handle, self.default) {
            (0, Default::Legacy) | (LEGACY, _) => legacy(),
            (0, Default::PerThread) | (PER_THREAD, _) => per_thread(),
            _ => {
                streams::meet(self, handle);
                StreamName::Created { handle }
            }
        }
    }

    /// A handle that means the same stream in calls of either kind.
    pub fn explicit(&self, handle: usize) -> usize {
        match (handle, self.default) {
            (0, Default::Legacy) => 1,
            (0, Default::PerThread) => 2,
            _ => handle,
        }
    }
}

thread_local! {
    static DEVICE: Cell<Option<u32>> = const { Cell::new(None) };
}

/// The current device of this thread.
pub(crate) fn current_device() -> u32 {
    DEVICE.get().unwrap_or_else(|| {
        let device = ask::device();
        DEVICE.set(Some(device));
        device
    })
}

/// The current device is another one now.
pub(crate) fn device_is(device: c_int) {
    DEVICE.set(u32::try_from(device).ok());
}

/// The current device changes, to one that has to be asked for.
pub(crate) fn device_changes() {
    DEVICE.set(None);
}

/// What a function is called where users see it: `<<<>>>` becomes a call of `__cudaLaunchKernel`.
pub(crate) const fn public_name(name: &'static str) -> &'static str {
    match name.as_bytes() {
        [b'_', b'_', ..] => name.split_at(2).1,
        _ => name,
    }
}

/// Does something of commsan's: whatever goes wrong in it stays in it.
pub(crate) fn quietly<R>(f: impl FnOnce() -> R) -> Option<R> {
    catch_unwind(AssertUnwindSafe(f)).ok()
}

/// Runs `body` with the call if it is to be looked at.
#[inline]
pub(crate) fn around(
    name: &'static str,
    default: Default,
    caller: Caller,
    body: impl FnOnce(Option<&Call>) -> c_int,
) -> c_int {
    let Some(process) = process() else { return body(None) };
    let Some(inside) = Inside::enter() else { return body(None) };
    let here = Here::new(caller, &inside);
    let call = Call::of(process, here, name, default);
    symbols::meet_managed(&call);
    body(Some(&call))
}

/// Tells of what the library is about to do.
#[inline]
pub(crate) fn before(
    call: Option<&Call>,
    real: impl FnOnce() -> c_int,
    tell: impl FnOnce(&Call),
) -> c_int {
    if let Some(call) = call {
        quietly(|| tell(call));
    }
    real()
}

/// Tells of what the library has done.
#[inline]
pub(crate) fn after(
    call: Option<&Call>,
    real: impl FnOnce() -> c_int,
    tell: impl FnOnce(&Call),
) -> c_int {
    let code = real();
    if let Some(call) = call.filter(|_| code == SUCCESS) {
        quietly(|| tell(call));
    }
    code
}

/// The same of what the host has waited for. A device that has failed has nothing left to do, so that who is
/// told so need not wait for it.
#[inline]
pub(crate) fn waits(
    call: Option<&Call>,
    real: impl FnOnce() -> c_int,
    tell: impl FnOnce(&Call),
) -> c_int {
    let code = real();
    if let Some(call) = call.filter(|_| code == SUCCESS || is_sticky(code)) {
        let call = Call { failed: code != SUCCESS, ..*call };
        quietly(|| {
            tell(&call);
            if call.failed {
                call.device_synchronized();
            }
        });
    }
    code
}

/// The same of what touches memory. A refusal is told, too: the memory may be gone.
#[inline]
pub(crate) fn touches(
    call: Option<&Call>,
    real: impl FnOnce() -> c_int,
    tell: impl FnOnce(&Call),
) -> c_int {
    let code = real();
    if let Some(call) = call.filter(|_| matches!(code, SUCCESS | INVALID_VALUE)) {
        quietly(|| tell(&Call { refused: code != SUCCESS, ..*call }));
    } else if let Some(call) = call.filter(|_| is_sticky(code)) {
        quietly(|| call.device_synchronized());
    }
    code
}

/// Where the library writes a result.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct Out<T>(*mut T);

impl<T: Copy> Out<T> {
    /// What it has written. Only for calls that have succeeded.
    pub fn get(self) -> T {
        // SAFETY: the library has written a T there.
        unsafe { self.0.read_unaligned() }
    }

    pub fn is_null(self) -> bool {
        self.0.is_null()
    }
}

impl<T> Out<T> {
    /// What is so many bytes further.
    pub fn after<U>(self, bytes: usize) -> Out<U> {
        Out(self.0.wrapping_byte_add(bytes).cast())
    }

    /// Writes something else. Only for calls that have succeeded.
    pub fn put(self, value: T) {
        // SAFETY: the library has written a T there, so that there is room for one.
        unsafe { self.0.write_unaligned(value) };
    }
}

/// What the program has prepared.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct In<T>(*const T);

impl<T: Copy> In<T> {
    /// What there is. Only for calls that have succeeded: the library has read it.
    pub fn get(self) -> T {
        // SAFETY: the program has promised that there is a T.
        unsafe { self.0.read_unaligned() }
    }

    /// The same for calls that may have been refused: there may be none.
    pub fn if_any(self) -> Option<T> {
        (!self.is_null()).then(|| self.get())
    }

    /// As many of them; none where there is no place for any.
    pub fn all(self, count: usize) -> Vec<T> {
        let count = if self.is_null() { 0 } else { count };
        // SAFETY: the program has promised that there are so many.
        (0..count).map(|at| unsafe { self.0.add(at).read_unaligned() }).collect()
    }

    /// What is so many bytes further.
    pub fn after<U>(self, bytes: usize) -> In<U> {
        In(self.0.wrapping_byte_add(bytes).cast())
    }

    pub fn address(self) -> usize {
        self.0 as usize
    }

    pub fn is_null(self) -> bool {
        self.0.is_null()
    }
}

impl<T> From<&T> for In<T> {
    fn from(value: &T) -> In<T> {
        In(value)
    }
}

impl<T> From<*const T> for In<T> {
    fn from(pointer: *const T) -> In<T> {
        In(pointer)
    }
}
