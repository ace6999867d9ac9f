//! Typestate analysis: follows one operation from its start along all paths through the function.
//!
//! The operation is pending or complete; what is known on the way is kept apart for the two, and
//! joined only within each (property simulation, Das et al. 2002): a condition that guarded the
//! start, or a variable that was set there, decides about the completion later.
//!
//! Blocks are visited in an order that settles a loop before what follows it. The first visit of a
//! loop is its first iteration, later ones stand for all others.

mod irregular;

use super::effects::{Called, Touch, View};
use super::effort::Effort;
use super::found::{Found, Overlap, Violation};
use super::linear::{Known, Linear};
use super::live::Live;
use super::loops::Ways;
use super::operation::{Operation, Outcome, Places};
use super::state::{State, by_how_much, shifts};
use crate::library::Library;
use commsan_ir::{BlockId, Compare, InstId, Op, Value};
use commsan_mpi_calls::Effect;
use commsan_mpi_calls::abi::MpiFamily;
use commsan_mpi_calls::abi::handles::{self, Handle};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::collections::hash_map::Entry;

/// Joins at one block after which growing bounds are widened.
const MAX_JOINS_BEFORE_WIDENING: u32 = 4;

/// Maximum number of visits of blocks for one operation, which is then given up.
const MAX_BLOCK_VISITS: usize = 4_000;
/// What holds before any operation is looked at, by block.
pub struct Basis {
    states: Vec<Option<State>>,
}

impl Basis {
    /// Whether there are too many ways through the function to know anything.
    fn is_given_up(&self) -> bool {
        self.states.first().is_some_and(Option::is_none)
    }
}

/// Where a state goes.
type Step = (BlockId, Facts);

/// What is known of a way.
#[derive(Clone, Debug)]
struct Facts {
    state: State,
    /// Of the pending operation.
    places: Option<Places>,
}

/// Follows ways through a flat function.
pub struct Walker<'w, 'p> {
    pub view: &'w View<'p>,
    pub ways: &'w Ways,
    effort: &'w Effort,
    /// By instruction: its block.
    pub blocks: Vec<BlockId>,
    /// Those of MPI that the table knows.
    calls: Vec<InstId>,
    live: Live,
}

impl<'w, 'p> Walker<'w, 'p> {
    /// Whether all ranks that start a collective come to `id` afterwards, the root and the others:
    /// there is no other call of it where some may start it, and no condition decides whether they
    /// come to one or the other.
    fn comes_to_all(&self, start: InstId, id: InstId) -> bool {
        let block = |id: InstId| self.blocks[id.0 as usize];
        let called = |id: InstId| self.view.row(id).map(|(mpi, _)| &mpi.name);
        let alone = || self.calls.iter().filter(|id| called(**id) == called(start)).count() == 1;
        self.view.is_program()
            && self.ways.post_dominates(block(id), block(start))
            && (self.ways.post_dominates(block(start), BlockId(0)) || alone())
    }

    pub fn new(view: &'w View<'p>, ways: &'w Ways, effort: &'w Effort) -> Self {
        let body = &view.flat.body;
        let mut blocks = vec![BlockId(u32::MAX); body.code.len()];
        for block in body.block_ids() {
            for id in &body[block].code {
                blocks[id.0 as usize] = block;
            }
        }
        let live = Live::of(view, ways, &blocks);
        let code = ways.flow.order.iter().flat_map(|block| &body[*block].code);
        let calls = code.filter(|id| view.row(**id).is_some()).copied().collect();
        Walker { view, ways, effort, blocks, calls, live }
    }

    /// What holds everywhere.
    pub fn basis(&self) -> Basis {
        let body = &self.view.flat.body;
        let mut states: Vec<Option<State>> = vec![None; body.blocks.len()];
        let mut joins = vec![0; body.blocks.len()];
        let mut open = BTreeSet::new();
        if let Some(first) = states.first_mut() {
            *first = Some(State::default());
            open.insert((self.ways.ranks[0], BlockId(0)));
        }
        let mut visits = 0;
        while let Some((_, block)) = open.pop_first() {
            visits += 1;
            let Some(state) = states[block.0 as usize].clone() else { continue };
            if visits > MAX_BLOCK_VISITS {
                return Basis { states: vec![None; body.blocks.len()] };
            }
            for (next, facts) in self.leave(block, Facts { state, places: None }) {
                let known = &mut states[next.0 as usize];
                let count: &mut u32 = &mut joins[next.0 as usize];
                *count += 1;
                let changed = match known {
                    Some(known) => known.join(&facts.state, *count > MAX_JOINS_BEFORE_WIDENING),
                    None => {
                        *known = Some(facts.state);
                        true
                    }
                };
                if changed {
                    open.insert((self.ways.ranks[next.0 as usize], next));
                }
            }
        }
        Basis { states }
    }

