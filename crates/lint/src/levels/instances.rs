//! Functions with the words they are called in, and the word of each place in them.
//!
//! A function is looked at once for each word that it is called in: forward along its control flow, from
//! the word of its entry. OpenMP's regions are properly nested, so where ways meet the words agree; where
//! they should not, what they have in common counts.

use super::word::{Letter, Spot, forbids};
use crate::openmp::{Runtime, Scope, runtime, task_entry};
use crate::{Calls, Mpi};
use commsan_ir::graph::{Flow, post_dominators};
use commsan_ir::{BlockId, Body, Callee, Compare, FunctionId, Inst, InstId, Op, Program, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// Words longer than this come from recursion.
const LONGEST: usize = 12;

/// Number of an instance.
pub type Number = usize;

/// A function called in a word.
#[derive(Debug)]
pub struct Instance {
    pub function: FunctionId,
    /// The word at its entry.
    pub entry: Vec<Letter>,
    /// By block: the constructs entered since.
    pub states: Vec<Option<State>>,
    /// Instances that its calls enter, and how.
    pub calls: FxHashMap<InstId, (Number, Entered)>,
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

/// The constructs that a place of an instance is in, beyond those of its entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    open: Vec<Open>,
    /// Threads that the next team is to have.
    threads: Option<Value>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Open {
    letter: Letter,
    /// Ends where this block begins, if no call ends it.
    until: Option<BlockId>,
    /// Whether the ways out of the next switch lead to sections.
    sections: bool,
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
}

/// All instances of a program.
pub struct Instances<'p> {
    pub program: &'p Program,
    pub mpi: &'p Calls,
    pub all: Vec<Instance>,
    pub events: Vec<Event>,
    pub nested: Vec<Nested>,
    numbers: FxHashMap<(FunctionId, Vec<Letter>), Number>,
    relevant: FxHashSet<FunctionId>,
    open: Vec<Number>,
}

impl<'p> Instances<'p> {
    /// Those reached from `roots`, which are entered in the word `entry`.
    pub fn of(
        program: &'p Program,
        mpi: &'p Calls,
        roots: &[FunctionId],
        entry: &[Letter],
    ) -> Instances<'p> {
        let (all, events, nested, numbers, open) = Default::default();
        let relevant = relevant(program, mpi);
        let mut instances =
            Instances { program, mpi, all, events, nested, numbers, relevant, open };
        for root in roots {
            instances.instance(*root, entry.to_vec());
        }
        while let Some(number) = instances.open.pop() {
            instances.look(number);
        }
        let mut seen = FxHashSet::default();
        instances.nested.retain(|nested| seen.insert((nested.inner, nested.outer.spot())));
        instances
    }

    pub fn body(&self, number: Number) -> &'p Body {
        let function = &self.program[self.all[number].function];
        function.body.as_ref().expect("only functions with bodies have instances")
    }

    /// The instance of a function in a word.
    fn instance(&mut self, function: FunctionId, mut entry: Vec<Letter>) -> Option<Number> {
        let body = self.program[function].body.as_ref()?;
        if !self.relevant.contains(&function) {
            return None;
        }
        entry.truncate(LONGEST);
        let key = (function, entry);
        if let Some(known) = self.numbers.get(&key) {
            return Some(*known);
        }
        let number = self.all.len();
        let (calls, callers) = Default::default();
        let states = vec![None; body.blocks.len()];
        self.all.push(Instance { function, entry: key.1.clone(), states, calls, callers });
        self.numbers.insert(key, number);
        self.open.push(number);
        Some(number)
    }

    /// Finds the states of an instance's blocks, its calls, and what is to be known of them.
    fn look(&mut self, number: Number) {
        let body = self.body(number);
        let flow = Flow::of(body);
        let post_dominators = post_dominators(body);
        let ranks = flow.ranks();
        // Until nothing changes: states only lose constructs.
        self.all[number].states[0] = Some(State::default());
        let mut open: std::collections::BTreeSet<u32> = [0].into();
        while let Some(rank) = open.pop_first() {
            let block = flow.order[rank as usize];
            let Some(mut state) = self.all[number].states[block.0 as usize].clone() else {
                continue;
            };
            for (id, inst) in body.instructions(block) {
                self.step(number, id, inst, &mut state);
            }
            for (place, next) in body[block].next.iter().enumerate() {
                let mut after = state.clone();
                self.edge(number, block, place, post_dominators[block.0 as usize], &mut after);
                after.open.retain(|open| open.until != Some(*next));
                let known = &mut self.all[number].states[next.0 as usize];
                let merged = match known {
                    None => after,
                    Some(known) => known.common(after),
                };
                if known.as_ref() != Some(&merged) {
                    *known = Some(merged);
                    open.extend(ranks[next.0 as usize]);
                }
            }
        }
        self.record(number, &flow);
    }

    /// What an instruction does to the state.
    pub fn step(&self, number: Number, id: InstId, inst: &Inst, state: &mut State) {
        let spot = Spot { function: self.all[number].function, inst: id };
        let mut enter = |letter, sections| state.open.push(Open { letter, until: None, sections });
        match runtime(self.program, inst) {
            Some(Runtime::Lock(what)) => {
                enter(Letter::Lock(spot, self.locked(number, what)), false)
            }
            Some(Runtime::Unlock(_)) => state.leave(|l| matches!(l, Letter::Lock(..))),
            Some(Runtime::Leave(Scope::Single)) => state.leave(|l| matches!(l, Letter::Single(_))),
            Some(Runtime::Leave(Scope::Master)) => state.leave(|l| matches!(l, Letter::Master(_))),
            Some(Runtime::Share { sections }) => enter(Letter::Share(spot), sections),
            Some(Runtime::Shared) => state.leave(|l| matches!(l, Letter::Share(_))),
            Some(Runtime::Next) => state.leave(|l| l == Letter::Share(spot)),
            Some(Runtime::NumThreads(threads)) => state.threads = Some(threads),
            Some(Runtime::Fork(_)) => state.threads = None,
            _ => {}
        }
    }

    /// What is locked, so far as places can be told apart that lock the same.
    fn locked(&self, number: Number, what: Value) -> Value {
        match what {
            Value::Global(..) => what,
            Value::Inst(id) => match &self.body(number)[id] {
                // A pointer to the lock, or the lock's handle, in a variable that all share.
                Inst { op: Op::Load(_), args, .. } if matches!(args[0], Value::Global(..)) => {
                    args[0]
                }
                _ => Value::Opaque,
            },
            _ => Value::Opaque,
        }
    }

    /// What taking a way out of a block does to the state.
    fn edge(
        &self,
        number: Number,
        block: BlockId,
        place: usize,
        until: Option<BlockId>,
        state: &mut State,
    ) {
        let body = self.body(number);
        let function = self.all[number].function;
        let Some(end) = body.end(block) else { return };
        match &end.op {
            Op::Switch(_) if place > 0 => {
                let Some(sections) = state.open.last().filter(|open| open.sections) else { return };
                let letter = Letter::Section(sections.letter.spot(), place);
                state.open.push(Open { letter, until, sections: false });
            }
            Op::Branch => {
                let Some(test) = tested(self.program, body, end.args[0]) else { return };
                if (place == 0) != test.when {
                    return;
                }
                let spot = Spot { function, inst: test.call };
                let open = match test.what {
                    Runtime::Enter(Scope::Single) => (Letter::Single(spot), None),
                    Runtime::Enter(Scope::Master) => (Letter::Master(spot), None),
                    Runtime::Next => (Letter::Share(spot), None),
                    Runtime::ThreadNumber if test.number == 0 => (Letter::Master(spot), until),
                    Runtime::ThreadNumber => (Letter::Single(spot), until),
                    _ => return,
                };
                state.open.push(Open { letter: open.0, until: open.1, sections: false });
            }
            _ => {}
        }
    }

    /// With all states known: calls, MPI's calls, what must not be nested.
    fn record(&mut self, number: Number, flow: &Flow) {
        let body = self.body(number);
        let function = self.all[number].function;
        for block in &flow.order {
            let Some(mut state) = self.all[number].states[block.0 as usize].clone() else {
                continue;
            };
            for (id, inst) in body.instructions(*block) {
                let spot = Spot { function, inst: id };
                let word = self.word(number, &state);
                self.note_nesting(inst, spot, &word);
                if self.mpi.at(inst).is_some() {
                    let word = word.clone();
                    self.events.push(Event { spot, instance: number, block: *block, word });
                }
                if let Some((callee, entry, how)) = self.called(body, spot, inst, word, &state)
                    && let Some(entered) = self.instance(callee, entry)
                {
                    self.all[number].calls.insert(id, (entered, how));
                    self.all[entered].callers.push((number, id));
                }
                self.step(number, id, inst, &mut state);
            }
        }
    }

    /// Whom an instruction calls, in which word.
    fn called(
        &self,
        body: &Body,
        spot: Spot,
        inst: &Inst,
        mut word: Vec<Letter>,
        state: &State,
    ) -> Option<(FunctionId, Vec<Letter>, Entered)> {
        let task = |task| task_entry(self.program, body, task);
        let (callee, letter, how) = match runtime(self.program, inst) {
            Some(Runtime::Fork(callee)) => {
                let alone = state.threads == Some(Value::Int(1));
                let letter = (!alone).then_some(Letter::Parallel(spot));
                (callee?, letter, Entered::Forked)
            }
            Some(Runtime::Task { task: of, ordered }) => {
                (task(of)?, Some(Letter::Task(spot, ordered)), Entered::Spawned)
            }
            Some(Runtime::TaskLoop(of)) => {
                (task(of)?, Some(Letter::Task(spot, false)), Entered::Spawned)
            }
            Some(Runtime::Create(callee)) => {
                (callee?, Some(Letter::Thread(spot)), Entered::Spawned)
            }
            Some(_) => return None,
            None => match inst.op {
                Op::Call(Callee::Direct(callee)) => (callee, None, Entered::Called),
                _ => return None,
            },
        };
        word.extend(letter);
        Some((callee, word, how))
    }

    fn note_nesting(&mut self, inst: &Inst, spot: Spot, word: &[Letter]) {
        let letter = match runtime(self.program, inst) {
            Some(Runtime::Enter(Scope::Single)) => Letter::Single(spot),
            Some(Runtime::Enter(Scope::Master)) => Letter::Master(spot),
            Some(Runtime::Share { .. }) => Letter::Share(spot),
            Some(Runtime::Lock(what)) => Letter::Lock(spot, what),
            // Where a loop's iterations are handed out, its own barrier comes after it.
            Some(Runtime::Barrier) => {
                if let Some(outer) = forbids(word, Letter::Share(spot)) {
                    self.nested.push(Nested { inner: spot, outer, letter: None });
                }
                return;
            }
            _ => return,
        };
        if let Some(outer) = forbids(word, letter) {
            self.nested.push(Nested { inner: spot, outer, letter: Some(letter) });
        }
    }

    /// The word of a place of an instance.
    pub fn word(&self, number: Number, state: &State) -> Vec<Letter> {
        let entry = self.all[number].entry.iter().copied();
        entry.chain(state.open.iter().map(|open| open.letter)).collect()
    }

    /// The MPI function that an event calls.
    pub fn mpi_of(&self, event: &Event) -> &'p Mpi {
        let body = self.body(event.instance);
        self.mpi.at(&body[event.spot.inst]).expect("events are calls of MPI")
    }
}

