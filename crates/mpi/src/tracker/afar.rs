//! What other ranks do to this one's windows, and what orders it.

use super::{Operation, Tracker};
use crate::calls::{CALLS, Call, Flow};
use crate::place::{Findings, Place, Report, Side, Site, StackId, Stacks};
use crate::requests::Token;
use crate::rma::clock::Clock;
use crate::rma::notice::{Announced, Epoch, Notice, Which};
use crate::rma::order::{Channel, Collective, Collectives, Envelope, Expected, Messages};
use crate::rma::remote::{Meeting, Remote, Remotes};
use crate::rma::windows::{Active, Granted, Group, Held, Window, Windows, mixed};
use commsan_engine::{Access, Exposed, Footprint, Mode, OpId, Pages, Past, Shadow};
use commsan_fabric::{Fabric, LONGEST};
use commsan_model::{Code, Role};
use std::collections::HashMap;
use std::ops::{ControlFlow, Range};

/// Everything about one-sided communication.
pub(super) struct OneSided {
    pub windows: Windows,
    pub remotes: Remotes,
    /// `None` where ranks cannot tell each other anything: then only the origin's side is checked.
    pub clock: Option<Clock>,
    pub outbox: Outbox,
    pub exposed: Option<Exposed>,
    /// Announced operations of epochs this process has not come to yet.
    pub stashed: Vec<Announced>,
    /// Numbers of places that other ranks may refer to.
    pub sites: HashMap<(StackId, &'static str), u32>,
    /// Segments in which each origin has ended access epochs on each window.
    completions: HashMap<(u64, u32), Vec<u32>>,
    exposures: HashMap<(u64, u32), Vec<u32>>,
    messages: Messages,
    collectives: Collectives,
    /// What requests will order when they complete, by handle.
    expected: HashMap<usize, Vec<Learning>>,
    /// What persistent requests do, by handle.
    templates: HashMap<usize, Vec<Template>>,
    /// The segment in which operations that are just being completed last used their buffers, if
    /// not the present one.
    pub noted_as_of: Option<u32>,
    /// R-versions that only read, by what they use locally: their targets, windows and numbers.
    pub reads: HashMap<OpId, (u32, u64, u32)>,
    /// Up to where each rank's notices are worth nothing.
    lost: HashMap<u32, u64>,
    losses: u64,
    /// Operations announced so far.
    pub announced: u32,
    /// Another rank is about to write a notice, and those behind it are not taken in time.
    pub late: bool,
    /// Something could not be told or noted.
    pub incomplete: bool,
}

/// What the shadow knows a call of the table by; smaller values are addresses of names.
const CALL: usize = 1 << 63;

/// Sends notices.
pub(super) struct Outbox;

impl Outbox {
    pub fn send(&self, clock: &Clock, rank: u32, notice: &Notice) -> bool {
        notice.encode(LONGEST, |words| clock.fabric().post(rank as usize, words))
    }
}

/// What a call, or each start of a request, does that orders ranks.
#[derive(Clone, Debug)]
pub enum Template {
    /// Sends a message.
    Send {
        /// The communicator.
        group: Group,
        /// Its handle.
        comm: usize,
        /// Rank in it.
        dest: i32,
        /// Its tag.
        tag: i32,
        /// Whether it waits for the receive.
        synchronous: bool,
    },
    /// Receives a message.
    Receive(Envelope),
    /// Is a collective.
    Collective {
        /// The communicator.
        group: Group,
        /// Who learns from whom.
        flow: Flow,
        /// Rank in it.
        root: i32,
        /// Ranks in it, for neighbourhood collectives.
        sources: Vec<i32>,
    },
}

/// What the completion of a request teaches.
#[derive(Clone, Debug)]
pub enum Learning {
    /// Of a message that was received.
    Message(Envelope, Expected),
    /// Of a synchronous send: the receiver has got to its receive.
    Received(u32),
    /// Of a collective.
    Collective(Collective),
}

impl OneSided {
    pub fn new(pages: Pages) -> OneSided {
        OneSided {
            windows: Windows::default(),
            remotes: Remotes::new(pages),
            clock: None,
            outbox: Outbox,
            exposed: None,
            stashed: Vec::new(),
            sites: HashMap::new(),
            completions: HashMap::new(),
            exposures: HashMap::new(),
            messages: Messages::default(),
            collectives: Collectives::default(),
            expected: HashMap::new(),
            templates: HashMap::new(),
            noted_as_of: None,
            reads: HashMap::new(),
            lost: HashMap::new(),
            losses: 0,
            announced: 0,
            late: false,
            incomplete: false,
        }
    }
}

impl Tracker {
    /// Ranks can tell each other about order and operations from now on.
    pub fn connect(&mut self, fabric: Fabric) {
        self.rma.clock = Some(Clock::new(fabric));
    }

