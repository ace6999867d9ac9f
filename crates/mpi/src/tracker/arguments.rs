//! Calls with arguments that MPI does not allow.

use super::{Reporter, Tracker};
use crate::buffers::Args;
use commsan_callsite::{Findings, Place, Report, Site};
use commsan_findings::record::{RawArgument, RawOperation};
use commsan_findings::{Code, Problem, Role};
use commsan_mpi_calls::Call;
use std::ops::Range;

/// An argument that the call does not allow.
#[derive(Clone, Debug)]
pub struct Wrong {
    code: Code,
    parameter: &'static str,
    kind: Problem,
    problem: String,
    /// Where the object that the handle stood for was freed.
    freed: Option<Site>,
}

impl Wrong {
    /// A value that the parameter must not have; `problem` completes the sentence, e.g. `is 5, but
    /// the communicator's ranks are 0 to 3`.
    pub fn value(parameter: &'static str, problem: String) -> Wrong {
        Wrong::of(Problem::Value, parameter, problem)
    }

    /// An invalid argument with a mistake of this kind.
    pub fn of(kind: Problem, parameter: &'static str, problem: String) -> Wrong {
        Wrong { code: Code::InvalidArgument, parameter, kind, problem, freed: None }
    }

    /// The handle of an object that was freed, at this site if it is known.
    pub fn freed(parameter: &'static str, freed: Option<Site>) -> Wrong {
        let problem = "has been freed".to_owned();
        Wrong { freed, ..Wrong::of(Problem::Freed, parameter, problem) }
    }

    /// This wrong argument as a finding of another code, with the site where the object that it
    /// names was made or freed.
    pub(super) fn of_code(self, code: Code, freed: Option<Site>) -> Wrong {
        Wrong { code, freed, ..self }
    }

    /// A datatype that is not committed.
    pub fn uncommitted(parameter: &'static str) -> Wrong {
        let problem = "has not been committed".to_owned();
        Wrong { code: Code::TypeNotCommitted, ..Wrong::value(parameter, problem) }
    }

    /// A datatype or displacements by which a call writes bytes of its buffer twice; `bytes` are
    /// counted from the beginning of the buffer.
    pub fn overlapping(parameter: &'static str, bytes: Range<isize>) -> Wrong {
        let problem = format!(
            "lets elements overlap: bytes {} to {} of the buffer would be written twice",
            bytes.start,
            bytes.end - 1
        );
        Wrong { code: Code::WrittenTwice, ..Wrong::value(parameter, problem) }
    }
}

impl Reporter {
    /// Reports that a call is about to be made with a wrong argument.
    pub fn wrong_argument(
        &mut self,
        args: &Args,
        wrong: &Wrong,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        // With the call that freed it as a second site, where there is one.
        let offender = wrong.freed.map_or(0, |_| place.pc());
        if out.again(wrong.code, offender, place.pc()) {
            return;
        }
        let site = self.site(args.call, place);
        let freed = wrong.freed.map(|freed| (Role::Release, freed));
        let sites: Vec<_> = [(Role::Operation, site)].into_iter().chain(freed).collect();
        let operation = self.operation(args, place).described();
        let kind = (wrong.code == Code::InvalidArgument).then_some(wrong.kind);
        let report = Report {
            argument: Some(RawArgument::new(wrong.parameter, &wrong.problem, kind)),
            ..Report::new(wrong.code, operation, sites)
        };
        self.report(report, &site, out);
    }

    /// Reports a call before MPI is initialised or after it is finalised; `problem` says which.
    pub fn outside(
        &mut self,
        args: &Args,
        problem: &'static str,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let problem = problem.to_owned();
        let wrong = Wrong { code: Code::OutsideMpi, ..Wrong::value("", problem) };
        self.wrong_argument(args, &wrong, place, out);
    }

    /// Reports a call of OpenSHMEM before it is initialised or after it is finalised.
    pub fn outside_shmem(
        &mut self,
        args: &Args,
        problem: &'static str,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let wrong = Wrong::value("", problem.to_owned()).of_code(Code::OutsideShmem, None);
        self.wrong_argument(args, &wrong, place, out);
    }

    /// Reports that the process exits with success, but what `call` initialised was never
    /// finalised.
    pub fn never_ended(&mut self, call: &'static Call, site: Site, out: &mut dyn Findings) {
        let operation = RawOperation::of(&call.name);
        let sites = [(Role::Operation, site)];
        self.report(Report::new(Code::NeverFinalized, operation, sites), &site, out);
    }

    /// Reports that what a call has allocated is never freed. `problem` says how much is left.
    pub(super) fn never_freed(&mut self, site: Site, problem: &str, out: &mut dyn Findings) {
        let operation = RawOperation::of(site.call.unwrap_or_default());
        let report = Report {
            argument: Some(RawArgument::new("", problem, None)),
            ..Report::new(Code::SymmetricNeverFreed, operation, [(Role::Operation, site)])
        };
        self.report(report, &site, out);
    }

    /// Reports that the program crashes within a call. `problem` says how; `parameter` is the
    /// buffer that caused it, or empty.
    pub fn crashed(
        &mut self,
        args: &Args,
        parameter: &'static str,
        problem: &str,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let argument = RawArgument::new(parameter, problem, None);
        self.ended_within(args, Code::CallCrashed, Some(argument), place, out);
    }

    /// Reports that a call of Fortran stores its error code at an address that is no variable's,
    /// as the argument is missing; `None` if that is known from the call's code.
    pub fn missing_error_code(
        &mut self,
        call: &'static Call,
        address: Option<usize>,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        if out.again(Code::InvalidArgument, 0, place.pc()) {
            return;
        }
        let site = self.site(call, place);
        let problem = match address {
            Some(address) => {
                format!("is missing: what the call gets instead, {address:#x}, is no variable")
            }
            None => "is missing: the call passes one argument less than there are".to_owned(),
        };
        let argument = RawArgument::new("ierror", problem, Some(Problem::Missing));
        let operation = RawOperation::of(&call.name);
        let sites = [(Role::Operation, site)];
        let report = Report {
            argument: Some(argument),
            ..Report::new(Code::InvalidArgument, operation, sites)
        };
        self.report(report, &site, out);
    }

    /// Reports that the program crashes outside of calls. `problem` says how.
    pub fn crashed_outside(&mut self, problem: &str, place: &impl Place, out: &mut dyn Findings) {
        let site = place.site(None, &mut self.stacks);
        let operation = RawOperation::of("");
        let report = Report {
            argument: Some(RawArgument::new("", problem, None)),
            ..Report::new(Code::ProgramCrashed, operation, [(Role::Access, site)])
        };
        self.report(report, &site, out);
    }

    fn ended_within(
        &mut self,
        args: &Args,
        code: Code,
        argument: Option<RawArgument<'_>>,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let operation = self.operation(args, place);
        let sites = [(Role::Operation, operation.site)];
        let report = Report { argument, ..Report::new(code, operation.described(), sites) };
        self.report(report, &operation.site, out);
    }
}

impl Tracker {
    /// Reports that the process exits with success after `MPI_Init`, without `MPI_Finalize`.
    pub fn never_finalized(&mut self, out: &mut dyn Findings) {
        if let Some((call, site)) = self.thread_calls.began {
            self.reporter.never_ended(call, site, out);
        }
    }
}
