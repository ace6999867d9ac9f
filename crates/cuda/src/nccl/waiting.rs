//! What the work of streams waits for: edges of the wait-for graph that lead through devices.
//!
//! **Soundness.** Work does not end before all ranks that it needs have called their part: the
//! n-th collective of a communicator, or the other side of the n-th message between two ranks. A
//! rank counts as having called it from before the library is, and for ever; what else is in the
//! stream only adds to what is needed. Nothing is sure where some calls are not counted, as those
//! of a communicator that is not compared any more, where ranks are not known by their numbers in
//! the job, or functions of the host are in streams, which may call anything.
//!
//! **Missed** are cycles among the work of devices when all hosts have called their part, such as
//! `ncclSend` before `ncclRecv` on both sides without a group; ranks that wait within a call of
//! NCCL or a blocking copy; and ranks that have ended.

use super::operation::Kind;
use super::{Job, Nccl, Ranks, hashed};
use crate::gpu::Ticket;
use crate::work::StreamName;
use commsan_callsite::{Need, Site, Stacks};
use commsan_findings::{NeedKind, Role};
use commsan_job_shm::ENTRY;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Calls of this rank that others may need, at most.
const MAX_ENTERED: usize = 100;
/// Pieces of work that a host waits for, at most: those that come first.
const MAX_PENDING: usize = 8;
/// Work that is remembered before that which is over is forgotten.
const MAX_WORK: usize = 64;

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

/// What a collective, or one side of a message, needs of other ranks.
#[derive(Clone, Copy, Debug)]
pub struct Meeting {
    pub(super) kind: Kind,
    /// The communicator's name.
    pub(super) communicator: u64,
    /// What others count who have called their part.
    pub(super) name: u64,
    pub(super) number: u32,
    pub(super) rank: Option<u32>,
    pub(super) ranks: Option<u32>,
    /// The other side of a message.
    pub(super) peer: Option<i32>,
}

/// What the host waits for.
#[derive(Clone, Debug)]
struct Waits {
    site: Site,
    needed: SmallVec<[(Meeting, Site); 2]>,
}

/// What is known of waits.
#[derive(Default)]
pub(super) struct Waiting {
    /// Work in flight that needs other ranks.
    work: FxHashMap<Ticket, Meeting>,
    /// The thread's that waits, where it alone calls.
    host: Option<Waits>,
    /// What was called on communicators that are destroyed.
    past: Vec<(u64, u32)>,
    /// Some calls were not counted.
    pub(super) is_unsure: bool,
}

/// Which messages a rank has sent or received, as the other side knows them.
pub(super) fn messages(communicator: u64, kind: Kind, from: i32, to: i32) -> u64 {
    hashed((communicator, kind, from, to))
}

fn member(communicator: u64, rank: u32) -> u64 {
    hashed((communicator, "member", rank))
}

impl Nccl {
    /// Work in a stream needs other ranks. `is_live` says whether some is in flight.
    pub(crate) fn in_stream(
        &mut self,
        ticket: Ticket,
        meeting: Meeting,
        is_live: impl Fn(Ticket) -> bool,
    ) {
        let work = &mut self.waiting.work;
        if work.len() >= MAX_WORK && work.len().is_power_of_two() {
            work.retain(|ticket, _| is_live(*ticket));
        }
        work.insert(ticket, meeting);
    }

    /// Whether some work in flight may need other ranks.
    pub(crate) fn has_work(&self) -> bool {
        !self.waiting.work.is_empty()
    }

    /// The host is about to wait at a site for work in flight, of which the tickets and sites are
    /// given in their order. Returns whether some of it needs other ranks.
    pub(crate) fn host_waits(
        &mut self,
        site: Site,
        flights: impl Iterator<Item = (Ticket, Site)>,
    ) -> bool {
        let of = |(ticket, site)| self.waiting.work.get(&ticket).map(|meeting| (*meeting, site));
        let needed: SmallVec<_> = flights.filter_map(of).take(MAX_PENDING).collect();
        let some = !needed.is_empty();
        self.waiting.host = some.then_some(Waits { site, needed });
        some
    }

    /// The host does not wait any more.
    pub(crate) fn host_goes_on(&mut self) {
        self.waiting.host = None;
    }

    /// Other ranks find by which number in the job this process is a rank of a communicator.
    pub(super) fn introduce(&self, communicator: u64, rank: Option<u32>, job: Job) {
        if let (Some((rendezvous, me)), Some(rank)) = (job, rank) {
            let mut entry = [0; ENTRY];
            entry[0] = me.into();
            rendezvous.post_here(member(communicator, rank), &entry);
        }
    }

    /// A communicator is no more.
    pub(super) fn keep_past(&mut self, handle: usize) {
        let calls: Vec<_> = self.calls_on(handle).collect();
        self.waiting.past.extend(calls);
    }

    fn calls_on(&self, handle: usize) -> impl Iterator<Item = (u64, u32)> {
        self.all.get(&handle).filter(|known| known.name != 0).into_iter().flat_map(|known| {
            let own = known.rank.map_or(-1, |rank| rank as i32);
            let messages = known.messages.iter().map(move |((kind, peer), number)| {
                let (from, to) = if *kind == Kind::Send { (own, *peer) } else { (*peer, own) };
                (messages(known.name, *kind, from, to), *number)
            });
            messages.chain([(known.name, known.entered)])
        })
    }

    /// What this rank has called that others may need; `None` if that is too much, or not known.
    pub(crate) fn entered(&self) -> Option<Vec<(u64, u32)>> {
        let now = self.all.keys().flat_map(|handle| self.calls_on(*handle));
        let mut all: FxHashMap<u64, u32> = FxHashMap::default();
        for (name, number) in now.chain(self.waiting.past.iter().copied()) {
            // A process that drives several devices has called what all of them have.
            all.entry(name).and_modify(|least| *least = number.min(*least)).or_insert(number);
        }
        let is_known = !self.waiting.is_unsure && all.len() <= MAX_ENTERED;
        is_known.then(|| all.into_iter().collect())
    }

    /// What other ranks must call for the host to go on; `None` if it does not wait for work.
    pub(crate) fn needs(
        &self,
        (rendezvous, me): Ranks,
        from: &Stacks,
        to: &mut Stacks,
    ) -> Option<(Site, Vec<Need>)> {
        let waits = self.waiting.host.as_ref()?;
        let mut needs = Vec::new();
        for (meeting, site) in &waits.needed {
            let count = meeting.ranks?;
            let rank_of = |rank: u32| {
                let entry = rendezvous.find(member(meeting.communicator, rank))?;
                Some(entry[0] as u32)
            };
            let mut ranks: Vec<u32> = match meeting.peer {
                Some(peer) => vec![rank_of(peer.try_into().ok()?)?],
                None => (0..count)
                    .filter(|rank| Some(*rank) != meeting.rank)
                    .map(rank_of)
                    .collect::<Option<_>>()?,
            };
            ranks.retain(|rank| *rank != me);
            ranks.sort_unstable();
            ranks.dedup();
            if ranks.is_empty() {
                continue;
            }
            needs.push(Need {
                kind: NeedKind::Collective,
                call: meeting.kind.counterpart().name().into(),
                site: Some((Role::Operation, to.adopt(*site, from))),
                ranks: ranks.into(),
                tag: None,
                on: format!("an NCCL communicator of {count} ranks").into(),
                name: meeting.name,
                number: meeting.number,
            });
        }
        Some((to.adopt(waits.site, from), needs))
    }
}
