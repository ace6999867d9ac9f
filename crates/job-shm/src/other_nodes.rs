//! The other nodes of a job: which rank is on which, and the rendezvous of the first ranks of all
//! nodes.

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

/// How long to look for ranks of other nodes: files on a shared file system may appear late.
pub(crate) const DISCOVERY_TIMEOUT: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 10 });
/// How long to wait before looking again.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// Marks ranks of this node.
pub(crate) const HERE: u16 = u16::MAX;

/// Finds and connects to the other nodes when they are first needed.
pub(crate) struct NodeFinder {
    directory: PathBuf,
    job: String,
    /// The file of this node.
    own: String,
    /// Some nodes could not be found, or did not answer.
    pub(crate) lost: AtomicBool,
    pub(crate) nodes: OnceLock<Option<OtherNodes>>,
}

/// Nodes that were found, and which rank is on which.
pub(crate) struct OtherNodes {
    /// For each rank its node, or [`HERE`].
    pub(crate) of: Box<[u16]>,
    pub(crate) all: Box<[Mutex<Connection>]>,
    /// For each rank the segment and clock that were asked for last: the clock of a segment never
    /// changes.
    pub(crate) clocks: Mutex<HashMap<usize, Dated>>,
    /// Messages were posted that may not have arrived.
    pub(crate) posted: AtomicBool,
}

/// A segment and its clock.
pub(crate) type Dated = (u32, Box<[u32]>);

/// Locks a mutex; what it protects stays usable after a panic.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl NodeFinder {
    /// A finder for the other nodes of a job.
    pub(crate) fn new(directory: PathBuf, job: String, own: String) -> NodeFinder {
        NodeFinder { directory, job, own, lost: AtomicBool::new(false), nodes: OnceLock::new() }
    }

    /// All nodes, if they can be found; waits for them the first time.
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

    /// Finds the node of each rank, within a time limit.
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

/// The rendezvous of all nodes: that of the first rank's node.
#[derive(Clone, Copy)]
pub(crate) struct RootRendezvous {
    pub(crate) finder: &'static NodeFinder,
    pub(crate) memory: Memory,
}

impl RootRendezvous {
    /// Leaves the first entry of this node there, unless there is one. If that node cannot be
    /// reached, the entry counts as the first.
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

    /// Reports a mismatch to all other nodes, since their ranks may run into errors because of it.
    pub(crate) fn count_mismatch(&self) {
        let nodes = self.finder.nodes(self.memory).into_iter().flat_map(|nodes| &nodes.all);
        nodes.for_each(|node| drop(lock(node).ask(Question::Mismatch, &[])));
    }
}

impl OtherNodes {
    /// The connection to the node of a remote rank.
    pub(crate) fn of(&self, rank: usize) -> Option<MutexGuard<'_, Connection>> {
        self.all.get(usize::from(self.of[rank])).map(lock)
    }
}
