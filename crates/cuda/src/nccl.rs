//! Communicators of NCCL: whether their ranks call the same.
//!
//! Each rank counts the collectives that it calls on a communicator, which has a name that is
//! equal on all its ranks. Who comes first to the n-th leaves an entry: in this process, for the
//! devices that it drives itself, and at the rendezvous of the job ([`commsan_job_shm`]), where
//! collectives of MPI are compared, too. Later ranks compare their call with it before they make
//! it. So do the two sides of the n-th message from one rank to another.
//!
//! **Soundness.** What is compared must be equal ([`operation`]). The name of a communicator
//! follows from its unique identifier, or from its parent and the arguments that all its ranks
//! pass; what was made in another way has none and is not compared. Empty collectives and messages
//! are left out, as NCCL may skip them. A communicator is not compared any more once a call on
//! it has failed, a collective on it was captured in a graph, a group was only simulated, or its
//! ranks have called different collectives.
//!
//! **Missed** are entries that the rendezvous has forgotten, other processes of jobs without MPI,
//! calls before `MPI_Init`, what is captured, and messages of which one side never comes. That a
//! communicator is never destroyed is said without MPI only, since it may be destroyed after
//! `MPI_Finalize`, when nothing is followed.

pub mod operation;
#[cfg(test)]
mod tests;
mod waiting;

use crate::waiting::{Job, Meeting, On, Others, SiteNumbers, introduce};
use crate::work::StreamName;
use commsan_callsite::{Findings, Place, Report, Site, Stacks};
use commsan_findings::record::{RawCollective, RawOperation};
use commsan_findings::{Code, Role};
use commsan_job_shm::{ENTRY, Posted};
use operation::{Kind, Operation};
use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};

/// How a communicator is made.
#[derive(Clone, Copy, Debug)]
pub enum Origin<'a> {
    /// By a unique identifier, or several.
    Id(&'a [u8]),
    /// By `ncclCommInitAll`.
    All,
    /// From a communicator, by a color.
    Split(usize, i32),
    /// From a communicator, without some of its ranks.
    Shrink(usize, &'a [i32]),
    /// In another way.
    Unknown,
}

impl Origin<'_> {
    /// Whether all ranks are made by one call, in their order.
    pub fn is_clique(self) -> bool {
        matches!(self, Origin::All)
    }
}

/// What a communicator is made from, before the call and after it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Making {
    name: u64,
    /// Its unique identifiers, and the rank: only one process may be that, once.
    joins: Option<(u64, u32)>,
    /// The rank there, where the program names it.
    pub rank: Option<u32>,
    /// Number of ranks, where it is known.
    pub ranks: Option<u32>,
    site: Option<Site>,
}

