//! Communication steps of a rank, in order: what others may wait for.

use serde::{Deserialize, Serialize};

/// One thing that a rank has done. Whatever may take time is begun by one step and waited for by a
/// later one, so that a blocking call takes two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Step {
    /// A message is sent, whose sender may have to wait until it is received.
    #[serde(rename = "s")]
    Send(Message),
    /// A message is sent that its sender never waits for: from memory set aside for it, or to a
    /// receive that is there.
    #[serde(rename = "k")]
    Kept(Message),
    /// A receive is posted.
    #[serde(rename = "r")]
    Receive(Message),
    /// A message is waited for, and left where it is.
    #[serde(rename = "p")]
    Probe(Message),
    /// A collective is entered.
    #[serde(rename = "e")]
    Enter {
        /// Which communicator, by its position in the rank's list.
        #[serde(rename = "c")]
        comm: u32,
        /// Number of the place in the rank.
        #[serde(rename = "p")]
        place: u32,
    },
    /// What an earlier step has begun is waited for.
    #[serde(rename = "f")]
    Finish {
        /// Position of that step, from 0.
        #[serde(rename = "b")]
        begun: u32,
        /// Number of the place in the rank.
        #[serde(rename = "p")]
        place: u32,
    },
}

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// Which communicator, by its position in the rank's list.
    #[serde(rename = "c")]
    pub comm: u32,
    /// The other side, as rank in `MPI_COMM_WORLD`.
    #[serde(rename = "r")]
    pub peer: u32,
    /// The tag; `None` for any.
    #[serde(rename = "t", default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<i32>,
    /// Number of the place in the rank.
    #[serde(rename = "p")]
    pub place: u32,
}

impl Step {
    /// Number of its place in the rank.
    pub fn place(&self) -> u32 {
        match *self {
            Step::Send(Message { place, .. })
            | Step::Kept(Message { place, .. })
            | Step::Receive(Message { place, .. })
            | Step::Probe(Message { place, .. })
            | Step::Enter { place, .. }
            | Step::Finish { place, .. } => place,
        }
    }
}