    /// Accesses to window memory can be noted here.
    pub fn note_accesses_in(&mut self, shadow: Shadow) {
        self.rma.exposed = Some(Exposed::new(self.pages, shadow));
        self.set_segment();
    }

    /// Others cannot be relied upon, or this rank not by them.
    pub fn disconnect(&mut self) {
        if let Some(clock) = self.rma.clock.take() {
            clock.fabric().switch_off();
            self.rma.incomplete = true;
            let names: Vec<u64> = self.rma.windows.iter().map(|window| window.name).collect();
            names.into_iter().for_each(|name| self.rma.remotes.close(name));
        }
    }

    /// Whether order between ranks is of interest.
    pub fn is_connected(&self) -> bool {
        self.rma.clock.is_some()
    }

    /// Whether something was lost that could have shown a race.
    pub fn has_gaps(&self) -> bool {
        self.rma.incomplete || self.rma.remotes.dropped > 0
    }

    pub(super) fn end_segment(&mut self) -> u32 {
        let ended = self.rma.clock.as_mut().map_or(0, Clock::end_segment);
        self.set_segment();
        ended
    }

    fn set_segment(&self) {
        if let (Some(exposed), Some(clock)) = (&self.rma.exposed, &self.rma.clock) {
            exposed.shadow().set_segment(clock.segment());
        }
    }

    /// This process has learned something: looks for what it has now come after.
    fn learned(&mut self, place: &impl Place, out: &mut dyn Findings) {
        self.drain(place, out);
        if let Some(clock) = &self.rma.clock {
            self.rma.remotes.learn(clock);
        }
        self.end_segment();
    }

    /// Takes all notices.
    pub fn drain(&mut self, place: &impl Place, out: &mut dyn Findings) {
        if self.rma.clock.as_ref().is_some_and(|clock| clock.fabric().is_off()) {
            self.disconnect();
        }
        let mut words = Vec::new();
        while let Some(position) = self.rma.clock.as_ref().and_then(|c| c.fabric().take(&mut words))
        {
            match Notice::decode(&words) {
                Some(Notice::Operation(op)) if self.is_lost(op.origin, position) => {}
                Some(Notice::Operation(op)) if self.has_come_to(&op) => {
                    self.arrived_from_afar(&op, place, out);
                }
                Some(Notice::Operation(op)) => self.rma.stashed.push(*op),
                Some(Notice::Complete { window, origin, segment, which }) => {
                    self.completed_afar(window, origin, segment, which);
                }
                Some(Notice::Message { origin: source, tag, comm, handle, segment }) => {
                    self.rma.messages.sent(Channel { source, tag, comm }, handle, segment);
                }
                Some(Notice::Exposed { window, target, segment }) => {
                    self.rma.exposures.entry((window, target)).or_default().push(segment);
                }
                Some(Notice::Attached { window, owner, bytes, attached }) => {
                    self.rma.windows.attached(window, owner, bytes, attached);
                }
                None => self.rma.incomplete = true,
            }
        }
        self.look_for_losses();
        self.rma.late = self.rma.clock.as_ref().is_some_and(|clock| clock.fabric().has_notice());
    }

