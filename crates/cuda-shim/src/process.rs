//! The connection to the runtime that owns this process's state.

use crate::Event;
use commsan_cuda::Ticket;
use commsan_cuda_abi::observe::Accesses;
use commsan_process::thread::Thread;
use commsan_threads::Here;
use std::sync::OnceLock;

/// The state of this process, as the entry points need it.
pub trait Process: Sync {
    /// Whether calls should be looked at.
    fn active(&self) -> bool;
    /// Whether work is looked for races.
    fn checks(&self) -> bool {
        true
    }
    /// Takes what has happened. Work gets a ticket.
    fn tell(&self, here: &Here, event: &Event) -> Option<Ticket>;
    /// Whether what moves is counted.
    fn counts(&self) -> bool {
        false
    }
    /// What launches from here are called by who counts; `call` is whose they are, if not the program's.
    fn origin(&self, _: &Here, _call: Option<&'static str>) -> u64 {
        0
    }
    /// Takes what a kernel has accessed outside its device.
    fn accessed(&self, _: &Thread, _: &Accesses) {}
    /// Whether it is of interest what this work really touches.
    fn wants(&self, thread: &Thread, ticket: Ticket) -> bool;
    /// Whether some work is suspected that has not been executed.
    fn suspects(&self, _: &Thread) -> bool {
        false
    }
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
