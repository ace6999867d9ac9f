//! Calling contexts: functions by parallelism word.
//!
//! Functions with the words they are called in, from those on that nobody calls, and the calls of
//! MPI in them.

use super::shape::{Shape, Shapes, State};
use super::word::{Letter, Spot, forbids, forbids_barrier, settled};
use crate::callgraph::{self, CallGraph};
use crate::openmp::{Runtime, Scope, created, runtime, task_entry};
use crate::{Calls, Mpi};
use commsan_ir::{BlockId, Body, Callee, FunctionId, Inst, InstId, Op, Program, Value};
use commsan_points_to::PointsTo;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};

/// Maximum length of a parallelism word, in letters; longer ones come from recursion.
const MAX_WORD_LETTERS: usize = 12;

/// Number of an instance.
pub type Number = usize;

/// A function called in a word.
#[derive(Debug)]
pub struct Instance {
    pub function: FunctionId,
    /// The word at its entry.
    pub entry: Vec<Letter>,
    /// Whether it is called so for sure: no pointer that leads to it may be to another function.
    pub sure: bool,
    /// Instances that its calls enter, and how.
    pub calls: FxHashMap<InstId, SmallVec<[(Number, Entered); 1]>>,
    /// Calls that enter it.
    pub callers: Vec<(Number, InstId)>,
}

/// How an instance is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entered {
    /// By the calling thread, which goes on afterwards.
    Called,
    /// By a team, for whose end the caller waits.
    Forked,
    /// By somebody, some time.
    Spawned,
}

/// A call of MPI in an instance.
#[derive(Clone, Debug)]
pub struct Event {
    pub spot: Spot,
    pub instance: Number,
    pub block: BlockId,
    pub word: Vec<Letter>,
}

/// A construct within another that must not contain it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Nested {
    pub inner: Spot,
    pub outer: Letter,
    /// The inner one; a barrier has none.
    pub letter: Option<Letter>,
    /// Whether the inner one is come to for sure.
    pub sure: bool,
}

/// All instances of a program.
pub struct Instances<'p> {
    pub program: &'p Program,
    pub mpi: &'p Calls,
    points_to: &'p PointsTo,
    pub all: Vec<Instance>,
    pub events: Vec<Event>,
    pub nested: Vec<Nested>,
    shapes: &'p Shapes<'p>,
    numbers: FxHashMap<(FunctionId, Vec<Letter>, bool), Number>,
    of: FxHashMap<FunctionId, Vec<Number>>,
    waiting: FxHashSet<FunctionId>,
    open: Vec<Number>,
}

