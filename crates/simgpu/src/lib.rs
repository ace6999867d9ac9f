//! A simulated CUDA runtime: `libcudart.so.12` and `.13` whose devices live in host memory.
//!
//! Programs built with `-cudart shared` run on it unchanged. It is a CUDA runtime and checks
//! nothing; but it is as lazy as the rules allow, so that a program that forgets to synchronise
//! sees it.
//!
//! The path of a `cudaMemcpyAsync`: `api/copy.rs` checks its arguments; `submit.rs` puts it into
//! its stream, or into the graph that the stream is captured to, and lets the host wait if
//! `rules.rs` says so; `order.rs` knows what it waits for; `schedule.rs` runs it when somebody
//! waits for it.
//!
//! Who executes kernels implements the traits of `grid.rs`.

pub mod account;
mod api;
pub mod arena;
pub mod capture;
pub mod conditional;
pub mod copy;
pub mod device;
pub mod error;
pub mod events;
pub mod failure;
pub mod graphs;
pub mod grid;
pub mod images;
pub mod ipc;
mod kernels;
pub mod launch;
pub mod mapping;
pub mod memory;
pub mod modules;
pub mod order;
pub mod pools;
pub mod rules;
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
