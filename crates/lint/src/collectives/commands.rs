//! Command loops: one rank broadcasts to the others which call comes next.
//!
//! ```text
//! if (rank == 0) { cmd = SUM;  MPI_Bcast(&cmd, …);  sum();  cmd = STOP;  MPI_Bcast(&cmd, …); }
//! else             do { MPI_Bcast(&cmd, …);  if (cmd == SUM) sum(); } while (cmd != STOP);
//! ```
//!
//! The command decides which path a listener takes. So its calls match those of another path if
//! these are among what it could be commanded: if the other path's sequences of calls are all among
//! its own. Both are finite automata; whether the one's language is in the other's is a walk over
//! pairs of a state and the states that the listener may be in (subset construction). Whether the
//! right command is sent is not examined.

use super::comm::{Comm, Comms};
use super::fork::Fork;
use super::sources::{uniform, writes};
use super::terms::{Choice, Term, TermId, Terms, View};
use commsan_ir::{Callee, FunctionId, InstId, Op, Value};
use commsan_points_to::Object;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// Maximum number of states of one automaton; larger ones count as matching.
const MAX_AUTOMATON_STATES: usize = 4096;
/// Maximum number of pairs of states that one comparison visits.
const MAX_STATE_PAIRS: usize = 20_000;

/// Whether the paths of a branch may call the same, since one executes the commands that the other
/// sends.
pub fn agree(comms: &Comms, fork: &Fork) -> bool {
    let ways: Vec<_> = fork.sequences().collect();
    let listens: Vec<_> = ways
        .iter()
        .map(|(way, view)| {
            let mut listener = Listener { comms, terms: fork.terms, given: FxHashSet::default() };
            way.iter().any(|term| listener.listens(*term, view))
        })
        .collect();
    if !listens.contains(&true) {
        return false;
    }
    let automata: Vec<_> =
        ways.iter().map(|(way, view)| Automaton::of(fork.terms, way, view, fork.whole)).collect();
    let follows =
        |one: usize, other: usize| listens[other] && automata[one].is_within(&automata[other]);
    let mut pairs = (0..ways.len()).flat_map(|one| (0..one).map(move |other| (one, other)));
    pairs.all(|(one, other)| follows(one, other) || follows(other, one))
}

/// Who goes a way, and hears what collectives on it give to all.
struct Listener<'c, 'p> {
    comms: &'c Comms<'p>,
    terms: &'c Terms<'c, 'p>,
    /// Objects that were given so far.
    given: FxHashSet<Object>,
}

impl Listener<'_, '_> {
    /// Whether what a term calls depends on a received command.
    fn listens(&mut self, term: TermId, view: &View) -> bool {
        let terms = self.terms;
        match terms.get(term) {
            Term::Choice(choice) => {
                terms.calls(term, view) && self.is_told(choice)
                    || choice.ways.iter().flatten().any(|way| self.listens(*way, view))
            }
            Term::Sequence(parts) => parts.iter().any(|part| self.listens(*part, view)),
            Term::Loop(round) => {
                self.hear(term, view);
                self.listens(*round, view)
            }
            Term::Call { term, comms } => {
                let mut inner = view.clone();
                inner.params.push(comms);
                self.listens(*term, &inner)
            }
            Term::Event(_) => {
                self.hear(term, view);
                false
            }
            Term::Empty | Term::Again(_) | Term::Stop => false,
        }
    }

    /// Notes what the collectives of a term give.
    fn hear(&mut self, term: TermId, view: &View) {
        let mut events = Vec::new();
        self.terms.events(term, view, &mut events);
        for (event, _) in events {
            let Some(body) = &self.comms.program[event.function].body else { continue };
            let inst = &body[event.inst];
            let Some(mpi) = self.comms.calls.at(inst) else { continue };
            let Some(call) = mpi.call.filter(|_| uniform(&mpi.name)) else { continue };
            let buffers = inst.args.iter().enumerate().filter(|(place, _)| writes(call, *place));
            for (_, buffer) in buffers {
                let targets = self.comms.points_to.targets(event.function, *buffer).into_iter();
                let objects = targets.map(|target| target.object);
                self.given.extend(objects.filter(|object| *object != Object::Outside));
            }
        }
    }

    /// Whether a condition follows from what a collective gives.
    fn is_told(&self, choice: &Choice) -> bool {
        let Some(body) = &self.comms.program[choice.function].body else { return false };
        let inst = &body[choice.inst];
        let decides = match inst.op {
            Op::Call(_) => inst.args.last(),
            _ => inst.args.first(),
        };
        let mut seen = FxHashSet::default();
        decides.is_some_and(|value| self.follows(choice.function, *value, &mut seen))
    }

