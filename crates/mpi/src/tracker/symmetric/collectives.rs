//! What PEs enter together: all of them, or those of an active set.

use super::Symmetric;
use super::call::Call;
use crate::buffers::Args;
use crate::collective::entry::{Asserted, Root};
use crate::ids::{Group, On, mixed};
use crate::rma::knowledge::{Event, Knowledge};
use crate::rma::order::Collective;
use crate::tracker::collectives::Entering;
use crate::tracker::remote_ops::row;
use crate::tracker::{Reporter, Tracker, Wrong};
use commsan_callsite::{Findings, Place, Report, Site};
use commsan_findings::record::{RawAccess, RawArgument};
use commsan_findings::{Code, Role};
use commsan_mpi_calls::shmem::{Kind, Passed};
use commsan_mpi_calls::{CALLS, Flow, reduction};
use commsan_shadow::{Access, Mode, Past, When};
use std::ops::{ControlFlow, Range};

/// Uses of a destination that are looked at.
const MAX_FOUND: usize = 8;

/// The last collective that has used a work array.
pub struct LastUse {
    key: u64,
    /// The key of its set.
    set: usize,
    kind: Kind,
    group: Group,
    site: Site,
}

/// Under this key a PE says that it has left a collective.
fn left(key: u64) -> u64 {
    mixed(key, 0x1ef7)
}

/// A collective that this PE is in.
pub struct Entered {
    of: Collective,
    /// The segment that ended when it was entered.
    segment: u32,
}

impl Symmetric {
    /// The members of an active set, and the key under which its collectives are counted.
    pub(super) fn members(&self, set: Option<[i32; 3]>) -> (usize, Vec<u32>) {
        let all = || (0, (0..self.pes as u32).collect());
        let Some([start, log, size]) = set else { return all() };
        let stride = 1_i64 << log.clamp(0, 31);
        let members = (0..i64::from(size)).map(|n| (i64::from(start) + n * stride) as u32);
        if size == self.pes && start == 0 && (log == 0 || size == 1) {
            return all();
        }
        let key = mixed(mixed(start as u64, log as u64), size as u64) | 1;
        (key as usize, members.collect())
    }

    /// Whether this PE is the root of a call that has one.
    pub(super) fn is_root(&self, call: &Call) -> Option<bool> {
        let root = call.int("PE_root")?;
        let (_, members) = self.members(call.set());
        Some(members.get(usize::try_from(root).ok()?).is_some_and(|pe| *pe as i32 == self.me))
    }

    /// What PEs enter together by a call.
    pub fn on(&self, args: &Args) -> Option<On> {
        let call = Call::of(args).filter(|call| call.kind.is_collective() && self.is_begun())?;
        Some(On::Pes(self.members(call.set()).0))
    }
}

impl Tracker {
    /// PEs enter a call together.
    pub(super) fn shmem_enters(
        &mut self,
        call: &Call,
        parallel: bool,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let set = call.set();
        if set.is_some_and(|set| self.symmetric.wrong_set(set).is_some()) {
            return;
        }
        let (key, members) = self.symmetric.members(set);
        let on = On::Pes(key);
        let root = call.int("PE_root").and_then(|root| members.get(usize::try_from(root).ok()?));
        let root = root.map_or(Root::Unknown, |root| Root::Rank(*root));
        if self.together.on.find(on).is_none() {
            self.together.on.add_pes(key, &Group::new(members));
        }
        let mut alike = [0; 3];
        for (value, at) in alike.iter_mut().zip(&call.args.call.alike) {
            *value = match &*call.args.call.params[*at].name {
                // Addresses may differ.
                "block" => {
                    let block = self.symmetric.heap.block_at(call.args.words[*at]);
                    block.map_or(0, |block| block.number.into())
                }
                _ if call
                    .args
                    .call
                    .symmetric
                    .is_some_and(|call| call.params[*at].passed == Passed::Int) =>
                {
                    call.args.int(*at) as i64 as u64
                }
                _ => call.args.words[*at] as u64,
            };
        }
        let entering = Entering {
            call: call.args.call,
            on,
            blocking: true,
            parallel,
            root,
            op: reduction::OTHER,
            data: None,
            received: None,
            asserted: Asserted::default(),
            alike,
        };
        self.enter(&entering, place, out);
    }

