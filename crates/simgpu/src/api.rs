//! The exported functions of the CUDA runtime API, by subject.
//!
//! Each takes the lock, does one thing, and turns the result into a `cudaError_t`. Functions that
//! CUDA declares twice, for programs whose default stream is the legacy one and for those with one
//! per thread (`_ptsz`, `_ptds`), are defined by one body.
#![allow(non_snake_case, reason = "the functions are named by CUDA")]

#[macro_use]
mod entry;

mod array;
mod copy;
mod device;
mod event;
mod graph;
mod ipc;
mod launch;
mod memory;
mod mpi;
mod node;
mod occupancy;
mod peer;
mod pool;
mod set;
mod stream;
mod symbol;
mod symmetric;
mod texture;
mod unsupported;
mod watch;
