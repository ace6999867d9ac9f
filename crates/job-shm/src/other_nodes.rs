//! The other nodes of a job: which rank is on which, and where the first of all nodes meet.

use crate::connection::{Connection, is_over};
use crate::memory::Memory;
use crate::node_rendezvous::{ENTRY, Posted};
use crate::nodes;
use crate::wire::Question;
use std::collections::HashMap;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// How long to look for ranks of other nodes: what is written to a shared file system may be seen late.
pub(crate) const DISCOVERY_TIMEOUT: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 10 });
/// How long to wait before looking again.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// A rank of this node.
pub(crate) const HERE: u16 = u16::MAX;

/// The way to other nodes.
pub(crate) struct NodeFinder {
    directory: PathBuf,
    job: String,
    /// The file of this node.
    own: String,
    /// Some could not be found, or did not answer.
    pub(crate) lost: AtomicBool,
    pub(crate) nodes: OnceLock<Option<OtherNodes>>,
}

/// OtherNodes that were found, and who is on which.
pub(crate) struct OtherNodes {
    /// For each rank its node, or [`HERE`].
    pub(crate) of: Box<[u16]>,
    pub(crate) all: Box<[Mutex<Connection>]>,
    /// Of each rank the clock that was asked for last, and its segment: it never changes.
    pub(crate) clocks: Mutex<HashMap<usize, Dated>>,
    /// Notices were posted that may not have arrived.
    pub(crate) posted: AtomicBool,
}

/// A segment, and the clock of that.
pub(crate) type Dated = (u32, Box<[u32]>);

/// Locks what a panic elsewhere leaves usable.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl NodeFinder {
    /// The other nodes of a job, which are looked for when the first is needed.
    pub(crate) fn new(directory: PathBuf, job: String, own: String) -> NodeFinder {
        NodeFinder { directory, job, own, lost: AtomicBool::new(false), nodes: OnceLock::new() }
    }

    /// All nodes, if they can be found: waits for them the first time.
    pub(crate) fn nodes(&self, memory: Memory) -> Option<&OtherNodes> {
        self.nodes.get_or_init(|| self.look(memory)).as_ref()
    }

    fn look(&self, memory: Memory) -> Option<OtherNodes> {
        let mut all = Vec::new();
        match self.find_all(memory, &mut all) {
            Ok(of) => {
                let all = all.into_iter().map(Mutex::new).collect();
                Some(OtherNodes {
                    of,
                    all,
                    clocks: Mutex::default(),
                    posted: AtomicBool::new(false),
                })
            }
            Err(error) => {
                self.lost.store(!is_over(&error), Relaxed);
                all.iter_mut().for_each(Connection::switch_off);
                None
            }
        }
    }

    /// Looks for all ranks, for a while: on which node is which?
    fn find_all(&self, memory: Memory, all: &mut Vec<Connection>) -> io::Result<Box<[u16]>> {
        let (begin, mut seen) = (Instant::now(), vec![self.own.clone()]);
        let mut of = vec![None; memory.ranks()];
        loop {
            for (rank, node) in of.iter_mut().enumerate() {
                *node = node.or(memory.is_here(rank).then_some(HERE));
            }
            all.extend(nodes::look(&self.directory, &self.job, memory.ranks(), &mut seen));
            for (at, node) in (0..HERE).zip(&mut *all) {
                for rank in node.ask(Question::Members, &[])? {
                    *of.get_mut(rank as usize).ok_or(ErrorKind::InvalidData)? = Some(at);
                }
            }
            if let Some(of) = of.iter().copied().collect() {
                return Ok(of);
            }
            if begin.elapsed() > DISCOVERY_TIMEOUT {
                return Err(ErrorKind::TimedOut.into());
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }
}

/// The way to the board on which the entries of all nodes meet: that of the first rank's node.
#[derive(Clone, Copy)]
pub(crate) struct RootRendezvous {
    pub(crate) finder: &'static NodeFinder,
    pub(crate) memory: Memory,
}

impl RootRendezvous {
    /// Leaves the first entry of this node there, unless one is there. Where it cannot be asked, it is as if nobody had
    /// come.
    pub(crate) fn post(&self, key: u64, entry: &[u64; ENTRY]) -> Posted {
        let Some(mut root) = self.finder.nodes(self.memory).and_then(|nodes| nodes.of(0)) else {
            return Posted::First;
        };
        let words: Vec<u64> = std::iter::once(key).chain(*entry).collect();
        let first = root.ask(Question::Enter, &words).ok();
        match first.and_then(|first| first.try_into().ok()) {
            Some(first) => Posted::After(first),
            None => Posted::First,
        }
    }

    /// Tells all other nodes that some ranks do not match: theirs may end in errors for it.
    pub(crate) fn count_mismatch(&self) {
        let nodes = self.finder.nodes(self.memory).into_iter().flat_map(|nodes| &nodes.all);
        nodes.for_each(|node| drop(lock(node).ask(Question::Mismatch, &[])));
    }
}

impl OtherNodes {
    /// The node of a rank that is elsewhere.
    pub(crate) fn of(&self, rank: usize) -> Option<MutexGuard<'_, Connection>> {
        self.all.get(usize::from(self.of[rank])).map(lock)
    }
}
