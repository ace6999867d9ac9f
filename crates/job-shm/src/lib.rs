//! Memory that the ranks of a node share, so that order and notices travel without messages.
//!
//! Each rank owns a region of one mapping and others read it, or add to it, without locks:
//! - [`clocks`](JobShm::publish): the rank's vector clock in each of its latest segments;
//! - [`entries`](JobShm::enter): in which segment it entered its latest collectives;
//! - [`cells`](JobShm::release): clocks joined at locks and atomics;
//! - [`notices`](JobShm::post): a ring that others append to and only the owner empties.
//!
//! All of them own a [`Rendezvous`] together, on which the first to come to a collective leaves what it enters.
//!
//! Where a job runs on several nodes, each has such a memory, and a [`Relay`] that answers what the ranks of others
//! ask of it.
//!
//! Nobody ever waits for another rank: what is full refuses, what is overwritten is answered by
//! something newer. A newer clock claims more order than there is, so the worst is a missed race.

mod answers;
mod bootstrap;
mod clocks;
mod connection;
mod identity;
mod job;
mod job_shm;
mod memory;
mod node_rendezvous;
mod nodes;
mod other_nodes;
mod process;
mod relay;
mod remote;
mod rendezvous;
mod ring;
pub mod shm_segments;
mod wire;

pub use bootstrap::{AttachError, attach, attach_across_nodes};
pub use identity::identity;
pub use job::{Job, jobs};
pub use job_shm::JobShm;
pub use memory::{LONGEST, Memory};
pub use node_rendezvous::{Answer, ENTRY, NodeRendezvous, Posted};
pub use process::Seen;
pub use relay::Relay;
pub use rendezvous::Rendezvous;
