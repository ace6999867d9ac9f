//! What small functions do with the pointers that they are given, as terms of their parameters, so that each of their
//! calls does it with its own arguments alone: a function of `std::string` that is called for thousands of strings
//! does not mix what these have (summaries bottom-up, after Nystrom, Kim and Hwu, SAS 2004).
//!
//! ```text
//! void keep(Box *box, int *p) { box->p = p; }      [param 0 + 0] = param 1
//! int *get(Box *box) { return box->p; }            returns [param 0 + 0]
//! ```
//!
//! Only what is stored where parameters lead differs from call to call; the rest of a function is followed once, for
//! all of its calls together, and so are the sets that its own values are given: those hold what they hold in any call.
//! Local variables whose address stays with the function are terms, too; the others are one object for all calls.
//!
//! Functions that are large, call themselves, or whose address is taken have no summary.

use super::code::{Code, HANDLE};
use super::rules::Rules;
use super::solve::Step;
use super::{Object, Pointer};
use crate::Calls;
use commsan_ir::{Body, Callee, FunctionId, InstId, Op, Program, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// Instructions of a function that has a summary, at most.
const LARGEST: usize = 400;
/// Terms of a summary, at most.
const TERMS: usize = 64;
/// Terms that a function may have before what does not matter is left out.
const TERMS_BEFORE: usize = 4_096;
/// How often a function is gone through, at most: each time, fewer local variables are terms.
const ROUNDS: usize = 8;
/// Bytes of a local variable that is copied as a whole and still is a term, at most.
const COPIED: i64 = 64;

/// A term, in the order of their making.
type Id = u32;

/// What a set is computed from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Term {
    /// What is passed.
    Param(u32),
    /// The same in all calls.
    Pointer(Pointer),
    Outside,
    Returned(FunctionId),
    ReturnedBy(FunctionId, InstId),
    Shifted(Id, Step),
    Loaded(Id),
    /// Of several others, see [`Summary::sources`].
    Joined(u32),
    /// Goes to somebody who is not followed.
    Elsewhere,
}

/// What a function does.
#[derive(Debug, Default)]
pub struct Summary {
    terms: Vec<Term>,
    /// By joined term: of which.
    sources: Vec<Vec<Id>>,
    /// Address, value.
    stores: Vec<(Id, Id)>,
    /// To, from, bytes.
    copies: Vec<(Id, Id, Option<i64>)>,
    /// What others get to know.
    handed_over: Vec<Id>,
    returned: Option<Id>,
}

impl Summary {
    /// Whether what is returned is computed from one thing.
    pub fn is_plain(&self) -> bool {
        self.returned_from().is_none_or(|term| !matches!(term, Term::Joined(_)))
    }

    /// The parameter that what is returned is computed from, if it is plain.
    pub fn returned_param(&self) -> Option<usize> {
        match self.returned_from()? {
            Term::Param(number) => Some(number as usize),
            _ => None,
        }
    }

    fn returned_from(&self) -> Option<Term> {
        let mut term = self.terms[self.returned? as usize];
        while let Term::Shifted(from, _) | Term::Loaded(from) = term {
            term = self.terms[from as usize];
        }
        Some(term)
    }
}

/// A function with a summary that is called with these arguments.
pub struct Application<'a, S> {
    summary: &'a Summary,
    arguments: &'a [Option<S>],
    /// By term.
    sets: Vec<Option<S>>,
}

