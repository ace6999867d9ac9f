//! What other ranks do to this one's windows, and what orders it.

use super::separate::MemoryModel;
use super::shared::SharedMemory;
use super::{Acquisition, Template, device};
use super::{Operation, Tracker};
use crate::rma::clock::{Clock, RankClock};
use crate::rma::message::{AccessEpoch, Announced, RmaMessage, Which};
use crate::rma::order::{Channel, Collectives, Messages};
use crate::rma::remote::{Meeting, Remote, Remotes, Separate, single};
use crate::rma::windows::Windows;
use commsan_callsite::{About, Findings, Place, Report, Side, Site, StackId, Stacks};
use commsan_findings::{Code, Role};
use commsan_job_shm::JobShm;
use commsan_mpi_calls::{CALLS, Call};
use commsan_shadow::{Access, Epoch, Exposed, Mode, OpId, Pages, Past, Shadow, When};
use rustc_hash::FxHashMap;
use std::ops::{ControlFlow, Range};

/// Everything about one-sided communication.
pub struct OneSided {
    pub(super) windows: Windows,
    pub(super) memory_model: MemoryModel,
    pub(super) remotes: Remotes,
    /// `None` where ranks cannot tell each other anything: then only the origin's side is checked.
    pub(super) clock: Option<Clock>,
    /// The words of the notice that is being read.
    words: Vec<u64>,
    /// The clock of the operation that is being looked at.
    row: RankClock,
    pub(super) exposed: Option<Exposed>,
    /// Announced operations of epochs this process has not come to yet.
    pub(super) stashed: Vec<Announced>,
    /// Numbers of places that other ranks may refer to.
    pub(super) sites: FxHashMap<(StackId, u32), u32>,
    /// Segments in which each origin has ended access epochs on each window.
    pub(super) completions: FxHashMap<(u64, u32), Vec<u32>>,
    pub(super) exposures: FxHashMap<(u64, u32), Vec<u32>>,
    pub(super) messages: Messages,
    pub(super) collectives: Collectives,
    /// What requests will order when they complete, by handle.
    pub(super) expected: FxHashMap<usize, Vec<Acquisition>>,
    /// What persistent requests do, by handle.
    pub(super) templates: FxHashMap<usize, Vec<Template>>,
    /// The segment in which operations that are just being completed last used their buffers, if
    /// not the present one.
    pub(super) noted_as_of: Option<u32>,
    /// R-versions that only read, by what they use locally: their targets, windows and numbers.
    pub(super) reads: FxHashMap<OpId, (u32, u64, u32)>,
    /// Windows of atomic reads with requests.
    pub(super) fetching: FxHashMap<OpId, usize>,
    /// Up to where each rank's notices are worth nothing.
    pub(super) lost: FxHashMap<u32, u64>,
    pub(super) losses: u64,
    /// Operations announced so far.
    pub(super) announced: u32,
    /// Another rank is about to write a notice, and those behind it are not taken in time.
    pub(super) late: bool,
    /// Something could not be told or noted.
    pub(super) incomplete: bool,
    /// Other nodes could not be found, or did not answer.
    pub(super) cut_off: bool,
    pub(super) shared: SharedMemory,
}

/// What the shadow knows a call of the table by; smaller values are addresses of names.
pub(super) const CALL: usize = 1 << 63;
/// Added where the call has accessed another rank's memory.
pub(super) const REMOTE: usize = 1 << 32;

/// The row of a call's access in the table; `None` for others.
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
            row: RankClock::default(),
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
        }
    }
}

impl OneSided {
    /// Ranks can tell each other about order and operations from now on.
    pub fn connect(&mut self, shm: JobShm) {
        shm.attend();
        self.clock = Some(Clock::new(shm));
    }

    /// The memory model to assume.
    pub fn assume_memory_model(&mut self, model: MemoryModel) {
        self.memory_model = model;
    }

    /// Others cannot be relied upon, or this rank not by them.
    pub fn disconnect(&mut self) {
        if let Some(clock) = self.clock.take() {
            clock.shm().switch_off();
            self.cut_off |= clock.shm().has_lost_others();
            self.incomplete = true;
            let names: Vec<u64> = self.windows.iter().map(|window| window.name).collect();
            names.into_iter().for_each(|name| self.remotes.close(name));
        }
    }

    /// Whether something was lost that could have shown a race.
    pub fn has_gaps(&self) -> bool {
        let unheard = self.clock.as_ref().is_some_and(|clock| clock.has_lost_messages);
        unheard || self.incomplete || self.remotes.dropped > 0
    }

    /// Whether ranks on other nodes cannot be asked any more.
    pub fn is_cut_off(&self) -> bool {
        self.cut_off
    }

    pub(super) fn set_segment(&self) {
        if let Some(exposed) = &self.exposed {
            // Where there are no others, all is one segment.
            exposed.shadow().set_segment(self.clock.as_ref().map_or(1, Clock::segment));
        }
    }