    /// Releases to all PEs that enter a call together what happens before it.
    pub(super) fn shmem_releases(
        &mut self,
        call: &Call,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let active = call.set();
        if active.is_some_and(|active| self.symmetric.wrong_set(active).is_some()) {
            return;
        }
        let (set, members) = self.symmetric.members(active);
        let root = call.int("PE_root").and_then(|root| members.get(usize::try_from(root).ok()?));
        let (root, group) = (root.copied(), Group::new(members));
        let is_empty = [call.word("nelems"), call.int("nreduce").map(|count| count as usize)]
            .iter()
            .flatten()
            .any(|count| *count == 0);
        let flow = match call.kind {
            // Of different sizes, others may not be empty.
            kind if is_empty && kind != Kind::Collect => Flow::None,
            Kind::Broadcast => Flow::FromRoot,
            _ => Flow::All,
        };
        if matches!(call.kind, Kind::BarrierAll | Kind::Barrier) {
            self.shmem_completes(Some(0));
        }
        let count = self.symmetric.entered.entry(set).or_default();
        *count += 1;
        let key = mixed(mixed(group.name ^ 0x5e0c, set as u64), *count);
        let segment = self.end_segment();
        if let Some(clock) = &self.rma.clock {
            clock.shm().enter(key, segment);
        }
        self.shmem_uses_work_arrays(call, set, (key, &group), place, out);
        let of = Collective { key, group, flow, root, sources: Vec::new(), blocks: true };
        self.symmetric.inside.insert(place.thread(), Entered { of, segment });
    }

    /// PEs leave a call together.
    pub(super) fn shmem_leaves(&mut self, call: &Call, place: &impl Place, out: &mut dyn Findings) {
        let Some(Entered { of, segment }) = self.symmetric.inside.remove(&place.thread()) else {
            return;
        };
        self.drain(place, out);
        self.shmem_was_ready(call, &of, segment, place, out);
        let from = of.acquires_from(self.symmetric.me as u32);
        let everyone_waits = of.flow == Flow::All;
        self.acquire_from_collective(of.key, &of.group, &from, everyone_waits, place, out);
        if let Some(clock) = &self.rma.clock {
            // This PE's next segment comes after its return.
            clock.shm().enter(left(of.key), clock.segment() - 1);
        }
        for (_, _, elements) in call.collective() {
            if let Some(span) = elements.span() {
                self.use_variables(&span);
            }
        }
        let root = self.symmetric.is_root(call);
        for (_, mode, elements) in call.collective() {
            if mode == Mode::Write
                && root != Some(true)
                && let Some(footprint) = elements.footprint()
            {
                self.note(&Access { mode, footprint }, call.args.call, place.pc(), None);
            }
        }
    }

    /// A collective uses its work arrays from now on, at all PEs: they must have returned from what
    /// has used them before, and this one must know.
    fn shmem_uses_work_arrays(
        &mut self,
        call: &Call,
        set: usize,
        (key, group): (u64, &Group),
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let site = self.reporter.site(call.args.call, place);
        for name in ["pSync", "pWrk"] {
            let Some(at) = call.word(name) else { continue };
            let by = LastUse { key, set, kind: call.kind, group: group.clone(), site };
            let Some(last) = self.symmetric.work_arrays.insert(at, by) else { continue };
            let is_barrier = matches!(call.kind, Kind::Barrier | Kind::Sync);
            if is_barrier && (last.kind, last.set) == (call.kind, set) {
                continue;
            }
            if let Some(pe) = self.may_be_inside(&last) {
                let problem = format!(
                    "may be in use at PE {pe}, which is not known to have returned from its last use"
                );
                let wrong =
                    Wrong::symmetric(Code::WorkArrayReused, name, &problem, Some(last.site));
                self.reporter.wrong_argument(call.args, &wrong, place, out);
            }
        }
    }