impl<'a, S: Copy> Application<'a, S> {
    pub fn new(summary: &'a Summary, arguments: &'a [Option<S>]) -> Application<'a, S> {
        Application { summary, arguments, sets: vec![None; summary.terms.len()] }
    }

    /// Tells what is stored and handed over.
    pub fn effects(&mut self, rules: &mut impl Rules<Set = S>) {
        let summary = self.summary;
        for (address, value) in &summary.stores {
            let address = self.set(*address, rules);
            if rules.takes_stores(address) {
                let value = self.set(*value, rules);
                rules.store(address, value);
            }
        }
        for (to, from, length) in &summary.copies {
            let to = self.set(*to, rules);
            if rules.takes_stores(to) {
                let from = self.set(*from, rules);
                rules.copy_memory(to, from, *length);
            }
        }
        for value in &summary.handed_over {
            let value = self.set(*value, rules);
            rules.hand_over(value);
        }
    }

    /// The set of what is returned, if anything is.
    pub fn returned(&mut self, rules: &mut impl Rules<Set = S>) -> Option<S> {
        self.summary.returned.map(|term| self.set(term, rules))
    }

    fn set(&mut self, id: Id, rules: &mut impl Rules<Set = S>) -> S {
        if let Some(set) = self.sets[id as usize] {
            return set;
        }
        let set = match self.summary.terms[id as usize] {
            Term::Param(number) => {
                let argument = self.arguments.get(number as usize).copied().flatten();
                argument.unwrap_or_else(|| rules.node())
            }
            Term::Pointer(pointer) => rules.pointing(pointer),
            Term::Outside => rules.outside(),
            Term::Returned(function) => rules.returned(function),
            Term::ReturnedBy(function, call) => rules.returned_by(function, call),
            Term::Shifted(from, by) => {
                let from = self.set(from, rules);
                rules.shifted(from, by)
            }
            Term::Loaded(address) => {
                let address = self.set(address, rules);
                rules.loaded(address)
            }
            Term::Joined(number) => return self.joined(id, number, rules),
            Term::Elsewhere => rules.node(),
        };
        self.sets[id as usize] = Some(set);
        set
    }

    fn joined(&mut self, id: Id, number: u32, rules: &mut impl Rules<Set = S>) -> S {
        let joined = rules.node();
        // Those that walk in a loop are among their own sources.
        self.sets[id as usize] = Some(joined);
        let summary = self.summary;
        for source in &summary.sources[number as usize] {
            match summary.terms[*source as usize] {
                Term::Shifted(from, by) => {
                    let from = self.set(from, rules);
                    rules.shift(from, joined, by);
                }
                Term::Loaded(address) => {
                    let address = self.set(address, rules);
                    rules.load(address, joined);
                }
                _ => {
                    let source = self.set(*source, rules);
                    rules.copy(source, joined);
                }
            }
        }
        joined
    }
}

/// The summaries of a program.
#[derive(Default)]
pub struct Summaries {
    of: FxHashMap<FunctionId, Summary>,
}

impl Summaries {
    /// Of a program's functions, given which of them it calls by name.
    pub fn of_program(program: &Program, calls: &Calls, called: &[bool]) -> Summaries {
        let mut summaries = Summaries::default();
        for function in callees_first(program) {
            if !called[function.0 as usize] {
                continue;
            }
            if let Some(summary) = summary(program, calls, &summaries, function) {
                summaries.of.insert(function, summary);
            }
        }
        summaries
    }

    /// That of a function, if it has one.
    pub fn of(&self, function: FunctionId) -> Option<&Summary> {
        self.of.get(&function)
    }
}

/// Functions that may have a summary, callees before callers.
fn callees_first(program: &Program) -> Vec<FunctionId> {
    #[derive(Clone, Copy, PartialEq)]
    enum Visit {
        Not,
        Begun,
        Ended,
    }
    let callees = |id: FunctionId| -> Vec<FunctionId> {
        let code = program[id].body.iter().flat_map(|body| &body.code);
        let called = code.filter_map(|inst| match inst.op {
            Op::Call(Callee::Direct(callee)) if program[callee].body.is_some() => Some(callee),
            _ => None,
        });
        called.collect()
    };
    let may = |id: FunctionId| {
        let function = &program[id];
        let body = function.body.as_ref();
        !function.address_taken && body.is_some_and(|body| body.code.len() <= LARGEST)
    };
    let mut visits = vec![Visit::Not; program.functions.len()];
    let mut recursive = FxHashSet::default();
    let mut order = Vec::new();
    for (begin, ..) in program.defined() {
        if visits[begin.0 as usize] != Visit::Not {
            continue;
        }
        visits[begin.0 as usize] = Visit::Begun;
        let mut open = vec![(begin, callees(begin))];
        while let Some((id, left)) = open.last_mut() {
            let Some(next) = left.pop() else {
                visits[id.0 as usize] = Visit::Ended;
                order.push(*id);
                open.pop();
                continue;
            };
            match visits[next.0 as usize] {
                Visit::Not => {
                    visits[next.0 as usize] = Visit::Begun;
                    open.push((next, callees(next)));
                }
                Visit::Begun => {
                    recursive.insert(next);
                }
                Visit::Ended => {}
            }
        }
    }
    order.retain(|id| may(*id) && !recursive.contains(id));
    order
}

