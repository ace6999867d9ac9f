//! Statistics: when counts are looked at and written to the log, and what this process adds to
//! them.
//!
//! They are written when the log begins, from time to time, when the rank is asked where it waits,
//! and at the end, so that a rank that is killed has left most of them.

use commsan_findings::stats::{ALL, Counter};
use commsan_process::{abi, loaded, own_memory, stats};
use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex};
use std::time::Instant;

/// Milliseconds after which they are written again at first, and at most.
const FIRST: u64 = 50;
const LONGEST: u64 = 60_000;

/// Up to so many live ranges, the page filter is looked at whenever there are more than before.
const FEW: u64 = 64;

static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
/// When counts are to be written again, in milliseconds.
static DUE: AtomicU64 = AtomicU64::new(u64::MAX);
static INTERVAL: AtomicU64 = AtomicU64::new(FIRST);
/// The most live ranges at which the page filter was looked at.
static LOOKED_AT: Mutex<u64> = Mutex::new(0);

/// What a record has: a key and a number.
pub type Count = (Cow<'static, str>, u64);

fn now() -> u64 {
    BEGIN.elapsed().as_millis() as u64
}

/// Counts are written, and will be again.
fn postpone() {
    let interval = INTERVAL.load(Ordering::Relaxed);
    INTERVAL.store((interval * 2).min(LONGEST), Ordering::Relaxed);
    DUE.store(now() + interval, Ordering::Relaxed);
}

/// A call is about to be made, or has returned: looks at what has no counter of its own. Returns
/// whether counts are to be written.
pub fn look() -> bool {
    let live = abi::abi().live.load(Ordering::Relaxed);
    stats::raise(Counter::LivePeak, live);
    if let Ok(mut most) = LOOKED_AT.try_lock()
        && live > *most
        && (live <= FEW || live >= 2 * *most)
    {
        *most = live;
        let (marked, exposed) = abi::marked();
        stats::raise(Counter::MarkedPages, marked);
        stats::raise(Counter::ExposedPages, exposed);
    }
    now() >= DUE.load(Ordering::Relaxed)
}

/// All counts, if anything is counted.
pub fn counts() -> Option<Vec<Count>> {
    if !stats::are_wanted() {
        return None;
    }
    postpone();
    stats::raise(Counter::HeapBytes, own_memory::mapped() as u64);
    stats::raise(Counter::PeakBytes, peak());
    let (_, exposed) = abi::marked();
    stats::raise(Counter::ExposedPages, exposed);
    let hooked = abi::abi().hooked.load(Ordering::Relaxed);
    stats::raise(Counter::ModulesInstrumented, hooked.into());
    stats::raise(Counter::ModulesLoaded, modules());
    let of = |(counter, count): (Counter, u64)| (Cow::Borrowed(counter.row().key), count);
    let mut all: Vec<Count> = stats::counts().map(of).collect();
    debug_assert!(all.len() <= ALL.len());
    let mut add = |key, count| all.push((Cow::Owned(key), count));
    #[cfg(not(feature = "serial"))]
    commsan_mpi_shim::each_call(&mut add);
    commsan_cuda_shim::each_call(&mut add);
    Some(all)
}

/// Executables and libraries in the process, without those of commsan and of the kernel.
fn modules() -> u64 {
    let mut count = 0;
    loaded::visit::<()>(|module| {
        let name = module.file_name();
        count += u64::from(!name.starts_with(b"libcommsan_") && !name.starts_with(b"linux-vdso"));
        ControlFlow::Continue(())
    });
    count
}

/// The largest resident set of the process, in bytes; 0 if the system does not say.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}
