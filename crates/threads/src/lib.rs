//! Threads and OpenMP tasks within a process: the happens-before order between them, kept in vector
//! clocks (Mattern 1989, Fidge 1988; FastTrack §2).
//!
//! Agents are threads, the implicit tasks of OpenMP's parallel regions, explicit tasks, and the
//! pieces of worksharing constructs that the runtime distributes ([`agents::worksharing`]). Each
//! has a vector clock ([`agents`]). Synchronisation goes through cells, one for each lock, barrier,
//! region or task: a release joins the agent's clock into the cell, an acquire joins the cell's
//! clock into the agent's. Three sources report it: POSIX and C11 threads ([`posix`]) and GCC's
//! OpenMP runtime ([`gomp`]) are intercepted, LLVM's reports through OMPT ([`ompt`]); compiled-in
//! hooks report atomics and fences. The same sources show which threads are running and which wait
//! ([`activity`]).
//!
//! **Soundness.** Two accesses are called concurrent only if no chain of these leads from one to
//! the other. Whatever is not known for certain counts as ordered:
//! - the accesses of threads whose creation was not observed, or that are too many ([`AGENTS`]);
//! - cells are shared by unrelated objects where their keys collide, and a task with more
//!   dependences than are stored depends on all its siblings that have any;
//! - the event of a detached task orders everything that runs;
//! - two pieces of one construct that one thread took, where that thread may own the memory that
//!   they use ([`agents::ownership`]).
//!
//! Invisible is synchronisation by inline assembly, or by atomics in code that commsan did not
//! compile.
//!
//! [`AGENTS`]: commsan_shadow::AGENTS

#[macro_use]
mod interpose;

pub mod activity;
pub mod agents;
mod depend;
mod gomp;
mod here;
mod interrupted;
mod kmp;
mod ompt;
mod posix;
mod tasks;
mod unjoined;

pub use here::Here;
pub use interrupted::Interrupted;
pub use posix::are_unseen;
pub use tasks::ignore_locks_in;

use commsan_process::inside::Inside;
use commsan_process::{abi, thread};
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;

/// Callbacks of the observer of threads.
pub struct Observer {
    /// An agent whose stack frames lay in this range has ended; later uses of the memory are
    /// unrelated.
    pub popped: fn(Range<usize>),
    /// The process is back to one agent.
    pub sequential: fn(),
    /// A lock at an address was taken (true) or is about to be released (false), while several
    /// processes share windows.
    pub lock: fn(usize, bool),
}

static OBSERVER: OnceLock<Observer> = OnceLock::new();

/// Starts to follow threads, and to report to `observer`.
///
/// The memory shared with hooks must be mapped, and the calling thread must be the initial one.
pub fn connect(observer: Observer) {
    posix::prepare();
    activity::first();
    agents::ownership::prepare();
    let _ = OBSERVER.set(observer);
    agents::publish_stamp();
}

/// Whether this thread works in a parallel region that it opened, with more than one member.
pub fn is_in_team() -> bool {
    tasks::members() > 1
}

/// How many parallel regions of several threads this thread works in; 2 for more.
pub fn region_depth() -> u32 {
    tasks::depth()
}

fn observer() -> Option<&'static Observer> {
    OBSERVER.get()
}

/// Called for an atomic access that acquires, releases or both, or a fence, that a hook observed.
pub fn synchronise(address: usize, acquires: bool, releases: bool) {
    if agents::is_parallel() {
        agents::worksharing::learn();
        let cell = agents::cell(agents::Kind::Atomic, address as u64);
        match (acquires, releases) {
            (true, true) => agents::acquire_release(cell),
            (true, false) => agents::acquire(cell),
            (false, true) => agents::release(cell),
            (false, false) => {}
        }
    }
}

/// Called where one of the sections of a construct begins, or this thread has none left, in code
/// that the compiler has distributed itself.
pub fn section(begins: bool) {
    if concerns() {
        match begins {
            true => tasks::take_section(),
            false => agents::worksharing::close(),
        }
    }
}

/// Called for a write to a volatile variable, which other threads may poll.
pub fn broadcast() {
    if agents::is_parallel() {
        agents::acquire_release_all();
    }
}

/// Whether there are other threads or processes to synchronise with, and the program itself
/// synchronises, not MPI or commsan.
fn concerns() -> bool {
    let others = observer().is_some() && abi::abi().parallel.load(Relaxed) != 0;
    others && !thread::with(thread::Thread::is_inside)
}

/// Whether threads created now are the program's.
fn from_program() -> bool {
    observer().is_some() && Inside::enter().is_some()
}

/// Reports that the frames of a task that ran on this thread are gone. The OpenMP runtime's own
/// frames lie next to them, so some that are still in use are reported as well.
fn popped() {
    const RUNTIME: usize = 2048;
    let (here, stack) = (0u8, thread::with(thread::Thread::stack_bounds));
    let end = (&raw const here as usize + RUNTIME).min(stack.end);
    if let Some(observer) = observer() {
        (observer.popped)(stack.start..end);
    }
}
