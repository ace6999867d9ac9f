//! Thread divergence analysis: values that differ between the threads of a team, since they depend
//! on the thread's number, its share of a loop, or private memory. A test of such a value admits
//! some threads, not all.
//!
//! A value counts as uniform if it is computed from constants, shared variables and results of MPI;
//! what is unknown counts as divergent.

use crate::Calls;
use crate::callgraph::callees;
use crate::openmp::{Runtime, created, runtime, task_entry};
use commsan_ir::{Body, Callee, FunctionId, Inst, InstId, Op, Program, Value};
use commsan_points_to::PointsTo;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::smallvec;

/// How a value depends on the thread that computes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Divergence {
    /// It does not.
    Same,
    /// It is, or comes from, the variable of a worksharing loop.
    Iteration,
    /// It is the thread's number.
    Number,
    /// In a way that is not known.
    Different,
}

/// ThreadDivergence of the values of one function; none of what is not computed yet.
#[derive(Debug, Default)]
pub struct Values {
    insts: Vec<Option<Divergence>>,
    params: Vec<Param>,
    /// What is in local variables that are no values.
    content: FxHashMap<InstId, Divergence>,
}

/// A parameter, and what it points to if that is a variable of the caller's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Param {
    itself: Option<Divergence>,
    pointee: Option<Divergence>,
}

/// ThreadDivergence of all values in functions that several threads run.
#[derive(Debug, Default)]
pub struct ThreadDivergence {
    of: FxHashMap<FunctionId, Values>,
    results: FxHashMap<FunctionId, Option<Divergence>>,
}

impl Divergence {
    fn or(self, other: Divergence) -> Divergence {
        match (self, other) {
            _ if self == other => self,
            (Divergence::Same, Divergence::Iteration)
            | (Divergence::Iteration, Divergence::Same) => Divergence::Iteration,
            _ => Divergence::Different,
        }
    }

    /// Of something computed from it.
    fn computed(self) -> Divergence {
        if self == Divergence::Number { Divergence::Different } else { self }
    }
}

fn join(divergence: impl Iterator<Item = Option<Divergence>>) -> Option<Divergence> {
    divergence.flatten().reduce(Divergence::or)
}

impl Values {
    fn of(&self, value: Value) -> Option<Divergence> {
        match value {
            Value::Inst(id) => self.insts.get(id.0 as usize).copied().flatten(),
            Value::Param(number) => self.params.get(number as usize)?.itself,
            _ => Some(Divergence::Same),
        }
    }

    /// How the value stored at an address differs between threads.
    fn at(&self, body: &Body, address: Value) -> Option<Divergence> {
        let pointee = match address {
            Value::Param(number) => self.params.get(number as usize)?.pointee,
            _ => None,
        };
        match local(body, address) {
            Some(variable) => self.content.get(&variable).copied(),
            None => pointee.or_else(|| self.of(address).map(Divergence::computed)),
        }
    }

    fn passed(&self, body: &Body, arg: Value) -> Param {
        let pointee = local(body, arg).and_then(|variable| self.content.get(&variable).copied());
        Param { itself: self.of(arg), pointee }
    }
}

impl ThreadDivergence {
    /// Looks at all functions that other threads than the first may run, among those `wanted`;
    /// threads also begin with `others`.
    pub fn of(
        program: &Program,
        mpi: &Calls,
        points_to: &PointsTo,
        wanted: &FxHashSet<FunctionId>,
        others: &[FunctionId],
    ) -> ThreadDivergence {
        let mut divergence = ThreadDivergence::default();
        let mut open = divergence.enter_all(program, wanted);
        for function in others {
            let param = Param { itself: Some(Divergence::Different), pointee: None };
            let params = vec![param; program[*function].params as usize];
            divergence.enter(program, *function, &params);
            open.push(*function);
        }
        let mut callers: FxHashMap<FunctionId, FxHashSet<FunctionId>> = FxHashMap::default();
        while let Some(function) = open.pop() {
            let Some(body) = program[function].body.as_ref() else { continue };
            let changed = divergence.pass(program, mpi, points_to, function, body);
            for (callee, args) in divergence.calls_in(program, points_to, function, body) {
                callers.entry(callee).or_default().insert(function);
                let new = !divergence.of.contains_key(&callee);
                if divergence.enter(program, callee, &args) || new {
                    open.push(callee);
                }
            }
            if changed {
                open.extend(callers.get(&function).into_iter().flatten());
            }
        }
        divergence
    }

