//! Receives that have returned the error that a message is too long, where nobody asks what it means.
//!
//! **Soundness.** An error code may be looked at without any call, so that this is a warning. It is not given where the
//! program has asked about any error since, has handlers of its own, or ends by `MPI_Abort`.

use super::Tracker;
use crate::buffers::Args;
use commsan_callsite::{About, Findings, Party, Place, Report, Stacks};
use commsan_findings::{Code, Role};

/// Places that are remembered at most.
const MAX_PLACES: usize = 32;

/// The error's class.
const TRUNCATED: &str = "MPI_ERR_TRUNCATE";

/// Calls whose error nobody has asked about.
#[derive(Default)]
pub struct Refused(Vec<Party>);

impl Refused {
    /// The program asks what an error means, or handles errors otherwise.
    pub fn forget(&mut self) {
        self.0.clear();
    }

    /// Reports them.
    pub(super) fn report(&mut self, stacks: &Stacks, out: &mut dyn Findings) {
        for party in std::mem::take(&mut self.0) {
            let site = party.site;
            if out.again(Code::ErrorIgnored, 0, site.pc) {
                continue;
            }
            let report = Report {
                code: Code::ErrorIgnored,
                access: None,
                operation: party,
                concerned: None,
                sites: &[(Role::Operation, site)],
                threads: false,
                about: Some(About::Argument {
                    parameter: "",
                    problem: TRUNCATED.to_owned(),
                    kind: None,
                }),
            };
            out.report(&report, stacks);
        }
    }
}

impl Tracker {
    /// A call has returned this error.
    pub fn refused(&mut self, args: &Args, place: &impl Place) {
        let is_known = self.refused.0.iter().any(|party| party.site.pc == place.pc());
        if !is_known && self.refused.0.len() < MAX_PLACES {
            let party = self.reporter.operation(args, place).party();
            self.refused.0.push(party);
        }
    }
}
