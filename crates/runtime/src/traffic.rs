//! What this process moves, counted, and the file it is written to.
//!
//! Counting begins when the library is loaded, since memory is allocated before `MPI_Init`; from then on
//! the rank is known, and the file is written from time to time: a rank that is killed has left most of it.

use crate::lock::Lock;
use crate::recorder::{host, program, short_version};
use commsan_mpi_shim::World;
use commsan_place::Place as _;
use commsan_sense::allocate::{self, Allocations};
use commsan_sense::inside::Inside;
use commsan_sense::stack::Caller;
use commsan_sense::thread::Thread;
use commsan_threads::Here;
use commsan_trace::traffic::Memory;
use commsan_traffic::{HOST, Identity, Origin, Settings, Traffic, now, write};
use std::borrow::Cow;
use std::ffi::{CStr, c_char, c_void};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Nanoseconds after which the file is written for the first time, and at most between two times.
const FIRST: u64 = 1_000_000_000;
const LONGEST: u64 = 60_000_000_000;

/// What is counted, and where it goes.
struct Counted {
    traffic: Traffic,
    /// From `MPI_Init` on.
    file: Option<File>,
}

struct File {
    origin: Origin,
    path: PathBuf,
    next: u64,
    interval: u64,
}

/// The counts of a process.
pub struct Counter {
    is_counting: AtomicBool,
    counted: Lock<Counted>,
}

static COUNTER: OnceLock<Counter> = OnceLock::new();

/// Begins to count.
pub fn install(settings: Settings) {
    let from = settings.objects_from;
    COUNTER.get_or_init(|| Counter {
        is_counting: AtomicBool::new(true),
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
            if let Some(file) = file {
                file.write_if_due(traffic);
            }
        }));
        if done.is_err() {
            self.stop();
        }
    }

    /// Nothing is counted any more.
    fn stop(&self) {
        self.is_counting.store(false, Ordering::Relaxed);
    }

    /// MPI is initialised.
    pub fn begin(&self, thread: &Thread, world: &World, directory: &Path) {
        let Some(mut counted) = self.counted.lock(thread) else { return };
        let origin = Origin {
            rank: world.rank,
            size: world.size,
            host: host(),
            mpi: short_version(&world.library),
            program: program(),
        };
        let path = directory.join(format!("rank-{}.traffic", world.rank));
        counted.file = Some(File { origin, path, next: now() + FIRST, interval: FIRST });
    }

    /// Writes everything; nothing is counted any more.
    pub fn end(&self, thread: &Thread, complete: bool) {
        if !self.is_counting.swap(false, Ordering::Relaxed) {
            return;
        }
        let done = catch_unwind(AssertUnwindSafe(|| {
            let Some(mut counted) = self.counted.lock(thread) else { return };
            let Counted { traffic, file } = &mut *counted;
            if let Some(file) = file {
                file.write(traffic, complete);
            }
        }));
        drop(done);
    }
}

impl File {
    #[inline]
    fn write_if_due(&mut self, traffic: &Traffic) {
        if traffic.last() >= self.next {
            self.write(traffic, false);
        }
    }

    #[cold]
    fn write(&mut self, traffic: &Traffic, complete: bool) {
        if let Err(error) = write(traffic, &self.origin, complete, &self.path) {
            eprintln!(
                "commsan: rank {} cannot write {}: {error}; the profile will lack what it has moved since \
                 it last could. Free some space, or choose another directory by --output.",
                self.origin.rank,
                self.path.display()
            );
        }
        self.interval = (self.interval * 2).min(LONGEST);
        self.next = now() + self.interval;
    }
}

fn on_allocated(by: &'static str, bytes: Range<usize>, caller: Caller) {
    let Some(counter) = counter() else { return };
    let Some(inside) = Inside::enter() else { return };
    let here = Here::new(caller, &inside);
    counter.with(&inside, |traffic, _| {
        let stack = here.stack(&mut traffic.stacks);
        let memory = Memory::Heap;
        let identity = Identity { memory, place: HOST, stack, call: Some(by), name: None };
        traffic.objects.allocated(bytes, identity);
    });
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
    let Some(name) = (unsafe { text(name) }) else { return };
    asked(|traffic| {
        let name = traffic.strings.number(&name);
        traffic.objects.named(address as usize, name);
    });
}

/// `commsan_begin`: a region begins.
///
/// # Safety
/// `region` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn commsan_api_begin(region: *const c_char) {
    // SAFETY: by the caller.
    let Some(region) = (unsafe { text(region) }) else { return };
    asked(|traffic| traffic.begin_region(&region));
}

/// `commsan_end`: the last one ends.
#[unsafe(no_mangle)]
pub extern "C" fn commsan_api_end() {
    asked(Traffic::end_region);
}
