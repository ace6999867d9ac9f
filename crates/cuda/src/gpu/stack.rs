//! Copies and sets of variables of functions that return before the work is complete.

use super::{Flight, Gpu};
use crate::work::{KernelAccess, Work};
use commsan_callsite::{Findings, Place, Report};
use commsan_findings::record::{RawAccess, RawOperation, RawWork};
use commsan_findings::{Code, Role};
use commsan_shadow::{Mode, OpId};
use std::ops::Range;

/// Memory of a function that work in flight uses.
pub(super) struct Local {
    id: OpId,
    /// The function's frame.
    frame: usize,
    mode: Mode,
    bytes: Range<usize>,
}

impl Gpu {
    /// How many ranges on stacks work in flight uses; hooks of functions' ends have nothing to do
    /// while there are none.
    pub fn on_stack(&self) -> usize {
        self.locals.len()
    }

    /// Work has been put into a stream by a function that may own the memory, or that an outer one
    /// has called.
    pub(super) fn remember_locals(&mut self, id: OpId, work: &Work, place: &dyn Place) {
        // Kernels have pointers to what devices reach.
        if work.kernel.is_some() {
            return;
        }
        self.forget_locals(id);
        for (access, footprint) in KernelAccess::certain(&work.accesses) {
            let bytes = footprint.span();
            if let Some(frame) = place.frame_of(bytes.start).filter(|frame| *frame != 0) {
                self.locals.push(Local { id, frame, mode: access.mode, bytes });
            }
        }
    }

    /// Work is over.
    pub(super) fn forget_locals(&mut self, id: OpId) {
        if !self.locals.is_empty() {
            self.locals.retain(|local| local.id != id);
        }
    }

    /// The function with this frame is about to return.
    pub fn leave(&mut self, frame: usize, place: &dyn Place, out: &mut dyn Findings) {
        while let Some(at) = self.locals.iter().position(|local| local.frame == frame) {
            let Local { id, mode, bytes, .. } = self.locals.swap_remove(at);
            let knows = self.knowledge(place.thread());
            let Some(flight) = self.live.get(id).filter(|flight| knows.is_unordered(flight)) else {
                continue;
            };
            let code = Code::WorkMemoryReleased;
            if out.again(code, place.pc(), flight.site.pc) {
                continue;
            }
            let Flight { call, site, .. } = *flight;
            let doing = flight.doing(mode, &bytes);
            let returns = place.site(None, &mut self.stacks);
            let operation = RawOperation::of(call);
            let operation = operation.with_access(mode.is_write(), &bytes, bytes.len());
            let sites = [(Role::Return, returns), (Role::Operation, site)];
            let report = Report {
                access: Some(RawAccess::new("return", true, &bytes)),
                work: Some(RawWork::new(None, Some(&doing))),
                ..Report::new(code, operation, sites)
            };
            let number = out.report(report, site.pc, &self.stacks);
            if let Some(flight) = self.live.get_mut(id) {
                flight.findings.subscribe(number);
            }
        }
    }
}