    /// Follows an operation; none if it is never started. The inner one is none if there are too
    /// many ways from it.
    pub fn follow(&self, basis: &Basis, operation: &Operation) -> Option<Option<Found>> {
        if basis.is_given_up() {
            return Some(None);
        }
        Some(self.follow_from(self.at_start(basis, operation)?, operation, false))
    }

    /// Follows the operation that the first iteration of a loop starts, where each has a buffer of
    /// its own.
    pub fn follow_first(&self, basis: &Basis, operation: &Operation) -> Option<Option<Found>> {
        let state = self.in_first_iteration(self.at_start(basis, operation)?, operation)?;
        Some(self.follow_from(state, operation, true))
    }

    /// What is known where an operation starts.
    fn at_start(&self, basis: &Basis, operation: &Operation) -> Option<State> {
        let block = self.blocks[operation.start.0 as usize];
        let mut state = basis.states.get(block.0 as usize)?.clone()?;
        self.assume_active(&mut state, operation);
        Some(state)
    }

    fn follow_from(&self, state: State, operation: &Operation, first: bool) -> Option<Found> {
        let found = self.follow_while(state.clone(), operation, first, false)?;
        // Where it was complete is asked only of places where something is violation.
        if found.violations.keys().all(|(violation, _)| *violation == Violation::Ends) {
            return Some(found);
        }
        self.follow_while(state, operation, first, true)
    }

    /// Follows an operation while it is pending, or further.
    fn follow_while(
        &self,
        state: State,
        operation: &Operation,
        first: bool,
        further: bool,
    ) -> Option<Found> {
        let block = self.blocks[operation.start.0 as usize];
        let places = self.view.places(&state.known, operation);
        let mut run = Run {
            walker: self,
            operation,
            first,
            further,
            completing: self.completing(operation),
            arrived: FxHashMap::default(),
            open: BTreeSet::new(),
            found: Found::default(),
        };
        let code = &self.view.flat.body[block].code;
        let at = code.iter().position(|id| *id == operation.start)? + 1;
        run.pass(block, at, Facts { state, places: Some(places) });
        for _ in 0..MAX_BLOCK_VISITS {
            let Some((_, slot, block)) = run.open.pop_first() else { return Some(run.found) };
            if !self.effort.take() {
                break;
            }
            if let Some((facts, _)) = run.arrived.get(&(block, slot)) {
                let facts = facts.clone();
                run.pass(block, 0, facts);
            }
        }
        None
    }

    /// An operation that uses a buffer has a partner and something to move, and the call that
    /// started it has not failed.
    fn assume_active(&self, state: &mut State, operation: &Operation) {
        if let Some((mpi, _)) = self.view.row(operation.start)
            && !mpi.by_reference
        {
            state.bound(&Linear::value(Value::Inst(operation.start)), Compare::Equal);
        }
        let Some((_, call)) = self.view.row(operation.described) else { return };
        let of = |at: usize| self.view.argument(&state.known, operation.described, at);
        let none = self.view.environment.constants().proc_null;
        let peer = call.accesses.iter().find_map(|rule| rule.peer).and_then(of);
        let count = call.at.count.and_then(of);
        if let Some(peer) = peer {
            state.bound(&peer.plus(&Linear::constant(none), -1), Compare::NotEqual);
        }
        if let Some(count) = count {
            state.bound(&count, Compare::Greater);
        }
        for null in self.null_requests() {
            if let Some(handle) = self.handle(&state.known, operation) {
                state.bound(&handle.plus(&null, -1), Compare::NotEqual);
            }
        }
    }

    /// The request, as the call has stored it.
    fn handle(&self, known: &Known, operation: &Operation) -> Option<Linear> {
        let (_, call) = self.view.row(operation.start)?;
        let address = self.view.request_at(known, operation.start, call)?;
        let value = *self.view.after.get(&(operation.start, address))?;
        Linear::of(&self.view.flat.body, known, value)
    }

    /// `MPI_REQUEST_NULL`, in C and in Fortran.
    fn null_requests(&self) -> Vec<Linear> {
        const NULL: &Handle = handles::named("MPI_REQUEST_NULL");
        let numbers = MpiFamily::ALL.map(|family| family.number(NULL, true));
        let variable = self.view.environment.null_request;
        let variable = variable.map(|id| Linear::value(Value::Global(id, 0)));
        numbers.into_iter().flatten().map(Linear::constant).chain(variable).collect()
    }

