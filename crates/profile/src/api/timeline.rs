//! What happened when, as totals of bins.

use super::Filter;
use serde::{Deserialize, Serialize};

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
