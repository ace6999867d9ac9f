//! The one state of this process, and its lock.
//!
//! Programs use devices before they initialise MPI: they choose one by the rank that the launcher
//! passes, allocate memory, and create streams. State therefore begins with the first call of
//! either, and `MPI_Init` adds the log and the other ranks. After `MPI_Finalize` nothing is
//! followed. Without MPI there is a log from the first call on, and everything is followed until
//! the process exits.

#[cfg(feature = "serial")]
mod alone;
mod devices;
#[cfg(not(feature = "serial"))]
mod rank;

#[cfg(feature = "serial")]
use alone as kind;
#[cfg(not(feature = "serial"))]
use rank as kind;

pub use kind::{forget, may_be_exposed, note, on_sequential, remembers, share};
#[cfg(not(feature = "serial"))]
pub use rank::use_atomically;

use crate::lock::Lock;
use crate::options::Options;
use crate::recorder::Recorder;
use crate::serial;
use crate::stats;
use crate::traffic::{self, counter};
use commsan_callsite::Findings;
use commsan_checker::Host;
use commsan_process::abi::{self, MapError};
use commsan_process::thread::{self, Thread};
use commsan_rundir::World;
use commsan_rundir::record::Ending;
use commsan_shadow::{Mode, Pages};
use commsan_threads::agents;
use kind::{AT_EXIT, Checker, Published, disconnect};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

/// Everything a rank of a checked run knows.
pub struct State {
    directory: PathBuf,
    options: Options,
    pages: Result<Pages, MapError>,
    phase: AtomicU8,
    /// What of it is read without the lock.
    published: Published,
    inner: Lock<Option<Inner>>,
}

struct Inner {
    checker: Checker,
    recorder: Recorder,
}

/// Where this process is on its way.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Nothing has happened yet that anybody follows.
    Fresh,
    /// There is work of devices, but no MPI yet.
    Early,
    /// From `MPI_Init` to `MPI_Finalize`; without MPI, from the first use of a device on.
    Active,
    /// After that, or something went wrong.
    Over,
}

impl Phase {
    fn of(number: u8) -> Phase {
        match number {
            0 => Phase::Fresh,
            1 => Phase::Early,
            2 => Phase::Active,
            _ => Phase::Over,
        }
    }

    /// Whether calls and accesses of the program are followed.
    fn is_followed(self) -> bool {
        matches!(self, Phase::Early | Phase::Active)
    }
}

static STATE: OnceLock<State> = OnceLock::new();

/// Sets the state up; it becomes active when MPI does, or a device is used.
pub fn install(
    directory: PathBuf,
    options: Options,
    pages: Result<Pages, MapError>,
) -> &'static State {
    STATE.get_or_init(|| State {
        directory,
        options,
        pages,
        phase: AtomicU8::new(Phase::Fresh as u8),
        published: Default::default(),
        inner: Lock::new(None),
    })
}

/// Whether an access can concern something pending.
#[inline]
pub fn may_conflict(bytes: &Range<usize>, mode: Mode) -> bool {
    match STATE.get() {
        Some(state) if state.phase().is_followed() => {
            state.pages.is_ok_and(|pages| pages.may_conflict(bytes, mode))
        }
        _ => false,
    }
}

/// Runs `f` with the state locked.
pub fn with(thread: &Thread, f: impl FnOnce(&mut Checker, &mut dyn Findings)) {
    if let Some(state) = STATE.get() {
        state.with_state(thread, f);
    }
}

/// Stops checking in this process without a word: it is a child that shares the rank's log.
pub fn abandon() {
    if let Some(state) = STATE.get() {
        // One that has not begun may become a rank of its own.
        if cfg!(feature = "serial") && state.phase() == Phase::Fresh {
            return;
        }
        state.stop();
    }
    traffic::abandon();
}

/// The process exits.
pub fn exited() {
    if let Some(counter) = counter() {
        thread::with(|thread| counter.end(thread, true));
    }
    if let Some(state) = STATE.get() {
        if state.phase() == Phase::Active && state.options.check {
            thread::with(|thread| {
                commsan_cuda_shim::execute_suspects(thread);
                state.with_state(thread, |checker, out| checker.ends(true, out));
            });
        }
        match state.stop() {
            Phase::Active => thread::with(|thread| state.end(thread, AT_EXIT)),
            // It has MPI, but has not used it.
            Phase::Early => thread::with(|thread| state.end_early(thread)),
            Phase::Fresh | Phase::Over => {}
        }
    }
}

impl State {
    #[inline]
    fn phase(&self) -> Phase {
        Phase::of(self.phase.load(Ordering::Acquire))
    }

    /// Nothing is followed from now on. Gives what was until now.
    fn stop(&self) -> Phase {
        self.published.set_mode(false, false);
        Phase::of(self.phase.swap(Phase::Over as u8, Ordering::Relaxed))
    }

    /// Calls are looked at from now on.
    fn activate(&self) {
        self.phase.store(Phase::Active as u8, Ordering::Release);
        self.published.set_mode(true, counter().is_some());
    }

