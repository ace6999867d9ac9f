//! Constraint generation for one function, as terms of its parameters.

use super::{Id, Term};
use crate::code::MIN_HANDLE_BYTES;
use crate::rules::Rules;
use crate::solve::Step;
use crate::{Object, Pointer};
use commsan_ir::{Body, FunctionId, InstId, Op, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// Maximum size in bytes of a local variable that is copied as a whole and still is a term.
const MAX_COPIED_BYTES: i64 = 64;

/// The terms of one function.
pub struct Terms<'a> {
    function: FunctionId,
    body: &'a Body,
    /// Local variables whose address others get.
    pub exposed: FxHashSet<InstId>,
    /// Whether there are more of them than there were at first.
    pub has_new: bool,
    pub terms: Vec<Term>,
    known: FxHashMap<Term, Id>,
    pub sources: Vec<Vec<Id>>,
    /// What local variables hold.
    cells: FxHashMap<(InstId, i64), Id>,
    values: FxHashMap<Value, Id>,
    pub stores: Vec<(Id, Id)>,
    pub copies: Vec<(Id, Id, Option<i64>)>,
    pub handed_over: Vec<Id>,
    pub returned: Option<Id>,
    pub apart: Vec<InstId>,
}

impl Terms<'_> {
    pub fn new(function: FunctionId, body: &Body, exposed: FxHashSet<InstId>) -> Terms<'_> {
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

    /// The place in a local variable that a term is the address of, if that is known to nobody
    /// else.
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

    /// Whether an address is the same in all calls: stores there are recorded once for all of them.
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
        if let Some(length @ 0..=MAX_COPIED_BYTES) = length
            && is_cell
        {
            for at in (0..length).step_by(MIN_HANDLE_BYTES) {
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
