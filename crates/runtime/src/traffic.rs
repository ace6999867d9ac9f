//! What this process moves, counted, and the file it is written to.
//!
//! Counting begins when the library is loaded, since memory is allocated before `MPI_Init`; from
//! then on the rank is known, and the file is written from time to time: a rank that is killed has
//! left most of it.

use crate::lock::Lock;
use crate::recorder::{host, program, short_version};
use crate::serial::NO_MPI;
use commsan_counters::{HOST, Identity, Origin, Settings, Traffic, ticks, write, write_events};
use commsan_process::allocate::{self, Allocations};
use commsan_process::inside::Inside;
use commsan_process::python;
use commsan_process::stack::Caller;
use commsan_process::thread::Thread;
use commsan_rundir::traffic::Memory;
use commsan_rundir::{MAX_JOBS, World, rank_traffic};
use commsan_threads::Here;
use std::borrow::Cow;
use std::env;
use std::ffi::{CStr, c_char, c_void};
use std::fs;
use std::io;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Nanoseconds after which the file is written again at first, and at most. It is written when a
/// call begins, too: that may be the one in which the job hangs.
const FIRST: u64 = 50_000_000;
const LONGEST: u64 = 60_000_000_000;

/// Bytes of events up to which they are written whenever the file is; more of them only once a
/// minute, lest the program wait for that.
const MAX_EVENTS: usize = 4 << 20;

/// What is counted, and where it goes.
struct Counted {
    traffic: Traffic,
    /// From `MPI_Init` on.
    file: Option<File>,
}

struct File {
    origin: Origin,
    path: PathBuf,
    /// The last attempt has failed.
    failed: bool,
    interval: u64,
}

/// The counts of a process.
pub struct Counter {
    is_counting: AtomicBool,
    /// The moment at which the file is to be written again.
    due: AtomicU64,
    counted: Lock<Counted>,
}

static COUNTER: OnceLock<Counter> = OnceLock::new();

/// Begins to count.
pub fn install(settings: Settings) {
    let from = settings.objects_from;
    COUNTER.get_or_init(|| Counter {
        is_counting: AtomicBool::new(true),
        due: AtomicU64::new(u64::MAX),
        counted: Lock::new(Counted { traffic: Traffic::new(settings), file: None }),
    });
    allocate::observe(Allocations { made: on_allocated, gone: on_freed }, from);
}

/// What counts, if anything does.
#[inline]
pub fn counter() -> Option<&'static Counter> {
    COUNTER.get().filter(|counter| counter.is_counting.load(Ordering::Relaxed))
}

/// This process is a child that shares the rank's file.
pub fn abandon() {
    if let Some(counter) = COUNTER.get() {
        counter.stop();
    }
}

impl Counter {
    /// Runs `f` with the counts locked, and the rank.
    pub fn with(&self, thread: &Thread, f: impl FnOnce(&mut Traffic, u32)) {
        let done = catch_unwind(AssertUnwindSafe(|| {
            let Some(mut counted) = self.counted.lock(thread) else { return self.stop() };
            let Counted { traffic, file } = &mut *counted;
            f(traffic, file.as_ref().map_or(0, |file| file.origin.rank));
        }));
        if done.is_err() {
            self.stop();
        }
    }

    /// Writes the file if it is time to, at a moment at which a call is about to begin. Returns
    /// when it does.
    #[cfg(not(feature = "serial"))]
    #[inline]
    pub fn keep(&self, thread: &Thread, now: u64) -> u64 {
        if now < self.due.load(Ordering::Relaxed) {
            return now;
        }
        self.write(thread, When::Meanwhile);
        ticks()
    }

    #[cold]
    fn write(&self, thread: &Thread, when: When) {
        let begin = ticks();
        let done = catch_unwind(AssertUnwindSafe(|| {
            let Some(mut counted) = self.counted.lock(thread) else { return };
            let Counted { traffic, file } = &mut *counted;
            let Some(file) = file else { return };
            file.write(traffic, when);
            traffic.record_own(begin, thread.number());
            let next = ticks() + traffic.ticks_in(file.interval);
            self.due.store(next, Ordering::Relaxed);
            file.interval = (file.interval * 2).min(LONGEST);
        }));
        drop(done);
    }

    /// Nothing is counted any more.
    fn stop(&self) {
        self.is_counting.store(false, Ordering::Relaxed);
    }

    /// MPI is initialised.
    pub fn begin(&self, thread: &Thread, world: &World, directory: &Path) {
        if let Some(mut counted) = self.counted.lock(thread) {
            self.set_file(&mut counted, world, directory);
        }
        self.write(thread, When::Meanwhile);
    }

    fn set_file(&self, counted: &mut Counted, world: &World, directory: &Path) {
        let origin = Origin {
            rank: world.rank,
            size: world.size,
            job: job(world),
            host: host(),
            mpi: short_version(&world.library),
            program: program(),
        };
        let path = claimed(directory, world.rank);
        counted.file = Some(File { origin, path, failed: false, interval: FIRST });
    }

    /// Writes everything; nothing is counted any more.
    pub fn end(&self, thread: &Thread, complete: bool) {
        if !self.is_counting.swap(false, Ordering::Relaxed) {
            return;
        }
        self.due.store(u64::MAX, Ordering::Relaxed);
        self.write(thread, if complete { When::Ended } else { When::Cut });
    }
}

