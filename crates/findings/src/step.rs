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
    /// A receive from any rank is posted.
    #[serde(rename = "a")]
    Any(Wanted),
    /// The receive from any rank that an earlier step has posted is complete.
    #[serde(rename = "g")]
    Got {
        /// Position of that step, from 0.
        #[serde(rename = "b")]
        begun: u32,
        /// The sender, as rank in `MPI_COMM_WORLD`.
        #[serde(rename = "r")]
        peer: u32,
        /// The message's tag.
        #[serde(rename = "t")]
        tag: i32,
    },
    /// A probe for messages of any rank has found one, and left it where it is.
    #[serde(rename = "q")]
    Found {
        /// What was looked for.
        #[serde(flatten)]
        wanted: Wanted,
        /// The sender, as rank in `MPI_COMM_WORLD`.
        #[serde(rename = "r")]
        peer: u32,
        /// The message's tag.
        #[serde(rename = "g")]
        got: i32,
    },
    /// Probes for messages of any rank have found none.
    #[serde(rename = "m")]
    Missed(Wanted),
    /// The program has looked at the status of the last probe.
    #[serde(rename = "l")]
    Looked {
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
    /// Its bytes, or those that a receive has room for, if they are known.
    #[serde(rename = "n", default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Whether its send is complete only when it is being received.
    #[serde(rename = "y", default, skip_serializing_if = "std::ops::Not::not")]
    pub synchronous: bool,
}

/// Messages of any rank that a receive or a probe may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wanted {
    /// Which communicator, by its position in the rank's list.
    #[serde(rename = "c")]
    pub comm: u32,
    /// The tag; `None` for any.
    #[serde(rename = "t", default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<i32>,
    /// Number of the place in the rank.
    #[serde(rename = "p")]
    pub place: u32,
    /// The bytes that a receive has room for, if they are known.
    #[serde(rename = "n", default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

impl Step {
    /// Number of its place in the rank; `None` for what is said of an earlier step.
    pub fn place(&self) -> Option<u32> {
        Some(match *self {
            Step::Send(Message { place, .. })
            | Step::Kept(Message { place, .. })
            | Step::Receive(Message { place, .. })
            | Step::Probe(Message { place, .. })
            | Step::Any(Wanted { place, .. })
            | Step::Found { wanted: Wanted { place, .. }, .. }
            | Step::Missed(Wanted { place, .. })
            | Step::Looked { place }
            | Step::Enter { place, .. }
            | Step::Finish { place, .. } => place,
            Step::Got { .. } => return None,
        })
    }
}
