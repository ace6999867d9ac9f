//! A simulated CUDA runtime.

pub mod error;
pub mod order;
