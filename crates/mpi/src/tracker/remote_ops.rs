//! Operations of other ranks on this one's windows, and their happens-before order with what this
//! rank does.

use super::separate::MemoryModel;
use super::shared::SharedMemory;
use super::{Acquisition, Template, guarded, other_work};
use super::{Operation, Tracker};
use crate::rma::clock::Clock;
use crate::rma::knowledge::{ByCall, Event, Knowledge};
use crate::rma::message::{AccessEpoch, Announced, RmaMessage, Which};
use crate::rma::order::{Channel, Collectives, Messages};
use crate::rma::remote::{Meeting, Remote, Remotes, Separate, single};
use crate::rma::windows::Windows;
use commsan_callsite::{Findings, Place, Report, Site, StackId, Stacks};
use commsan_findings::record::{RawAccess, RawWork};
use commsan_findings::{Code, Role};
use commsan_job_shm::JobShm;
use commsan_mpi_calls::{CALLS, Call};
use commsan_shadow::{Access, Exposed, Mode, OpId, Pages, Past, Shadow, When};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};

/// State of one-sided communication.
pub struct OneSided {
    pub(super) windows: Windows,
    pub(super) memory_model: MemoryModel,
    pub(super) remotes: Remotes,
    /// `None` where ranks cannot communicate through shared memory: then only the origin's side is
    /// checked.
    pub(super) clock: Option<Clock>,
    /// The words of the message that is being read.
    words: Vec<u64>,
    /// What is known before the operation that is being checked, for its capacity.
    known: Knowledge,
    pub(super) exposed: Option<Exposed>,
    /// Announced operations of epochs that this process has not opened yet.
    pub(super) stashed: Vec<Announced>,
    /// Numbers by which other ranks refer to this rank's sites.
    pub(super) sites: FxHashMap<(StackId, u32, u32), u32>,
    /// Segments in which each origin has ended access epochs on each window.
    pub(super) completions: FxHashMap<(u64, u32), Vec<u32>>,
    pub(super) exposures: FxHashMap<(u64, u32), Vec<u32>>,
    pub(super) messages: Messages,
    pub(super) collectives: Collectives,
    /// What requests acquire when they complete, by handle.
    pub(super) expected: FxHashMap<usize, Vec<Acquisition>>,
    /// What each start of a persistent request releases and acquires, by handle.
    pub(super) templates: FxHashMap<usize, Vec<Template>>,
    /// The segment in which the operations that are being completed last used their buffers, if it
    /// is not the present one.
    pub(super) noted_as_of: Option<u32>,
    /// Gets with requests (`MPI_Rget`), by local operation: their targets, windows and numbers.
    pub(super) reads: FxHashMap<OpId, (u32, u64, u32)>,
    /// Windows of atomic reads with requests.
    pub(super) fetching: FxHashMap<OpId, usize>,
    /// For each rank, the position in the ring before which its messages are unreliable, since one
    /// of them was lost.
    pub(super) lost: FxHashMap<u32, u64>,
    pub(super) losses: u64,
    /// Operations announced so far.
    pub(super) announced: u32,
    /// The ring holds a message that is not completely written, so that later ones cannot be read
    /// yet.
    pub(super) late: bool,
    /// Some message was lost, or some access could not be recorded.
    pub(super) incomplete: bool,
    /// Other nodes could not be found, or did not answer.
    pub(super) cut_off: bool,
    pub(super) shared: SharedMemory,
    /// Streams of devices may order this process after others.
    pub(super) by_streams: bool,
    /// Blocks of symmetric memory, by address.
    pub(super) blocks: BTreeMap<usize, usize>,
}

/// In the shadow, added to the row of an access's call in the table; smaller values are addresses
/// of names.
pub(super) const CALL: usize = 1 << 63;
/// In the shadow, added for accesses to another rank's memory.
pub(super) const REMOTE: usize = 1 << 32;

/// The table row of the call that made an access; `None` if no MPI call made it.
pub(super) fn row(by: usize) -> Option<usize> {
    by.checked_sub(CALL).map(|row| row % REMOTE)
}

