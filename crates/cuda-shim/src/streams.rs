//! Streams that commsan has not seen being made: by the driver's functions, or before it was there.

use crate::ask;
use parking_lot::Mutex;
use rustc_hash::FxHashSet;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

static KNOWN: LazyLock<Mutex<FxHashSet<usize>>> = LazyLock::new(Mutex::default);

/// Streams met lately, by a hash of their handles: nearly always the one that is looked for.
static RECENT: [AtomicUsize; 64] = [const { AtomicUsize::new(0) }; 64];

fn recent(handle: usize) -> &'static AtomicUsize {
    &RECENT[(handle >> 4 ^ handle >> 12) % RECENT.len()]
}

/// The program has created a stream.
pub(crate) fn created(handle: usize) {
    KNOWN.lock().insert(handle);
}

/// A stream is used; `created` runs, with whether it is a blocking one, if it has not been seen being made.
#[inline]
pub(crate) fn meet(handle: usize, created: impl FnOnce(bool)) {
    if recent(handle).load(Ordering::Relaxed) != handle {
        look(handle, created);
    }
}

#[cold]
fn look(handle: usize, created: impl FnOnce(bool)) {
    let is_new = KNOWN.lock().insert(handle);
    if is_new {
        created(ask::is_blocking(handle));
    }
    recent(handle).store(handle, Ordering::Relaxed);
}

/// A stream is about to be destroyed.
pub(crate) fn destroyed(handle: usize) {
    KNOWN.lock().remove(&handle);
    let _ = recent(handle).compare_exchange(handle, 0, Ordering::Relaxed, Ordering::Relaxed);
}

/// All streams of a device are about to go. Those of others are met again.
pub(crate) fn reset() {
    KNOWN.lock().clear();
    RECENT.iter().for_each(|slot| slot.store(0, Ordering::Relaxed));
}