impl State {
    /// Ends the innermost construct of a kind.
    fn leave(&mut self, kind: impl Fn(Letter) -> bool) {
        if let Some(at) = self.open.iter().rposition(|open| kind(open.letter)) {
            self.open.remove(at);
        }
    }

    fn common(&self, other: State) -> State {
        let same = self.open.iter().zip(&other.open).take_while(|(a, b)| a == b).count();
        let threads = self.threads.filter(|threads| other.threads == Some(*threads));
        State { open: self.open[..same].to_vec(), threads }
    }
}

/// A condition that asks the runtime.
pub struct Test {
    pub what: Runtime,
    call: InstId,
    /// With which the result is compared.
    number: i64,
    /// Whether the first way is taken if the answer is yes.
    pub when: bool,
}

/// What a branch's condition asks.
pub fn tested(program: &Program, body: &Body, condition: Value) -> Option<Test> {
    let Value::Inst(id) = condition else { return None };
    let inst = &body[id];
    let (comparison, number) = match (&inst.op, &*inst.args) {
        (Op::Compare(comparison), [_, Value::Int(number)]) => (*comparison, *number),
        // Fortran's logicals.
        (Op::Cast, [value]) => return tested(program, body, *value),
        _ => return None,
    };
    let equal = match comparison {
        Compare::Equal => true,
        Compare::NotEqual => false,
        _ => return None,
    };
    let mut asked = inst.args[0];
    while let Value::Inst(id) = asked {
        match (&body[id].op, &*body[id].args) {
            (Op::Cast, [value]) => asked = *value,
            _ => break,
        }
    }
    let Value::Inst(call) = asked else { return None };
    let what = runtime(program, &body[call])?;
    match what {
        Runtime::ThreadNumber => Some(Test { what, call, number, when: equal }),
        // Not zero is yes; some compilers ask for 1.
        _ => Some(Test { what, call, number, when: equal == (number != 0) }),
    }
}

/// Functions from which a call of MPI, or one of the runtime's that matters, is reached.
fn relevant(program: &Program, mpi: &Calls) -> FxHashSet<FunctionId> {
    let mut callers: FxHashMap<FunctionId, Vec<FunctionId>> = FxHashMap::default();
    let mut open = Vec::new();
    for (id, _, body) in program.defined() {
        for inst in &body.code {
            if mpi.at(inst).is_some() || runtime(program, inst).is_some() {
                open.push(id);
            }
            for callee in mentioned(inst) {
                callers.entry(callee).or_default().push(id);
            }
        }
    }
    let mut found = FxHashSet::default();
    while let Some(function) = open.pop() {
        if found.insert(function) {
            open.extend(callers.get(&function).into_iter().flatten());
        }
    }
    found
}

/// Functions that an instruction calls or names.
pub fn mentioned(inst: &Inst) -> impl Iterator<Item = FunctionId> {
    let callee = match inst.op {
        Op::Call(Callee::Direct(callee)) => Some(callee),
        _ => None,
    };
    let args = inst.args.iter().filter_map(|arg| match arg {
        Value::Function(id) => Some(*id),
        _ => None,
    });
    callee.into_iter().chain(args)
}
