//! Thread levels.

use crate::{Analysis, Calls, Options};
use commsan_ir::Program;

/// MPI's thread levels (MPI 4.1 §11.6.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// One thread only.
    Single,
    /// Only the thread that initialised MPI calls it.
    Funneled,
    /// One thread at a time calls it.
    Serialized,
    /// Any thread, any time.
    Multiple,
}

/// In which threads a function runs that nobody in the program calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Context {
    /// In the first thread, outside parallel regions.
    #[default]
    Main,
    /// In all threads of a parallel region.
    Parallel,
    /// In one thread of a parallel region, any of them.
    Single,
    /// In the first thread of a parallel region.
    Master,
}

impl std::fmt::Display for Level {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Level::Single => "MPI_THREAD_SINGLE",
            Level::Funneled => "MPI_THREAD_FUNNELED",
            Level::Serialized => "MPI_THREAD_SERIALIZED",
            Level::Multiple => "MPI_THREAD_MULTIPLE",
        })
    }
}

/// Checks.
pub fn check(_: &Program, _: &Calls, _: &Options, _: &mut Analysis) {}
