//! Accesses that guards show, of code without hooks.
//!
//! **Soundness.** Without hooks the order of threads is not known well enough: only operations that
//! are pending count, none that another thread has completed.

use super::Tracker;
use super::concurrent::code;
use commsan_callsite::{Findings, Place};
use commsan_findings::Role;
use commsan_findings::record::{Guarded, RawAccess, Record};
use commsan_guards::{Guards, Watched};
use commsan_shadow::{Access, Mode, OpId};
use std::ops::Range;

impl Tracker {
    /// From now on pages of buffers are closed to the program while operations use them.
    pub fn close_pages(&mut self, guards: Guards<OpId>) {
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
            let code = code(operation.window.is_some(), conflict.mode, mode);
            let side = RawAccess::new(by, mode.is_write(), &conflict.bytes);
            self.report(code, Role::Access, side, None, &conflict, place, out);
        }
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
        if self.operations.guards.as_ref().is_some_and(|guards| guards.is_active()) {
            self.stop_guarding();
            let text =
                "buffers were not guarded any more, since the program protects pages of its own";
            out.emit(Record::Note { text: text.into() }, &self.reporter.stacks);
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
        let Watched { operations, closed, shared, elsewhere, over_budget } = guards.watched();
        let guarded = Guarded { operations, closed, shared, elsewhere, over_budget };
        out.emit(Record::Guarded(guarded), &self.reporter.stacks);
    }
}
