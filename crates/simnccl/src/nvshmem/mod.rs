//! A simulated NVSHMEM: the host functions of `libnvshmem_host.so.3`.
//!
//! Simulated device memory is mapped into each process that has it, so that a put is a copy of
//! bytes, done by the host when it calls or by a host function in a stream. Each symmetric
//! allocation is one of the device, which the other PEs open. Kernels may use the pointers that
//! `nvshmem_ptr` returns, and NVSHMEM's functions for kernels.
//!
//! `api.rs` has the functions, `job.rs` their operations, `start.rs` how PEs find each other,
//! `heap.rs` the symmetric heap, `team.rs` teams, `values.rs` the arithmetic of reductions and
//! atomics, `device.rs` what kernels need.

mod api;
mod device;
mod heap;
mod job;
mod start;
mod team;
mod values;

use crate::error::{Failure, Result};
use crate::rendezvous::Rendezvous;
use heap::Heap;
use parking_lot::{Mutex, RwLock};
use std::sync::Arc;
use team::{Team, Teams};

/// A process as one PE of the job.
struct World {
    pe: usize,
    pes: usize,
    /// For collective operations of all PEs other than those of teams: allocations, finalisation.
    rendezvous: Mutex<Rendezvous>,
    heap: RwLock<Heap>,
    teams: Mutex<Teams>,
    /// What kernels find, if the program has some that call NVSHMEM.
    device: Mutex<Option<device::Device>>,
}

static WORLD: RwLock<Option<Arc<World>>> = RwLock::new(None);

fn world() -> Result<Arc<World>> {
    let none = || Failure::usage("NVSHMEM is not initialised");
    WORLD.read().clone().ok_or_else(none)
}

impl World {
    fn team(&self, number: i32) -> Result<Arc<Team>> {
        self.teams.lock().get(number)
    }

    /// The address of symmetric memory at a PE, as mapped in this process.
    fn at(&self, address: usize, bytes: usize, pe: usize) -> Result<usize> {
        if pe >= self.pes {
            return Err(Failure::argument(format!("there is no PE {pe}: there are {}", self.pes)));
        }
        let outside = || {
            Failure::argument(format!(
                "{bytes} bytes at {address:#x} are not in symmetric memory, which nvshmem_malloc gives"
            ))
        };
        self.heap.read().at(address, bytes, pe).ok_or_else(outside)
    }
}
