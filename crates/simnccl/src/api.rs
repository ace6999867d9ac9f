//! The exported functions of NCCL, by subject.
//!
//! NCCL exports each twice, so that a profiler that interposes `ncclSend` can call `pncclSend`.
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
