//! Kernels that fail while a simulated device executes them. **Soundness.** What is reported has
//! been executed: it is an error of the kernel. Where the launch was is known for the last
//! [`MAX_LAUNCHES`] launches at least.

use super::check::allocation;
use super::{Gpu, Started, Ticket};
use crate::memory::{Block, Freed};
use crate::work::{Line, Work};
use commsan_callsite::{Doing, Findings, Report, Site};
use commsan_findings::record::{RawAccess, RawArgument, RawOperation, RawWork};
use commsan_findings::{Code, Role};
use commsan_shadow::Mode;
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::Arc;

/// Launches that are remembered; twice as many at most.
const MAX_LAUNCHES: usize = 1 << 14;

/// How far from memory an access still counts as beside it, unless the memory is larger than that.
const NEAR: usize = 1 << 16;

/// What a kernel has done wrong.
#[derive(Clone, Debug)]
pub struct Failure {
    /// In words: `out of bounds global store of 4 bytes`.
    pub what: String,
    /// The block's index in the grid.
    pub block: [u32; 3],
    /// The thread's index in the block.
    pub thread: [u32; 3],
    /// Where in the source.
    pub line: Option<Line>,
    /// The access to global memory that is not allowed, if that is what it is.
    pub access: Option<(Mode, Range<usize>)>,
    /// The PE of NVSHMEM whose memory the access was to, by the addresses of this PE's own.
    pub pe: Option<i32>,
}

/// Where kernels were launched that may have yet to be executed.
#[derive(Default)]
pub(super) struct Launches {
    now: FxHashMap<Ticket, Launched>,
    /// Those before.
    before: FxHashMap<Ticket, Launched>,
}

/// A launch.
#[derive(Clone)]
pub(super) struct Launched {
    pub(super) call: &'static str,
    pub(super) kernel: Arc<str>,
    stream: Arc<str>,
    pub(super) site: Site,
}

impl Launches {
    fn add(&mut self, ticket: Ticket, launched: Launched) {
        if self.now.len() == MAX_LAUNCHES {
            self.before = std::mem::take(&mut self.now);
        }
        self.now.insert(ticket, launched);
    }

    pub(super) fn get(&self, ticket: Ticket) -> Option<&Launched> {
        self.now.get(&ticket).or_else(|| self.before.get(&ticket))
    }
}

impl Launched {
    fn doing(&self, failure: &Failure) -> Doing {
        self.at(failure.line.as_ref())
    }

    /// The kernel, at a line.
    pub(super) fn at(&self, line: Option<&Line>) -> Doing {
        let (kernel, stream) = (Some(Arc::clone(&self.kernel)), Arc::clone(&self.stream));
        let (file, line) = line.map(Line::parts).unzip();
        Doing { kernel, stream, file, line }
    }
}

impl Gpu {
    /// Remembers where a kernel was launched.
    pub(super) fn remember_launch(&mut self, work: &Work, started: &Started<'_>) {
        if let Some(kernel) = work.kernel.clone() {
            let stream = Arc::clone(&self.labels[&started.epoch.agent]);
            let launched = Launched { call: work.call, kernel, stream, site: started.site };
            self.launches.add(started.ticket, launched);
        }
    }

    /// A kernel has failed.
    pub fn failed(&self, ticket: Ticket, failure: &Failure, out: &mut dyn Findings) {
        let Some(launched) = self.launches.get(ticket) else { return };
        if let Some((pe, (mode, bytes))) = failure.pe.zip(failure.access.as_ref()) {
            return self.failed_at_pe(launched, failure, (pe, *mode, bytes), out);
        }
        if let Some((mode, bytes)) = &failure.access
            && let Some(freed) = self.memory.freed(bytes.start)
        {
            return self.used_freed((ticket, launched), failure, (*mode, bytes, freed), out);
        }
        let Launched { call, kernel, site, .. } = launched;
        let access = failure.access.as_ref();
        let beside = access.and_then(|(_, bytes)| self.beside(bytes));
        // As the log has them: of one site there is no second that offends.
        let (offender, by) = match beside {
            Some(block) => (site.pc, block.site),
            None => (0, *site),
        };
        if out.again(Code::KernelFailed, offender, by.pc) {
            return;
        }
        let mut sites = vec![(Role::Access, *site)];
        let operation = match beside {
            Some(block) => {
                sites.push((Role::Operation, block.site));
                allocation(block.site, &block.bytes)
            }
            None => RawOperation::of(call),
        };
        let doing = launched.doing(failure);
        let report = Report {
            access: access.map(|(mode, bytes)| RawAccess::new(kernel, mode.is_write(), bytes)),
            argument: Some(RawArgument::new("", failure.problem(beside), None)),
            work: Some(RawWork::new(Some(&doing), None)),
            ..Report::new(Code::KernelFailed, operation, sites)
        };
        out.report(report, by.pc, &self.stacks);
    }

