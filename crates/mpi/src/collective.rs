//! Collective matching: whether the ranks of a communicator are in the same collective (MPI 4.1
//! §6.1, §6.14).
//!
//! Each rank counts the collectives that it calls on a communicator, window or file. The first rank
//! that comes to the n-th leaves an entry at the rendezvous of the node
//! ([`commsan_job_shm::Rendezvous`]); each later rank compares its own call with that. No message
//! is sent, no rank waits, and a mismatch is found before the library is called, hence before the
//! program hangs.
//!
//! **Soundness.** What is compared must be equal by the standard, on every rank:
//! - [`entry`]: kind and mode, root, predefined operation, and type signature where all ranks have
//!   to pass the same. A signature that is not known for certain, or has `MPI_BYTE` or `MPI_PACKED`
//!   in it, is compared by its size alone. User-defined operations are not compared.
//! - [`communicators`]: the name of a communicator, equal on all ranks, follows from how it was
//!   made, which is a collective of its parent, or of a group of it. What was made in another way
//!   has no name and is not compared: intercommunicators, sessions, spawned processes. Nor is a
//!   communicator after a call on it has failed, or after threads have called collectives on it
//!   without an order.
//!
//! **Crossing order.** An entry contains how far its rank has come on the communicators that it
//! used last. If one rank enters a blocking collective of A before one of B, and another one that
//! of B before that of A, each may wait for the other, in this run or another (§6.14). Ranks with
//! several threads are left out: each thread may have an order of its own.
//!
//! Missed are entries that the rendezvous has forgotten, and mismatches in counts that differ for
//! each pair of ranks (`MPI_Alltoallv`, `MPI_Gatherv` and the like).

pub mod alike;
pub mod communicators;
pub mod entry;
pub mod signature;
