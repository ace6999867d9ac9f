//! Memory that the ranks of a node share, through which vector clocks and messages travel without
//! MPI.
//!
//! Each rank owns a region of one mapping, and others read it or add to it without locks:
//! - [`clocks`](JobShm::publish): the rank's vector clock in each of its latest segments;
//! - [`threads`](JobShm::publish_threads): what of these clocks holds for its threads only;
//! - [`entries`](JobShm::enter): the segments in which it entered its latest collectives;
//! - [`cells`](JobShm::release): clocks released by locks and atomics;
//! - [`ring`](JobShm::post): messages that others append and only the owner takes.
//!
//! All of them share a [`Rendezvous`], where the first rank that comes to a collective leaves its
//! entry.
//!
//! If a job runs on several nodes, each has such a memory, and a [`Relay`] that answers the ranks
//! of other nodes.
//!
//! No rank ever waits for another one: a full ring refuses, and for an overwritten clock a newer
//! one is returned. A newer clock claims more order than there is, so the worst is a missed race.

mod answers;
mod bootstrap;
mod clocks;
mod connection;
mod identity;
mod job;
mod job_shm;
mod launchers;
mod memory;
mod node_rendezvous;
mod nodes;
mod other_nodes;
mod process;
mod rank_time;
mod relay;
mod remote;
mod rendezvous;
mod ring;
mod sent;
pub mod shm_segments;
mod threads;
mod wire;

pub use bootstrap::{AttachError, attach, attach_across_nodes};
pub use identity::{Membership, identity};
pub use job::{Job, jobs};
pub use job_shm::JobShm;
pub use launchers::Launcher;
pub use memory::{LONGEST, Memory};
pub use node_rendezvous::{Answer, ENTRY, NodeRendezvous, Posted};
pub use process::Seen;
pub use rank_time::RankTime;
pub use relay::Relay;
pub use rendezvous::Rendezvous;
pub use sent::SentMessage;
