//! Threads of this process that call MPI or use its buffers: their accesses are ordered only by the
//! threads' own synchronisation. What orders them with other ranks is in [`crate::rma::clock`].
//!
//! While there are several threads, an operation that is complete stays known until its completion
//! happens before what every thread does; so does a blocking call that has returned. What was
//! recorded of pages that threads share is compared with the operations that start.
//!
//! **Soundness.** Both sides of a finding were performed by agents of which neither happened before
//! the other ([`Actor`]). Missed is what another thread did, before an operation started, to memory
//! that is neither in a window nor among the shared pages (see `docs/threads.md`); what was
//! completed before the last [`MAX_RETIRED`](crate::threads::MAX_RETIRED) operations; and
//! operations whose memory was used [`MAX_TOUCHES`](super::operations::MAX_TOUCHES) times since by
//! threads that come after their completion.

use super::{OneSided, Operation, Reporter, Tracker};
use crate::buffers::{Accesses, Args};
use crate::rma::clock::Clock;
use crate::threads::Retired;
use commsan_callsite::{Findings, Place, Report, Site};
use commsan_findings::record::RawAccess;
use commsan_findings::{Code, Role};
use commsan_mpi_calls::CALLS;
use commsan_shadow::{Access, Actor, Epoch, Mode, OpId, Past};
use std::ops::{ControlFlow, Range};

/// Accesses that are reported for one operation at most.
const MAX_REPORTED: usize = 4;

impl OneSided {
    /// Threads share these pages: accesses to them are recorded from now on.
    pub fn share(&mut self, bytes: &Range<usize>) {
        if let Some(exposed) = &mut self.exposed {
            exposed.share(bytes);
        }
    }

    /// No pages are shared by threads any more.
    pub fn unshare(&mut self) {
        if let Some(exposed) = &mut self.exposed {
            exposed.unshare();
        }
    }

    /// Whether accesses cannot be recorded, because there is no shadow memory.
    pub fn lacks_shadow(&self) -> bool {
        self.exposed.is_none()
    }
}

impl Tracker {
    /// Sets the acting thread. `None` if there is only one, or it is not known; `alone` says which.
    pub fn act_as(&mut self, actor: Option<Actor>, alone: bool) {
        self.threads.actor = actor;
        self.share_knowledge(alone);
        self.others.act_as(self.threads.actor.as_ref(), alone);
        if alone {
            while let Some(id) = self.threads.take_oldest() {
                self.operations.live.end(id);
            }
            return;
        }
        self.settle();
        self.settle_rma();
        let Some(actor) = &self.threads.actor else { return };
        let known_to_all = actor.known_to_all;
        while let Some(id) = self.threads.take_known(known_to_all) {
            self.operations.live.end(id);
        }
    }

    /// What only some threads had acquired from other ranks may be known to all by now.
    fn share_knowledge(&mut self, alone: bool) {
        let actor = self.threads.between_ranks();
        let Some(clock) = &mut self.rma.clock else { return };
        let was_divided = clock.is_divided();
        clock.act_as(actor, self.threads.by_call(), alone);
        if was_divided {
            self.rma.remotes.acquire(clock, actor);
        }
    }

    /// Whether the acting thread matters: something is remembered of several threads.
    pub fn knows_threads(&self) -> bool {
        self.threads.are_known() || self.rma.clock.as_ref().is_some_and(Clock::is_divided)
    }

    /// All operations on a target of a window, or on all targets, are complete, including those
    /// that another thread's call has completed before (MPI 4.1 §12.5.4): that now also happens
    /// before what this thread does next, if it started them or comes after their start.
    pub(super) fn complete_again(&mut self, window: usize, target: Option<i32>) {
        if self.threads.actor.is_none() {
            return;
        }
        let Some(number) = self.rma.windows.get(window).map(|window| window.number) else { return };
        for id in self.threads.retired() {
            let Some(operation) = self.operations.live.get_mut(id) else { continue };
            let concerned = operation.window == Some(number)
                && (target.is_none() || operation.peer == target)
                && self.threads.comes_after(operation.since);
            if concerned
                && let Some(retired) = &mut operation.retired
                && !retired.is_known(&self.threads)
            {
                retired.again.push(self.threads.stamp());
            }
        }
    }

    /// One of several threads has made a call that used its buffers before it returned, which
    /// others may not come after. `releases`: a thread that acquires from it by way of another rank
    /// knows that the data it sends has been read.
    pub fn has_used(
        &mut self,
        args: &Args,
        accesses: &mut Accesses,
        releases: bool,
        place: &impl Place,
    ) {
        let Some(actor) = &self.threads.actor else { return };
        // Without the program's atomics, the order of its threads is not known well enough.
        if !self.thread_calls.sees_all {
            return;
        }
        let only_reads = accesses.iter().flatten().all(|access| access.mode == Mode::Read);
        let now = actor.stamp;
        let when = match releases && only_reads {
            true => Epoch { time: now.time.saturating_sub(1), ..now },
            false => now,
        };
        if accesses.iter().all(Option::is_none) || (actor.known_to_all)(when) {
            return;
        }
        let site = self.reporter.site(args.call, place);
        let operation = self.reporter.operation(args, place);
        let retired = Some(Retired::new(when, site));
        let operation = Operation { retired, ..operation };
        let id = self.operations.live.begin(accesses, operation);
        self.threads.retire(id, when);
    }

