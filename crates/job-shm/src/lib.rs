//! Memory that the ranks of a node share, so that order and notices travel without messages.
//!
//! Each rank owns a region of one mapping and others read it, or add to it, without locks:
//! - [`clocks`](Fabric::publish): the rank's vector clock in each of its latest segments;
//! - [`entries`](Fabric::enter): in which segment it entered its latest collectives;
//! - [`cells`](Fabric::release): clocks joined at locks and atomics;
//! - [`notices`](Fabric::post): a ring that others append to and only the owner empties.
//!
//! All of them own a [`Board`] together, on which the first to come to a collective leaves what it enters.
//!
//! Where a job runs on several nodes, each has such a memory, and a [`Relay`] that answers what the ranks of others
//! ask of it.
//!
//! Nobody ever waits for another rank: what is full refuses, what is overwritten is answered by
//! something newer. A newer clock claims more order than there is, so the worst is a missed race.

mod answers;
mod board;
mod clocks;
mod far;
mod handle;
mod identity;
mod job;
mod local_board;
mod meeting;
mod memory;
mod node;
mod nodes;
mod process;
mod relay;
mod remote;
mod ring;
pub mod sheets;
mod wire;

pub use board::Board;
pub use handle::Fabric;
pub use identity::identity;
pub use job::{Job, jobs};
pub use local_board::{Answer, ENTRY, LocalBoard, Posted};
pub use meeting::{NotMet, meet, meet_afar};
pub use memory::{LONGEST, Memory};
pub use process::Seen;
pub use relay::Relay;
