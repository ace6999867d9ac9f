//! One-sided operations of several threads of one rank that meet at their target.
//!
//! At the target, what a thread has completed before another one of the same rank starts counts as
//! ordered, though it knows which threads other ranks come after. Here it does only if the threads
//! synchronise.
//!
//! **Soundness.** Both operations are of this rank, on one window and target, and access a common
//! byte; one of them writes, and not both are accumulates or under exclusive locks; and the later
//! one does not happen after the completion of the earlier one or, while that is pending, after its
//! start: conflicts within one thread are found at the target. Missed is what was complete before
//! the last operations that are remembered ([`super::concurrent`]).

use super::{Operation, TargetAccess, Tracker};
use crate::buffers::Args;
use crate::rma::message::AccessEpoch;
use commsan_callsite::{Findings, Report, Site};
use commsan_findings::record::Record;
use commsan_findings::record::{RawAccess, RawOperation};
use commsan_findings::{Code, Role};
use commsan_shadow::{Access, Footprint, Mode, OpId};
use std::ops::Range;

/// The access of an operation at its target.
#[derive(Debug)]
pub(super) struct There {
    /// Bytes as offsets from the window's beginning, plus [`BASE`].
    access: Access,
    is_atomic: bool,
    epoch: AccessEpoch,
}

/// Added to offsets, since wrong ones may be negative.
const BASE: usize = 1 << 62;

impl Tracker {
    /// The access of an operation at its target, if another thread may conflict with it there.
    pub(super) fn there(&self, at_target: &TargetAccess) -> Option<Box<There>> {
        self.threads.actor.as_ref()?;
        let window = self.rma.windows.get(at_target.window)?;
        let base = BASE.wrapping_add_signed(at_target.offset(window) as isize);
        let footprint = Footprint::new(base, at_target.pattern.clone());
        let access = Access { mode: at_target.mode, footprint };
        let epoch = window.epoch(at_target.target);
        Some(Box::new(There { access, is_atomic: at_target.atomic.is_some(), epoch }))
    }

    /// Checks an operation that is about to start against those of other threads on the same
    /// target.
    pub(super) fn meets_other_threads(
        &mut self,
        args: &Args,
        at_target: &TargetAccess,
        site: Site,
        out: &mut dyn Findings,
    ) {
        let Some(window) = self.rma.windows.get(at_target.window) else { return };
        let (number, dynamic) = (window.number, window.made.dynamic);
        let pending = window.pending.iter().map(|pending| pending.id);
        let Some(own) = self.there(at_target).filter(|_| self.thread_calls.sees_all) else {
            return;
        };
        let meets = |operation: &Operation| {
            let there = operation.there.as_ref()?;
            let is_same =
                (operation.window, operation.peer) == (Some(number), Some(at_target.target));
            let writes = [there.access.mode, own.access.mode].contains(&Mode::Write);
            let apart = there.is_atomic && own.is_atomic
                || [there.epoch, own.epoch] == [AccessEpoch::Exclusive; 2];
            if !is_same
                || !writes
                || apart
                || self.threads.comes_after(operation.since) && operation.retired.is_none()
            {
                return None;
            }
            there.access.footprint.meets(&own.access.footprint)
        };
        let met = |id: OpId| Some((id, self.operations.live.get(id).and_then(meets)?));
        let found: Vec<_> = self.threads.retired().chain(pending).filter_map(met).collect();
        let moved =
            |bytes: Range<usize>| bytes.start.wrapping_sub(BASE)..bytes.end.wrapping_sub(BASE);
        for (id, bytes) in found {
            let Some(first) = self
                .operations
                .live
                .get(id)
                .filter(|_| !self.operations.is_over(id, &self.threads))
            else {
                continue;
            };
            let Some(there) = &first.there else { continue };
            if out.again(Code::TargetRace, site.pc, first.site.pc) {
                continue;
            }
            let Access { mode, footprint } = &there.access;
            let described = first.described().with_access(
                mode.is_write(),
                &moved(footprint.span()),
                footprint.bytes(),
            );
            let operation = RawOperation { base: (!dynamic).then_some(0), ..described };
            let (by, is_write) = (&args.call.name, at_target.mode.is_write());
            let sites = [(Role::Access, site), (Role::Operation, first.site)];
            let report = Report {
                access: Some(RawAccess::new(by, is_write, &moved(bytes))),
                threads: true,
                ..Report::new(Code::TargetRace, operation, sites)
            };
            let number = self.reporter.report(report, &first.site, out);
            match &first.retired {
                Some(retired) => out.emit(
                    Record::Completed { id: number, site: (Role::Completion, retired.site) },
                    &self.reporter.stacks,
                ),
                None => self.operations.subscribe(id, number),
            }
        }
    }
}
