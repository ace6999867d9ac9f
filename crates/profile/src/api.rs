//! Questions about a run and their answers, as they go over the wire.
//!
//! Numbers that name something are positions in the arrays of [`Run`]: places, kinds, regions,
//! files, objects. Figures of a place, an object, a file or a line are of the transfers that it
//! takes part in, at either end, each counted once.
//!
//! The viewer reads the same types in TypeScript, `viewer/src/api/types.ts`: its declarations are
//! written from these by a test (`api/typescript.rs`).

mod critical;
mod happened;
pub mod names;
#[cfg(test)]
mod typescript;
mod waiting;

pub use critical::{CallOnPath, CriticalPath, PathPart, PlaceOnPath};
pub use happened::{
    Coarse, Event, EventMessage, EventRow, Events, EventsQuery, Happened, LaneOf, Lanes, LongWait,
    Meeting, MessageEnd, Slice,
};
use serde::{Deserialize, Serialize};
pub use waiting::{
    LateCall, LongestWait, OfState, Picture, PictureUnit, Unusual, WaitLine, WaitLines, WaitMatrix,
    WaitState, Waiting, WaitsQuery,
};

/// Version of these types.
pub const VERSION: u32 = 1;

/// Objects that [`Run`] lists at most: those with most traffic.
pub const MAX_OBJECTS: usize = 2000;

/// Blocks of a matrix in one direction, unless the query says otherwise.
pub const DEFAULT_BLOCKS: usize = 256;

/// Transfers that [`Line`] lists at most.
pub const MAX_TRANSFERS: usize = 500;

/// Bins of [`Timeline`] at most.
pub const MAX_BINS: u32 = 512;

/// Series of [`Timeline`] at most; what is left is the last of them.
pub const MAX_SERIES: usize = 64;

/// Why a question has no answer; both say what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// The question is wrong.
    Bad(String),
    /// There is no such thing.
    NotFound(String),
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::Bad(what) | Error::NotFound(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for Error {}

/// (kind, count, bytes)
pub type OfKind = (usize, u64, u64);

/// (start, bytes, how often each of them)
pub type Extent = (u64, u64, u64);

/// All that has a name in a run, and its totals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Run {
    /// [`VERSION`]
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

/// What a matrix, or a timeline, is of; everything if nothing is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filter {
    /// Of an object.
    pub object: Option<usize>,
    /// Of a file; with `line`, of that line only.
    pub file: Option<usize>,
    /// Of a line of `file`.
    pub line: Option<u32>,
    /// Of a region.
    pub region: Option<usize>,
    /// From this time bin.
    pub t0: Option<u32>,
    /// To this time bin, inclusive.
    pub t1: Option<u32>,
}

/// What a matrix has in its rows and columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Places.
    #[default]
    Place,
    /// Nodes.
    Node,
}

/// Which matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatrixQuery {
    /// Places or nodes.
    pub level: Level,
    /// Sources, from and to place, inclusive; all if not said.
    pub rows: Option<(usize, usize)>,
    /// Targets.
    pub cols: Option<(usize, usize)>,
    /// Rows and columns at most; [`DEFAULT_BLOCKS`] if not said.
    pub max: Option<usize>,
    /// What to count.
    pub filter: Filter,
}

/// Sources × targets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Matrix {
    /// Sources.
    pub rows: Vec<Block>,
    /// Targets.
    pub cols: Vec<Block>,
    /// (row, column, what), by row and column; empty ones are left out.
    #[cfg_attr(test, ts(type = "[row: number, column: number, KindTotal[]][]"))]
    pub cells: Vec<(usize, usize, Vec<OfKind>)>,
    /// (row, column, seconds) in calls of a rank that name one other rank; not known by object or
    /// region.
    #[cfg_attr(test, ts(type = "[row: number, column: number, seconds: number][] | null"))]
    pub times: Option<Vec<(usize, usize, f64)>>,
}

