//! Lifetimes of MPI objects: datatypes that nobody commits (CS-ARG-02), windows that nobody frees
//! (CS-WIN-05), files that nobody closes (CS-OBJ-02), and on request all others that nobody frees
//! (CS-OBJ-01).
//!
//! A call that makes an object stands for all objects that it makes (allocation-site abstraction).
//! Points-to sets show which calls commit or free it, in whatever order the calls run.
//!
//! **Never misreported**, as points-to sets are an overestimate: an object that may be among those
//! that a call commits or frees is not reported, nor one that libraries may know of. Nothing is
//! reported for programs of which only a part is known.
//!
//! **Missed**: objects that are committed or freed too late, on some paths only, or fewer than are
//! made.

use crate::environment::Environment;
use crate::{Analysis, Calls, Mpi, places};
use commsan_findings::{Code, Role, Site};
use commsan_ir::{FunctionId, Inst, InstId, Program, Value};
use commsan_mpi_calls::{Call, Demand, Effect, Object as Kind};
use commsan_points_to::{Object, Pointer, PointsTo};
use rustc_hash::FxHashSet;

/// Checks; of objects that need not be freed only where `leaks` says so.
pub fn check(
    program: &Program,
    calls: &Calls,
    points_to: &PointsTo,
    environment: &Environment,
    leaks: bool,
    analysis: &mut Analysis,
) {
    if environment.whole {
        let objects = Objects { program, calls, points_to };
        objects.uncommitted(analysis);
        objects.left(leaks, analysis);
    }
}

struct Objects<'p> {
    program: &'p Program,
    calls: &'p Calls,
    points_to: &'p PointsTo,
}

/// A call of MPI that is in the table of calls.
struct Known<'p> {
    function: FunctionId,
    id: InstId,
    inst: &'p Inst,
    mpi: &'p Mpi,
    call: &'static Call,
}

impl<'p> Objects<'p> {
    fn all(&self) -> impl Iterator<Item = Known<'p>> + '_ {
        let (program, calls) = (self.program, self.calls);
        program.defined().flat_map(move |(function, _, body)| {
            let ids = body.block_ids().flat_map(|block| body.instructions(block));
            ids.filter_map(move |(id, inst)| {
                let mpi = calls.at(inst)?;
                Some(Known { function, id, inst, mpi, call: mpi.call? })
            })
        })
    }

    /// Objects whose handles may be where an argument points.
    fn behind(&self, known: &Known, index: usize) -> Vec<Object> {
        let Some(address) = known.inst.args.get(index) else { return Vec::new() };
        let targets = self.points_to.targets(known.function, *address);
        targets.into_iter().flat_map(|at| self.points_to.content(at)).map(object).collect()
    }

    /// Objects that an argument may be a handle of.
    fn passed(&self, known: &Known, index: usize) -> Vec<Object> {
        match known.inst.args.get(index) {
            _ if known.mpi.by_reference => self.behind(known, index),
            Some(Value::Int(_)) | None => Vec::new(),
            Some(handle) => {
                self.points_to.targets(known.function, *handle).into_iter().map(object).collect()
            }
        }
    }

    /// Datatypes that communication uses and nobody commits.
    fn uncommitted(&self, analysis: &mut Analysis) {
        let commits = |known: &Known| known.call.effect == Effect::TypeCommit;
        let committed: FxHashSet<_> =
            self.all().filter(commits).flat_map(|known| self.behind(&known, 0)).collect();
        let lacks = |object: &Object| match *object {
            Object::Made(function, id, Some(_)) => {
                let made = self.maker(function, id);
                made.is_some_and(makes_uncommitted)
                    && !committed.contains(object)
                    && !self.points_to.escapes(*object)
            }
            _ => false,
        };
        for known in self.all().filter(|known| known.call.communicates()) {
            for (index, _) in known.call.demands.iter().filter(|(_, d)| *d == Demand::Datatype) {
                let types = self.passed(&known, *index);
                let Some(Object::Made(function, id, _)) = types.first().copied() else { continue };
                if types.iter().all(lacks) {
                    self.report_type(&known, *index, (function, id), analysis);
                }
            }
        }
    }

