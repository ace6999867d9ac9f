//! Assertions that calls make about window memory (MPI 4.1 §12.5.5).
//!
//! **Soundness.** `MPI_MODE_NOSTORE` does not hold if this process, by a store, receive or get, has
//! written to its part since it last synchronised the window; missed are gets that the same call
//! completes, and what [`Shadow`](commsan_shadow::Shadow) does not remember. `MPI_MODE_NOPUT` does
//! not hold if an operation that writes arrives in the epoch that the call opens.

use super::operation::Operation;
use super::{OneSided, Reporter, Tracker};
use crate::buffers::Args;
use crate::rma::message::{AccessEpoch, Announced};
use commsan_callsite::{Findings, Place, Report, Site};
use commsan_findings::record::RawAccess;
use commsan_findings::{Code, Role};
use commsan_mpi_calls::{Call, Effect};
use commsan_shadow::{Mode, Past};
use std::ops::Range;

/// Fences of a window whose assertions are remembered.
const MAX_FENCES: usize = 4;

impl OneSided {
    /// A call that synchronises a window is valid; `no_put` is its site if it asserts that nobody
    /// puts.
    pub(super) fn note_synchronised(&mut self, handle: usize, args: &Args, no_put: Option<Site>) {
        let segment = self.clock.as_ref().map_or(0, |clock| clock.segment());
        let Some(window) = self.windows.get_mut(handle) else { return };
        window.synchronised = match args.call.effect {
            // These have just ended a segment.
            Effect::Fence
            | Effect::ExposureBegin
            | Effect::EpochEnd
            | Effect::Lock
            | Effect::Unlock => segment.saturating_sub(1),
            // Others may not have: what follows in the same segment counts as before the call, too.
            _ => segment,
        };
        match args.call.effect {
            Effect::Fence => {
                let fence = window.fences.count();
                // Operations may arrive a few fences late.
                window.no_put.retain(|(number, _)| number + MAX_FENCES > fence);
                window.no_put.extend(no_put.map(|site| (fence, site)));
            }
            Effect::ExposureBegin => {
                window.no_put.retain(|(number, _)| *number != 0);
                window.no_put.extend(no_put.map(|site| (0, site)));
            }
            _ => {}
        }
    }
}

impl Tracker {
    /// Checks the assertion of a call that nothing was stored to the window.
    pub(super) fn check_no_store(
        &mut self,
        handle: usize,
        args: &Args,
        site: Site,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let rma = &self.rma;
        let (Some(window), Some(exposed)) = (rma.windows.get(handle), &rma.exposed) else { return };
        let (number, base, mut written) = (window.number, window.made.base, None);
        for bytes in &window.memory {
            exposed.shadow().since(bytes, window.synchronised, |past, bytes| {
                if past.mode == Mode::Write {
                    written.get_or_insert((past, bytes));
                }
            });
        }
        let Some((past, bytes)): Option<(Past, Range<usize>)> = written else { return };
        let (access, by) = self.reporter.past(&past, place);
        self.reporter.does_not_hold(args.call, (number, base), (by, access, bytes), site, out);
    }

    /// Checks an operation that has arrived against assertions that nobody puts.
    pub(super) fn check_no_put(
        &mut self,
        op: &Announced,
        call: &'static Call,
        bytes: &Range<usize>,
        out: &mut dyn Findings,
    ) {
        let Some(window) = self.rma.windows.named(op.window).filter(|_| op.mode == Mode::Write)
        else {
            return;
        };
        let granted = |n| window.granted.get(&op.origin).is_some_and(|g| g.count == n);
        let epoch = match op.epoch {
            AccessEpoch::Fence(n) => n as usize,
            AccessEpoch::Start(n) if granted(n) => 0,
            _ => return,
        };
        let Some((_, site)) = window.no_put.iter().find(|(number, _)| *number == epoch) else {
            return;
        };
        let (site, Some(asserts)) = (*site, site.call.and_then(commsan_mpi_calls::named)) else {
            return;
        };
        let access =
            (call.name.as_str(), Site::remote(&call.name, op.origin, op.site), bytes.clone());
        let place = (window.number, window.made.base);
        self.reporter.does_not_hold(asserts, place, access, site, out);
    }
}

impl Reporter {
    fn does_not_hold(
        &mut self,
        call: &'static Call,
        (number, base): (u32, usize),
        (by, access, bytes): (&str, Site, Range<usize>),
        site: Site,
        out: &mut dyn Findings,
    ) {
        if out.again(Code::FalseAssertion, access.pc, site.pc) {
            return;
        }
        let (window, base) = (Some(number), Some(base));
        let operation = Operation { window, base, ..Operation::at(call, site) };
        let operation = operation.described().with_access(false, &bytes, bytes.len());
        let sites = [(Role::Access, access), (Role::Operation, site)];
        let report = Report {
            access: Some(RawAccess::new(by, true, &bytes)),
            ..Report::new(Code::FalseAssertion, operation, sites)
        };
        self.report(report, &site, out);
    }
}
