//! A finding as a person reads it: symbolised, merged over ranks and repetitions.

use crate::{Code, Severity};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// One problem in the program, with every place that takes part in it.
///
/// Two occurrences are the same finding when their code and the sites' source lines agree;
/// [`count`](Self::count) then adds up and [`ranks`](Self::ranks) is the union.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Stable identifier, documented by `commsan explain`.
    pub code: Code,
    /// The problem in a few words, the same for every finding of this code.
    pub title: String,
    /// One sentence about this occurrence.
    pub message: String,
    /// How often it was observed, over all ranks; 0 of what a static analysis finds.
    pub count: u64,
    /// Ranks in `MPI_COMM_WORLD` that observed it, ascending.
    pub ranks: Vec<u32>,
    /// Whether it is only suspected: some ways through the program lead there, and nobody has seen
    /// whether they are taken. Static analyses alone suspect.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub possible: bool,
    /// The places involved, the offending one first.
    pub sites: Vec<Site>,
    /// Why the sites are not ordered: the last synchronisation and the missing edge.
    pub why: String,
    /// How to fix it.
    pub help: String,
    /// The job in which it was found, counted from 1, if the run had several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<u32>,
    /// When each rank has found it first, by time; of a deadlock, since when ranks stand still;
    /// empty of what else is concluded after the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moments: Vec<Moment>,
}

/// When a rank has found something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Moment {
    /// Nanoseconds since 1970 by the system's clock of the rank's host.
    pub time: u64,
    /// The rank.
    pub rank: u32,
    /// Its thread, as sites number them.
    pub thread: u32,
}

impl Finding {
    /// How bad it is: what is only suspected is a warning.
    pub fn severity(&self) -> Severity {
        if self.possible { Severity::Warning } else { self.code.severity() }
    }

    /// Counts another observation of the same problem as this finding's.
    pub fn add(&mut self, other: Finding) {
        self.count += other.count;
        self.ranks.extend(other.ranks);
        self.ranks.sort_unstable();
        self.ranks.dedup();
        self.moments.extend(other.moments);
        self.moments.sort_unstable();
        let mut seen = BTreeSet::new();
        self.moments.retain(|moment| seen.insert(moment.rank));
    }
}

/// One side of a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Site {
    /// What this side does.
    pub role: Role,
    /// Label for the source line: `8-byte write`, `MPI_Isend reads 8192 bytes`.
    pub label: String,
    /// Source file, as the debug information names it; absent without debug information.
    pub file: Option<String>,
    /// Line, counted from 1.
    pub line: Option<u32>,
    /// Column, counted from 1; absent where the compiler recorded none.
    pub column: Option<u32>,
    /// Function that contains the place.
    pub function: Option<String>,
    /// Rank in `MPI_COMM_WORLD` of the first observation.
    pub rank: u32,
    /// Thread within the rank, 0 for the one that initialised MPI.
    pub thread: u32,
    /// Call stack, innermost frame first; `stack[0]` is the place itself.
    pub stack: Vec<Frame>,
}

/// One frame of a call stack.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// Function name, demangled.
    pub function: Option<String>,
    /// Source file.
    pub file: Option<String>,
    /// Line, counted from 1.
    pub line: Option<u32>,
    /// Column, counted from 1.
    pub column: Option<u32>,
    /// The executable or library the frame lies in.
    pub module: String,
    /// Address relative to the module's load address.
    pub offset: u64,
    /// True for a call the compiler inlined into the next frame.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub inlined: bool,
    /// Frames of libraries that this one has called, innermost first, where it is the user's
    /// innermost: what happens, happens in the first of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub within: Vec<Frame>,
}

/// The part a site plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The memory access, call or operation that should not happen here.
    Access,
    /// The pending operation: the call that started it.
    Operation,
    /// Where the pending operation was completed, too late.
    Completion,
    /// Where the buffer's memory was released.
    Release,
    /// Where the function that owns the buffer returned.
    Return,
    /// Where the only copy of the request was overwritten.
    Overwrite,
    /// What leads there: a condition, a construct, a call.
    Cause,
    /// A call that waits for what does not come.
    Wait,
}

/// In what way others take part in an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NeedKind {
    /// They receive what is sent.
    Send,
    /// One of them sends.
    Receive,
    /// All of them call the same.
    Collective,
    /// They do something about a window.
    Window,
    /// Otherwise.
    Other,
    /// None of them holds a lock of a window that excludes the one that is meant.
    Lock,
    /// They have exposed their parts of a window.
    Exposure,
}
