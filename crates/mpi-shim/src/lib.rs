//! The MPI entry points: every call of the program comes through here.
//!
//! `build.rs` generates, from the call table and the prototypes of one family of MPI libraries, a
//! function for each call and each Fortran symbol. All of them end in [`entry::around`]: before and
//! after the library's own function it passes the call to `commsan-mpi`, which decides what it
//! means. What an argument *is* (a handle, a sentinel, a Fortran integer) is known only here.
//!
//! Nothing is linked with an MPI library, and none is needed to build: the library's functions are
//! found in the process ([`real`]). Without one of the features `openmpi`, `mpich` and `mpiabi`
//! there are no entry points, only the interface to the runtime.

#[cfg(has_mpi)]
mod absent;
#[cfg(has_mpi)]
mod again;
#[cfg(has_mpi)]
mod arguments;
#[cfg(has_mpi)]
mod bounds;
#[cfg(has_mpi)]
mod callbacks;
#[cfg(has_mpi)]
mod calling;
#[cfg(has_mpi)]
mod collectives;
#[cfg(has_mpi)]
mod crash;
#[cfg(has_mpi)]
mod datatypes;
#[cfg(has_mpi)]
mod effects;
#[cfg(has_mpi)]
mod ending;
#[cfg(has_mpi)]
mod entry;
#[cfg(has_mpi)]
mod files;
#[cfg(has_mpi)]
mod fortran;
#[cfg(has_mpi)]
mod groups;
#[cfg(has_mpi)]
mod handles;
#[cfg(has_mpi)]
mod levels;
#[cfg(has_mpi)]
mod library;
#[cfg(has_mpi)]
mod lookup;
#[cfg(has_mpi)]
mod matched;
#[cfg(has_mpi)]
mod node;
#[cfg(has_mpi)]
mod objects;
#[cfg(has_mpi)]
mod order;
#[cfg(has_mpi)]
mod outcome;
#[cfg(has_mpi)]
mod outside;
#[cfg(has_mpi)]
mod phase;
#[cfg(has_mpi)]
mod races;
mod rank;
#[cfg(has_mpi)]
mod real;
#[cfg(has_mpi)]
mod refused;
#[cfg(has_mpi)]
mod sessions;
#[cfg(has_mpi)]
#[cfg_attr(
    not(feature = "openmpi"),
    allow(dead_code, reason = "only Open MPI has an OpenSHMEM that is a layer of its MPI")
)]
mod shmem;
#[cfg(has_mpi)]
mod startup;
#[cfg(has_mpi)]
mod stats;
#[cfg(has_mpi)]
mod steps;
#[cfg(has_mpi)]
mod streams;
#[cfg(has_mpi)]
mod traffic;
#[cfg(has_mpi)]
mod user_operations;
#[cfg(has_mpi)]
mod waiting;
#[cfg(has_mpi)]
mod windows;
#[cfg(has_mpi)]
mod word;

pub use rank::{Rank, Shared, World, connect, set_mode};

#[cfg(has_mpi)]
pub use {
    calling::{ended, prepare},
    entry::{collect_strictly, send_strictly},
    fortran::without_error_code,
    library::Mpi,
    objects::follow_objects,
    outside::left,
    real::loaded,
    stats::each_call,
    user_operations::accessed as accessed_by_operation,
    waiting::{during_work, gone},
};

#[allow(
    unused_imports,
    clippy::missing_safety_doc,
    clippy::too_many_arguments,
    reason = "generated, for families with OpenSHMEM"
)]
#[cfg(has_mpi)]
mod symmetric_entries {
    use crate::shmem::around;
    use crate::word::Word;
    use commsan_process::next::Next;
    use std::ffi::{c_int, c_void};
    include!(concat!(env!("OUT_DIR"), "/symmetric.rs"));
}

/// Types, constants and functions of the family's C interface.
#[cfg(has_mpi)]
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
#[cfg(has_mpi)]
mod entries {
    use crate::again::Sum;
    use crate::entry::{around, calling, is_strict};
    use crate::fortran::fortran;
    use crate::races::{OWN_STATUSES, needs_statuses};
    use crate::real;
    use crate::sys::*;
    use crate::user_operations::instead_of;
    use crate::word::{Language, Word};
    use commsan_process::next::Next;
    use std::ffi::{c_char, c_int, c_void};
    include!(concat!(env!("OUT_DIR"), "/entries.rs"));
}
