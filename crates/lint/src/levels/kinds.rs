//! What differs between the threads of a team: values that come from the thread's number, its share of
//! a loop, or memory of its own. A test for such a value lets some threads in, not all.
//!
//! A value counts as the same for all threads if it is computed from constants, shared variables and what
//! MPI says; what is not known counts as different.

use crate::Calls;
use crate::openmp::{Runtime, runtime, task_entry};
use commsan_ir::{Body, Callee, FunctionId, Inst, InstId, Op, Program, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// How a value depends on the thread that computes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It does not.
    Same,
    /// It is, or comes from, the variable of a worksharing loop.
    Iteration,
    /// It is the thread's number.
    Number,
    /// In a way that is not known.
    Different,
}

/// Kinds of the values of one function; none of what is not computed yet.
#[derive(Debug, Default)]
pub struct Values {
    insts: Vec<Option<Kind>>,
    params: Vec<Option<Kind>>,
}

/// Kinds of all values in functions that several threads run.
#[derive(Debug, Default)]
pub struct Kinds {
    of: FxHashMap<FunctionId, Values>,
    results: FxHashMap<FunctionId, Option<Kind>>,
}

impl Kind {
    fn or(self, other: Kind) -> Kind {
        match (self, other) {
            _ if self == other => self,
            (Kind::Same, Kind::Iteration) | (Kind::Iteration, Kind::Same) => Kind::Iteration,
            _ => Kind::Different,
        }
    }

    /// Of something computed from it.
    fn computed(self) -> Kind {
        if self == Kind::Number { Kind::Different } else { self }
    }
}

fn join(kinds: impl Iterator<Item = Option<Kind>>) -> Option<Kind> {
    kinds.flatten().reduce(Kind::or)
}

impl Values {
    fn of(&self, value: Value) -> Option<Kind> {
        match value {
            Value::Inst(id) => self.insts.get(id.0 as usize).copied().flatten(),
            Value::Param(number) => self.params.get(number as usize).copied().flatten(),
            _ => Some(Kind::Same),
        }
    }
}

impl Kinds {
    /// Looks at all functions that other threads than the first may run, among those `wanted`; threads
    /// also begin with `others`.
    pub fn of(
        program: &Program,
        mpi: &Calls,
        wanted: &FxHashSet<FunctionId>,
        others: &[FunctionId],
    ) -> Kinds {
        let mut kinds = Kinds::default();
        let mut open = kinds.enter_all(program, wanted);
        for function in others {
            let params = vec![Some(Kind::Different); program[*function].params as usize];
            kinds.enter(program, *function, &params);
            open.push(*function);
        }
        let mut callers: FxHashMap<FunctionId, FxHashSet<FunctionId>> = FxHashMap::default();
        while let Some(function) = open.pop() {
            let Some(body) = program[function].body.as_ref() else { continue };
            let changed = kinds.pass(program, mpi, function, body);
            for (callee, args) in kinds.calls_in(program, function, body) {
                callers.entry(callee).or_default().insert(function);
                let new = !kinds.of.contains_key(&callee);
                if kinds.enter(program, callee, &args) || new {
                    open.push(callee);
                }
            }
            if changed {
                open.extend(callers.get(&function).into_iter().flatten());
            }
        }
        kinds
    }

    /// Of a value in a function; the same for all where one thread runs it.
    pub fn kind(&self, function: FunctionId, value: Value) -> Kind {
        match self.of.get(&function) {
            Some(values) => values.of(value).unwrap_or(Kind::Different),
            None => Kind::Same,
        }
    }

    /// Functions with which threads begin.
    fn enter_all(&mut self, program: &Program, wanted: &FxHashSet<FunctionId>) -> Vec<FunctionId> {
        let mut begun = Vec::new();
        for (_, _, body) in program.defined().filter(|(id, ..)| wanted.contains(id)) {
            for inst in &body.code {
                // A team's function gets numbers of the thread, then what all share.
                let (entry, own) = match runtime(program, inst) {
                    Some(Runtime::Fork(Some(entry))) => (entry, 2),
                    Some(Runtime::Task { task, .. } | Runtime::TaskLoop(task)) => {
                        match task_entry(program, body, task) {
                            Some(entry) => (entry, usize::MAX),
                            None => continue,
                        }
                    }
                    Some(Runtime::Create(Some(entry))) => (entry, usize::MAX),
                    _ => continue,
                };
                let count = program[entry].params as usize;
                let kind = |n| if n < own { Kind::Different } else { Kind::Same };
                let params: Vec<_> = (0..count).map(|n| Some(kind(n))).collect();
                self.enter(program, entry, &params);
                begun.push(entry);
            }
        }
        begun
    }