fn summary(
    program: &Program,
    calls: &Calls,
    summaries: &Summaries,
    function: FunctionId,
) -> Option<Summary> {
    let body = program[function].body.as_ref()?;
    let mut exposed = FxHashSet::default();
    for _ in 0..ROUNDS {
        let rules = Terms::new(function, body, exposed);
        let mut code = Code { program, calls, summaries, rules };
        code.function(function);
        while let Some(id) = code.rules.apart.pop() {
            code.join_parts(function, id);
        }
        let terms = code.rules;
        if terms.terms.len() > TERMS_BEFORE {
            return None;
        }
        if !terms.has_new {
            return Shrinking::of(&terms).summary();
        }
        exposed = terms.exposed;
    }
    None
}

/// The terms of one function.
struct Terms<'a> {
    function: FunctionId,
    body: &'a Body,
    /// Local variables whose address others get.
    exposed: FxHashSet<InstId>,
    /// Whether there are more of them than there were at first.
    has_new: bool,
    terms: Vec<Term>,
    known: FxHashMap<Term, Id>,
    sources: Vec<Vec<Id>>,
    /// What local variables hold.
    cells: FxHashMap<(InstId, i64), Id>,
    values: FxHashMap<Value, Id>,
    stores: Vec<(Id, Id)>,
    copies: Vec<(Id, Id, Option<i64>)>,
    handed_over: Vec<Id>,
    returned: Option<Id>,
    apart: Vec<InstId>,
}

impl Terms<'_> {
    fn new(function: FunctionId, body: &Body, exposed: FxHashSet<InstId>) -> Terms<'_> {
        let (has_new, terms, known, sources, cells, values) = Default::default();
        let (stores, copies, handed_over, returned, apart) = Default::default();
        Terms {
            function,
            body,
            exposed,
            has_new,
            terms,
            known,
            sources,
            cells,
            values,
            stores,
            copies,
            handed_over,
            returned,
            apart,
        }
    }

    fn term(&mut self, term: Term) -> Id {
        *self.known.entry(term).or_insert_with(|| {
            self.terms.push(term);
            self.terms.len() as Id - 1
        })
    }

    /// The place in a local variable that a term is the address of, if that is known to nobody else.
    fn cell(&self, id: Id) -> Option<(InstId, i64)> {
        let Term::Pointer(Pointer { object: Object::Local(function, variable), at: Some(at) }) =
            self.terms[id as usize]
        else {
            return None;
        };
        let is_own = function == self.function
            && matches!(self.body[variable].op, Op::Alloca(Some(_)))
            && !self.exposed.contains(&variable);
        is_own.then_some((variable, at))
    }

    /// An address goes where it is not followed.
    fn expose(&mut self, id: Id) {
        if let Some((variable, _)) = self.cell(id) {
            self.has_new |= self.exposed.insert(variable);
        }
    }

    fn content(&mut self, cell: (InstId, i64)) -> Id {
        if let Some(content) = self.cells.get(&cell) {
            return *content;
        }
        let content = self.node();
        self.cells.insert(cell, content);
        content
    }

    /// Whether an address is the same in all calls: what is stored there is told once for all of them.
    fn is_fixed(&self, address: Id) -> bool {
        matches!(self.terms[address as usize], Term::Pointer(_) | Term::Outside)
    }
}

