//! The critical path. Times are nanoseconds from the beginning of the run.

use serde::{Deserialize, Serialize};

/// The chain of activity that determines when the run ends, and what it consists of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CriticalPath {
    /// When it begins.
    pub begin: u64,
    /// When it ends.
    pub end: u64,
    /// How often it goes from one thread to another.
    pub changes: usize,
    /// By rank, that with most of it first.
    pub by_place: Vec<PlaceOnPath>,
    /// By call and line, that with most of it first.
    pub by_call: Vec<CallOnPath>,
    /// Calls and lines that are left out.
    pub more_calls: usize,
    /// Its longest parts, in the order of time.
    pub parts: Vec<PathPart>,
    /// Parts that are left out.
    pub more_parts: usize,
    /// What was left out, or is not exact.
    pub notes: Vec<String>,
}

/// What of the path is in a rank.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PlaceOnPath {
    /// The rank's place.
    pub place: usize,
    /// Seconds in calls.
    pub calls: f64,
    /// Seconds outside of calls.
    pub own: f64,
}

/// What of the path is in a call at a line, or leads to it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CallOnPath {
    /// The call; `commsan` of its own work; none after the last call, and between calls that were
    /// folded when they were recorded.
    pub call: Option<String>,
    /// Its file.
    pub file: Option<usize>,
    /// The line there.
    pub line: Option<u32>,
    /// Seconds in the call.
    pub inside: f64,
    /// Seconds outside of calls, since the call before, or since the path came to the thread.
    pub before: f64,
}

/// A part of the path in one thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PathPart {
    /// The thread's lane.
    pub lane: usize,
    /// When the path comes to it.
    pub begin: u64,
    /// When it leaves.
    pub end: u64,
}