/// A call of NCCL.
#[derive(Clone, Copy, Debug)]
pub enum Act {
    /// A communicator has been made.
    Made(usize, Making),
    /// A collective, or one side of a message, is about to be called.
    Calls(usize, Operation, StreamName, &'static str),
    /// A call on a communicator has failed.
    Failed(usize),
    /// A communicator is about to be destroyed or finalized: its rank calls nothing more on it.
    Destroys(usize, &'static str),
    /// A communicator is about to be aborted.
    Aborts(usize, &'static str),
    /// A group has begun.
    GroupBegins(&'static str),
    /// A group is about to end.
    GroupEnds(&'static str),
    /// A group that ends was only simulated: what it has called does not happen.
    Simulated,
}

/// What is known of a communicator.
#[derive(Debug)]
struct Communicator {
    /// A number that all its ranks compute alike, and no other communicator has; 0 if it has none.
    name: u64,
    rank: Option<u32>,
    ranks: Option<u32>,
    /// Where it was made.
    made: Site,
    finalized: bool,
    /// Whether its calls are compared.
    compared: bool,
    /// Collectives that were called on it.
    entered: u32,
    /// Messages to and from each of its ranks.
    messages: FxHashMap<(Kind, i32), u32>,
    /// Splits and shrinks of it.
    children: [u32; 2],
}

/// One rank's call.
#[derive(Clone, Copy, Debug)]
struct Entry {
    operation: Operation,
    /// The rank in the communicator.
    rank: Option<u32>,
    site: Site,
}

/// Entries of this process that are remembered.
const MAX_ENTRIES: usize = 1 << 12;

/// The first number of a site of NCCL: others count from 0.
const FIRST_SITE: u32 = 1 << 31;

/// Communicators of NCCL, and the calls on them.
#[derive(Default)]
pub struct Nccl {
    all: FxHashMap<usize, Communicator>,
    /// Where handles were destroyed that stand for nothing since.
    destroyed: FxHashMap<usize, Site>,
    /// What ranks of this process have called first, by key.
    first: FxHashMap<u64, Entry>,
    /// Where this process has used a unique identifier for a rank first, and how often.
    used: FxHashMap<(u64, u32), (Site, u32)>,
    /// Numbers of sites that other ranks may refer to.
    sites: SiteNumbers<FIRST_SITE>,
    /// Where threads have begun groups that are open.
    groups: FxHashMap<u32, SmallVec<[Site; 2]>>,
    /// Calls of `ncclCommInitAll`.
    cliques: u32,
    /// What was called on communicators that are destroyed.
    past: Vec<(u64, u32)>,
    /// Some calls were not counted.
    is_unsure: bool,
}

fn hashed(what: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    ("nccl", what).hash(&mut hasher);
    // Keys of the rendezvous are not 0.
    hasher.finish() | 1
}

/// How a call is looked at.
struct At<'a> {
    place: &'a dyn Place,
    stacks: &'a mut Stacks,
    job: Job,
    out: &'a mut dyn Findings,
}

impl At<'_> {
    fn site(&mut self, call: &'static str) -> Site {
        self.place.site(Some(call), self.stacks)
    }
}

/// Reports a finding about a call, and another one before it.
fn report(
    code: Code,
    [own, other]: [Site; 2],
    collective: Option<RawCollective<'_>>,
    stacks: &Stacks,
    out: &mut dyn Findings,
) {
    if !out.again(code, own.pc, other.pc) {
        let operation = RawOperation::of(other.call.unwrap_or_default());
        let sites = [(Role::Access, own), (Role::Operation, other)];
        let report = Report { collective, ..Report::new(code, operation, sites) };
        out.report(report, other.pc, stacks);
    }
}

/// Reports a finding about one call.
fn report_one(code: Code, site: Site, stacks: &Stacks, out: &mut dyn Findings) {
    if !out.again(code, 0, site.pc) {
        let operation = RawOperation::of(site.call.unwrap_or_default());
        let report = Report::new(code, operation, [(Role::Operation, site)]);
        out.report(report, site.pc, stacks);
    }
}

impl Nccl {
    /// A communicator is about to be made; its rank and size, if the program passes them.
    pub(crate) fn making(
        &mut self,
        origin: Origin<'_>,
        [rank, ranks]: [Option<u32>; 2],
        site: Site,
        stacks: &Stacks,
        out: &mut dyn Findings,
    ) -> Making {
        let mut child_of = |parent: usize, which: usize| {
            let parent = self.all.get_mut(&parent).filter(|parent| parent.name != 0)?;
            parent.children[which] += 1;
            Some((parent.name, parent.children[which]))
        };
        let mut joins = None;
        let name = match origin {
            Origin::Id(id) => {
                let id = hashed(("id", id, ranks));
                joins = rank.map(|rank| (id, rank));
                // Should it be used again, that is another communicator.
                let used = joins.and_then(|joins| self.used.get(&joins));
                if let Some((before, _)) = used {
                    report(Code::NcclIdReused, [site, *before], None, stacks, out);
                }
                hashed((id, used.map_or(0, |(_, times)| *times)))
            }
            Origin::All => {
                self.cliques += 1;
                hashed(("all", std::process::id(), self.cliques))
            }
            Origin::Split(parent, color) => {
                child_of(parent, 0).map_or(0, |of| hashed(("split", of, color)))
            }
            Origin::Shrink(parent, without) => {
                let mut without: SmallVec<[i32; 8]> = without.into();
                without.sort_unstable();
                child_of(parent, 1).map_or(0, |of| hashed(("shrink", of, &*without)))
            }
            Origin::Unknown => 0,
        };
        Making { name, joins, rank, ranks, site: Some(site) }
    }

    /// A call is made, or has been.
    pub(crate) fn act(
        &mut self,
        act: Act,
        place: &dyn Place,
        stacks: &mut Stacks,
        job: Job,
        out: &mut dyn Findings,
    ) -> Option<Meeting> {
        let mut at = At { place, stacks, job, out };
        match act {
            Act::Made(handle, making) => self.made(handle, making, job),
            Act::Calls(handle, operation, _, call) => {
                return self.calls(handle, operation, call, &mut at);
            }
            Act::Failed(handle) => self.distrust(handle),
            Act::Destroys(handle, call) => self.destroys(handle, call, &mut at),
            Act::Aborts(handle, call) => {
                self.is_unsure = true;
                self.removes(handle, call, &mut at);
            }
            Act::GroupBegins(call) => {
                let site = at.site(call);
                self.groups.entry(site.thread).or_default().push(site);
            }
            Act::GroupEnds(call) => self.group_ends(call, &mut at),
            Act::Simulated => {
                self.is_unsure = true;
                self.all.values_mut().for_each(|known| known.compared = false);
            }
        }
        None
    }

    fn made(&mut self, handle: usize, making: Making, job: Job) {
        let Making { name, joins, rank, ranks, site: Some(made) } = making else { return };
        self.destroyed.remove(&handle);
        if let Some(joins) = joins {
            self.used.entry(joins).or_insert((made, 0)).1 += 1;
        }
        if name != 0 {
            introduce(name, rank, job);
        }
        let known = Communicator {
            name,
            rank,
            ranks,
            made,
            finalized: false,
            compared: name != 0,
            entered: 0,
            messages: FxHashMap::default(),
            children: [0; 2],
        };
        self.all.insert(handle, known);
    }

    /// Calls on a communicator are not compared any more.
    pub(crate) fn distrust(&mut self, handle: usize) {
        if let Some(known) = self.all.get_mut(&handle) {
            known.compared = false;
            self.is_unsure |= known.name != 0;
        }
    }

    /// A communicator is used: is there one?
    fn uses(&mut self, handle: usize, call: &'static str, at: &mut At<'_>) {
        if let Some(destroyed) = self.destroyed.get(&handle).copied() {
            let site = at.site(call);
            report(Code::NcclDestroyedUsed, [site, destroyed], None, at.stacks, at.out);
        }
    }

    fn calls(
        &mut self,
        handle: usize,
        operation: Operation,
        call: &'static str,
        at: &mut At<'_>,
    ) -> Option<Meeting> {
        self.uses(handle, call, at);
        let known = self.all.get_mut(&handle).filter(|known| known.compared)?;
        // NCCL may skip what is empty.
        if operation.count == 0 || known.ranks == Some(1) && !operation.is_message() {
            return None;
        }
        let site = at.site(call);
        let entry = Entry { operation, rank: known.rank, site };
        if operation.is_message() {
            return self.message(handle, entry, at);
        }
        known.entered += 1;
        let (name, number) = (known.name, known.entered);
        let meeting = Meeting {
            call: operation.kind.name(),
            on: On::Communicator,
            members: known.ranks,
            group: name,
            others: Others::All { of: known.ranks, but: known.rank },
            name,
            number,
        };
        if let Some(first) = self.meet(hashed((name, number)), &entry, at)
            && !operation.matches(&first.operation)
        {
            self.report_mismatch(Code::NcclCollectivesDiffer, handle, number, [&entry, &first], at);
            if operation.kind != first.operation.kind {
                // Everything that follows would be out of step, too.
                self.distrust(handle);
            }
        }
        Some(meeting)
    }

    fn message(&mut self, handle: usize, entry: Entry, at: &mut At<'_>) -> Option<Meeting> {
        let known = self.all.get_mut(&handle)?;
        let Some((own, peer)) = known.rank.map(|rank| rank as i32).zip(entry.operation.peer) else {
            self.is_unsure = true;
            return None;
        };
        let kind = entry.operation.kind;
        let number = known.messages.entry((kind, peer)).or_default();
        *number += 1;
        let (from, to) = if kind == Kind::Send { (own, peer) } else { (peer, own) };
        let (number, key) = (*number, hashed((known.name, "message", from, to, *number)));
        let meeting = peer.try_into().ok().map(|peer| Meeting {
            call: kind.counterpart().name(),
            on: On::Communicator,
            members: known.ranks,
            group: known.name,
            others: Others::One(peer),
            name: waiting::messages(known.name, kind.counterpart(), from, to),
            number,
        });
        if let Some(first) = self.meet(key, &entry, at) {
            self.first.remove(&key);
            if !entry.operation.carries(&first.operation) {
                let entries = [&entry, &first];
                self.report_mismatch(Code::NcclMessagesDiffer, handle, number, entries, at);
            }
        }
        meeting
    }

    /// Leaves an entry for other ranks, unless one of them has been first: that one's.
    fn meet(&mut self, key: u64, entry: &Entry, at: &mut At<'_>) -> Option<Entry> {
        if let Some(first) = self.first.get(&key) {
            return Some(*first);
        }
        if let Some((rendezvous, me)) = at.job {
            let number = self.sites.number_of(&entry.site, at.stacks, at.out);
            if let Posted::After(words) = rendezvous.post(key, &to_words(entry, me, number)) {
                return from_words(&words);
            }
        }
        if self.first.len() == MAX_ENTRIES {
            self.first.clear();
        }
        self.first.insert(key, *entry);
        None
    }

    fn report_mismatch(
        &self,
        code: Code,
        handle: usize,
        number: u32,
        [own, first]: [&Entry; 2],
        at: &mut At<'_>,
    ) {
        let ranks = self.all.get(&handle).and_then(|known| known.ranks);
        let on = On::Communicator.describe(ranks);
        let passed = [own, first].map(|entry| {
            let rank = entry.rank.map_or(String::new(), |rank| format!(" as its rank {rank}"));
            (entry.operation.describe() + &rank).into()
        });
        let passed = Some(passed);
        let collective = RawCollective { on: on.into(), number, passed, between_groups: false };
        report(code, [own.site, first.site], Some(collective), at.stacks, at.out);
        if let Some((rendezvous, _)) = at.job {
            rendezvous.count_mismatch();
        }
    }

    /// This rank calls nothing more on a communicator: do others?
    fn destroys(&mut self, handle: usize, call: &'static str, at: &mut At<'_>) {
        let ends = self.all.get_mut(&handle).filter(|known| !known.finalized).map(|known| {
            known.finalized = true;
            (known.compared && known.ranks != Some(1)).then_some((known.name, known.entered + 1))
        });
        if let Some((name, number)) = ends.flatten() {
            let operation = Operation::new(Kind::Destroy, 0, 0);
            let rank = self.all.get(&handle).and_then(|known| known.rank);
            let entry = Entry { operation, rank, site: at.site(call) };
            if let Some(first) = self.meet(hashed((name, number)), &entry, at)
                && first.operation.kind != Kind::Destroy
            {
                let entries = [&entry, &first];
                self.report_mismatch(Code::NcclCollectivesDiffer, handle, number, entries, at);
            }
        }
        if call != "ncclCommFinalize" {
            self.removes(handle, call, at);
        }
    }

    fn removes(&mut self, handle: usize, call: &'static str, at: &mut At<'_>) {
        self.uses(handle, call, at);
        self.keep_past(handle);
        if self.all.remove(&handle).is_some() {
            let site = at.site(call);
            self.destroyed.insert(handle, site);
        }
    }

    fn group_ends(&mut self, call: &'static str, at: &mut At<'_>) {
        let site = at.site(call);
        if self.groups.get_mut(&site.thread).and_then(SmallVec::pop).is_none() {
            report_one(Code::NcclGroupUnbalanced, site, at.stacks, at.out);
        }
    }

    /// No thread ends a group any more; with `is_exit`, none destroys a communicator.
    pub(crate) fn ends(&mut self, is_exit: bool, stacks: &Stacks, out: &mut dyn Findings) {
        let groups = self.groups.drain().flat_map(|(_, sites)| sites);
        let groups: Vec<_> = groups.map(|site| (Code::NcclGroupUnbalanced, site)).collect();
        let left = self.all.values().filter(|_| is_exit);
        let left = left.map(|known| (Code::NcclNotDestroyed, known.made));
        let mut all: Vec<_> = groups.into_iter().chain(left).collect();
        all.sort_by_key(|(code, site)| (*code, site.pc));
        for (code, site) in all {
            report_one(code, site, stacks, out);
        }
    }
}

fn to_words(entry: &Entry, me: u32, site: u32) -> [u64; ENTRY] {
    let mut words = [0; ENTRY];
    words[0] = u64::from(me) | u64::from(site) << 32;
    words[1] = entry.rank.map_or(0, |rank| u64::from(rank) + 1);
    words[2..5].copy_from_slice(&entry.operation.to_words());
    words
}

fn from_words(words: &[u64; ENTRY]) -> Option<Entry> {
    let operation = Operation::from_words([words[2], words[3], words[4]])?;
    let rank = words[1].checked_sub(1).map(|rank| rank as u32);
    let site = Site::remote(operation.kind.name(), words[0] as u32, (words[0] >> 32) as u32);
    Some(Entry { operation, rank, site })
}
