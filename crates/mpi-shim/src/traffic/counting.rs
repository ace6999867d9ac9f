//! Adds up transfers: which row of counts each belongs to.

use super::{Described, InOrder};
use commsan_callsite::StackId;
use commsan_counters::{Amount, Identity, Key, MAX_STEPS, Partner, Step, Traffic, User};
use commsan_mpi::transfers::{Peers, Transfer, TransferKind};
use commsan_rundir::events::Part;
use commsan_rundir::traffic::{End, Kind, Memory, Place, Side};
use commsan_shadow::Footprint;
use commsan_threads::Here;
use smallvec::SmallVec;

/// Messages of a call.
pub(super) type Parts = SmallVec<[Part; 4]>;

/// With what is counted at hand.
pub(super) struct Counting<'a> {
    pub(super) traffic: &'a mut Traffic,
    pub(super) here: &'a Here<'a>,
    pub(super) me: u32,
    pub(super) call: u32,
    pub(super) stack: StackId,
    pub(super) time: u64,
    /// What has been added, as far as that can be done again.
    pub(super) steps: Option<SmallVec<[Step; MAX_STEPS]>>,
    /// What the call's event has to say of each.
    pub(super) parts: Parts,
}

/// With whom a call communicates: only one can be told.
pub(super) fn partner(traffic: &Traffic, all: &[Described]) -> Partner {
    let [described] = all else { return Partner::default() };
    let group = described.group.or_else(|| traffic.group_of(described.handle?));
    let peer = |transfer: &Transfer| match (transfer.peers, group) {
        (Peers::One(rank), Some(group)) => {
            traffic.members(group).get(usize::try_from(rank).ok()?).copied()
        }
        _ => None,
    };
    let mut peers = described.transfers.iter().map(peer);
    let first = peers.next().flatten();
    Partner { group, peer: first.filter(|first| peers.all(|peer| peer == Some(*first))) }
}

impl Counting<'_> {
    pub(super) fn add(&mut self, described: &Described) {
        let group = described.group.or_else(|| self.traffic.group_of(described.handle?));
        for transfer in &described.transfers {
            self.add_transfer(described, transfer, group);
        }
    }

    fn add_transfer(&mut self, described: &Described, transfer: &Transfer, group: Option<u32>) {
        let (call, stack) = described.begun.unwrap_or((self.call, self.stack));
        let here = Place::Rank(self.me);
        let own = transfer.footprint.span().start;
        let own = self.traffic.object_at(own, self.here);
        let there = self.end(described, transfer, group);
        let remote = self.window(described, there);
        let (source, target) =
            if transfer.sends { (End::At(here), there) } else { (there, End::At(here)) };
        let side = match (described.kind, transfer.sends) {
            (TransferKind::OneSided | TransferKind::File, _) => Side::Both,
            (_, true) => Side::Source,
            (_, false) => Side::Target,
        };
        let own_part = own.map(|(object, base)| (object, (base, &transfer.footprint)));
        // Where one process sees both ends, they are the source and the target.
        let (first, second) = match side == Side::Both && !transfer.sends {
            true => (remote, own_part),
            false => (own_part, remote),
        };
        let key = Key {
            kind: match described.kind {
                TransferKind::PointToPoint => Kind::PointToPoint,
                TransferKind::Collective => Kind::Collective,
                TransferKind::OneSided => Kind::Rma,
                TransferKind::File if transfer.sends => Kind::FileWrite,
                TransferKind::File => Kind::FileRead,
            },
            call,
            path: stack.into(),
            side,
            source,
            target,
            group,
            tag: transfer.tag,
            object: first.map(|(object, _)| object),
            other: second.map(|(object, _)| object),
            region: self.traffic.region(),
        };
        let parts = (first.map(|(_, part)| part), second.map(|(_, part)| part));
        let amount = Amount::one(transfer.bytes);
        let row = self.traffic.record_transfer(self.time, key, amount, parts.0, parts.1);
        let channel = self.in_order(described.order, &key, row);
        if self.traffic.has_events() {
            let known = channel.map(|(channel, _)| channel);
            self.parts.push(self.traffic.part_of(known, transfer.bytes));
        }
        let step = match (row, &transfer.footprint, side) {
            (Some(row), Footprint::Dense(range), Side::Source | Side::Target) => {
                // In memory that was allocated, or in a variable that is known by now.
                let memory = (range.start, self.traffic.objects.at(range.start));
                let size = range.len() as u64;
                (memory.1 == own).then_some(Step {
                    row,
                    bytes: transfer.bytes,
                    memory,
                    size,
                    channel,
                })
            }
            _ => None,
        };
        match (step, &mut self.steps) {
            (Some(step), Some(steps)) => steps.push(step),
            _ => self.steps = None,
        }
    }

    /// Gives a message its number in the matching order, if that is known. Returns its channel and
    /// the communicator.
    fn in_order(&mut self, order: InOrder, key: &Key, row: Option<u32>) -> Option<(u32, usize)> {
        let comm = match order {
            InOrder::Starts(comm) => comm.unwrap_or_default(),
            InOrder::Taken => 0,
            InOrder::Apart => return None,
        };
        let user = User { comm, thread: self.here.thread.number(), time: self.time };
        let is_known = key.tag.is_some()
            && matches!(
                (key.source, key.target),
                (End::At(Place::Rank(_)), End::At(Place::Rank(_)))
            );
        let channel = self.traffic.channel(key, user).filter(|_| is_known);
        match (channel, key.side) {
            (Some(channel), _) if order != InOrder::Taken => {
                self.traffic.record_message(channel, row, user);
                return Some((channel, comm));
            }
            (Some(channel), _) => self.traffic.lose_order(channel),
            // It may be any sender's.
            (None, Side::Target) if !is_known => self.traffic.lose_receive_order(key.group),
            (None, _) => {}
        }
        None
    }

    /// The remote end of a transfer.
    fn end(&mut self, described: &Described, transfer: &Transfer, group: Option<u32>) -> End {
        let unknown = End::At(Place::Unknown);
        match (transfer.peers, group) {
            (Peers::One(rank), Some(group)) => {
                let members = self.traffic.members(group);
                let member = usize::try_from(rank).ok().and_then(|rank| members.get(rank));
                End::At(member.copied().unwrap_or(Place::Unknown))
            }
            (Peers::File, _) => {
                let name = described.file.as_deref().unwrap_or("files");
                End::At(Place::File(self.traffic.strings.number(name)))
            }
            (Peers::Others, Some(group)) => End::Others(group),
            (Peers::Above, Some(group)) => End::Above(group),
            (Peers::Below, Some(group)) => End::Below(group),
            _ => unknown,
        }
    }

    /// The memory at the target of a one-sided operation: the window, by who has made it.
    fn window<'d>(
        &mut self,
        described: &'d Described,
        there: End,
    ) -> Option<(u32, (usize, &'d Footprint))> {
        let (window, footprint) = described.window.as_ref()?;
        let End::At(place) = there else { return None };
        let identity = Identity {
            memory: Memory::Window,
            place,
            stack: window.stack,
            call: Some(window.call),
            name: None,
        };
        let object = self.traffic.objects.number(identity)?;
        Some((object, (0, footprint)))
    }
}
