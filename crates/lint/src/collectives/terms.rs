//! Which collectives a function calls, in which order, as a term: a sequence of calls, choices and loops
//! that follows the function's control flow between branches and where they meet again.
//!
//! Two terms are equal if they call the same collectives on the same communicators in the same order.
//! Choices and loops are compared by what is in them, not by their conditions: that two loops
//! over the same collective go round equally often is taken for granted.

use super::comm::{Comm, Comms, Labels};
use crate::levels;
use crate::memory::Memory;
use crate::openmp::{self, Runtime, runtime, task_entry};
use commsan_ir::graph::{Flow, post_dominators};
use commsan_ir::{BlockId, Body, Callee, Compare, FunctionId, Inst, InstId, Op, Program, Value};
use commsan_mpi::Effect;
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
            Some(body) => {
                let post_dominators = post_dominators(body);
                let loops = loops(body, &post_dominators);
                let open = Vec::new();
                let mut reader =
                    Reader { terms: self, function, body, post_dominators, loops, open };
                reader.way(BlockId(0), None, false).unwrap_or(EMPTY)
            }
            None => EMPTY,
        };
        self.of_function.insert(function, Some(term));
        term
    }

    /// All functions looked at, in their order in the program, with their terms.
    pub fn functions(&self) -> Vec<(FunctionId, TermId)> {
        let mut all: Vec<_> =
            self.of_function.iter().filter_map(|(id, term)| Some((*id, (*term)?))).collect();
        all.sort_unstable_by_key(|(id, _)| *id);
        all
    }

    /// The same number for equal terms.
    pub fn hash(&self, term: TermId, view: &View) -> u64 {
        let mut hasher = FxHasher::default();
        let mut some = false;
        self.feed(term, view, &mut hasher, &mut some);
        if some { hasher.finish() | 1 } else { 0 }
    }

    /// The same number for equal sequences of terms, 0 for nothing.
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

    /// Whether a term calls anything that matters.
    fn calls(&self, term: TermId, view: &View) -> bool {
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

    fn matters(&self, event: &Event, comm: Comm, view: &View) -> bool {
        let differ = |labels| self.comms.differ(event.function, comm, labels);
        view.includes(event, comm) && view.labels.is_none_or(differ)
    }

    /// The way that is taken if the answer is known.
    fn answered(&self, choice: &Choice, view: &View) -> Option<TermId> {
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
        const MOST: usize = 64;
        if found.len() > MOST {
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

struct Reader<'r, 'a, 'p> {
    terms: &'r mut Terms<'a, 'p>,
    function: FunctionId,
    body: &'p Body,
    post_dominators: Vec<Option<BlockId>>,
    /// By first block: where the ways out of a loop meet.
    loops: FxHashMap<BlockId, Option<BlockId>>,
    /// Loops that are being read: first blocks and numbers.
    open: Vec<(BlockId, usize)>,
}

impl Reader<'_, '_, '_> {
    /// From a block, perhaps one that begins a loop just entered, to another, or to the function's end.
    /// None if the program does not get there.
    fn way(&mut self, from: BlockId, to: Option<BlockId>, entered: bool) -> Option<TermId> {
        let mut sequence = Vec::new();
        let mut at = Some(from);
        let mut entered = entered;
        while let Some(block) = at.filter(|at| Some(*at) != to || entered) {
            let inside = std::mem::replace(&mut entered, false);
            if !inside {
                if let Some((_, number)) = self.open.iter().find(|(first, _)| *first == block) {
                    sequence.push(self.terms.add(Term::Again(*number)));
                    break;
                }
                if let Some(meet) = self.loops.get(&block).copied() {
                    let number = self.terms.loops.len();
                    self.terms.loops.push(EMPTY);
                    self.open.push((block, number));
                    let round = self.way(block, meet, true);
                    self.open.pop();
                    let round = round?;
                    if round != EMPTY {
                        self.terms.loops[number] = round;
                        sequence.push(self.terms.add(Term::Loop(round)));
                    }
                    at = meet;
                    continue;
                }
            }
            let next = self.post_dominators[block.0 as usize];
            let (part, stops) = self.block(block, next)?;
            sequence.extend(part);
            if stops {
                break;
            }
            at = next;
        }
        Some(self.sequence(sequence))
    }

    /// What a block calls, and what its ways out lead to until they meet; whether the program ends in it.
    fn block(&mut self, block: BlockId, meet: Option<BlockId>) -> Option<(Vec<TermId>, bool)> {
        let mut sequence = Vec::new();
        for (id, inst) in self.body.instructions(block) {
            // Ends the program for all, though compilers do not know.
            if self.terms.comms.calls.at(inst).is_some_and(|mpi| mpi.name == "MPI_Abort") {
                return None;
            }
            match self.called(id) {
                Some(term) => sequence.push(term),
                None if is_exit(self.terms.comms.program, self.body, inst) => {
                    sequence.push(self.terms.add(Term::Stop));
                    return Some((sequence, true));
                }
                None => {}
            }
        }
        let next = self.body[block].next.clone();
        let end = self.body.end(block)?;
        if end.op == Op::Unreachable || self.fails(block) {
            return None;
        }
        if let Some(way) = self.way_of_one_thread(end) {
            // Some thread of the team goes there.
            sequence.extend(self.way(next[way], meet, false));
        } else if next.len() > 1 {
            let ways: Vec<_> = next.iter().map(|next| self.way(*next, meet, false)).collect();
            let question = question(self.body, end.args[0], &end.op);
            if ways.iter().flatten().any(|way| *way != EMPTY) {
                let function = self.function;
                let inst = self.body[block].code.last().copied().unwrap_or(InstId(0));
                let choice = Choice { function, inst, question, ways };
                sequence.push(self.terms.add(Term::Choice(choice)));
            }
        }
        Some((sequence, false))
    }

    /// Whether a block leads out of `main` with the status of a failure, which ends the job.
    fn fails(&self, block: BlockId) -> bool {
        let program = self.terms.comms.program;
        let [next] = *self.body[block].next else { return false };
        let Some(end) = self.body.end(next).filter(|end| end.op == Op::Return) else {
            return false;
        };
        let Some(Value::Inst(id)) = end.args.first() else { return false };
        let Op::Phi(from) = &self.body[*id].op else { return false };
        let status = from.iter().zip(&self.body[*id].args).find(|(from, _)| **from == block);
        levels::MAINS.contains(&&*program[self.function].name)
            && status.is_some_and(|(_, status)| matches!(status, Value::Int(1..)))
    }

    /// Where a branch leads that lets one thread of a team in.
    fn way_of_one_thread(&self, end: &Inst) -> Option<usize> {
        let condition = end.args.first().filter(|_| end.op == Op::Branch)?;
        let test = openmp::tested(self.terms.comms.program, self.body, *condition)?;
        let one = matches!(test.what, Runtime::Enter(_) | Runtime::ThreadNumber);
        one.then_some(usize::from(!test.when))
    }

    fn sequence(&mut self, mut terms: Vec<TermId>) -> TermId {
        terms.retain(|term| *term != EMPTY);
        match &*terms {
            [] => EMPTY,
            [one] => *one,
            _ => self.terms.add(Term::Sequence(terms)),
        }
    }

    /// What an instruction calls, if that has to do with collectives.
    fn called(&mut self, id: InstId) -> Option<TermId> {
        let inst = &self.body[id];
        let comms = self.terms.comms;
        if let Some(mpi) = comms.calls.at(inst) {
            let name = collective(mpi)?;
            let comm = comms.of_call(self.function, inst, mpi)?;
            if comm == Comm::Own {
                return None;
            }
            let nonblocking = mpi.call.is_some_and(|call| call.effect == Effect::Start);
            let event = Event { function: self.function, inst: id, name, comm, nonblocking };
            return Some(self.terms.add(Term::Event(event)));
        }
        let callee = match runtime(comms.program, inst) {
            // Some time from here on.
            Some(Runtime::Fork(callee) | Runtime::Create(callee)) => callee?,
            Some(Runtime::Task { task, .. } | Runtime::TaskLoop(task)) => {
                task_entry(comms.program, self.body, task)?
            }
            Some(_) => return None,
            None => match inst.op {
                Op::Call(Callee::Direct(callee)) => callee,
                // One of several functions that may be meant: if all do the same, that.
                Op::Call(Callee::Indirect) => {
                    let callees = comms.memory.callees(self.function, inst)?;
                    let terms: Vec<_> =
                        callees.iter().map(|callee| Some(self.terms.of(*callee))).collect();
                    if terms.iter().flatten().all(|term| *term == EMPTY) {
                        return None;
                    }
                    let choice =
                        Choice { function: self.function, inst: id, question: None, ways: terms };
                    return Some(self.terms.add(Term::Choice(choice)));
                }
                _ => return None,
            },
        };
        let term = self.terms.of(callee);
        if term == EMPTY {
            return None;
        }
        let passed = self.comms_passed(id);
        Some(self.terms.add(Term::Call { term, comms: passed }))
    }

    fn comms_passed(&self, id: InstId) -> Vec<Comm> {
        let inst = &self.body[id];
        let comms = self.terms.comms;
        let resolve = |value: &Value| {
            let by_value = comms.resolve(self.function, *value, false);
            match by_value {
                Comm::World | Comm::Own | Comm::Param(..) => by_value,
                Comm::Made(_) | Comm::Unknown => {
                    // A handle, or the address of one.
                    let at = comms.resolve(self.function, *value, true);
                    if by_value == Comm::Unknown { at } else { by_value }
                }
            }
        };
        inst.args.iter().map(resolve).collect()
    }
}

/// Loops by their first blocks, each with where the ways out of it meet.
fn loops(body: &Body, post_dominators: &[Option<BlockId>]) -> FxHashMap<BlockId, Option<BlockId>> {
    let flow = Flow::of(body);
    let ranks = flow.ranks();
    let mut blocks: FxHashMap<BlockId, FxHashSet<BlockId>> = FxHashMap::default();
    for first in &flow.order {
        let rank = ranks[first.0 as usize];
        let back = flow.previous[first.0 as usize].iter();
        let mut open: Vec<_> = back.filter(|from| ranks[from.0 as usize] >= rank).collect();
        if open.is_empty() {
            continue;
        }
        let ours = blocks.entry(*first).or_default();
        ours.insert(*first);
        while let Some(block) = open.pop() {
            // What lies before the loop belongs to it only if control flow is not structured.
            if ranks[block.0 as usize] >= rank && ours.insert(*block) {
                open.extend(&flow.previous[block.0 as usize]);
            }
        }
    }
    let after = |first: BlockId, ours: &FxHashSet<BlockId>| {
        let mut at = Some(first);
        while let Some(inside) = at.filter(|at| ours.contains(at)) {
            at = post_dominators[inside.0 as usize];
        }
        at
    };
    blocks.iter().map(|(first, ours)| (*first, after(*first, ours))).collect()
}

/// The name under which a call takes part in the order of collectives; none if it does not.
pub fn collective(mpi: &crate::Mpi) -> Option<&'static str> {
    if let Some(call) = mpi.call {
        let other = matches!(
            call.effect,
            Effect::Window
                | Effect::WindowFree
                | Effect::Fence
                | Effect::Finalize
                | Effect::CommFree
        );
        let whole_file = call.name.starts_with("MPI_File_")
            && (call.name.contains("_all") || call.name.contains("_ordered"));
        return (call.collective || other || whole_file).then_some(&*call.name);
    }
    OTHERS.iter().find(|name| **name == mpi.name).copied()
}

