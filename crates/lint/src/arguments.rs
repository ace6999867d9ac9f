//! Argument checking: constants that no call may be given (CS-ARG-01), and one buffer given twice
//! (CS-BUF-04, `aliased.rs`). Predefined reductions and datatypes are compared with each other
//! (`fit.rs`).
//!
//! The table of calls says what a call demands, as at run time (`mpi-shim/arguments.rs`, which
//! cites the standard's sections). An argument counts if it is a constant, or a variable that only
//! ever holds this constant. The values that a variable holds at the call, constants and handles of
//! freed objects, are propagated within a function (`held.rs`).
//!
//! **Never misreported**: numbers with a special meaning in either MPI library (`MPI_ANY_SOURCE`,
//! `MPI_ROOT`) are reported only where the program shows which library it is for; arguments that
//! are not significant at `MPI_PROC_NULL`, in place, or on ranks other than the root are left out,
//! and so are calls that a constant condition excludes.
//!
//! **Missed**: everything that is computed, objects freed by other functions, ranks beyond the
//! communicator's.

mod aliased;
mod constant;
mod fit;
mod held;
mod uncommitted;

use crate::environment::Environment;
use crate::{Analysis, Calls, Mpi, places};
use commsan_findings::{Code, Finding, Role};
use commsan_ir::graph::post_dominators;
use commsan_ir::{BlockId, Body, Callee, FunctionId, Inst, Op, Program, Value};
use commsan_mpi_calls::{Call, Demand, Extent, Flow, Object, On, Rule, abi};
use constant::{Constant, Constants};
use held::Held;
use rustc_hash::FxHashSet;

/// Checks.
pub fn check(program: &Program, calls: &Calls, environment: &Environment, analysis: &mut Analysis) {
    let joined = called_by_all(program);
    for (function, _, body) in program.defined() {
        if !body.code.iter().any(|inst| calls.at(inst).is_some()) {
            continue;
        }
        let held = Held::of(program, calls, environment, body);
        let always = if joined.contains(&function) { always(body) } else { Vec::new() };
        for block in held.reached() {
            for (id, inst) in body.instructions(block) {
                let Some(mpi) = calls.at(inst) else { continue };
                let Some(call) = mpi.call else { continue };
                let arguments = 0..inst.args.len();
                let held = arguments.map(|place| held.argument(body, id, place)).collect();
                let constants = Constants { program, body, environment, held };
                let by_all = always.contains(&block);
                let given = Given { constants: &constants, mpi, call, inst, by_all };
                if given.has_no_error_code() {
                    analysis.findings.push(without_error_code(program, function, &given));
                } else if let Some((index, problem)) = given.wrong() {
                    report(program, function, &given, index, &problem, analysis);
                }
                let others = [
                    aliased::check(program, function, &given),
                    uncommitted::check(program, calls, function, &given),
                ];
                analysis.findings.extend(others.into_iter().flatten());
            }
        }
    }
}

/// Functions that `main` calls whatever happens, by way of others too.
fn called_by_all(program: &Program) -> FxHashSet<FunctionId> {
    let mut open: Vec<_> = program.function("main").into_iter().collect();
    open.extend(program.function(commsan_ir::FORTRAN_PROGRAM));
    let mut found: FxHashSet<_> = open.iter().copied().collect();
    while let Some(function) = open.pop() {
        let Some(body) = &program[function].body else { continue };
        for block in always(body) {
            for (_, inst) in body.instructions(block) {
                if let Op::Call(Callee::Direct(callee)) = inst.op
                    && found.insert(callee)
                {
                    open.push(callee);
                }
            }
        }
    }
    found
}

/// Blocks that every way through a function goes through.
fn always(body: &Body) -> Vec<BlockId> {
    let after = post_dominators(body);
    std::iter::successors(Some(BlockId(0)), |block| after[block.0 as usize]).collect()
}

