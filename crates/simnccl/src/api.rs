//! The functions that programs call, by subject.
//!
//! NCCL has each twice, so that a profiler that stands in front of `ncclSend` can call `pncclSend`.
#![allow(non_snake_case, reason = "the functions are named by NCCL")]

#[macro_use]
mod entry;

mod collective;
mod communicator;
mod group;
mod information;
mod memory;
mod operator;
mod unsupported;
