//! A simulated NVSHMEM: the functions of `libnvshmem_host.so.3` that the host calls.
//!
//! All simulated memory lies in the address space of each process that has it, so that a put is a
//! copy of bytes, done by the host when it calls or by a function of the host in a stream. Each
//! symmetric allocation is one of the device, which the other PEs open. Kernels may use what
//! `nvshmem_ptr` gives; NVSHMEM's functions for kernels are not simulated.
//!
//! `api.rs` has the functions, `job.rs` what they do, `start.rs` how PEs find each other, `heap.rs`
//! their memory, `team.rs` whom a collective is of, `values.rs` what reductions and atomics
//! compute.

mod api;
mod heap;
mod job;
mod start;
mod team;
mod values;

use crate::board::Board;
use crate::error::{Failure, Result};
use heap::Heap;
use parking_lot::{Mutex, RwLock};
use std::sync::Arc;
use team::{Team, Teams};

/// A process as a PE among all.
struct World {
    pe: usize,
    pes: usize,
    /// For what all do together but teams: allocations, the end.
    board: Mutex<Board>,
    heap: RwLock<Heap>,
    teams: Mutex<Teams>,
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

    /// Where memory that is symmetric is at a PE, as this process reaches it.
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
