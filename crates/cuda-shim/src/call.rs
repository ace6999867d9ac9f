//! A call of the program.

use crate::process::Process;
use crate::stats::{self, Counted};
use crate::{ask, streams};
use commsan_callsite::{Findings, Place};
use commsan_counters::Traffic;
use commsan_cuda::{StreamChecker, StreamName};
use commsan_process::stack::Caller;
use commsan_process::stats::are_wanted;
use commsan_threads::Here;
use std::cell::Cell;
use std::ffi::c_int;

/// Which stream a call means that names none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DefaultStream {
    Legacy,
    PerThread,
}

/// A call of the program.
#[derive(Clone, Copy)]
pub(crate) struct Call<'a> {
    pub process: &'a dyn Process,
    pub here: Here<'a>,
    /// The name of the function, without the suffix of its variant.
    pub name: &'static str,
    pub default: DefaultStream,
    /// The library has refused it for its arguments.
    pub refused: bool,
    /// The library says that the device has failed.
    pub failed: bool,
    /// It is counted for statistics.
    pub has_statistics: bool,
}

impl<'a> Call<'a> {
    pub fn of(
        process: &'a dyn Process,
        here: Here<'a>,
        name: &'static str,
        default: DefaultStream,
    ) -> Call<'a> {
        let has_statistics = are_wanted();
        if has_statistics {
            stats::called(name);
            process.counted(here.thread);
        }
        Call { process, here, name, default, refused: false, failed: false, has_statistics }
    }

    /// This call, from somewhere else.
    pub fn from(&self, caller: Caller) -> Call<'a> {
        Call { here: Here::new(caller, self.here.thread), ..*self }
    }

    /// Runs `f` with what checks the work of streams, the place of this call, and where findings
    /// go; not at all if nothing is checked.
    pub fn with<R>(
        &self,
        f: impl FnOnce(&mut dyn StreamChecker, &dyn Place, &mut dyn Findings) -> R,
    ) -> Option<R> {
        let (mut f, mut result) = (Some(f), None);
        self.process.with(self.here.thread, &mut |streams, out| {
            let Some(f) = f.take() else { return };
            result = Some(match self.has_statistics {
                false => f(streams, &self.here, out),
                true => f(&mut Counted(streams), &self.here, out),
            });
        });
        result
    }

    /// Runs `f` with what is counted, and this rank; not at all if nothing is.
    pub fn count(&self, f: impl FnOnce(&mut Traffic, u32)) {
        let mut f = Some(f);
        self.process.count(self.here.thread, &mut |traffic, rank| {
            if let Some(f) = f.take() {
                f(traffic, rank);
            }
        });
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
        let device = self.device();
        self.with(|streams, place, out| {
            streams.device_synchronized(device, self.name, place, out);
        });
    }

    /// The stream that a handle means in this call.
    pub fn stream(&self, handle: usize) -> StreamName {
        const LEGACY: usize = 1;
        const PER_THREAD: usize = 2;
        let legacy = || StreamName::Legacy { device: self.device() };
        let thread = self.here.thread.number();
        let per_thread = || StreamName::PerThread { device: self.device(), thread };
        match (handle, self.default) {
            (0, DefaultStream::Legacy) | (LEGACY, _) => legacy(),
            (0, DefaultStream::PerThread) | (PER_THREAD, _) => per_thread(),
            _ => {
                streams::meet(handle, |blocking| self.stream_created(handle, blocking));
                StreamName::Created { handle }
            }
        }
    }

    /// A stream was created on the current device, or has been met first.
    pub fn stream_created(&self, handle: usize, blocking: bool) {
        let device = self.device();
        self.with(|streams, _, _| streams.stream_created(handle, device, blocking));
    }

    /// A handle that means the same stream in calls of either kind.
    pub fn explicit(&self, handle: usize) -> usize {
        match (handle, self.default) {
            (0, DefaultStream::Legacy) => 1,
            (0, DefaultStream::PerThread) => 2,
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
