//! What kernels decide about graphs: the values that `cudaGraphSetConditional` sets.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Conditions by their handles.
#[derive(Debug, Default)]
pub struct Conditions(Mutex<BTreeMap<u64, u32>>);

impl Conditions {
    /// None.
    pub const fn new() -> Conditions {
        Conditions(Mutex::new(BTreeMap::new()))
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<u64, u32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// There is one, with a value.
    pub fn insert(&self, handle: u64, value: u32) {
        self.all().insert(handle, value);
    }

    /// It is no more.
    pub fn remove(&self, handle: u64) {
        self.all().remove(&handle);
    }

    /// Its value, if there is such a condition.
    pub fn value(&self, handle: u64) -> Option<u32> {
        self.all().get(&handle).copied()
    }

    /// Gives it a value; false if there is none.
    pub(crate) fn set(&self, handle: u64, value: u32) -> bool {
        self.all().get_mut(&handle).map(|old| *old = value).is_some()
    }
}