    fn follows(
        &self,
        function: FunctionId,
        value: Value,
        seen: &mut FxHashSet<(FunctionId, Value)>,
    ) -> bool {
        let Some(body) = &self.comms.program[function].body else { return false };
        if !seen.insert((function, value)) {
            return false;
        }
        match value {
            Value::Inst(id) => {
                let inst = &body[id];
                let is_given = |address: Value| {
                    let points_to = self.comms.points_to;
                    points_to.any_target(function, address, |at| self.given.contains(&at.object))
                };
                match inst.op {
                    Op::Load(_) if is_given(inst.args[0]) => true,
                    Op::Call(Callee::Direct(callee)) => self.returns(callee, seen),
                    _ => inst.args.iter().any(|arg| self.follows(function, *arg, seen)),
                }
            }
            Value::Param(number) => {
                let mut callers = self.comms.graph.callers(function).iter();
                callers.any(|(caller, call)| {
                    let passed = self.passed(*caller, *call, number);
                    passed.is_some_and(|passed| self.follows(*caller, passed, seen))
                })
            }
            _ => false,
        }
    }

    fn passed(&self, caller: FunctionId, call: InstId, number: u32) -> Option<Value> {
        let body = self.comms.program[caller].body.as_ref()?;
        body[call].args.get(number as usize).copied()
    }

    fn returns(&self, callee: FunctionId, seen: &mut FxHashSet<(FunctionId, Value)>) -> bool {
        let Some(body) = &self.comms.program[callee].body else { return false };
        let returned = body.code.iter().filter(|inst| inst.op == Op::Return);
        returned.flat_map(|inst| &inst.args).any(|value| self.follows(callee, *value, seen))
    }
}

/// A collective on a communicator, or the end of the program.
type Symbol = Option<(&'static str, Comm)>;

/// All sequences of calls of one way.
#[derive(Default)]
struct Automaton {
    /// By state: what is called, or nothing, and the state after it.
    next: Vec<Vec<(Option<Symbol>, usize)>>,
    end: usize,
}

impl Automaton {
    fn of(terms: &Terms, way: &[TermId], view: &View, whole: bool) -> Automaton {
        let mut automaton = Automaton::default();
        let begin = automaton.state();
        automaton.end = automaton.state();
        let mut builder = Builder { terms, whole, heads: FxHashMap::default(), automaton };
        let mut at = begin;
        for term in way {
            at = builder.add(*term, view, at);
        }
        let mut automaton = builder.automaton;
        let end = automaton.end;
        automaton.next[at].push((None, end));
        automaton
    }

    fn state(&mut self) -> usize {
        self.next.push(Vec::new());
        self.next.len() - 1
    }

    /// Whether each of its sequences that comes to an end is one of the other's.
    fn is_within(&self, other: &Automaton) -> bool {
        if self.next.len() >= MAX_AUTOMATON_STATES || other.next.len() >= MAX_AUTOMATON_STATES {
            return true;
        }
        let ends = self.ending();
        let mut open = vec![(0, other.closed([0]))];
        let mut seen: FxHashSet<_> = open.iter().cloned().collect();
        while let Some((at, others)) = open.pop() {
            if at == self.end && !others.contains(&other.end) {
                return false;
            }
            if seen.len() > MAX_STATE_PAIRS {
                return true;
            }
            for (symbol, next) in self.next[at].iter().filter(|(_, next)| ends.contains(next)) {
                let others = match symbol {
                    None => others.clone(),
                    Some(symbol) => other.after(&others, symbol),
                };
                if others.is_empty() {
                    return false;
                }
                if seen.insert((*next, others.clone())) {
                    open.push((*next, others));
                }
            }
        }
        true
    }

    /// States from which the end is reached.
    fn ending(&self) -> FxHashSet<usize> {
        let mut before = vec![Vec::new(); self.next.len()];
        for (from, edges) in self.next.iter().enumerate() {
            edges.iter().for_each(|(_, to)| before[*to].push(from));
        }
        let mut found = FxHashSet::default();
        let mut open = vec![self.end];
        while let Some(state) = open.pop() {
            if found.insert(state) {
                open.extend(&before[state]);
            }
        }
        found
    }

    /// With what is reached without a call.
    fn closed(&self, states: impl IntoIterator<Item = usize>) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        let mut open: Vec<_> = states.into_iter().collect();
        while let Some(state) = open.pop() {
            if found.insert(state) {
                let silent = self.next[state].iter().filter(|(symbol, _)| symbol.is_none());
                open.extend(silent.map(|(_, next)| *next));
            }
        }
        found
    }

    fn after(&self, states: &BTreeSet<usize>, symbol: &Symbol) -> BTreeSet<usize> {
        let edges = states.iter().flat_map(|state| &self.next[*state]);
        self.closed(edges.filter(|(by, _)| by.as_ref() == Some(symbol)).map(|(_, next)| *next))
    }
}