/// Neighbouring places, taken together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Block {
    /// `rank 3`, `ranks 0-15`, a node's name.
    pub label: String,
    /// First place.
    pub first: usize,
    /// Last place.
    pub last: usize,
}

/// An object in detail.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ObjectDetail {
    /// What [`Run`] says of it.
    pub object: Object,
    /// At each of its places.
    pub places: Vec<ObjectAt>,
    /// Accesses that are left out, the smallest.
    pub more: usize,
    /// Size of an element, guessed.
    pub element: u64,
    /// Rows and columns that it may have, the likeliest first.
    pub shapes: Vec<(u64, u64)>,
}

/// An object at one place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ObjectAt {
    /// The place.
    pub place: usize,
    /// The largest there.
    pub bytes: u64,
    /// Address of the first there.
    pub address: u64,
    /// What is done to it.
    pub accessors: Vec<Access>,
}

/// Who does what to an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename = "Accessor"))]
pub struct Access {
    /// Where the data goes to or comes from; of collectives with all others, the place itself.
    pub place: usize,
    /// Position in `kinds`.
    pub kind: usize,
    /// The call or instruction.
    pub call: String,
    /// Its line.
    pub file: Option<usize>,
    /// The line there.
    pub line: Option<u32>,
    /// Whether the object is read or written.
    pub direction: Direction,
    /// How often.
    pub count: u64,
    /// Bytes of all.
    pub bytes: u64,
    /// Which bytes of the object.
    #[cfg_attr(test, ts(type = "Extent[]"))]
    pub extents: Vec<Extent>,
}

/// What is done to data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// It is read.
    Read,
    /// It is written.
    Write,
}

/// A source file with its traffic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FileDetail {
    /// As the debug information names it.
    pub path: String,
    /// What it holds.
    pub text: Option<String>,
    /// Why there is no text, and what to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional = nullable))]
    pub why_missing: Option<String>,
    /// Lines with traffic or time in calls, ascending.
    pub lines: Vec<FileLine>,
}

/// A line's traffic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FileLine {
    /// Counted from 1.
    pub line: u32,
    /// Transfers.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Seconds in its calls, of all ranks.
    pub seconds: f64,
    /// These amounts by kind.
    #[cfg_attr(test, ts(type = "KindTotal[]"))]
    pub by_kind: Vec<OfKind>,
    /// What is moved.
    pub objects: Vec<usize>,
    /// By which calls.
    pub calls: Vec<String>,
}

/// A line in detail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename = "LineDetail"))]
pub struct Line {
    /// Largest first.
    pub transfers: Vec<LineTransfer>,
    /// Transfers that are left out, the smallest.
    pub more: usize,
    /// Call paths that lead there, innermost first.
    pub stacks: Vec<Vec<Frame>>,
}

/// Transfers of a line between two places.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LineTransfer {
    /// From.
    pub source: usize,
    /// To.
    pub target: usize,
    /// Position in `kinds`.
    pub kind: usize,
    /// The call.
    pub call: String,
    /// What is read.
    pub object: Option<usize>,
    /// What is written.
    pub target_object: Option<usize>,
    /// How many.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// What a place moves to and from others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PlaceDetail {
    /// What lies elsewhere and is read or written from here, and what is read and written here.
    pub objects: Vec<PlaceObject>,
    /// By call or instruction.
    pub instructions: Vec<PlaceCall>,
    /// By line.
    pub lines: Vec<PlaceLine>,
    /// By the other end.
    pub peers: Vec<Peer>,
    /// Of a rank: time in its calls, by what they name.
    pub times: Vec<PlaceTime>,
    /// Entries that are left out of each of these lists, the smallest.
    pub more: [usize; 5],
}

/// Time in calls of a rank that name the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PlaceTime {
    /// The call.
    pub call: String,
    /// Its file.
    pub file: Option<usize>,
    /// The line there.
    pub line: Option<u32>,
    /// The only other end that it names.
    pub peer: Option<usize>,
    /// Ranks of the communicator that it names, in words.
    pub communicator: Option<String>,
    /// How many calls.
    pub count: u64,
    /// Seconds in all of them.
    pub seconds: f64,
    /// Seconds in the longest.
    pub longest_seconds: f64,
}