impl Rules for Terms<'_> {
    type Set = Id;

    fn node(&mut self) -> Id {
        self.sources.push(Vec::new());
        self.terms.push(Term::Joined(self.sources.len() as u32 - 1));
        self.terms.len() as Id - 1
    }

    fn pointing(&mut self, pointer: Pointer) -> Id {
        self.term(Term::Pointer(pointer))
    }

    fn outside(&mut self) -> Id {
        self.term(Term::Outside)
    }

    fn shift(&mut self, from: Id, to: Id, by: Step) {
        let from = self.shifted(from, by);
        self.expose(from);
        match self.terms[to as usize] {
            Term::Joined(number) => {
                let sources = &mut self.sources[number as usize];
                if from != to && !sources.contains(&from) {
                    sources.push(from);
                }
            }
            _ if from == to => {}
            _ => self.handed_over.push(from),
        }
    }

    fn shifted(&mut self, from: Id, by: Step) -> Id {
        if by.is_none() {
            self.expose(from);
        }
        match (self.terms[from as usize], by) {
            (_, Some(0)) | (Term::Outside | Term::Elsewhere, _) => from,
            (Term::Pointer(pointer), by) => {
                let at = match pointer.object {
                    Object::Function(_) | Object::Handle(_) => pointer.at,
                    _ => pointer.at.zip(by).map(|(at, by)| at.wrapping_add(by)),
                };
                self.pointing(Pointer { at, ..pointer })
            }
            (_, by) => self.term(Term::Shifted(from, by)),
        }
    }

    fn load(&mut self, address: Id, to: Id) {
        let content = self.loaded(address);
        self.copy(content, to);
    }

    fn loaded(&mut self, address: Id) -> Id {
        match self.cell(address) {
            Some(cell) => self.content(cell),
            None => self.term(Term::Loaded(address)),
        }
    }

    fn takes_stores(&self, _address: Id) -> bool {
        true
    }

    fn store(&mut self, address: Id, value: Id) {
        self.expose(value);
        if let Some(cell) = self.cell(address) {
            let content = self.content(cell);
            self.copy(value, content);
        } else if self.is_fixed(address) {
            self.handed_over.push(value);
        } else {
            self.stores.push((address, value));
        }
    }

    fn copy_memory(&mut self, to: Id, from: Id, length: Option<i64>) {
        let is_cell = self.cell(to).is_some() || self.cell(from).is_some();
        if let Some(length @ 0..=COPIED) = length
            && is_cell
        {
            for at in (0..length).step_by(HANDLE) {
                let (source, target) = (self.shifted(from, Some(at)), self.shifted(to, Some(at)));
                let content = self.loaded(source);
                self.store(target, content);
            }
            return;
        }
        self.expose(to);
        self.expose(from);
        if !self.is_fixed(to) {
            self.copies.push((to, from, length));
        }
    }

    fn hand_over(&mut self, value: Id) {
        self.expose(value);
        self.handed_over.push(value);
    }

    fn known(&self, function: FunctionId, value: Value) -> Option<Id> {
        match self.values.get(&value) {
            Some(id) if function == self.function => Some(*id),
            _ => None,
        }
    }

    fn set(&mut self, function: FunctionId, value: Value, set: Id) {
        if function == self.function {
            self.values.insert(value, set);
        }
    }

    fn returned(&mut self, function: FunctionId) -> Id {
        if function == self.function {
            let returned = self.returned.unwrap_or_else(|| self.node());
            self.returned = Some(returned);
            return returned;
        }
        self.term(Term::Returned(function))
    }

    fn returned_by(&mut self, function: FunctionId, call: InstId) -> Id {
        self.term(Term::ReturnedBy(function, call))
    }

    fn param(&mut self, function: FunctionId, number: u32) -> Id {
        self.term(if function == self.function { Term::Param(number) } else { Term::Elsewhere })
    }

    fn passed(&mut self, _callee: FunctionId, _arguments: &[Option<Id>]) {}

    fn put_apart(&mut self, _function: FunctionId, id: InstId) {
        self.apart.push(id);
    }

    fn calls(&mut self, _function: FunctionId, _call: InstId, _callee: Id) {}

    fn starts(&mut self, _function: FunctionId) {}
}

/// Leaves out what does not matter.
struct Shrinking<'a> {
    terms: &'a Terms<'a>,
    /// By term: whether there can be anything in its set.
    filled: Vec<bool>,
    summary: Summary,
    /// By term: its number in the summary.
    kept: FxHashMap<Id, Id>,
}