/// What this process has in common with all others of its job, and with none of another one: a run
/// may have several, one after the other, or that spawn others.
pub(crate) fn job(world: &World) -> String {
    let mut job = commsan_job_shm::identity().unwrap_or_default();
    // Open MPI jobs share this identity with the jobs that they spawn.
    if let Ok(name_space) = env::var("PMIX_NAMESPACE") {
        job = format!("{job}.{name_space}");
    }
    // Nobody has launched it, or a script has several.
    if world.size == 1 && world.library != NO_MPI {
        job = format!("{job}.{}.{}", host(), std::process::id());
    }
    job
}

/// The file of a rank: of those that no other job has taken, the first.
fn claimed(directory: &Path, rank: u32) -> PathBuf {
    let path = |job| directory.join(rank_traffic(rank, job));
    let is_taken = |job: &u32| {
        let made = fs::File::create_new(path(*job));
        made.is_err_and(|error| error.kind() == io::ErrorKind::AlreadyExists)
    };
    path((1..MAX_JOBS).find(|job| !is_taken(job)).unwrap_or(MAX_JOBS))
}

/// When the file is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    /// While the rank goes on.
    Meanwhile,
    /// At its end, which is in order.
    Ended,
    /// At its end, which is not.
    Cut,
}

impl File {
    fn write(&mut self, traffic: &mut Traffic, when: When) {
        let complete = when == When::Ended;
        let mut written = write(traffic, &self.origin, complete, &self.path);
        let is_short = traffic.size_of_events() <= MAX_EVENTS || self.interval >= LONGEST;
        if written.is_ok() && (when != When::Meanwhile || is_short) {
            let path = self.path.with_extension("events");
            written = write_events(traffic, &self.origin, complete, &path);
        }
        let failed_before = std::mem::replace(&mut self.failed, written.is_err());
        if written.is_err() && fs::metadata(&self.path).is_ok_and(|file| file.len() == 0) {
            // Claimed, and no more than that.
            let _ = fs::remove_file(&self.path);
        }
        if let Err(error) = written
            && !failed_before
        {
            eprintln!(
                "commsan: rank {} cannot write {}: {error}; the profile will lack what it has moved since \
                 it last could. Free some space, or choose another directory by --output.",
                self.origin.rank,
                self.path.display()
            );
        }
    }
}

fn on_allocated(by: &'static str, bytes: Range<usize>, caller: Caller) -> bool {
    let Some(counter) = counter() else { return false };
    let Some(inside) = Inside::enter() else { return false };
    let mut matters = false;
    let here = Here::new(caller, &inside);
    counter.with(&inside, |traffic, _| {
        // Small arrays of numpy, and objects, get memory again that Python has kept: nobody says
        // for what.
        let is_small = bytes.len() < traffic.settings().objects_from;
        if is_small && (traffic.objects.are_many() || python::is_any()) {
            return;
        }
        let stack = traffic.path(&here);
        let memory = Memory::Heap;
        let identity = Identity { memory, place: HOST, stack, call: Some(by), name: None };
        traffic.objects.allocated(bytes, identity);
        matters = traffic.objects.is_transferred(&identity);
    });
    matters
}

fn on_freed(address: usize) {
    let Some(counter) = counter() else { return };
    let Some(inside) = Inside::enter() else { return };
    counter.with(&inside, |traffic, _| traffic.objects.freed(address));
}

/// Runs `f` for a call of `commsan.h`.
fn asked(f: impl FnOnce(&mut Traffic)) {
    let Some(counter) = counter() else { return };
    let Some(inside) = Inside::enter() else { return };
    counter.with(&inside, |traffic, _| f(traffic));
}

/// The name of a region that was given none.
const NAMELESS: &str = "(no name)";

/// The text of an argument; `None` for a null pointer.
///
/// # Safety
/// `text` is null or a C string.
unsafe fn text<'a>(text: *const c_char) -> Option<Cow<'a, str>> {
    // SAFETY: by the caller.
    (!text.is_null()).then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy())
}

/// `commsan_name` of `commsan.h`: the memory at an address has a name.
///
/// # Safety
/// `name` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn commsan_api_name(address: *const c_void, name: *const c_char) {
    // SAFETY: by the caller.
    let Some(name) = (unsafe { text(name) }).filter(|name| !name.is_empty()) else { return };
    asked(|traffic| traffic.named(address as usize, &name));
}

/// `commsan_begin`: a region begins.
///
/// # Safety
/// `region` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn commsan_api_begin(region: *const c_char) {
    // SAFETY: by the caller.
    let Some(region) = (unsafe { text(region) }) else { return };
    // It must have one: `commsan_end` will end it, and nothing is what is outside of all regions.
    let region = if region.is_empty() { NAMELESS.into() } else { region };
    asked(|traffic| traffic.begin_region(&region));
}

/// `commsan_end`: the last one ends.
#[unsafe(no_mangle)]
pub extern "C" fn commsan_api_end() {
    let Some(counter) = counter() else { return };
    let Some(inside) = Inside::enter() else { return };
    counter.with(&inside, |traffic, _| traffic.end_region(inside.number()));
}
