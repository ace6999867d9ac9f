//! What MPI calls mean.
//!
//! The shim passes each call as a row of the call table with its arguments; this crate turns it
//! into operations, live ranges and findings. Handles are opaque keys, and memory and the MPI
//! library are reached through [`Library`], so that nothing here calls MPI and everything can be
//! tested without it.
//!
//! | subject | modules |
//! |---|---|
//! | request table | `requests.rs`, young operations in `nursery.rs` |
//! | datatype map (typemap), type signatures | `typemap.rs`, `collective/signature.rs` |
//! | buffers of a call | `buffers.rs` |
//! | vector clocks: happens-before between ranks | `rma/clock.rs`, `rma/order.rs` |
//! | happens-before between threads | `threads.rs`, `tracker/concurrent.rs` |
//! | rendezvous of collectives | `collective.rs`, `tracker/collectives.rs` |
//! | wait-for graph: needs of a waiting process | `tracker/waiting.rs` |
//!
//! **What is found, and how surely.** All rules follow the standard's words, not the library's
//! timing: an operation uses its buffer from the call that starts it until a call that completes it
//! (MPI 4.1 §3.7.2, §3.7.3). A finding is never false as long as the MPI library's own datatype
//! introspection is right; where a handle is ambiguous (libraries share one handle between
//! operations that complete at once), commsan assumes that the program is right, and can miss. See
//! `requests.rs` and `tracker.rs`; between ranks, `rma.rs` and `collective.rs`; between threads,
//! `tracker/concurrent.rs` and `tracker/levels.rs`.

pub mod buffers;
pub mod collective;
mod ids;
mod ledger;
mod nursery;
mod other_work;
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
pub use commsan_job_shm::RankTime;
pub use ids::Token;
pub use other_work::{OtherWork, Status};
pub use tracker::{
    Acquisition, Asked, AtomicUse, BufferOwner, Doubt, Enqueued, Entering, Facts, Failure, Got,
    MemoryModel, MetOperation, MetRemote, Moved, Operation, Outside, Overstep, Passed, Purpose,
    Simple, Sought, Standing, Step, Synchronisation, TargetAccess, Template, ThreadLevel, Tracker,
    Used, Wrong, combine, moved_by_shmem,
};
pub use typemap::Datatype;