impl<'p> Instances<'p> {
    /// Those reached from `roots`, each with the word that it is entered in, then those that
    /// nothing has reached, in the word `rest`.
    pub fn of(
        program: &'p Program,
        mpi: &'p Calls,
        points_to: &'p PointsTo,
        shapes: &'p Shapes<'p>,
        roots: &[(FunctionId, Vec<Letter>)],
        rest: &[Letter],
    ) -> Instances<'p> {
        let (all, events, nested, numbers, of, open) = Default::default();
        let waiting = reaching(program, points_to, waits);
        let mut instances = Instances {
            program,
            mpi,
            points_to,
            all,
            events,
            nested,
            shapes,
            numbers,
            of,
            waiting,
            open,
        };
        for (root, word) in roots {
            instances.instance(*root, word.clone(), true);
        }
        instances.look_at_all();
        for (function, ..) in program.defined() {
            if !instances.of.contains_key(&function) {
                instances.instance(function, rest.to_vec(), true);
                instances.look_at_all();
            }
        }
        let mut seen = FxHashSet::default();
        instances.nested.sort_by_key(|nested| !nested.sure);
        instances.nested.retain(|nested| seen.insert((nested.inner, nested.outer.spot())));
        instances
    }

    pub fn body(&self, number: Number) -> &'p Body {
        let function = &self.program[self.all[number].function];
        function.body.as_ref().expect("only functions with bodies have instances")
    }

    /// The instances of a function.
    pub fn of_function(&self, function: FunctionId) -> &[Number] {
        self.of.get(&function).map_or(&[], Vec::as_slice)
    }

    /// Whether a thread started there may wait for others, in ways that nothing more is known of.
    pub fn thread_may_wait(&self, spot: Spot) -> bool {
        let body = self.program.functions[spot.function.0 as usize].body.as_ref();
        let inst = body.map(|body| &body[spot.inst]);
        let entries = inst.map(|inst| created(self.program, inst)).unwrap_or_default();
        entries.is_empty() || entries.iter().any(|entry| self.may_wait(*entry))
    }

    /// Whether a function may wait for other threads, in ways that nothing more is known of.
    pub fn may_wait(&self, function: FunctionId) -> bool {
        self.waiting.contains(&function)
    }

    /// Whether an instruction of an instance may wait for other threads, in ways that are not
    /// modelled.
    pub fn waits_at(&self, number: Number, inst: &Inst) -> bool {
        let function = self.all[number].function;
        let callees = callgraph::callees(self.points_to, function, inst);
        callees.into_iter().any(|callee| self.may_wait(callee)) || waits(self.program, inst)
    }

    /// How a call of one instance enters another.
    pub fn entered(&self, caller: Number, call: InstId, callee: Number) -> Option<Entered> {
        let entered = self.all[caller].calls.get(&call)?;
        entered.iter().find(|(number, _)| *number == callee).map(|(_, how)| *how)
    }

    /// What its function looks like.
    pub fn shape(&self, number: Number) -> &'p Shape {
        let shape = self.shapes.get(self.all[number].function);
        shape.expect("only functions with shapes have instances")
    }

    /// The state at the begin of a block, if anybody gets there.
    pub fn state(&self, number: Number, block: BlockId) -> Option<&'p State> {
        self.shape(number).states[block.0 as usize].as_ref()
    }

    /// What an instruction does to the state.
    pub fn step(&self, number: Number, id: InstId, inst: &Inst, state: &mut State) {
        self.shapes.step(Spot { function: self.all[number].function, inst: id }, inst, state);
    }

    /// The instance of a function in a word.
    fn instance(
        &mut self,
        function: FunctionId,
        mut entry: Vec<Letter>,
        sure: bool,
    ) -> Option<Number> {
        self.shapes.get(function)?;
        entry.truncate(MAX_WORD_LETTERS);
        let key = (function, entry, sure);
        if let Some(known) = self.numbers.get(&key) {
            return Some(*known);
        }
        let number = self.all.len();
        let (calls, callers) = Default::default();
        self.all.push(Instance { function, entry: key.1.clone(), sure, calls, callers });
        self.of.entry(function).or_default().push(number);
        self.numbers.insert(key, number);
        self.open.push(number);
        Some(number)
    }

    fn look_at_all(&mut self) {
        while let Some(number) = self.open.pop() {
            self.look(number);
        }
    }

    /// Finds an instance's calls, calls of MPI, and what must not be nested.
    fn look(&mut self, number: Number) {
        let body = self.body(number);
        let function = self.all[number].function;
        for block in &self.shape(number).order {
            let Some(mut state) = self.state(number, *block).cloned() else { continue };
            for (id, inst) in body.instructions(*block) {
                if let Op::Call(_) = inst.op
                    && let Some(word) = self.word(number, &state)
                {
                    let place = (number, *block, Spot { function, inst: id });
                    self.look_at_call(place, inst, word, &state);
                }
                self.step(number, id, inst, &mut state);
            }
        }
    }

    fn look_at_call(
        &mut self,
        (number, block, spot): (Number, BlockId, Spot),
        inst: &Inst,
        word: Vec<Letter>,
        state: &State,
    ) {
        self.note_nesting(inst, spot, &word, self.all[number].sure);
        if self.mpi.at(inst).is_some() {
            let word = word.clone();
            self.events.push(Event { spot, instance: number, block, word });
        }
        let Some((callees, entry, how)) = self.called(self.body(number), spot, inst, word, state)
        else {
            return;
        };
        let others = created(self.program, inst);
        let is_one_of = others.len() > 1;
        let callees = if is_one_of { others } else { callees };
        let sure = self.all[number].sure && callees.len() == 1;
        for callee in callees {
            let mut entry = entry.clone();
            if let Some(Letter::Thread(_, of)) = entry.last_mut() {
                *of = is_one_of.then_some(callee);
            }
            if let Some(entered) = self.instance(callee, entry, sure) {
                self.all[number].calls.entry(spot.inst).or_default().push((entered, how));
                self.all[entered].callers.push((number, spot.inst));
            }
        }
    }

    /// The functions one of which an instruction calls, and in which word.
    fn called(
        &self,
        body: &Body,
        spot: Spot,
        inst: &Inst,
        word: Vec<Letter>,
        state: &State,
    ) -> Option<(SmallVec<[FunctionId; 1]>, Vec<Letter>, Entered)> {
        let task = |task| task_entry(self.program, body, task);
        let (callee, letter, how) = match runtime(self.program, inst) {
            Some(Runtime::Fork(callee)) => {
                let threads = state.threads();
                let letter = (threads != Some(1)).then_some(Letter::Parallel(spot, threads));
                (callee?, letter, Entered::Forked)
            }
            Some(Runtime::Task { task: of, ordered }) => {
                (task(of)?, Some(Letter::Task(spot, ordered)), Entered::Spawned)
            }
            Some(Runtime::TaskLoop(of)) => {
                (task(of)?, Some(Letter::Task(spot, false)), Entered::Spawned)
            }
            Some(Runtime::Create(callee)) => {
                (callee?, Some(Letter::Thread(spot, None)), Entered::Spawned)
            }
            Some(_) => return None,
            None => {
                let callees = callgraph::callees(self.points_to, spot.function, inst);
                return Some((callees, settled(word.into_iter())?, Entered::Called));
            }
        };
        let word = settled(word.into_iter().chain(letter))?;
        Some((smallvec![callee], word, how))
    }

    fn note_nesting(&mut self, inst: &Inst, spot: Spot, word: &[Letter], sure: bool) {
        let letter = match runtime(self.program, inst) {
            Some(Runtime::Enter(Scope::Single)) => Letter::Single(spot),
            Some(Runtime::Enter(Scope::Master)) => Letter::Master(spot),
            Some(Runtime::Share { .. }) => Letter::Share(spot),
            Some(Runtime::Critical(what)) => Letter::Critical(spot, what),
            // Where a loop's iterations are handed out, its own barrier comes after it.
            Some(Runtime::Barrier) => {
                let outer = match is_barrier(self.program, inst) {
                    true => forbids_barrier(word),
                    false => forbids(word, Letter::Share(spot)),
                };
                if let Some(outer) = outer {
                    self.nested.push(Nested { inner: spot, outer, letter: None, sure });
                }
                return;
            }
            _ => return,
        };
        if let Some(outer) = forbids(word, letter) {
            self.nested.push(Nested { inner: spot, outer, letter: Some(letter), sure });
        }
    }

    /// The word of a place of an instance; none if nobody gets there.
    pub fn word(&self, number: Number, state: &State) -> Option<Vec<Letter>> {
        let entry = self.all[number].entry.iter().copied();
        settled(entry.chain(state.letters()))
    }

    /// The MPI function that an event calls.
    pub fn mpi_of(&self, event: &Event) -> &'p Mpi {
        let body = self.body(event.instance);
        self.mpi.at(&body[event.spot.inst]).expect("events are calls of MPI")
    }
}

