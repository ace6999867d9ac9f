//! One-sided communication (MPI 4.1 chapter 12): windows, epochs, and what happens to window
//! memory from afar.
//!
//! An operation has two ends. At its origin it uses local buffers like any nonblocking operation,
//! until a call that completes it there. At its target it may touch window memory from the call
//! that starts it to a call of the origin that completes it there. The target decides about the
//! latter: it is told of each operation by a notice, and of its completion by another, through
//! memory that ranks share; it remembers operations that some access may still be concurrent
//! with, and what it has itself done to its windows.
//!
//! Order between ranks is by vector clocks, which travel with whatever MPI promises to order.
//! Notices keep to it: who has learned of an event finds the notices of all that happened before
//! it in the ring already. So of two accesses that are found to overlap, the later noticed is
//! either after the other, which its clock tells, or concurrent with it.
//!
//! **Soundness.** A finding names two accesses to a common byte, one of which writes, that no
//! synchronisation seen so far orders: no false reports as long as all synchronisation passes
//! through MPI. Missed are:
//! - races that another order of messages, locks or atomics would show; an atomic read is taken
//!   to see all atomic writes before it;
//! - what a receiver did between a synchronous send's receive and its return;
//! - in shared-memory windows what [`shared`] says;
//! - operations between nodes, and what a full ring or a forgotten clock loses; the report says so;
//! - of accesses by several threads of one process, those unordered only within it.

pub(crate) mod accumulate;
pub(crate) mod cells;
pub(crate) mod clock;
pub(crate) mod message;
pub(crate) mod order;
pub(crate) mod outbox;
pub(crate) mod remote;
pub(crate) mod segments;
pub(crate) mod shared;
pub(crate) mod windows;

pub use crate::ids::Group;
pub use accumulate::{Atomic, Combine, Rules};
pub use order::{Collective, Envelope, Expected};
pub use windows::{Made, Part};