    /// Keeps an operation that is complete for other threads; false if none needs it.
    pub(super) fn retire(&mut self, id: OpId, call: &'static str, place: &impl Place) -> bool {
        let Some(actor) = &self.threads.actor else { return false };
        let when = actor.stamp;
        if (actor.known_to_all)(when) {
            return false;
        }
        let site = place.site(Some(call), &mut self.reporter.stacks);
        let Some(operation) = self.operations.live.get_mut(id).filter(|op| !op.known_to_all) else {
            return false;
        };
        operation.retired = Some(Retired::new(when, site));
        self.threads.retire(id, when);
        true
    }

    /// Memory is freed or reused: later accesses to these bytes are unrelated to earlier ones.
    pub fn forget(&mut self, bytes: &Range<usize>) {
        self.thread_calls.forget_completions(bytes);
        let live = &mut self.operations.live;
        self.threads.forget(|id| {
            let inside = live.accesses(id).iter().any(|access| {
                let span = access.footprint.span();
                span.start < bytes.end && bytes.start < span.end
            });
            if inside {
                live.end(id);
            }
            inside
        });
        if let Some(exposed) = &self.rma.exposed {
            exposed.forget_bytes(bytes);
        }
    }

    /// Checks an access of an MPI call against what other threads did before.
    pub(super) fn meets_threads(
        &mut self,
        args: &Args,
        access: &Access,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let Some(exposed) = &self.rma.exposed else { return };
        if self.threads.actor.is_none() || !exposed.touches(&access.footprint.span()) {
            return;
        }
        let mut found: Vec<(Past, Range<usize>)> = Vec::new();
        let _ = access.footprint.visit::<()>(&access.footprint.span(), &mut |run| {
            exposed.shadow().conflicts(&run, access.mode, |past, bytes| {
                let known_place = found.iter().any(|(other, _)| other.pc == past.pc);
                if !known_place && !self.threads.comes_after(past.when.stamp) {
                    found.push((past, bytes));
                }
                found.len() < MAX_REPORTED
            });
            ControlFlow::Continue(())
        });
        for (past, bytes) in found {
            self.reporter.report_past(args, access, &past, bytes, place, out);
        }
    }
}

impl Reporter {
    fn report_past(
        &mut self,
        args: &Args,
        access: &Access,
        past: &Past,
        bytes: Range<usize>,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let by_call = past.by >= super::remote_ops::CALL;
        let code = match by_call {
            true => Code::OperationsOverlap,
            false => code(args.call.at.win.is_some(), access.mode, past.mode),
        };
        // The same two sides may have been reported while the operation was still remembered.
        let known = by_call && out.again(code, place.pc(), past.pc);
        if known || out.again(code, past.pc, place.pc()) {
            return;
        }
        let (site, by) = self.past(past, place);
        let operation = self.operation(args, place);
        let sites: Vec<_> = operation.places(Some((Role::Access, site))).collect();
        let report = Report {
            access: Some(RawAccess::new(by, past.mode.is_write(), &bytes)),
            threads: true,
            ..Report::new(code, operation.described_with(access), sites)
        };
        self.report(report, &operation.site, out);
    }

    /// The site of a recorded access, and by what it was made.
    pub(super) fn past(&mut self, past: &Past, place: &impl Place) -> (Site, &'static str) {
        let stack = self.stacks.intern(&[past.pc]);
        let call = super::remote_ops::row(past.by).map(|row| CALLS[row].name.as_str());
        let plain = if past.mode == Mode::Write { "store" } else { "load" };
        let by = call.or_else(|| place.name_at(past.by)).unwrap_or(plain);
        let thread = place.thread_of(past.when.stamp);
        (Site { call, thread, stack, pc: past.pc, remote: None }, by)
    }
}

/// The code for an access of the program to a local buffer that an operation uses.
pub(super) fn code(one_sided: bool, operation: Mode, access: Mode) -> Code {
    match (operation, access) {
        (Mode::Read, _) if one_sided => Code::OriginBufferWritten,
        (Mode::Write, _) if one_sided => Code::ResultBufferUsed,
        (Mode::Read, _) => Code::SendBufferWritten,
        (Mode::Write, Mode::Read) => Code::ReceiveBufferRead,
        (Mode::Write, Mode::Write) => Code::ReceiveBufferWritten,
    }
}
