//! The run directory: what ranks write while they run and tools read afterwards.
//!
//! A run directory holds one `rank-N.jsonl` for each rank: one JSON object a line, each a
//! [`Record`]. Lines are appended whole, by one `write` each, so that a killed rank or a full
//! disk loses at most the line being written; the reader says how far it got.
//! See `docs/run-directory.md`.

pub mod events;
mod jobs;
mod read_error;
pub mod reader;
mod resolve;
mod run;
pub mod time;
pub mod traffic;
mod world;
pub mod writer;

pub use commsan_findings::record;
pub use read_error::ReadError;
pub use reader::{Comm, Job, Messages, Origin, RankLog, Steps};
pub use record::Record;
pub use resolve::resolve;
pub use run::{
    Deadlock, MAX_JOBS, RUN_SCHEMA, RunDirectory, RunError, RunInfo, Stuck, rank_log, rank_traffic,
};
pub use world::World;
