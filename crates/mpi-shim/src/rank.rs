//! The connection to the runtime that owns this process's state.

use commsan_callsite::Findings;
use commsan_counters::Traffic;
use commsan_guards::keys;
use commsan_job_shm::JobShm;
use commsan_mpi::{Enqueued, Tracker};
use commsan_process::stats;
use commsan_process::thread::Thread;
pub use commsan_rundir::World;
use std::sync::OnceLock;
use std::sync::atomic::AtomicU8;
#[cfg(has_mpi)]
use std::sync::atomic::Ordering::Acquire;
use std::sync::atomic::Ordering::Release;

/// The result of the attempt to share memory with the other ranks.
pub enum Shared {
    /// There are no other ranks, or no run directory.
    Unneeded,
    /// The shared memory, to which other ranks may still attach.
    Job {
        /// The memory.
        shm: JobShm,
        /// Whether this rank's program can make windows.
        windows: bool,
    },
    /// There is no shared memory.
    Impossible {
        /// Why.
        why: &'static str,
        /// Whether this rank's program can make windows.
        windows: bool,
    },
}

/// The state of this process, as the entry points need it.
pub trait Rank: Sync {
    /// Whether calls are checked.
    fn checks(&self) -> bool;
    /// A call begins at this time in ticks: what was counted until now is saved from time to time.
    /// Returns when the call really begins, in ticks.
    fn keep(&self, thread: &Thread, ticks: u64) -> u64;
    /// Runs `f` with what is counted, locked, and the rank in `MPI_COMM_WORLD`.
    fn count(&self, thread: &Thread, f: &mut dyn FnMut(&mut Traffic, u32));
    /// A call is about to be made, or has returned, and was counted for statistics.
    fn counted(&self, thread: &Thread);
    /// Whether anything is pending.
    fn pending(&self) -> bool;
    /// The sequence number that the next request will get, without taking the lock.
    fn now(&self) -> u64;
    /// Runs `f` with the state locked; not at all if the runtime has given up.
    fn with(&self, thread: &Thread, f: &mut dyn FnMut(&mut Tracker, &mut dyn Findings));
    /// An operation was put into a stream of a device, or what waits for operations there.
    fn enqueued(&self, here: &commsan_threads::Here, enqueued: &Enqueued<'_>);
    /// Runs `f` with the state locked on behalf of another thread, also after `MPI_Finalize`.
    fn look(&self, thread: &Thread, f: &mut dyn FnMut(&mut Tracker, &mut dyn Findings));
    /// Runs `f` with the state in a copy of the process, which itself is about to crash: nothing
    /// else will run.
    fn crashed(&self, thread: &Thread, f: &mut dyn FnMut(&mut Tracker, &mut dyn Findings));
    /// MPI is initialised.
    fn begin(&self, thread: &Thread, world: World, shared: Shared);
    /// Runs `f` with the state before MPI is initialised, whose library has this version: findings
    /// must be written at once, as the process may end.
    fn early(
        &self,
        thread: &Thread,
        library: String,
        f: &mut dyn FnMut(&mut Tracker, &mut dyn Findings),
    );
    /// MPI is about to be finalised.
    fn finalize(&self, here: &commsan_threads::Here);
    /// The process is about to exit, and nothing will run any more.
    fn exited(&self);
    /// The job is about to be aborted.
    fn abort(&self, thread: &Thread);
    /// The process is not checked: leaves the reason for the report, the end of a sentence that
    /// begins with the program's name.
    fn unchecked(&self, reason: &str);
}

static RANK: OnceLock<&'static dyn Rank> = OnceLock::new();

/// What each call needs, in one word: every nanosecond counts here.
static MODE: AtomicU8 = AtomicU8::new(0);

#[cfg(has_mpi)]
#[derive(Clone, Copy)]
pub(crate) struct Mode(u8);

const ACTIVE: u8 = 1;
const COUNTS: u8 = 2;
const ORDERED: u8 = 4;
const STATISTICS: u8 = 8;
const GUARDED: u8 = 16;

/// Sets whether calls are checked, whether their transfers are counted, and whether order between
/// ranks is followed. Whether they are counted for statistics, and whether buffers are guarded, is
/// decided once and for all.
pub fn set_mode(active: bool, counts: bool, ordered: bool) {
    let bit = |is: bool, bit: u8| if is { bit } else { 0 };
    let statistics = bit(stats::are_wanted(), STATISTICS);
    let guarded = bit(keys::are_taken(), GUARDED);
    let followed = bit(active, ACTIVE) | bit(counts, COUNTS) | bit(ordered, ORDERED);
    MODE.store(followed | statistics | guarded, Release);
}

#[cfg(has_mpi)]
#[inline]
pub(crate) fn mode() -> Mode {
    Mode(MODE.load(Acquire))
}

#[cfg(has_mpi)]
impl Mode {
    /// Whether calls are checked or counted.
    pub fn is_active(self) -> bool {
        self.0 & ACTIVE != 0
    }

    /// Whether calls are checked or counted, not for statistics, and without guards: the usual
    /// case, in one test.
    #[inline]
    pub fn is_usual(self) -> bool {
        self.0 & (ACTIVE | STATISTICS | GUARDED) == ACTIVE
    }

    /// Whether pages may be closed to the program.
    pub fn is_guarded(self) -> bool {
        self.0 & GUARDED != 0
    }

    /// Whether calls are counted for statistics.
    pub fn has_statistics(self) -> bool {
        self.0 & STATISTICS != 0
    }

    /// Whether transfers are counted, or calls for statistics.
    #[inline]
    pub fn observes(self) -> bool {
        self.0 & (COUNTS | STATISTICS) != 0
    }

    /// Whether transfers are counted.
    pub fn counts(self) -> bool {
        self.0 & COUNTS != 0
    }

    /// Whether order between ranks is followed.
    pub fn is_ordered(self) -> bool {
        self.0 & ORDERED != 0
    }
}

/// Connects the entry points; until then, and if never, they only pass calls on.
pub fn connect(rank: &'static dyn Rank) {
    let _ = RANK.set(rank);
}

#[cfg(has_mpi)]
#[inline]
pub(crate) fn rank() -> Option<&'static dyn Rank> {
    RANK.get().copied()
}
