//! Which constructs each place of a function is in, counted from the function's begin.
//!
//! Each function is looked at once, forward along its control flow. OpenMP's regions are properly
//! nested, so where ways meet they agree; where they should not, what they have in common counts.
//! Locks are another matter: one that is held on any way that leads to a place counts as held.

use super::facts::{Fact, Facts};
use super::thread_divergence::ThreadDivergence;
use super::word::{Letter, Spot};
use crate::Calls;
use crate::callgraph::callees;
use crate::openmp::{Runtime, Scope, runtime};
use commsan_ir::graph::{Flow, loops, post_dominators};
use commsan_ir::{BlockId, Body, FunctionId, Inst, Op, Program, Value};
use commsan_points_to::PointsTo;
use rustc_hash::{FxHashMap, FxHashSet};

/// The states of a function.
#[derive(Debug, Default)]
pub struct Shape {
    /// Blocks in the order in which they run.
    pub order: Vec<BlockId>,
    /// By block: the state where it begins; none if nobody gets there.
    pub states: Vec<Option<State>>,
    loops: FxHashMap<BlockId, FxHashSet<BlockId>>,
}

/// The constructs that a place of a function is in, beyond those of its entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    open: Vec<Open>,
    held: Vec<Held>,
    /// Locks given back that the function's caller holds.
    released: Vec<Value>,
    /// Threads that the next team is to have, and those after it.
    threads: [Option<Value>; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Open {
    letter: Letter,
    /// Ends where this block begins, if no call ends it.
    until: Option<BlockId>,
    /// Whether the ways out of the next switch lead to sections.
    sections: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Held {
    /// The lock; none for what is not known to order.
    what: Option<Value>,
    spot: Spot,
    until: Option<BlockId>,
}

/// What a function leaves behind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Effect {
    /// Locks that it may have taken; none for what is not known to order.
    taken: Vec<Option<Value>>,
    released: Vec<Value>,
}

/// The shapes of functions.
pub struct Shapes<'p> {
    program: &'p Program,
    mpi: &'p Calls,
    points_to: &'p PointsTo,
    divergence: &'p ThreadDivergence,
    shapes: FxHashMap<FunctionId, Shape>,
    effects: FxHashMap<FunctionId, Effect>,
}