    /// A PE that was in a collective and is not known to this one to have left it: it has not left
    /// it yet, or this one's clock does not cover that.
    fn may_be_inside(&self, last: &LastUse) -> Option<u32> {
        let clock = self.rma.clock.as_ref()?;
        let others = last.group.members.iter().copied().filter(|pe| *pe != clock.me());
        let mut here = others.filter(|pe| clock.shm().is_here(*pe as usize));
        here.find(|pe| {
            let shm = clock.shm();
            let has_left = shm.entered(*pe as usize, left(last.key));
            match has_left {
                Some(segment) => !clock.comes_after(*pe, segment),
                // That it was there is known for as long as that it has left.
                None => {
                    shm.entered(*pe as usize, last.key).is_some()
                        && shm.entered(*pe as usize, left(last.key)).is_none()
                }
            }
        })
    }

    /// This PE was in a collective: whether what it had done to the destination before is ordered
    /// before others came to it, which may have written there at once.
    fn shmem_was_ready(
        &mut self,
        call: &Call,
        of: &Collective,
        entered: u32,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let me = self.symmetric.me as u32;
        let writers = of.acquires_from(me);
        let (Some(exposed), Some(clock)) = (&self.rma.exposed, &self.rma.clock) else { return };
        let written = call.collective().into_iter().find(|(_, mode, _)| *mode == Mode::Write);
        let Some(footprint) = written.and_then(|(_, _, elements)| elements.footprint()) else {
            return;
        };
        if call.word("source") == call.word("dest") {
            return; // in place: what is contributed is stored there, and needed before the result
        }
        let mut found: Vec<(Past, Range<usize>)> = Vec::new();
        let _ = footprint.visit::<()>(&footprint.span(), &mut |run| {
            exposed.shadow().conflicts(&run, Mode::Write, |past, bytes| {
                // What an earlier collective has left there is replaced, whoever comes first.
                let is_collective = row(past.by)
                    .and_then(|row| CALLS.get(row)?.symmetric_kind())
                    .is_some_and(Kind::is_collective);
                let is_known = found.iter().any(|(other, _)| other.pc == past.pc);
                if !is_collective && !is_known && past.when.segment <= entered {
                    found.push((past, bytes));
                }
                found.len() < MAX_FOUND
            });
            ControlFlow::Continue(())
        });
        if found.is_empty() || self.rma.is_symmetric_memory_shared() {
            return;
        }
        let mut known = Knowledge::default();
        let mut races = Vec::new();
        for pe in writers {
            let Some(segment) =
                clock.shm().is_here(pe as usize).then(|| clock.shm().entered(pe as usize, of.key))
            else {
                continue;
            };
            let Some(segment) = segment else { continue };
            clock.read(pe, segment, &mut known);
            found.retain(|(past, bytes)| {
                let When { segment, stamp } = past.when;
                let is_ordered = known.covers(Event { rank: me, segment, stamp });
                if !is_ordered {
                    races.push((pe, *past, bytes.clone()));
                }
                is_ordered
            });
        }
        for (pe, past, bytes) in races {
            let access = Access { mode: Mode::Write, footprint: footprint.clone() };
            self.reporter.destination_not_ready(call.args, (&past, bytes), pe, &access, place, out);
        }
    }
}

impl Reporter {
    /// Reports a use of the destination of a collective that a PE may have come to already.
    fn destination_not_ready(
        &mut self,
        args: &Args,
        (past, bytes): (&Past, Range<usize>),
        pe: u32,
        access: &Access,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let code = Code::DestinationNotReady;
        if out.again(code, past.pc, place.pc()) {
            return;
        }
        let (site, by) = self.past(past, place);
        let operation = self.operation(args, place);
        let sites = [(Role::Access, site), (Role::Operation, operation.site)];
        let problem = format!("PE {pe}");
        let report = Report {
            access: Some(RawAccess::new(by, past.mode.is_write(), &bytes)),
            argument: Some(RawArgument::new("dest", &problem, None)),
            ..Report::new(code, operation.described_with(access), sites)
        };
        self.report(report, &operation.site, out);
    }
}
