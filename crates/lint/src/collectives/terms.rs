//! Collective call sequences as regular terms.
//!
//! Which collectives a function calls, in which order, as a term: a sequence of calls, choices and
//! loops that follows the function's control flow between branches and where they meet again.
//!
//! Two terms are equal if they call the same collectives on the same communicators in the same
//! order. Choices and loops are compared by what is in them, not by their conditions: that two
//! loops over the same collective go round equally often is taken for granted.

mod fatal;
mod read;

use super::comm::{Comm, Comms, Labels};
use crate::callgraph;
use commsan_ir::{Body, Callee, FunctionId, Inst, InstId, Op, Program, Value};
use commsan_mpi_calls::Effect;
use fatal::Failures;
use read::Reader;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::hash::{Hash, Hasher};

/// A collective call.
#[derive(Clone, Debug)]
pub struct Event {
    pub function: FunctionId,
    pub inst: InstId,
    pub name: &'static str,
    pub comm: Comm,
    /// Whether it returns before others have come.
    pub nonblocking: bool,
}

/// Number of a term.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TermId(u32);

/// What is called.
#[derive(Debug)]
pub enum Term {
    /// Nothing: never in a sequence.
    Empty,
    Event(Event),
    Sequence(Vec<TermId>),
    /// One of these, by a condition.
    Choice(Choice),
    /// Again and again.
    Loop(TermId),
    /// The next round of a loop, by its number.
    Again(usize),
    /// A function that is called: its term, and the communicators it is given.
    Call {
        term: TermId,
        comms: Vec<Comm>,
    },
    /// The program ends here on purpose.
    Stop,
}

/// A branch and what it leads to.
#[derive(Debug)]
pub struct Choice {
    pub function: FunctionId,
    /// The branch, or the call through a pointer.
    pub inst: InstId,
    /// What is asked, if it can be compared with what other branches ask.
    pub question: Option<Question>,
    /// By way out of the branch, in its order; none leads to a call that does not return.
    pub ways: Vec<Option<TermId>>,
}

/// Whether a value equals a constant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Question {
    of: Value,
    equals: i64,
    /// Whether the first way out is the one for yes.
    yes_first: bool,
}

/// Terms of all functions.
pub struct Terms<'a, 'p> {
    pub comms: &'a Comms<'p>,
    pub all: Vec<Term>,
    of_function: FxHashMap<FunctionId, Option<TermId>>,
    /// What each loop does in a round.
    loops: Vec<TermId>,
    /// Functions from which collectives are reached.
    relevant: FxHashSet<FunctionId>,
}

/// What is being compared: labels that matter, answers that are known, communicators of parameters.
#[derive(Clone, Default)]
pub struct View<'v> {
    pub labels: Option<Labels>,
    pub answers: Vec<(Value, i64, bool)>,
    pub params: Vec<&'v [Comm]>,
    /// Communicators count as equal.
    pub any_comm: bool,
    /// This is a second round of a loop; others are not followed.
    pub again: bool,
    /// Sequences go on to the end of the program.
    pub whole: bool,
    /// Only these collectives count.
    pub only: Only,
}

/// Collectives whose order is compared. That of nonblocking ones matters on each communicator, but
/// not between communicators (MPI 4.1 §6.12).
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub enum Only {
    /// All.
    #[default]
    Any,
    /// Those that block.
    Blocking,
    /// Those of one communicator.
    Of(Comm),
}

impl View<'_> {
    fn includes(&self, event: &Event, comm: Comm) -> bool {
        match self.only {
            Only::Any => true,
            Only::Blocking => !event.nonblocking,
            Only::Of(only) => comm == only,
        }
    }
}

impl<'a, 'p> Terms<'a, 'p> {
    pub fn new(comms: &'a Comms<'p>) -> Terms<'a, 'p> {
        let relevant = relevant(comms);
        let (of_function, loops) = Default::default();
        Terms { comms, all: vec![Term::Empty], of_function, loops, relevant }
    }

