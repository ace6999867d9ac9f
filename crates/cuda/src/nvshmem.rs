//! NVSHMEM's host calls: whether the PEs of a team call the same, and what is wrong with arguments.
//!
//! Each PE counts the calls that it makes on a team together with others, whether the host waits in
//! them or a stream. Who comes first to the n-th leaves an entry at the rendezvous of the job
//! ([`commsan_job_shm`]), where collectives of MPI and NCCL are compared, too; later PEs compare
//! their call with it before they make it.
//!
//! **Soundness.** What is compared must be equal ([`operation`]). PEs that were initialised by a
//! unique identifier have their name from that, and those that are all ranks of the job from the
//! number of times that all were initialised; others are not compared. The name of a team follows
//! from its parent's, how often that was split, and its members. A team is not compared any more
//! once its PEs have called different things, or a call on it was captured in a graph. An address
//! is wrong by what [`Heap`] knows, and where that knows nothing, if the library says that it has
//! no such symmetric memory.
//!
//! **Missed** are entries that the rendezvous has forgotten, other processes of jobs without MPI,
//! and collectives that kernels call: a PE whose host calls what another one's kernel calls is not
//! provided for. What a kernel accesses at other PEs is looked at when the simulated device says
//! that there is no such PE, or no symmetric memory ([`Nvshmem::wrong_in_kernel`]).

pub mod operation;
#[cfg(test)]
mod tests;

use crate::waiting::{Job, MAX_ENTERED, Meeting, On, Others, SiteNumbers, introduce};
use crate::work::{KernelAccess, StreamName};
use commsan_callsite::{Findings, Place, Report, Site, Stacks};
use commsan_cuda_abi::nvshmem::Kind;
use commsan_findings::record::{RawArgument, RawCollective, RawOperation};
use commsan_findings::{Code, Role};
use commsan_job_shm::{ENTRY, Posted};
use commsan_shadow::Mode;
use commsan_symmetric::{Fault, Heap, NoBlock};
use operation::Operation;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

/// The team of all PEs.
pub const WORLD: i32 = 0;

/// The teams whose handles are less are there from the beginning.
const PREDEFINED: i32 = 6;

/// The first number of a site of NVSHMEM: others count from 0, those of NCCL from 2³¹.
const FIRST_SITE: u32 = 3 << 30;

/// The PEs of a team by their numbers among all.
pub type Members = Arc<[u32]>;