    /// Runs `f` on what there is, and publishes what the hooks need to know; not at all if nothing
    /// is followed.
    fn with_state(&self, thread: &Thread, f: impl FnOnce(&mut Checker, &mut dyn Findings)) {
        if !self.phase().is_followed() {
            return;
        }
        let done = catch_unwind(AssertUnwindSafe(|| {
            let Some(mut inner) = self.inner.lock(thread) else {
                // Abandoned in the middle of a change: what it protects is worth nothing now.
                self.stop();
                return;
            };
            let Some(Inner { checker, recorder }) = inner.as_mut() else { return };
            if agents::is_parallel() || checker.knows_threads() {
                checker.act_as(agents::actor(), !agents::is_parallel());
            }
            f(checker, recorder);
            self.published.publish(checker);
            let load = checker.load();
            abi::abi().live.store(load.ranges as u64, Ordering::Relaxed);
            abi::abi().stack_live.store(load.on_stack as u64, Ordering::Relaxed);
        }));
        if done.is_err() {
            self.give_up(thread);
        }
    }

    /// A call is about to be made, or has returned, and was counted for statistics: those are
    /// written from time to time.
    fn counted(&self, thread: &Thread) {
        if stats::look() && self.phase() == Phase::Active {
            let written = catch_unwind(AssertUnwindSafe(|| {
                if let Some(Some(inner)) = self.inner.lock(thread).as_deref_mut() {
                    inner.recorder.stats();
                }
            }));
            drop(written);
        }
    }

    /// A device is used: if that is before MPI is, or without, there is something to follow from
    /// now on.
    #[inline]
    fn begin_with_devices(&self, thread: &Thread) {
        if self.phase() == Phase::Fresh {
            self.prepare(thread);
        }
    }

    #[cold]
    fn prepare(&self, thread: &Thread) {
        let prepared = catch_unwind(AssertUnwindSafe(|| {
            let Some(mut inner) = self.inner.lock(thread) else { return };
            if self.phase() != Phase::Fresh {
                return;
            }
            if cfg!(feature = "serial") {
                let world = serial::world(&self.directory);
                return self.open(thread, &mut inner, &world, |_, _| {});
            }
            let Some(pages) = self.pages.ok().filter(|_| self.options.check) else { return };
            let (checker, recorder) = (Checker::new(pages), Recorder::new(self.options));
            *inner = Some(Inner { checker, recorder });
            self.phase.store(Phase::Early as u8, Ordering::Release);
        }));
        drop(prepared);
    }

    /// It is known now which rank this is: its log begins. `connect` connects
    /// it with others.
    fn open(
        &self,
        thread: &Thread,
        inner: &mut Option<Inner>,
        world: &World,
        connect: impl FnOnce(&mut Checker, &mut Recorder),
    ) {
        if let Some(counter) = counter() {
            counter.begin(thread, world, &self.directory);
        }
        let early = inner.take().map(|early| (early.checker, early.recorder));
        let (checker, recorder) = early.unzip();
        let mut recorder = recorder.unwrap_or_else(|| Recorder::new(self.options));
        recorder.begin(&self.directory, world);
        if !self.options.check {
            recorder.unchecked(
                "what it moves was counted, nothing else: `commsan profile --check` also checks the program",
            );
        }
        let pages = match self.pages {
            Ok(pages) => pages,
            Err(_) if !self.options.check => {
                return self.activate();
            }
            Err(error) => return recorder.unchecked(&advice(error)),
        };
        let mut checker = checker.unwrap_or_else(|| Checker::new(pages));
        connect(&mut checker, &mut recorder);
        recorder.stats();
        *inner = Some(Inner { checker, recorder });
        self.activate();
    }

    /// Checking itself has failed: stop, and say so.
    fn give_up(&self, thread: &Thread) {
        self.stop();
        if let Some(Some(inner)) = self.inner.lock(thread).as_deref_mut() {
            disconnect(&mut inner.checker);
            inner.recorder.note(
                "commsan failed in this rank and stopped checking it; what was found before is \
                 kept. Please report this with the program that shows it.",
            );
        }
    }

    /// What was found shall not be lost for want of a rank.
    fn end_early(&self, thread: &Thread) {
        let finished = catch_unwind(AssertUnwindSafe(|| {
            if let Some(Some(inner)) = self.inner.lock(thread).as_deref_mut()
                && inner.recorder.keeps()
            {
                inner.recorder.begin(&self.directory, &serial::world(&self.directory));
                inner.recorder.end(Ending::Exited);
            }
        }));
        drop(finished);
    }

    fn end(&self, thread: &Thread, how: Ending) {
        let finished = catch_unwind(AssertUnwindSafe(|| {
            if let Some(Some(inner)) = self.inner.lock(thread).as_deref_mut() {
                inner.recorder.end(how);
            }
        }));
        drop(finished);
    }
}

fn advice(error: MapError) -> String {
    match error {
        MapError::Occupied => "something else is mapped at commsan's address \
                               0x0fff'ffff'f000. Run without other sanitizers, and tell us what it is."
            .to_owned(),
        MapError::Version(version) => format!(
            "the program carries hooks of another version of commsan (ABI \
             {version}). Compile and link it again with `commsan cc`."
        ),
        MapError::Refused(errno) => format!(
            "the system refuses commsan's address space (error {errno}). It needs \
             1 GiB of reserved addresses: raise `ulimit -v`, or set vm.overcommit_memory to 0."
        ),
    }
}
