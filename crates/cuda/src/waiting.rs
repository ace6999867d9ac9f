//! What the work of streams, and calls of the host, wait for: edges of the wait-for graph that lead
//! through devices.
//!
//! **Soundness.** Work does not end, and a call does not return, before all ranks that it needs
//! have called their part: the n-th collective of a communicator or team, or the other side of the
//! n-th message between two ranks. A rank counts as having called it from before the library is,
//! and for ever; what else is in the stream only adds to what is needed. What is not known, or
//! counted, of the calls of NCCL and of NVSHMEM, is for their modules to say.
//!
//! **Missed** are cycles among the work of devices when all hosts have called their part, such as
//! `ncclSend` before `ncclRecv` on both sides without a group; ranks that wait within a call of
//! NCCL or a blocking copy; and ranks that have ended.

use crate::gpu::Ticket;
use crate::work::StreamName;
use commsan_callsite::{Findings, Need, Site, StackId, Stacks};
use commsan_findings::record::Record;
use commsan_findings::{NeedKind, Role};
use commsan_job_shm::{ENTRY, Rendezvous};
use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Where ranks of a job meet, and this one.
pub type Ranks = (Rendezvous, u32);

/// Where ranks of the job meet, and this one; `None` if the job has no rendezvous, or does not
/// compare collectives.
pub type Job = Option<Ranks>;

/// Calls of this rank that others may need, at most.
pub const MAX_ENTERED: usize = 100;
/// Pieces of work that a host waits for, at most: those that come first.
const MAX_PENDING: usize = 8;
/// Work that is remembered before that which is over is forgotten.
const MAX_WORK: usize = 64;

/// The numbers, from `FIRST` on, by which other ranks refer to sites of this one.
#[derive(Debug, Default)]
pub(crate) struct SiteNumbers<const FIRST: u32>(FxHashMap<(StackId, u32), u32>);

impl<const FIRST: u32> SiteNumbers<FIRST> {
    /// The number of a site, which is written to the log when it is new.
    pub fn number_of(&mut self, site: &Site, stacks: &Stacks, out: &mut dyn Findings) -> u32 {
        let new = FIRST + self.0.len() as u32;
        *self.0.entry((site.stack, site.thread)).or_insert_with(|| {
            out.emit(Record::Site { id: new, site: (Role::Operation, *site) }, stacks);
            new
        })
    }
}

/// What a call of the host waits for.
#[derive(Clone, Copy, Debug)]
pub enum HostWait {
    /// All that is in a stream.
    Stream(StreamName),
    /// All that is in the streams of a device.
    Device(u32),
    /// What was in a stream when an event was recorded.
    Event(usize),
}

/// What ranks call together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// A communicator of NCCL.
    Communicator,
    /// All PEs of NVSHMEM.
    AllPes,
    /// A team of NVSHMEM.
    Team,
}

impl On {
    /// In words, with the number of members if it is known.
    pub fn describe(self, members: Option<u32>) -> String {
        let (what, each) = match self {
            On::Communicator => ("an NCCL communicator", "ranks"),
            On::AllPes => return "all PEs".to_owned(),
            On::Team => ("an NVSHMEM team", "PEs"),
        };
        members.map_or(what.to_owned(), |members| format!("{what} of {members} {each}"))
    }
}

/// Who else must call.
#[derive(Clone, Debug)]
pub(crate) enum Others {
    /// This one, by its number.
    One(u32),
    /// All of so many but this one.
    All { of: Option<u32>, but: Option<u32> },
    /// These, but for this process.
    Listed(Arc<[u32]>),
}

/// What a collective, or one side of a message, needs of other ranks.
#[derive(Clone, Debug)]
pub struct Meeting {
    /// What others call.
    pub(crate) call: &'static str,
    pub(crate) on: On,
    /// Members that there are, if that is known.
    pub(crate) members: Option<u32>,
    /// Whose numbers others are known by.
    pub(crate) group: u64,
    pub(crate) others: Others,
    /// What others count who have called their part.
    pub(crate) name: u64,
    pub(crate) number: u32,
}

/// What the host waits for.
#[derive(Clone, Debug)]
struct Waits {
    site: Site,
    needed: SmallVec<[(Meeting, Option<Site>); 1]>,
}