    /// Of a value in a function; the same for all where one thread runs it.
    pub fn get(&self, function: FunctionId, value: Value) -> Divergence {
        match self.of.get(&function) {
            Some(values) => values.of(value).unwrap_or(Divergence::Different),
            None => Divergence::Same,
        }
    }

    /// Functions with which threads begin.
    fn enter_all(&mut self, program: &Program, wanted: &FxHashSet<FunctionId>) -> Vec<FunctionId> {
        let mut begun = Vec::new();
        for (_, _, body) in program.defined().filter(|(id, ..)| wanted.contains(id)) {
            for inst in &body.code {
                // A team's function gets numbers of the thread, then what all share.
                let (entries, own) = match runtime(program, inst) {
                    Some(Runtime::Fork(Some(entry))) => (smallvec![entry], 2),
                    Some(Runtime::Task { task, .. } | Runtime::TaskLoop(task)) => {
                        let entry = task_entry(program, body, task);
                        (entry.into_iter().collect(), usize::MAX)
                    }
                    Some(Runtime::Create(_)) => (created(program, inst), usize::MAX),
                    _ => continue,
                };
                for entry in entries {
                    let count = program[entry].params as usize;
                    let kind = |n| if n < own { Divergence::Different } else { Divergence::Same };
                    let param = |n| Param { itself: Some(kind(n)), pointee: None };
                    let params: Vec<_> = (0..count).map(param).collect();
                    self.enter(program, entry, &params);
                    begun.push(entry);
                }
            }
        }
        begun
    }

    /// Whether a function's parameters change by being called with such arguments.
    fn enter(&mut self, program: &Program, function: FunctionId, args: &[Param]) -> bool {
        let count = program[function].params as usize;
        let values = self.of.entry(function).or_default();
        values.params.resize(count, Param::default());
        let mut changed = false;
        for (param, arg) in values.params.iter_mut().zip(args) {
            let joined = Param {
                itself: join([param.itself, arg.itself].into_iter()),
                pointee: join([param.pointee, arg.pointee].into_iter()),
            };
            changed |= joined != *param;
            *param = joined;
        }
        changed
    }

    /// Functions that a function calls, with what it passes.
    fn calls_in(
        &self,
        program: &Program,
        points_to: &PointsTo,
        function: FunctionId,
        body: &Body,
    ) -> Vec<(FunctionId, Vec<Param>)> {
        let Some(values) = self.of.get(&function) else { return Vec::new() };
        let mut found = Vec::new();
        for inst in &body.code {
            for callee in callees(points_to, function, inst) {
                if program[callee].body.is_some() {
                    let args = inst.args.iter().map(|arg| values.passed(body, *arg));
                    found.push((callee, args.collect()));
                }
            }
        }
        found
    }

    /// Computes a function's values; says whether what it returns has changed.
    fn pass(
        &mut self,
        program: &Program,
        mpi: &Calls,
        points_to: &PointsTo,
        function: FunctionId,
        body: &Body,
    ) -> bool {
        let mut values = self.of.remove(&function).unwrap_or_default();
        values.insts.resize(body.code.len(), None);
        let mut result = None;
        loop {
            let mut changed = false;
            for (index, inst) in body.code.iter().enumerate() {
                changed |= fill(program, mpi, body, inst, &mut values);
                let kind = match inst.op {
                    Op::Call(Callee::Indirect) => self.result_of_one(points_to, function, inst),
                    _ => self.result_of(program, mpi, body, inst, &values),
                };
                if inst.op == Op::Return {
                    result = join(inst.args.iter().map(|arg| values.of(*arg)).chain([result]));
                }
                changed |= kind != values.insts[index];
                values.insts[index] = kind;
            }
            if !changed {
                break;
            }
        }
        self.of.insert(function, values);
        let known = self.results.insert(function, result);
        known != Some(result)
    }