struct Builder<'b, 't, 'p> {
    terms: &'b Terms<'t, 'p>,
    whole: bool,
    /// By loop: the state in which a round begins.
    heads: FxHashMap<usize, usize>,
    automaton: Automaton,
}

impl Builder<'_, '_, '_> {
    /// What a term calls, from a state on; the state after it.
    fn add(&mut self, term: TermId, view: &View, from: usize) -> usize {
        if self.automaton.next.len() >= MAX_AUTOMATON_STATES {
            return from;
        }
        match self.terms.get(term) {
            Term::Empty => from,
            Term::Event(event) => {
                let comm = self.terms.comm(event, view);
                if !self.terms.matters(event, comm, view) {
                    return from;
                }
                self.step(from, Some(Some((event.name, comm))))
            }
            Term::Sequence(terms) => terms.iter().fold(from, |at, term| self.add(*term, view, at)),
            Term::Choice(choice) => {
                let answered = self.terms.answered(choice, view);
                let ways = match answered {
                    Some(way) => vec![way],
                    None => choice.ways.iter().flatten().copied().collect(),
                };
                let meet = self.automaton.state();
                for way in ways {
                    let end = self.add(way, view, from);
                    self.automaton.next[end].push((None, meet));
                }
                meet
            }
            Term::Loop(round) => {
                let head = self.step(from, None);
                if let Some(number) = self.terms.loop_of(*round) {
                    self.heads.insert(number, head);
                }
                self.add(*round, view, head)
            }
            Term::Again(number) => {
                if let Some(head) = self.heads.get(number) {
                    let head = *head;
                    self.automaton.next[from].push((None, head));
                }
                self.automaton.state()
            }
            Term::Call { term, comms } => {
                let mut inner = view.clone();
                inner.params.push(comms);
                inner.answers.clear();
                self.add(*term, &inner, from)
            }
            Term::Stop => {
                let symbol = (!self.whole).then_some(None);
                let end = self.automaton.end;
                self.automaton.next[from].push((symbol, end));
                self.automaton.state()
            }
        }
    }

    fn step(&mut self, from: usize, symbol: Option<Symbol>) -> usize {
        let to = self.automaton.state();
        self.automaton.next[from].push((symbol, to));
        to
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of edges between states, by the names of calls; the last state is the end.
    fn automaton(edges: &[(usize, &'static str, usize)]) -> Automaton {
        let end = edges.iter().map(|(_, _, to)| *to).max().unwrap_or(0);
        let mut next = vec![Vec::new(); end + 1];
        for (from, name, to) in edges {
            let symbol = (!name.is_empty()).then_some(Some((*name, Comm::World)));
            next[*from].push((symbol, *to));
        }
        Automaton { next, end }
    }

    #[test]
    fn some_of_what_can_be_told_is_within_all_of_it() {
        let listener = automaton(&[(0, "bcast", 1), (1, "reduce", 0), (1, "", 2)]);
        let twice = automaton(&[(0, "bcast", 1), (1, "reduce", 2), (2, "bcast", 3)]);
        let any_times =
            automaton(&[(0, "", 3), (0, "bcast", 1), (1, "reduce", 0), (3, "bcast", 4)]);
        for teller in [&twice, &any_times] {
            assert!(teller.is_within(&listener));
        }
        assert!(!listener.is_within(&twice) && listener.is_within(&any_times));
    }

    #[test]
    fn what_cannot_be_told_is_not() {
        let listener = automaton(&[(0, "bcast", 1), (1, "reduce", 0), (1, "", 2)]);
        let other_call = automaton(&[(0, "bcast", 1), (1, "barrier", 2), (2, "bcast", 3)]);
        let no_end = automaton(&[(0, "bcast", 1), (1, "reduce", 2)]);
        assert!(!other_call.is_within(&listener) && !no_end.is_within(&listener));
        // Where nobody gets to, nothing is called.
        let dead = automaton(&[(0, "barrier", 1), (0, "bcast", 2)]);
        assert!(dead.is_within(&listener));
    }
}
