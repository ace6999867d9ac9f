//! Work against other work, against the host, and against what MPI does.

use super::polling::{listens, strength};
use super::{Flight, Gpu, Knowledge, MAX_IN_FLIGHT, Started};
use crate::clock::Clock;
use crate::memory::{Block, Freed};
use crate::work::{Bytes, KernelAccess, Line, MemoryKind, Work};
use commsan_callsite::{Doing, Findings, MetWork, Place, Report, Site, Stacks, Subscribers};
use commsan_findings::record::{RawAccess, RawOperation, RawWork};
use commsan_findings::{Code, Role};
use commsan_ptx::Strength;
use commsan_shadow::{Access, Conflict, Footprint, Mode, OpId};
use smallvec::SmallVec;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

/// Conflicts reported of one access; more are repetitions for the reader.
const MAX_REPORTED: usize = 4;

/// One side of a finding, that of whoever acts now.
struct Now<'a> {
    access: RawAccess<'a>,
    role: Role,
    site: Site,
    doing: Option<Doing>,
}

/// One end of the life of memory: where it was allocated or given back, by a call.
struct End {
    bytes: Range<usize>,
    role: Role,
    site: Site,
}

impl From<&Block> for End {
    fn from(block: &Block) -> End {
        End { bytes: block.bytes.clone(), role: Role::Operation, site: block.site }
    }
}

impl From<&Freed> for End {
    fn from(freed: &Freed) -> End {
        End { bytes: freed.bytes.clone(), role: Role::Release, site: freed.site }
    }
}

impl Gpu {
    /// Work begins that comes after what a clock says.
    pub(super) fn begin(
        &mut self,
        work: &Work,
        started: &Started<'_>,
        place: &dyn Place,
        out: &mut dyn Findings,
    ) {
        let Started { ticket, epoch, site, .. } = *started;
        if self.shares_memory() {
            self.signals(work);
        }
        self.listens |= listens(work);
        for (access, footprint) in KernelAccess::certain(&work.accesses) {
            let met = self.meets_work(work, access, footprint, started, out);
            self.meets_memory(work, access, footprint, (started, met), out);
            if self.shares_memory() {
                self.meets_others(work, (access, footprint), started, out);
            }
        }
        self.begin_uncertain(work, started);
        if self.awaits_host(work) && self.waiting.len() < MAX_IN_FLIGHT {
            self.waiting.push(epoch);
        }
        let key = (epoch.agent, Arc::as_ptr(&work.accesses).addr());
        if let Some(&same) = self.same.get(&key)
            && let Some(flight) = self.live.get_mut(same)
        {
            // Whoever comes after the new comes after the old.
            (flight.epoch, flight.ticket) = (epoch, ticket);
            flight.clock.clone_from(started.clock);
            flight.site = site;
            return self.remember_locals(same, work, place);
        }
        if self.same.len() >= MAX_IN_FLIGHT {
            self.forget_oldest(place, out);
        }
        let id = self.take_off(work, started);
        self.same.insert(key, id);
        self.remember_locals(id, work, place);
    }

    /// Remembers work, and marks the memory that it uses for the host to meet it.
    fn take_off(&mut self, work: &Work, started: &Started<'_>) -> OpId {
        let mut marks = SmallVec::new();
        let mut accesses: SmallVec<[Option<Access>; 8]> = SmallVec::new();
        for (access, footprint) in KernelAccess::certain(&work.accesses) {
            if footprint.bytes() > 0 {
                self.mark(&footprint.span(), &mut marks);
            }
            accesses.push(Some(Access { mode: access.mode, footprint: footprint.clone() }));
        }
        let flight = self.flight(work, started, marks);
        self.live.begin(&mut accesses, flight)
    }

    pub(super) fn flight(
        &self,
        work: &Work,
        started: &Started<'_>,
        marks: SmallVec<[Range<usize>; 1]>,
    ) -> Flight {
        let Started { ticket, epoch, site, .. } = *started;
        Flight {
            epoch,
            clock: started.clock.clone(),
            ticket,
            call: work.call,
            kernel: work.kernel.clone(),
            stream: Arc::clone(&self.labels[&epoch.agent]),
            device: self.order.device(epoch.agent),
            site,
            accesses: Arc::clone(&work.accesses),
            marks,
            findings: Subscribers::default(),
        }
    }

    /// Makes room; what is forgotten counts as complete.
    fn forget_oldest(&mut self, place: &dyn Place, out: &mut dyn Findings) {
        let oldest = self.live.iter().min_by_key(|(_, flight)| flight.ticket);
        if let Some(id) = oldest.map(|(id, _)| id) {
            self.finish(id, None, place, out);
        }
    }

