//! What happened before: vector clocks with a component for each stream.
//!
//! The time of a stream is its number of pieces of work so far: an [`Epoch`] is a piece of work,
//! the n-th of what ever was in this place among the streams, counted from 1.

pub use commsan_shadow::Epoch;
use commsan_shadow::VectorClock;
use smallvec::SmallVec;

/// For each stream, up to which of its work everything happened before.
pub type Clock = VectorClock<SmallVec<[u32; 16]>>;
