//! Reductions of the program's own that access memory behind the elements that they are given. What
//! is reported was found by the entry points, which know what the operation was given.

use super::Tracker;
use crate::buffers::Args;
use commsan_callsite::{Findings, Place, Report};
use commsan_findings::record::{RawAccess, RawArgument};
use commsan_findings::{Code, Role};
use commsan_shadow::Mode;
use std::ops::Range;

/// An access of an operation behind the elements that it was given.
#[derive(Clone, Debug)]
pub struct Overstep {
    /// What accesses: `store`, or a function of the C library.
    pub by: &'static str,
    /// Whether it writes.
    pub mode: Mode,
    /// The bytes that are none of the operation's.
    pub bytes: Range<usize>,
    /// The vector that they lie behind, as the standard calls it.
    pub vector: &'static str,
    /// How many elements the operation was given, and their bytes.
    pub elements: usize,
    /// Bytes of these elements.
    pub size: usize,
}

impl Tracker {
    /// Accesses to this memory are reported from now on.
    pub fn guard(&mut self, bytes: &Range<usize>) {
        self.guarded += 1;
        self.pages.mark(bytes.clone(), Mode::Write);
    }

    /// Accesses to this memory are no longer reported.
    pub fn unguard(&mut self, bytes: &Range<usize>) {
        self.guarded -= 1;
        self.pages.unmark(bytes.clone(), Mode::Write);
    }

    /// An operation accesses memory that it was not given. `outer` is the place of the call that
    /// needs the operation.
    pub fn oversteps(
        &mut self,
        args: &Args,
        overstep: &Overstep,
        outer: &impl Place,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let Overstep { by, mode, bytes, vector, elements, size } = overstep;
        let code = Code::OperationOversteps;
        if out.again(code, place.pc(), outer.pc()) {
            return;
        }
        let elements =
            if *elements == 1 { "1 element".to_owned() } else { format!("{elements} elements") };
        let problem = format!(
            "memory behind the {elements} ({size} bytes) that {} gave it as `{vector}`",
            args.call.name
        );
        let operation = self.reporter.operation(args, outer);
        let site = place.site(None, &mut self.reporter.stacks);
        let report = Report {
            access: Some(RawAccess::new(by, mode.is_write(), bytes)),
            argument: Some(RawArgument::new(vector, problem, None)),
            ..Report::new(
                code,
                operation.described(),
                [(Role::Access, site), (Role::Operation, operation.site)],
            )
        };
        self.reporter.report(report, &operation.site, out);
    }
}
