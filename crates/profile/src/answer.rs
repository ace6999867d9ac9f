//! Answers to the questions of [`api`](crate::api), a file for each.

mod code;
mod compare;
mod critical;
mod events;
mod extents;
mod happened;
mod matrix;
mod moments;
mod names;
mod object;
mod place;
mod run;
mod selection;
mod sums;
mod time;
mod timeline;
mod unusual;
mod wait_matrix;
mod waits;

pub use extents::join;
pub use sums::Sums;
pub(crate) use waits::Late;
