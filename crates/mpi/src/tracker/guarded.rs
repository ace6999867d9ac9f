//! Accesses that guards show, of code without hooks.
//!
//! **Soundness.** Without hooks the order of threads is not known well enough: only operations that
//! are pending count, none that another thread has completed. Checksums are compared before the call
//! that has completed an operation returns, so before any thread may know that it is complete; not
//! where something else was reported for it.

use super::Tracker;
use super::concurrent::code;
use commsan_callsite::{Findings, Place, Report};
use commsan_findings::record::{Guarded, RawAccess, Record};
use commsan_findings::{Code, Role};
use commsan_guards::{Guards, Watched};
use commsan_shadow::{Access, Mode, OpId};
use std::ops::Range;

impl Tracker {
    /// From now on buffers are watched while operations use them: pages are closed to the program, or
    /// checksums compared.
    pub fn watch_buffers(&mut self, guards: Guards<OpId>) {
        self.operations.guards = Some(Box::new(guards));
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

    /// An operation is complete, or may be from now on: reports it if what it has sent has changed since
    /// it started.
    pub(super) fn look_for_changes(&mut self, id: OpId, out: &mut dyn Findings) {
        let Some(guards) = &mut self.operations.guards else { return };
        let Some(altered) = guards.altered(id) else { return };
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

    /// The instruction at `pc` has accessed a closed page: whether that was often enough to open it.
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
        let watched = guards.watched();
        let Watched { operations, closed, summed, shared, elsewhere, unclosable, over_budget } =
            watched;
        let guarded =
            Guarded { operations, closed, summed, shared, elsewhere, unclosable, over_budget };
        out.emit(Record::Guarded(guarded), &self.reporter.stacks);
    }
}
