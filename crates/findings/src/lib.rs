//! The vocabulary of commsan: what was found, where, by whom, and the records in which ranks say so.
//!
//! Everything here is plain data. This crate does no I/O and knows neither MPI nor CUDA:
//! producers fill these types, `commsan-report` renders them.

pub mod code;
mod finding;
mod held;
mod problem;
pub mod record;
mod step;

pub use code::{Code, Severity};
pub use finding::{Finding, Frame, NeedKind, Role, Site};
pub use held::Held;
pub use problem::Problem;
pub use step::{Message, Step};
