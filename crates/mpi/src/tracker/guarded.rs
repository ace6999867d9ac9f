//! Accesses that guards show, of code without hooks.
//!
//! **Soundness.** Without hooks the order of threads is not known well enough: only operations that
//! are pending count, none that another thread has completed. Checksums are compared before the
//! call that has completed an operation returns, so before any thread may know that it is complete;
//! not where something else was reported for it.
//!
//! Accesses to window memory are recorded in epochs of fences, and of `MPI_Win_post`, and compared
//! with what other ranks do in these: such an epoch completes all of it, so that no flag in memory
//! can have ordered it (MPI 4.1 §12.5). In epochs of locks one can, and hooks only would show that.
//! That must be asked for: a program may well let the system access its windows by calls that
//! nobody intercepts, which fail then.

use super::Tracker;
use super::concurrent::code;
use crate::rma::message::AccessEpoch;
use commsan_callsite::{Findings, Place, Report};
use commsan_findings::record::{Guarded, RawAccess, Record};
use commsan_findings::{Code, Role};
use commsan_guards::Guards;
use commsan_shadow::{Access, Mode, OpId, Past, When};
use std::ffi::CStr;
use std::ops::Range;
use std::time::Instant;

/// What pages are closed for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClosedFor {
    Operation(OpId),
    /// An epoch in which the window of this number is exposed.
    Exposure(u32),
}

/// Names of accesses in the shadow that guards have shown; known by their addresses.
static SHOWN: [&CStr; 2] = [c"load", c"store"];

/// Whether a guard has shown an access, so that flags in memory are not known which may order it.
pub(super) fn is_shown(past: &Past) -> bool {
    SHOWN.iter().any(|name| name.as_ptr() as usize == past.by)
}

/// Whether all operations of such an epoch are complete when it ends, and none before by what the
/// target can know.
pub(super) fn is_active(epoch: AccessEpoch) -> bool {
    matches!(epoch, AccessEpoch::Fence(_) | AccessEpoch::Start(_))
}

impl Tracker {
    /// From now on buffers are watched while operations use them: pages are closed to the program,
    /// or checksums compared. With `windows`, memory of windows is while it is exposed.
    pub fn watch_buffers(&mut self, guards: Guards<ClosedFor>, windows: bool) {
        self.operations.guards = Some(Box::new(guards));
        self.operations.guards_windows = windows;
    }

    /// The program accesses memory in a closed page.
    pub fn used_while_closed(
        &mut self,
        by: &str,
        mode: Mode,
        bytes: Range<usize>,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let access = Access::dense(mode, bytes);
        for conflict in self.conflicts(&access).into_iter().flatten().flatten() {
            let operation = self.operations.live.get(conflict.id);
            let Some(operation) = operation.filter(|operation| operation.retired.is_none()) else {
                continue;
            };
            let code = code(operation.is_one_sided(), conflict.mode, mode);
            let side = RawAccess::new(by, mode.is_write(), &conflict.bytes);
            self.report(code, Role::Access, side, None, &conflict, place, out);
        }
    }

    /// A window's memory is exposed to fences' or posts' operations from now on: closes its pages,
    /// so that accesses to them are recorded.
    pub(super) fn guard_window(&mut self, handle: usize) {
        let Some(window) = self.rma.windows.get(handle) else { return };
        let Some(guards) = &mut self.operations.guards else { return };
        if !self.operations.guards_windows {
            return;
        }
        let holder = ClosedFor::Exposure(window.number);
        guards.end(holder);
        // Others load from and store to shared memory, too; what is attached may be anything.
        if window.made.dynamic || window.made.views.len() > 1 || self.rma.exposed.is_none() {
            return;
        }
        for memory in &window.memory {
            guards.expose(holder, memory, window.made.allocated);
        }
    }

    /// A window's memory is not exposed any more.
    pub(super) fn unguard_window(&mut self, handle: usize) {
        if self.operations.guards_windows
            && let Some(window) = self.rma.windows.get(handle)
            && let Some(guards) = &mut self.operations.guards
        {
            guards.end(ClosedFor::Exposure(window.number));
        }
    }

