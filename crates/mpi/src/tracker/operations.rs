//! The pending operations: the live ranges of their buffers, the stack frames in which these lie,
//! and the arrays that they read.

use super::arrays::Arrays;
use super::guarded::ClosedFor;
use super::on_stack::OnStack;
use super::{Operation, Reporter};
use crate::threads::Threads;
use commsan_callsite::{Findings, Place, Report};
use commsan_findings::record::RawOperation;
use commsan_findings::{Code, Role};
use commsan_guards::{Allowed, Guards};
use commsan_shadow::{Access, Live, Mode, OpId, Pages};
use std::ops::{ControlFlow, Range};

/// Accesses by threads that come after its completion, after which an operation is forgotten.
pub(super) const MAX_TOUCHES: u8 = 4;

/// Runs of bytes of an operation that are looked at for pages to close. Those of many columns of a
/// matrix are short.
const MAX_RUNS: usize = 256;

/// The live operations, with what must be forgotten together with them.
pub(super) struct Operations {
    pub live: Live<Operation>,
    pub on_stack: OnStack,
    pub arrays: Arrays,
    /// Closed pages of their buffers, where those are wanted.
    pub guards: Option<Box<Guards<ClosedFor>>>,
    /// Whether pages of exposed windows are closed, too.
    pub guards_windows: bool,
}

impl Operations {
    /// No operations; live ranges are marked in `pages`.
    pub fn new(pages: Pages) -> Operations {
        Operations {
            live: Live::new(pages),
            on_stack: OnStack::default(),
            arrays: Arrays::default(),
            guards: None,
            guards_windows: false,
        }
    }

    /// An operation begins. Takes its accesses.
    pub fn begin(
        &mut self,
        accesses: &mut [Option<Access>],
        mut operation: Operation,
        place: &impl Place,
    ) -> OpId {
        for access in accesses.iter().flatten() {
            let start = access.footprint.span().start;
            if let Some(frame) = place.frame_of(start) {
                operation.frame = Some(frame);
                operation.on_stack = start;
            }
        }
        let id = self.live.begin(accesses, operation);
        self.enter_frame(id);
        id
    }

    /// Closes the pages of an operation's buffers to the program, until [`open`](Self::open). Of
    /// what it sends elsewhere, checksums are taken, unless it is one-sided, since the end of those
    /// is known for many at a time, or writes to what it reads (`MPI_IN_PLACE`).
    pub fn close(&mut self, id: OpId) {
        let Some(guards) = &mut self.guards else { return };
        let mut runs: Vec<(Range<usize>, bool)> = Vec::new();
        for access in self.live.accesses(id) {
            let span = access.footprint.span();
            let _ = access.footprint.visit(&span, &mut |run| {
                runs.push((run, access.mode == Mode::Write));
                match runs.len() <= MAX_RUNS {
                    true => ControlFlow::Continue(()),
                    false => ControlFlow::Break(()),
                }
            });
        }
        let operation = self.live.get(id);
        let is_one_sided = operation.is_some_and(|operation| operation.window.is_some());
        let allowed = Allowed {
            site: operation.map_or(0, |operation| operation.site.pc),
            sums: !is_one_sided && !is_in_place(self.live.accesses(id)),
            // The C library reads files by threads of its own (aio).
            closes_written: operation.is_some_and(|operation| operation.call.at.file.is_none()),
        };
        guards.begin(ClosedFor::Operation(id), &runs, allowed);
    }

    /// What an operation uses is the program's again.
    pub fn open(&mut self, id: OpId) {
        if let Some(guards) = &mut self.guards {
            guards.end(ClosedFor::Operation(id));
        }
    }

    /// Ends an operation; nothing of it is remembered.
    pub fn end(&mut self, id: OpId) {
        self.open(id);
        self.forget_frame(id);
        self.live.end(id);
    }

    /// Enters an operation under the stack frame that it uses, to be found when that function
    /// returns.
    pub fn enter_frame(&mut self, id: OpId) {
        if let Some(operation) = self.live.get_mut(id)
            && let Some(frame) = operation.frame
        {
            operation.position = self.on_stack.enter(id, frame, operation.on_stack);
        }
    }

    /// From now on the function whose variables an operation uses may return, and its arrays may be
    /// written.
    pub fn forget_frame(&mut self, id: OpId) {
        self.arrays.forget(id);
        self.leave_frame(id);
    }

    fn leave_frame(&mut self, id: OpId) {
        if let Some(operation) = self.live.get_mut(id)
            && let Some(frame) = operation.frame.take()
            && let position = operation.position
            && let Some(moved) = self.on_stack.leave(frame, position)
            && let Some(moved) = self.live.get_mut(moved)
        {
            moved.position = position;
        }
    }

