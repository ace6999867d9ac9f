//! Who acts within a process, and what each knows of the others.
//!
//! An agent is a thread, or a task that could run on any thread. What an agent does between two
//! points at which it tells others something is one *epoch* of it.

/// Agents that are told apart at a time.
pub const AGENTS: usize = 128;

/// An epoch of an agent. That of all zeros is before everything.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Stamp {
    /// Below [`AGENTS`].
    pub agent: u32,
    /// From 0.
    pub epoch: u32,
}

impl Stamp {
    /// Both in one word.
    pub fn to_bits(self) -> u64 {
        u64::from(self.agent) | u64::from(self.epoch) << 32
    }

    /// The reverse.
    pub fn from_bits(bits: u64) -> Stamp {
        Stamp { agent: bits as u32, epoch: (bits >> 32) as u32 }
    }
}

/// Up to which epoch of each agent everything has happened before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clock([u32; AGENTS]);

impl Clock {
    /// The clock with these epochs.
    pub fn new(epochs: [u32; AGENTS]) -> Clock {
        Clock(epochs)
    }

    /// Whether all of an epoch so far has happened before.
    pub fn has_seen(&self, stamp: Stamp) -> bool {
        self.0[stamp.agent as usize % AGENTS] >= stamp.epoch
    }
}

/// The agent that acts.
#[derive(Clone, Debug)]
pub struct Actor {
    /// Which, and its epoch.
    pub stamp: Stamp,
    /// What it knows.
    pub clock: Clock,
    /// Whether all agents know of an epoch.
    pub all_have_seen: fn(Stamp) -> bool,
}
