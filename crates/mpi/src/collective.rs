//! Whether the ranks of a communicator are in the same collective (MPI 4.1 §6.1, §6.14).
//!
//! Each rank counts the collectives that it calls on a communicator, window or file. The first rank that
//! comes to the n-th leaves what it has called on the board of the node ([`commsan_job_shm::Rendezvous`]);
//! each that comes later compares its own call with that. No message is sent, nobody waits, and it is
//! found before the library is called, hence before the program hangs.
//!
//! **Soundness.** What is compared must be equal by the standard, on every rank:
//! - [`entry`]: kind and mode, root, predefined operation, and type signature where all ranks have to
//!   pass the same. A signature that is not known for certain, or has `MPI_BYTE` or `MPI_PACKED` in it,
//!   is compared by its size alone. Operations of the program's own are not compared.
//! - [`communicators`]: who has which name on all ranks follows from how it was made, which is a
//!   collective of its parent, or of a group of it. What was made in another way has no name and is not compared:
//!   inter-communicators, sessions, spawned processes.
//!   Nor is a communicator any more after a call on it has failed, or threads have called collectives
//!   on it without an order.
//!
//! **Crossing order.** An entry tells how far its rank has come on the communicators that it used last.
//! If one rank enters a blocking collective of A before one of B, and another one that of B before that
//! of A, each may wait for the other, in this run or another (§6.14). Ranks with several threads
//! are left out: each thread may have an order of its own.
//!
//! Missed is what the board has forgotten, and what only the counts of one rank for each of the others
//! would show (`MPI_Alltoallv`, `MPI_Gatherv` and their like).

pub mod alike;
pub mod communicators;
pub mod entry;
pub mod signature;
