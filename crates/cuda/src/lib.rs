//! What CUDA calls mean: which work of streams is ordered, what it touches, what the host knows of
//! it.
//!
//! The shim hands over each call; nothing here calls CUDA, so that everything can be tested without
//! it, and no device is emulated.

mod clock;
mod gpu;
mod graphs;
mod ipc;
mod kernels;
mod memory;
pub mod nccl;
pub mod nvshmem;
mod order;
mod rules;
mod stream_checker;
pub mod waiting;
mod work;

pub use commsan_ptx::Strength;
pub use gpu::{Ended, Failure, Gpu, Mistake, NodeKind, Suspect, Ticket};
pub use ipc::{SharedEvent, SharedMemory};
pub use kernels::{Launched, Modules, Shape, demangled};
pub use stream_checker::StreamChecker;
pub use work::{
    Allocation, Bytes, Copy, KernelAccess, Line, MemoryKind, Release, Rows, Set, StreamName, Wait,
    Work,
};
