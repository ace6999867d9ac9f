//! What work may touch, and is only suspected of until it has been executed.
//!
//! A kernel that follows pointers or indices from memory may access more than its code shows. Where
//! that would race with something, a suspicion is kept: what was met, and both places. The
//! simulated device then reports what the kernel really accesses, and a suspicion that this bears
//! out is a finding.
//!
//! **Soundness.** What is reported has been touched by both sides, and they were unordered when the
//! later of the two was made known. Missed is what work touches that was executed before the
//! suspicion arose though the host had not waited for it: a simulated device executes what somebody
//! waits for, and what nobody has waited for after a while. So is what two kernels touch that are
//! both in doubt once they have touched more separate ranges than [`Observed`] keeps, which is
//! noted. Where no device reports what is accessed, as on hardware, nothing that is only suspected
//! is reported.

use super::check::are_strong;
use super::observed::Observed;
use super::polling::strength;
use super::{Flight, Gpu, Knowledge, Started, Ticket};
use crate::clock::Epoch;
use crate::order::Order;
use crate::work::{Bytes, KernelAccess, Line, StreamName, Work};
use commsan_callsite::{Doing, Findings, Place, Report, Site, Stacks};
use commsan_findings::record::{RawAccess, RawOperation, RawWork, Record};
use commsan_findings::{Code, Role};
use commsan_ptx::Strength;
use commsan_shadow::{Access, Footprint, Live, Mode, OpId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;

/// Suspicions that are kept at most.
const MAX_SUSPICIONS: usize = 1 << 12;
/// Conflicts that one access is suspected of.
const MAX_EACH: usize = 32;
/// Blocks that work which may touch anything is compared by.
const MAX_BLOCKS: usize = 256;

/// Everything that is only suspected.
pub(super) struct PossibleConflicts {
    /// Whether some device reports what is really accessed.
    are_observed: bool,
    /// Work in flight, with what it may touch.
    pub(super) live: Live<Flight>,
    suspicions: Vec<Suspicion>,
    by_ticket: FxHashMap<Ticket, SmallVec<[u32; 4]>>,
    /// What that work has touched already.
    seen: Observed,
    /// There was no room for all of that.
    is_full: bool,
}

impl Default for PossibleConflicts {
    fn default() -> PossibleConflicts {
        PossibleConflicts {
            are_observed: false,
            live: Live::unmarked(),
            suspicions: Vec::new(),
            by_ticket: FxHashMap::default(),
            seen: Observed::default(),
            is_full: false,
        }
    }
}

/// Two sides that race if they touch common bytes.
struct Suspicion {
    code: Code,
    /// The offending side, and the operation.
    sides: [Suspect; 2],
    role: Role,
    operation: RawOperation<'static>,
    is_reported: bool,
}

/// One side of a suspicion.
#[derive(Clone, Debug)]
pub struct Suspect {
    /// How the bytes are touched: a kernel, a call.
    by: Arc<str>,
    /// Reads or writes.
    mode: Mode,
    /// What it touches, or may touch.
    bytes: Footprint,
    /// Where.
    site: Site,
    /// If it is work, what.
    doing: Option<Doing>,
    /// The device that does it, if it is work.
    device: Option<u32>,
    /// With what else it does not race, unless the execution shows it.
    strength: Strength,
    /// The work whose execution will show it, if that is open.
    open: Option<(Ticket, Epoch)>,
    /// The work that it is, if it was in flight when it was met.
    flight: Option<Ticket>,
}

impl Suspect {
    /// A side of which it is certain what it touches, and that it does so plainly.
    fn certain(by: &str, access: Access, site: Site, doing: Option<Doing>) -> Suspect {
        let Access { mode, footprint: bytes } = access;
        let (by, device, strength) = (by.into(), None, Strength::Weak);
        Suspect { by, mode, bytes, site, doing, device, strength, open: None, flight: None }
    }
}

impl Gpu {
    /// Some device will report what work really accesses ([`wants`](Gpu::wants)).
    pub fn observe_accesses(&mut self) {
        self.possible.are_observed = true;
    }

    /// Whether there are suspicions.
    pub fn suspects(&self) -> bool {
        self.possible.suspicions.iter().any(|suspicion| !suspicion.is_reported)
    }

    /// Whether it is of interest what this work really touches.
    pub fn wants(&self, ticket: Ticket) -> bool {
        self.possible.by_ticket.contains_key(&ticket)
    }

    /// Work has touched this.
    pub fn touched(
        &mut self,
        ticket: Ticket,
        mode: Mode,
        strength: Strength,
        bytes: &Range<usize>,
        line: Option<&Line>,
        out: &mut dyn Findings,
    ) {
        let Some(numbers) = self.possible.by_ticket.get(&ticket) else { return };
        let touched = ObservedAccess { ticket, mode, strength, bytes, line };
        let mut is_kept = false;
        for number in numbers.clone() {
            let PossibleConflicts { suspicions, seen, .. } = &mut self.possible;
            match suspicions[number as usize].bear_out(&touched, seen) {
                Borne::Out(bytes) => self.report_suspicion(number as usize, bytes, out),
                Borne::Perhaps => is_kept = true,
                Borne::Not => {}
            }
        }
        if is_kept
            && !self.possible.seen.add(ticket, (mode, strength), bytes)
            && !std::mem::replace(&mut self.possible.is_full, true)
        {
            let text = "kernels that run at the same time have touched more separate ranges than are \
                        kept; later ones were not all compared with each other";
            out.emit(Record::Note { text: text.into() }, &self.stacks);
        }
    }

    fn report_suspicion(&mut self, number: usize, bytes: Range<usize>, out: &mut dyn Findings) {
        let Suspicion { code, sides: [now, before], role, operation, .. } =
            &self.possible.suspicions[number];
        if out.again(*code, now.site.pc, before.site.pc) {
            return;
        }
        let (span, touched) = match before.open {
            Some(_) => (bytes.clone(), bytes.len()),
            None => (before.bytes.span(), before.bytes.bytes()),
        };
        let operation = operation.clone().with_access(before.mode.is_write(), &span, touched);
        let sites = [(*role, now.site), (Role::Operation, before.site)];
        let report = Report {
            access: Some(RawAccess::new(&now.by, now.mode.is_write(), &bytes)),
            work: Some(RawWork::new(now.doing.as_ref(), before.doing.as_ref())),
            ..Report::new(*code, operation, sites)
        };
        let finding = out.report(report, before.site.pc, &self.stacks);
        let Some(ticket) = before.flight else { return };
        for live in [&mut self.possible.live, &mut self.live] {
            let found = live.iter().find(|(_, flight)| flight.ticket == ticket).map(|(id, _)| id);
            if let Some(flight) = found.and_then(|id| live.get_mut(id)) {
                return flight.findings.subscribe(finding);
            }
        }
    }

    /// Work that may touch more than is certain begins.
    pub(super) fn begin_uncertain(&mut self, work: &Work, started: &Started<'_>) {
        if self.possible.are_observed {
            self.remember_launch(work, started);
            self.may_meet_work(work, started);
        }
        self.remember_uncertain(work, started);
    }

    /// It may meet other work.
    fn may_meet_work(&mut self, work: &Work, started: &Started<'_>) {
        let clock = started.clock;
        let device = self.order.device(started.epoch.agent);
        for kernel_access in work.accesses.iter() {
            if kernel_access.certain && self.possible.live.ranges() == 0 {
                continue;
            }
            for bytes in self.reach(kernel_access) {
                let access = Access { mode: kernel_access.mode, footprint: bytes };
                let doing = || Some(self.doing_in(started.epoch.agent, work, kernel_access));
                let open = (!kernel_access.certain).then_some((started.ticket, started.epoch));
                let is_unordered = |flight: &Flight| {
                    !flight.epoch.happens_before(clock)
                        && !self.may_wait_for_work(work, (device, clock), flight)
                };
                let met = self.doubtful(&access, open.is_some(), is_unordered);
                let found: SmallVec<[_; 4]> = met
                    .into_iter()
                    .map(|(operation, before)| {
                        let now =
                            Suspect::certain(work.by(), access.clone(), started.site, doing());
                        let (device, strength) = (Some(device), kernel_access.strength);
                        (operation, [Suspect { open, device, strength, ..now }, before])
                    })
                    .collect();
                for (operation, sides) in found {
                    self.suspect(Code::StreamsRace, Role::Access, operation, sides);
                }
            }
        }
    }

    /// Remembers what work may touch: all if the execution is observed, else by what it may signal
    /// to the host.
    fn remember_uncertain(&mut self, work: &Work, started: &Started<'_>) {
        let all = self.possible.are_observed;
        let is_kept = |access: &&KernelAccess| !access.certain && (all || access.signals_host());
        let full = self.possible.live.ranges() >= MAX_SUSPICIONS;
        if full || !work.accesses.iter().any(|access| is_kept(&access)) {
            return;
        }
        let mut marks = SmallVec::new();
        let mut accesses: SmallVec<[Option<Access>; 8]> = SmallVec::new();
        for access in work.accesses.iter().filter(is_kept) {
            for footprint in self.reach(access) {
                self.mark(&footprint.span(), &mut marks);
                accesses.push(Some(Access { mode: access.mode, footprint }));
            }
        }
        let flight = self.flight(work, started, marks);
        self.possible.live.begin(&mut accesses, flight);
    }

    /// An access of the host, or of a call of MPI, may meet work in flight. Returns whether there
    /// is some.
    pub(super) fn may_meet(
        &mut self,
        code: Code,
        role: Role,
        (by, site): (&str, impl FnOnce(&mut Stacks) -> Site),
        (access, knows): (&Access, &Knowledge),
    ) -> bool {
        if self.possible.live.ranges() == 0 {
            return false;
        }
        let is_unordered =
            |flight: &Flight| knows.is_unordered(flight) && !self.may_wait(flight, code);
        let met = self.doubtful(access, false, is_unordered);
        if met.is_empty() {
            return false;
        }
        let site = site(&mut self.stacks);
        for (operation, before) in met {
            let now = Suspect::certain(by, access.clone(), site, None);
            let now = Suspect { strength: strength(code), ..now };
            self.suspect(code, role, operation, [now, before]);
        }
        true
    }

    /// What an access may meet: work that may touch its bytes, and, if the access itself is in
    /// doubt, work that certainly does.
    fn doubtful(
        &self,
        access: &Access,
        is_open: bool,
        is_unordered: impl Fn(&Flight) -> bool,
    ) -> SmallVec<[(RawOperation<'static>, Suspect); 4]> {
        let Access { mode, footprint } = access;
        let mut met = SmallVec::new();
        let mut look = |live: &Live<Flight>, open: bool| {
            let _ = live.conflicts::<()>(*mode, footprint, |id, other, _| {
                let Some(flight) = live.get(id) else { return ControlFlow::Continue(()) };
                if is_unordered(flight) {
                    met.push((RawOperation::of(flight.call), flight.suspect(other, open)));
                }
                match met.len() < MAX_EACH {
                    true => ControlFlow::Continue(()),
                    false => ControlFlow::Break(()),
                }
            });
        };
        look(&self.possible.live, true);
        if is_open {
            look(&self.live, false);
        }
        met
    }

    /// Keeps a suspicion until its work is executed.
    fn suspect(
        &mut self,
        code: Code,
        role: Role,
        operation: RawOperation<'static>,
        sides: [Suspect; 2],
    ) {
        if !self.possible.are_observed || self.possible.suspicions.len() == MAX_SUSPICIONS {
            return;
        }
        let number = self.possible.suspicions.len() as u32;
        for (ticket, _) in sides.iter().filter_map(|side| side.open) {
            self.possible.by_ticket.entry(ticket).or_default().push(number);
        }
        let suspicion = Suspicion { code, sides, role, operation, is_reported: false };
        self.possible.suspicions.push(suspicion);
    }

    /// The sides that work which has just been put into its stream is of suspicions that it meets
    /// MPI's operations: what it may touch.
    pub fn open_suspects(
        &mut self,
        work: &Work,
        (stream, ticket): (StreamName, Ticket),
        place: &dyn Place,
    ) -> Vec<(Access, Suspect)> {
        let (mut suspects, slot) = (Vec::new(), self.slot(stream));
        if !self.possible.are_observed || self.graphs.captures(slot) {
            return suspects;
        }
        let site = place.site(Some(work.call), &mut self.stacks);
        let epoch = self.order.latest(slot);
        for kernel_access in work.accesses.iter().filter(|kernel_access| !kernel_access.certain) {
            for footprint in self.reach(kernel_access) {
                let access = Access { mode: kernel_access.mode, footprint };
                let doing = Some(self.doing_in(slot, work, kernel_access));
                let side = Suspect::certain(work.by(), access.clone(), site, doing);
                suspects.push((access, Suspect { open: Some((ticket, epoch)), ..side }));
            }
        }
        suspects
    }

    /// Keeps the suspicion that work meets one of MPI's operations, which is pending: where it was
    /// started, as a place in `stacks`, and its access.
    pub fn suspect_operation(
        &mut self,
        now: Suspect,
        (operation, site, access): (RawOperation<'static>, Site, Access),
        stacks: &Stacks,
    ) {
        let site = self.stacks.adopt(site, stacks);
        let before = Suspect::certain(&operation.call, access, site, None);
        self.suspect(Code::CallMeetsWork, Role::Access, operation, [now, before]);
    }

    /// What an access may reach.
    pub(super) fn reach(&self, access: &KernelAccess) -> SmallVec<[Footprint; 2]> {
        match &access.bytes {
            Bytes::Exactly(footprint) => SmallVec::from_iter([footprint.clone()]),
            Bytes::Within(address) => {
                let block = self.memory.around(*address);
                block.map(|block| Footprint::Dense(block.bytes.clone())).into_iter().collect()
            }
            Bytes::Anywhere => {
                let blocks = self.memory.blocks().take(MAX_BLOCKS);
                blocks.map(|block| Footprint::Dense(block.bytes.clone())).collect()
            }
        }
    }

    /// Forgets what all threads of the host know to be complete: it has been executed.
    pub(super) fn sweep_possible(
        &mut self,
        call: Option<&'static str>,
        place: &dyn Place,
        out: &mut dyn Findings,
    ) {
        let over: SmallVec<[OpId; 16]> = self
            .possible
            .live
            .iter()
            .filter(|(_, flight)| self.order.is_known_to_all(flight.epoch))
            .map(|(id, _)| id)
            .collect();
        if over.is_empty() {
            return;
        }
        for id in over {
            let Some(flight) = self.possible.live.end(id) else { continue };
            self.report_waited(&flight, call, place, out);
            self.unmark(flight.marks);
        }
        self.possible.settle(&self.order);
    }
}

impl PossibleConflicts {
    /// Forgets suspicions that are reported, and those that no execution can bear out any more.
    fn settle(&mut self, order: &Order) {
        let settled = |suspicion: &Suspicion| {
            let mut open = suspicion.sides.iter().filter_map(|side| side.open);
            suspicion.is_reported || open.all(|(_, epoch)| order.is_known_to_all(epoch))
        };
        self.suspicions.retain(|suspicion| !settled(suspicion));
        self.by_ticket.clear();
        for (number, suspicion) in self.suspicions.iter().enumerate() {
            for (ticket, _) in suspicion.sides.iter().filter_map(|side| side.open) {
                self.by_ticket.entry(ticket).or_default().push(number as u32);
            }
        }
        self.seen.retain(|ticket| self.by_ticket.contains_key(&ticket));
    }

    /// Whether something in flight may touch these bytes.
    pub(super) fn kernel_access(&self, bytes: &Range<usize>) -> bool {
        self.live.touching(bytes, |_, _, _| ControlFlow::Break(())).is_break()
    }
}

impl Flight {
    fn suspect(&self, access: &Access, is_open: bool) -> Suspect {
        Suspect {
            by: self.by(),
            mode: access.mode,
            bytes: access.footprint.clone(),
            site: self.site,
            doing: Some(self.doing(access.mode, &access.footprint.span())),
            device: Some(self.device),
            strength: self.strength(access),
            open: is_open.then_some((self.ticket, self.epoch)),
            flight: Some(self.ticket),
        }
    }
}

/// What work has touched.
struct ObservedAccess<'t> {
    ticket: Ticket,
    mode: Mode,
    strength: Strength,
    bytes: &'t Range<usize>,
    line: Option<&'t Line>,
}

/// What that says of a suspicion.
enum Borne {
    /// Both sides have touched these bytes: it is a race.
    Out(Range<usize>),
    /// The other side, executed later, may touch them.
    Perhaps,
    /// Nothing.
    Not,
}

impl Suspicion {
    /// Takes in what work has touched, and what other work has before.
    fn bear_out(&mut self, touched: &ObservedAccess<'_>, seen: &Observed) -> Borne {
        let is_it = |side: &Suspect| side.open.is_some_and(|(open, _)| open == touched.ticket);
        let Some(at) = self.sides.iter().position(is_it) else { return Borne::Not };
        let other = &self.sides[1 - at];
        if self.is_reported || touched.mode != self.sides[at].mode {
            return Borne::Not;
        }
        let Some(common) = other.bytes.within(touched.bytes) else { return Borne::Not };
        let one_device = other.device == self.sides[at].device;
        let races = |strength| !are_strong(touched.strength, strength, one_device);
        let met = match other.open {
            None => races(other.strength).then_some(common),
            Some((ticket, _)) => {
                let strengths = Strength::ALL.into_iter().filter(|strength| races(*strength));
                let mut both = strengths.flat_map(|strength| {
                    seen.common(ticket, (other.mode, strength), touched.bytes)
                });
                both.find_map(|both| other.bytes.within(&both))
            }
        };
        let Some(met) = met else {
            return if other.open.is_some() { Borne::Perhaps } else { Borne::Not };
        };
        self.is_reported = true;
        if let (Some(line), Some(doing)) = (touched.line, &mut self.sides[at].doing) {
            (doing.file, doing.line) = Some(line.parts()).unzip();
        }
        Borne::Out(met)
    }
}