    /// Calls that may complete an operation, wherever they are.
    fn completing(&self, operation: &Operation) -> FxHashSet<InstId> {
        let places = self.view.places(&Default::default(), operation);
        let may = |id: &&InstId| {
            let outcome = self.view.outcome(&Default::default(), **id, operation, &places);
            matches!(outcome, Outcome::Complete | Outcome::CompleteIf(_))
        };
        self.calls.iter().filter(may).copied().collect()
    }

    /// Where a block leads to, and what is known there.
    fn leave(&self, block: BlockId, facts: Facts) -> Vec<Step> {
        let body = &self.view.flat.body;
        let Some(end) = body.end(block) else { return Vec::new() };
        let mut steps = Vec::new();
        for (number, next) in body[block].next.iter().enumerate() {
            let mut facts = facts.clone();
            let taken = match &end.op {
                Op::Branch if body[block].next[0] != body[block].next[1] => {
                    facts.state.assume(body, end.args[0], number == 0)
                }
                Op::Switch(cases) => {
                    let value = Linear::of(body, &facts.state.known, end.args[0]);
                    self.switch(&mut facts.state, value, cases, number)
                }
                _ => true,
            };
            if taken {
                steps.push((*next, self.enter(block, *next, facts)));
            }
        }
        steps
    }

    fn switch(
        &self,
        state: &mut State,
        value: Option<Linear>,
        cases: &[i64],
        number: usize,
    ) -> bool {
        let Some(value) = value else { return true };
        let less = |case: i64| value.clone().plus(&Linear::constant(case), -1);
        match number.checked_sub(1) {
            Some(case) => {
                let Some(case) = cases.get(case) else { return true };
                let range = state.range(&less(*case));
                state.bound(&less(*case), Compare::Equal);
                range.from <= 0 && range.to >= 0
            }
            None => {
                for case in cases {
                    state.bound(&less(*case), Compare::NotEqual);
                }
                !value.number().is_some_and(|number| cases.contains(&number))
            }
        }
    }

    /// Over an edge: phis take their values, what is computed in the block is so anew.
    fn enter(&self, from: BlockId, to: BlockId, mut facts: Facts) -> Facts {
        let body = &self.view.flat.body;
        let mut phis = Vec::new();
        for (id, inst) in body.instructions(to) {
            // With one way in, it is what comes that way.
            if let Op::Phi(blocks) = &inst.op
                && blocks.len() > 1
            {
                let at = blocks.iter().position(|block| *block == from);
                let value =
                    at.and_then(|at| Linear::of(body, &facts.state.known, *inst.args.get(at)?));
                phis.push((id, value));
            }
        }
        let anew = |value: Value| match value {
            Value::Inst(id) => self.blocks[id.0 as usize] == to,
            _ => false,
        };
        facts.state.enter(&phis, anew);
        facts.state.forget(&self.live, to);
        if let Some(places) = &mut facts.places {
            places.round |= self.ways.is_back(from, to);
            let shifts = shifts(&phis);
            for place in places.each() {
                *place = place.take().and_then(|sum| {
                    let by = by_how_much(&sum.terms, &shifts, anew)?;
                    Some(sum.plus(&Linear::constant(by), -1))
                });
            }
        }
        facts
    }
}

/// The pending operation's slot, and the complete one's.
const PENDING: usize = 0;
const COMPLETE: usize = 1;

struct Run<'r, 'w, 'p> {
    walker: &'r Walker<'w, 'p>,
    operation: &'r Operation,
    /// Whether it is that of a loop's first iteration: the same call starts others after it.
    first: bool,
    /// Whether it is also followed where it is complete.
    further: bool,
    completing: FxHashSet<InstId>,
    /// By block and slot: what is known there, and how many ways have come.
    arrived: FxHashMap<(BlockId, usize), (Facts, u32)>,
    open: BTreeSet<(Option<u32>, usize, BlockId)>,
    found: Found,
}

