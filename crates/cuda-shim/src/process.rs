//! The connection to the runtime that owns this process's state.

use crate::call::{Call, DefaultStream};
use commsan_callsite::Findings;
use commsan_counters::Traffic;
use commsan_cuda::{StreamChecker, StreamName};
use commsan_process::thread::{self, Thread};
use commsan_threads::Here;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

/// The state of this process, as the entry points need it.
pub trait Process: Sync {
    /// Whether calls should be looked at.
    fn active(&self) -> bool;
    /// Whether work is looked for races.
    fn checks(&self) -> bool {
        true
    }
    /// Runs `f` with what checks the work of streams, locked; not at all if nothing is checked.
    fn with(&self, thread: &Thread, f: &mut dyn FnMut(&mut dyn StreamChecker, &mut dyn Findings));
    /// Runs what waits for work that needs other ranks.
    fn waits(&self, _: &Thread, wait: &mut dyn FnMut()) {
        wait();
    }
    /// Whether what moves is counted.
    fn counts(&self) -> bool {
        false
    }
    /// A call is about to be made, and was counted for statistics.
    fn counted(&self, _: &Thread) {}
    /// Runs `f` with what is counted, locked, and this rank; not at all if nothing is.
    fn count(&self, _: &Thread, _: &mut dyn FnMut(&mut Traffic, u32)) {}
}

static PROCESS: OnceLock<&'static dyn Process> = OnceLock::new();

/// Connects the entry points; until then, and if never, they only pass calls on.
pub fn connect(process: &'static dyn Process) {
    let _ = PROCESS.set(process);
}

#[inline]
pub(crate) fn process() -> Option<&'static dyn Process> {
    PROCESS.get().copied().filter(|process| process.active())
}

/// The stream that a handle means to another library that the program has passed it to; `None` if
/// work of streams is not followed.
pub fn stream_of(handle: usize, name: &'static str, here: Here<'_>) -> Option<StreamName> {
    let process = process()?;
    quietly(|| Call::of(process, here, name, DefaultStream::Legacy).stream(handle))
}

/// Runs `f` with what checks the work of streams, for what is no call of the program.
pub(crate) fn with_streams(f: &mut dyn FnMut(&mut dyn StreamChecker, &Thread, &mut dyn Findings)) {
    if let Some(process) = process() {
        thread::with(|thread| {
            process.with(thread, &mut |streams, out| f(streams, thread, out));
        });
    }
}

/// Does something of commsan's: whatever goes wrong in it stays in it.
pub(crate) fn quietly<R>(f: impl FnOnce() -> R) -> Option<R> {
    catch_unwind(AssertUnwindSafe(f)).ok()
}
