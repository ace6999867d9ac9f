//! What an access conflicts with, and how that is told.

use super::Tracker;
use commsan_callsite::{Findings, Place, Report, Side};
use commsan_findings::record::Record;
use commsan_findings::{Code, Role};
use commsan_mpi_calls::Effect;
use commsan_shadow::{Access, Mode, OpId};
use std::ops::{ControlFlow, Range};

/// A conflict, copied out of the engine.
pub(super) struct Conflict {
    pub id: OpId,
    pub mode: Mode,
    pub span: Range<usize>,
    pub touched: usize,
    pub bytes: Range<usize>,
}

/// Conflicts looked at for one access; more are repetitions for the reader.
pub(super) const MAX_CONFLICTS: usize = 8;

impl Tracker {
    /// The operations an access conflicts with; `None`, nearly always and quickly, without any.
    pub(super) fn conflicts(
        &mut self,
        access: &Access,
    ) -> Option<[Option<Conflict>; MAX_CONFLICTS]> {
        let footprint = &access.footprint;
        let possible = footprint.visit(&footprint.span(), &mut |run| match self
            .pages
            .may_conflict(&run, access.mode)
        {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        });
        possible.is_break().then(|| self.met_by(access, true))
    }

    /// The same, asking the page filter for each run of bytes, or not at all.
    pub(super) fn met_by(
        &mut self,
        access: &Access,
        filtered: bool,
    ) -> [Option<Conflict>; MAX_CONFLICTS] {
        self.requests.accessed(access);
        self.settle_if_met(access);
        let mut found = [const { None }; MAX_CONFLICTS];
        let (mut count, mut over) = (0, None);
        let take = |id, other: &Access, bytes| {
            // Named once for each run of bytes they share.
            let known = |known: &Conflict| known.id == id;
            if self.operations.is_over(id, &self.threads) {
                over = Some(id);
                return ControlFlow::Continue(());
            }
            if found[..count].iter().flatten().any(known) {
                return ControlFlow::Continue(());
            }
            let Some(cell) = found.get_mut(count) else { return ControlFlow::Break(()) };
            count += 1;
            *cell = Some(Conflict {
                id,
                mode: other.mode,
                span: other.footprint.span(),
                touched: other.footprint.bytes(),
                bytes,
            });
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
        side: Side,
        call: Option<&'static str>,
        conflict: &Conflict,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let Some(operation) = self.operations.live.get(conflict.id) else { return };
        let is_lent = operation.call.effect == Effect::BufferAttach;
        let code = match is_lent && code != Code::PendingBufferFreed {
            true => Code::AttachedBufferUsed,
            false => code,
        };
        if out.again(code, place.pc(), operation.site.pc) {
            return;
        }
        let report = Report {
            code,
            access: Some(side),
            operation: operation.party(),
            concerned: Some((conflict.mode, conflict.span.clone(), conflict.touched)),
            sites: &[
                (role, place.site(call, &mut self.reporter.stacks)),
                (Role::Operation, operation.site),
            ],
            threads: operation.retired.is_some(),
            about: self.operations.arrays.about(conflict.id, conflict.span.start),
        };
        let number = self.reporter.report(&report, out);
        match &operation.retired {
            Some(retired) => out.emit(
                Record::Completed { id: number, site: (Role::Completion, retired.site) },
                &self.reporter.stacks,
            ),
            None => self.operations.subscribe(conflict.id, number),
        }
    }
}
