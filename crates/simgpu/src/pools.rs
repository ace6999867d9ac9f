//! Memory pools, from which `cudaMallocAsync` allocates.

use crate::error::{Error, Result};
use rustc_hash::FxHashMap;

/// Attributes that programs can set, by number (`cudaMemPoolAttr`), with their initial values:
/// whether memory may be reused across streams (1-3), and how many bytes to keep (4).
const SETTABLE: [(u32, u64); 4] = [(1, 1), (2, 1), (3, 1), (4, 0)];

/// A pool.
#[derive(Clone, Debug)]
pub struct Pool {
    /// The device whose memory it manages.
    pub device: usize,
    /// Other devices that may access it, with their flags.
    pub access: FxHashMap<usize, u32>,
    settings: [u64; SETTABLE.len()],
    used: u64,
    highest: u64,
}

/// All pools, by handle.
#[derive(Debug, Default)]
pub struct Pools {
    pools: FxHashMap<usize, Pool>,
    /// Each device's default pool, which cannot be destroyed.
    defaults: Vec<usize>,
}

impl Pool {
    fn new(device: usize) -> Pool {
        let settings = SETTABLE.map(|(_, value)| value);
        Pool { device, access: FxHashMap::default(), settings, used: 0, highest: 0 }
    }

    /// The value of an attribute.
    pub fn attribute(&self, attribute: u32) -> Result<u64> {
        match attribute {
            // Reserved memory equals used memory: nothing is cached.
            5 | 7 => Ok(self.used),
            6 | 8 => Ok(self.highest),
            _ => Ok(self.settings[setting(attribute)?]),
        }
    }

    /// Sets an attribute. High-water marks can only be reset.
    pub fn set_attribute(&mut self, attribute: u32, value: u64) -> Result {
        match (attribute, value) {
            (6 | 8, 0) => self.highest = self.used,
            _ => self.settings[setting(attribute)?] = value,
        }
        Ok(())
    }

    /// Counts an allocation.
    pub fn note_allocation(&mut self, size: usize) {
        self.used += size as u64;
        self.highest = self.highest.max(self.used);
    }
}

impl Pools {
    /// Adds the default pool of the next device.
    pub(crate) fn add_default(&mut self, handle: usize, device: usize) {
        self.create(handle, device);
        self.defaults.push(handle);
    }

    /// Creates a pool.
    pub(crate) fn create(&mut self, handle: usize, device: usize) {
        self.pools.insert(handle, Pool::new(device));
    }

    /// Destroys a pool of the program; its allocations stay valid.
    pub(crate) fn destroy(&mut self, handle: usize) -> Result {
        if self.defaults.contains(&handle) {
            return Err(Error::INVALID_VALUE);
        }
        self.pools.remove(&handle).map(drop).ok_or(Error::INVALID_VALUE)
    }

    /// The default pool of a device.
    pub fn default_of(&self, device: usize) -> usize {
        self.defaults[device]
    }

    /// The pool of a handle.
    pub fn get(&self, handle: usize) -> Result<&Pool> {
        self.pools.get(&handle).ok_or(Error::INVALID_VALUE)
    }

    /// The pool of a handle, mutably.
    pub(crate) fn get_mut(&mut self, handle: usize) -> Result<&mut Pool> {
        self.pools.get_mut(&handle).ok_or(Error::INVALID_VALUE)
    }

    /// Whether another device than the pool's may access its memory.
    pub fn is_open_to(&self, handle: u64, device: usize) -> bool {
        let pool = self.pools.get(&(handle as usize));
        pool.and_then(|pool| pool.access.get(&device)).is_some_and(|flags| *flags != 0)
    }

    /// Counts a free; the pool may be destroyed.
    pub(crate) fn note_free(&mut self, handle: u64, size: usize) {
        if let Some(pool) = self.pools.get_mut(&(handle as usize)) {
            pool.used -= size as u64;
        }
    }
}

fn setting(attribute: u32) -> Result<usize> {
    SETTABLE.iter().position(|row| row.0 == attribute).ok_or(Error::INVALID_VALUE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn use_and_its_high_mark() {
        let mut pools = Pools::default();
        pools.create(1, 0);
        pools.get_mut(1).expect("made").note_allocation(100);
        pools.note_free(1, 60);
        let pool = pools.get_mut(1).expect("made");
        assert_eq!((pool.attribute(7), pool.attribute(8)), (Ok(40), Ok(100)));
        assert_eq!(pool.set_attribute(8, 0), Ok(()));
        assert_eq!(pool.attribute(8), Ok(40));
        assert_eq!(pool.set_attribute(8, 7), Err(Error::INVALID_VALUE));
        assert_eq!(pool.attribute(99), Err(Error::INVALID_VALUE));
    }

    #[test]
    fn default_pools_stay() {
        let mut pools = Pools::default();
        pools.add_default(1, 0);
        assert_eq!(pools.destroy(1), Err(Error::INVALID_VALUE));
        assert_eq!(pools.default_of(0), 1);
    }
}
