//! The one state of this process, and its lock.
//!
//! Programs use devices before they initialise MPI: they choose one by the rank that the launcher tells
//! them, allocate memory, make streams. So what there is begins with the first call of either, and
//! `MPI_Init` adds the log and the other ranks. After `MPI_Finalize` nothing is followed. Without MPI there
//! is a log from the first call on, and everything is followed until the process exits.

use crate::lock::Lock;
use crate::options::Options;
use crate::recorder::Recorder;
use crate::serial;
use crate::traffic::{self, counter};
use commsan_callsite::Findings;
use commsan_counters::Traffic;
use commsan_cuda::Ticket;
use commsan_cuda_shim::traffic::{Accesses, copies_of, count, count_accesses, origin_of};
use commsan_cuda_shim::{Event, Process};
use commsan_job_shm::JobShm;
use commsan_mpi::Tracker;
use commsan_mpi_shim::{Rank, Shared, World, set_mode};
use commsan_process::abi::{self, MapError};
use commsan_process::inside::Inside;
use commsan_process::thread::{self, Thread};
use commsan_rundir::record::Ending;
use commsan_shadow::{Mode, Pages, Shadow, When};
use commsan_threads::{Here, agents};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};

/// Everything a rank of a checked run knows.
pub struct State {
    directory: PathBuf,
    options: Options,
    pages: Result<Pages, MapError>,
    phase: AtomicU8,
    /// Threads share pages, and what they do there is noted.
    sharing: AtomicBool,
    /// It is remembered what threads have called.
    remembering: AtomicBool,
    /// What the program does to window memory.
    shadow: OnceLock<Shadow>,
    /// Whether ranks tell each other about order.
    ordered: AtomicBool,
    /// Sequence number of the next request, for readers without the lock.
    next_request: AtomicU64,
    inner: Lock<Option<Inner>>,
}

struct Inner {
    tracker: Tracker,
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

    /// Whether there is somebody to be told what happens.
    fn is_followed(self) -> bool {
        matches!(self, Phase::Early | Phase::Active)
    }
}

/// What it means that the process exits: with MPI, `MPI_Finalize` is missing.
const AT_EXIT: Ending = if cfg!(feature = "serial") { Ending::Finalized } else { Ending::Exited };

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
        sharing: AtomicBool::new(false),
        remembering: AtomicBool::new(false),
        shadow: OnceLock::new(),
        ordered: AtomicBool::new(false),
        next_request: AtomicU64::new(1),
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

/// Whether some window may expose these bytes.
pub fn may_be_exposed(bytes: &Range<usize>) -> bool {
    STATE.get().is_some_and(|state| {
        state.shadow.get().is_some() && state.pages.is_ok_and(|pages| pages.may_be_exposed(bytes))
    })
}

/// Runs `f` with the state locked.
pub fn with(thread: &Thread, mut f: impl FnMut(&mut Tracker, &mut dyn Findings)) {
    if let Some(state) = STATE.get() {
        state.with(thread, &mut f);
    }
}

/// Notes what the program did to window memory; `by` is the address of a name, or 0. Takes no lock.
pub fn note(bytes: Range<usize>, mode: Mode, pc: usize, by: usize) {
    if let Some(state) = STATE.get()
        && let Some(shadow) = state.shadow.get()
    {
        let when = When { segment: shadow.segment(), stamp: agents::stamp() };
        shadow.record(when, bytes, mode, pc, by);
    }
}

/// Threads use these pages: from now on what they do there is noted.
pub fn share(thread: &Thread, bytes: &Range<usize>) {
    let Some(state) = STATE.get() else { return };
    state.with(thread, &mut |tracker, _| {
        if tracker.rma.lacks_shadow()
            && let Some(shadow) = abi::shadow()
        {
            let _ = state.shadow.set(shadow);
            tracker.note_accesses_in(shadow);
        }
        tracker.rma.share(bytes);
        state.sharing.store(true, Ordering::Relaxed);
    });
}

/// There is one thread again.
pub fn on_sequential() {
    let Some(state) = STATE.get() else { return };
    let shared = state.sharing.swap(false, Ordering::Relaxed);
    if (shared || state.remembering.load(Ordering::Relaxed))
        && let Some(inside) = Inside::enter()
    {
        state.with(&inside, &mut |tracker, _| {
            tracker.rma.unshare();
            tracker.forget_calls();
        });
    }
}

/// Whether something is remembered of memory in which nothing is pending: what threads do to some
/// pages, or which requests they have completed there.
pub fn remembers() -> bool {
    STATE.get().is_some_and(|state| {
        state.sharing.load(Ordering::Relaxed) || state.remembering.load(Ordering::Relaxed)
    })
}