impl<'p> Shapes<'p> {
    /// Of these functions.
    pub fn of(
        program: &'p Program,
        mpi: &'p Calls,
        points_to: &'p PointsTo,
        divergence: &'p ThreadDivergence,
        functions: &FxHashSet<FunctionId>,
    ) -> Shapes<'p> {
        let (shapes, effects) = Default::default();
        let mut found = Shapes { program, mpi, points_to, divergence, shapes, effects };
        let mut callers: FxHashMap<FunctionId, Vec<FunctionId>> = FxHashMap::default();
        let mut open: Vec<_> = functions.iter().copied().collect();
        open.sort_unstable();
        for function in &open {
            for inst in program[*function].body.iter().flat_map(|body| &body.code) {
                for callee in callees(points_to, *function, inst) {
                    callers.entry(callee).or_default().push(*function);
                }
            }
        }
        // Callees mostly come before their callers in a file; whoever did not know them looks
        // again.
        open.reverse();
        while let Some(function) = open.pop() {
            if found.look(function) {
                open.extend(callers.get(&function).into_iter().flatten());
            }
        }
        found
    }

    /// Of a function.
    pub fn get(&self, function: FunctionId) -> Option<&Shape> {
        self.shapes.get(&function)
    }

    /// Finds a function's states; says whether its effect has changed.
    fn look(&mut self, function: FunctionId) -> bool {
        let Some(body) = self.program[function].body.as_ref() else { return false };
        let flow = Flow::of(body);
        let post_dominators = post_dominators(body);
        let ranks = flow.ranks();
        let mut states: Vec<Option<State>> = vec![None; body.blocks.len()];
        // Until nothing changes: states lose constructs and gain locks.
        states[0] = Some(State::default());
        let mut open: std::collections::BTreeSet<u32> = [0].into();
        let mut effect: Option<State> = None;
        while let Some(rank) = open.pop_first() {
            let block = flow.order[rank as usize];
            let Some(mut state) = states[block.0 as usize].clone() else { continue };
            for (id, inst) in body.instructions(block) {
                self.step(Spot { function, inst: id }, inst, &mut state);
            }
            if body.end(block).is_some_and(|end| end.op == Op::Return) {
                effect = Some(effect.map_or_else(|| state.clone(), |e| e.common(&state)));
            }
            for (place, next) in body[block].next.iter().enumerate() {
                let mut after = state.clone();
                let until = post_dominators[block.0 as usize];
                if !self.edge(function, body, block, place, until, &mut after) {
                    continue;
                }
                after.open.retain(|open| open.until != Some(*next));
                after.held.retain(|held| held.until != Some(*next));
                let known = &mut states[next.0 as usize];
                let merged = match known {
                    None => after,
                    Some(known) => known.common(&after),
                };
                if known.as_ref() != Some(&merged) {
                    *known = Some(merged);
                    open.extend(ranks[next.0 as usize]);
                }
            }
        }
        self.shapes
            .insert(function, Shape { loops: loops(body, &flow), order: flow.order, states });
        let effect = effect.map(State::into_effect).unwrap_or_default();
        let known = self.effects.entry(function).or_default();
        let changed = *known != effect;
        *known = effect;
        changed
    }

    /// What an instruction does to the state.
    pub fn step(&self, spot: Spot, inst: &Inst, state: &mut State) {
        match runtime(self.program, inst) {
            Some(Runtime::Critical(what)) => state.enter(Letter::Critical(spot, what), None),
            Some(Runtime::EndCritical) => state.leave(|l| matches!(l, Letter::Critical(..))),
            Some(Runtime::Lock(what) | Runtime::TryLock { lock: what, .. }) => {
                state.take(Some(self.locked(spot.function, what)), spot, None);
            }
            Some(Runtime::Unlock(what)) => state.release(self.locked(spot.function, what)),
            Some(Runtime::Wait) => state.take(None, spot, None),
            // Whoever holds a lock now will hold it for ever.
            Some(Runtime::Barrier) => state.held.clear(),
            Some(Runtime::Leave(Scope::Single)) => state.leave(|l| matches!(l, Letter::Single(_))),
            Some(Runtime::Leave(_)) => {
                state.leave(|l| matches!(l, Letter::Master(_) | Letter::Numbered(..)));
            }
            Some(Runtime::Share { sections }) => {
                state.open.push(Open { letter: Letter::Share(spot), until: None, sections });
            }
            Some(Runtime::Shared) => state.leave(|l| matches!(l, Letter::Share(_))),
            Some(Runtime::Next) => state.leave(|l| l == Letter::Share(spot)),
            Some(Runtime::NumThreads(threads)) => state.threads[0] = Some(threads),
            Some(Runtime::DefaultThreads(threads)) => state.threads[1] = Some(threads),
            Some(Runtime::Fork(_)) => state.threads[0] = None,
            Some(_) => {}
            None => self.call(spot, inst, state),
        }
    }

    /// What a function of the program leaves to its caller.
    fn call(&self, spot: Spot, inst: &Inst, state: &mut State) {
        let callees = callees(self.points_to, spot.function, inst);
        let mut effects = callees.iter().filter_map(|callee| self.effects.get(callee));
        let effect = match (effects.next(), callees.len()) {
            (None, _) => return,
            (Some(effect), 1) => effect,
            // Which locks it takes depends on who is called.
            (Some(_), _) => return state.take(None, spot, None),
        };
        let here = |value: Value| match value {
            Value::Param(number) => {
                let passed = inst.args.get(number as usize).copied().unwrap_or(Value::Opaque);
                self.locked(spot.function, passed)
            }
            other => other,
        };
        for what in &effect.released {
            state.release(here(*what));
        }
        for what in &effect.taken {
            state.take(what.map(here), spot, None);
        }
    }

    /// What is locked, as far as places that lock the same can be distinguished.
    fn locked(&self, function: FunctionId, what: Value) -> Value {
        match what {
            Value::Global(..) | Value::Param(_) => what,
            Value::Inst(id) => match self.program[function].body.as_ref().map(|body| &body[id]) {
                // A pointer to the lock, or the lock's handle, in a variable that all share.
                Some(Inst { op: Op::Load(_), args, .. })
                    if matches!(args[0], Value::Global(..)) =>
                {
                    args[0]
                }
                _ => Value::Opaque,
            },
            _ => Value::Opaque,
        }
    }

    /// What taking a way out of a block does to the state; false if nobody takes it.
    fn edge(
        &self,
        function: FunctionId,
        body: &Body,
        block: BlockId,
        place: usize,
        until: Option<BlockId>,
        state: &mut State,
    ) -> bool {
        let (program, mpi, divergence) = (self.program, self.mpi, self.divergence);
        let facts = Facts { program, mpi, divergence, function, body };
        let Some((end, at)) = body[block].code.last().map(|id| (&body[*id], *id)) else {
            return true;
        };
        let here = Spot { function, inst: at };
        match &end.op {
            Op::Switch(cases) if place > 0 => {
                let shared = state.open.last().map(|open| (open.letter, open.sections));
                let letter = match (facts.of_case(end.args[0], cases[place - 1]), shared) {
                    (_, Some((Letter::Share(share), true)))
                    // flang's sections, and whatever is done for one iteration.
                    | (Some(Fact::Iteration), Some((Letter::Share(share), _))) => {
                        Letter::Section(share, place)
                    }
                    (Some(Fact::Number(number)), _) => Letter::Numbered(here, number),
                    _ => return true,
                };
                state.enter(letter, until);
                true
            }
            Op::Branch => {
                let Some((fact, at)) = facts.of(end.args[0], place == 0) else { return true };
                let spot = Spot { function, inst: at };
                match fact {
                    Fact::Enters(Scope::Single) => state.enter(Letter::Single(spot), None),
                    Fact::Enters(Scope::Master) => state.enter(Letter::Master(spot), None),
                    Fact::Enters(Scope::Numbered(number)) => {
                        let number = match number {
                            Value::Int(number) => Some(number),
                            _ => None,
                        };
                        state.enter(Letter::Numbered(spot, number), None);
                    }
                    Fact::Iterates => state.enter(Letter::Share(spot), None),
                    Fact::Number(number) => state.enter(Letter::Numbered(spot, number), until),
                    Fact::NotNumber(number) => state.enter(Letter::Others(spot, number), until),
                    Fact::Iteration => state.enter(Letter::Numbered(spot, None), until),
                    Fact::Main => state.enter(Letter::MainThread(spot), until),
                    Fact::InParallel(inside) => {
                        state.enter(Letter::InParallel(spot, inside), until)
                    }
                    Fact::Locks(_, true) => {}
                    Fact::Locks(what, false) => state.release(self.locked(function, what)),
                    Fact::Sees => {
                        let other = body[block].next[1 - place];
                        let waits = returns_to(body, block, other, body[block].next[place]);
                        state.take(None, spot, until.filter(|_| !waits));
                    }
                    Fact::Never => return false,
                }
                true
            }
            _ => true,
        }
    }
}