    /// Whether a function's parameters change by being called with such arguments.
    fn enter(&mut self, program: &Program, function: FunctionId, args: &[Option<Kind>]) -> bool {
        let count = program[function].params as usize;
        let values = self.of.entry(function).or_default();
        values.params.resize(count, None);
        let mut changed = false;
        for (param, arg) in values.params.iter_mut().zip(args) {
            let joined = join([*param, *arg].into_iter());
            changed |= joined != *param;
            *param = joined;
        }
        changed
    }

    /// Functions that a function calls, with what it passes.
    fn calls_in(
        &self,
        program: &Program,
        function: FunctionId,
        body: &Body,
    ) -> Vec<(FunctionId, Vec<Option<Kind>>)> {
        let Some(values) = self.of.get(&function) else { return Vec::new() };
        let call = |inst: &Inst| match inst.op {
            Op::Call(Callee::Direct(callee)) if program[callee].body.is_some() => {
                Some((callee, inst.args.iter().map(|arg| values.of(*arg)).collect()))
            }
            _ => None,
        };
        body.code.iter().filter_map(call).collect()
    }

    /// Computes a function's values; says whether what it returns has changed.
    fn pass(&mut self, program: &Program, mpi: &Calls, function: FunctionId, body: &Body) -> bool {
        let mut values = self.of.remove(&function).unwrap_or_default();
        values.insts.resize(body.code.len(), None);
        // What is in local variables that are no values.
        let mut content: FxHashMap<InstId, Kind> = FxHashMap::default();
        let mut result = None;
        loop {
            let mut changed = false;
            for (index, inst) in body.code.iter().enumerate() {
                self.fill(program, mpi, body, inst, &values, &mut content, &mut changed);
                let kind = self.result_of(program, mpi, body, inst, &values, &content);
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

    /// What an instruction puts into local variables.
    #[expect(clippy::too_many_arguments, reason = "one step of `pass`")]
    fn fill(
        &self,
        program: &Program,
        mpi: &Calls,
        body: &Body,
        inst: &Inst,
        values: &Values,
        content: &mut FxHashMap<InstId, Kind>,
        changed: &mut bool,
    ) {
        let filled = |value: &Value| match value {
            Value::Inst(id) if matches!(body[*id].op, Op::Alloca(_)) => Some(*id),
            _ => None,
        };
        let (places, kind) = match inst.op {
            Op::Store(_) => (&inst.args[1..2], values.of(inst.args[0])),
            Op::Copy => (&inst.args[..1], Some(Kind::Different)),
            Op::Call(_) => (&inst.args[..], Some(filled_by(program, mpi, inst))),
            _ => return,
        };
        let Some(kind) = kind else { return };
        for id in places.iter().filter_map(filled) {
            let known = content.get(&id).copied();
            let joined = known.map_or(kind, |known| known.or(kind));
            if known != Some(joined) {
                *changed = true;
                content.insert(id, joined);
            }
        }
    }

    fn result_of(
        &self,
        program: &Program,
        mpi: &Calls,
        body: &Body,
        inst: &Inst,
        values: &Values,
        content: &FxHashMap<InstId, Kind>,
    ) -> Option<Kind> {
        let args = || inst.args.iter().map(|arg| values.of(*arg));
        match inst.op {
            Op::Alloca(_) | Op::Atomic(_) => Some(Kind::Different),
            Op::Load(_) => match inst.args[0] {
                Value::Inst(id) if matches!(body[id].op, Op::Alloca(_)) => {
                    content.get(&id).copied()
                }
                address => values.of(address).map(Kind::computed),
            },
            Op::Call(Callee::Direct(callee)) => match runtime(program, inst) {
                Some(Runtime::ThreadNumber) => Some(Kind::Number),
                Some(_) => Some(Kind::Same),
                None if mpi.get(callee).is_some() => Some(Kind::Same),
                None if program[callee].body.is_some() => {
                    self.results.get(&callee).copied().flatten()
                }
                None if program[callee].name.starts_with("omp_") => Some(Kind::Same),
                None => Some(Kind::Different),
            },
            Op::Call(_) => Some(Kind::Different),
            Op::Phi(_) | Op::Cast => join(args()),
            _ => join(args()).map(Kind::computed),
        }
    }
}

/// What a call leaves in a local variable whose address it is given.
fn filled_by(program: &Program, mpi: &Calls, inst: &Inst) -> Kind {
    let Op::Call(Callee::Direct(callee)) = inst.op else { return Kind::Different };
    match mpi.get(callee).map(|mpi| &*mpi.name) {
        Some("MPI_Is_thread_main") => return Kind::Different,
        Some(_) => return Kind::Same,
        None => {}
    }
    match runtime(program, inst) {
        Some(Runtime::Share { .. } | Runtime::Next) => Kind::Iteration,
        _ => Kind::Different,
    }
}