/// Collectives that are not in the table of calls, as they have to do with no buffer.
const OTHERS: [&str; 8] = [
    "MPI_File_open",
    "MPI_File_close",
    "MPI_File_set_view",
    "MPI_File_set_size",
    "MPI_File_preallocate",
    "MPI_Comm_idup",
    "MPI_Comm_set_info",
    "MPI_File_set_atomicity",
];

/// Whether a call ends the program as if all were well.
fn is_exit(program: &Program, body: &Body, inst: &Inst) -> bool {
    let Op::Call(Callee::Direct(callee)) = inst.op else { return false };
    match &*program[callee].name {
        "exit" | "_exit" | "quick_exit" | "_Exit" => inst.args.first() == Some(&Value::Int(0)),
        "_FortranAStopStatement" => {
            inst.args.first() == Some(&Value::Int(0)) && !body.code.is_empty()
        }
        _ => false,
    }
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

/// What a branch asks, if it is whether a value equals a constant.
fn question(body: &Body, condition: Value, op: &Op) -> Option<Question> {
    if *op != Op::Branch {
        return None;
    }
    let Value::Inst(id) = condition else { return None };
    let inst = &body[id];
    match (&inst.op, &*inst.args) {
        (Op::Compare(comparison), [left, Value::Int(equals)]) => {
            let yes_first = match comparison {
                Compare::Equal => true,
                Compare::NotEqual => false,
                _ => return None,
            };
            Some(Question { of: named(body, *left), equals: *equals, yes_first })
        }
        (Op::Cast, [value]) => question(body, *value, op),
        _ => None,
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

/// Functions from which a collective is reached.
fn relevant(comms: &Comms) -> FxHashSet<FunctionId> {
    let (program, memory): (&Program, &Memory) = (comms.program, comms.memory);
    let mut callers: FxHashMap<FunctionId, Vec<FunctionId>> = FxHashMap::default();
    let mut open = Vec::new();
    for (id, _, body) in program.defined() {
        for inst in &body.code {
            let Op::Call(_) = inst.op else { continue };
            if comms.calls.at(inst).is_some_and(|mpi| collective(mpi).is_some())
                || is_exit(program, body, inst)
            {
                open.push(id);
            }
            let started = match runtime(program, inst) {
                Some(Runtime::Fork(callee) | Runtime::Create(callee)) => callee,
                Some(Runtime::Task { task, .. } | Runtime::TaskLoop(task)) => {
                    task_entry(program, body, task)
                }
                _ => None,
            };
            if let Some(callee) = started {
                callers.entry(callee).or_default().push(id);
            }
            for callee in memory.callees(id, inst).unwrap_or_default() {
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
