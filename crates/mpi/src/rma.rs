//! One-sided communication (MPI 4.1 chapter 12): windows, epochs, and operations of other ranks on
//! window memory.
//!
//! An operation has two ends. At its origin it uses local buffers like any nonblocking operation,
//! until a call that completes it there. At its target it may access window memory from the call
//! that starts it to a call of the origin that completes it there. The target checks the latter: it
//! receives a message for each operation, and another for its completion, through memory that ranks
//! share; it remembers operations with which some access may still be concurrent, and its own
//! accesses to its windows.
//!
//! Happens-before between ranks is computed by vector clocks, which accompany whatever MPI promises
//! to order. Messages respect that order: a rank that has acquired an event finds the messages of
//! all that happened before it in the ring already. So of two accesses that overlap, the one
//! announced later either happens after the other, which its clock shows, or is concurrent with it.
//!
//! **Soundness.** A finding names two accesses to a common byte, one of which writes, that no
//! synchronisation seen so far orders: no false reports as long as all synchronisation passes
//! through MPI. Missed are:
//! - races that another order of messages, locks or atomics would show; an atomic read is taken to
//!   see all atomic writes before it;
//! - what a receiver did between a synchronous send's receive and its return;
//! - in shared-memory windows what [`shared`] says, and of ranks with several threads what
//!   [`clock`] says;
//! - operations between nodes, and what a full ring or an overwritten clock loses; the report says
//!   so;
//! - races between accesses of one process that only its threads do not order.

pub(crate) mod accumulate;
pub(crate) mod cells;
pub(crate) mod clock;
pub(crate) mod knowledge;
pub(crate) mod message;
pub(crate) mod order;
pub(crate) mod outbox;
pub(crate) mod remote;
pub(crate) mod segments;
pub(crate) mod shared;
pub(crate) mod windows;

pub use crate::ids::Group;
pub use accumulate::{Atomic, Combine, MAX_ELEMENT, Rules};
pub use order::{Collective, Envelope, Expected};
pub use windows::{Made, Part};