    /// Whether what a rank told at a position of the ring is worth nothing, as it could not tell
    /// something else. It may have been the completion of any operation, or what orders others.
    fn is_lost(&mut self, rank: u32, position: u64) -> bool {
        self.look_for_losses();
        self.rma.clock.as_ref().is_none_or(|clock| position < clock.fabric().lost(rank as usize))
    }

    fn look_for_losses(&mut self) {
        let rma = &mut self.rma;
        let Some(clock) = &mut rma.clock else { return };
        let losses = clock.fabric().losses();
        if losses == rma.losses {
            return;
        }
        rma.losses = losses;
        rma.incomplete = true;
        for rank in 0..clock.row().len() as u32 {
            let lost = clock.fabric().lost(rank as usize);
            if rma.lost.insert(rank, lost).unwrap_or(0) < lost {
                clock.join_newest(rank);
                rma.remotes.forget_origin(rank);
                rma.stashed.retain(|op| op.origin != rank);
            }
        }
    }

    /// Whether this process has opened the epoch in which an operation happens.
    fn has_come_to(&self, op: &Announced) -> bool {
        let Some(window) = self.rma.windows.named(op.window) else { return false };
        match op.epoch {
            Epoch::Fence(n) => window.fences.len() >= n as usize,
            Epoch::Start(n) => window.granted.get(&op.origin).is_some_and(|g| g.count >= n),
            _ => true,
        }
    }

    fn unstash(&mut self, place: &impl Place, out: &mut dyn Findings) {
        let stashed = std::mem::take(&mut self.rma.stashed);
        let (ready, rest) = stashed.into_iter().partition(|op| self.has_come_to(op));
        self.rma.stashed = rest;
        let ready: Vec<Announced> = ready;
        ready.iter().for_each(|op| self.arrived_from_afar(op, place, out));
    }

    fn completed_afar(&mut self, window: u64, origin: u32, segment: u32, which: Which) {
        let rma = &mut self.rma;
        if which == Which::Epoch {
            rma.completions.entry((window, origin)).or_default().push(segment);
        }
        rma.remotes.complete(window, origin, which, (origin, segment));
        if let Some(clock) = &rma.clock {
            rma.remotes.learn(clock);
        }
    }

    /// An operation of another rank, or of this one, touches window memory from now on.
    fn arrived_from_afar(&mut self, op: &Announced, place: &impl Place, out: &mut dyn Findings) {
        let Some(call) = CALLS.get(op.call as usize) else { return };
        let Some(window) = self.rma.windows.named(op.window) else { return };
        let Some(clock) = &self.rma.clock else { return };
        let me = clock.me() as usize;
        let mut row = vec![0; clock.row().len()];
        clock.fabric().join(op.origin as usize, op.segment, &mut row);
        // It cannot happen before the target has made the window and opened the epoch.
        let opened = match op.epoch {
            Epoch::Fence(n) => window.fences.get((n as usize).wrapping_sub(1)).copied(),
            Epoch::Start(_) => window.granted.get(&op.origin).map(|granted| granted.segment),
            _ => None,
        };
        row[me] = row[me].max(window.since).max(opened.unwrap_or(0));
        let footprint = Footprint::new(window.made.base, op.runs.pattern());
        let access = Access { mode: op.mode, footprint };
        let number = window.number;

        let meetings = self.rma.remotes.meetings(op, &row, &access.footprint);
        for meeting in meetings {
            let side = Side { by: &call.name, mode: op.mode, bytes: meeting.bytes.clone() };
            let site = Site::afar(&call.name, op.origin, op.site);
            self.report_meeting(Code::TargetRace, side, site, &meeting, number, out);
        }
        self.meets_own_operations(op, call, &access, out);
        self.meets_own_past(op, call, &access, row[me], place, out);
        self.rma.remotes.begin(op, call, &row, access.footprint);
    }

