//! Conditional graph nodes: the values that kernels set with `cudaGraphSetConditional`.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The conditions of a process, by handle.
#[derive(Debug, Default)]
pub struct Conditions(Mutex<BTreeMap<u64, u32>>);

impl Conditions {
    /// No conditions.
    pub const fn new() -> Conditions {
        Conditions(Mutex::new(BTreeMap::new()))
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<u64, u32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a condition with an initial value.
    pub fn insert(&self, handle: u64, value: u32) {
        self.all().insert(handle, value);
    }

    /// Removes a condition.
    pub fn remove(&self, handle: u64) {
        self.all().remove(&handle);
    }

    /// The value of a condition, if the handle is valid.
    pub fn value(&self, handle: u64) -> Option<u32> {
        self.all().get(&handle).copied()
    }

    /// Sets the value of a condition; false if the handle is invalid.
    pub(crate) fn set(&self, handle: u64, value: u32) -> bool {
        self.all().get_mut(&handle).map(|old| *old = value).is_some()
    }
}