/// Work in flight that needs other ranks, and the host's wait.
#[derive(Default)]
pub(crate) struct Waiting {
    work: FxHashMap<Ticket, Meeting>,
    /// The thread's that waits, where it alone calls.
    host: Option<Waits>,
}

fn member(group: u64, number: u32) -> u64 {
    let mut hasher = FxHasher::default();
    ("member", group, number).hash(&mut hasher);
    // Keys of the rendezvous are not 0.
    hasher.finish() | 1
}

/// Other ranks find by which number in the job this process is a member of a group.
pub(crate) fn introduce(group: u64, number: Option<u32>, job: Job) {
    if let (Some((rendezvous, me)), Some(number)) = (job, number) {
        let mut entry = [0; ENTRY];
        entry[0] = me.into();
        rendezvous.post_here(member(group, number), &entry);
    }
}

impl Meeting {
    /// The ranks that must call; `None` if some are not known.
    fn ranks(&self, (rendezvous, me): Ranks) -> Option<Vec<u32>> {
        let rank_of = |number: u32| {
            let entry = rendezvous.find(member(self.group, number))?;
            Some(entry[0] as u32)
        };
        let mut ranks: Vec<u32> = match &self.others {
            Others::One(number) => vec![rank_of(*number)?],
            Others::All { of, but } => {
                let all = (0..(*of)?).filter(|number| Some(*number) != *but);
                all.map(rank_of).collect::<Option<_>>()?
            }
            Others::Listed(all) => all.iter().copied().map(rank_of).collect::<Option<_>>()?,
        };
        ranks.retain(|rank| *rank != me);
        ranks.sort_unstable();
        ranks.dedup();
        Some(ranks)
    }
}

impl Waiting {
    /// Work in a stream needs other ranks. `is_live` says whether some is in flight.
    pub fn in_stream(
        &mut self,
        ticket: Ticket,
        meeting: Meeting,
        is_live: impl Fn(Ticket) -> bool,
    ) {
        if self.work.len() >= MAX_WORK && self.work.len().is_power_of_two() {
            self.work.retain(|ticket, _| is_live(*ticket));
        }
        self.work.insert(ticket, meeting);
    }

    /// Whether some work in flight may need other ranks.
    pub fn has_work(&self) -> bool {
        !self.work.is_empty()
    }

    /// The host is about to wait at a site for work in flight, of which the tickets and sites are
    /// given in their order. Returns whether some of it needs other ranks.
    pub fn host_waits(
        &mut self,
        site: Site,
        flights: impl Iterator<Item = (Ticket, Site)>,
    ) -> bool {
        let of = |(ticket, site)| Some((self.work.get(&ticket)?.clone(), Some(site)));
        let needed: SmallVec<_> = flights.filter_map(of).take(MAX_PENDING).collect();
        let some = !needed.is_empty();
        self.host = some.then_some(Waits { site, needed });
        some
    }

    /// The host is about to call at a site what needs other ranks; nobody knows which if that is
    /// `None`.
    pub fn host_calls(&mut self, site: Site, meeting: Option<Meeting>) {
        let needed = meeting.into_iter().map(|meeting| (meeting, None)).collect();
        self.host = Some(Waits { site, needed });
    }

    /// The host does not wait any more.
    pub fn host_goes_on(&mut self) {
        self.host = None;
    }

    /// What other ranks must call for the host to go on; `None` if it does not wait.
    pub fn needs(&self, job: Ranks, from: &Stacks, to: &mut Stacks) -> Option<(Site, Vec<Need>)> {
        let waits = self.host.as_ref()?;
        let mut needs = Vec::new();
        for (meeting, site) in &waits.needed {
            let ranks = meeting.ranks(job)?;
            if ranks.is_empty() {
                continue;
            }
            needs.push(Need {
                kind: NeedKind::Collective,
                call: meeting.call.into(),
                site: site.map(|site| (Role::Operation, to.adopt(site, from))),
                ranks: ranks.into(),
                tag: None,
                on: meeting.on.describe(meeting.members).into(),
                name: meeting.name,
                number: meeting.number,
            });
        }
        Some((to.adopt(waits.site, from), needs))
    }
}