    /// An operation reads these arrays, each passed as a parameter of this name, until it ends.
    pub fn use_arrays(
        &mut self,
        id: OpId,
        arrays: &[(&'static str, Range<usize>)],
        place: &impl Place,
    ) {
        for (parameter, bytes) in arrays {
            if let Some(frame) = place.frame_of(bytes.start) {
                self.lies_on_stack(id, frame, bytes.start);
            }
            self.live.extend(id, Access::dense(Mode::Read, bytes.clone()));
            self.arrays.add(id, bytes.start, parameter);
        }
    }

    /// Of several functions whose variables an operation uses, the innermost returns first.
    fn lies_on_stack(&mut self, id: OpId, frame: usize, address: usize) {
        let Some(operation) = self.live.get(id) else { return };
        if operation.frame.is_some_and(|known| known <= frame) {
            return;
        }
        self.leave_frame(id);
        if let Some(operation) = self.live.get_mut(id) {
            operation.frame = Some(frame);
            operation.on_stack = address;
        }
        self.enter_frame(id);
    }

    /// Whether an operation is complete and the acting thread comes after its completion.
    pub fn is_over(&self, id: OpId, threads: &Threads) -> bool {
        let retired = self.live.get(id).and_then(|operation| operation.retired.as_ref());
        retired.is_some_and(|retired| retired.is_known(threads))
    }

    /// Whether an operation is complete and what the acting thread does to these bytes comes after
    /// its completion.
    pub fn is_over_for(&self, id: OpId, threads: &Threads, bytes: &Range<usize>) -> bool {
        let retired = self.live.get(id).and_then(|operation| operation.retired.as_ref());
        retired.is_some_and(|retired| retired.is_known_for(threads, bytes))
    }

    /// A thread that comes after an operation's completion uses its memory for something else. Each
    /// such access is slow, so that after a few the operation is forgotten.
    pub fn touch_retired(&mut self, id: OpId, threads: &mut Threads) {
        let Some(retired) = self.live.get_mut(id).and_then(|op| op.retired.as_mut()) else {
            return;
        };
        retired.touched += 1;
        if retired.touched == MAX_TOUCHES {
            threads.forget(|other| other == id);
            self.live.end(id);
        }
    }

    /// Perhaps not this operation is complete, but another one with the same handle: if another
    /// thread started this one, its completion counts as known to all threads.
    pub fn doubt(&mut self, id: OpId, place: &impl Place) {
        if let Some(operation) = self.live.get_mut(id) {
            operation.known_to_all = operation.site.thread != place.thread();
        }
    }

    /// Perhaps an operation is complete, though not for all that is known: what is done with its
    /// buffers from now on is not reported.
    pub fn may_be_complete(&mut self, id: OpId) {
        self.open(id);
        self.forget_frame(id);
        if let Some(operation) = self.live.get_mut(id) {
            operation.may_be_complete = true;
        }
    }

    /// A finding is to receive the site where this operation is completed.
    pub fn subscribe(&mut self, id: OpId, finding: u32) {
        if let Some(operation) = self.live.get_mut(id) {
            operation.findings.subscribe(finding);
        }
    }

    /// The operation as findings describe it, with its first access.
    pub fn described(&self, id: OpId, operation: &Operation) -> RawOperation<'static> {
        let first = self.live.accesses(id).first();
        first.map_or(operation.described(), |access| operation.described_with(access))
    }

    /// Reports a call that must not be made while this operation is pending.
    pub fn misuse(
        &mut self,
        code: Code,
        id: OpId,
        (call, place): (&'static str, &impl Place),
        reporter: &mut Reporter,
        out: &mut dyn Findings,
    ) {
        let Some(operation) = self.live.get(id) else { return };
        if out.again(code, place.pc(), operation.site.pc) {
            return;
        }
        let site = place.site(Some(call), &mut reporter.stacks);
        let sites: Vec<_> = operation.places(Some((Role::Access, site))).collect();
        let report = Report::new(code, self.described(id, operation), sites);
        let number = reporter.report(report, &operation.site, out);
        self.subscribe(id, number);
    }

    /// Reports that a function returns, or has returned, whose variable a pending operation uses.
    pub fn left_behind(
        &mut self,
        id: OpId,
        (call, place): (Option<&'static str>, &impl Place),
        reporter: &mut Reporter,
        out: &mut dyn Findings,
    ) {
        let Some(operation) = self.live.get(id) else { return };
        let code = Code::PendingStackBuffer;
        if out.again(code, place.pc(), operation.site.pc) {
            return;
        }
        let holds = |access: &&Access| access.footprint.span().contains(&operation.on_stack);
        let access = self.live.accesses(id).iter().find(holds);
        let start = access.map_or(0, |access| access.footprint.span().start);
        let described =
            access.map_or(operation.described(), |access| operation.described_with(access));
        let site = place.site(call, &mut reporter.stacks);
        let sites: Vec<_> = operation.places(Some((Role::Return, site))).collect();
        let argument = self.arrays.argument(id, start);
        let report = Report { argument, ..Report::new(code, described, sites) };
        let number = reporter.report(report, &operation.site, out);
        self.subscribe(id, number);
    }
}

/// Whether an operation writes between the bytes that it reads.
fn is_in_place(accesses: &[Access]) -> bool {
    let of = |mode| accesses.iter().filter(move |access| access.mode == mode);
    of(Mode::Write).any(|write| {
        let writes = write.footprint.span();
        of(Mode::Read).any(|read| {
            let reads = read.footprint.span();
            reads.start < writes.end && writes.start < reads.end
        })
    })
}