    /// Against buffers of this rank's pending operations.
    fn meets_own_operations(
        &mut self,
        op: &Announced,
        call: &'static Call,
        access: &Access,
        out: &mut dyn Findings,
    ) {
        let Some(conflicts) = self.conflicts(access) else { return };
        let Some(window) = self.rma.windows.named(op.window) else { return };
        if window.is_locked(op.epoch, op.origin) {
            return; // these are under the lock, too
        }
        let window = window.number;
        for conflict in conflicts.into_iter().flatten() {
            let Some(own) = self.live.get(conflict.id) else { continue };
            let (by, site, bytes) = (own.call.name.as_str(), own.site, conflict.bytes);
            let side = Side { by, mode: conflict.mode, bytes: bytes.clone() };
            let first = Remote::new(op, call);
            let meeting = Meeting { first, access: access.clone(), bytes };
            self.report_meeting(Code::WindowAccessRace, side, site, &meeting, window, out);
        }
    }

    /// Against what this rank has done before, as of the last time the origin knows of.
    fn meets_own_past(
        &mut self,
        op: &Announced,
        call: &'static Call,
        access: &Access,
        known: u32,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let Some(exposed) = self.rma.exposed.as_ref().filter(|_| !self.rma.late) else { return };
        let Some(window) = self.rma.windows.named(op.window) else { return };
        let number = window.number;
        let mut found: Vec<(Past, Range<usize>)> = Vec::new();
        let span = access.footprint.span();
        let _ = access.footprint.visit::<()>(&span, &mut |run| {
            exposed.shadow().conflicts(&run, op.mode, |past, bytes| {
                let told = found.iter().any(|(other, _)| other.pc == past.pc);
                if past.segment > known
                    && !told
                    && !window.was_locked(past.segment, op.epoch, op.origin)
                {
                    found.push((past, bytes));
                }
                found.len() < 8
            });
            match found.len() < 8 {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        });
        for (past, bytes) in found {
            let stack = self.stacks.intern(&[past.pc]);
            let call_of = past.by.checked_sub(CALL).map(|row| CALLS[row].name.as_str());
            let by = call_of.or_else(|| place.name_at(past.by));
            let site = Site { call: call_of, thread: 0, stack, pc: past.pc, afar: None };
            let plain = if past.mode == Mode::Write { "store" } else { "load" };
            let side = Side { by: by.unwrap_or(plain), mode: past.mode, bytes: bytes.clone() };
            let meeting = Meeting { first: Remote::new(op, call), access: access.clone(), bytes };
            self.report_meeting(Code::WindowAccessRace, side, site, &meeting, number, out);
        }
    }

    /// An access of this rank to window memory.
    pub(super) fn meets_remotes(
        &mut self,
        by: &str,
        call: Option<&'static str>,
        access: &Access,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        if self.rma.remotes.ranges() == 0 || self.rma.remotes.met_by(access).is_empty() {
            return;
        }
        self.drain(place, out);
        if self.rma.late {
            return; // the end of these may be among the notices that are still to come
        }
        for meeting in self.rma.remotes.met_by(access) {
            let Some(window) = self.rma.windows.named(meeting.first.window) else { continue };
            if window.is_locked(meeting.first.epoch, meeting.first.origin) {
                continue;
            }
            let number = window.number;
            let side = Side { by, mode: access.mode, bytes: meeting.bytes.clone() };
            let site = place.site(call, &mut self.stacks);
            self.report_meeting(Code::WindowAccessRace, side, site, &meeting, number, out);
        }
    }

    /// Notes what a call of this rank did to window memory.
    pub(super) fn note(
        &self,
        access: &Access,
        call: &'static Call,
        pc: usize,
        segment: Option<u32>,
    ) {
        let Some(exposed) = &self.rma.exposed else { return };
        let segment = segment.unwrap_or_else(|| exposed.shadow().segment());
        if !exposed.touches(&access.footprint.span()) {
            return;
        }
        let by = CALL + crate::calls::row(call) as usize;
        let _ = access.footprint.visit::<()>(&access.footprint.span(), &mut |run| {
            exposed.shadow().record_at(segment, run, access.mode, pc, by);
            ControlFlow::Continue(())
        });
    }

    fn report_meeting(
        &mut self,
        code: Code,
        side: Side,
        site: Site,
        meeting: &Meeting,
        window: u32,
        out: &mut dyn Findings,
    ) {
        if self.rma.clock.as_ref().is_none_or(|clock| clock.fabric().is_off()) {
            return;
        }
        let Remote { call, origin, site: number, .. } = meeting.first;
        let first = Site::afar(&call.name, origin, number);
        if out.again(code, site.pc, first.pc) {
            return;
        }
        let made = self.rma.windows.iter().find(|w| w.number == window).map(|w| &w.made);
        let operation = Operation {
            peer: made.and_then(|made| made.own).map(|rank| rank as i32),
            window: Some(window),
            base: made.filter(|made| !made.dynamic).map(|made| made.base),
            ..Operation::at(call, first)
        };
        let footprint = &meeting.access.footprint;
        let report = Report {
            code,
            access: Some(side),
            operation: &operation,
            concerned: Some((meeting.access.mode, footprint.span(), footprint.bytes())),
            sites: &[(Role::Access, site), (Role::Operation, first)],
        };
        out.report(&report, &self.stacks);
    }

    // Fences, exposures, locks.

    pub(super) fn enter_fence(&mut self, handle: usize) {
        self.tell_complete(handle, None, Which::All);
        let segment = self.end_segment();
        let rma = &mut self.rma;
        let Some(window) = rma.windows.get_mut(handle) else { return };
        window.fences.push(segment);
        window.ended = Some(segment);
        if let Some(clock) = &rma.clock {
            clock.fabric().enter(fence_key(window), segment);
        }
    }

    pub(super) fn leave_fence(
        &mut self,
        handle: usize,
        fence: Option<Site>,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let Some(window) = self.rma.windows.get_mut(handle) else { return };
        window.fence = fence;
        window.used = false;
        let (key, group) = (fence_key(window), window.made.group.clone());
        self.unstash(place, out);
        let me = self.rma.clock.as_ref().map_or(0, Clock::me);
        let others: Vec<u32> = group.members.iter().copied().filter(|rank| *rank != me).collect();
        self.learn_of_collective(key, &group, &others, true, place, out);
        self.unstash(place, out);
    }

    pub(super) fn expose(&mut self, handle: usize, active: Active) {
        let segment = self.end_segment();
        let rma = &mut self.rma;
        let Some(window) = rma.windows.get_mut(handle) else { return };
        for origin in &active.ranks {
            let granted = window.granted.entry(*origin).or_default();
            *granted = Granted { count: granted.count + 1, segment };
            if let Some(clock) = &rma.clock {
                let notice = Notice::Exposed { window: window.name, target: clock.me(), segment };
                rma.incomplete |= !rma.outbox.send(clock, *origin, &notice);
            }
        }
        window.exposure = Some(active);
        window.fence = None;
    }

    /// The targets of an access epoch have exposed their windows.
    pub(super) fn join_exposures(
        &mut self,
        handle: usize,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        self.drain(place, out);
        let rma = &mut self.rma;
        let (Some(window), Some(clock)) = (rma.windows.get(handle), &mut rma.clock) else { return };
        let Some(access) = &window.access else { return };
        for rank in &access.ranks {
            for segment in rma.exposures.remove(&(window.name, *rank)).unwrap_or_default() {
                clock.join(*rank, segment);
            }
        }
        self.learned(place, out);
    }

    pub(super) fn close_exposure(
        &mut self,
        handle: usize,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        self.unstash(place, out);
        self.drain(place, out);
        let rma = &mut self.rma;
        let (Some(window), Some(clock)) = (rma.windows.get_mut(handle), &mut rma.clock) else {
            return;
        };
        let (name, me) = (window.name, clock.me());
        let origins = window.exposure.take().map(|exposure| exposure.ranks).unwrap_or_default();
        for origin in &origins {
            for segment in rma.completions.remove(&(name, *origin)).unwrap_or_default() {
                clock.join(*origin, segment);
            }
        }
        let segment = self.end_segment();
        for origin in &origins {
            self.rma.remotes.complete(name, *origin, Which::All, (me, segment));
        }
        self.learned(place, out);
    }

    /// This process is about to give up locks.
    pub(super) fn pass_locks(&mut self, handle: usize, target: Option<i32>) {
        let rma = &mut self.rma;
        let (Some(window), Some(clock)) = (rma.windows.get_mut(handle), &mut rma.clock) else {
            return;
        };
        let exclusive = window.locks.iter().any(|lock| lock.target == target && lock.exclusive);
        window.ended = Some(clock.segment());
        for rank in window.targets(target) {
            clock.release(rank, lock_key(window.name, exclusive));
        }
        self.set_segment();
    }

    /// This process may have got locks that others had.
    pub(super) fn take_locks(
        &mut self,
        handle: usize,
        target: Option<i32>,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let rma = &mut self.rma;
        let (Some(window), Some(clock)) = (rma.windows.get(handle), &mut rma.clock) else { return };
        let exclusive = window.locks.iter().any(|lock| lock.target == target && lock.exclusive);
        let mut news = false;
        for rank in window.targets(target) {
            news |= clock.acquire(rank, lock_key(window.name, true));
            if exclusive {
                news |= clock.acquire(rank, lock_key(window.name, false));
            }
        }
        if news || exclusive {
            self.learned(place, out);
        }
    }

    /// Atomic reads have returned: they may have seen any atomic write before.
    pub(super) fn learn_from_fetches(
        &mut self,
        handle: usize,
        target: Option<i32>,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        self.drain(place, out);
        let rma = &mut self.rma;
        let (Some(window), Some(clock)) = (rma.windows.get_mut(handle), &mut rma.clock) else {
            return;
        };
        let mut news = false;
        let (done, left) = std::mem::take(&mut window.fetches)
            .into_iter()
            .partition(|(from, _)| target.is_none_or(|target| *from == target));
        window.fetches = left;
        let done: Vec<(i32, i64)> = done;
        for (from, offset) in done {
            let Some(rank) = window.world(from) else { continue };
            news |= clock.acquire(rank, mixed(window.name, offset as u64));
            if rank == clock.me() {
                let start = window.made.base.wrapping_add(offset as usize);
                rma.remotes.observed(window.name, start);
            }
        }
        if news {
            self.learned(place, out);
        }
    }

    // Messages and collectives.

    /// A message is about to be sent.
    fn sending(&mut self, group: &Group, comm: usize, dest: i32, tag: i32) {
        let Some(rank) = group.member(dest) else { return };
        let segment = self.end_segment();
        let rma = &mut self.rma;
        let Some(clock) = &rma.clock else { return };
        let (origin, handle) = (clock.me(), comm as u32);
        let notice = Notice::Message { origin, tag, comm: group.name, handle, segment };
        // If there is no room, the receiver will take this rank's newest clock.
        rma.outbox.send(clock, rank, &notice);
    }

    /// A receive is about to be posted.
    fn expect(&mut self, envelope: Envelope) -> Learning {
        let expected = self.rma.messages.expect(&envelope);
        Learning::Message(envelope, expected)
    }

    /// A call begins that sends, receives or is a collective; returns what its end will teach.
    pub fn begin_order(&mut self, template: &Template) -> Option<Learning> {
        match template {
            Template::Send { group, comm, dest, tag, synchronous } => {
                self.sending(group, *comm, *dest, *tag);
                let rank = group.member(*dest).filter(|_| *synchronous);
                rank.map(Learning::Received)
            }
            Template::Receive(envelope) => Some(self.expect(envelope.clone())),
            Template::Collective { group, flow, root, sources } => {
                let collective = self.enter_collective(group.clone(), *flow, *root, sources);
                Some(Learning::Collective(collective))
            }
        }
    }

    /// A persistent request will do this whenever it is started.
    pub fn init_order(&mut self, key: usize, templates: &[Template]) {
        if !templates.is_empty() {
            self.rma.templates.insert(key, templates.to_vec());
        }
    }

    /// A persistent request is about to be started.
    pub fn go_order(&mut self, token: Token) {
        for template in self.rma.templates.get(&token.key).cloned().unwrap_or_default() {
            if let Some(learning) = self.begin_order(&template) {
                self.learn_at(token.key, learning);
            }
        }
    }

    /// The completion of a request will teach something.
    pub fn learn_at(&mut self, key: usize, learning: Learning) {
        self.rma.expected.entry(key).or_default().push(learning);
    }

    /// A request is complete; `status` holds the source and tag if they are known.
    pub fn learn_from_request(
        &mut self,
        token: Token,
        status: Option<(i32, i32)>,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let Some(waiting) = self.rma.expected.get_mut(&token.key) else { return };
        let learning = waiting.remove(0);
        if waiting.is_empty() {
            self.rma.expected.remove(&token.key);
        }
        self.learn(&learning, status, place, out);
    }

    /// Something is over that taught this process about others.
    pub fn learn(
        &mut self,
        learning: &Learning,
        status: Option<(i32, i32)>,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        self.drain(place, out);
        let Some(clock) = &mut self.rma.clock else { return };
        match learning {
            Learning::Message(envelope, expected) => {
                let actual = status.and_then(|(source, tag)| {
                    let source = envelope.group.member(source)?;
                    Some(Channel { source, tag, comm: envelope.group.name })
                });
                let messages = &mut self.rma.messages;
                messages.received(envelope);
                let message = match (*expected, actual) {
                    (Expected::Nth(channel, number), _) => Some((channel, Some(number))),
                    (Expected::Any, Some(channel)) => Some((channel, Some(messages.next(channel)))),
                    (Expected::Doubtful, Some(channel)) => {
                        messages.skip(envelope, channel);
                        Some((channel, None))
                    }
                    (Expected::Any | Expected::Doubtful, None) => None,
                };
                match message {
                    Some((channel, number)) => {
                        match number.and_then(|number| messages.take(channel, number)) {
                            Some(segment) => clock.join(channel.source, segment),
                            None => clock.join_newest(channel.source),
                        }
                    }
                    None => envelope.group.members.iter().for_each(|r| clock.join_newest(*r)),
                }
                self.learned(place, out);
            }
            Learning::Received(rank) => {
                clock.join_newest(*rank);
                self.learned(place, out);
            }
            Learning::Collective(collective) => {
                let (key, group) = (collective.key, collective.group.clone());
                let teachers = collective.teachers(clock.me());
                let all = collective.flow == Flow::All;
                self.learn_of_collective(key, &group, &teachers, all, place, out);
            }
        }
    }

    /// This process enters a collective.
    fn enter_collective(
        &mut self,
        group: Group,
        flow: Flow,
        root: i32,
        sources: &[i32],
    ) -> Collective {
        let key = self.rma.collectives.next(&group);
        let segment = self.end_segment();
        if let Some(clock) = &self.rma.clock {
            clock.fabric().enter(key, segment);
        }
        let root = group.member(root);
        let sources = sources.iter().filter_map(|rank| group.member(*rank)).collect();
        Collective { key, group, flow, root, sources }
    }

    fn learn_of_collective(
        &mut self,
        key: u64,
        group: &Group,
        teachers: &[u32],
        all: bool,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let Some(clock) = &mut self.rma.clock else { return };
        let mut entered = HashMap::new();
        for rank in teachers {
            match clock.fabric().entered(*rank as usize, key) {
                Some(segment) => {
                    clock.join(*rank, segment);
                    entered.insert(*rank, segment);
                }
                None => clock.join_newest(*rank),
            }
        }
        if let Some(own) = clock.fabric().entered(clock.me() as usize, key) {
            entered.insert(clock.me(), own);
        }
        self.learned(place, out);
        if all {
            self.synchronised(group, &entered);
        }
    }

    /// All members have come after what each had done when it entered.
    fn synchronised(&mut self, group: &Group, entered: &HashMap<u32, u32>) {
        let rma = &mut self.rma;
        let everyone = |window: &Window| {
            window.made.group.members.iter().all(|rank| group.members.contains(rank))
        };
        let windows = &rma.windows;
        rma.remotes.forget(|remote| {
            let complete = remote
                .complete
                .is_some_and(|(rank, segment)| entered.get(&rank).is_some_and(|e| segment <= *e));
            complete && windows.named(remote.window).is_none_or(everyone)
        });
        if rma.windows.iter().all(everyone)
            && let (Some(exposed), Some(clock)) = (&mut rma.exposed, &rma.clock)
            && let Some(own) = entered.get(&clock.me())
        {
            exposed.past_is_ordered(*own);
        }
    }
}

fn fence_key(window: &Window) -> u64 {
    mixed(window.name ^ 0xfe2ce, window.fences.len() as u64)
}

fn lock_key(window: u64, exclusive: bool) -> u64 {
    mixed(window, if exclusive { u64::MAX } else { u64::MAX - 1 })
}

impl Window {
    /// Ranks in the job of a target or of all.
    fn targets(&self, target: Option<i32>) -> Vec<u32> {
        match target {
            Some(target) => self.world(target).into_iter().collect(),
            None => self.made.group.members.to_vec(),
        }
    }

