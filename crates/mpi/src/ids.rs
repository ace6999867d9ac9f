//! Identities: groups of processes, handles on which calls are made, requests, and names that ranks agree on without
//! asking each other.

use std::sync::Arc;

/// A group of processes, by their ranks in the job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Processes with the same members in a group have the same number for it.
    pub name: u64,
    /// Rank in the job of each member.
    pub members: Arc<[u32]>,
}

impl Group {
    /// The group of these members.
    pub fn new(members: Vec<u32>) -> Group {
        let mix = |name: u64, member: &u32| mixed(name, u64::from(*member) + 1);
        Group { name: members.iter().fold(members.len() as u64, mix), members: members.into() }
    }

    /// The members but for one.
    pub fn others(&self, me: u32) -> Vec<u32> {
        self.members.iter().copied().filter(|rank| *rank != me).collect()
    }

    /// Rank in the job of a member; `None` for no rank of the group, such as `MPI_PROC_NULL`.
    pub fn member(&self, rank: i32) -> Option<u32> {
        self.members.get(usize::try_from(rank).ok()?).copied()
    }
}

/// A number that depends on two.
pub fn mixed(a: u64, b: u64) -> u64 {
    (a ^ b.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xff51_afd7_ed55_8ccd).rotate_left(31)
}

/// What ranks know by the name of a window, apart from its words, which have small numbers.
#[derive(Clone, Copy, Debug)]
pub enum Key {
    /// Who has given up an exclusive lock, and a shared one.
    ExclusiveLock,
    SharedLock,
    /// Who has written any word atomically, and who many at once.
    AnyWord,
    ManyWords,
    /// Who has written to a volatile variable, and who has called `MPI_Win_sync`.
    Volatile,
    Barrier,
    /// What a bulletin is published by.
    PublishedShadow,
    /// Who holds a lock, and who has exposed its part.
    Held,
    Exposed,
}

impl Key {
    /// Of a window.
    pub fn of(self, window: u64) -> u64 {
        mixed(window, u64::MAX - self as u64)
    }
}

/// A handle on which collectives are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum On {
    /// A communicator.
    Comm(usize),
    /// A window.
    Window(usize),
    /// A file.
    File(usize),
}

/// What an operation is one of.
#[derive(Clone, Copy, Debug, Default)]
pub struct Of {
    /// The communicator or file, if it is of one.
    pub on: Option<On>,
    /// Which of its collectives, counted from 1; 0 for none.
    pub number: u32,
    /// The first other rank that the call names, as it names it.
    pub peer: i32,
}

/// A request argument as it was before the call that may complete it: another thread may get the
/// same handle for a new operation before that call returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// The handle.
    pub key: usize,
    /// Where it was stored.
    pub variable: usize,
    /// Requests made later are not meant; see [`crate::Tracker::now`].
    pub before: u64,
}
