//! Kernels that fail while a simulated device executes them.
//!
//! **Soundness.** What is told has been executed: it is an error of the kernel. Where the launch was is known
//! for the last [`EACH`] launches at least.

use super::{Gpu, Started, Ticket};
use crate::memory::{Block, Freed};
use crate::work::{Line, Work};
use commsan_callsite::{About, Doing, Findings, Party, Report, Side, Site};
use commsan_findings::{Code, Role};
use commsan_shadow::Mode;
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::Arc;

/// Launches that are remembered; twice as many at most.
const EACH: usize = 1 << 14;

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
struct Launched {
    call: &'static str,
    kernel: Arc<str>,
    stream: Arc<str>,
    site: Site,
}

impl Launches {
    fn add(&mut self, ticket: Ticket, launched: Launched) {
        if self.now.len() == EACH {
            self.before = std::mem::take(&mut self.now);
        }
        self.now.insert(ticket, launched);
    }

    fn get(&self, ticket: Ticket) -> Option<&Launched> {
        self.now.get(&ticket).or_else(|| self.before.get(&ticket))
    }
}

impl Launched {
    fn doing(&self, failure: &Failure) -> Doing {
        let line = failure.line.as_ref().map(|line| (Arc::clone(&line.file), line.line));
        Doing { kernel: Some(Arc::clone(&self.kernel)), stream: Arc::clone(&self.stream), line }
    }
}

impl Gpu {
    /// Remembers where a kernel was launched.
    pub(super) fn remember_launch(&mut self, work: &Work, started: &Started<'_>) {
        if let Some(kernel) = work.kernel.clone() {
            let stream = Arc::clone(&self.labels[&started.moment.agent]);
            let launched = Launched { call: work.call, kernel, stream, site: started.site };
            self.launches.add(started.ticket, launched);
        }
    }

    /// A kernel has failed.
    pub fn failed(&self, ticket: Ticket, failure: &Failure, out: &mut dyn Findings) {
        let Some(launched) = self.launches.get(ticket) else { return };
        if let Some((mode, bytes)) = &failure.access
            && let Some(freed) = self.memory.freed(bytes.start)
        {
            return self.used_freed((ticket, launched), failure, (*mode, bytes, freed), out);
        }
        let Launched { call, kernel, site, .. } = launched;
        let access = failure.access.as_ref();
        let beside = access.and_then(|(_, bytes)| self.beside(bytes));
        let (mut sites, mut operation) = (vec![(Role::Access, *site)], Party::at(call, *site));
        if let Some(block) = beside {
            sites.push((Role::Operation, block.site));
            operation = Party::at(block.site.call.unwrap_or_default(), block.site);
        }
        // As the log has them: of one site there is no second that offends.
        let offender = if sites.len() > 1 { site.pc } else { 0 };
        if out.again(Code::KernelFailed, offender, operation.site.pc) {
            return;
        }
        let report = Report {
            code: Code::KernelFailed,
            access: access.map(|(mode, bytes)| Side {
                by: kernel,
                mode: *mode,
                bytes: bytes.clone(),
            }),
            operation,
            concerned: beside.map(|block| (Mode::Write, block.bytes.clone(), block.bytes.len())),
            sites: &sites,
            threads: false,
            about: Some(About::Failure {
                work: launched.doing(failure),
                problem: failure.problem(beside),
            }),
        };
        out.report(&report, &self.stacks);
    }

    /// A kernel has failed since its memory was given back: before it was launched, or while it might use it.
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
        let doing = Some(launched.doing(failure));
        let report = if ticket > freed.after {
            Report {
                code: Code::FreedDeviceMemory,
                access: Some(Side { by: kernel, mode, bytes: bytes.clone() }),
                operation: Party::at(by, freed.site),
                concerned: Some((Mode::Write, freed.bytes.clone(), freed.bytes.len())),
                sites: &[(Role::Access, *site), (Role::Release, freed.site)],
                threads: false,
                about: Some(About::Work { access: doing, operation: None }),
            }
        } else {
            Report {
                code: Code::WorkMemoryReleased,
                access: Some(Side { by, mode: Mode::Write, bytes: freed.bytes.clone() }),
                operation: Party::at(call, *site),
                concerned: Some((mode, bytes.clone(), bytes.len())),
                sites: &[(Role::Release, freed.site), (Role::Operation, *site)],
                threads: false,
                about: Some(About::Work { access: None, operation: doing }),
            }
        };
        out.report(&report, &self.stacks);
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

/// How many bytes behind the end of a block, or, if negative, in front of it; 0 if neither. Addresses may be
/// anything.
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
