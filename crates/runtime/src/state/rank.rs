//! The state of a rank, as hooks and the entry points of MPI need it.

use super::{Inner, Phase, STATE, State, exited};
use crate::guards;
use crate::recorder::Recorder;
use crate::serial;
use crate::traffic::counter;
use commsan_callsite::Findings;
use commsan_checker::Host;
pub use commsan_checker::rank::Checker;
use commsan_counters::Traffic;
use commsan_job_shm::JobShm;
use commsan_mpi::{AtomicUse, Enqueued, Tracker};
use commsan_mpi_shim::{Rank, Shared, set_mode};
use commsan_process::abi;
use commsan_process::inside::Inside;
use commsan_process::stack::Caller;
use commsan_process::thread::Thread;
use commsan_rundir::World;
use commsan_rundir::record::Ending;
use commsan_shadow::{Mode, Shadow, When};
use commsan_threads::{Here, agents};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// What it means that the process exits: `MPI_Finalize` is missing.
pub(super) const AT_EXIT: Ending = Ending::Exited;

/// What of the state is read without the lock.
pub(super) struct Published {
    /// Threads share pages, and what they do there is noted.
    sharing: AtomicBool,
    /// It is remembered what threads have called.
    remembering: AtomicBool,
    /// What the program does to window memory.
    shadow: OnceLock<Shadow>,
    /// Whether ranks exchange their clocks.
    ordered: AtomicBool,
    /// Sequence number of the next request.
    next_request: AtomicU64,
}

impl Default for Published {
    fn default() -> Published {
        Published {
            sharing: AtomicBool::new(false),
            remembering: AtomicBool::new(false),
            shadow: OnceLock::new(),
            ordered: AtomicBool::new(false),
            next_request: AtomicU64::new(1),
        }
    }
}

impl Published {
    /// Publishes what may have changed.
    #[inline]
    pub fn publish(&self, checker: &Checker) {
        let tracker = &checker.tracker;
        self.remembering.store(tracker.thread_calls.are_remembered(), Ordering::Relaxed);
        self.next_request.store(tracker.now(), Ordering::Release);
        self.share_windows(tracker.rma.shared_windows() != 0);
    }

    /// Calls are looked at, or not, and what they move is counted.
    pub fn set_mode(&self, active: bool, counts: bool) {
        set_mode(active, counts, active && self.ordered.load(Ordering::Relaxed));
    }

    /// Whether hooks must look out for what concerns windows that several ranks load from and store
    /// to.
    #[inline]
    fn share_windows(&self, share: bool) {
        if share != abi::shares_windows()
            && let Some(shadow) = self.shadow.get()
        {
            abi::share_windows(shadow, share);
        }
    }
}

/// What others say is not relied upon any more, nor on what this rank says.
pub(super) fn disconnect(checker: &mut Checker) {
    checker.tracker.rma.disconnect();
    checker.tracker.stop_guarding();
}

/// Whether some window may expose these bytes.
pub fn may_be_exposed(bytes: &Range<usize>) -> bool {
    STATE.get().is_some_and(|state| {
        state.published.shadow.get().is_some()
            && state.pages.is_ok_and(|pages| pages.may_be_exposed(bytes))
    })
}

/// Notes what the program did to window memory; `by` is the address of a name, or 0. Takes no lock.
pub fn note(bytes: Range<usize>, mode: Mode, pc: usize, by: usize) {
    if let Some(state) = STATE.get()
        && let Some(shadow) = state.published.shadow.get()
    {
        let when = When { segment: shadow.segment(), stamp: agents::stamp() };
        shadow.record(when, bytes, mode, pc, by);
    }
}

/// Threads use these pages: from now on what they do there is noted.
pub fn share(thread: &Thread, bytes: &Range<usize>) {
    let Some(state) = STATE.get() else { return };
    state.with_state(thread, |checker, _| {
        let tracker = &mut checker.tracker;
        if tracker.rma.lacks_shadow()
            && let Some(shadow) = abi::shadow()
        {
            let _ = state.published.shadow.set(shadow);
            tracker.note_accesses_in(shadow);
        }
        tracker.rma.share(bytes);
        state.published.sharing.store(true, Ordering::Relaxed);
    });
}

