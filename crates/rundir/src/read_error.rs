//! Why a binary file of a run directory could not be read.

use std::{fmt, io};

/// Why a file could not be read.
#[derive(Debug)]
pub enum ReadError {
    /// The system says so.
    Io(io::Error),
    /// It does not begin as such files do: what it is not.
    Foreign(&'static str),
    /// It is of another version of commsan.
    Version {
        /// The version of its format.
        found: u32,
        /// The version that is read.
        read: u32,
    },
    /// It is shorter than it says, or changed.
    Damaged(&'static str),
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadError::Io(error) => error.fmt(f),
            ReadError::Foreign(what) => write!(f, "this is no {what} of commsan"),
            ReadError::Version { found, read } => write!(
                f,
                "its format has version {found}, this commsan reads version {read}: use the \
                 commsan that made the run"
            ),
            ReadError::Damaged(how) => write!(f, "it is damaged: {how}"),
        }
    }
}

impl std::error::Error for ReadError {}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> ReadError {
        ReadError::Io(error)
    }
}
