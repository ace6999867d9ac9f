//! The agents of a process, and the clock of the one that acts.
//!
//! An agent is a thread, or a task that could run on any thread. What an agent does between two
//! points at which it releases something to others is one *epoch* of it.

use crate::vclock::{Epoch, VectorClock};
use std::ops::Range;

/// Agents that are distinguished at a time.
pub const AGENTS: usize = 128;

/// The vector clock of an agent: in place, since one is made for each call of several threads.
pub type Clock = VectorClock<[u32; AGENTS]>;

/// The agent that acts.
#[derive(Clone, Debug)]
pub struct Actor {
    /// Its present epoch; the agent is below [`AGENTS`].
    pub stamp: Epoch,
    /// What happened before.
    pub clock: Clock,
    /// Whether an epoch happens before what any agent does next.
    pub known_to_all: fn(Epoch) -> bool,
    /// Whether an epoch happened before only because one thread took two pieces of work that any
    /// threads might have taken, and no thread owns these bytes; the range is empty if it is not
    /// memory that the pieces have in common.
    pub is_by_mapping: fn(Epoch, &Range<usize>) -> bool,
    /// Whether the acting thread has executed an epoch before, and these bytes may belong to that
    /// thread, so that only one of the tasks that it executes uses them at a time; the range is
    /// empty if it is not memory that they have in common.
    pub is_by_thread: fn(Epoch, &Range<usize>) -> bool,
}