    /// Work against work that it does not come after. Returns whether there is some.
    fn meets_work(
        &mut self,
        work: &Work,
        access: &KernelAccess,
        footprint: &Footprint,
        started: &Started<'_>,
        out: &mut dyn Findings,
    ) -> bool {
        let Started { epoch, clock, site, .. } = *started;
        let device = self.order.device(epoch.agent);
        let found = self.conflicts(access.mode, footprint, |flight, other| {
            let one_device = flight.device == device;
            !are_strong(access.strength, flight.strength(other), one_device)
                && !flight.epoch.happens_before(clock)
                && !self.may_wait_for_work(work, (device, clock), flight)
        });
        let met = !found.is_empty();
        for conflict in found {
            if self.is_new(Code::StreamsRace, site.pc, &conflict, out) {
                let now = self.now(work, access, conflict.bytes.clone(), (epoch.agent, site));
                self.report(Code::StreamsRace, now, &conflict, out);
            }
        }
        met
    }

    /// Work against the life of the memory it uses. Whoever comes after work there that it has
    /// `met` comes after the allocation, too: one finding says so.
    fn meets_memory(
        &mut self,
        work: &Work,
        access: &KernelAccess,
        footprint: &Footprint,
        (started, met): (&Started<'_>, bool),
        out: &mut dyn Findings,
    ) {
        let Started { epoch, clock, site, .. } = *started;
        let span = footprint.span();
        if span.is_empty() {
            return;
        }
        let is_born =
            |block: &Block| met || block.born.is_none_or(|born| born.happens_before(clock));
        let end = match self.memory.around(span.start) {
            Some(block) if is_born(block) => return,
            Some(block) => End::from(block),
            None => match self.memory.freed(span.start) {
                Some(freed) => End::from(freed),
                None => return,
            },
        };
        let now = self.now(work, access, span, (epoch.agent, site));
        self.report_end(Code::FreedDeviceMemory, now, end, out);
    }

    /// The library has refused work, perhaps since its memory is gone.
    pub(super) fn refused(&mut self, work: &Work, place: &dyn Place, out: &mut dyn Findings) {
        let slot = self.slot(work.stream);
        let site = place.site(Some(work.call), &mut self.stacks);
        for access in work.accesses.iter() {
            let Bytes::Exactly(footprint) = &access.bytes else { continue };
            let span = footprint.span();
            if let Some(end) = self.memory.freed(span.start).map(End::from) {
                let now = self.now(work, access, span, (slot, site));
                self.report_end(Code::FreedDeviceMemory, now, end, out);
            }
        }
    }

    /// A call of MPI, or the program itself, touches memory.
    pub fn meets(
        &mut self,
        by: &str,
        call: Option<&'static str>,
        access: &Access,
        place: &dyn Place,
        out: &mut dyn Findings,
    ) {
        if self.is_idle() {
            return;
        }
        let Access { mode, footprint } = access;
        let span = footprint.span();
        if call.is_none() && *mode == Mode::Read {
            self.polled(footprint, place, out);
        }
        let knows = self.knowledge(place.thread());
        let misused = match (call, self.memory.around(span.start)) {
            (None, Some(block)) if block.kind == MemoryKind::Device => {
                Some((Code::DeviceMemoryOnHost, End::from(block)))
            }
            (Some(_), None) => {
                let freed = self.memory.freed(span.start);
                freed.map(|freed| (Code::FreedDeviceMemory, End::from(freed)))
            }
            _ => None,
        };
        if let Some((code, end)) = misused {
            let access = RawAccess::new(by, mode.is_write(), &span);
            let site = place.site(call, &mut self.stacks);
            return self.report_end(
                code,
                Now { access, role: Role::Access, site, doing: None },
                end,
                out,
            );
        }
        let code = if call.is_some() { Code::WorkMeetsCall } else { Code::WorkMeetsHost };
        let met =
            self.meets_as(code, Role::Access, (by, call), (*mode, footprint, &knows), place, out);
        let site = |stacks: &mut Stacks| place.site(call, stacks);
        let may_meet = self.may_meet(code, Role::Access, (by, site), (access, &knows));
        if !met && !may_meet {
            self.comes_too_early((by, call), (access, &knows), place, out);
        }
        if let Some(call) = call.filter(|_| self.shares_memory()) {
            self.call_meets_others(call, access, (&knows.clock, place), out);
        }
        self.unmark_if_quiet(span.start);
    }

    /// An MPI call against memory of a pool that it does not come after.
    fn comes_too_early(
        &mut self,
        (by, call): (&str, Option<&'static str>),
        (access, knows): (&Access, &Knowledge),
        place: &dyn Place,
        out: &mut dyn Findings,
    ) {
        let span = access.footprint.span();
        let Some(block) = self.memory.around(span.start) else { return };
        let is_early = block.born.is_some_and(|born| !born.happens_before(&knows.clock));
        // A function of a stream may have been put there behind the allocation.
        if call.is_none() || span.is_empty() || !is_early || knows.within.is_some() {
            return;
        }
        let end = End::from(block);
        let access = RawAccess::new(by, access.mode.is_write(), &span);
        let site = place.site(call, &mut self.stacks);
        let now = Now { access, role: Role::Access, site, doing: None };
        self.report_end(Code::FreedDeviceMemory, now, end, out);
    }

    /// Work in flight that an access of others to memory of this process meets: with what it does,
    /// and where it was put into its stream, as a place in `stacks`.
    pub fn met_by(
        &mut self,
        access: &Access,
        stacks: &mut Stacks,
    ) -> SmallVec<[MetWork; MAX_REPORTED]> {
        self.acquire_from_others();
        let clock = self.order.host(self.actor.as_ref());
        let unordered = |flight: &Flight, _: &Access| {
            !flight.epoch.happens_before(&clock) && !self.may_wait(flight, Code::WorkMeetsRemote)
        };
        let found = self.conflicts(access.mode, &access.footprint, unordered);
        let met = found.into_iter().filter_map(|conflict| {
            let flight = self.live.get(conflict.id)?;
            Some(MetWork {
                by: flight.by(),
                mode: conflict.mode,
                bytes: conflict.bytes,
                site: stacks.adopt(flight.site, &self.stacks),
                doing: flight.doing(conflict.mode, &conflict.span),
            })
        });
        met.collect()
    }

    fn meets_as(
        &mut self,
        code: Code,
        role: Role,
        (by, call): (&str, Option<&'static str>),
        (mode, footprint, knows): (Mode, &Footprint, &Knowledge),
        place: &dyn Place,
        out: &mut dyn Findings,
    ) -> bool {
        let found = self.conflicts(mode, footprint, |flight, other| {
            knows.is_unordered(flight)
                && !are_strong(strength(code), flight.strength(other), false)
                && !self.may_wait(flight, code)
        });
        let met = !found.is_empty();
        for conflict in found {
            if self.is_new(code, place.pc(), &conflict, out) {
                let access = RawAccess::new(by, mode.is_write(), &conflict.bytes);
                let site = place.site(call, &mut self.stacks);
                self.report(code, Now { access, role, site, doing: None }, &conflict, out);
            }
        }
        met
    }

    /// Memory that is not a device's is given back by the host.
    pub fn released(
        &mut self,
        by: &str,
        bytes: &Range<usize>,
        place: &dyn Place,
        out: &mut dyn Findings,
    ) {
        if self.is_idle() {
            return;
        }
        let knows = self.knowledge(place.thread());
        let footprint = Footprint::Dense(bytes.clone());
        let what = (Mode::Write, &footprint, &knows);
        self.meets_as(Code::WorkMemoryReleased, Role::Release, (by, None), what, place, out);
    }

    /// Memory is given back, in the order of a clock, by a call of CUDA.
    pub(super) fn released_by(
        &mut self,
        call: &'static str,
        (bytes, knows): (&Range<usize>, &Knowledge),
        place: &dyn Place,
        out: &mut dyn Findings,
    ) {
        let footprint = Footprint::Dense(bytes.clone());
        let what = (Mode::Write, &footprint, knows);
        let by = (call, Some(call));
        self.meets_as(Code::WorkMemoryReleased, Role::Release, by, what, place, out);
    }

    /// Memory is given back by a node of a graph, in the order of a clock, at the place where the
    /// program has made it.
    pub(super) fn released_by_node(
        &mut self,
        call: &'static str,
        (bytes, site): (&Range<usize>, Site),
        clock: &Clock,
        out: &mut dyn Findings,
    ) {
        let code = Code::WorkMemoryReleased;
        let footprint = Footprint::Dense(bytes.clone());
        let found = self.conflicts(Mode::Write, &footprint, |flight, _| {
            !flight.epoch.happens_before(clock) && !self.may_wait(flight, code)
        });
        for conflict in found {
            if self.is_new(code, site.pc, &conflict, out) {
                let access = RawAccess::new(call, true, &conflict.bytes);
                let now = Now { access, role: Role::Release, site, doing: None };
                self.report(code, now, &conflict, out);
            }
        }
    }

    /// The conflicts of an access with work in flight that `concerns` it. Of work that comes after
    /// other such work only that is reported: who comes after it comes after both.
    fn conflicts(
        &self,
        mode: Mode,
        footprint: &Footprint,
        concerns: impl Fn(&Flight, &Access) -> bool,
    ) -> SmallVec<[Conflict; MAX_REPORTED]> {
        let mut found: SmallVec<[Conflict; MAX_REPORTED]> = SmallVec::new();
        let _ = self.live.conflicts::<()>(mode, footprint, |id, other, bytes| {
            let known = found.iter().any(|known| known.id == id);
            if !known && self.live.get(id).is_some_and(|flight| concerns(flight, other)) {
                if !self.is_last(id, &mut found) {
                    return ControlFlow::Continue(());
                }
                found.push(Conflict::new(id, other, bytes));
            }
            match found.len() < MAX_REPORTED {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        });
        found
    }

    /// Drops the conflicts with work that some other comes after; false if that comes before one of
    /// them.
    fn is_last(&self, id: OpId, found: &mut SmallVec<[Conflict; MAX_REPORTED]>) -> bool {
        let Some(this) = self.live.get(id) else { return false };
        let of = |conflict: &Conflict| self.live.get(conflict.id);
        found.retain(|conflict| {
            of(conflict).is_none_or(|other| !other.epoch.happens_before(&this.clock))
        });
        !found.iter().filter_map(of).any(|other| this.epoch.happens_before(&other.clock))
    }

    /// Whether this conflict has not been reported before.
    fn is_new(&self, code: Code, pc: usize, conflict: &Conflict, out: &mut dyn Findings) -> bool {
        let flight = self.live.get(conflict.id);
        flight.is_some_and(|flight| !out.again(code, pc, flight.site.pc))
    }

    /// Work with a place, as the side that acts now.
    fn now<'a>(
        &self,
        work: &'a Work,
        kernel_access: &KernelAccess,
        bytes: Range<usize>,
        (slot, site): (u32, Site),
    ) -> Now<'a> {
        let access = RawAccess::new(work.by(), kernel_access.mode.is_write(), &bytes);
        Now {
            access,
            role: Role::Access,
            site,
            doing: Some(self.doing_in(slot, work, kernel_access)),
        }
    }

    fn report(&mut self, code: Code, now: Now<'_>, conflict: &Conflict, out: &mut dyn Findings) {
        let Some(flight) = self.live.get(conflict.id) else { return };
        let doing = flight.doing(conflict.mode, &conflict.span);
        let Conflict { mode, span, touched, .. } = conflict;
        let operation = RawOperation::of(flight.call);
        let operation = operation.with_access(mode.is_write(), span, *touched);
        let sites = [(now.role, now.site), (Role::Operation, flight.site)];
        let report = Report {
            access: Some(now.access),
            work: Some(RawWork::new(now.doing.as_ref(), Some(&doing))),
            ..Report::new(code, operation, sites)
        };
        let number = out.report(report, flight.site.pc, &self.stacks);
        if let Some(flight) = self.live.get_mut(conflict.id) {
            flight.findings.subscribe(number);
        }
    }

    /// Memory is used that is not there, or not for whoever uses it.
    fn report_end(&mut self, code: Code, now: Now<'_>, end: End, out: &mut dyn Findings) {
        let End { bytes, role, site } = end;
        if out.again(code, now.site.pc, site.pc) {
            return;
        }
        let report = Report {
            access: Some(now.access),
            work: Some(RawWork::new(now.doing.as_ref(), None)),
            ..Report::new(code, allocation(site, &bytes), [(now.role, now.site), (role, site)])
        };
        out.report(report, site.pc, &self.stacks);
    }
}

/// The call that has allocated memory or given it back, with the memory.
pub(super) fn allocation(site: Site, bytes: &Range<usize>) -> RawOperation<'static> {
    RawOperation::of(site.call.unwrap_or_default()).with_access(true, bytes, bytes.len())
}

/// Whether two accesses are so strong that they do not race; `one_device` performs both, or not.
pub(super) fn are_strong(one: Strength, other: Strength, one_device: bool) -> bool {
    one.min(other) >= if one_device { Strength::Device } else { Strength::System }
}

impl Flight {
    /// What touches memory: the kernel, or the call.
    pub(super) fn by(&self) -> Arc<str> {
        self.kernel.clone().unwrap_or_else(|| self.call.into())
    }

    /// The touch that an access of the engine stands for.
    fn kernel_access(&self, mode: Mode, span: &Range<usize>) -> Option<&KernelAccess> {
        self.accesses.iter().find(|access| {
            let same = |bytes: &Bytes| matches!(bytes, Bytes::Exactly(f) if f.span() == *span);
            access.mode == mode && same(&access.bytes)
        })
    }

    pub(super) fn strength(&self, access: &Access) -> Strength {
        let kernel_access = self.kernel_access(access.mode, &access.footprint.span());
        kernel_access.map_or(Strength::Weak, |kernel_access| kernel_access.strength)
    }

    /// What findings say of it.
    pub(super) fn doing(&self, mode: Mode, span: &Range<usize>) -> Doing {
        let line = self.kernel_access(mode, span).and_then(|access| access.line.as_ref());
        let (file, line) = line.map(Line::parts).unzip();
        Doing { kernel: self.kernel.clone(), stream: Arc::clone(&self.stream), file, line }
    }
}
