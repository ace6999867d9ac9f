//! What threads did when: lanes, the figure of part of the time, and events one by one. Times are
//! nanoseconds from the beginning of the run.

use super::Frame;
use serde::{Deserialize, Serialize};

/// A call that is at least as long as a bin: (begin, end, class, position in the answer's names,
/// nanoseconds that it waits from its beginning, whom for: 0 nobody, 1 for a message, 2 in a
/// collective).
pub type Slice = (u64, u64, usize, usize, u64, u8);

/// Bins in which calls are too short to be shown one by one: (first bin, bins, class with most
/// time, thousandths of the time in calls, thousandths waiting, whom for as in [`Slice`], calls,
/// how many of these were folded when they were recorded).
pub type Coarse = (u32, u32, usize, u16, u16, u8, u64, u64);

/// Threads that have recorded events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Lanes {
    /// By rank and thread.
    pub lanes: Vec<LaneOf>,
    /// What calls are, by the numbers in [`Slice`] and [`Coarse`].
    pub classes: Vec<String>,
    /// How long the run is.
    pub until: u64,
    /// Calls in all, folded ones as well.
    pub events: u64,
    /// What was folded, left out, or is not exact.
    pub notes: Vec<String>,
}

/// A thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LaneOf {
    /// Its rank's place.
    pub place: usize,
    /// Its number, if the rank has several.
    pub thread: Option<u32>,
}

/// Which part of the time and which lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventsQuery {
    /// Beginning of the time; that of the run if not said.
    pub from: Option<u64>,
    /// Its end.
    pub to: Option<u64>,
    /// First and last lane; all if not said.
    pub lanes: Option<(usize, usize)>,
    /// Bins of time.
    pub width: Option<u32>,
    /// Rows at most: lanes are taken together where they are more.
    pub rows: Option<u32>,
}

/// The figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename = "EventsDetail"))]
pub struct Events {
    /// Beginning of the time.
    pub from: u64,
    /// Its end.
    pub to: u64,
    /// Bins that it is divided into.
    pub bins: u32,
    /// Calls and regions that slices name.
    pub names: Vec<String>,
    /// Lanes, or several together, from the first to the last.
    pub rows: Vec<EventRow>,
    /// Messages whose ends are both in rows: the longest.
    pub messages: Vec<EventMessage>,
    /// Those that are left out.
    pub more_messages: u64,
    /// Collectives all of whose members are known: the longest.
    pub meetings: Vec<Meeting>,
    /// Those that are left out, being shorter.
    pub more_meetings: u64,
    /// The longest waits in these lanes.
    pub waits: Vec<LongWait>,
    /// The critical path in these rows, in the order of time: (row, begin, end).
    /// Parts of a row that are less than a bin apart are one.
    #[cfg_attr(test, ts(type = "[row: number, begin: number, end: number][]"))]
    pub path: Vec<(usize, u64, u64)>,
}

/// A row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct EventRow {
    /// First and last lane.
    pub lanes: [usize; 2],
    /// Calls one by one, if this is one lane.
    #[cfg_attr(test, ts(type = "Slice[]"))]
    pub slices: Vec<Slice>,
    /// Others.
    #[cfg_attr(test, ts(type = "Coarse[]"))]
    pub coarse: Vec<Coarse>,
    /// Regions of the program, if this is one lane: (begin, end, name).
    #[cfg_attr(test, ts(type = "[begin: number, end: number, name: number][]"))]
    pub regions: Vec<(u64, u64, usize)>,
}

/// A message from one row to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct EventMessage {
    /// Row that sends.
    pub source: usize,
    /// Row that receives.
    pub target: usize,
    /// When the send begins.
    pub begin: u64,
    /// When it has been received.
    pub end: u64,
    /// Its bytes.
    pub bytes: u64,
}

/// A collective.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Meeting {
    /// Runs of rows that members are in.
    pub rows: Vec<[usize; 2]>,
    /// When the first enters.
    pub begin: u64,
    /// When the last enters.
    pub met: u64,
    /// When the last leaves.
    pub end: u64,
    /// How many they are.
    pub members: u32,
    /// The place that enters last.
    pub last: usize,
}

/// A wait, and for whom.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct LongWait {
    /// Who waits.
    pub lane: usize,
    /// When the call begins.
    pub begin: u64,
    /// Until when it waits.
    pub end: u64,
    /// `late sender`, …
    pub kind: String,
    /// Who is late.
    pub place: usize,
    /// Its call.
    pub call: String,
    /// The file of that.
    pub file: Option<usize>,
    /// The line there.
    pub line: Option<u32>,
}

/// Events one by one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Happened {
    /// The longest, in the order of time.
    pub events: Vec<Event>,
    /// Those that are left out.
    pub more: u64,
    /// Call paths, innermost first.
    pub stacks: Vec<Vec<Frame>>,
}

/// A call, or several that are folded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[cfg_attr(test, ts(rename = "EventDetail"))]
pub struct Event {
    /// Whose.
    pub lane: usize,
    /// When it begins; of folded ones, the first.
    pub begin: u64,
    /// When it ends; of folded ones, the last.
    pub end: u64,
    /// What it is.
    pub class: usize,
    /// The call, the region's name, or `commsan`.
    pub call: String,
    /// Its file.
    pub file: Option<usize>,
    /// The line there.
    pub line: Option<u32>,
    /// Its call path, a position in the answer's.
    pub stack: Option<usize>,
    /// How many these are, if they are folded.
    pub folded: Option<u64>,
    /// Nanoseconds in it, or in all of them.
    pub time: u64,
    /// Bytes at this end.
    pub bytes: u64,
    /// Messages that it sends, receives or completes; the first.
    pub messages: Vec<MessageEnd>,
    /// Those that are left out.
    pub more: usize,
    /// Members of the collective's communicator.
    pub members: Option<u32>,
    /// Whether it waits, and for whom.
    pub wait: Option<LongWait>,
}

/// A message at one end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct MessageEnd {
    /// The other end's place.
    pub peer: usize,
    /// Whether it goes there.
    pub sent: bool,
    /// Its tag.
    pub tag: i32,
    /// Its bytes, if they are known here.
    pub bytes: Option<u64>,
    /// Whether another call has begun it.
    pub completes: bool,
    /// When the other end begins to send, or has received, if that is known.
    pub other: Option<u64>,
}