/// What a call makes known.
#[derive(Clone, Copy, Debug)]
pub enum Act<'a> {
    /// This process is a PE, one of so many, which have met by an identifier if there is one.
    Begins {
        /// This PE.
        pe: u32,
        /// How many there are.
        pes: u32,
        /// The identifier.
        id: Option<&'a [u8]>,
        /// Whether other PEs have been followed from here, too.
        followed: bool,
    },
    /// The PEs of a team are about to make a call together, in a stream if there is one.
    Together(i32, &'a Members, Operation, Option<StreamName>, &'static str),
    /// A team was split from another one.
    Split {
        /// The team that was split.
        parent: i32,
        /// The new one.
        team: i32,
        /// Its members.
        members: &'a Members,
        /// Which of those that the call has made.
        part: u32,
    },
    /// Symmetric memory was allocated.
    Allocated(usize, usize, &'static str),
    /// Symmetric memory was freed.
    Freed(usize, &'static str),
    /// A call of the host reads or writes memory of this process.
    Moves(&'a [KernelAccess], &'static str),
    /// The host is back from a call, in which it may have waited for other PEs.
    Returned,
    /// Something is wrong with an argument of a call.
    Wrong(&'a Wrong, &'static str),
}

/// What a call passes, by the name of the parameter.
#[derive(Clone, Debug)]
pub enum Uses {
    /// The number of a PE.
    Pe(i32),
    /// The number of a root, in a team of so many.
    Root(i32, u32),
    /// A symmetric address, and the bytes that PEs access there.
    Symmetric(&'static str, usize, Range<usize>),
    /// An address that is to be freed.
    Block(usize),
    /// A team that does not exist.
    NoTeam(i32),
    /// Any call while NVSHMEM is not initialised.
    Outside,
}

/// What is wrong with an argument.
#[derive(Clone, Debug)]
pub struct Wrong {
    /// The kind of finding.
    pub code: Code,
    /// The parameter.
    pub parameter: &'static str,
    /// What is wrong with it.
    pub problem: String,
    /// Where its memory was allocated or freed.
    pub site: Option<Site>,
    /// It is right if the library has symmetric memory at this address.
    pub unless: Option<usize>,
}

impl Wrong {
    /// Of a code, a parameter and a problem.
    pub fn new(code: Code, parameter: &'static str, problem: impl Into<String>) -> Wrong {
        Wrong { code, parameter, problem: problem.into(), site: None, unless: None }
    }
}

/// This process as a PE.
#[derive(Clone, Copy, Debug)]
struct Pe {
    /// A number that all PEs compute alike; 0 if they are not compared.
    name: u64,
    number: u32,
    pes: u32,
}

/// A team.
#[derive(Debug)]
struct Team {
    name: u64,
    members: Members,
    /// Calls that its PEs have made together.
    entered: u32,
    /// How often it was split.
    splits: u32,
    compared: bool,
}

/// What is known of this PE.
#[derive(Default)]
pub struct Nvshmem {
    pe: Option<Pe>,
    /// Whether it was one, and is none any more.
    ended: bool,
    /// How often all ranks were initialised.
    starts: u32,
    heap: Heap,
    teams: FxHashMap<i32, Team>,
    /// What was called on teams that are no more.
    past: Vec<(u64, u32)>,
    /// Some calls were not counted.
    is_unsure: bool,
    /// Numbers of sites that other ranks may refer to.
    sites: SiteNumbers<FIRST_SITE>,
}

fn hashed(what: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    ("nvshmem", what).hash(&mut hasher);
    // Keys of the rendezvous are not 0.
    hasher.finish() | 1
}

/// One PE's call.
#[derive(Clone, Copy, Debug)]
struct Entry {
    operation: Operation,
    pe: u32,
    site: Site,
}

/// How a call is looked at.
struct At<'a> {
    place: &'a dyn Place,
    stacks: &'a mut Stacks,
    job: Job,
    out: &'a mut dyn Findings,
}

impl Nvshmem {
    /// A call is about to be made, or has been. Returns what it needs of other ranks, as far as it
    /// is compared with their calls.
    pub(crate) fn act(
        &mut self,
        act: Act<'_>,
        place: &dyn Place,
        stacks: &mut Stacks,
        job: Job,
        out: &mut dyn Findings,
    ) -> Option<Meeting> {
        match act {
            Act::Begins { pe, pes, id, followed } => self.begins([pe, pes], id, followed, job),
            Act::Together(team, members, operation, _, call) => {
                let mut at = At { place, stacks, job, out };
                return self.together(team, members, operation, call, &mut at);
            }
            Act::Split { parent, team, members, part } => {
                self.split(parent, team, members, part);
            }
            Act::Allocated(at, size, call) => {
                let site = place.site(Some(call), stacks);
                self.heap.made(at, size, site);
            }
            Act::Freed(at, call) => {
                let site = place.site(Some(call), stacks);
                self.heap.frees();
                self.heap.freed(at, site);
            }
            Act::Moves(..) | Act::Returned => {}
            Act::Wrong(wrong, call) => report_wrong(wrong, call, place, stacks, out),
        }
        None
    }

    fn begins(&mut self, [number, pes]: [u32; 2], id: Option<&[u8]>, followed: bool, job: Job) {
        let are_all = job.is_some_and(|(ranks, _)| ranks.moves().count() == pes as usize);
        let name = match id {
            _ if !followed => 0,
            Some(id) => hashed(("id", id, pes)),
            None if are_all => {
                self.starts += 1;
                hashed(("all", self.starts))
            }
            None => 0,
        };
        self.is_unsure |= name == 0;
        self.pe = Some(Pe { name, number, pes });
        if name != 0 {
            introduce(name, Some(number), job);
        }
    }

    /// The number of the allocation that begins at an address; 0 if none does.
    pub(crate) fn number_of_block(&self, at: usize) -> u64 {
        self.heap.block_at(at).map_or(0, |block| block.number.into())
    }

    fn together(
        &mut self,
        handle: i32,
        members: &Members,
        operation: Operation,
        call: &'static str,
        at: &mut At<'_>,
    ) -> Option<Meeting> {
        let pe = self.pe?;
        if operation.kind() == Kind::Finalize {
            self.leaks(at.stacks, at.out);
        }
        let team = self.teams.entry(handle).or_insert_with(|| Team {
            name: match handle {
                0..PREDEFINED if pe.name != 0 => hashed((pe.name, handle, members)),
                _ => 0,
            },
            members: Arc::clone(members),
            entered: 0,
            splits: 0,
            compared: pe.name != 0 && handle < PREDEFINED,
        });
        self.is_unsure |= team.name == 0;
        let is_split = matches!(operation.kind(), Kind::SplitStrided | Kind::SplitGrid);
        team.splits += u32::from(is_split);
        team.entered += 1;
        let (name, number, members) = (team.name, team.entered, Arc::clone(&team.members));
        let meeting = (team.compared && members.len() > 1).then(|| Meeting {
            call: operation.name(),
            on: on(handle),
            members: Some(members.len() as u32),
            group: pe.name,
            others: Others::Listed(members),
            name,
            number,
        });
        if meeting.is_some() {
            let site = at.place.site(Some(call), at.stacks);
            let entry = Entry { operation, pe: pe.number, site };
            if let Some(first) = self.meet(hashed((name, number)), &entry, at)
                && !operation.matches(&first.operation)
            {
                self.report_mismatch(handle, number, [&entry, &first], at);
                if operation.kind() != first.operation.kind() {
                    // Everything that follows would be out of step, too.
                    self.distrust(handle);
                }
            }
        }
        match operation.kind() {
            Kind::Finalize => self.ends(),
            Kind::DestroyTeam => self.forgets(handle),
            _ => {}
        }
        meeting
    }

    /// Calls on a team are not compared any more.
    pub(crate) fn distrust(&mut self, handle: i32) {
        if let Some(team) = self.teams.get_mut(&handle) {
            team.compared = false;
            self.is_unsure |= team.name != 0;
        }
    }

    fn split(&mut self, parent: i32, handle: i32, members: &Members, part: u32) {
        let Some(parent) = self.teams.get(&parent) else { return };
        let name = match parent.name {
            0 => 0,
            of => hashed((of, "split", parent.splits, part, members)),
        };
        let (members, compared) = (Arc::clone(members), parent.compared);
        self.teams.insert(handle, Team { name, members, entered: 0, splits: 0, compared });
    }

    fn forgets(&mut self, handle: i32) {
        if let Some(team) = self.teams.remove(&handle) {
            self.past.push((team.name, team.entered));
        }
    }

    /// NVSHMEM is finalized: what was allocated is no more.
    fn ends(&mut self) {
        let teams: Vec<_> = self.teams.keys().copied().collect();
        teams.into_iter().for_each(|team| self.forgets(team));
        self.heap = Heap::default();
        self.pe = None;
        self.ended = true;
    }

    /// Places that have allocated again and again what nobody has freed.
    fn leaks(&self, stacks: &Stacks, out: &mut dyn Findings) {
        for (count, site) in self.heap.left() {
            if out.again(Code::SymmetricNeverFreed, 0, site.pc) {
                continue;
            }
            let problem = format!("{count} allocations of this place are left");
            let operation = RawOperation::of(site.call.unwrap_or_default());
            let report = Report {
                argument: Some(RawArgument::new("", problem, None)),
                ..Report::new(Code::SymmetricNeverFreed, operation, [(Role::Operation, site)])
            };
            out.report(report, site.pc, stacks);
        }
    }

    /// Leaves an entry for other PEs, unless one of them has been first: that one's.
    fn meet(&mut self, key: u64, entry: &Entry, at: &mut At<'_>) -> Option<Entry> {
        let (rendezvous, me) = at.job?;
        let number = self.sites.number_of(&entry.site, at.stacks, at.out);
        match rendezvous.post(key, &to_words(entry, me, number)) {
            Posted::After(words) => from_words(&words),
            _ => None,
        }
    }

    fn report_mismatch(
        &self,
        handle: i32,
        number: u32,
        [own, first]: [&Entry; 2],
        at: &mut At<'_>,
    ) {
        let kinds = [own, first].map(|entry| entry.operation.kind());
        let code = match own.operation.is_of_memory() && kinds[0] == kinds[1] {
            true => Code::AllocationsDiffer,
            false => Code::NvshmemCollectivesDiffer,
        };
        if !at.out.again(code, own.site.pc, first.site.pc) {
            let members = self.teams.get(&handle).map(|team| team.members.len() as u32);
            let passed = [own, first]
                .map(|entry| (format!("{} as PE {}", entry.operation.describe(), entry.pe)).into());
            let on = on(handle).describe(members).into();
            let collective =
                RawCollective { on, number, passed: Some(passed), between_groups: false };
            let operation = RawOperation::of(first.operation.name());
            let sites = [(Role::Access, own.site), (Role::Operation, first.site)];
            let report =
                Report { collective: Some(collective), ..Report::new(code, operation, sites) };
            at.out.report(report, first.site.pc, at.stacks);
        }
        if let Some((rendezvous, _)) = at.job {
            rendezvous.count_mismatch();
        }
    }

    /// What this rank has called that others may need; `None` if that is too much, or not known.
    pub(crate) fn entered(&self) -> Option<Vec<(u64, u32)>> {
        let now = self.teams.values().map(|team| (team.name, team.entered));
        let all: Vec<_> = now.chain(self.past.iter().copied()).collect();
        (!self.is_unsure && all.len() <= MAX_ENTERED).then_some(all)
    }

    /// What is wrong with what a call passes.
    pub(crate) fn wrong(&self, uses: &Uses) -> Option<Wrong> {
        let none = |parameter, problem| Some(Wrong::new(Code::NoSuchPe, parameter, problem));
        let is_one_of = |pe: i32, pes: u32| u32::try_from(pe).is_ok_and(|pe| pe < pes);
        if matches!(uses, Uses::Outside) {
            let when = if self.ended { "after nvshmem_finalize" } else { "before nvshmem_init" };
            return Some(Wrong::new(Code::OutsideShmem, "", when));
        }
        let pes = self.pe?.pes;
        match *uses {
            Uses::Pe(pe) if !is_one_of(pe, pes) => {
                none("pe", format!("is {pe}, but PEs are 0 to {}", pes.saturating_sub(1)))
            }
            Uses::Root(root, pes) if !is_one_of(root, pes) => {
                let last = pes.saturating_sub(1);
                none("PE_root", format!("is {root}, but the team has PEs 0 to {last}"))
            }
            Uses::NoTeam(-1) => none("team", "is NVSHMEM_TEAM_INVALID".to_owned()),
            Uses::NoTeam(team) => none("team", format!("is {team}, which is no team")),
            Uses::Symmetric(parameter, at, ref span) => {
                self.wrong_address(parameter, at, span.clone())
            }
            Uses::Block(at) => self.wrong_block(at),
            Uses::Pe(_) | Uses::Root(..) | Uses::Outside => None,
        }
    }

    fn wrong_address(
        &self,
        parameter: &'static str,
        at: usize,
        span: Range<usize>,
    ) -> Option<Wrong> {
        let not = |problem: &str| Wrong::new(Code::NotSymmetric, parameter, problem);
        Some(match self.heap.fault(at, Some(span))? {
            Fault::Null => not("is a null pointer"),
            Fault::Beyond(problem, site) => {
                let wrong = Wrong::new(Code::BeyondSymmetric, parameter, problem);
                Wrong { site: Some(site), ..wrong }
            }
            Fault::Freed(site) => {
                Wrong { site: Some(site), ..not("points to memory that was freed") }
            }
            Fault::Unknown => {
                Wrong { unless: Some(at), ..not("does not point into memory of nvshmem_malloc") }
            }
        })
    }

    /// What is wrong with what a kernel accesses at a PE, by this PE's addresses; `other` is where
    /// the memory there was allocated, if it is any.
    pub(crate) fn wrong_in_kernel(
        &self,
        pe: i32,
        mode: Mode,
        bytes: &Range<usize>,
        other: Option<Site>,
    ) -> Option<Wrong> {
        let pes = self.pe?.pes;
        let verb = if mode.is_write() { "writes" } else { "reads" };
        let of = |code, problem: String, site| Wrong { site, ..Wrong::new(code, "", problem) };
        let accesses = format!("{verb} {} bytes at PE {pe}", bytes.len());
        if u32::try_from(pe).is_ok_and(|pe| pe < pes) {
            let beyond = self.heap.beside(bytes.start).filter(|_| other.is_none());
            if let Some((start, block)) = self.heap.block(bytes.start).or(beyond) {
                let (first, last) = (bytes.start - start, bytes.end - start - 1);
                let size = block.size;
                if last < size {
                    return None;
                }
                let problem = format!(
                    "{verb} bytes {first} to {last} at PE {pe} of a symmetric allocation of {size} bytes"
                );
                return Some(of(Code::BeyondSymmetric, problem, Some(block.site)));
            }
            let (by, site) = match (self.heap.freed_at(bytes.start), other) {
                _ if bytes.start == 0 => ("a null pointer".to_owned(), None),
                (_, Some(site)) => {
                    let call = site.call.unwrap_or("the program");
                    (format!("an address of memory of {call}, which is not symmetric"), Some(site))
                }
                (Some(site), None) => {
                    ("an address of memory that was freed".to_owned(), Some(site))
                }
                _ => ("an address that is not in memory of nvshmem_malloc".to_owned(), None),
            };
            return Some(of(Code::NotSymmetric, format!("{accesses} by {by}"), site));
        }
        let last = pes.saturating_sub(1);
        Some(of(Code::NoSuchPe, format!("{accesses}, but PEs are 0 to {last}"), None))
    }

    fn wrong_block(&self, at: usize) -> Option<Wrong> {
        let wrong = |problem: String, site| Wrong {
            site,
            ..Wrong::new(Code::SymmetricFreedWrongly, "ptr", problem)
        };
        Some(match self.heap.no_block(at)? {
            NoBlock::Inside(problem, site) => wrong(problem, Some(site)),
            NoBlock::Freed(site) => wrong("was freed before".to_owned(), Some(site)),
            NoBlock::Unknown => Wrong {
                unless: Some(at),
                ..wrong("was not returned by nvshmem_malloc".to_owned(), None)
            },
        })
    }
}

/// What a team is in words.
fn on(team: i32) -> On {
    if team == WORLD { On::AllPes } else { On::Team }
}

fn report_wrong(
    wrong: &Wrong,
    call: &'static str,
    place: &dyn Place,
    stacks: &mut Stacks,
    out: &mut dyn Findings,
) {
    // With the call that has allocated or freed the memory as a second site, where there is one.
    let offender = wrong.site.map_or(0, |_| place.pc());
    if out.again(wrong.code, offender, place.pc()) {
        return;
    }
    let site = place.site(Some(call), stacks);
    let of_memory = wrong.site.map(|site| (Role::Release, site));
    let sites: Vec<_> = [(Role::Operation, site)].into_iter().chain(of_memory).collect();
    let report = Report {
        argument: Some(RawArgument::new(wrong.parameter, &wrong.problem, None)),
        ..Report::new(wrong.code, RawOperation::of(call), sites)
    };
    out.report(report, site.pc, stacks);
}

fn to_words(entry: &Entry, me: u32, site: u32) -> [u64; ENTRY] {
    let mut words = [0; ENTRY];
    words[0] = u64::from(me) | u64::from(site) << 32;
    words[1] = entry.pe.into();
    words[2..4].copy_from_slice(&entry.operation.to_words());
    words
}

fn from_words(words: &[u64; ENTRY]) -> Option<Entry> {
    let operation = Operation::from_words([words[2], words[3]])?;
    let site = Site::remote(operation.name(), words[0] as u32, (words[0] >> 32) as u32);
    Some(Entry { operation, pe: words[1] as u32, site })
}
