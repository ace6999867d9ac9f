//! Conflicts of an access with pending operations, and their reports.

use super::Tracker;
use commsan_callsite::{Findings, Place, Report};
use commsan_findings::record::RawAccess;
use commsan_findings::record::Record;
use commsan_findings::{Code, Role};
use commsan_mpi_calls::Effect;
use commsan_shadow::{Access, Conflict, Mode};
use std::ops::{ControlFlow, Range};

/// Conflicts of one access that are reported at most; more would repeat the finding.
pub(super) const MAX_CONFLICTS: usize = 8;

impl Tracker {
    /// The operations that an access conflicts with; `None` if the page filter rules out any, which
    /// is the usual case and fast.
    pub(super) fn conflicts(
        &mut self,
        access: &Access,
    ) -> Option<[Option<Conflict>; MAX_CONFLICTS]> {
        access.may_conflict(self.pages).then(|| self.met_by(access, true))
    }

    /// The operations that an access conflicts with: with the page filter asked again for each run
    /// of bytes, or not at all.
    pub(super) fn met_by(
        &mut self,
        access: &Access,
        filtered: bool,
    ) -> [Option<Conflict>; MAX_CONFLICTS] {
        self.requests.accessed(access);
        if access.mode == Mode::Write
            && let Some(guards) = &mut self.operations.guards
        {
            guards.give_way(&access.footprint.span());
        }
        self.settle_if_met(access);
        let mut found = [const { None }; MAX_CONFLICTS];
        let (mut count, mut over) = (0, None);
        let take = |id, other: &Access, bytes: Range<usize>| {
            // An operation is found once for each run of bytes that both touch.
            let known = |known: &Conflict| known.id == id;
            if self.operations.is_over_for(id, &self.threads, &bytes) {
                over = Some(id);
                return ControlFlow::Continue(());
            }
            let is_known = found[..count].iter().flatten().any(known);
            if is_known || self.operations.live.get(id).is_some_and(|op| op.may_be_complete) {
                return ControlFlow::Continue(());
            }
            let Some(cell) = found.get_mut(count) else { return ControlFlow::Break(()) };
            count += 1;
            *cell = Some(Conflict::new(id, other, bytes));
            ControlFlow::Continue(())
        };
        let Access { mode, footprint } = access;
        let _ = match filtered {
            true => self.operations.live.conflicts(*mode, footprint, take),
            false => self.operations.live.meeting(*mode, footprint, take),
        };
        if let Some(id) = over {
            self.operations.touch_retired(id, &mut self.threads);
        }
        found
    }

    #[expect(clippy::too_many_arguments, reason = "the sides of a finding, each once")]
    pub(super) fn report(
        &mut self,
        code: Code,
        role: Role,
        access: RawAccess<'_>,
        call: Option<&'static str>,
        conflict: &Conflict,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let Some(operation) = self.operations.live.get_mut(conflict.id) else { return };
        operation.is_reported = true;
        let is_lent = operation.call.effect == Effect::BufferAttach;
        let code = match is_lent && code != Code::PendingBufferFreed {
            true => Code::AttachedBufferUsed,
            false => code,
        };
        if out.again(code, place.pc(), operation.site.pc) {
            return;
        }
        let Conflict { id, mode, ref span, touched, .. } = *conflict;
        let described = operation.described().with_access(mode.is_write(), span, touched);
        let site = place.site(call, &mut self.reporter.stacks);
        let report = Report {
            access: Some(access),
            threads: operation.retired.is_some(),
            argument: self.operations.arrays.argument(id, span.start),
            ..Report::new(code, described, operation.places(Some((role, site))).collect::<Vec<_>>())
        };
        let number = self.reporter.report(report, &operation.site, out);
        match &operation.retired {
            Some(retired) => out.emit(
                Record::Completed { id: number, site: (Role::Completion, retired.site) },
                &self.reporter.stacks,
            ),
            None => self.operations.subscribe(conflict.id, number),
        }
    }
}
