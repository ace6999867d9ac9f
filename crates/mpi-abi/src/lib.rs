//! The application binary interfaces (ABIs) of MPI libraries: what the standard leaves to them.
//!
//! The standard fixes names, not values (MPI 4.1 §2.5, annex A.1): each library has its own
//! integers for ranks, tags, assertions and error classes, its own `MPI_Status`, and its own
//! representation of handles. Libraries that agree on all of these are an [`MpiFamily`].
//!
//! - [`Constants`]: the integers and the layout of `MPI_Status`, one column per family.
//! - [`handles`]: the predefined handles, one row each.
//! - [`mpich`]: what MPICH encodes in the bits of a handle.
//! - [`prototypes`]: the C prototypes of all calls, from which entry points are generated.
//!
//! Programs are analysed, and entry points generated, without any `mpi.h`, so values stand here;
//! the tests of this crate compare them with the installed headers.
//!
//! To add a family takes a variant of [`MpiFamily`], a column of `constants.rs` and a column of
//! `handles.rs`.

#![cfg_attr(not(test), no_std)]

mod constants;
mod family;
pub mod handles;
pub mod mpich;
pub mod prototypes;

pub use constants::Constants;
pub use family::MpiFamily;
pub use handles::{Handle, HandleKind};