/// Whether a way leads from `from` to `block` but through `without`.
fn returns_to(body: &Body, block: BlockId, from: BlockId, without: BlockId) -> bool {
    let mut seen = FxHashSet::default();
    let mut open = vec![from];
    while let Some(at) = open.pop() {
        if at == block {
            return true;
        }
        if at != without && seen.insert(at) {
            open.extend(&body[at].next);
        }
    }
    false
}

impl Shape {
    /// Where the end of a block leads to, and whether that begins a loop. Loops are taken to run
    /// once at least: from where one has just begun, no way leads out of it.
    pub fn ways<'s>(
        &'s self,
        body: &'s Body,
        block: BlockId,
        begun: bool,
    ) -> impl Iterator<Item = (BlockId, bool)> + 's {
        let inside = self.loops.get(&block).filter(|_| begun);
        let ways = body[block].next.iter().copied();
        let ways = ways.filter(move |next| inside.is_none_or(|inside| inside.contains(next)));
        ways.map(move |next| {
            (next, self.loops.get(&next).is_some_and(|inside| !inside.contains(&block)))
        })
    }
}

impl State {
    /// Constructs and locks, the constructs first.
    pub fn letters(&self) -> impl Iterator<Item = Letter> {
        let held = self.held.iter().map(|held| match held.what {
            // A caller's lock may be any.
            Some(Value::Param(_)) => Letter::Lock(held.spot, Value::Opaque),
            Some(what) => Letter::Lock(held.spot, what),
            None => Letter::Guard(held.spot),
        });
        self.open.iter().map(|open| open.letter).chain(held)
    }

    /// Threads that a team forked here has.
    pub fn threads(&self) -> Option<i64> {
        match self.threads[0].or(self.threads[1]) {
            Some(Value::Int(number)) => Some(number),
            _ => None,
        }
    }

    fn enter(&mut self, letter: Letter, until: Option<BlockId>) {
        self.open.push(Open { letter, until, sections: false });
    }

    /// Ends the innermost construct of a kind.
    fn leave(&mut self, kind: impl Fn(Letter) -> bool) {
        if let Some(at) = self.open.iter().rposition(|open| kind(open.letter)) {
            self.open.remove(at);
        }
    }

    fn take(&mut self, what: Option<Value>, spot: Spot, until: Option<BlockId>) {
        if self.held.iter().all(|held| held.what != what) {
            self.held.push(Held { what, spot, until });
        }
    }

    /// Gives back this lock, or, where that is not known, the one taken last.
    fn release(&mut self, what: Value) {
        let last = |wanted: &dyn Fn(Value) -> bool| {
            self.held.iter().rposition(|held| held.what.is_some_and(wanted))
        };
        let found = last(&|held| held == what)
            .or_else(|| last(&|held| held == Value::Opaque || what == Value::Opaque));
        match found {
            Some(at) => {
                self.held.remove(at);
            }
            None if !self.released.contains(&what) => self.released.push(what),
            None => {}
        }
    }

    /// What is so for both of two ways.
    fn common(&self, other: &State) -> State {
        let same = self.open.iter().zip(&other.open).take_while(|(a, b)| a == b).count();
        let mut held = self.held.clone();
        for more in &other.held {
            match held.iter_mut().find(|held| held.what == more.what) {
                // Held at least as long as on one of the two.
                Some(held) if held.until != more.until => held.until = None,
                Some(_) => {}
                None => held.push(*more),
            }
        }
        let released =
            self.released.iter().copied().filter(|what| other.released.contains(what)).collect();
        let threads = [0, 1].map(|n| self.threads[n].filter(|t| other.threads[n] == Some(*t)));
        State { open: self.open[..same].to_vec(), held, released, threads }
    }

    fn into_effect(self) -> Effect {
        let outside = |what: Value| match what {
            Value::Inst(_) => Value::Opaque,
            other => other,
        };
        let taken = self.held.iter().map(|held| held.what.map(outside)).collect();
        Effect { taken, released: self.released.into_iter().map(outside).collect() }
    }
}
