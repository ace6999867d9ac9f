//! A simulated NCCL: `libnccl.so.2` for the devices of `commsan-simgpu`.
//!
//! It is an ordinary CUDA library. Its kernels are PTX, which it generates (`ptx.rs`) and registers
//! as compiled code does (`kernels.rs`); they store into the memory of peers and wait for flags
//! there, so that the simulator sees the real traffic of the algorithms.
//!
//! The path of an `ncclAllReduce`: `api/collective.rs` checks its arguments; `collective.rs`
//! chooses the algorithm; `schedule.rs` computes the steps of this rank; `work.rs` encodes them for
//! the kernel; `communicator.rs` launches it. In a group, this happens at its end (`group.rs`).
//!
//! The path of an `ncclCommInitRank`: the ranks meet in shared memory (`rendezvous.rs`), exchange
//! the addresses of their device memory (`peers.rs`), and lay out in it how each pair is linked
//! (`region.rs`).
//!
//! The library is also a simulated NVSHMEM, `libnvshmem_host.so.3` (`nvshmem/`), whose PEs meet in
//! the same way.

pub mod abi;
mod api;
pub mod collective;
pub mod communicator;
pub mod cuda;
pub mod datatype;
pub mod error;
pub mod fatbin;
pub mod group;
pub mod kernels;
mod nvshmem;
pub mod p2p;
pub mod peers;
pub mod ptx;
pub mod region;
pub mod registry;
pub mod rendezvous;
pub mod retired;
pub mod schedule;
pub mod settings;
pub mod turns;
pub mod work;
