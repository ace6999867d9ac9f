//! What the search finds besides what [`Run`](super::Run) lists.

use serde::{Deserialize, Serialize};

/// Lines that [`Names`] lists at most.
pub const MAX_LINES: usize = 200_000;

/// A line at which calls are made: (file, line, position of its function, positions of the calls).
pub type NamedLine = (usize, u32, Option<usize>, Vec<usize>);

/// Functions, lines and calls of the program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Names {
    /// Names of calls.
    pub calls: Vec<String>,
    /// Functions in call paths.
    pub functions: Vec<NamedFunction>,
    /// Lines at which calls are made, by file and line.
    #[cfg_attr(
        test,
        ts(type = "[file: number, line: number, function: number | null, calls: number[]][]")
    )]
    pub lines: Vec<NamedLine>,
    /// Lines that are left out.
    pub more_lines: usize,
}

/// A function.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct NamedFunction {
    /// Its name.
    pub name: String,
    /// Its file.
    pub file: usize,
    /// The first line of it that is in a call path.
    pub line: u32,
}
