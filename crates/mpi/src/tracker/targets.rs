//! One-sided operations of several threads of one rank that meet at their target.
//!
//! The target cannot tell threads apart: what one of them has completed before another starts counts as ordered there. Here
//! it does only if the threads synchronise.
//!
//! **Soundness.** Both operations are of this rank, on one window and target, touch a common byte, one of them writes,
//! not both are accumulates or under exclusive locks, and the thread that starts the later one has not come after the
//! completion of the earlier one, or, as long as that is pending, after its start: of one thread's own, the target tells. Missed is what was complete before the last operations that are remembered ([`super::concurrent`]).

use super::{Operation, TargetAccess, Tracker};
use crate::buffers::Args;
use crate::rma::message::AccessEpoch;
use commsan_callsite::{Findings, Party, Report, Side, Site};
use commsan_findings::record::Record;
use commsan_findings::{Code, Role};
use commsan_shadow::{Access, Footprint, Mode, OpId};
use std::ops::Range;

/// What an operation does at its target.
#[derive(Debug)]
pub(super) struct There {
    /// By offsets from the window's beginning, and [`BASE`].
    access: Access,
    is_atomic: bool,
    epoch: AccessEpoch,
}

/// Added to offsets, of which those by mistake are negative.
const BASE: usize = 1 << 62;

impl Tracker {
    /// What an operation that is about to start does at its target, if another thread may meet it there.
    pub(super) fn there(&self, at_target: &TargetAccess) -> Option<Box<There>> {
        self.threads.actor.as_ref()?;
        let window = self.rma.windows.get(at_target.window)?;
        let base = BASE.wrapping_add_signed(at_target.offset(window) as isize);
        let footprint = Footprint::new(base, at_target.pattern.clone());
        let access = Access { mode: at_target.mode, footprint };
        let epoch = window.epoch(at_target.target);
        Some(Box::new(There { access, is_atomic: at_target.atomic.is_some(), epoch }))
    }

    /// An operation is about to start: which of those of other threads does it meet?
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
            let report = Report {
                code: Code::TargetRace,
                access: Some(Side {
                    by: &args.call.name,
                    mode: at_target.mode,
                    bytes: moved(bytes),
                }),
                operation: Party { base: (!dynamic).then_some(0), ..first.party() },
                concerned: Some((*mode, moved(footprint.span()), footprint.bytes())),
                sites: &[(Role::Access, site), (Role::Operation, first.site)],
                threads: true,
                about: None,
            };
            let number = self.reporter.report(&report, out);
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
