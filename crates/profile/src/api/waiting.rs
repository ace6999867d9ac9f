//! Who waits for whom, and what is unusual in a run.

use super::{Block, Level};
use serde::{Deserialize, Serialize};

/// Something unusual.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Unusual {
    /// What it is, in a sentence.
    pub text: String,
    /// By what it shows.
    pub evidence: String,
    /// What people do about it.
    pub advice: String,
    /// The file that it is about.
    pub file: Option<usize>,
    /// The line there.
    pub line: Option<u32>,
    /// The place that it is about.
    pub place: Option<usize>,
    /// The object that it is about.
    pub object: Option<usize>,
    /// When it was worst: nanoseconds from the beginning of the run, as events have them.
    pub when: Option<[u64; 2]>,
    /// How it compares with others.
    pub picture: Picture,
}

/// A small chart: what is unusual among others of its kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Picture {
    /// What is compared.
    pub title: String,
    /// What values are.
    pub unit: PictureUnit,
    /// Names and values; where there are many, neighbours are joined, and the largest counts.
    #[cfg_attr(test, ts(type = "[name: string, value: number][]"))]
    pub bars: Vec<(String, u64)>,
    /// The one that is unusual, if it is one of them.
    pub marked: Option<usize>,
    /// The mean of all values.
    pub mean: u64,
}

/// What the values of a picture are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum PictureUnit {
    /// Times.
    Nanoseconds,
    /// Amounts.
    Bytes,
    /// Numbers of transfers.
    Count,
}

/// Time that ranks wait for others, found by comparing both ends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Waiting {
    /// Seconds, of all ranks.
    pub seconds: f64,
    /// Wait states that occur, and what they cost: `late sender`, `wait at barrier`, …
    pub states: Vec<WaitState>,
    /// Of each rank with events: its place, seconds.
    #[cfg_attr(test, ts(type = "[place: number, seconds: number][]"))]
    pub by_rank: Vec<(usize, f64)>,
    /// Calls that others wait for, by rank and line; those first that cost most.
    pub late: Vec<LateCall>,
    /// Those that are left out, which cost least.
    pub more: usize,
    /// Messages and collectives that were compared.
    pub compared: u64,
}

/// A line at which a rank is late.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LateCall {
    /// `late sender`, `wait at barrier`, …
    pub kind: String,
    /// Who is late.
    pub place: usize,
    /// Its call.
    pub call: String,
    /// The file of that.
    pub file: Option<usize>,
    /// The line there.
    pub line: Option<u32>,
    /// The call that waits, mostly.
    pub waiting_call: String,
    /// The file of that.
    pub waiting_file: Option<usize>,
    /// The line there.
    pub waiting_line: Option<u32>,
    /// How many ranks wait.
    pub ranks: usize,
    /// How often.
    pub count: u64,
    /// Seconds, of all of them.
    pub seconds: f64,
    /// Of the longest wait.
    pub longest_seconds: f64,
    /// When that begins, from the beginning of the run.
    pub longest_start: f64,
}

/// What the waits of a state cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WaitState {
    /// Its name.
    pub name: String,
    /// How many waits.
    pub count: u64,
    /// Seconds in all of them.
    pub seconds: f64,
}

/// Waits of a state: (position in [`Waiting::states`], how many, seconds).
pub type OfState = (usize, u64, f64);

/// Which part of the ranks that wait, and of those that they wait for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitsQuery {
    /// Ranks or nodes.
    pub level: Level,
    /// Ranks that wait, from and to place, inclusive; all if not said.
    pub rows: Option<(usize, usize)>,
    /// Ranks that they wait for.
    pub cols: Option<(usize, usize)>,
    /// Rows and columns at most; [`DEFAULT_BLOCKS`](super::DEFAULT_BLOCKS) if not said.
    pub max: Option<usize>,
}

/// Who waits × for whom. What is on the diagonal is a rank's own fault: it receives in the wrong
/// order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WaitMatrix {
    /// Ranks that wait.
    pub rows: Vec<Block>,
    /// Ranks that they wait for.
    pub cols: Vec<Block>,
    /// (row, column, what), by row and column; empty ones are left out.
    #[cfg_attr(test, ts(type = "[row: number, column: number, StateTotal[]][]"))]
    pub cells: Vec<(usize, usize, Vec<OfState>)>,
}

/// Lines at which some ranks wait for others, those first that cost most.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WaitLines {
    /// Those with most time.
    pub lines: Vec<WaitLine>,
    /// Those that are left out.
    pub more: usize,
}

/// A line at which ranks wait, and the line that they wait for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct WaitLine {
    /// Position in [`Waiting::states`].
    pub state: usize,
    /// The call that waits.
    pub call: String,
    /// Its file.
    pub file: Option<usize>,
    /// The line there.
    pub line: Option<u32>,
    /// The call that is late.
    pub late_call: String,
    /// Its file.
    pub late_file: Option<usize>,
    /// The line there.
    pub late_line: Option<u32>,
    /// Pairs of ranks that do so.
    pub pairs: usize,
    /// How often.
    pub count: u64,
    /// Seconds in all of these waits.
    pub seconds: f64,
    /// The longest of them.
    pub longest: LongestWait,
}

/// The longest of several waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LongestWait {
    /// Who waits: place.
    pub place: usize,
    /// For whom: place.
    pub late: usize,
    /// When it begins, in nanoseconds from the beginning of the run.
    pub begin: u64,
    /// When it ends.
    pub end: u64,
    /// The lane of the thread that waits, unless there are so many waits that only their sums are
    /// known.
    pub lane: Option<usize>,
}
