//! The memory of other nodes, asked for through their [relays](crate::Relay).
//!
//! What is asked is answered by a thread that waits for nobody, so that a rank waits as long as a message takes
//! there and back. Notices are sent without waiting for their answers, which [`Fabric::settle`] does before
//! anybody can learn of what they tell. Where a node does not answer, nothing can be relied upon any more.

use crate::wire::{self, FINE, OVER};
use crate::{ENTRY, Fabric, Memory, Posted, nodes};
use std::collections::{BTreeMap, HashMap};
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// How long to look for ranks of other nodes: what is written to a shared file system may be seen late.
const PATIENCE: Duration = Duration::from_secs(if cfg!(test) { 1 } else { 10 });
const PAUSE: Duration = Duration::from_millis(10);
/// How long a relay may take to answer.
const ANSWER: Duration = Duration::from_secs(30);
/// Notices that may be under way, and bytes of them that wait to be sent.
const UNDER_WAY: usize = 256;
const UNSENT: usize = 1 << 16;
/// A rank of this node.
const HERE: u16 = u16::MAX;

/// The way to other nodes.
pub(crate) struct Far {
    directory: PathBuf,
    job: String,
    /// The file of this node.
    own: String,
    /// Some could not be found, or did not answer.
    lost: AtomicBool,
    nodes: OnceLock<Option<Nodes>>,
}

struct Nodes {
    /// For each rank its node, or [`HERE`].
    of: Box<[u16]>,
    all: Box<[Mutex<Node>]>,
    /// Of each rank the clock that was asked for last, and its segment: it never changes.
    clocks: Mutex<HashMap<usize, Dated>>,
    /// Notices were posted that may not have arrived.
    posted: AtomicBool,
}

/// A segment, and the clock of that.
type Dated = (u32, Box<[u32]>);

/// A connection.
pub(crate) struct Node {
    stream: TcpStream,
    unsent: Vec<u8>,
    under_way: usize,
    /// There was no room for a notice.
    refused: bool,
    /// It has not answered: what comes yet may be the answer to anything.
    broken: bool,
}

impl Node {
    pub(crate) fn new(stream: TcpStream) -> io::Result<Node> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(ANSWER))?;
        stream.set_write_timeout(Some(ANSWER))?;
        Ok(Node { stream, unsent: Vec::new(), under_way: 0, refused: false, broken: false })
    }

    /// Sends what is asked, after all notices.
    fn send(&mut self, kind: u32, asked: &[u64]) -> io::Result<()> {
        wire::put(&mut self.unsent, kind, asked.iter().copied());
        self.flush()
    }

    fn flush(&mut self) -> io::Result<()> {
        let bytes = std::mem::take(&mut self.unsent);
        self.try_to(|stream| stream.write_all(&bytes))?;
        self.unsent = bytes;
        self.unsent.clear();
        Ok(())
    }

    fn try_to<T>(&mut self, act: impl FnOnce(&mut TcpStream) -> io::Result<T>) -> io::Result<T> {
        if self.broken {
            return Err(ErrorKind::NotConnected.into());
        }
        act(&mut self.stream).inspect_err(|_| self.broken = true)
    }

    /// The answer to what was sent.
    fn receive(&mut self) -> io::Result<Vec<u64>> {
        self.learn_of_notices()?;
        self.read()
    }

    pub(crate) fn ask(&mut self, kind: u32, asked: &[u64]) -> io::Result<Vec<u64>> {
        self.send(kind, asked)?;
        self.receive()
    }

    /// Says that nothing can be relied upon, if it still hears that.
    fn switch_off(&mut self) {
        let _ = self.ask(wire::SWITCH_OFF, &[]);
    }

    fn post(&mut self, from: usize, to: usize, notice: &[u64]) -> io::Result<()> {
        let head = [from as u64, to as u64];
        wire::put(&mut self.unsent, wire::POST, head.into_iter().chain(notice.iter().copied()));
        self.under_way += 1;
        match self.under_way >= UNDER_WAY || self.unsent.len() >= UNSENT {
            true => self.settle(),
            false => Ok(()),
        }
    }

    /// Waits until all notices have arrived.
    fn settle(&mut self) -> io::Result<()> {
        self.flush()?;
        self.learn_of_notices()
    }

    fn learn_of_notices(&mut self) -> io::Result<()> {
        for _ in 0..std::mem::take(&mut self.under_way) {
            self.refused |= self.read()? != [1];
        }
        Ok(())
    }

    fn read(&mut self) -> io::Result<Vec<u64>> {
        let (kind, words) = self.try_to(|stream| {
            let mut header = [0; 8];
            stream.read_exact(&mut header)?;
            let (kind, count) = wire::header(header).ok_or(ErrorKind::InvalidData)?;
            let mut bytes = vec![0; 8 * count];
            stream.read_exact(&mut bytes)?;
            Ok((kind, wire::words(&bytes).collect()))
        })?;
        match kind {
            FINE => Ok(words),
            OVER => Err(ErrorKind::ConnectionRefused.into()),
            _ => Err(ErrorKind::InvalidData.into()),
        }
    }
}