    /// This process takes a lock on its own part in a segment, or has given it up in one.
    pub(super) fn hold(&mut self, target: Option<i32>, exclusive: bool, from: u32) {
        if target.is_none() || target == self.made.own.map(|own| own as i32) {
            if self.held.len() == MOST_HELD {
                self.held.remove(0);
            }
            self.held.push(Held { from, to: u32::MAX, exclusive });
        }
    }

    pub(super) fn release(&mut self, target: Option<i32>, to: u32) {
        if target.is_none() || target == self.made.own.map(|own| own as i32) {
            let held = self.held.iter_mut().filter(|held| held.to == u32::MAX);
            held.for_each(|held| held.to = to);
        }
    }

    /// Whether this process's lock on its own part keeps an operation of another away.
    fn is_locked(&self, epoch: Epoch, origin: u32) -> bool {
        let own = self.made.own.and_then(|own| self.lock_on(own as i32));
        !self.is_own(origin) && own.is_some_and(|lock| excludes(lock.exclusive, epoch))
    }

    /// The same for a time that is past.
    fn was_locked(&self, segment: u32, epoch: Epoch, origin: u32) -> bool {
        let at = |held: &&Held| (held.from..=held.to).contains(&segment);
        !self.is_own(origin)
            && self.held.iter().filter(at).any(|held| excludes(held.exclusive, epoch))
    }

    /// Whether a rank of the job is this process.
    fn is_own(&self, rank: u32) -> bool {
        self.made.own.and_then(|own| self.world(own as i32)) == Some(rank)
    }
}

/// Times that a process remembers having locked its own part.
const MOST_HELD: usize = 64;

fn excludes(exclusive: bool, epoch: Epoch) -> bool {
    match epoch {
        Epoch::Exclusive => true,
        Epoch::Shared => exclusive,
        _ => false,
    }
}

impl Site {
    /// A place that is in another rank's log.
    fn afar(call: &'static str, rank: u32, number: u32) -> Site {
        let pc = 1 << 63 | (rank as usize) << 32 | number as usize;
        Site { call: Some(call), thread: 0, stack: Stacks::EMPTY, pc, afar: Some((rank, number)) }
    }
}
