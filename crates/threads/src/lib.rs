//! Threads and OpenMP within a process: who runs concurrently with whom.
//!
//! Agents are threads, the implicit tasks of OpenMP's parallel regions, and explicit tasks. Each has
//! a clock ([`agents`]); what passes between them goes through cells, one for each lock, barrier,
//! region or task: who releases adds its clock to the cell, who acquires takes the cell's over.
//! Three sensors see where that happens: threads of POSIX and C11 ([`posix`]) and gcc's OpenMP runtime
//! ([`gomp`]) by their functions, LLVM's by OMPT ([`ompt`]); hooks tell of atomics and fences. The same sensors
//! see which threads are at work ([`work`]).
//!
//! **Soundness.** Two things are called concurrent only if no chain of these leads from one to the
//! other. Whatever is not known for certain counts as ordered:
//! - what threads do that commsan has not seen being created, or that are too many ([`AGENTS`]);
//! - cells are shared by unrelated objects where their keys collide, and a task with more dependences than
//!   there is room for depends on all its siblings that have any;
//! - the event of a task that is detached orders everything that runs.
//!
//! What this cannot see is synchronisation that nobody tells it of: by inline assembly, or atomics of
//! code that was not compiled by commsan.
//!
//! [`AGENTS`]: commsan_shadow::AGENTS

#[macro_use]
mod interpose;

pub mod agents;
mod depend;
mod gomp;
mod here;
mod kmp;
mod ompt;
mod posix;
mod tasks;
mod unjoined;
pub mod work;

pub use here::Here;
pub use tasks::ignore_locks_in;

use commsan_process::inside::Inside;
use commsan_process::{abi, thread};
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;

/// Called when an agent has ended whose stack frames lay in a range, at `popped`; and when nothing
/// runs in parallel any more, at `calm`.
pub struct Observer {
    /// Frames in this memory are gone; what uses it next has nothing to do with them.
    pub popped: fn(Range<usize>),
    /// The process is back to one agent.
    pub calm: fn(),
    /// A lock at an address is taken (true) or about to be given up, while there are windows that several
    /// processes share.
    pub lock: fn(usize, bool),
}

static OBSERVER: OnceLock<Observer> = OnceLock::new();

/// Begins to follow threads, and to tell `observer`.
///
/// The memory shared with hooks must be mapped, and the calling thread the process's first.
pub fn connect(observer: Observer) {
    posix::prepare();
    work::first();
    let _ = OBSERVER.set(observer);
    agents::publish_stamp();
}

/// Whether this thread works in a parallel region that it has opened, beside others.
pub fn is_in_team() -> bool {
    tasks::members() > 1
}

fn observer() -> Option<&'static Observer> {
    OBSERVER.get()
}

/// What a hook saw: an atomic access that acquires, releases, or a fence.
pub fn synchronise(address: usize, acquires: bool, releases: bool) {
    if agents::is_parallel() {
        let cell = agents::cell(agents::Kind::Atomic, address as u64);
        match (acquires, releases) {
            (true, true) => agents::meet(cell),
            (true, false) => agents::acquire(cell),
            (false, true) => agents::release(cell),
            (false, false) => {}
        }
    }
}

/// A hook saw a write to a volatile variable, which others may wait for.
pub fn broadcast() {
    if agents::is_parallel() {
        agents::meet_all();
    }
}

/// Whether there is anybody to synchronise with, threads or other processes, and the program does so, not MPI or
/// commsan.
fn concerns() -> bool {
    let others = observer().is_some() && abi::abi().parallel.load(Relaxed) != 0;
    others && !thread::with(thread::Thread::is_inside)
}

/// Whether threads that are made now are the program's.
fn from_program() -> bool {
    observer().is_some() && Inside::enter().is_some()
}

/// The frames of a task that this thread has run are gone. Those of the OpenMP runtime lie where they
/// began, so some that are still in use are taken for gone, too.
fn popped() {
    const RUNTIME: usize = 2048;
    let (here, stack) = (0u8, thread::with(thread::Thread::stack_bounds));
    let end = (&raw const here as usize + RUNTIME).min(stack.end);
    if let Some(observer) = observer() {
        (observer.popped)(stack.start..end);
    }
}
