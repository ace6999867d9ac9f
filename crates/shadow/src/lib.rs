//! Shadow memory and happens-before: decides which accesses conflict with operations in flight.
//!
//! An operation in flight is an agent of its own: it runs concurrently with everything its
//! initiator does from the call that started it to the call that completed it. While it is *live*
//! here, no access of the program to its bytes is ordered with it, whatever the timing; once ended,
//! every later access is ordered after it. That is exactly the happens-before relation of
//! nonblocking communication as seen from one process (MPI 4.1 §3.7.2, §3.7.3).
//!
//! Two levels answer "does this access conflict?":
//! - [`Pages`], the page filter, rejects nearly all accesses in one load (page) or two (8-byte
//!   granule), without a lock and without misses;
//! - [`Live`] decides the rest exactly, to the byte.
//!
//! **Soundness.** A reported conflict is two accesses to a common byte, one of them a write, with
//! no completion between them: never a false report. Where threads of the initiator are
//! distinguished, vector clocks ([`Clock`]) say which of their accesses come after a completion;
//! otherwise they are taken in the order observed.
//!
//! This crate performs no I/O, does not block, and knows neither MPI nor CUDA.

mod agents;
mod exposed;
mod footprint;
mod live;
mod pages;
mod pattern;
mod published_shadow;
mod runs;
mod shadow;
mod sorted;
mod vclock;

pub use agents::{AGENTS, Actor, Clock};
pub use exposed::Exposed;
pub use footprint::Footprint;
pub use live::{Access, Conflict, Live, Mode, OpId};
pub use pages::{GRANULE_WORDS, PAGE_SHIFT, Pages};
pub use pattern::Pattern;
pub use published_shadow::PublishedShadow;
pub use runs::{Comb, Runs};
pub use shadow::{CELLS, Header as ShadowHeader, Past, Place, RECENT, Shadow, When};
pub use vclock::{Components, Epoch, VectorClock};