impl Run<'_, '_, '_> {
    /// Goes through a block, from an instruction on.
    fn pass(&mut self, block: BlockId, from: usize, mut facts: Facts) {
        let walker = self.walker;
        let body = &walker.view.flat.body;
        for id in &body[block].code[from..] {
            if facts.places.is_none() {
                if !self.further {
                    return;
                }
                self.found.complete.insert(*id);
                if *id == self.operation.start {
                    return;
                }
                continue;
            }
            match self.pending(*id, &mut facts) {
                Next::Stays => {}
                Next::Completes => facts.places = None,
                Next::Forks(flag) => {
                    let mut complete = facts.clone();
                    complete.places = None;
                    let goes_on = match flag {
                        Some(flag) => {
                            complete.state.assume(body, flag, true);
                            facts.state.assume(body, flag, false)
                        }
                        None => true,
                    };
                    let at = body[block].code.iter().position(|other| other == id);
                    self.pass(block, at.map_or(usize::MAX, |at| at + 1), complete);
                    if !goes_on {
                        return;
                    }
                }
                Next::Ends => return,
            }
        }
        let steps = walker.leave(block, facts);
        for (next, facts) in steps {
            if facts.places.is_some() && self.is_completed_by_loop(block, next) {
                continue;
            }
            self.arrive(next, facts);
        }
    }

    /// Whether an edge leaves a loop that completes operations from before it. It is taken to
    /// complete this one: how often it goes round is as much as was started.
    fn is_completed_by_loop(&self, from: BlockId, to: BlockId) -> bool {
        let start = self.walker.blocks[self.operation.start.0 as usize];
        let left = self
            .walker
            .ways
            .around(from)
            .filter(|around| !around.blocks.contains(&to) && !around.blocks.contains(&start));
        let mut completing = left.flat_map(|around| {
            self.completing
                .iter()
                .filter(|id| around.blocks.contains(&self.walker.blocks[id.0 as usize]))
        });
        completing.next().is_some()
    }

    fn arrive(&mut self, block: BlockId, facts: Facts) {
        let slot = if facts.places.is_some() { PENDING } else { COMPLETE };
        let changed = match self.arrived.entry((block, slot)) {
            Entry::Occupied(mut known) => {
                let (known, joins) = known.get_mut();
                *joins += 1;
                let mut changed =
                    known.state.join(&facts.state, *joins > MAX_JOINS_BEFORE_WIDENING);
                if let (Some(known), Some(places)) = (&mut known.places, &facts.places) {
                    changed |= known.join(places);
                }
                changed
            }
            Entry::Vacant(none) => {
                none.insert((facts, 1));
                true
            }
        };
        if changed {
            self.open.insert((self.walker.ways.ranks[block.0 as usize], slot, block));
        }
    }

    /// An instruction while the operation is pending.
    fn pending(&mut self, id: InstId, facts: &mut Facts) -> Next {
        let walker = self.walker;
        let Some(places) = &facts.places else { return Next::Stays };
        let known = &facts.state.known;
        let view = walker.view;
        let again = id == self.operation.start;
        for touch in view.touches(known, id) {
            self.touched(id, &touch, facts, false);
        }
        let Some(called) = view.called(id) else { return self.returns(id, facts) };
        match view.outcome(known, id, self.operation, places) {
            Outcome::None => {}
            Outcome::Complete => {
                self.found.by.insert(id);
                return Next::Completes;
            }
            Outcome::CompleteIf(flag) => {
                self.found.tests.insert(id);
                return Next::Forks(flag);
            }
            Outcome::Unknown => {
                self.found.lost = true;
                return Next::Ends;
            }
        }
        match called {
            Called::Library(Library::Releases) => self.released(id, facts),
            // What the new process does to its copies concerns no operation.
            Called::Library(Library::Forks) => {
                facts.state.bound(&Linear::value(Value::Inst(id)), Compare::NotEqual);
                return Next::Stays;
            }
            _ => {}
        }
        let Called::Mpi(mpi) = called else { return Next::Stays };
        let Some(call) = mpi.call else { return Next::Stays };
        if call.effect == Effect::Finalize {
            self.found.violations.insert((Violation::Ends, id), Overlap::Certain);
            return Next::Ends;
        }
        if call.effect == Effect::MemFree {
            self.released(id, facts);
        }
        let stores = matches!(call.effect, Effect::Start | Effect::Init)
            || call.effect == Effect::Rma && call.at.request.is_some();
        let goes = matches!(call.effect, Effect::Go | Effect::GoAll);
        if (stores || goes) && self.is_request(id, call, facts) {
            let violation = if goes { Violation::Starts } else { Violation::Overwrites };
            self.violated(violation, id, Overlap::Certain, facts);
            return Next::Ends;
        }
        let described = if again { self.operation.described } else { id };
        if again || !matches!(call.effect, Effect::Init | Effect::InitPartitioned) {
            for touch in view.buffers(known, described) {
                self.touched(id, &touch, facts, true);
            }
        }
        if again && !self.first { Next::Ends } else { Next::Stays }
    }

    /// Whether a call stores or starts the request of the operation.
    fn is_request(&self, id: InstId, call: &commsan_mpi_calls::Call, facts: &Facts) -> bool {
        let at = self.walker.view.request_at(&facts.state.known, id, call);
        let places = facts.places.as_ref();
        let own = places.and_then(|places| places.request.as_ref());
        at.is_some() && at.as_ref() == own
    }

    /// Compares an access with the buffers.
    fn touched(&mut self, id: InstId, touch: &Touch, facts: &Facts, by_call: bool) {
        let body = &self.walker.view.flat.body;
        let Some(at) = Linear::of(body, &facts.state.known, touch.address) else { return };
        let Some(places) = &facts.places else { return };
        let mut met = false;
        for (number, buffer) in self.operation.buffers.iter().enumerate() {
            if !touch.writes && !buffer.writes {
                continue;
            }
            // Those come last.
            if buffer.partial
                && (met || by_call || !self.walker.comes_to_all(self.operation.start, id))
            {
                continue;
            }
            let overlap = match &places.buffers[number] {
                Some(begin) => overlap(begin, buffer, &at, touch),
                None => None,
            };
            let perhaps = || self.perhaps(number, touch, facts).then_some(Overlap::Perhaps);
            if let Some(overlap) = overlap.or_else(perhaps) {
                let violation = match (by_call, touch.writes) {
                    (true, writes) => Violation::Call(number, writes),
                    (false, true) => Violation::Writes(number),
                    (false, false) => Violation::Reads(number),
                };
                self.violated(violation, id, overlap, facts);
                met = true;
            }
        }
    }

    /// Those that every rank uses.
    fn own_buffers(&self) -> impl Iterator<Item = usize> + use<> {
        let buffers = self.operation.buffers.iter();
        0..buffers.filter(|buffer| !buffer.partial).count()
    }

    fn released(&mut self, id: InstId, facts: &Facts) {
        let body = &self.walker.view.flat.body;
        let Some(argument) = body[id].args.first() else { return };
        let Some(at) = Linear::of(body, &facts.state.known, *argument) else { return };
        let Some(places) = &facts.places else { return };
        if at.base().is_none() {
            return;
        }
        for number in self.own_buffers() {
            let begin = &places.buffers[number];
            if begin.as_ref().and_then(|begin| begin.behind(&at)).is_some_and(|n| n >= 0) {
                self.violated(Violation::Releases(number), id, Overlap::Certain, facts);
            }
        }
    }

    /// The end of a function whose variables the operation uses, or of the whole.
    fn returns(&mut self, id: InstId, facts: &Facts) -> Next {
        let view = self.walker.view;
        let body = &view.flat.body;
        let root = body[id].op == Op::Return;
        let frame = if root { Some(0) } else { view.flat.ends.get(&id).copied() };
        let (Some(frame), Some(places)) = (frame, &facts.places) else { return Next::Stays };
        for number in self.own_buffers() {
            let variable = places.buffers[number].as_ref().and_then(|sum| sum.variable(body));
            let Some(Value::Inst(alloca)) = variable else { continue };
            let of = view.flat.origin(alloca).map(|(frame, _)| frame);
            let outlives = view.flat.frames[frame].outlives || root && view.is_program();
            if of == Some(frame) && !outlives {
                self.violated(Violation::Returns(number), id, Overlap::Certain, facts);
            }
        }
        if root {
            self.found.violations.insert((Violation::Ends, id), Overlap::Certain);
            return Next::Ends;
        }
        Next::Stays
    }

    fn violated(&mut self, violation: Violation, id: InstId, overlap: Overlap, facts: &Facts) {
        let known = self.found.violations.entry((violation, id)).or_insert(overlap);
        *known = (*known).max(overlap);
        if facts.places.as_ref().is_some_and(|places| places.round) {
            self.found.round.insert(id);
        } else {
            self.found.round.remove(&id);
        }
    }
}

/// How a way goes on after an instruction.
enum Next {
    Stays,
    Completes,
    /// Completes if this is not zero.
    Forks(Option<Value>),
    Ends,
}

/// Whether an access meets a buffer for certain.
fn overlap(begin: &Linear, buffer: &Touch, at: &Linear, touch: &Touch) -> Option<Overlap> {
    begin.base()?;
    let behind = at.behind(begin)?;
    let meets =
        behind < buffer.length.certain() as i64 && behind + touch.length.certain() as i64 > 0;
    let some = touch.length.certain() > 0;
    (meets && some).then_some(Overlap::Certain)
}
