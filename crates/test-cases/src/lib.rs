//! Annotated test programs: the directives and marks in their comments, and the comparison of
//! reports with them.
//!
//! End-to-end tests and `gpu-check` share this; the format is documented in `docs/test-cases.md`.

pub mod annotations;
pub mod compare;
pub mod limited;
pub mod sample;

pub use annotations::{Case, FINDINGS, Kind, Mark};
pub use compare::{Observers, Report, Seen, differences};
