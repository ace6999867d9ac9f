//! Deferred reclamation of the memory of destroyed communicators.
//!
//! A rank may be destroyed before its peers have finished. Freeing device memory waits for the
//! device, whose next kernel may wait for a rank whose thread would be the one that waits here: so
//! a thread frees only what it has retired itself, or reuses it for the next communicator.

use crate::communicator::Communicator;
use crate::cuda;
use crate::error::Result;
use crate::peers::Regions;
use parking_lot::Mutex;
use std::sync::Arc;
use std::thread::{self, ThreadId};

static RETIRED: Mutex<Vec<(ThreadId, Arc<Communicator>)>> = Mutex::new(Vec::new());

/// Retires a communicator that the program has destroyed. If it `may_wait`, the only rank of a
/// process waits for the others, as NCCL does: destruction is collective within a node.
pub fn add(communicator: Arc<Communicator>, may_wait: bool) -> Result {
    communicator.leave();
    if may_wait && communicator.is_alone() {
        communicator.wait_for_all_to_leave();
    }
    RETIRED.lock().push((thread::current().id(), communicator));
    release()
}

/// Removes retired communicators that meet a condition, that no rank needs and no call uses.
fn remove(is_wanted: impl Fn(&ThreadId, &Communicator) -> bool, most: usize) -> Vec<Communicator> {
    let mut all = RETIRED.lock();
    let mut removed = Vec::new();
    let mut at = 0;
    while at < all.len() && removed.len() < most {
        let (thread, communicator) = &all[at];
        if communicator.have_all_left() && is_wanted(thread, communicator) {
            let (thread, communicator) = all.swap_remove(at);
            match Arc::try_unwrap(communicator) {
                Ok(communicator) => removed.push(communicator),
                Err(used) => {
                    all.push((thread, used));
                    break;
                }
            }
        } else {
            at += 1;
        }
    }
    removed
}

/// Frees what this thread has retired, as far as no rank needs it.
fn release() -> Result {
    let own = thread::current().id();
    for communicator in remove(|thread, _| *thread == own, usize::MAX) {
        let (device, mut regions): (i32, Regions) = communicator.dismantle()?;
        cuda::on_device(device, || cuda::relaxed(|| cuda::free(regions.close()?)))?;
    }
    Ok(())
}

/// Takes an unneeded region of the given size on the current device for reuse.
pub fn take(device: i32, size: u64) -> Result<Option<u64>> {
    let fits =
        |_: &ThreadId, other: &Communicator| other.device == device && other.region_size() == size;
    let Some(communicator) = remove(fits, 1).pop() else { return Ok(None) };
    let (_, mut regions) = communicator.dismantle()?;
    regions.close().map(Some)
}
