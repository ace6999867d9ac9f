//! The runtime's own two threads, started on demand.
//!
//! One calls the functions that the program has put into streams, as CUDA does on a thread of its
//! driver: they may block, and a thread that waits for them may hold locks that they take.
//!
//! The other watches a program that waits without calling the runtime: for a flag in mapped or
//! managed memory, for a function that a stream is to call, for another process. When there was no
//! call for a while and the program could be waiting for something, it executes everything that can
//! run.

use crate::order::OpId;
use crate::runtime::{Runtime, Session, State};
use crate::schedule::{Pending, Step};
use crate::task::Task;
use crate::thread;
use parking_lot::MutexGuard;
use std::time::Duration;

/// Interval at which the watcher polls.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Number of polls without a call of the program after which pending work is executed. The first
/// applies if a function is to be called or another process may wait; the second if the program
/// could only wait for a change of memory, so that a program that computes for long is not mistaken
/// for one that waits.
const QUIET_INTERVALS: u32 = 5;
const QUIET_MEMORY_INTERVALS: u32 = 25;

/// Which threads have been started.
#[derive(Debug, Default)]
pub struct Services {
    caller: bool,
    watcher: bool,
}

impl Session {
    /// Starts the threads that are needed, and wakes the one that calls functions.
    pub(crate) fn wake_services(&mut self) {
        let runtime = self.runtime;
        self.wake_caller(runtime);
        if !self.services.watcher && self.quiet_limit().is_some() {
            self.services.watcher = true;
            start("cuda-watch", move || watch(runtime));
        }
    }
}

impl State {
    fn wake_caller(&mut self, runtime: &'static Runtime) {
        if !self.host_calls.is_empty() {
            if !std::mem::replace(&mut self.services.caller, true) {
                start("cuda-callbacks", move || call_functions(runtime));
            }
            runtime.host_calls.notify_one();
        }
    }

    /// Number of polls without a call after which pending work is executed; `None` if the program
    /// could not see, without a call, that it was.
    fn quiet_limit(&self) -> Option<u32> {
        if self.order.is_idle() {
            return None;
        }
        if self.exported || self.functions > 0 {
            return Some(QUIET_INTERVALS);
        }
        self.memory.is_seen_by_host().then_some(QUIET_MEMORY_INTERVALS)
    }
}

/// Starts a thread that blocks all signals: they are for the program's threads.
fn start(name: &str, body: impl FnOnce() + Send + 'static) {
    let before = block_signals();
    let started = std::thread::Builder::new().name(name.to_owned()).spawn(body);
    // SAFETY: restores the mask that this thread had.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut()) };
    if let Err(error) = started {
        eprintln!("commsan: simulated GPU: cannot start a thread: {error}");
    }
}

/// Blocks all signals of this thread, which new threads inherit. Returns the previous mask.
fn block_signals() -> libc::sigset_t {
    // SAFETY: a signal set is plain data; the calls fill both in.
    unsafe {
        let mut all: libc::sigset_t = std::mem::zeroed();
        let mut before: libc::sigset_t = std::mem::zeroed();
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before);
        before
    }
}

/// Calls functions as they come, one at a time.
fn call_functions(runtime: &'static Runtime) {
    let mut state = runtime.lock();
    loop {
        let Some((op, pending)) = state.host_calls.pop_front() else {
            runtime.host_calls.wait(&mut state);
            continue;
        };
        call_function(&mut state, op, &pending);
        runtime.completed.notify_all();
    }
}

fn call_function(state: &mut MutexGuard<'static, State>, op: OpId, pending: &Pending) {
    if let Task::Host(call) = pending.task {
        let status = state.status(pending.device);
        MutexGuard::unlocked(state, || thread::in_host_call(|| call.call(status)));
    }
    let finish = pending.start + pending.task.cost();
    state.finish(op, pending.device, finish);
}

fn watch(runtime: &'static Runtime) {
    let (mut seen, mut quiet) = (runtime.calls(), 0);
    loop {
        std::thread::sleep(POLL_INTERVAL);
        let calls = runtime.calls();
        quiet = if calls == seen { quiet + 1 } else { 0 };
        seen = calls;
        if quiet >= QUIET_INTERVALS {
            execute_all(runtime, seen, quiet);
        }
    }
}

/// Executes until nothing is left, or the program calls again.
fn execute_all(runtime: &'static Runtime, seen: u64, quiet: u32) {
    let mut state = runtime.lock();
    let is_time = |state: &State| state.quiet_limit().is_some_and(|patience| quiet >= patience);
    // A thread that waits in a call executes what it needs itself.
    while state.waiting == 0 && is_time(&state) && runtime.calls() == seen {
        let step = state.step(None);
        state.wake_caller(runtime);
        if step == Step::Blocked {
            break;
        }
        MutexGuard::bump(&mut state);
    }
    runtime.completed.notify_all();
}