/// There is one thread again.
pub fn on_sequential() {
    let Some(state) = STATE.get() else { return };
    let shared = state.published.sharing.swap(false, Ordering::Relaxed);
    if (shared || state.published.remembering.load(Ordering::Relaxed))
        && let Some(inside) = Inside::enter()
    {
        state.with_state(&inside, |checker, _| {
            let tracker = &mut checker.tracker;
            tracker.rma.unshare();
            tracker.forget_calls();
        });
    }
}

/// Whether something is remembered of memory in which nothing is pending: what threads do to some
/// pages, or which requests they have completed there.
pub fn remembers() -> bool {
    STATE.get().is_some_and(|state| {
        state.published.sharing.load(Ordering::Relaxed)
            || state.published.remembering.load(Ordering::Relaxed)
    })
}

/// What is done to these bytes from now on has nothing to do with what was: other functions or
/// threads have them.
pub fn forget(bytes: &Range<usize>) {
    if let Some(state) = STATE.get()
        && state.phase().is_followed()
        && (state.pending() || state.published.remembering.load(Ordering::Relaxed))
        && let Some(inside) = Inside::enter()
    {
        state.with_state(&inside, |checker, _| checker.tracker.forget(bytes));
    }
}

/// The program uses memory atomically, to synchronise its threads or ranks.
pub fn use_atomically(addr: usize, how: AtomicUse) {
    if addr != 0 && !may_be_exposed(&(addr..addr + 1)) {
        return;
    }
    let Some(inside) = Inside::enter() else { return };
    let here = Here::new(Caller { pc: 0, frame: 0, sp: 0 }, &inside);
    super::with(&inside, |checker, out| {
        checker.tracker.used_atomically(addr, how, &here, out);
    });
}

impl State {
    /// Connects a rank with the others of its job.
    fn connect(&self, shared: Shared, tracker: &mut Tracker, recorder: &mut Recorder) {
        tracker.rma.assume_memory_model(self.options.mpi.memory_model);
        tracker.limit(self.options.mpi.thread_checks, self.options.mpi.collective_checks);
        tracker.sees_accesses(abi::abi().hooked.load(Ordering::Relaxed) > 0);
        if let Some(why) = guards::begin(&self.options.mpi, tracker) {
            recorder.note(&why);
        }
        match shared {
            Shared::Unneeded => {}
            Shared::Impossible { why, windows } => recorder.note(&match windows {
                true => format!("ranks are not compared with each other in this job: {why}"),
                false => format!("collectives of different ranks are not compared: {why}"),
            }),
            Shared::Job { shm, windows } => {
                tracker.together.connect(shm.rendezvous(), shm.me() as u32);
                if windows {
                    self.follow_windows(shm, tracker, recorder);
                }
            }
        }
    }

    /// Order between ranks and accesses to windows are of interest from now on.
    fn follow_windows(&self, shm: JobShm, tracker: &mut Tracker, recorder: &mut Recorder) {
        tracker.rma.connect(shm);
        match abi::shadow() {
            Some(shadow) => {
                let _ = self.published.shadow.set(shadow);
                tracker.note_accesses_in(shadow);
            }
            None => recorder.note(
                "there is not enough address space to note what the program does to window memory; \
                 raise `ulimit -v`",
            ),
        }
        self.published.ordered.store(true, Ordering::Relaxed);
    }
}

impl Rank for State {
    fn checks(&self) -> bool {
        self.options.check
    }

    fn keep(&self, thread: &Thread, ticks: u64) -> u64 {
        counter().map_or(ticks, |counter| counter.keep(thread, ticks))
    }

    fn count(&self, thread: &Thread, f: &mut dyn FnMut(&mut Traffic, u32)) {
        if let Some(counter) = counter() {
            counter.with(thread, f);
        }
    }

    fn counted(&self, thread: &Thread) {
        State::counted(self, thread);
    }

    fn pending(&self) -> bool {
        abi::abi().live.load(Ordering::Relaxed) != 0
    }

    fn now(&self) -> u64 {
        self.published.next_request.load(Ordering::Acquire)
    }

    fn with(&self, thread: &Thread, f: &mut dyn FnMut(&mut Tracker, &mut dyn Findings)) {
        self.with_state(thread, |checker, out| f(&mut checker.tracker, out));
    }