/// Whether it is nothing else: reductions, too, end with one, which the runtime decides who gets
/// to.
fn is_barrier(program: &Program, inst: &Inst) -> bool {
    match inst.op {
        Op::Call(Callee::Direct(callee)) => program[callee].name == "__kmpc_barrier",
        _ => false,
    }
}

/// Functions from which a call of MPI, or anything that matters here, is reached.
pub fn relevant(program: &Program, mpi: &Calls, points_to: &PointsTo) -> FxHashSet<FunctionId> {
    reaching(program, points_to, |program, inst| {
        mpi.at(inst).is_some() || runtime(program, inst).is_some() || is_atomic(inst)
    })
}

/// Whether a thread may learn here what another has done.
fn waits(program: &Program, inst: &Inst) -> bool {
    let asked = runtime(program, inst);
    let locks = matches!(
        asked,
        Some(
            Runtime::Wait
                | Runtime::Join
                | Runtime::Critical(_)
                | Runtime::Lock(_)
                | Runtime::TryLock { .. }
        )
    );
    locks || is_atomic(inst)
}

fn is_atomic(inst: &Inst) -> bool {
    matches!(inst.op, Op::Atomic(_))
}

/// Functions from which such an instruction is reached.
fn reaching(
    program: &Program,
    points_to: &PointsTo,
    wanted: impl Fn(&Program, &Inst) -> bool,
) -> FxHashSet<FunctionId> {
    let calls = CallGraph::of(program, |function, _, inst| mentioned(points_to, function, inst));
    let wanted = |_, body: &Body| body.code.iter().any(|inst| wanted(program, inst));
    calls.reaching(callgraph::with(program, wanted))
}

/// Functions that an instruction calls or names.
pub fn mentioned(
    points_to: &PointsTo,
    function: FunctionId,
    inst: &Inst,
) -> impl Iterator<Item = FunctionId> + use<> {
    let named = |arg: &Value| match arg {
        Value::Function(id) => Some(*id),
        _ => None,
    };
    let args: SmallVec<[_; 2]> = inst.args.iter().filter_map(named).collect();
    callgraph::callees(points_to, function, inst).into_iter().chain(args)
}