fn report(
    program: &Program,
    function: FunctionId,
    given: &Given,
    index: usize,
    problem: &str,
    analysis: &mut Analysis,
) {
    let parameter = given.call.params[index].shown();
    let freed_sometimes = given.constants.is_freed_sometimes(index);
    let possible = freed_sometimes || given.may_be_of_nothing(index);
    let problem = if freed_sometimes { "has been freed on some ways here" } else { problem };
    let label = format!("`{parameter}` {problem}");
    let mut sites = vec![places::at(program, function, given.inst.at, Role::Operation, label)];
    if let Some((_, by)) = given.constants.freed(index) {
        let freed = &given.constants.body[by];
        sites.push(places::at(program, function, freed.at, Role::Release, "freed here".to_owned()));
    }
    let finding = places::finding(
        Code::InvalidArgument,
        format!("`{parameter}` of {} {problem}", given.mpi.name),
        sites,
        "the standard does not allow this argument, whatever the library makes of it".to_owned(),
        format!("check what `{parameter}` is given here"),
    );
    let finding = Finding { possible, ..finding };
    if !analysis.findings.contains(&finding) {
        analysis.findings.push(finding);
    }
}

/// A call without `ierror`, which only mpi_f08 may omit, and passes as null then (MPI 4.1 §19.1).
fn without_error_code(program: &Program, function: FunctionId, given: &Given) -> Finding {
    let label = "`ierror` is missing".to_owned();
    let sites = vec![places::at(program, function, given.inst.at, Role::Operation, label)];
    places::finding(
        Code::InvalidArgument,
        format!("{} is called without `ierror`", given.mpi.name),
        sites,
        "Fortran's calls store an error code at their last argument: without it, wherever the register or the stack \
         points"
            .to_owned(),
        "pass `ierror`; `use mpi` or `use mpi_f08` instead of `mpif.h` lets the compiler check arguments".to_owned(),
    )
}

/// What is wrong with the handle of an object that is no more.
const FREED: &str = "has been freed";

/// What a call is given.
struct Given<'c, 'p> {
    constants: &'c Constants<'p>,
    mpi: &'c Mpi,
    call: &'static Call,
    inst: &'c Inst,
    /// Whether no condition decides whether the call is made: every rank makes it.
    by_all: bool,
}

impl Given<'_, '_> {
    /// The first parameter with a wrong argument, and what is wrong with it.
    fn wrong(&self) -> Option<(usize, String)> {
        let mut demands = self.call.demands.iter();
        let found =
            demands.find_map(|(index, demand)| Some((*index, self.problem(*index, *demand)?)));
        found.or_else(|| self.null_buffer()).or_else(|| fit::wrong(self))
    }

    /// Whether it is a call of Fortran that passes one argument less than there are.
    fn has_no_error_code(&self) -> bool {
        let (visible, lengths) = self.call.fortran_arguments();
        self.mpi.by_reference && lengths == 0 && self.inst.args.len() + 1 == visible
    }

    fn number(&self, index: usize) -> Option<i64> {
        self.constants.number(self.mpi, self.inst, index)
    }