    /// The program accesses memory in a closed page, which may be a window's: `pc` is the
    /// instruction, `begun` when the handler began to run.
    pub fn used_while_exposed(
        &mut self,
        mode: Mode,
        bytes: &Range<usize>,
        (pc, begun): (usize, Instant),
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let Some(exposed) = self.rma.exposed.as_ref().filter(|exposed| exposed.touches(bytes))
        else {
            return;
        };
        if self.threads.between_ranks().is_none() {
            let name = SHOWN[usize::from(mode == Mode::Write)];
            let when = When { segment: exposed.shadow().segment(), stamp: self.threads.stamp() };
            let by = name.as_ptr() as usize;
            // As if it returned there.
            exposed.shadow().record(when, bytes.clone(), mode, pc + 1, by);
            let access = Access::dense(mode, bytes.clone());
            let mut meetings = self.meetings_with_remotes(&access, place, out);
            meetings.retain(|meeting| is_active(meeting.first.epoch));
            self.report_meetings(
                name.to_str().unwrap_or_default(),
                None,
                &access,
                meetings,
                place,
                out,
            );
        }
        if let Some(guards) = &mut self.operations.guards {
            guards.met(begun);
        }
    }

    /// An operation is complete, or may be from now on: reports it if what it has sent has changed
    /// since it started.
    pub(super) fn look_for_changes(&mut self, id: OpId, out: &mut dyn Findings) {
        let Some(guards) = &mut self.operations.guards else { return };
        let Some(altered) = guards.altered(ClosedFor::Operation(id)) else { return };
        let Some(operation) = self.operations.live.get(id) else { return };
        let code = Code::SendBufferChanged;
        let sites: Vec<_> = operation.places(None).collect();
        // A finding is known by its first site if it has several.
        let first = if sites.len() > 1 { sites[0].1.pc } else { 0 };
        if operation.is_reported
            || operation.may_be_complete
            || out.again(code, first, operation.site.pc)
        {
            return;
        }
        let accesses = self.operations.live.accesses(id).iter();
        let mut reads = accesses.filter(|access| access.mode == Mode::Read);
        let sent = reads.find(|access| {
            let span = access.footprint.span();
            span.start <= altered.start && altered.end <= span.end
        });
        let described =
            sent.map_or(operation.described(), |access| operation.described_with(access));
        let report = Report {
            access: Some(RawAccess::new("a change", true, &altered)),
            ..Report::new(code, described, sites)
        };
        let number = self.reporter.report(report, &operation.site, out);
        self.operations.subscribe(id, number);
    }

    /// The instruction at `pc` has accessed a closed page: whether that was often enough to open
    /// it.
    pub fn has_met_often(&mut self, pc: usize, address: usize) -> bool {
        let guards = self.operations.guards.as_mut();
        guards.is_none_or(|guards| guards.is_often(pc, address))
    }

    /// Opens the pages that hold these bytes, as far as any are closed.
    pub fn open_pages(&mut self, bytes: Range<usize>) {
        if let Some(guards) = &mut self.operations.guards {
            guards.open(&bytes);
        }
    }

    /// The program protects pages that may be guarded: closes none any more, and says so once.
    pub fn stop_guarding_for_own_pages(&mut self, out: &mut dyn Findings) {
        if self.operations.guards.as_ref().is_some_and(|guards| guards.closes()) {
            self.stop_guarding();
            let text =
                "buffers were not guarded any more, since the program protects pages of its own";
            out.emit(Record::Note { text: text.into() }, &self.reporter.stacks);
        }
    }

    /// Many calls were made while pages were closed: opens these if that costs too much.
    pub fn review_guards(&mut self) {
        if let Some(guards) = &mut self.operations.guards {
            guards.review();
        }
    }

    /// Closes no pages any more.
    pub fn stop_guarding(&mut self) {
        if let Some(guards) = &mut self.operations.guards {
            guards.open_all();
        }
    }

    /// Writes to the log what guards have watched, if there are any.
    pub(super) fn write_watched(&self, out: &mut dyn Findings) {
        let Some(guards) = &self.operations.guards else { return };
        let all = guards.watched();
        let guarded = Guarded {
            operations: all.operations,
            closed: all.closed,
            summed: all.summed,
            shared: all.shared,
            elsewhere: all.elsewhere,
            unclosable: all.unclosable,
            over_budget: all.over_budget,
            exposed: all.exposed,
            not_exposed: all.not_exposed,
        };
        out.emit(Record::Guarded(guarded), &self.reporter.stacks);
    }
}