    /// How the result differs between threads, where one of several functions may be called.
    fn result_of_one(
        &self,
        points_to: &PointsTo,
        function: FunctionId,
        inst: &Inst,
    ) -> Option<Divergence> {
        let callees = callees(points_to, function, inst);
        if callees.is_empty() || callees.iter().any(|callee| !self.of.contains_key(callee)) {
            return Some(Divergence::Different);
        }
        join(callees.iter().map(|callee| self.results.get(callee).copied().flatten()))
    }

    fn result_of(
        &self,
        program: &Program,
        mpi: &Calls,
        body: &Body,
        inst: &Inst,
        values: &Values,
    ) -> Option<Divergence> {
        let args = || inst.args.iter().map(|arg| values.of(*arg));
        match inst.op {
            Op::Alloca(_) | Op::Atomic(_) => Some(Divergence::Different),
            Op::Load(_) => values.at(body, inst.args[0]),
            Op::Call(Callee::Direct(callee)) => match runtime(program, inst) {
                Some(Runtime::ThreadNumber) => Some(Divergence::Number),
                Some(_) => Some(Divergence::Same),
                None if mpi.get(callee).is_some() => Some(Divergence::Same),
                None if program[callee].body.is_some() => {
                    self.results.get(&callee).copied().flatten()
                }
                None if program[callee].name.starts_with("omp_") => Some(Divergence::Same),
                None => Some(Divergence::Different),
            },
            Op::Call(_) => Some(Divergence::Different),
            Op::Phi(_) | Op::Cast => join(args()),
            _ => join(args()).map(Divergence::computed),
        }
    }
}

/// The local variable that an address is of.
fn local(body: &Body, address: Value) -> Option<InstId> {
    match address {
        Value::Inst(id) if matches!(body[id].op, Op::Alloca(_)) => Some(id),
        _ => None,
    }
}

/// Notes what an instruction puts into local variables; says whether that is new.
fn fill(program: &Program, mpi: &Calls, body: &Body, inst: &Inst, values: &mut Values) -> bool {
    let (places, kind) = match inst.op {
        Op::Store(_) => (1..2, values.of(inst.args[0])),
        Op::Copy => (0..1, Some(Divergence::Different)),
        Op::Call(_) => (0..inst.args.len(), Some(filled_by(program, mpi, inst))),
        _ => return false,
    };
    let Some(kind) = kind else { return false };
    let mut changed = false;
    for place in places {
        let Some(variable) = local(body, inst.args[place]) else { continue };
        if only_reads(program, inst, place) {
            continue;
        }
        let known = values.content.get(&variable).copied();
        let joined = known.map_or(kind, |known| known.or(kind));
        if known != Some(joined) {
            values.content.insert(variable, joined);
            changed = true;
        }
    }
    changed
}

/// Whether a call does no more with this argument than to read from there.
fn only_reads(program: &Program, call: &Inst, place: usize) -> bool {
    let Op::Call(Callee::Direct(callee)) = call.op else { return false };
    let Some(body) = program[callee].body.as_ref() else { return false };
    let param = Value::Param(place as u32);
    body.code.iter().all(|inst| matches!(inst.op, Op::Load(_)) || !inst.args.contains(&param))
}

/// What a call leaves in a local variable whose address it is given.
fn filled_by(program: &Program, mpi: &Calls, inst: &Inst) -> Divergence {
    let Op::Call(Callee::Direct(callee)) = inst.op else { return Divergence::Different };
    match mpi.get(callee).map(|mpi| &*mpi.name) {
        Some("MPI_Is_thread_main") => return Divergence::Different,
        Some(_) => return Divergence::Same,
        None => {}
    }
    match runtime(program, inst) {
        Some(Runtime::Share { .. } | Runtime::Next) => Divergence::Iteration,
        _ => Divergence::Different,
    }
}