/// What is done to these bytes from now on has nothing to do with what was: other functions or
/// threads have them.
pub fn forget(bytes: &Range<usize>) {
    if let Some(state) = STATE.get()
        && state.phase().is_followed()
        && (state.pending() || state.remembering.load(Ordering::Relaxed))
        && let Some(inside) = Inside::enter()
    {
        state.with(&inside, &mut |tracker, _| tracker.forget(bytes));
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
            thread::with(commsan_cuda_shim::execute_suspects);
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
        set_mode(false, false, false);
        Phase::of(self.phase.swap(Phase::Over as u8, Ordering::Relaxed))
    }

    /// Calls are looked at from now on.
    fn activate(&self) {
        self.phase.store(Phase::Active as u8, Ordering::Release);
        set_mode(true, counter().is_some(), self.ordered.load(Ordering::Relaxed));
    }

    /// Runs `f` on what there is, and publishes what the hooks need to know; not at all if nothing is
    /// followed.
    fn with_state(&self, thread: &Thread, f: impl FnOnce(&mut Tracker, &mut dyn Findings)) {
        if !self.phase().is_followed() {
            return;
        }
        let done = catch_unwind(AssertUnwindSafe(|| {
            let Some(mut inner) = self.inner.lock(thread) else {
                // Abandoned in the middle of a change: what it protects is worth nothing now.
                self.stop();
                return;
            };
            let Some(Inner { tracker, recorder }) = inner.as_mut() else { return };
            if agents::is_parallel() || tracker.knows_threads() {
                tracker.act_as(agents::actor(), !agents::is_parallel());
            }
            f(tracker, recorder);
            self.remembering.store(tracker.thread_calls.are_remembered(), Ordering::Relaxed);
            self.next_request.store(tracker.now(), Ordering::Release);
            let (ranges, on_stack) = tracker.load();
            abi::abi().live.store(ranges as u64, Ordering::Relaxed);
            abi::abi().stack_live.store(on_stack as u64, Ordering::Relaxed);
            self.share_windows(tracker.rma.shared_windows() != 0);
        }));
        if done.is_err() {
            self.give_up(thread);
        }
    }

    /// Whether hooks must look out for what concerns windows that several ranks load from and store to.
    #[inline]
    fn share_windows(&self, share: bool) {
        if share != abi::shares_windows()
            && let Some(shadow) = self.shadow.get()
        {
            abi::share_windows(shadow, share);
        }
    }

    /// A device is used before MPI is, or without: from now on there is something to follow.
    #[cold]
    fn prepare(&self, thread: &Thread) {
        let prepared = catch_unwind(AssertUnwindSafe(|| {
            let Some(mut inner) = self.inner.lock(thread) else { return };
            if self.phase() != Phase::Fresh {
                return;
            }
            if cfg!(feature = "serial") {
                let world = serial::world(&self.directory);
                return self.open(thread, &mut inner, &world, Shared::Unneeded);
            }
            let Some(pages) = self.pages.ok().filter(|_| self.options.check) else { return };
            let (tracker, recorder) = (Tracker::new(pages), Recorder::new(self.options));
            *inner = Some(Inner { tracker, recorder });
            self.phase.store(Phase::Early as u8, Ordering::Release);
        }));
        drop(prepared);
    }

    /// It is known now which rank this is: its log begins.
    fn open(&self, thread: &Thread, inner: &mut Option<Inner>, world: &World, shared: Shared) {
        if let Some(counter) = counter() {
            counter.begin(thread, world, &self.directory);
        }
        let early = inner.take().map(|early| (early.tracker, early.recorder));
        let (tracker, recorder) = early.unzip();
        let mut recorder = recorder.unwrap_or_else(|| Recorder::new(self.options));
        recorder.begin(&self.directory, world);
        if !self.options.check {
            recorder.unchecked(
                "what it moves was counted, nothing else: `commsan profile --check` looks for mistakes, too",
            );
        }
        let pages = match self.pages {
            Ok(pages) => pages,
            Err(_) if !self.options.check => {
                return self.activate();
            }
            Err(error) => return recorder.unchecked(&advice(error)),
        };
        let mut tracker = tracker.unwrap_or_else(|| Tracker::new(pages));
        tracker.rma.assume_memory_model(self.options.memory_model);
        tracker.limit(self.options.thread_checks, self.options.collective_checks);
        tracker.sees_accesses(abi::abi().hooked.load(Ordering::Relaxed) > 0);
        match shared {
            Shared::Unneeded => {}
            Shared::Impossible { why, windows } => recorder.note(&match windows {
                true => format!("ranks are not compared with each other in this job: {why}"),
                false => format!("collectives of different ranks are not compared: {why}"),
            }),
            Shared::Job { shm, windows } => {
                tracker.together.connect(shm.rendezvous(), shm.me() as u32);
                if windows {
                    self.follow_windows(shm, &mut tracker, &mut recorder);
                }
            }
        }
        *inner = Some(Inner { tracker, recorder });
        self.activate();
    }

    /// Order between ranks and accesses to windows are of interest from now on.
    fn follow_windows(&self, shm: JobShm, tracker: &mut Tracker, recorder: &mut Recorder) {
        tracker.rma.connect(shm);
        match abi::shadow() {
            Some(shadow) => {
                let _ = self.shadow.set(shadow);
                tracker.note_accesses_in(shadow);
            }
            None => recorder.note(
                "there is not enough address space to note what the program does to window memory; \
                 raise `ulimit -v`",
            ),
        }
        self.ordered.store(true, Ordering::Relaxed);
    }

    /// Checking itself has failed: stop, and say so.
    fn give_up(&self, thread: &Thread) {
        self.stop();
        if let Some(Some(inner)) = self.inner.lock(thread).as_deref_mut() {
            inner.tracker.rma.disconnect();
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

    fn pending(&self) -> bool {
        abi::abi().live.load(Ordering::Relaxed) != 0
    }

    fn now(&self) -> u64 {
        self.next_request.load(Ordering::Acquire)
    }

    fn with(&self, thread: &Thread, f: &mut dyn FnMut(&mut Tracker, &mut dyn Findings)) {
        self.with_state(thread, f);
    }

    fn look(&self, thread: &Thread, f: &mut dyn FnMut(&mut Tracker, &mut dyn Findings)) {
        let looked = catch_unwind(AssertUnwindSafe(|| {
            if let Some(Some(Inner { tracker, recorder })) = self.inner.lock(thread).as_deref_mut()
            {
                f(tracker, recorder);
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
            if let Some(Some(Inner { tracker, recorder })) = inner.as_deref_mut() {
                f(tracker, recorder);
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
            let Inner { tracker, recorder } = inner.get_or_insert_with(|| Inner {
                tracker: Tracker::new(pages),
                recorder: Recorder::new(self.options),
            });
            f(tracker, recorder);
            recorder.begin(&self.directory, &World { library, ..serial::world(&self.directory) });
        }));
        drop(told);
    }

    fn begin(&self, thread: &Thread, world: World, shared: Shared) {
        let begun = catch_unwind(AssertUnwindSafe(|| {
            if let Some(mut inner) = self.inner.lock(thread) {
                self.open(thread, &mut inner, &world, shared);
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
            self.with(here.thread, &mut |tracker, out| {
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
}

impl Process for State {
    fn active(&self) -> bool {
        self.phase() != Phase::Over && self.pages.is_ok()
    }

    fn checks(&self) -> bool {
        self.options.check
    }

    fn counts(&self) -> bool {
        counter().is_some()
    }

    fn origin(&self, here: &Here, call: Option<&'static str>) -> u64 {
        let mut origin = 0;
        if let Some(counter) = counter() {
            counter.with(here.thread, |traffic, _| {
                let stack = traffic.path(here);
                origin = origin_of(stack, call.map(|call| traffic.strings.fixed(call)));
            });
        }
        origin
    }

    fn accessed(&self, thread: &Thread, accesses: &Accesses) {
        if let Some(counter) = counter() {
            counter.with(thread, |traffic, me| count_accesses(accesses, traffic, me));
        }
    }

    fn tell(&self, here: &Here, event: &Event) -> Option<Ticket> {
        if self.phase() == Phase::Fresh {
            self.prepare(here.thread);
        }
        if let Some(counter) = counter() {
            let copies = copies_of(event);
            counter.with(here.thread, |traffic, me| count(event, &copies, here, traffic, me));
        }
        if !self.options.check {
            return None;
        }
        let mut ticket = None;
        self.with_state(here.thread, |tracker, out| ticket = event.apply(tracker, here, out));
        ticket
    }

    fn wants(&self, thread: &Thread, ticket: Ticket) -> bool {
        let mut wanted = false;
        self.with_state(thread, |tracker, _| wanted = tracker.gpu().wants(ticket));
        wanted
    }

    fn suspects(&self, thread: &Thread) -> bool {
        let mut suspects = false;
        self.with_state(thread, |tracker, _| suspects = tracker.gpu().suspects());
        suspects
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
