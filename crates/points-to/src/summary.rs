//! Bottom-up function summaries of the points-to analysis, for context sensitivity.
//!
//! What small functions do with the pointers that they are given, as terms of their parameters, so
//! that each of their calls does it with its own arguments alone: a function of `std::string` that
//! is called for thousands of strings does not mix what these have (summaries bottom-up, after
//! Nystrom, Kim and Hwu, SAS 2004).
//!
//! ```text
//! void keep(Box *box, int *p) { box->p = p; }      [param 0 + 0] = param 1
//! int *get(Box *box) { return box->p; }            returns [param 0 + 0]
//! ```
//!
//! Only what is stored where parameters lead differs from call to call; the rest of a function is
//! followed once, for all of its calls together, and so are the sets that its own values are given:
//! those hold what they hold in any call. Local variables whose address stays with the function are
//! terms, too; the others are one object for all calls.
//!
//! Functions that are large, call themselves, or whose address is taken have no summary.

mod shrink;
mod terms;

use super::Pointer;
use super::code::Code;
use super::rules::Rules;
use super::solve::Step;
use crate::Calls;
use commsan_ir::{Callee, FunctionId, InstId, Op, Program};
use rustc_hash::{FxHashMap, FxHashSet};
use shrink::Shrinking;
use terms::Terms;

/// Maximum number of instructions of a function that gets a summary.
const MAX_INSTRUCTIONS: usize = 400;
/// Maximum number of terms of a function before irrelevant ones are removed.
const MAX_TERMS_BEFORE_SHRINKING: usize = 4_096;
/// Maximum number of passes over a function; each has fewer local variables as terms.
const MAX_ROUNDS: usize = 8;

/// A term, in the order of their making.
type Id = u32;

/// What a set is computed from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Term {
    /// What is passed.
    Param(u32),
    /// A place that does not depend on the call.
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
        !function.address_taken && body.is_some_and(|body| body.code.len() <= MAX_INSTRUCTIONS)
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
    for _ in 0..MAX_ROUNDS {
        let rules = Terms::new(function, body, exposed);
        let mut code = Code { program, calls, summaries, rules };
        code.function(function);
        while let Some(id) = code.rules.apart.pop() {
            code.join_parts(function, id);
        }
        let terms = code.rules;
        if terms.terms.len() > MAX_TERMS_BEFORE_SHRINKING {
            return None;
        }
        if !terms.has_new {
            return Shrinking::of(&terms).summary();
        }
        exposed = terms.exposed;
    }
    None
}
