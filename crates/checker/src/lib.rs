//! Everything that is known of one process: a happens-before race detector for what its calls use asynchronously.
//!
//! `commsan-mpi` knows what MPI's calls mean, `commsan-cuda` those of CUDA, and neither knows the other. A program
//! that uses both has a [`rank::Checker`], which compares operations of the one with work of the other; one without
//! MPI has an [`alone::Alone`], which links none of MPI's semantics. The runtime hands over what the program itself
//! does through [`Host`].

pub mod alone;
mod host;
#[cfg(feature = "mpi")]
pub mod rank;

pub use host::{Host, Load};
