//! Receives that returned the error that a message was truncated, whose meaning the program never
//! asks for.
//!
//! **Soundness.** A program may inspect an error code without any call, so that this is a warning.
//! It is not given where the program has asked about any error since, has error handlers of its
//! own, or ends by `MPI_Abort`.

use super::Tracker;
use crate::buffers::Args;
use commsan_callsite::{Findings, Place, Report, Site, Stacks};
use commsan_findings::record::{RawArgument, RawOperation};
use commsan_findings::{Code, Role};

/// Places that are remembered at most.
const MAX_PLACES: usize = 32;

/// The error's class.
const TRUNCATED: &str = "MPI_ERR_TRUNCATE";

/// Calls whose errors the program has not asked about.
#[derive(Default)]
pub struct Refused(Vec<(RawOperation<'static>, Site)>);

impl Refused {
    /// The program asks what an error means, or handles errors otherwise.
    pub fn forget(&mut self) {
        self.0.clear();
    }

    /// Reports the calls whose errors were ignored.
    pub(super) fn report(&mut self, stacks: &Stacks, out: &mut dyn Findings) {
        for (operation, site) in std::mem::take(&mut self.0) {
            if out.again(Code::ErrorIgnored, 0, site.pc) {
                continue;
            }
            let report = Report {
                argument: Some(RawArgument::new("", TRUNCATED, None)),
                ..Report::new(Code::ErrorIgnored, operation, [(Role::Operation, site)])
            };
            out.report(report, site.pc, stacks);
        }
    }
}

impl Tracker {
    /// A call has returned the error that a message was truncated.
    pub fn refused(&mut self, args: &Args, place: &impl Place) {
        let is_known = self.refused.0.iter().any(|(_, site)| site.pc == place.pc());
        if !is_known && self.refused.0.len() < MAX_PLACES {
            let operation = self.reporter.operation(args, place);
            self.refused.0.push((operation.described(), operation.site));
        }
    }
}
