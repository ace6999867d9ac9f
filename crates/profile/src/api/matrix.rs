//! Matrices of traffic.

use super::OfKind;
use serde::{Deserialize, Serialize};

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
    /// Rows and columns at most; [`DEFAULT_BLOCKS`](super::DEFAULT_BLOCKS) if not said.
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