    fn report_type(
        &self,
        known: &Known,
        index: usize,
        made: (FunctionId, InstId),
        analysis: &mut Analysis,
    ) {
        let parameter = known.call.params[index].shown();
        let problem = "has not been committed";
        let mut sites = vec![self.site(known, Role::Operation, format!("`{parameter}` {problem}"))];
        sites.extend(self.made_at(made));
        let finding = places::finding(
            Code::TypeNotCommitted,
            format!("`{parameter}` of {} {problem}", known.mpi.name),
            sites,
            "a datatype must be committed before it is used in a communication, and no call of the program commits \
             it"
            .to_owned(),
            "call MPI_Type_commit when the type has been made".to_owned(),
        );
        if !analysis.findings.contains(&finding) {
            analysis.findings.push(finding);
        }
    }

    /// Where an object is made.
    fn made_at(&self, (function, id): (FunctionId, InstId)) -> Option<Site> {
        let inst = self.program[function].body.as_ref()?.code.get(id.0 as usize)?;
        let label = format!("{} makes it", self.calls.at(inst)?.name);
        Some(places::at(self.program, function, inst.at, Role::Cause, label))
    }

    fn maker(&self, function: FunctionId, id: InstId) -> Option<&'static Call> {
        let inst = self.program[function].body.as_ref()?.code.get(id.0 as usize)?;
        self.calls.at(inst)?.call
    }

    /// Objects that nobody frees, in programs that end MPI.
    fn left(&self, leaks: bool, analysis: &mut Analysis) {
        if !self.all().any(|known| known.call.effect == Effect::Finalize) {
            return;
        }
        let frees = |known: &Known| known.call.frees.is_some();
        let freed: FxHashSet<_> =
            self.all().filter(frees).flat_map(|known| self.behind(&known, 0)).collect();
        for known in self.all() {
            let Some((code, index)) = made(known.call).filter(|(code, _)| leaks || is_error(*code))
            else {
                continue;
            };
            let object = Object::Made(known.function, known.id, u8::try_from(index).ok());
            let kept =
                known.inst.args.get(index).is_some_and(|argument| *argument != Value::Int(0));
            if kept && !freed.contains(&object) && !self.points_to.escapes(object) {
                self.report_left(code, &known, analysis);
            }
        }
    }

    fn report_left(&self, code: Code, known: &Known, analysis: &mut Analysis) {
        let name = &known.mpi.name;
        let (what, why, help) = match code {
            Code::WindowNotFreed => (
                "the window",
                "no call of MPI_Win_free in the program is given this window",
                "call MPI_Win_free in every process of the window's group before MPI_Finalize",
            ),
            Code::FileNotClosed => (
                "a file that is never closed",
                "no call of MPI_File_close in the program is given this file, and MPI_Finalize closes none",
                "call MPI_File_close on all ranks that have opened the file, before MPI_Finalize",
            ),
            _ => (
                "an object",
                "no call of the program frees it, and MPI_Finalize frees no objects: their memory is lost",
                "free it when it is not needed any more, by MPI_Comm_free, MPI_Type_free, MPI_Group_free, \
                 MPI_Op_free or MPI_Request_free",
            ),
        };
        let site = self.site(known, Role::Operation, format!("{name} makes {what}"));
        let message = format!("no call frees what {name} makes");
        analysis.findings.push(places::finding(
            code,
            message,
            vec![site],
            why.to_owned(),
            help.to_owned(),
        ));
    }

    fn site(&self, known: &Known, role: Role, label: String) -> Site {
        places::at(self.program, known.function, known.inst.at, role, label)
    }
}

fn object(pointer: Pointer) -> Object {
    pointer.object
}

/// Whether a call makes a datatype that is to be committed; a duplicate is what it was made of.
pub fn makes_uncommitted(call: &'static Call) -> bool {
    call.makes.is_some_and(|(kind, _)| kind == Kind::Datatype) && call.name != "MPI_Type_dup"
}

/// What it is if nobody frees what a call makes, and the parameter where it stores the handle.
fn made(call: &Call) -> Option<(Code, usize)> {
    let (kind, index) = call.makes?;
    let code = match kind {
        Kind::Window => Code::WindowNotFreed,
        Kind::File => Code::FileNotClosed,
        _ => Code::ObjectNotFreed,
    };
    Some((code, index))
}

/// Whether it is reported without the option `leaks`.
fn is_error(code: Code) -> bool {
    matches!(code, Code::WindowNotFreed | Code::FileNotClosed)
}
