//! Findings about a call alone: what needs no more of this process's state than its call stacks.

use super::Operation;
use super::bounds::Bounds;
use crate::buffers::Args;
use commsan_callsite::{Findings, Place, Report, Site, Stacks};
use commsan_mpi_calls::Call;

/// Call stacks of this process, each kept once, and the findings that need nothing else.
#[derive(Default)]
pub struct Reporter {
    pub(super) stacks: Stacks,
    /// Uses of variables that were reported.
    pub(super) bounds: Bounds,
}

impl Reporter {
    /// The site of a call.
    #[inline]
    pub fn site(&mut self, call: &'static Call, place: &impl Place) -> Site {
        place.site(Some(&call.name), &mut self.stacks)
    }

    /// The operation that a call starts.
    pub(super) fn operation(&mut self, args: &Args, place: &impl Place) -> Operation {
        Operation::new(args, place, &mut self.stacks)
    }

    /// Reports a finding about an operation that was started at a site, and returns its number.
    pub(super) fn report(
        &self,
        report: Report<'_>,
        operation: &Site,
        out: &mut dyn Findings,
    ) -> u32 {
        out.report(report, operation.pc, &self.stacks)
    }
}
