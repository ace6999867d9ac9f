//! Violations found along the paths of one operation.

use commsan_ir::InstId;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// What is wrong at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Violation {
    /// Memory of this buffer is read.
    Reads(usize),
    /// Memory of this buffer is written.
    Writes(usize),
    /// Another operation, or call, uses this buffer; whether it writes.
    Call(usize, bool),
    /// This buffer is released.
    Releases(usize),
    /// The function of this buffer returns.
    Returns(usize),
    /// The request is overwritten.
    Overwrites,
    /// The persistent request is started again.
    Starts,
    /// The program ends, and the request was never completed.
    Ends,
}

/// How sure it is that the same bytes are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Overlap {
    /// Somewhere in the same object.
    Perhaps,
    /// Both access the same bytes.
    Certain,
}

/// What was found along the ways of an operation.
#[derive(Debug, Default)]
pub struct Found {
    /// Places at which something is wrong while it is pending.
    pub violations: FxHashMap<(Violation, InstId), Overlap>,
    /// Instructions reached when it was complete.
    pub complete: FxHashSet<InstId>,
    /// Calls that completed it.
    pub by: BTreeSet<InstId>,
    /// Tests that may have completed it.
    pub tests: BTreeSet<InstId>,
    /// Whether it was lost sight of.
    pub lost: bool,
    /// Places reached only in a later iteration of a loop than the start.
    pub round: FxHashSet<InstId>,
}

impl Found {
    /// Keeps what is certain to be the same bytes and was not found otherwise.
    pub fn keep_new(&mut self, other: &Found) {
        self.violations.retain(|(violation, id), overlap| {
            let is_known = other.violations.contains_key(&(*violation, *id));
            *overlap == Overlap::Certain && *violation != Violation::Ends && !is_known
        });
    }
}
