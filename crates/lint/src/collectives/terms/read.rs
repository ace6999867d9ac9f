//! Reads a function's term from its control flow.

use super::{Choice, EMPTY, Event, Question, Term, TermId, Terms, collective, is_exit, named};
use crate::callgraph::started;
use crate::collectives::chosen::{Chosen, Ways};
use crate::collectives::comm::{Comm, named_at};
use crate::openmp::{self, Runtime, runtime};
use commsan_ir::graph::{Flow, post_dominators};
use commsan_ir::{BlockId, Body, Callee, Compare, FunctionId, Inst, InstId, Op, Value};
use commsan_mpi_calls::Effect;
use rustc_hash::{FxHashMap, FxHashSet};

/// A function that is being read.
pub struct Reader<'r, 'a, 'p> {
    terms: &'r mut Terms<'a, 'p>,
    function: FunctionId,
    body: &'p Body,
    post_dominators: Vec<Option<BlockId>>,
    /// By first block: where the ways out of a loop meet.
    loops: FxHashMap<BlockId, Option<BlockId>>,
    /// Loops that are being read: first blocks and numbers.
    open: Vec<(BlockId, usize)>,
    /// How conditions choose communicators; none before that is asked.
    chosen: Option<Ways<'a, 'p>>,
}

impl<'r, 'a, 'p> Reader<'r, 'a, 'p> {
    pub fn new(terms: &'r mut Terms<'a, 'p>, function: FunctionId, body: &'p Body) -> Self {
        let post_dominators = post_dominators(body);
        let loops = loops(body, &post_dominators);
        Reader { terms, function, body, post_dominators, loops, open: Vec::new(), chosen: None }
    }

    /// The whole function.
    pub fn whole(&mut self) -> TermId {
        self.way(BlockId(0), None, false).unwrap_or(EMPTY)
    }

    /// From a block, perhaps one that begins a loop just entered, to another, or to the function's
    /// end. None if the program does not get there.
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

    /// What a block calls, and what its ways out lead to until they meet; whether the program ends
    /// in it.
    fn block(&mut self, block: BlockId, meet: Option<BlockId>) -> Option<(Vec<TermId>, bool)> {
        let mut sequence = Vec::new();
        for (id, inst) in self.body.instructions(block) {
            // Ends the program for all, though compilers do not know.
            if self.terms.comms.calls.at(inst).is_some_and(|mpi| mpi.name == "MPI_Abort") {
                return None;
            }
            match self.called(id) {
                Some(term) => sequence.push(term),
                None if is_exit(self.terms.comms.program, inst) => {
                    sequence.push(self.terms.add(Term::Stop));
                    return Some((sequence, true));
                }
                None => {}
            }
        }
        let next = self.body[block].next.clone();
        let end = self.body.end(block)?;
        if end.op == Op::Unreachable
            || self.terms.failures().end_with(self.function, self.body, block)
        {
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
            if comm == Comm::Unknown && !mpi.by_reference {
                let argument = named_at(mpi).and_then(|at| inst.args.get(at));
                if let Some(chosen) = argument.and_then(|comm| self.chosen(*comm)) {
                    return Some(self.either(&event, chosen));
                }
            }
            return Some(self.terms.add(Term::Event(event)));
        }
        let callee = match (started(comms.program, self.body, inst), &inst.op) {
            // Some time from here on.
            (Some((callee, _)), _) => callee,
            (None, _) if runtime(comms.program, inst).is_some() => return None,
            (None, Op::Call(Callee::Direct(callee))) => *callee,
            (None, Op::Call(Callee::Indirect)) => return self.one_of(id),
            _ => return None,
        };
        let term = self.terms.of(callee);
        if term == EMPTY {
            return None;
        }
        let passed = self.comms_passed(id);
        Some(self.terms.add(Term::Call { term, comms: passed }))
    }

    /// The two communicators of which a condition chooses one.
    fn chosen(&mut self, comm: Value) -> Option<Chosen> {
        let (comms, function, body) = (self.terms.comms, self.function, self.body);
        let ways = self.chosen.get_or_insert_with(|| Ways::of(comms, function, body));
        ways.chosen(comm)
    }

    /// A call on one of two communicators.
    fn either(&mut self, event: &Event, chosen: Chosen) -> TermId {
        let ways = chosen.ways.map(|comm| match comm {
            Comm::Own => Some(EMPTY),
            _ => Some(self.terms.add(Term::Event(Event { comm, ..event.clone() }))),
        });
        let inst = self.body[chosen.by].code.last().copied().unwrap_or(InstId(0));
        let end = &self.body[inst];
        let question = question(self.body, end.args[0], &end.op);
        let choice = Choice { function: self.function, inst, question, ways: ways.into() };
        self.terms.add(Term::Choice(choice))
    }

    /// One of several functions that a pointer may mean: if all do the same, that.
    fn one_of(&mut self, id: InstId) -> Option<TermId> {
        let callees = self.terms.comms.points_to.callees(self.function, &self.body[id])?;
        let ways: Vec<_> = callees.iter().map(|callee| Some(self.terms.of(*callee))).collect();
        if ways.iter().flatten().all(|term| *term == EMPTY) {
            return None;
        }
        let choice = Choice { function: self.function, inst: id, question: None, ways };
        Some(self.terms.add(Term::Choice(choice)))
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