    fn enqueued(&self, here: &Here, enqueued: &Enqueued<'_>) {
        let stream = commsan_cuda_shim::stream_of(enqueued.stream, enqueued.call, *here);
        if let Some(stream) = stream {
            self.with_state(here.thread, |checker, out| {
                checker.enqueued(stream, enqueued, here, out);
            });
        }
    }

    fn look(&self, thread: &Thread, f: &mut dyn FnMut(&mut Tracker, &mut dyn Findings)) {
        let looked = catch_unwind(AssertUnwindSafe(|| {
            if let Some(Some(Inner { checker, recorder })) = self.inner.lock(thread).as_deref_mut()
            {
                f(&mut checker.tracker, recorder);
            }
        }));
        if looked.is_err() {
            self.give_up(thread);
        }
    }

    fn crashed(&self, thread: &Thread, f: &mut dyn FnMut(&mut Tracker, &mut dyn Findings)) {
        // Whatever happens to the copy, the process has ended.
        let _ = catch_unwind(AssertUnwindSafe(|| {
            let mut inner = self.inner.lock(thread);
            if let Some(Some(Inner { checker, recorder })) = inner.as_deref_mut() {
                f(&mut checker.tracker, recorder);
                recorder.end(Ending::Crashed);
            }
        }));
    }

    fn early(
        &self,
        thread: &Thread,
        library: String,
        f: &mut dyn FnMut(&mut Tracker, &mut dyn Findings),
    ) {
        let told = catch_unwind(AssertUnwindSafe(|| {
            let (Some(mut inner), Ok(pages)) = (self.inner.lock(thread), self.pages) else {
                return;
            };
            let Inner { checker, recorder } = inner.get_or_insert_with(|| Inner {
                checker: Checker::new(pages),
                recorder: Recorder::new(self.options),
            });
            f(&mut checker.tracker, recorder);
            recorder.begin(&self.directory, &World { library, ..serial::world(&self.directory) });
        }));
        drop(told);
    }

    fn begin(&self, thread: &Thread, world: World, shared: Shared) {
        let begun = catch_unwind(AssertUnwindSafe(|| {
            if let Some(mut inner) = self.inner.lock(thread) {
                self.open(thread, &mut inner, &world, |checker, recorder| {
                    self.connect(shared, &mut checker.tracker, recorder);
                });
            }
        }));
        drop(begun);
    }

    fn finalize(&self, here: &Here) {
        if let Some(counter) = counter() {
            counter.end(here.thread, true);
        }
        let (mut gaps, mut cut_off) = (false, false);
        if self.options.check {
            commsan_cuda_shim::execute_suspects(here.thread);
            self.with_state(here.thread, |checker, out| checker.ends(false, out));
            Rank::with(self, here.thread, &mut |tracker, out| {
                tracker.finalize(here, out);
                (gaps, cut_off) = (tracker.rma.has_gaps(), tracker.rma.is_cut_off());
            });
        }
        if cut_off && let Some(Some(inner)) = self.inner.lock(here.thread).as_deref_mut() {
            inner.recorder.note(
                "ranks on other nodes could not be asked, so that races with them are not reported: nodes \
                 must reach each other by TCP, and all ranks run under commsan",
            );
        }
        if gaps && let Some(Some(inner)) = self.inner.lock(here.thread).as_deref_mut() {
            inner.recorder.note(
                "some accesses to windows could not be followed; races with them are not reported",
            );
        }
        if self.stop() == Phase::Active {
            self.end(here.thread, Ending::Finalized);
        }
    }

    fn exited(&self) {
        exited();
    }

    fn abort(&self, thread: &Thread) {
        if let Some(counter) = counter() {
            counter.end(thread, false);
        }
        if self.stop() == Phase::Active {
            self.end(thread, Ending::Aborted);
        }
    }

    fn unchecked(&self, reason: &str) {
        let program = std::env::current_exe().unwrap_or_default();
        let file = self.directory.join(format!("notice-{}.txt", std::process::id()));
        let text = format!("{} {reason}\n", program.display());
        let append = std::fs::OpenOptions::new().append(true).create(true).open(file);
        // Without a place to write to, there is no report either.
        let _ = append.and_then(|mut file| std::io::Write::write_all(&mut file, text.as_bytes()));
    }
}