impl<'a> Shrinking<'a> {
    fn of(terms: &'a Terms<'a>) -> Shrinking<'a> {
        let (summary, kept) = Default::default();
        Shrinking { terms, filled: filled(terms), summary, kept }
    }

    /// None if it is too large.
    fn summary(mut self) -> Option<Summary> {
        let terms = self.terms;
        let is_filled = |id: &Id| self.filled[*id as usize];
        let stores: FxHashSet<_> = terms.stores.iter().copied().collect();
        let mut stores: Vec<_> = stores.into_iter().collect();
        stores.retain(|(address, value)| is_filled(address) && is_filled(value));
        let mut copies = terms.copies.clone();
        copies.retain(|(to, from, _)| is_filled(to) && is_filled(from));
        let mut handed_over: Vec<_> = terms.handed_over.clone();
        handed_over.retain(|id| is_filled(id) && self.leads_from_params(*id));
        handed_over.sort_unstable();
        handed_over.dedup();
        stores.sort_unstable();
        for (address, value) in stores {
            let store = (self.keep(address)?, self.keep(value)?);
            self.summary.stores.push(store);
        }
        for (to, from, length) in copies {
            let copy = (self.keep(to)?, self.keep(from)?, length);
            self.summary.copies.push(copy);
        }
        for value in handed_over {
            let value = self.keep(value)?;
            self.summary.handed_over.push(value);
        }
        if let Some(returned) = terms.returned.filter(|id| self.filled[*id as usize]) {
            self.summary.returned = Some(self.keep(returned)?);
        }
        Some(self.summary)
    }

    /// Whether a set may have what a parameter has, or places in it.
    fn leads_from_params(&self, id: Id) -> bool {
        let (mut open, mut seen) = (vec![id], FxHashSet::default());
        while let Some(id) = open.pop() {
            if !seen.insert(id) {
                continue;
            }
            match self.terms.terms[id as usize] {
                Term::Param(_) => return true,
                Term::Shifted(from, _) => open.push(from),
                Term::Joined(number) => open.extend(&self.terms.sources[number as usize]),
                _ => {}
            }
        }
        false
    }

    /// The same set, without joining what is just one.
    fn plain(&self, id: Id) -> Id {
        let (mut id, mut seen) = (id, FxHashSet::default());
        while let Term::Joined(number) = self.terms.terms[id as usize] {
            let mut sources = self.sources(number);
            let (Some(only), None) = (sources.next(), sources.next()) else { break };
            if !seen.insert(id) {
                break;
            }
            id = only;
        }
        id
    }

    fn sources(&self, number: u32) -> impl Iterator<Item = Id> {
        let sources = self.terms.sources[number as usize].iter().copied();
        sources.filter(|source| self.filled[*source as usize])
    }

    fn keep(&mut self, id: Id) -> Option<Id> {
        let id = self.plain(id);
        if let Some(kept) = self.kept.get(&id) {
            return Some(*kept);
        }
        if self.summary.terms.len() == TERMS {
            return None;
        }
        let kept = self.summary.terms.len() as Id;
        self.kept.insert(id, kept);
        let term = self.terms.terms[id as usize];
        self.summary.terms.push(term);
        self.summary.terms[kept as usize] = match term {
            Term::Shifted(from, by) => Term::Shifted(self.keep(from)?, by),
            Term::Loaded(address) => Term::Loaded(self.keep(address)?),
            Term::Joined(number) => {
                let joined = self.summary.sources.len();
                self.summary.sources.push(Vec::new());
                let sources: Vec<_> = self.sources(number).collect();
                for source in sources {
                    let source = self.keep(source)?;
                    self.summary.sources[joined].push(source);
                }
                Term::Joined(joined as u32)
            }
            term => term,
        };
        Some(kept)
    }
}

/// By term: whether there can be anything in its set.
fn filled(terms: &Terms) -> Vec<bool> {
    let mut filled = vec![false; terms.terms.len()];
    loop {
        let mut changed = false;
        for at in 0..filled.len() {
            let is_filled = match terms.terms[at] {
                Term::Shifted(from, _) | Term::Loaded(from) => filled[from as usize],
                Term::Joined(number) => {
                    terms.sources[number as usize].iter().any(|source| filled[*source as usize])
                }
                Term::Elsewhere => false,
                _ => true,
            };
            changed |= is_filled != filled[at];
            filled[at] = is_filled;
        }
        if !changed {
            return filled;
        }
    }
}
