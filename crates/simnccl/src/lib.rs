//! A simulated NCCL: `libnccl.so.2` for the devices of `commsan-simgpu`.
//!
//! It is an ordinary CUDA library. Its kernels are PTX, which it writes (`ptx.rs`) and registers as
//! compilers' code does (`kernels.rs`); they store into the memory of peers and wait for flags
//! there, so that the simulator sees the traffic that the algorithms really make.
//!
//! The path of an `ncclAllReduce`: `api/collective.rs` checks its arguments; `collective.rs`
//! chooses the algorithm; `schedule.rs` says in which steps this rank takes part in it; `work.rs`
//! makes of these what the kernel reads; `communicator.rs` launches it. In a group, this happens at
//! its end (`group.rs`).
//!
//! The path of an `ncclCommInitRank`: the ranks meet on a board in shared memory (`board.rs`), tell
//! each other where their device memory is (`peers.rs`), and lay out in it how each pair is linked
//! (`region.rs`).
//!
//! The library is a simulated NVSHMEM, too, `libnvshmem_host.so.3` (`nvshmem/`): its PEs meet in
//! the same way.

pub mod abi;
mod api;
pub mod board;
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
pub mod retired;
pub mod schedule;
pub mod settings;
pub mod turns;
pub mod work;
