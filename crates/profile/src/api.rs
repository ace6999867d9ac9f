//! Questions about a run and their answers, as they go over the wire.
//!
//! Numbers that name something are positions in the arrays of [`Run`]: places, kinds, regions,
//! files, objects. Figures of a place, an object, a file or a line are of the transfers that it
//! takes part in, at either end, each counted once.
//!
//! The viewer reads the same types in TypeScript, `viewer/src/api/types.ts`: its declarations are
//! written from these by a test (`api/typescript.rs`).

mod comparison;
mod critical;
mod details;
mod happened;
mod matrix;
pub mod names;
mod run;
mod timeline;
#[cfg(test)]
mod typescript;
mod waiting;

pub use comparison::{Amount, Change, Comparison, OtherRun, PairChange, TimeChange};
pub use critical::{CallOnPath, CriticalPath, PathPart, PlaceOnPath};
pub use details::{
    Access, Direction, FileDetail, FileLine, Line, LineTransfer, ObjectAt, ObjectDetail, Peer,
    PlaceCall, PlaceDetail, PlaceLine, PlaceObject, PlaceTime,
};
pub use happened::{
    Coarse, Event, EventMessage, EventRow, Events, EventsQuery, Happened, LaneOf, Lanes, LongWait,
    Meeting, MessageEnd, Slice,
};
pub use matrix::{Block, Filter, Level, Matrix, MatrixQuery};
pub use run::{
    Bins, CallTime, Communication, File, Finding, FindingMoment, FindingSide, Frame, MomentOf,
    Node, Object, Place, PlaceKind, RankTime, Run, Selection, Severity, Total,
};
pub use timeline::{By, CallSeries, Series, Timeline, TimelineQuery};
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
