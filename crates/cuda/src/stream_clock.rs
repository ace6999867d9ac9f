//! The vector clock of streams: for each stream, up to which of its work everything happened
//! before.
//!
//! An agent of such a clock is a stream slot, the place that a stream has among all; its time is
//! the number of pieces of work that have ever had this slot, so that an
//! [`Epoch`](commsan_shadow::Epoch) is one piece of work.

use commsan_shadow::VectorClock;
use smallvec::SmallVec;

/// Up to which work of each stream everything has happened before.
pub type StreamClock = VectorClock<SmallVec<[u32; 16]>>;