    fn problem(&self, index: usize, demand: Demand) -> Option<String> {
        let peer = match demand {
            Demand::Tag => self.call.at.dest,
            Demand::ReceivedTag => self.call.at.source,
            _ => self.call.at.peer,
        };
        let nowhere = peer.is_some_and(|peer| self.may_be_nowhere(peer));
        let handle = || self.constants.handle(self.mpi, self.inst, index);
        let freed = || self.constants.freed(index).map(|(object, _)| object);
        Some(match demand {
            Demand::Freeable(object) if object != Object::Request => match freed() {
                Some(freed) if freed == object => FREED.to_owned(),
                Some(_) => return None,
                None => {
                    let null = self.constants.null_behind(self.mpi, index, object)?;
                    let name = null.null_name().filter(|_| Constant::null(object) == Some(null))?;
                    format!("is {name}")
                }
            },
            Demand::Comm if freed() == Some(Object::Comm) => FREED.to_owned(),
            Demand::Win if freed() == Some(Object::Window) => FREED.to_owned(),
            Demand::Group if freed() == Some(Object::Group) => FREED.to_owned(),
            Demand::File if freed() == Some(Object::File) => FREED.to_owned(),
            Demand::Op if freed() == Some(Object::Op) => FREED.to_owned(),
            Demand::Datatype
                if freed() == Some(Object::Datatype) && !nowhere && self.matters(index) =>
            {
                FREED.to_owned()
            }
            Demand::Comm
            | Demand::Win
            | Demand::Group
            | Demand::File
            | Demand::Op
            | Demand::Datatype
                if handle()? == Constant::Nothing
                    && (demand != Demand::Datatype || !nowhere && self.may_matter(index)) =>
            {
                "is zero, and no handle".to_owned()
            }
            Demand::Comm if handle()? == Constant::NullComm => "is MPI_COMM_NULL".to_owned(),
            Demand::Topology(_) if handle()? == Constant::BuiltInComm => {
                "is predefined, and has no topology".to_owned()
            }
            Demand::Win if handle()? == Constant::NullWin => "is MPI_WIN_NULL".to_owned(),
            Demand::Group if handle()? == Constant::NullGroup => "is MPI_GROUP_NULL".to_owned(),
            Demand::Info if handle()? == Constant::NullInfo => "is MPI_INFO_NULL".to_owned(),
            Demand::File if handle()? == Constant::NullFile => "is MPI_FILE_NULL".to_owned(),
            Demand::Op => match handle()? {
                Constant::NullOp => "is MPI_OP_NULL".to_owned(),
                Constant::Replace if self.call.at.win.is_none() => {
                    "is MPI_REPLACE, which is for accumulates alone".to_owned()
                }
                Constant::NoOp if self.call.at.win.is_none() => {
                    "is MPI_NO_OP, which is for accumulates alone".to_owned()
                }
                _ => return None,
            },
            Demand::Datatype if !nowhere && self.may_matter(index) => match handle()? {
                Constant::NullDatatype => "is MPI_DATATYPE_NULL".to_owned(),
                _ => return None,
            },
            Demand::Dest | Demand::Source | Demand::Root | Demand::Rank
                if self.call.at.comm.is_some_and(|comm| self.constants.is_size_of(index, comm)) =>
            {
                "is the size of the communicator, and its last rank is one less".to_owned()
            }
            Demand::Dest | Demand::Target | Demand::Source | Demand::Root | Demand::Rank => {
                let rank = self.number(index).filter(|rank| self.is_no_rank(*rank, demand))?;
                format!("is {rank}, but ranks are numbered from 0")
            }
            Demand::Tag | Demand::ReceivedTag if !nowhere => {
                let tag = self.number(index).filter(|tag| *tag < 0)?;
                let any = demand == Demand::ReceivedTag
                    && tag == self.constants.environment.constants().any_tag;
                (!any).then(|| format!("is {tag}, but tags are numbered from 0"))?
            }
            Demand::Count if !nowhere && self.matters(index) => {
                let count = self.number(index).filter(|count| *count < 0)?;
                format!("is negative, {count}")
            }
            Demand::Color => {
                let color = self.number(index)?;
                (color < 0 && color != self.constants.environment.constants().undefined)
                    .then(|| format!("is negative, {color}"))?
            }
            Demand::Unit => {
                let unit = self.number(index).filter(|unit| *unit <= 0)?;
                format!("is {unit}, but a displacement unit is at least 1")
            }
            Demand::Place if !self.mpi.by_reference && self.number(index)? == 0 => {
                "is a null pointer".to_owned()
            }
            _ => return None,
        })
    }

    /// Whether a number is no rank, nor anything that this parameter may be instead, for the
    /// library that the program is for.
    fn is_no_rank(&self, rank: i64, demand: Demand) -> bool {
        let families = self.constants.environment.families();
        let allowed = |ranks: &abi::Constants| match demand {
            Demand::Source => [ranks.proc_null, ranks.any_source].contains(&rank),
            // Of intercommunicators.
            Demand::Root => [ranks.proc_null, ranks.root].contains(&rank),
            Demand::Rank => false,
            _ => rank == ranks.proc_null,
        };
        rank < 0 && !families.iter().any(|family| allowed(family.constants()))
    }

    /// Whether a message may go to, or come from, `MPI_PROC_NULL`.
    fn may_be_nowhere(&self, peer: usize) -> bool {
        let families = self.constants.environment.families();
        let is_null = |rank| families.iter().any(|family| family.constants().proc_null == rank);
        self.number(peer).is_some_and(is_null)
    }