    /// Whether what a rank told at a position of the ring is worth nothing, as it could not tell
    /// something else. It may have been the completion of any operation, or what orders others.
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
                clock.join_newest(rank);
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
        mut side: Side,
        site: Site,
        (meeting, about): (&Meeting, Option<About>),
        out: &mut dyn Findings,
    ) {
        if self.clock.as_ref().is_none_or(|clock| clock.shm().is_off()) {
            return;
        }
        let Remote { call, each, .. } = meeting.first;
        let Some(window) = self.windows.named(meeting.first.window) else { return };
        let first = meeting.first.place();
        if out.again(code, site.pc, first.pc) {
            return;
        }
        let made = &window.made;
        let operation = Operation {
            peer: made.own.map(|rank| rank as i32),
            window: Some(window.number),
            base: (!made.dynamic).then_some(made.base),
            ..Operation::at(call, first)
        };
        let footprint = &meeting.access.footprint;
        let span = single(each, footprint, meeting.bytes.start);
        side.bytes.end = side.bytes.end.min(span.end);
        let touched = each.map_or(footprint.bytes(), |each| each.get() as usize);
        let report = Report {
            code,
            access: Some(side),
            operation: operation.party(),
            concerned: Some((meeting.access.mode, span, touched)),
            sites: &[(Role::Access, site), (Role::Operation, first)],
            threads: false,
            about,
        };
        out.report(&report, stacks);
    }
}

impl Tracker {
    /// Accesses to window memory can be noted here.
    pub fn note_accesses_in(&mut self, shadow: Shadow) {
        self.rma.exposed = Some(Exposed::new(self.pages, shadow));
        self.gpu.keep_ended();
        self.rma.set_segment();
    }

    pub(super) fn end_segment(&mut self) -> u32 {
        self.note_ended_work();
        self.rma.publish_shared(&mut self.reporter.stacks);
        let ended = self.rma.clock.as_mut().map_or(0, Clock::end_segment);
        self.threads.end_segment(ended);
        self.rma.set_segment();
        ended
    }

    /// This process has learned something: looks for what it has now come after.
    pub(super) fn acquired(&mut self, place: &impl Place, out: &mut dyn Findings) {
        self.drain(place, out);
        if let Some(clock) = &self.rma.clock {
            self.rma.remotes.acquire(clock, self.threads.actor.as_ref());
        }
        self.end_segment();
    }

    /// Gives and takes all notices.
    pub fn drain(&mut self, place: &impl Place, out: &mut dyn Findings) {
        if let Some(clock) = &mut self.rma.clock {
            clock.flush();
        }
        self.report_shared(place, out);
        self.take_messages(place, out);
    }

