//! What MPI calls mean.
//!
//! The shim hands over each call as a row of the call table with its arguments; this crate turns
//! it into operations on the engine and into findings. Handles are opaque keys, memory and the
//! MPI library are reached through [`Library`], so nothing here calls MPI and everything can be
//! tested without it.
//!
//! **What is found, and how sure.** All rules follow the standard's words, not the library's
//! timing: an operation uses its buffer from the call that starts it until a call that completes it
//! (MPI 4.1 §3.7.2, §3.7.3). A finding is never false as long as the MPI library's own datatype
//! introspection tells the truth; where a handle cannot be told from another (libraries share one
//! handle between operations that complete at once), commsan assumes the program is right, and can
//! miss. See `requests.rs` and `tracker.rs`; between ranks, `rma.rs` and `collective.rs`; between
//! threads, `tracker/concurrent.rs` and `tracker/levels.rs`.

pub mod buffers;
pub mod collective;
mod ids;
mod ledger;
mod nursery;
mod overlap;
mod pairwise_volumes;
mod partitioned;
mod races;
mod requests;
pub mod rma;
mod steps;
mod threads;
mod tracker;
pub mod transfers;
pub mod typemap;

pub use buffers::{Args, Library};
pub use ids::Token;
pub use tracker::{
    Acquisition, Asked, AtomicUse, Did, Entering, Facts, Got, MemoryModel, Operation, Passed,
    Simple, Sought, Standing, Synchronisation, TargetAccess, Template, ThreadLevel, Tracker, Used,
    Wrong, combine,
};
pub use typemap::Datatype;
