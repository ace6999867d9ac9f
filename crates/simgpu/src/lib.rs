//! A simulated CUDA runtime: `libcudart.so.12` and `.13` whose devices live in host memory.
//!
//! Programs built with `-cudart shared` run on it unchanged. It is a CUDA runtime and checks
//! nothing; but it is as lazy as the rules allow, so that the effect of a missing synchronisation
//! shows.
//!
//! The path of a `cudaMemcpyAsync`: `api/copy.rs` checks its arguments; `submit.rs` enqueues it
//! into its stream, or adds it to the graph that the stream is captured to, and makes the host wait
//! if `host_sync.rs` says so; `order.rs` knows its dependencies; `schedule.rs` runs it when
//! something waits for it.
//!
//! Kernel execution implements the traits of `grid.rs`.

pub mod account;
mod api;
pub mod arena;
pub mod capture;
mod checks;
pub mod conditional;
pub mod copy;
pub mod device;
mod device_library;
pub mod error;
pub mod events;
pub mod failure;
pub mod graphs;
pub mod grid;
pub mod host_sync;
pub mod images;
pub mod ipc;
mod kernels;
pub mod launch;
pub mod mapping;
pub mod memory;
pub mod modules;
pub mod order;
pub mod pools;
pub mod runtime;
pub mod schedule;
pub mod service;
pub mod settings;
pub mod streams;
pub mod submit;
pub mod task;
pub mod thread;
pub mod watch;

pub use commsan_cuda_abi as abi;
