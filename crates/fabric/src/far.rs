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
}

impl Node {
    pub(crate) fn new(stream: TcpStream) -> io::Result<Node> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(ANSWER))?;
        stream.set_write_timeout(Some(ANSWER))?;
        Ok(Node { stream, unsent: Vec::new(), under_way: 0, refused: false })
    }

    /// Sends what is asked, after all notices.
    fn send(&mut self, kind: u32, asked: &[u64]) -> io::Result<()> {
        wire::put(&mut self.unsent, kind, asked.iter().copied());
        self.flush()
    }

    fn flush(&mut self) -> io::Result<()> {
        let sent = self.stream.write_all(&self.unsent);
        self.unsent.clear();
        sent
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
        let malformed = || io::Error::from(ErrorKind::InvalidData);
        let mut header = [0; 8];
        self.stream.read_exact(&mut header)?;
        let (kind, count) = wire::header(header).ok_or_else(malformed)?;
        let mut bytes = vec![0; 8 * count];
        self.stream.read_exact(&mut bytes)?;
        match kind {
            FINE => Ok(wire::words(&bytes).collect()),
            OVER => Err(ErrorKind::ConnectionRefused.into()),
            _ => Err(malformed()),
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
        self.heard(self.nodes()?.of(rank)?.ask(kind, asked))
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
        self.far.as_ref().is_some_and(|far| far.lost.load(Relaxed))
    }

    /// Nothing can be relied upon any more: says so to all nodes.
    pub(crate) fn switch_off_there(&self) {
        if let Some(Some(nodes)) =
            self.far.as_ref().map(|far| far.nodes.get().and_then(Option::as_ref))
        {
            nodes.all.iter().for_each(|node| lock(node).switch_off());
        }
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
mod tests {
    use super::*;
    use crate::memory::RING;

    /// Two nodes of one job: ranks 0 and 2 on the first, 1 and 3 on the second, where rank 3 does not always come.
    struct Nodes {
        directory: PathBuf,
        ranks: Vec<Fabric>,
    }

    impl Nodes {
        fn new(test: &str, present: &[usize]) -> Nodes {
            let directory =
                std::env::temp_dir().join(format!("commsan-{test}-{}", std::process::id()));
            std::fs::create_dir_all(&directory).unwrap();
            let mut ranks: Vec<Option<Fabric>> = (0..4).map(|_| None).collect();
            for node in 0..2 {
                let (memory, file, _) = Memory::create(4).unwrap();
                std::mem::forget(file);
                let own = nodes::name("job", &node.to_string());
                let relay = nodes::announce(&directory.join(&own), memory, node).unwrap();
                std::thread::spawn(move || relay.serve());
                for rank in [node, node + 2] {
                    let far = Far::new(directory.clone(), "job".to_owned(), own.clone());
                    let fabric = Fabric::with_others(memory, rank, Box::leak(Box::new(far)));
                    fabric.board().attend(rank, 1);
                    if present.contains(&rank) {
                        fabric.attend();
                    }
                    ranks[rank] = Some(fabric);
                }
            }
            Nodes { directory, ranks: ranks.into_iter().flatten().collect() }
        }
    }

    impl Drop for Nodes {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.directory);
        }
    }

    #[test]
    fn clocks_collectives_and_windows_are_found_on_other_nodes() {
        let nodes = Nodes::new("clocks", &[0, 1, 2, 3]);
        let [a, b, c, d] = &nodes.ranks[..] else { panic!() };
        assert!(a.is_complete() && d.is_complete());
        a.publish(&[1, 0, 0, 0]);
        a.publish(&[2, 0, 7, 0]);
        d.publish(&[0, 5, 0, 1]);
        for _ in 0..2 {
            let mut row = [0; 4];
            b.join(0, 1, &mut row);
            assert_eq!(row, [1, 0, 0, 0]);
            b.join(0, 2, &mut row);
            assert_eq!(row, [2, 0, 7, 0]);
        }
        let mut row = [0; 4];
        c.join_newest(3, &mut row);
        assert_eq!(row, [0, 5, 0, 1]);

        a.enter(9, 1);
        c.publish(&[0, 0, 3, 0]);
        c.enter(9, 3);
        d.enter(9, 1);
        let (mut row, mut entered) = ([0; 4], Vec::new());
        b.publish(&[0, 1, 0, 0]);
        b.gather(9, &[0, 2, 3], &mut row, |rank, segment| entered.push((rank, segment)));
        entered.sort_unstable();
        assert_eq!(entered, [(0, 1), (2, 3), (3, 1)]);
        assert_eq!(row, [1, 5, 3, 1]);
        a.gather(9, &[1, 3], &mut [0; 4], |rank, _| assert_eq!(rank, 3, "rank 1 has not come"));

        a.publish_part(4, 80, 8);
        b.publish_part(4, 16, 1);
        let parts = d.parts(&[0, 1, 2, 3], 4);
        assert_eq!(parts, [Some((80, 8)), Some((16, 1)), None, None]);

        b.release(2, 6, &[0, 9, 0, 0]);
        let mut row = [0; 4];
        assert!(d.acquire(2, 6, &mut row) && c.acquire(2, 6, &mut [0; 4]));
        assert_eq!(row, [0, 9, 0, 0]);
        assert!(!b.acquire(2, 6, &mut row));
    }

    #[test]
    fn notices_have_arrived_when_they_are_settled() {
        let nodes = Nodes::new("notices", &[0, 1, 2, 3]);
        let [a, b, ..] = &nodes.ranks[..] else { panic!() };
        for n in 0..1000 {
            assert!(a.post(1, &[n, 2 * n]));
        }
        assert!(a.settle());
        let mut notice = Vec::new();
        for n in 0..1000 {
            b.take(&mut notice).unwrap();
            assert_eq!(notice, [n, 2 * n]);
        }
        assert!(b.take(&mut notice).is_none());
        let all = (0..=RING as u64 / 3).filter(|n| a.post(1, &[*n, 0]));
        assert!(all.count() > RING / 3 && !a.settle() && b.lost(0) > 0 && b.losses() > 0);
        assert!(a.settle(), "that is told once");
    }

    #[test]
    fn all_nodes_are_off_when_one_is() {
        let nodes = Nodes::new("off", &[0, 1, 2, 3]);
        let [a, b, c, d] = &nodes.ranks[..] else { panic!() };
        assert!(a.is_complete() && b.is_complete());
        a.switch_off();
        assert!(nodes.ranks.iter().all(Fabric::is_off));
        b.post(0, &[1]);
        c.join_newest(1, &mut [0; 4]);
        assert!(b.settle() && !d.is_complete());
        assert!(!nodes.ranks.iter().any(Fabric::has_lost_others), "all have answered");
    }

    #[test]
    fn the_first_of_all_nodes_is_found() {
        let nodes = Nodes::new("first", &[]);
        let [a, b, c, d] = &nodes.ranks[..] else { panic!() };
        let post = |rank: &Fabric, word| rank.board().post(9, &[word; ENTRY]);
        assert_eq!(post(b, 1), Posted::First);
        assert_eq!(post(a, 2), Posted::After([1; ENTRY]), "it was the first at home");
        assert_eq!(post(d, 3), Posted::After([1; ENTRY]));
        assert_eq!(post(c, 4), Posted::After([1; ENTRY]));
        c.board().count_mismatch();
        assert!(nodes.ranks.iter().all(|rank| rank.board().mismatches() == 1));
    }

    #[test]
    fn the_launcher_sees_ranks_of_all_nodes() {
        let nodes = Nodes::new("launcher", &[]);
        let mut found = crate::jobs(&nodes.directory, |_| false);
        assert_eq!(found.len(), 1, "two nodes, one job");
        let mut job = found.remove(0);
        assert!(crate::jobs(&nodes.directory, |name| name == job.name()).is_empty());
        let [a, b, ..] = &nodes.ranks[..] else { panic!() };
        a.board().enter(0);
        b.board().enter(1);
        b.board().leave(1);
        b.board().answer(1, 7, crate::Answer::Others(5));
        b.board().count_mismatch_here();
        assert!(job.look());
        assert_eq!(job.board().moves().collect::<Vec<_>>(), [1, 2, 0, 0]);
        assert_eq!(job.board().processes().collect::<Vec<_>>(), [1; 4]);
        assert_eq!(job.board().answers().nth(1), Some((7, crate::Answer::Others(5))));
        assert_eq!(job.board().mismatches(), 1);
        assert!(job.seen(0, 1).is_some(), "process 1 is there");
        let asked = (a.board().asked(), b.board().asked());
        job.ask();
        assert_eq!((a.board().asked(), b.board().asked()), (asked.0 + 1, asked.1 + 1));
    }

    #[test]
    fn strangers_get_no_answer() {
        let nodes = Nodes::new("strangers", &[0, 1, 2, 3]);
        let file = nodes.directory.join(nodes::name("job", "0"));
        let text = std::fs::read_to_string(&file).unwrap();
        let words: Vec<&str> = text.split_whitespace().collect();
        let port: u16 = words[2].parse().unwrap();
        let token = words[..2].iter().map(|word| u64::from_str_radix(word, 16).unwrap());
        let token: Vec<u64> = token.collect();
        let node = || Node::new(TcpStream::connect(("localhost", port)).unwrap()).unwrap();
        assert!(node().ask(wire::HELLO, &[token[0], token[1] ^ 1, 4]).is_err());
        assert!(node().ask(wire::HELLO, &[token[0], token[1], 5]).is_err());
        assert!(node().ask(wire::MEMBERS, &[]).is_err());
        let mut friend = node();
        friend.ask(wire::HELLO, &[token[0], token[1], 4]).unwrap();
        assert_eq!(friend.ask(wire::MEMBERS, &[]).unwrap(), [0, 2]);
        assert!(friend.ask(99, &[]).is_err(), "no such question");
        assert_eq!(node().ask(wire::HELLO, &[token[0], token[1], 4]).unwrap(), []);
    }

    #[test]
    fn a_rank_that_does_not_come_switches_all_off() {
        let nodes = Nodes::new("absent", &[0, 1, 2]);
        let [a, b, ..] = &nodes.ranks[..] else { panic!() };
        assert!(!a.is_complete() && a.is_off() && b.is_off() && a.has_lost_others());
    }
}