impl OneSided {
    pub fn new(pages: Pages) -> OneSided {
        OneSided {
            windows: Windows::default(),
            memory_model: MemoryModel::default(),
            remotes: Remotes::new(pages),
            clock: None,
            words: Vec::new(),
            known: Knowledge::default(),
            exposed: None,
            stashed: Vec::new(),
            sites: FxHashMap::default(),
            completions: FxHashMap::default(),
            exposures: FxHashMap::default(),
            messages: Messages::default(),
            collectives: Collectives::default(),
            expected: FxHashMap::default(),
            templates: FxHashMap::default(),
            noted_as_of: None,
            reads: FxHashMap::default(),
            fetching: FxHashMap::default(),
            lost: FxHashMap::default(),
            losses: 0,
            announced: 0,
            late: false,
            incomplete: false,
            cut_off: false,
            shared: SharedMemory::default(),
            by_streams: false,
            blocks: BTreeMap::new(),
        }
    }
}

impl OneSided {
    /// Ranks can exchange clocks and messages from now on.
    pub fn connect(&mut self, shm: JobShm) {
        shm.attend();
        self.clock = Some(Clock::new(shm));
    }

    /// Sets the memory model that windows are assumed to have.
    pub fn assume_memory_model(&mut self, model: MemoryModel) {
        self.memory_model = model;
    }

    /// Stops comparing with other ranks: they, or this rank's messages to them, are no longer
    /// reliable.
    pub fn disconnect(&mut self) {
        if let Some(clock) = self.clock.take() {
            clock.shm().switch_off();
            self.cut_off |= clock.shm().has_lost_others();
            self.incomplete = true;
            let names: Vec<u64> = self.windows.iter().map(|window| window.name).collect();
            names.into_iter().for_each(|name| self.remotes.close(name));
        }
    }

    /// Whether something was lost that could have revealed a race.
    pub fn has_gaps(&self) -> bool {
        let unheard = self.clock.as_ref().is_some_and(|clock| clock.has_lost_messages);
        unheard || self.incomplete || self.remotes.dropped > 0
    }

    /// Whether ranks on other nodes cannot be reached any more.
    pub fn is_cut_off(&self) -> bool {
        self.cut_off
    }

    pub(super) fn set_segment(&self) {
        if let Some(exposed) = &self.exposed {
            // Without other ranks everything is one segment.
            exposed.shadow().set_segment(self.clock.as_ref().map_or(1, Clock::segment));
        }
    }

    /// Whether a rank's message at this position of the ring is unreliable because another of its
    /// messages was lost, which may have completed any operation or ordered others.
    fn is_lost(&mut self, rank: u32, position: u64) -> bool {
        self.look_for_losses();
        self.clock.as_ref().is_none_or(|clock| position < clock.shm().lost(rank as usize))
    }

    fn look_for_losses(&mut self) {
        let Some(clock) = &mut self.clock else { return };
        let losses = clock.shm().losses();
        if losses == self.losses {
            return;
        }
        self.losses = losses;
        self.incomplete = true;
        for rank in 0..clock.ranks() as u32 {
            let lost = clock.shm().lost(rank as usize);
            if self.lost.insert(rank, lost).unwrap_or(0) < lost {
                clock.join_newest(rank, None);
                self.remotes.forget_origin(rank);
                self.stashed.retain(|op| op.origin != rank);
            }
        }
    }

    /// Whether this process has opened the epoch in which an operation happens.
    fn has_come_to(&self, op: &Announced) -> bool {
        let Some(window) = self.windows.named(op.window) else { return false };
        match op.epoch {
            AccessEpoch::Fence(n) => window.fences.count() >= n as usize,
            AccessEpoch::Start(n) => window.granted.get(&op.origin).is_some_and(|g| g.count >= n),
            _ => true,
        }
    }
}