    /// Whether a count or datatype is used on every rank, and of something.
    fn matters(&self, index: usize) -> bool {
        self.is_used(index, |rule| self.is_of_something(rule))
    }

    /// Whether a count or datatype may be used on every rank: unknown counts are taken to be
    /// nonzero.
    fn may_matter(&self, index: usize) -> bool {
        let may_be_of_something = |rule: &Rule| match rule.extent {
            Extent::Blocks { count, .. } => self.number(count) != Some(0),
            _ => self.call.flow != Flow::Neighbours,
        };
        self.is_used(index, may_be_of_something)
    }

    /// Whether nobody knows of how much this datatype is.
    fn may_be_of_nothing(&self, index: usize) -> bool {
        self.call.demands.contains(&(index, Demand::Datatype)) && !self.matters(index)
    }

    fn is_used(&self, index: usize, is_of_something: impl Fn(&Rule) -> bool) -> bool {
        let by = |rule: &&Rule| rule.datatype == index || count_of(rule) == Some(index);
        let rules: Vec<_> = self.call.accesses.iter().filter(by).collect();
        if rules.is_empty() {
            // At the target of a one-sided operation.
            let target = self.call.at.target_count;
            return target.is_none_or(|count| count == index || self.number(count) != Some(0));
        }
        let used = |on: On| {
            let mut rules = rules.iter().filter(|rule| rule.on == on);
            rules.any(|rule| {
                let of_something = count_of(rule) == Some(index) || is_of_something(rule);
                of_something && !self.may_be_in_place(rule.buffer) && self.takes_place(rule)
            })
        };
        used(On::All) || used(On::Root) && used(On::Other)
    }

    /// Whether the buffer of an access is used on all ranks: on some by this one, on the others by
    /// another one. At a root that is no rank, of intercommunicators, it need not be.
    fn is_everywhere(&self, rule: &Rule) -> bool {
        let root = || self.call.at.root.and_then(|root| self.number(root));
        let others = |other: &Rule| other.buffer == rule.buffer && other.on != rule.on;
        rule.on == On::All
            || root().is_some_and(|root| root >= 0) && self.call.accesses.iter().any(others)
    }

    /// Whether an access has elements for sure.
    fn is_of_something(&self, rule: &Rule) -> bool {
        let is_one = matches!(rule.extent, Extent::One);
        is_one || count_of(rule).and_then(|count| self.number(count)).is_some_and(|count| count > 0)
    }

    /// Whether an access takes place wherever the call is made, as far as other arguments say.
    fn takes_place(&self, rule: &Rule) -> bool {
        rule.op.is_none() && rule.peer.is_none_or(|peer| !self.may_be_nowhere(peer))
    }

    /// Whether a buffer may be `MPI_IN_PLACE`: in C a number, in Fortran a variable of the
    /// library's.
    fn may_be_in_place(&self, buffer: usize) -> bool {
        let may = self.call.collective && self.call.params[buffer].name != "buffer";
        may && match self.inst.args.get(buffer) {
            Some(Value::Int(at)) => *at != 0,
            Some(Value::Inst(id)) => {
                self.mpi.by_reference && !matches!(self.constants.body[*id].op, Op::Alloca(_))
            }
            _ => self.mpi.by_reference,
        }
    }

    /// A buffer at address 0 of which something of a predefined datatype is used.
    fn null_buffer(&self) -> Option<(usize, String)> {
        if self.mpi.by_reference {
            return None;
        }
        // What neighbourhood collectives send may go to nobody.
        let neighbours = self.call.flow == Flow::Neighbours;
        let is_null = |rule: &&Rule| {
            self.number(rule.buffer) == Some(0)
                && self.is_everywhere(rule)
                && !neighbours
                && self.takes_place(rule)
                && self.is_of_something(rule)
                && self.constants.handle(self.mpi, self.inst, rule.datatype)
                    == Some(Constant::Datatype)
        };
        let rule = self.call.accesses.iter().find(is_null)?;
        Some((rule.buffer, "is a null pointer".to_owned()))
    }
}

/// The parameter that says how many elements an access has, or how many in each block.
fn count_of(rule: &Rule) -> Option<usize> {
    match rule.extent {
        Extent::Blocks { count, .. } => Some(count),
        _ => None,
    }
}
