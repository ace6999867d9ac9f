//! Objects, files, lines and places in detail.

use super::{Extent, Frame, Object, OfKind};
use serde::{Deserialize, Serialize};

/// An object in detail.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ObjectDetail {
    /// What [`Run`](super::Run) says of it.
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
