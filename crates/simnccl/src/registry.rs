//! The table of communicator handles.

use crate::abi::Code;
use crate::communicator::Communicator;
use crate::error::{Failure, Result};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::sync::{Arc, LazyLock};

/// The state of a handle.
#[derive(Clone, Debug)]
enum Entry {
    /// The communicator is being created.
    Starting,
    /// A communicator.
    Ready(Arc<Communicator>),
    /// The creation failed.
    Failed(Failure),
}

#[derive(Debug)]
struct Registry {
    entries: FxHashMap<usize, Entry>,
    next: usize,
}

/// Handles look like addresses, are never reused, and lie in unmapped memory.
const FIRST: usize = 0x5EED_C033_0000;
const STEP: usize = 0x10;

static REGISTRY: LazyLock<Mutex<Registry>> =
    LazyLock::new(|| Mutex::new(Registry { entries: FxHashMap::default(), next: FIRST }));

/// A handle for a communicator that is being created.
pub fn reserve() -> usize {
    let mut registry = REGISTRY.lock();
    registry.next += STEP;
    let handle = registry.next;
    registry.entries.insert(handle, Entry::Starting);
    handle
}

/// Stores the outcome of a communicator's creation.
pub fn complete(handle: usize, outcome: Result<Communicator>) {
    let entry = match outcome {
        Ok(communicator) => Entry::Ready(Arc::new(communicator)),
        Err(failure) => Entry::Failed(failure),
    };
    REGISTRY.lock().entries.insert(handle, entry);
}

fn entry(handle: usize) -> Result<Entry> {
    let unknown = || match handle {
        0 => Failure::argument("the communicator is NULL"),
        _ => Failure::argument("corrupted comm object detected"),
    };
    REGISTRY.lock().entries.get(&handle).cloned().ok_or_else(unknown)
}

/// The communicator of a handle.
pub fn get(handle: usize) -> Result<Arc<Communicator>> {
    match entry(handle)? {
        Entry::Ready(communicator) => Ok(communicator),
        Entry::Failed(failure) => Err(failure),
        Entry::Starting => Err(Failure {
            code: Code::InProgress,
            message: "the communicator is still being made".to_owned(),
        }),
    }
}

/// The state of a communicator, as a result code.
pub fn state(handle: usize) -> Result<Code> {
    Ok(match entry(handle)? {
        Entry::Starting => Code::InProgress,
        Entry::Ready(_) => Code::Success,
        Entry::Failed(failure) => failure.code,
    })
}

/// Invalidates a handle; returns its communicator if there is one.
pub fn remove(handle: usize) -> Result<Option<Arc<Communicator>>> {
    if let Entry::Starting = entry(handle)? {
        get(handle)?;
    }
    Ok(match REGISTRY.lock().entries.remove(&handle) {
        Some(Entry::Ready(communicator)) => Some(communicator),
        _ => None,
    })
}
