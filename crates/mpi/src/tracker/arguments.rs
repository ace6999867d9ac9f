//! Calls that are given what they must not be given.

use super::{Operation, Reporter, Tracker};
use crate::buffers::Args;
use commsan_callsite::{About, Findings, Place, Report, Site};
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
    /// Where the object was freed that a handle stood for.
    freed: Option<Site>,
}

impl Wrong {
    /// A value that the parameter must not have; `problem` is e.g. `is 5, but the communicator's ranks are 0
    /// to 3`.
    pub fn value(parameter: &'static str, problem: String) -> Wrong {
        Wrong::of(Problem::Value, parameter, problem)
    }

    /// A mistake of this kind.
    pub fn of(kind: Problem, parameter: &'static str, problem: String) -> Wrong {
        Wrong { code: Code::InvalidArgument, parameter, kind, problem, freed: None }
    }

    /// The handle of an object that was freed there.
    pub fn freed(parameter: &'static str, freed: Option<Site>) -> Wrong {
        let problem = "has been freed".to_owned();
        Wrong { freed, ..Wrong::of(Problem::Freed, parameter, problem) }
    }

    /// A datatype that is not committed.
    pub fn uncommitted(parameter: &'static str) -> Wrong {
        let problem = "has not been committed".to_owned();
        Wrong { code: Code::TypeNotCommitted, ..Wrong::value(parameter, problem) }
    }

    /// A datatype, or displacements, by which a call writes `bytes` of its buffer, counted from its beginning, more
    /// than once.
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
    /// A call is about to be made with a wrong argument.
    pub fn wrong_argument(
        &mut self,
        args: &Args,
        wrong: &Wrong,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        if out.again(wrong.code, 0, place.pc()) {
            return;
        }
        let site = self.site(args.call, place);
        let freed = wrong.freed.map(|freed| (Role::Release, freed));
        let sites: Vec<_> = [(Role::Operation, site)].into_iter().chain(freed).collect();
        let report = Report {
            code: wrong.code,
            access: None,
            operation: self.operation(args, place).party(),
            concerned: None,
            sites: &sites,
            threads: false,
            about: Some(About::Argument {
                parameter: wrong.parameter,
                problem: wrong.problem.clone(),
                kind: (wrong.code == Code::InvalidArgument).then_some(wrong.kind),
            }),
        };
        self.report(&report, out);
    }

    /// A call is made before MPI is there, or after it; `problem` says which.
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

    /// The process exits with success, and what `call` has initialised was not finalised.
    pub fn never_ended(&mut self, call: &'static Call, site: Site, out: &mut dyn Findings) {
        let report = Report {
            code: Code::NeverFinalized,
            access: None,
            operation: Operation::at(call, site).party(),
            concerned: None,
            sites: &[(Role::Operation, site)],
            threads: false,
            about: None,
        };
        self.report(&report, out);
    }

    /// The library ends the program within a call.
    pub fn failed(&mut self, args: &Args, place: &impl Place, out: &mut dyn Findings) {
        self.ended_within(args, Code::CallFailed, None, place, out);
    }

    /// The program crashes within a call, `problem` being how, and `parameter` the buffer over which, if that is known.
    pub fn crashed(
        &mut self,
        args: &Args,
        parameter: &'static str,
        problem: &str,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let about = About::Argument { parameter, problem: problem.to_owned(), kind: None };
        self.ended_within(args, Code::CallCrashed, Some(about), place, out);
    }

    fn ended_within(
        &mut self,
        args: &Args,
        code: Code,
        about: Option<About>,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
        let operation = self.operation(args, place);
        let report = Report {
            code,
            access: None,
            operation: operation.party(),
            concerned: None,
            sites: &[(Role::Operation, operation.site)],
            threads: false,
            about,
        };
        self.report(&report, out);
    }
}

impl Tracker {
    /// The process exits with success after `MPI_Init`, without `MPI_Finalize`.
    pub fn never_finalized(&mut self, out: &mut dyn Findings) {
        if let Some((call, site)) = self.thread_calls.began {
            self.reporter.never_ended(call, site, out);
        }
    }
}