    fn failures(&self) -> Failures<'_> {
        Failures { program: self.comms.program, mpi: self.comms.calls, calls: &self.comms.graph }
    }

    pub fn get(&self, term: TermId) -> &Term {
        &self.all[term.0 as usize]
    }

    fn add(&mut self, term: Term) -> TermId {
        if matches!(term, Term::Empty) {
            return EMPTY;
        }
        self.all.push(term);
        TermId(self.all.len() as u32 - 1)
    }

    /// The term of a function; of one that is being looked at already, nothing.
    pub fn of(&mut self, function: FunctionId) -> TermId {
        if !self.relevant.contains(&function) {
            return EMPTY;
        }
        if let Some(known) = self.of_function.get(&function) {
            return known.unwrap_or(EMPTY);
        }
        self.of_function.insert(function, None);
        let program = self.comms.program;
        let term = match &program[function].body {
            Some(body) => Reader::new(self, function, body).whole(),
            None => EMPTY,
        };
        self.of_function.insert(function, Some(term));
        term
    }

    /// The number of the loop that does this in a round.
    pub fn loop_of(&self, round: TermId) -> Option<usize> {
        self.loops.iter().position(|known| *known == round)
    }

    /// All functions looked at, in their order in the program, with their terms.
    pub fn functions(&self) -> Vec<(FunctionId, TermId)> {
        let mut all: Vec<_> =
            self.of_function.iter().filter_map(|(id, term)| Some((*id, (*term)?))).collect();
        all.sort_unstable_by_key(|(id, _)| *id);
        all
    }

    /// A hash of a term: equal terms have equal hashes.
    pub fn hash(&self, term: TermId, view: &View) -> u64 {
        let mut hasher = FxHasher::default();
        let mut some = false;
        self.feed(term, view, &mut hasher, &mut some);
        if some { hasher.finish() | 1 } else { 0 }
    }

    /// A hash of a sequence of terms: equal for equal sequences, 0 for the empty one.
    pub fn hash_all(&self, terms: &[TermId], view: &View) -> u64 {
        let mut hasher = FxHasher::default();
        let mut some = false;
        for term in terms {
            self.feed(*term, view, &mut hasher, &mut some);
            if self.stops(*term) {
                // Where the program ends anyway, ending it early is no difference.
                if !view.whole {
                    some = true;
                    "stop".hash(&mut hasher);
                }
                break;
            }
        }
        if some { hasher.finish() | 1 } else { 0 }
    }

    fn feed(&self, term: TermId, view: &View, hasher: &mut FxHasher, some: &mut bool) {
        match self.get(term) {
            Term::Empty => {}
            Term::Event(event) => {
                let comm = self.comm(event, view);
                if self.matters(event, comm, view) {
                    *some = true;
                    event.name.hash(hasher);
                    if !view.any_comm {
                        comm.hash(hasher);
                    }
                }
            }
            Term::Sequence(terms) => {
                terms.iter().for_each(|term| self.feed(*term, view, hasher, some));
            }
            Term::Choice(choice) => {
                if let Some(way) = self.answered(choice, view) {
                    self.feed(way, view, hasher, some);
                    return;
                }
                let mut ways: Vec<_> =
                    choice.ways.iter().flatten().map(|way| self.hash(*way, view)).collect();
                ways.sort_unstable();
                ways.dedup();
                match &*ways {
                    [] | [0] => {}
                    // All the same.
                    [_] => {
                        let way = choice.ways.iter().flatten().next();
                        way.iter().for_each(|way| self.feed(**way, view, hasher, some));
                    }
                    several => {
                        *some = true;
                        ("choice", several).hash(hasher);
                    }
                }
            }
            Term::Loop(round) => {
                let round = self.hash(*round, view);
                if round != 0 {
                    *some = true;
                    ("loop", round).hash(hasher);
                }
            }
            Term::Again(number) => {
                *some |= self.loops.get(*number).is_some_and(|round| self.calls(*round, view));
                "again".hash(hasher);
            }
            Term::Call { term, comms, .. } => {
                let mut inner = view.clone();
                inner.params.push(comms);
                // Its conditions are others.
                inner.answers.clear();
                self.feed(*term, &inner, hasher, some);
            }
            // Matters only to who compares ways that end so.
            Term::Stop => {}
        }
    }

    /// Whether the program ends with a term.
    pub fn stops(&self, term: TermId) -> bool {
        match self.get(term) {
            Term::Stop => true,
            Term::Sequence(terms) => terms.last().is_some_and(|last| self.stops(*last)),
            _ => false,
        }
    }

    /// A term's parts in their order.
    pub fn flatten(&self, term: TermId, parts: &mut Vec<TermId>) {
        match self.get(term) {
            Term::Sequence(terms) => terms.iter().for_each(|term| self.flatten(*term, parts)),
            _ => parts.push(term),
        }
    }

    /// Whether what a term calls depends on a condition whose answer is not known.
    pub fn is_undecided(&self, term: TermId, view: &View) -> bool {
        match self.get(term) {
            Term::Choice(choice) => match self.answered(choice, view) {
                Some(way) => self.is_undecided(way, view),
                None => self.calls(term, view),
            },
            Term::Sequence(terms) => terms.iter().any(|term| self.is_undecided(*term, view)),
            Term::Loop(round) => self.is_undecided(*round, view),
            Term::Call { term, comms } => {
                let mut inner = view.clone();
                inner.params.push(comms);
                inner.answers.clear();
                self.is_undecided(*term, &inner)
            }
            _ => false,
        }
    }

    /// Whether a term calls anything that matters.
    pub fn calls(&self, term: TermId, view: &View) -> bool {
        match self.get(term) {
            Term::Event(event) => {
                let comm = self.comm(event, view);
                self.matters(event, comm, view)
            }
            Term::Sequence(terms) => terms.iter().any(|term| self.calls(*term, view)),
            Term::Choice(choice) => choice.ways.iter().flatten().any(|way| self.calls(*way, view)),
            Term::Loop(round) => self.calls(*round, view),
            Term::Call { term, comms, .. } => {
                let mut inner = view.clone();
                inner.params.push(comms);
                self.calls(*term, &inner)
            }
            Term::Empty | Term::Again(_) | Term::Stop => false,
        }
    }

    /// The communicator of a call, from the view of who is looking.
    pub fn comm(&self, event: &Event, view: &View) -> Comm {
        let mut comm = event.comm;
        for passed in view.params.iter().rev() {
            let Comm::Param(number, _) = comm else { break };
            comm = passed.get(number as usize).copied().unwrap_or(Comm::Unknown);
        }
        comm
    }

    /// Whether ranks that differ must agree on a call.
    pub fn matters(&self, event: &Event, comm: Comm, view: &View) -> bool {
        let differ = |labels| self.comms.differ(event.function, comm, labels);
        view.includes(event, comm) && view.labels.is_none_or(differ)
    }

    /// The way that is taken if the answer is known.
    pub fn answered(&self, choice: &Choice, view: &View) -> Option<TermId> {
        let question = choice.question?;
        let known = view
            .answers
            .iter()
            .find(|(of, equals, _)| *of == question.of && *equals == question.equals)?;
        let first = known.2 == question.yes_first;
        (*choice.ways.get(usize::from(!first))?).or(Some(EMPTY))
    }

    /// What the first way of a choice, or the second, says about its question.
    pub fn answer(choice: &Choice, way: usize) -> Option<(Value, i64, bool)> {
        let question = choice.question.filter(|_| choice.ways.len() == 2)?;
        Some((question.of, question.equals, (way == 0) == question.yes_first))
    }

    /// All calls in a term, with the communicators that they name as seen from outside.
    pub fn events<'t>(&'t self, term: TermId, view: &View<'t>, found: &mut Vec<(&'t Event, Comm)>) {
        const MAX_EVENTS: usize = 64;
        if found.len() > MAX_EVENTS {
            return;
        }
        match self.get(term) {
            Term::Event(event) => {
                let comm = self.comm(event, view);
                if self.matters(event, comm, view) {
                    found.push((event, comm));
                }
            }
            Term::Sequence(terms) => {
                terms.iter().for_each(|term| self.events(*term, view, found));
            }
            Term::Choice(choice) => match self.answered(choice, view) {
                Some(way) => self.events(way, view, found),
                None => {
                    choice.ways.iter().flatten().for_each(|way| self.events(*way, view, found));
                }
            },
            Term::Loop(round) => self.events(*round, view, found),
            Term::Call { term, comms, .. } => {
                let mut inner = view.clone();
                inner.params.push(comms);
                inner.answers.clear();
                self.events(*term, &inner, found);
            }
            // Another round, if this is not a round already.
            Term::Again(number) if !view.again => {
                let inner = View { again: true, ..view.clone() };
                if let Some(round) = self.loops.get(*number) {
                    self.events(*round, &inner, found);
                }
            }
            Term::Empty | Term::Again(_) | Term::Stop => {}
        }
    }
}

