//! Two runs side by side.

use serde::{Deserialize, Serialize};

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
