//! What a run is: places, files, objects, findings, and totals.

use super::{OfKind, Unusual, Waiting};
use serde::{Deserialize, Serialize};

/// All that has a name in a run, and its totals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Run {
    /// [`VERSION`](super::VERSION)
    pub version: u32,
    /// Of the run directory.
    pub name: String,
    /// After `commsan profile --`.
    pub command: Vec<String>,
    /// Seconds since 1970.
    pub began: f64,
    /// From the first rank's beginning to the last one's end.
    pub seconds: f64,
    /// Node by node: ranks, then devices; then files, then the unknown place.
    pub places: Vec<Place>,
    /// Hosts, in the order of their first ranks; then `files`, `unknown`.
    pub nodes: Vec<Node>,
    /// Those that occur.
    pub kinds: Vec<String>,
    /// Of each kind.
    pub totals: Vec<Total>,
    /// Named by the program.
    pub regions: Vec<String>,
    /// Time in communication.
    pub calls: Communication,
    /// Who waits for whom, if events were recorded.
    pub waiting: Option<Waiting>,
    /// What is unusual: at most three, that first which costs most.
    pub unusual: Vec<Unusual>,
    /// Sources, by path.
    pub files: Vec<File>,
    /// Those with most traffic first.
    pub objects: Vec<Object>,
    /// What alone was asked for, and counts: `objects u, v`; everything if empty.
    pub only: Vec<String>,
    /// What the user should know.
    pub notes: Vec<String>,
    /// What checking has found in the same run.
    pub findings: Vec<Finding>,
    /// Whether any rank was checked.
    pub checked: bool,
    /// What time is divided into.
    pub timeline: Bins,
    /// Whether the file of every rank is complete.
    pub complete: bool,
}

/// Where data is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Place {
    /// Its position.
    pub id: usize,
    /// `rank 0`, `gpu 1`, a path.
    pub name: String,
    /// What it is.
    pub kind: PlaceKind,
    /// Position of its node.
    pub node: usize,
}

/// What a place is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum PlaceKind {
    /// A rank with its host memory.
    Rank,
    /// A device.
    Device,
    /// A file.
    File,
    /// Not known.
    Unknown,
}

/// A host with its places.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Node {
    /// Host name.
    pub name: String,
    /// First and last place.
    pub places: [usize; 2],
}

/// What has been moved in all.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Total {
    /// Position in `kinds`.
    pub kind: usize,
    /// Transfers.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Time in communication.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Communication {
    /// Time in calls, of the ranks' time in all, 0 to 1.
    pub share_of_time: f64,
    /// Of each rank.
    pub by_rank: Vec<RankTime>,
    /// By call and line, those with most time first.
    pub calls: Vec<CallTime>,
    /// Those that are left out, with least time.
    pub more: usize,
}

/// Time in calls of a line, of all ranks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CallTime {
    /// The call.
    pub call: String,
    /// Its file.
    pub file: Option<usize>,
    /// The line there.
    pub line: Option<u32>,
    /// How many calls.
    pub count: u64,
    /// Seconds in all of them.
    pub seconds: f64,
}

/// Totals of part of a run: of some of the time, of a region.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Selection {
    /// Of each kind.
    pub totals: Vec<Total>,
    /// Objects with most traffic first, and their traffic.
    #[cfg_attr(test, ts(type = "[object: number, KindTotal[]][]"))]
    pub objects: Vec<(usize, Vec<OfKind>)>,
    /// Time in communication; it is not known by region.
    pub calls: Communication,
}

/// A rank's time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RankTime {
    /// The rank's place.
    pub place: usize,
    /// Seconds in calls.
    pub seconds: f64,
    /// Seconds outside of them.
    pub busy: f64,
}

/// A source file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename = "SourceFile"))]
pub struct File {
    /// Its position.
    pub id: usize,
    /// As the debug information names it.
    pub path: String,
    /// Transfers.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Seconds in calls, of all ranks.
    pub seconds: f64,
    /// These amounts by kind.
    #[cfg_attr(test, ts(type = "KindTotal[]"))]
    pub by_kind: Vec<OfKind>,
    /// Whether it can be read.
    pub found: bool,
    /// Whether it is newer than the run.
    pub changed: bool,
}

/// What was allocated at one place of the program, or a variable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename = "DataObject"))]
pub struct Object {
    /// Its position.
    pub id: usize,
    /// The variable's, if that is certain, else `FUNCTION:LINE`.
    pub name: String,
    /// `heap`, `global`, `stack`, `device`, `managed`, `pinned`, `window`, `unknown`.
    pub memory: String,
    /// Places that it lies at.
    pub place_count: usize,
    /// Size of the largest; 0 if unknown.
    pub bytes: u64,
    /// How many there were.
    pub allocations: u64,
    /// Where it was allocated.
    pub file: Option<usize>,
    /// The line there.
    pub line: Option<u32>,
    /// Its traffic.
    #[cfg_attr(test, ts(type = "KindTotal[]"))]
    pub by_kind: Vec<OfKind>,
    /// Call path of the allocation, innermost first.
    pub stack: Vec<Frame>,
}

/// A frame of a call path.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Frame {
    /// Its name; of code without symbols its module and offset.
    pub function: String,
    /// Position of its file.
    pub file: Option<usize>,
    /// The line there.
    pub line: Option<u32>,
    /// Whether that is in a header of C++'s library, or such.
    pub library: bool,
}

/// What checking has found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Finding {
    /// `CS-BUF-01`
    pub code: String,
    /// How bad it is.
    pub severity: Severity,
    /// In a few words.
    pub title: String,
    /// In a sentence.
    pub message: String,
    /// Ranks that take part.
    pub places: Vec<usize>,
    /// Where the problem is.
    pub file: Option<usize>,
    /// The line there.
    pub line: Option<u32>,
    /// The only object that is moved by the line of one of its sides.
    pub object: Option<usize>,
    /// Its sides, the one where the problem is first.
    pub sides: Vec<FindingSide>,
    /// Why its sides are not ordered.
    pub why: String,
    /// What to do about it.
    pub help: String,
    /// When each rank has found it first, by time; of what is concluded after the run, when it
    /// happened, as far as that is known.
    pub moments: Vec<FindingMoment>,
}

/// When a rank has found something, or done what it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FindingMoment {
    /// The rank's place.
    pub place: usize,
    /// Number of its thread.
    pub thread: u32,
    /// Nanoseconds from the beginning of the run.
    pub time: u64,
    /// What happened then.
    pub what: MomentOf,
}

/// What happens at the moment of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum MomentOf {
    /// The rank finds it.
    Found,
    /// The rank makes the call that it is about.
    Called,
    /// The rank is seen where it waits for ever.
    Stuck,
}

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Legal, but wasteful or likely to become an error.
    Warning,
    /// The standard forbids it.
    Error,
}

/// A place in the program that takes part in a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FindingSide {
    /// What happens there.
    pub label: String,
    /// Path of the source file.
    pub path: Option<String>,
    /// Its number, if it is one of the run's.
    pub file: Option<usize>,
    /// The line there.
    pub line: Option<u32>,
}

/// What time is divided into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Bins {
    /// How many.
    pub bins: u32,
    /// How long each is.
    pub width_seconds: f64,
}