const EMPTY: TermId = TermId(0);

/// The name under which a call takes part in the order of collectives; none if it does not.
pub fn collective(mpi: &crate::Mpi) -> Option<&'static str> {
    let call = mpi.call?;
    (call.enters || call.effect == Effect::Finalize).then_some(&*call.name)
}

/// Whether a call ends the program as if all were well.
fn is_exit(program: &Program, inst: &Inst) -> bool {
    const EXITS: [&str; 5] = ["exit", "_exit", "quick_exit", "_Exit", "_FortranAStopStatement"];
    let Op::Call(Callee::Direct(callee)) = inst.op else { return false };
    EXITS.contains(&&*program[callee].name) && inst.args.first() == Some(&Value::Int(0))
}

impl Question {
    /// Whether another question is about the same, perhaps the other way round.
    pub fn is_about(self, other: Question) -> bool {
        self.of == other.of && self.equals == other.equals
    }

    /// Whether another question is whether the same value equals another constant.
    pub fn asks_for_others(self, other: Question) -> bool {
        self.of == other.of && self.equals != other.equals
    }

    /// Which way out is taken if the answer is yes.
    pub fn way_for_yes(self) -> usize {
        usize::from(!self.yes_first)
    }

    /// What is asked about.
    pub fn of(self) -> Value {
        self.of
    }
}

/// A value by what it is loaded from: a variable is taken to stay as it is between two questions.
pub fn named(body: &Body, value: Value) -> Value {
    let Value::Inst(id) = value else { return value };
    match (&body[id].op, &*body[id].args) {
        (Op::Load(_) | Op::Cast, [from]) => named(body, *from),
        _ => value,
    }
}

/// Functions from which a collective is reached, or an end of the program.
fn relevant(comms: &Comms) -> FxHashSet<FunctionId> {
    let wanted = |_, body: &Body| {
        body.code.iter().any(|inst| {
            let collective = comms.calls.at(inst).is_some_and(|mpi| collective(mpi).is_some());
            collective || is_exit(comms.program, inst)
        })
    };
    comms.graph.reaching(callgraph::with(comms.program, wanted))
}