/// Whether a node has answered that it cannot be relied upon.
fn is_over(error: &io::Error) -> bool {
    error.kind() == ErrorKind::ConnectionRefused
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Far {
    /// The other nodes of a job, which are looked for when the first is needed.
    pub(crate) fn new(directory: PathBuf, job: String, own: String) -> Far {
        Far { directory, job, own, lost: AtomicBool::new(false), nodes: OnceLock::new() }
    }

    fn nodes(&self, memory: Memory) -> Option<&Nodes> {
        self.nodes.get_or_init(|| self.look(memory)).as_ref()
    }

    fn look(&self, memory: Memory) -> Option<Nodes> {
        let mut all = Vec::new();
        match self.find_all(memory, &mut all) {
            Ok(of) => {
                let all = all.into_iter().map(Mutex::new).collect();
                Some(Nodes { of, all, clocks: Mutex::default(), posted: AtomicBool::new(false) })
            }
            Err(error) => {
                self.lost.store(!is_over(&error), Relaxed);
                all.iter_mut().for_each(Node::switch_off);
                None
            }
        }
    }

    /// Looks for all ranks, for a while: on which node is which?
    fn find_all(&self, memory: Memory, all: &mut Vec<Node>) -> io::Result<Box<[u16]>> {
        let (begin, mut seen) = (Instant::now(), vec![self.own.clone()]);
        let mut of = vec![None; memory.ranks()];
        loop {
            for (rank, node) in of.iter_mut().enumerate() {
                *node = node.or(memory.is_here(rank).then_some(HERE));
            }
            all.extend(nodes::look(&self.directory, &self.job, memory.ranks(), &mut seen));
            for (at, node) in (0..HERE).zip(&mut *all) {
                for rank in node.ask(wire::MEMBERS, &[])? {
                    *of.get_mut(rank as usize).ok_or(ErrorKind::InvalidData)? = Some(at);
                }
            }
            if let Some(of) = of.iter().copied().collect() {
                return Ok(of);
            }
            if begin.elapsed() > PATIENCE {
                return Err(ErrorKind::TimedOut.into());
            }
            std::thread::sleep(PAUSE);
        }
    }
}

/// The way to the board on which the entries of all nodes meet: that of the first rank's node.
#[derive(Clone, Copy)]
pub(crate) struct Home {
    pub(crate) far: &'static Far,
    pub(crate) memory: Memory,
}

impl Home {
    /// Leaves the first entry of this node there, unless one is there. Where it cannot be asked, it is as if nobody had
    /// come.
    pub(crate) fn post(&self, key: u64, entry: &[u64; ENTRY]) -> Posted {
        let Some(mut home) = self.far.nodes(self.memory).and_then(|nodes| nodes.of(0)) else {
            return Posted::First;
        };
        let words: Vec<u64> = std::iter::once(key).chain(*entry).collect();
        let first = home.ask(wire::ENTER, &words).ok();
        match first.and_then(|first| first.try_into().ok()) {
            Some(first) => Posted::After(first),
            None => Posted::First,
        }
    }

    /// Tells all other nodes that some ranks do not match: theirs may end in errors for it.
    pub(crate) fn count_mismatch(&self) {
        let nodes = self.far.nodes(self.memory).into_iter().flat_map(|nodes| &nodes.all);
        nodes.for_each(|node| drop(lock(node).ask(wire::MISMATCH, &[])));
    }
}

impl Nodes {
    fn of(&self, rank: usize) -> Option<MutexGuard<'_, Node>> {
        self.all.get(usize::from(self.of[rank])).map(lock)
    }
}

impl Fabric {
    /// Whether the memory of a rank is on this node.
    #[inline]
    pub(crate) fn is_here(&self, rank: usize) -> bool {
        let Some(far) = &self.far else { return true };
        self.memory.is_here(rank)
            || far.nodes(self.memory).is_some_and(|nodes| nodes.of[rank] == HERE)
    }

    /// Whether all ranks of the job, here and elsewhere, tell others of their order; waits for a while until they do.
    pub(crate) fn is_complete_there(&self) -> bool {
        let begin = Instant::now();
        let present = || -> Option<bool> {
            let mut all: usize =
                (0..self.ranks()).filter(|rank| self.memory.is_present(*rank)).count();
            for node in &self.nodes()?.all {
                let there = lock(node).ask(wire::PRESENT, &[]);
                all += self.heard(there)?.len();
            }
            Some(all == self.ranks())
        };
        loop {
            match present() {
                Some(true) => return true,
                Some(false) if begin.elapsed() <= PATIENCE => std::thread::sleep(PAUSE),
                Some(false) => {
                    self.far.inspect(|far| far.lost.store(true, Relaxed));
                    self.switch_off();
                    return false;
                }
                None => return false,
            }
        }
    }

