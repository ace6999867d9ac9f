//! Identities: groups of processes, handles on which calls are made, requests, and names that ranks
//! can compute without communication.

use std::sync::Arc;

/// A group of processes, by their ranks in the job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// Identifies the group: a hash of its members, equal in all processes.
    pub name: u64,
    /// Rank in the job of each member.
    pub members: Arc<[u32]>,
    /// Whether it is the other group of an intercommunicator.
    pub is_remote: bool,
}

impl Group {
    /// The group of these members.
    pub fn new(members: Vec<u32>) -> Group {
        let mix = |name: u64, member: &u32| mixed(name, u64::from(*member) + 1);
        let name = members.iter().fold(members.len() as u64, mix);
        Group { name, members: members.into(), is_remote: false }
    }

    /// The members but for one.
    pub fn others(&self, me: u32) -> Vec<u32> {
        self.members.iter().copied().filter(|rank| *rank != me).collect()
    }

    /// Rank in the job of a member; `None` for ranks outside the group, such as `MPI_PROC_NULL`.
    pub fn member(&self, rank: i32) -> Option<u32> {
        self.members.get(usize::try_from(rank).ok()?).copied()
    }
}

/// A hash of two numbers.
pub fn mixed(a: u64, b: u64) -> u64 {
    (a ^ b.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xff51_afd7_ed55_8ccd).rotate_left(31)
}

/// Cells and records of a window, apart from its words, which have small numbers.
#[derive(Clone, Copy, Debug)]
pub enum Key {
    /// Cells of exclusive and shared locks, to which an unlock releases.
    ExclusiveLock,
    SharedLock,
    /// Cells of atomic writes to any word, and to many words at once.
    AnyWord,
    ManyWords,
    /// Cells of volatile variables, and of `MPI_Win_sync`.
    Volatile,
    Barrier,
    /// Cells of counters of notified operations, each by its number.
    Notifications,
    /// Under this key the shared-memory segment of a published shadow is found.
    PublishedShadow,
    /// Under these keys ranks record which locks they hold, and that they have exposed their parts.
    Held,
    Exposed,
}

impl Key {
    /// The number of this key for a window.
    pub fn of(self, window: u64) -> u64 {
        mixed(window, u64::MAX - self as u64)
    }
}

/// The cell of a counter of notified operations of a window.
pub fn notifications(window: u64, counter: i32) -> u64 {
    mixed(Key::Notifications.of(window), u64::from(counter as u32))
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
    /// PEs of OpenSHMEM: all of them for 0, else an active set.
    Pes(usize),
}

/// The communicator or file that an operation belongs to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Of {
    /// The communicator or file, if it is of one.
    pub on: Option<On>,
    /// Which of its collectives, counted from 1; 0 for none.
    pub number: u32,
    /// The first other rank that the call names, as the call gives it.
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
