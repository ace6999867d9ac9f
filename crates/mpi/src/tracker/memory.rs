//! What the program does with memory while operations are pending: accesses it, frees it, leaves
//! the function that owns it.

use super::concurrent::code;
use super::conflicts::MAX_CONFLICTS;
use super::{Operation, Tracker};
use crate::nursery::Young;
use commsan_callsite::{Findings, Place};
use commsan_findings::record::RawAccess;
use commsan_findings::{Code, Role};
use commsan_shadow::{Access, Conflict, Footprint, Mode};
use std::ops::Range;

impl Tracker {
    /// The program accesses memory.
    pub fn access(
        &mut self,
        by: &str,
        mode: Mode,
        bytes: Range<usize>,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let access = Access { mode, footprint: Footprint::Dense(bytes) };
        let Some(conflicts) = self.conflicts(&access) else { return };
        if self.accounts.races.race_for(&mut self.reporter.stacks, &access, None, place, out) {
            self.looked(None, place, out);
        }
        self.meets_remotes(by, None, &access, place, out);
        self.others.accessed(by, None, &access, place, out);
        for conflict in conflicts.into_iter().flatten() {
            let one_sided =
                self.operations.live.get(conflict.id).is_some_and(Operation::is_one_sided);
            let code = code(one_sided, conflict.mode, mode);
            let side = RawAccess::new(by, mode.is_write(), &conflict.bytes);
            self.report(code, Role::Access, side, None, &conflict, place, out);
        }
    }

    /// The program is about to free memory.
    pub fn released(
        &mut self,
        by: &str,
        call: Option<&'static str>,
        bytes: Range<usize>,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        self.forget(&bytes);
        self.rma.window_memory_released(&mut self.reporter.stacks, by, call, &bytes, place);
        let mode = Mode::Write;
        let access = Access { mode, footprint: Footprint::Dense(bytes.clone()) };
        let Some(conflicts) = self.conflicts(&access) else { return };
        self.accounts.races.race_for(&mut self.reporter.stacks, &access, call, place, out);
        self.others.released(by, &bytes, place, out);
        self.release_buffers(by, call, conflicts, place, out);
    }

    /// Reports pending operations whose buffers are freed, and ends them.
    fn release_buffers(
        &mut self,
        by: &str,
        call: Option<&'static str>,
        conflicts: [Option<Conflict>; MAX_CONFLICTS],
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        for conflict in conflicts.into_iter().flatten() {
            let side = RawAccess::new(by, true, &conflict.bytes);
            let code = Code::PendingBufferFreed;
            self.report(code, Role::Release, side, call, &conflict, place, out);
            self.end(conflict.id);
        }
    }

    /// Memory of a device, or allocated for one, is about to be freed.
    pub fn device_memory_freed(
        &mut self,
        bytes: Range<usize>,
        call: &'static str,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        self.rma.window_memory_released(&mut self.reporter.stacks, call, Some(call), &bytes, place);
        let access = Access { mode: Mode::Write, footprint: Footprint::Dense(bytes) };
        if let Some(conflicts) = self.conflicts(&access) {
            self.release_buffers(call, Some(call), conflicts, place, out);
        }
    }

    /// The function with this frame pointer is about to return.
    pub fn leave(&mut self, frame: usize, place: &impl Place, out: &mut dyn Findings) {
        if self.nursery.on_stack().any(|young| young.frame == Some(frame)) {
            self.settle();
        }
        let gone = |op: &Operation| op.frame == Some(frame);
        self.leave_where(|pointer, _| pointer == frame, gone, None, place, out);
        self.others.left(frame, place, out);
    }

    /// Finds operations whose buffer lay in a frame that is gone by now: for programs without
    /// hooks, and inlined functions.
    pub fn popped(&mut self, call: &'static str, place: &impl Place, out: &mut dyn Findings) {
        let popped =
            |young: &Young| young.thread == place.thread() && place.is_popped(young.bytes.start);
        if self.nursery.on_stack().any(popped) {
            self.settle();
        }
        if self.operations.on_stack.len() > 0 {
            let thread = place.thread();
            let gone = |op: &Operation| op.site.thread == thread && place.is_popped(op.on_stack);
            let may = |_, lowest| place.is_popped(lowest);
            self.leave_where(may, gone, Some(call), place, out);
        }
    }

    fn leave_where(
        &mut self,
        may: impl Fn(usize, usize) -> bool,
        gone: impl Fn(&Operation) -> bool,
        call: Option<&'static str>,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        // One return can leave several operations behind.
        loop {
            let live = &self.operations.live;
            let is_gone = |id| live.get(id).is_some_and(&gone);
            let Some(id) = self.operations.on_stack.find(&may, is_gone) else { return };
            self.operations.left_behind(id, (call, place), &mut self.reporter, out);
            self.end(id);
        }
    }
}