impl OneSided {
    pub(super) fn report_meeting(
        &mut self,
        stacks: &Stacks,
        code: Code,
        (mut access, site): (RawAccess<'_>, Site),
        (meeting, work): (&Meeting, Option<RawWork<'_>>),
        out: &mut dyn Findings,
    ) {
        if self.clock.as_ref().is_none_or(|clock| clock.shm().is_off()) {
            return;
        }
        let Remote { call, each, .. } = meeting.first;
        let Some(window) = self.windows.named(meeting.first.window) else { return };
        let is_symmetric = matches!(meeting.first.epoch, AccessEpoch::Symmetric(_));
        if is_symmetric && self.is_symmetric_memory_shared() {
            return;
        }
        let first = meeting.first.place();
        if out.again(code, site.pc, first.pc) {
            return;
        }
        let made = &window.made;
        let operation = Operation {
            peer: made.own.map(|rank| rank as i32),
            window: (!is_symmetric).then_some(window.number),
            base: match is_symmetric {
                true => self.symmetric_object(meeting.bytes.start),
                false => (!made.dynamic).then_some(made.base),
            },
            ..Operation::at(call, first)
        };
        let footprint = &meeting.access.footprint;
        let span = single(each, footprint, meeting.bytes.start);
        access.size = access.size.min((span.end as u64).saturating_sub(access.addr));
        let touched = each.map_or(footprint.bytes(), |each| each.get() as usize);
        let is_write = meeting.access.mode.is_write();
        let operation = operation.described().with_access(is_write, &span, touched);
        let cause = meeting.missed_by.and_then(|(rank, ByCall { call, site })| {
            let call = CALLS.get(call as usize)?;
            Some((Role::Cause, Site::remote(&call.name, rank, site)))
        });
        let sites = [(Role::Access, site), (Role::Operation, first)].into_iter().chain(cause);
        let (access, sites) = (Some(access), sites.collect::<Vec<_>>());
        let report = Report { access, work, ..Report::new(code, operation, sites) };
        out.report(report, first.pc, stacks);
    }
}

impl Tracker {
    /// Sets the shadow memory in which accesses to window memory are recorded.
    pub fn note_accesses_in(&mut self, shadow: Shadow) {
        self.rma.exposed = Some(Exposed::new(self.pages, shadow));
        self.others.work().keep_ended();
        self.rma.set_segment();
    }

    pub(super) fn end_segment(&mut self) -> u32 {
        self.note_ended_work();
        self.rma.publish_shared(&mut self.reporter.stacks);
        let (actor, by) = (self.threads.between_ranks(), self.threads.by_call());
        let ended = self.rma.clock.as_mut().map_or(0, |clock| clock.end_segment(actor, by));
        self.rma.set_segment();
        ended
    }

    /// Whatever is announced in the present segment is of the acting thread from now on.
    #[inline]
    pub(super) fn begin_own_segment(&mut self) {
        let (actor, by) = (self.threads.between_ranks(), self.threads.by_call());
        if self.rma.clock.as_ref().is_some_and(|clock| clock.needs_own_segment(actor, by)) {
            self.rma.publish_shared(&mut self.reporter.stacks);
            self.rma.clock.iter_mut().for_each(|clock| clock.begin_segment(actor, by));
            self.rma.set_segment();
        }
    }

    /// One of several threads is about to synchronise with other ranks by this call.
    pub fn synchronises(
        &mut self,
        call: &'static Call,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        if self.rma.clock.is_none() || self.threads.between_ranks().is_none() {
            return;
        }
        let site = self.reporter.site(call, place);
        let site = self.rma.number_of(&self.reporter.stacks, &site, call, out);
        self.threads.synchronises(ByCall { call: call.row, site });
    }

    /// This process has acquired something: finds the operations that now happen before it.
    pub(super) fn acquired(&mut self, place: &impl Place, out: &mut dyn Findings) {
        self.drain(place, out);
        if let Some(clock) = &self.rma.clock {
            self.rma.remotes.acquire(clock, self.threads.between_ranks());
        }
        self.end_segment();
    }

    /// Sends all messages that wait in the outbox, and processes all that have arrived.
    pub fn drain(&mut self, place: &impl Place, out: &mut dyn Findings) {
        if let Some(clock) = &mut self.rma.clock {
            clock.flush();
        }
        self.report_shared(place, out);
        self.take_messages(place, out);
    }

    /// Processes all messages that have arrived.
    #[inline]
    pub(super) fn take_messages(&mut self, place: &impl Place, out: &mut dyn Findings) {
        let Some(clock) = &self.rma.clock else { return };
        let shm = clock.shm();
        match shm.has_message() || shm.is_off() || shm.losses() != self.rma.losses {
            true => self.take_waiting(place, out),
            false => self.rma.late = false,
        }
    }

    fn take_waiting(&mut self, place: &impl Place, out: &mut dyn Findings) {
        if self.rma.clock.as_ref().is_some_and(|clock| clock.shm().is_off()) {
            return self.rma.disconnect();
        }
        self.read_messages(place, out);
        self.rma.look_for_losses();
        self.rma.late = self.rma.clock.as_ref().is_some_and(|clock| clock.shm().has_message());
    }

    fn read_messages(&mut self, place: &impl Place, out: &mut dyn Findings) {
        let mut words = std::mem::take(&mut self.rma.words);
        while let Some(position) = self.rma.clock.as_ref().and_then(|c| c.shm().take(&mut words)) {
            match RmaMessage::decode(&words) {
                Some(RmaMessage::Operation(op)) if self.rma.is_lost(op.origin, position) => {}
                Some(RmaMessage::Operation(op)) if self.rma.has_come_to(&op) => {
                    self.remote_arrived(&op, place, out);
                }
                Some(RmaMessage::Operation(op)) => self.rma.stashed.push(op),
                Some(RmaMessage::Complete { window, event, which }) => {
                    self.remote_completed(window, event, which);
                }
                Some(RmaMessage::MessageSent { origin: source, tag, comm, handle, segment }) => {
                    self.rma.messages.sent(Channel { source, tag, comm }, handle, segment);
                }
                Some(RmaMessage::Exposed { window, target, segment }) => {
                    self.rma.exposures.entry((window, target)).or_default().push(segment);
                }
                Some(RmaMessage::Attached { window, owner, bytes, attached }) => {
                    self.rma.windows.attached(window, owner, bytes, attached);
                }
                None => self.rma.incomplete = true,
            }
        }
        self.rma.words = words;
    }

    pub(super) fn unstash(&mut self, place: &impl Place, out: &mut dyn Findings) {
        let stashed = std::mem::take(&mut self.rma.stashed);
        let (ready, rest) = stashed.into_iter().partition(|op| self.rma.has_come_to(op));
        self.rma.stashed = rest;
        let ready: Vec<Announced> = ready;
        ready.iter().for_each(|op| self.remote_arrived(op, place, out));
    }

    fn remote_completed(&mut self, window: u64, event: Event, which: Which) {
        let (rma, origin) = (&mut self.rma, event.rank);
        if which == Which::Epoch {
            rma.completions.entry((window, origin)).or_default().push(event.segment);
        }
        rma.remotes.complete(window, origin, which, event);
        if let Some(clock) = &rma.clock {
            rma.remotes.acquire(clock, self.threads.between_ranks());
        }
    }

    /// An operation of another rank, or of this one, accesses window memory from now on.
    fn remote_arrived(&mut self, op: &Announced, place: &impl Place, out: &mut dyn Findings) {
        let Some(call) = CALLS.get(op.call as usize) else { return };
        let Some(window) = self.rma.windows.named(op.window) else { return };
        let Some(clock) = &self.rma.clock else { return };
        let me = clock.me();
        let mut known = std::mem::take(&mut self.rma.known);
        clock.read(op.origin, op.segment, &mut known);
        // The operation happens after the target made the window and opened the epoch.
        let opened = match op.epoch {
            AccessEpoch::Fence(n) => window.fences.nth(n as usize),
            AccessEpoch::Start(_) => window.granted.get(&op.origin).map(|granted| granted.segment),
            _ => None,
        };
        known.acquire(me, window.since.max(opened.unwrap_or(0)));
        let base = window.made.base;
        if matches!(op.epoch, AccessEpoch::Symmetric(_)) {
            self.symmetric_arrived(op, base);
        }
        for footprint in op.footprints(base) {
            let access = Access { mode: op.mode, footprint };
            for meeting in self.rma.remotes.meetings(op, &known, &access.footprint) {
                let one = single(op.each, &access.footprint, meeting.bytes.start);
                let bytes = meeting.bytes.start..meeting.bytes.end.min(one.end);
                let side = RawAccess::new(&call.name, op.mode.is_write(), &bytes);
                let site = Site::remote(&call.name, op.origin, op.site);
                self.rma.report_meeting(
                    &self.reporter.stacks,
                    Code::TargetRace,
                    (side, site),
                    (&meeting, None),
                    out,
                );
            }
            self.check_no_put(op, call, &access.footprint.span(), out);
            self.meets_own_operations(op, call, &access, out);
            self.meets_own_work(op, call, &access, out);
            self.meets_own_past(op, call, &access, &known, place, out);
        }
        let public =
            self.rma.windows.named(op.window).and_then(|w| w.public_to(known.row.time(me)));
        let separate = public.map(|public| Separate { public, over: false });
        let remote = Remote { separate, ..Remote::new(op, call) };
        let accesses = op.footprints(base).map(|footprint| Access { mode: op.mode, footprint });
        self.rma.remotes.begin(op, remote, &known, accesses);
        self.rma.known = known;
        if let Some(clock) = self.rma.clock.as_ref().filter(|_| op.complete) {
            self.rma.remotes.acquire(clock, self.threads.between_ranks());
        }
    }

    /// Checks an operation of another rank against the buffers of this rank's pending operations.
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
        for conflict in conflicts.into_iter().flatten() {
            let Some(own) = self.operations.live.get(conflict.id) else { continue };
            if own.retired.is_some() {
                continue; // noted when it ended
            }
            let (by, site, bytes) = (own.call.name.as_str(), own.site, conflict.bytes);
            let side = RawAccess::new(by, conflict.mode.is_write(), &bytes);
            let first = Remote::new(op, call);
            let access = access.clone();
            let meeting = Meeting { first, access, bytes, missed_by: None };
            self.rma.report_meeting(
                &self.reporter.stacks,
                Code::WindowAccessRace,
                (side, site),
                (&meeting, None),
                out,
            );
        }
    }