    /// Takes all notices.
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
                Some(RmaMessage::Complete { window, origin, segment, which }) => {
                    self.remote_completed(window, origin, segment, which);
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

    fn remote_completed(&mut self, window: u64, origin: u32, segment: u32, which: Which) {
        let rma = &mut self.rma;
        if which == Which::Epoch {
            rma.completions.entry((window, origin)).or_default().push(segment);
        }
        let when = Epoch { agent: origin, time: segment };
        rma.remotes.complete(window, origin, which, when);
        if let Some(clock) = &rma.clock {
            rma.remotes.acquire(clock, self.threads.actor.as_ref());
        }
    }

    /// An operation of another rank, or of this one, touches window memory from now on.
    fn remote_arrived(&mut self, op: &Announced, place: &impl Place, out: &mut dyn Findings) {
        let Some(call) = CALLS.get(op.call as usize) else { return };
        let Some(window) = self.rma.windows.named(op.window) else { return };
        let Some(clock) = &self.rma.clock else { return };
        let me = clock.me();
        let mut row = std::mem::take(&mut self.rma.row);
        row.reset(clock.ranks());
        clock.shm().join(op.origin as usize, op.segment, row.components_mut());
        // It cannot happen before the target has made the window and opened the epoch.
        let opened = match op.epoch {
            AccessEpoch::Fence(n) => window.fences.nth(n as usize),
            AccessEpoch::Start(_) => window.granted.get(&op.origin).map(|granted| granted.segment),
            _ => None,
        };
        row.acquire(Epoch { agent: me, time: window.since.max(opened.unwrap_or(0)) });
        let (base, known) = (window.made.base, row.time(me));
        for footprint in op.footprints(base) {
            let access = Access { mode: op.mode, footprint };
            for meeting in self.rma.remotes.meetings(op, &row, &access.footprint) {
                let one = single(op.each, &access.footprint, meeting.bytes.start);
                let bytes = meeting.bytes.start..meeting.bytes.end.min(one.end);
                let side = Side { by: &call.name, mode: op.mode, bytes };
                let site = Site::afar(&call.name, op.origin, op.site);
                self.rma.report_meeting(
                    &self.reporter.stacks,
                    Code::TargetRace,
                    side,
                    site,
                    (&meeting, None),
                    out,
                );
            }
            self.check_no_put(op, call, &access.footprint.span(), out);
            self.meets_own_operations(op, call, &access, out);
            self.meets_own_work(op, call, &access, out);
            self.meets_own_past(op, call, &access, known, place, out);
        }
        let public = self.rma.windows.named(op.window).and_then(|w| w.public_to(known));
        let separate = public.map(|public| Separate { public, over: false });
        let remote = Remote { separate, ..Remote::new(op, call) };
        let accesses = op.footprints(base).map(|footprint| Access { mode: op.mode, footprint });
        self.rma.remotes.begin(op, remote, &row, accesses);
        self.rma.row = row;
        if let Some(clock) = self.rma.clock.as_ref().filter(|_| op.complete) {
            self.rma.remotes.acquire(clock, self.threads.actor.as_ref());
        }
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
        for conflict in conflicts.into_iter().flatten() {
            let Some(own) = self.operations.live.get(conflict.id) else { continue };
            if own.retired.is_some() {
                continue; // noted when it ended
            }
            let (by, site, bytes) = (own.call.name.as_str(), own.site, conflict.bytes);
            let side = Side { by, mode: conflict.mode, bytes: bytes.clone() };
            let first = Remote::new(op, call);
            let meeting = Meeting { first, access: access.clone(), bytes };
            self.rma.report_meeting(
                &self.reporter.stacks,
                Code::WindowAccessRace,
                side,
                site,
                (&meeting, None),
                out,
            );
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
        self.note_ended_work();
        let Some(exposed) = self.rma.exposed.as_ref().filter(|_| !self.rma.late) else { return };
        let Some(window) = self.rma.windows.named(op.window) else { return };
        let public = window.public_to(known).unwrap_or(known);
        let mut found: Vec<(Past, Range<usize>)> = Vec::new();
        let span = access.footprint.span();
        let _ = access.footprint.visit::<()>(&span, &mut |run| {
            exposed.shadow().conflicts(&run, op.mode, |past, bytes| {
                let told = found.iter().any(|(other, _)| other.pc == past.pc);
                let ordered = if past.mode == Mode::Write { public } else { known };
                if !told
                    && !self.threads.was_released(past.when, ordered)
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
            let code = match self.threads.was_released(past.when, known) {
                _ if device::is_work(&past) => Code::WorkMeetsRemote,
                true => Code::ViewsDiffer,
                false => Code::WindowAccessRace,
            };
            let meeting = Meeting { first: Remote::new(op, call), access: access.clone(), bytes };
            self.report_past_meeting(code, &past, &meeting, place, out);
        }
    }

    /// What this rank has done to the bytes of a meeting before.
    pub(super) fn report_past_meeting(
        &mut self,
        code: Code,
        past: &Past,
        meeting: &Meeting,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let (site, by) = self.reporter.past(past, place);
        let side = Side { by, mode: past.mode, bytes: meeting.bytes.clone() };
        self.rma.report_meeting(&self.reporter.stacks, code, side, site, (meeting, None), out);
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
        for meeting in self.meetings_with_remotes(access, place, out) {
            let code = match meeting.first.separate {
                Some(Separate { over: true, .. }) => Code::ViewsDiffer,
                _ => Code::WindowAccessRace,
            };
            // Before the stack is walked: a loop may do this a million times.
            if out.again(code, place.pc(), meeting.first.place().pc) {
                continue;
            }
            let side = Side { by, mode: access.mode, bytes: meeting.bytes.clone() };
            let site = place.site(call, &mut self.reporter.stacks);
            self.rma.report_meeting(&self.reporter.stacks, code, side, site, (&meeting, None), out);
        }
    }

    /// Operations of other ranks that an access meets and that no lock keeps apart from it, after all that
    /// is known of them.
    pub(super) fn meetings_with_remotes(
        &mut self,
        access: &Access,
        place: &impl Place,
        out: &mut dyn Findings,
    ) -> Vec<Meeting> {
        let threads = &self.threads;
        if self.rma.remotes.ranges() == 0 || self.rma.remotes.met_by(access, threads).is_empty() {
            return Vec::new();
        }
        self.drain(place, out);
        // The end of these may be among the notices that are still to come.
        if self.rma.late {
            return Vec::new();
        }
        let mut meetings = self.rma.remotes.met_by(access, &self.threads);
        meetings.retain(|Meeting { first, .. }| {
            let window = self.rma.windows.named(first.window);
            window.is_some_and(|window| !window.is_locked(first.epoch, first.origin))
        });
        meetings
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
    /// Where it was started.
    fn place(&self) -> Site {
        Site::afar(&self.call.name, self.origin, self.site)
    }
}
