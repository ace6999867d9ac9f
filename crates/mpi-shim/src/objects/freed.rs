//! Handles that the program has freed.
//!
//! **Soundness.** A handle counts as freed when the program has freed it as often as calls that
//! commsan knows have returned it, which may be several times for one object, until one of them
//! returns it again. Handles that no known call has returned are not checked. A false report is
//! possible for a handle that was returned again by a call which commsan does not see: Fortran
//! calls that open ports or connect to them, and libraries that call `PMPI` functions and pass
//! their handles to the program.

use crate::again;
use commsan_callsite::Site;
use commsan_mpi_calls::Object;
use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{LazyLock, Mutex, PoisonError};

/// A bit for each handle that was ever freed, by a hash: a handle whose bit is not set need not be
/// looked up.
static EVER: AtomicU64 = AtomicU64::new(0);

/// What is known of a handle.
#[derive(Default)]
struct Handle {
    /// How often it was returned and not freed.
    alive: u32,
    /// Where it was last freed.
    freed: Option<Site>,
    /// It was returned again before it was freed: it is freed once for each time.
    shared: bool,
}

static HANDLES: LazyLock<Mutex<HashMap<(Object, usize), Handle>>> = LazyLock::new(Mutex::default);

/// Handles that are kept, at most; then all are forgotten.
const MAX_FREED: usize = 65_536;

fn bit(handle: usize) -> u64 {
    // Handles are addresses, or count up.
    1 << ((handle ^ handle >> 6 ^ handle >> 12) % 64)
}

/// A call has returned a handle.
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

/// A call has returned handles of this kind, it is not known which.
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

/// Whether a handle was returned several times, so that freeing it may leave it to other users.
#[cold]
pub(crate) fn is_shared(object: Object, handle: usize) -> bool {
    let handles = HANDLES.lock().unwrap_or_else(PoisonError::into_inner);
    handles.get(&(object, handle)).is_some_and(|known| known.shared)
}

/// Whether a handle stands for a freed object.
#[inline]
pub(crate) fn is_freed(object: Object, handle: usize) -> bool {
    EVER.load(Relaxed) & bit(handle) != 0 && look_up(object, handle).is_some()
}

/// Where the object was freed, if the handle stands for a freed one.
#[cold]
pub(crate) fn look_up(object: Object, handle: usize) -> Option<Site> {
    let handles = HANDLES.lock().unwrap_or_else(PoisonError::into_inner);
    handles.get(&(object, handle)).filter(|known| known.alive == 0)?.freed
}
