//! Findings, their codes and explanations, and the records of a rank's log.
//!
//! Everything here is plain data. This crate does no I/O and knows neither MPI nor CUDA:
//! producers fill these types, `commsan-report` renders them.

pub mod code;
mod doing;
mod finding;
mod followed;
mod held;
mod problem;
pub mod record;
pub mod stats;
mod step;
mod system_call;

pub use code::{Code, Severity};
pub use doing::Doing;
pub use finding::{Finding, Frame, Moment, NeedKind, Role, Site};
pub use followed::{Followed, Unfollowed, Why};
pub use held::Held;
pub use problem::Problem;
pub use step::{Message, Step, Wanted};
pub use system_call::SystemCall;