    /// Checks an operation of another rank against this rank's past accesses, of which it knows
    /// some.
    fn meets_own_past(
        &mut self,
        op: &Announced,
        call: &'static Call,
        access: &Access,
        known: &Knowledge,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        self.note_ended_work();
        let Some(exposed) = self.rma.exposed.as_ref().filter(|_| !self.rma.late) else { return };
        let Some(window) = self.rma.windows.named(op.window) else { return };
        let Some(me) = self.rma.clock.as_ref().map(Clock::me) else { return };
        let public = window.public_to(known.row.time(me)).unwrap_or(u32::MAX);
        let event = |When { segment, stamp }| Event { rank: me, segment, stamp };
        let mut found: Vec<(Past, Range<usize>)> = Vec::new();
        let span = access.footprint.span();
        let _ = access.footprint.visit::<()>(&span, &mut |run| {
            exposed.shadow().conflicts(&run, op.mode, |past, bytes| {
                if guarded::is_shown(&past) && !guarded::is_active(op.epoch) {
                    return true;
                }
                let known_place = found.iter().any(|(other, _)| other.pc == past.pc);
                let is_public = past.mode == Mode::Read || past.when.segment <= public;
                let is_ordered = is_public && known.covers(event(past.when));
                if !known_place
                    && !is_ordered
                    && !window.was_locked(past.when.segment, op.epoch, op.origin)
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
            let code = match known.covers(event(past.when)) {
                _ if other_work::is_work(&past) => Code::WorkMeetsRemote,
                true => Code::ViewsDiffer,
                false => Code::WindowAccessRace,
            };
            let missed_by = known.missed_by(event(past.when)).map(|by| (me, by));
            let (first, access) = (Remote::new(op, call), access.clone());
            let meeting = Meeting { first, access, bytes, missed_by };
            self.report_past_meeting(code, &past, &meeting, place, out);
        }
    }

    /// Reports a past access of this rank that meets an operation of another one.
    pub(super) fn report_past_meeting(
        &mut self,
        code: Code,
        past: &Past,
        meeting: &Meeting,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let (site, by) = self.reporter.past(past, place);
        let side = (RawAccess::new(by, past.mode.is_write(), &meeting.bytes), site);
        self.rma.report_meeting(&self.reporter.stacks, code, side, (meeting, None), out);
    }

    /// Checks an access of this rank to window memory against operations of other ranks.
    pub(super) fn meets_remotes(
        &mut self,
        by: &str,
        call: Option<&'static str>,
        access: &Access,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let meetings = self.meetings_with_remotes(access, place, out);
        self.report_meetings(by, call, access, meetings, place, out);
    }

    /// Reports what an access meets.
    pub(super) fn report_meetings(
        &mut self,
        by: &str,
        call: Option<&'static str>,
        access: &Access,
        meetings: Vec<Meeting>,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        for meeting in meetings {
            let code = match meeting.first.separate {
                Some(Separate { over: true, .. }) => Code::ViewsDiffer,
                _ => Code::WindowAccessRace,
            };
            // Before the stack is walked: a loop may come here a million times.
            if out.again(code, place.pc(), meeting.first.place().pc) {
                continue;
            }
            let side = RawAccess::new(by, access.mode.is_write(), &meeting.bytes);
            let side = (side, place.site(call, &mut self.reporter.stacks));
            self.rma.report_meeting(&self.reporter.stacks, code, side, (&meeting, None), out);
        }
    }

    /// The operations of other ranks that an access meets, after all pending messages; without
    /// those that a lock keeps apart from it.
    pub(super) fn meetings_with_remotes(
        &mut self,
        access: &Access,
        place: &impl Place,
        out: &mut dyn Findings,
    ) -> Vec<Meeting> {
        if self.rma.remotes.ranges() == 0 || self.met_remotes(access).is_empty() {
            return Vec::new();
        }
        self.drain(place, out);
        // The completion of these operations may be among the messages that cannot be read yet.
        if self.rma.late {
            return Vec::new();
        }
        let mut meetings = self.met_remotes(access);
        meetings.retain(|Meeting { first, .. }| {
            let window = self.rma.windows.named(first.window);
            window.is_some_and(|window| !window.is_locked(first.epoch, first.origin))
        });
        meetings
    }

    fn met_remotes(&self, access: &Access) -> Vec<Meeting> {
        let (clock, actor) = (self.rma.clock.as_ref(), self.threads.between_ranks());
        self.rma.remotes.met_by(access, clock, actor)
    }

    /// Records in the shadow what a call of this rank did to window memory.
    pub(super) fn note(
        &self,
        access: &Access,
        call: &'static Call,
        pc: usize,
        segment: Option<u32>,
    ) {
        let Some(exposed) = &self.rma.exposed else { return };
        let segment = segment.unwrap_or_else(|| exposed.shadow().segment());
        let when = When { segment, stamp: self.threads.stamp() };
        if !exposed.touches(&access.footprint.span()) {
            return;
        }
        let by = CALL + call.row as usize;
        let _ = access.footprint.visit::<()>(&access.footprint.span(), &mut |run| {
            exposed.shadow().record(when, run, access.mode, pc, by);
            ControlFlow::Continue(())
        });
    }
}

impl Remote {
    /// The site where the operation was started.
    fn place(&self) -> Site {
        Site::remote(&self.call.name, self.origin, self.site)
    }
}