    /// A kernel has accessed a PE, or symmetric memory of one, that does not exist.
    fn failed_at_pe(
        &self,
        launched: &Launched,
        failure: &Failure,
        (pe, mode, bytes): (i32, Mode, &Range<usize>),
        out: &mut dyn Findings,
    ) {
        let Launched { kernel, call, site, .. } = launched;
        let other = self.memory.around(bytes.start).map(|block| block.site);
        let Some(wrong) = self.nvshmem.wrong_in_kernel(pe, mode, bytes, other) else { return };
        let (offender, by) = wrong.site.map_or((0, *site), |of_memory| (site.pc, of_memory));
        if out.again(wrong.code, offender, by.pc) {
            return;
        }
        let of_memory = wrong.site.map(|site| (Role::Operation, site));
        let sites: Vec<_> = [(Role::Access, *site)].into_iter().chain(of_memory).collect();
        let operation = RawOperation::of(by.call.unwrap_or(call));
        let doing = launched.doing(failure);
        let report = Report {
            access: Some(RawAccess::new(kernel, mode.is_write(), bytes)),
            argument: Some(RawArgument::new("", wrong.problem, None)),
            work: Some(RawWork::new(Some(&doing), None)),
            ..Report::new(wrong.code, operation, sites)
        };
        out.report(report, by.pc, &self.stacks);
    }

    /// A kernel has failed since its memory was given back: before it was launched, or while it
    /// might use it.
    fn used_freed(
        &self,
        (ticket, launched): (Ticket, &Launched),
        failure: &Failure,
        (mode, bytes, freed): (Mode, &Range<usize>, &Freed),
        out: &mut dyn Findings,
    ) {
        let Launched { call, kernel, site, .. } = launched;
        let by = freed.site.call.unwrap_or_default();
        if out.again(Code::FreedDeviceMemory, site.pc, freed.site.pc)
            || out.again(Code::WorkMemoryReleased, freed.site.pc, site.pc)
        {
            return;
        }
        let doing = launched.doing(failure);
        let (report, operation) = if ticket > freed.after {
            let operation = allocation(freed.site, &freed.bytes);
            let sites = [(Role::Access, *site), (Role::Release, freed.site)];
            let report = Report {
                access: Some(RawAccess::new(kernel, mode.is_write(), bytes)),
                work: Some(RawWork::new(Some(&doing), None)),
                ..Report::new(Code::FreedDeviceMemory, operation, sites)
            };
            (report, freed.site.pc)
        } else {
            let operation = RawOperation::of(call);
            let operation = operation.with_access(mode.is_write(), bytes, bytes.len());
            let sites = [(Role::Release, freed.site), (Role::Operation, *site)];
            let report = Report {
                access: Some(RawAccess::new(by, true, &freed.bytes)),
                work: Some(RawWork::new(None, Some(&doing))),
                ..Report::new(Code::WorkMemoryReleased, operation, sites)
            };
            (report, site.pc)
        };
        out.report(report, operation, &self.stacks);
    }

    /// The memory nearest to bytes that are in none.
    fn beside(&self, bytes: &Range<usize>) -> Option<&Block> {
        let distance = |block: &&Block| distance(block, bytes).abs();
        let is_near = |block: &&Block| distance(block) <= NEAR.max(block.bytes.len()) as i128;
        let (before, behind) = self.memory.neighbours(bytes.start);
        // The call that waits for the kernel may be one that gives memory back.
        let all = before.into_iter().chain(behind).chain(self.released.values());
        all.filter(is_near).min_by_key(distance)
    }
}

/// How many bytes behind the end of a block, or, if negative, in front of it; 0 if neither.
/// Addresses may be anything.
fn distance(block: &Block, bytes: &Range<usize>) -> i128 {
    let Range { start, end } = block.bytes;
    match bytes.start {
        at if at >= end => at as i128 - end as i128,
        at if at < start => at as i128 - start as i128,
        _ => 0,
    }
}

impl Failure {
    /// All of it in words.
    fn problem(&self, beside: Option<&Block>) -> String {
        let index = |[x, y, z]: [u32; 3]| format!("({x},{y},{z})");
        let (block, thread) = (index(self.block), index(self.thread));
        let place = format!("{} in block {block}, thread {thread}", self.what);
        let Some((memory, (_, bytes))) = beside.zip(self.access.as_ref()) else { return place };
        let size = memory.bytes.len();
        let call = memory.site.call.unwrap_or("an allocation");
        match distance(memory, bytes) {
            0 if bytes.start == memory.bytes.end => {
                format!("{place}, right behind the {size} bytes of {call}")
            }
            0 => {
                let offset = bytes.start - memory.bytes.start;
                format!("{place}, at offset {offset} of the {size} bytes of {call}")
            }
            behind @ 1.. => format!("{place}, {behind} bytes behind the {size} bytes of {call}"),
            before => {
                format!("{place}, {} bytes in front of the {size} bytes of {call}", -before)
            }
        }
    }
}
