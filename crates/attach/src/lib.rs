//! Processes of a job that was started without commsan, looked at from outside: which process is
//! which rank, where its threads are, and what they have passed to the call that they are in.
//!
//! What stands in a job's way by it is a stop of each thread, for as long as copying its registers
//! and its stack takes (`tracer.rs`).

mod call_site;
mod calls;
mod memory;
mod modules;
pub mod ranks;
mod seen;
mod tracer;
mod unwind;

pub use seen::{Seen, see};
pub use tracer::may_look;
