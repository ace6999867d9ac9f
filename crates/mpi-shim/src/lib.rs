//! The MPI entry points: every call of the program comes through here.
//!
//! `build.rs` generates, from the call table and one `mpi.h`, a function for each call and each
//! Fortran symbol. All of them end in [`entry::around`]: before the library's own function, after
//! it, and between them what the call means, which is not decided here but in `commsan-mpi`.
//! What an argument *is* (a handle, a sentinel, a Fortran integer) is known here alone.
//!
//! Without the feature `openmpi` or `mpich` the crate is empty.
#![cfg(has_mpi)]

mod collectives;
mod datatypes;
mod effects;
mod entry;
mod fortran;
mod groups;
mod levels;
mod library;
mod node;
mod order;
mod rank;
mod traffic;
mod windows;

pub use library::Mpi;
pub use node::{Shared, gone};
pub use rank::{Rank, World, connect};

/// What the header says, as bindgen reads it.
#[allow(
    missing_docs,
    non_camel_case_types,
    non_snake_case,
    non_upper_case_globals,
    dead_code,
    unsafe_op_in_unsafe_fn,
    clippy::all,
    clippy::undocumented_unsafe_blocks,
    reason = "generated"
)]
mod sys {
    include!(concat!(env!("OUT_DIR"), "/bindings.rs"));
}

#[allow(
    non_snake_case,
    unused_imports,
    unused_unsafe,
    unpredictable_function_pointer_comparisons,
    clippy::missing_safety_doc,
    clippy::too_many_arguments,
    reason = "generated, with MPI's names"
)]
mod entries {
    use crate::entry::{Language, Word, around, calling};
    use crate::fortran::fortran;
    use crate::sys::*;
    use commsan_sense::next::Next;
    use std::ffi::{c_char, c_int, c_void};
    include!(concat!(env!("OUT_DIR"), "/entries.rs"));
}