    /// What the node of a rank that is elsewhere answers. Without an answer nothing can be relied upon.
    pub(crate) fn ask(&self, rank: usize, kind: u32, asked: &[u64]) -> Option<Vec<u64>> {
        let answer = self.nodes()?.of(rank)?.ask(kind, asked);
        self.heard(answer)
    }

    fn nodes(&self) -> Option<&'static Nodes> {
        match self.far?.nodes(self.memory) {
            Some(_) if self.is_off() => None,
            None => {
                self.switch_off_here();
                None
            }
            nodes => nodes,
        }
    }

    fn heard<T>(&self, answer: io::Result<T>) -> Option<T> {
        if let (Err(error), Some(far)) = (&answer, self.far) {
            // Who says that nothing can be relied upon has answered.
            far.lost.fetch_or(!is_over(error), Relaxed);
            self.switch_off();
        }
        answer.ok()
    }

    /// Whether other nodes could not be found, or did not answer.
    pub fn has_lost_others(&self) -> bool {
        self.far.is_some_and(|far| far.lost.load(Relaxed))
    }

    /// Nothing can be relied upon any more: says so to all nodes.
    pub(crate) fn switch_off_there(&self) {
        let nodes = self.far.and_then(|far| far.nodes.get()?.as_ref());
        nodes.into_iter().flat_map(|nodes| &nodes.all).for_each(|node| lock(node).switch_off());
    }

    /// Asks several nodes at once, each for some of these ranks, and hears for each what it answers.
    pub(crate) fn ask_all(
        &self,
        (kind, about): (u32, u64),
        ranks: impl Iterator<Item = u32>,
        mut hear: impl FnMut(&[u32], &[u64]),
    ) {
        let Some(nodes) = self.nodes() else { return };
        let mut asked: BTreeMap<u16, Vec<u32>> = BTreeMap::new();
        ranks.for_each(|rank| asked.entry(nodes.of[rank as usize]).or_default().push(rank));
        let asked: Vec<_> = asked
            .into_iter()
            .filter_map(|(node, ranks)| Some((lock(nodes.all.get(usize::from(node))?), ranks)))
            .collect();
        let mut waiting = Vec::new();
        for (mut node, ranks) in asked {
            let words: Vec<u64> =
                std::iter::once(about).chain(ranks.iter().map(|rank| u64::from(*rank))).collect();
            let sent = node.send(kind, &words);
            waiting.push((node, ranks, sent));
        }
        let mut all = Ok(());
        for (mut node, ranks, sent) in waiting {
            match sent.and_then(|()| node.receive()) {
                Ok(words) => hear(&ranks, &words),
                Err(error) => all = Err(error),
            }
        }
        self.heard(all);
    }

    /// The clock of a rank elsewhere in a segment: joins it.
    pub(crate) fn join_there(&self, rank: usize, segment: u32, into: &mut [u32]) {
        let Some(nodes) = self.nodes() else { return };
        let known = |(of, row): &Dated| (*of == segment).then(|| row.clone());
        let known = lock(&nodes.clocks).get(&rank).and_then(known);
        let row = known.or_else(|| {
            let words = self.ask(rank, wire::JOIN, &[rank as u64, segment.into()])?;
            let mut row = vec![0; into.len()].into_boxed_slice();
            wire::join(&words, &mut row);
            // It may be that of a later segment, where this one is forgotten.
            if row[rank] == segment {
                lock(&nodes.clocks).insert(rank, (segment, row.clone()));
            }
            Some(row)
        });
        for (to, from) in into.iter_mut().zip(row.iter().flatten()) {
            *to = (*to).max(*from);
        }
    }

    /// Sends a notice to a rank elsewhere, where it will have arrived when this has been [settled](Self::settle).
    pub(crate) fn post_there(&self, rank: usize, notice: &[u64]) {
        let Some(nodes) = self.nodes() else { return };
        nodes.posted.store(true, Relaxed);
        if let Some(mut node) = nodes.of(rank) {
            let posted = node.post(self.me(), rank, notice);
            drop(node);
            self.heard(posted);
        }
    }

    /// Waits until all notices have arrived; whether there was room for all.
    #[inline]
    pub fn settle(&self) -> bool {
        match &self.far {
            None => true,
            Some(far) => self.settle_there(far),
        }
    }

    fn settle_there(&self, far: &Far) -> bool {
        let Some(Some(nodes)) = far.nodes.get() else { return true };
        if !nodes.posted.swap(false, Relaxed) || self.is_off() {
            return true;
        }
        let mut waiting: Vec<_> =
            nodes.all.iter().map(lock).filter(|node| node.under_way > 0).collect();
        let sent: io::Result<()> = waiting.iter_mut().try_for_each(|node| node.flush());
        let arrived =
            sent.and_then(|()| waiting.iter_mut().try_for_each(|node| node.learn_of_notices()));
        let is_refused = waiting.iter_mut().any(|node| std::mem::take(&mut node.refused));
        drop(waiting);
        self.heard(arrived);
        !is_refused
    }
}

#[cfg(test)]
mod tests;
