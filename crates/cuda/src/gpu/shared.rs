//! Device memory that several processes use, `cudaIpcOpenMemHandle`: what they do with it, and what
//! orders that.
//!
//! **Soundness.** Both sides of a finding touch a common byte, one of them writes, and neither
//! comes after the other: the later stream does not wait for an event that comes after the earlier
//! work, and the host which has started the earlier has not waited for it and then released, by
//! MPI, to the one that starts the later, directly or through other ranks (MPI orders hosts, and
//! streams only as far as these wait for them). Each use is written down before it is compared with
//! those of others, so that of two at once one at least sees the other. Nothing is reported of
//! processes whose order may be one that is not seen: if work of one of them uses volatile or
//! atomic accesses outside of what only its own streams can reach, or NCCL's, or NVSHMEM's, for
//! these can signal each other while they run; and without MPI. What hosts communicate by other
//! means, pipes or signals, is not seen either.
//!
//! Missed is what is not certain ([`KernelAccess::certain`]), too scattered, or more than a process
//! can remember; what operations of MPI on parts of buffers do between their start and their
//! completion; and what ranks on other nodes do, which cannot open the memory.

use super::{Gpu, Started};
use crate::clock::{Clock, Epoch};
use crate::ipc::{Glimpse, SharedMemory, Spot, Use};
use crate::work::{Bytes, KernelAccess, MemoryKind, Work};
use commsan_callsite::{Doing, Findings, Place, Report, Site, StackId};
use commsan_findings::record::{RawAccess, RawOperation, RawWork, Record};
use commsan_findings::{Code, Role};
use commsan_job_shm::RankTime;
use commsan_ptx::Strength;
use commsan_shadow::{Access, Footprint, Mode, OpId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// What only concerns memory that several processes use.
#[derive(Default)]
pub(super) struct Shared {
    /// Blocks of such memory.
    blocks: usize,
    /// Whether ranks exchange their clocks.
    has_time: bool,
    time: RankTime,
    /// Numbers of places that others may refer to.
    sites: FxHashMap<(StackId, Option<&'static str>), u32>,
    /// Operations of MPI that are pending, with where they were started.
    operations: FxHashMap<OpId, Spot>,
    /// Uses of others that work of this process was reported to meet.
    told: VecDeque<(Spot, Epoch)>,
    /// Calls of other processes, by their names.
    calls: FxHashSet<&'static str>,
}

/// Numbers of places that MPI's operations have are below.
const FIRST_SITE: u32 = 1 << 30;
/// Meetings that are kept.
const MAX_MEETINGS: usize = 256;
/// Names of calls that are kept.
const MAX_CALLS: usize = 256;

/// One side of what may be a finding, that of this process.
struct Mine<'a> {
    by: &'a str,
    call: &'static str,
    mode: Mode,
    footprint: &'a Footprint,
    site: Site,
    doing: Option<Doing>,
}

impl Gpu {
    /// Whether this process uses memory that others use, too.
    #[inline]
    pub fn shares_memory(&self) -> bool {
        self.shared.blocks != 0
    }

    /// The time among other processes as of now; `None` where ranks exchange no clocks.
    pub fn set_time(&mut self, now: Option<RankTime<&[u32]>>) {
        self.shared.has_time = now.is_some();
        now.into_iter().for_each(|now| self.shared.time.set(now));
    }

    /// Other processes may open memory, by a handle that may have been `known` for other memory,
    /// which is no more; where they find what is done with it.
    pub fn memory_exported(
        &mut self,
        address: usize,
        known: Option<SharedMemory>,
    ) -> Option<SharedMemory> {
        let known = known.filter(|known| self.ipc.is_own(*known));
        let block = self.memory.around_mut(address)?;
        if block.shared.is_none() {
            block.shared = Some(known.or_else(|| self.ipc.share())?);
            self.shared.blocks += 1;
        }
        block.shared
    }

    /// Memory of another process was opened, which says where that is, or nobody does.
    pub fn memory_opened(
        &mut self,
        address: usize,
        shared: Option<SharedMemory>,
        call: &'static str,
        place: &dyn Place,
        out: &mut dyn Findings,
    ) {
        let Some(memory) = shared else { return };
        let site = place.site(Some(call), &mut self.stacks);
        let Some(spot) = self.spot(site, out) else { return };
        let Some(block) = self.memory.around_mut(address) else { return };
        if block.shared.replace(memory).is_none() {
            self.shared.blocks += 1;
        }
        self.ipc.open_memory(memory, spot);
    }

    /// Memory is about to be given back, or closed.
    pub(super) fn unshare(
        &mut self,
        bytes: &Range<usize>,
        call: &'static str,
        place: &dyn Place,
        out: &mut dyn Findings,
    ) {
        let Some(memory) = self.memory.around(bytes.start).and_then(|block| block.shared) else {
            return;
        };
        if let Some(block) = self.memory.around_mut(bytes.start) {
            block.shared = None;
        }
        self.shared.blocks -= 1;
        if !self.ipc.is_own(memory) {
            return self.ipc.close_memory(memory);
        }
        for spot in self.ipc.openers(memory) {
            let site = place.site(Some(call), &mut self.stacks);
            let other = Site::remote("cudaIpcOpenMemHandle", spot.rank, spot.site);
            if out.again(Code::FreedWhileOpen, site.pc, other.pc) {
                continue;
            }
            let operation = RawOperation::of("cudaIpcOpenMemHandle");
            let operation = operation.with_access(true, bytes, bytes.len());
            let sites = [(Role::Release, site), (Role::Operation, other)];
            let report = Report {
                access: Some(RawAccess::new(call, true, bytes)),
                ..Report::new(Code::FreedWhileOpen, operation, sites)
            };
            out.report(report, other.pc, &self.stacks);
        }
    }

    /// The place as others refer to it.
    fn spot(&mut self, site: Site, out: &mut dyn Findings) -> Option<Spot> {
        let rank = self.shared.time().map(|time| time.rank)?;
        let next = FIRST_SITE + self.shared.sites.len() as u32;
        let stacks = &self.stacks;
        let key = (site.stack, site.call);
        let number = *self.shared.sites.entry(key).or_insert_with(|| {
            out.emit(Record::Site { id: next, site: (Role::Operation, site) }, stacks);
            next
        });
        Some(Spot { rank, site: number })
    }

    /// The host has waited for this, so that whoever acquires its present comes after it.
    #[inline]
    pub(super) fn complete_shared(&mut self, clock: &Clock) {
        if let Some(time) = self.shared.time() {
            self.ipc.complete(clock, time.segment);
        }
    }

    /// Work begins that may signal other processes while it runs, or wait for them.
    pub(super) fn signals(&mut self, work: &Work) {
        let is_seen = |address| match self.memory.around(address) {
            Some(block) => block.kind != MemoryKind::Device || block.shared.is_some(),
            None => true,
        };
        let may_tell = |access: &KernelAccess| match &access.bytes {
            Bytes::Exactly(footprint) => is_seen(footprint.span().start),
            Bytes::Within(address) => is_seen(*address),
            Bytes::Anywhere => true,
        };
        let strong = |access: &&KernelAccess| access.strength >= Strength::Device;
        let is_library = ["nccl", "nvshmem"].iter().any(|name| work.call.starts_with(name));
        if is_library || work.accesses.iter().filter(strong).any(may_tell) {
            self.ipc.signal();
        }
    }

    /// Work against that of other processes.
    pub(super) fn meets_others(
        &mut self,
        work: &Work,
        (access, footprint): (&KernelAccess, &Footprint),
        started: &Started<'_>,
        out: &mut dyn Findings,
    ) {
        let Started { epoch, clock, site, .. } = *started;
        let mine = Mine {
            by: work.by(),
            call: work.call,
            mode: access.mode,
            footprint,
            site,
            doing: Some(self.doing_in(epoch.agent, work, access)),
        };
        self.compare(&mine, Some(epoch), (clock, 0), out);
    }

    /// A call of MPI against work of other processes.
    pub(super) fn call_meets_others(
        &mut self,
        call: &'static str,
        access: &Access,
        (clock, place): (&Clock, &dyn Place),
        out: &mut dyn Findings,
    ) {
        let Some(done) = self.shared.time().map(|time| time.segment) else { return };
        let mine = Mine {
            by: call,
            call,
            mode: access.mode,
            footprint: &access.footprint,
            site: place.site(Some(call), &mut self.stacks),
            doing: None,
        };
        self.compare(&mine, None, (clock, done), out);
    }

    /// An operation of MPI has started here, and does this when it likes. What it meets then, its
    /// call has met.
    pub fn operation_starts(
        &mut self,
        operation: OpId,
        accesses: &[Access],
        call: &'static str,
        place: &dyn Place,
        out: &mut dyn Findings,
    ) {
        let site = place.site(Some(call), &mut self.stacks);
        let Some(spot) = self.spot(site, out) else { return };
        self.shared.operations.insert(operation, spot);
        accesses.iter().for_each(|access| self.operation_uses(access, (spot, call), 0));
    }

    /// It is over.
    pub fn operation_ends(&mut self, operation: OpId, accesses: &[Access], call: &'static str) {
        let Some(spot) = self.shared.operations.remove(&operation) else { return };
        if let Some(segment) = self.shared.time().map(|time| time.segment) {
            accesses.iter().for_each(|access| self.operation_uses(access, (spot, call), segment));
        }
    }

    fn operation_uses(&mut self, access: &Access, (spot, call): (Spot, &str), done: u32) {
        let span = access.footprint.span();
        let block = self.memory.around(span.start).filter(|_| !span.is_empty());
        let Some((memory, start)) =
            block.and_then(|block| Some((block.shared?, block.bytes.start)))
        else {
            return;
        };
        let Some(runs) = Use::runs_of(&access.footprint, start) else { return };
        let mode = access.mode;
        let used = Use { memory, mode, runs, epoch: None, spot, call: call.into(), doing: None };
        self.ipc.note_use(used, done);
    }

    /// Notes a use, and reports which of others it meets.
    fn compare(
        &mut self,
        mine: &Mine<'_>,
        epoch: Option<Epoch>,
        (clock, done): (&Clock, u32),
        out: &mut dyn Findings,
    ) {
        let span = mine.footprint.span();
        let block = self.memory.around(span.start).filter(|_| !span.is_empty());
        let Some((memory, start)) =
            block.and_then(|block| Some((block.shared?, block.bytes.start)))
        else {
            return;
        };
        let Some(runs) = Use::runs_of(mine.footprint, start) else { return };
        let Some(spot) = self.spot(mine.site, out) else { return };
        let used = Use {
            memory,
            mode: mine.mode,
            runs,
            epoch,
            spot,
            call: mine.call.into(),
            doing: mine.doing.clone(),
        };
        self.ipc.note_use(used, done);
        let Some(time) = self.shared.time() else { return };
        let is_unordered = |other: &Glimpse| {
            let both_read = mine.mode == Mode::Read && other.mode == Mode::Read;
            let known = time.known.get(other.spot.rank as usize).copied().unwrap_or(u32::MAX);
            let is_told = other.done != 0 && (time.acquires || known >= other.done);
            !both_read && !is_told
        };
        for other in self.ipc.uses_of_others(memory, clock, is_unordered) {
            let theirs = other.footprint(start);
            let Some(bytes) = mine.footprint.meets(&theirs) else { continue };
            // What comes after work that has met it is another consequence of that.
            let is_told =
                |(spot, work): &(Spot, Epoch)| *spot == other.spot && work.happens_before(clock);
            if self.shared.told.iter().any(is_told) {
                continue;
            }
            if let Some(epoch) = epoch {
                self.shared.told.truncate(MAX_MEETINGS - 1);
                self.shared.told.push_front((other.spot, epoch));
            }
            self.report_shared(mine, &other, (theirs, bytes), out);
        }
    }

    fn report_shared(
        &mut self,
        mine: &Mine<'_>,
        other: &Use,
        (theirs, bytes): (Footprint, Range<usize>),
        out: &mut dyn Findings,
    ) {
        let call = self.shared.name_of(&other.call);
        let site = Site::remote(call, other.spot.rank, other.spot.site);
        if out.again(Code::ProcessesRace, mine.site.pc, site.pc) {
            return;
        }
        let operation = RawOperation::of(call);
        let operation =
            operation.with_access(other.mode.is_write(), &theirs.span(), theirs.bytes());
        let sites = [(Role::Access, mine.site), (Role::Operation, site)];
        let report = Report {
            access: Some(RawAccess::new(mine.by, mine.mode.is_write(), &bytes)),
            work: Some(RawWork::new(mine.doing.as_ref(), other.doing.as_ref())),
            ..Report::new(Code::ProcessesRace, operation, sites)
        };
        out.report(report, site.pc, &self.stacks);
    }
}

impl Shared {
    fn time(&self) -> Option<&RankTime> {
        self.has_time.then_some(&self.time)
    }

    /// A name that is kept. There are few calls.
    fn name_of(&mut self, call: &Arc<str>) -> &'static str {
        if let Some(known) = self.calls.get(&**call) {
            return known;
        }
        if self.calls.len() == MAX_CALLS {
            return "a call";
        }
        let kept: &'static str = Box::leak(Box::from(&**call));
        self.calls.insert(kept);
        kept
    }
}