/// An object's share of a place's traffic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PlaceObject {
    /// The object.
    pub object: usize,
    /// Position in `kinds`.
    pub kind: usize,
    /// Whether it is read or written.
    pub direction: Direction,
    /// Transfers.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// A call's share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PlaceCall {
    /// The call or instruction.
    pub call: String,
    /// Transfers.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// A line's share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PlaceLine {
    /// Position of the file.
    pub file: usize,
    /// The line there.
    pub line: u32,
    /// The call or instruction.
    pub call: String,
    /// Transfers.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Another place's share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Peer {
    /// The other end.
    pub place: usize,
    /// Whether this place reads from there, or writes there.
    pub direction: Direction,
    /// Position in `kinds`.
    pub kind: usize,
    /// Transfers.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// What the series of a timeline are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// Kinds.
    #[default]
    Kind,
    /// Places that data comes from.
    Place,
    /// Nodes that data comes from.
    Node,
}

/// Which timeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimelineQuery {
    /// What the series are.
    pub by: By,
    /// Transfers that a place takes part in only.
    pub place: Option<usize>,
    /// What to count; its times are ignored.
    pub filter: Filter,
}

/// What happened when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename = "TimelineDetail"))]
pub struct Timeline {
    /// How long a bin is.
    pub width_seconds: f64,
    /// Largest first, but kinds in their order.
    pub series: Vec<Series>,
    /// Seconds in calls, of all ranks, or of the one asked for.
    pub waiting: Vec<f64>,
    /// These by call, or by the place or node that calls; those with most time first.
    pub calls: Vec<CallSeries>,
}

/// Time in some of the calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct CallSeries {
    /// A call's, place's or node's name; `others`.
    pub label: String,
    /// Seconds in each bin.
    pub seconds: Vec<f64>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Series {
    /// A kind's, place's or node's name; `others`.
    pub label: String,
    /// Transfers in each bin.
    pub counts: Vec<u64>,
    /// Their bytes.
    pub bytes: Vec<u64>,
}

/// Two runs side by side: this one is after, the other before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Comparison {
    /// The other run.
    pub other: OtherRun,
    /// Totals, by name of the kind.
    pub kinds: Vec<Change>,
    /// Pairs of places, by their names.
    pub pairs: Vec<PairChange>,
    /// Lines, as `file:line`.
    pub lines: Vec<Change>,
    /// Objects, by name.
    pub objects: Vec<Change>,
    /// Time in calls, by call and line.
    pub calls: Vec<TimeChange>,
    /// How many more pairs, lines, objects and calls differ, by less than those that are listed.
    pub more: [usize; 4],
}

/// Calls of a line in both runs, of all ranks: how many, and seconds in them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct TimeChange {
    /// The call.
    pub call: String,
    /// `file:line`, if it is known.
    pub line: String,
    /// In the other run.
    pub before: (u64, f64),
    /// In this one.
    pub after: (u64, f64),
}

/// What a comparison says of the other run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct OtherRun {
    /// Of its run directory.
    pub name: String,
    /// How it was started.
    pub command: Vec<String>,
    /// How long it took.
    pub seconds: f64,
    /// Its ranks.
    pub ranks: usize,
}

/// Transfers and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Amount {
    /// Transfers.
    pub count: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Something named in both runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Change {
    /// Its name.
    pub name: String,
    /// In the other run.
    pub before: Amount,
    /// In this one.
    pub after: Amount,
}

/// A pair of places in both runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct PairChange {
    /// From.
    pub source: String,
    /// To.
    pub target: String,
    /// Name of the kind.
    pub kind: String,
    /// In the other run.
    pub before: Amount,
    /// In this one.
    pub after: Amount,
}
