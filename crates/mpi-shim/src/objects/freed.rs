//! Handles that the program has freed.
//!
//! **Soundness.** A handle counts as freed when the program has freed it as often as calls that commsan knows have handed
//! it out, which may be several times for one object, until one of them hands it out again. Of handles that nobody
//! was seen to hand out nothing is said. What could be told wrongly is a handle that a call has handed out again which
//! commsan does not see: those that open ports or connect to them in Fortran, and libraries that call `PMPI` functions
//! and give their handles to the program.

use crate::again;
use commsan_callsite::Site;
use commsan_mpi_calls::Object;
use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{LazyLock, Mutex, PoisonError};

/// A bit for each handle that was ever freed, by its lowest digits: what has none need not be looked up.
static EVER: AtomicU64 = AtomicU64::new(0);

/// What is known of a handle.
#[derive(Default)]
struct Handle {
    /// How often it was handed out and not freed.
    alive: u32,
    /// Where it was freed last.
    freed: Option<Site>,
    /// It was handed out again before it was freed: each time is freed on its own.
    shared: bool,
}

static HANDLES: LazyLock<Mutex<HashMap<(Object, usize), Handle>>> = LazyLock::new(Mutex::default);

/// Handles that are kept, at most; then all are forgotten.
const MAX_FREED: usize = 65_536;

fn bit(handle: usize) -> u64 {
    // Handles are addresses, or count up.
    1 << ((handle ^ handle >> 6 ^ handle >> 12) % 64)
}

/// A call has handed out a handle.
pub(super) fn made(object: Object, handle: usize) {
    let mut handles = HANDLES.lock().unwrap_or_else(PoisonError::into_inner);
    if handles.len() >= MAX_FREED {
        handles.clear();
    }
    let known = handles.entry((object, handle)).or_default();
    known.shared |= known.alive > 0;
    known.alive += 1;
}

/// The program has freed a handle.
pub(super) fn freed(object: Object, handle: usize, site: Site) {
    let mut handles = HANDLES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = handles.get_mut(&(object, handle)) {
        known.alive = known.alive.saturating_sub(1);
        known.freed = Some(site);
        if known.alive == 0 {
            known.shared = false;
            EVER.fetch_or(bit(handle), Relaxed);
            again::freed();
        }
    }
}

/// A call has handed out handles of this kind, nobody knows which.
pub(super) fn forget(object: Object) {
    let mut handles = HANDLES.lock().unwrap_or_else(PoisonError::into_inner);
    handles.retain(|(kind, _), _| *kind != object);
}

/// Whether a handle stands for something that the program has made.
#[cold]
pub(crate) fn is_own(object: Object, handle: usize) -> bool {
    let handles = HANDLES.lock().unwrap_or_else(PoisonError::into_inner);
    handles.get(&(object, handle)).is_some_and(|known| known.alive > 0)
}

/// Whether a handle was handed out several times, so that who frees it may leave it to others.
#[cold]
pub(crate) fn is_shared(object: Object, handle: usize) -> bool {
    let handles = HANDLES.lock().unwrap_or_else(PoisonError::into_inner);
    handles.get(&(object, handle)).is_some_and(|known| known.shared)
}

/// Whether a handle stands for nothing any more.
#[inline]
pub(crate) fn is_freed(object: Object, handle: usize) -> bool {
    EVER.load(Relaxed) & bit(handle) != 0 && look_up(object, handle).is_some()
}

/// Where the object was freed, if a handle stands for nothing any more.
#[cold]
pub(crate) fn look_up(object: Object, handle: usize) -> Option<Site> {
    let handles = HANDLES.lock().unwrap_or_else(PoisonError::into_inner);
    handles.get(&(object, handle)).filter(|known| known.alive == 0)?.freed
}
