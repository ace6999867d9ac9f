//! Calling contexts of the rank-divergence analysis.
//!
//! What functions are called with: labels, and what their parameters point to. Each combination is
//! a context, looked at by itself.

use super::Analysis;
use crate::collectives::comm::Labels;
use crate::collectives::mod_ref::Targets;
use crate::collectives::stored::{Stored, Version};
use commsan_ir::{Body, FunctionId, InstId, Op, Value};
use commsan_points_to::Pointer;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Maximum number of combinations of argument labels per function.
const MAX_LABEL_CONTEXTS: usize = 8;
/// Maximum number of contexts per function that differ in what parameters point to.
const MAX_POINTEE_CONTEXTS: usize = 24;
/// Maximum depth of nested calls that are analysed before their callers continue.
const MAX_CALL_DEPTH: usize = 100;

/// What a parameter points to, where that is less than it points to in any call.
pub(super) type Pointed = Option<Rc<[Pointer]>>;

/// How a function is called.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Call {
    /// Of the conditions that decide whether it is called.
    pub control: Labels,
    pub params: Vec<Labels>,
    pub pointed: Vec<Pointed>,
    /// What pointers point to in structures that parameters point to.
    pub handed: Vec<Handed>,
}

/// A pointer in a structure that is handed to a function: the parameter, bytes, and what it points
/// to.
pub(super) type Handed = (u32, i64, Rc<[Pointer]>);

/// A function with what it is called with.
#[derive(Default)]
pub(super) struct Context {
    pub function: Option<FunctionId>,
    pub call: Call,
    pub entry: Stored,
    /// The last that was added to it.
    pub entered: Version,
    pub exit: Stored,
    /// Objects whose labels it changes.
    pub touched: FxHashSet<u32>,
    pub result: Labels,
    /// Its calls on communicators that some ranks do not have.
    pub absent: FxHashSet<(InstId, usize)>,
    pub callers: BTreeSet<usize>,
    pub rounds: usize,
    /// Whether it is being looked at.
    pub busy: bool,
    /// Whether it has gone by results of others that were not final.
    pub preliminary: bool,
    /// Where its values point to, of those that follow from what its parameters point to.
    targets: FxHashMap<Value, Rc<Targets>>,
}

impl Analysis<'_, '_> {
    /// The context of such a call; a new one is looked at soon.
    pub(super) fn context(&mut self, function: FunctionId, mut call: Call) -> usize {
        let ours = self.of_function.entry(function).or_default();
        if ours.len() >= MAX_POINTEE_CONTEXTS {
            call.pointed.fill(None);
            call.handed.clear();
        }
        let key = (function, call);
        if let Some(number) = self.known.get(&key) {
            return *number;
        }
        if ours.len() >= MAX_POINTEE_CONTEXTS + MAX_LABEL_CONTEXTS {
            // The last one stands for all others.
            let number = ours[MAX_POINTEE_CONTEXTS + MAX_LABEL_CONTEXTS - 1];
            let context = &mut self.contexts[number].call;
            let mut changed = key.1.control & !context.control != 0;
            context.control |= key.1.control;
            for (known, new) in context.params.iter_mut().zip(&key.1.params) {
                changed |= new & !*known != 0;
                *known |= new;
            }
            self.known.insert(key, number);
            if changed {
                self.queue(number);
            }
            return number;
        }
        let number = self.contexts.len();
        ours.push(number);
        let call = key.1.clone();
        self.contexts.push(Context { function: Some(function), call, ..Context::default() });
        self.known.insert(key, number);
        self.queue(number);
        number
    }

    /// What the parameters of a function point to, where it is passed these values of a context's.
    pub(super) fn pointed(
        &mut self,
        (number, body): (usize, &Body),
        args: &[Value],
        callee: FunctionId,
    ) -> Vec<Pointed> {
        let params = self.comms.program[callee].params;
        let args = args.iter().copied().zip(0..params);
        let mut pointed: Vec<_> = args
            .map(|(arg, param)| {
                let here = self.targets((number, body), arg);
                let few = here.few.as_ref()?;
                let anywhere = self.mod_ref.targets(self.comms, callee, Value::Param(param));
                let less = anywhere.few.as_ref().is_none_or(|all| all.len() > few.len());
                less.then(|| Rc::from(&few[..]))
            })
            .collect();
        pointed.resize(params as usize, None);
        pointed
    }

    /// What pointers point to that a context hands on in structures.
    pub(super) fn handed(&mut self, at: (usize, &Body), args: &[Value]) -> Vec<Handed> {
        let stored = stored(at.1, args).into_iter();
        let few = stored.filter_map(|(param, place, value)| {
            let few = self.targets(at, value).few.as_ref().map(|few| Rc::from(&few[..]));
            Some((param, place, few?))
        });
        few.collect()
    }

    /// Where a value of a context may point to.
    pub(super) fn targets(&mut self, (number, body): (usize, &Body), value: Value) -> Rc<Targets> {
        let context = &self.contexts[number];
        let function = context.function.unwrap_or(FunctionId(u32::MAX));
        if let Some(known) = context.targets.get(&value) {
            return Rc::clone(known);
        }
        let Some((pointed, by)) = behind(body, value)
            .and_then(|(param, by)| Some((context.call.pointed.get(param as usize)?.clone()?, by)))
            .or_else(|| context.handed(body, value))
        else {
            return self.mod_ref.targets(self.comms, function, value);
        };
        let shifted = |to: &Pointer| Pointer { at: to.at.zip(by).map(|(at, by)| at + by), ..*to };
        let mut pointers: Vec<_> = pointed.iter().map(shifted).collect();
        pointers.sort_unstable();
        pointers.dedup();
        let targets = Rc::new(self.mod_ref.at(&pointers));
        self.contexts[number].targets.insert(value, Rc::clone(&targets));
        targets
    }

    pub(super) fn queue(&mut self, number: usize) {
        self.open.insert(self.entry(number));
    }

    /// Where a context is queued.
    fn entry(&self, number: usize) -> (u32, usize) {
        let function = self.contexts[number].function;
        (function.map_or(u32::MAX, |function| self.order.places[function.0 as usize]), number)
    }

    /// Looks at a context right away, so that who calls it goes on with what it does. Others wait
    /// if it is being looked at already, or too deep in calls.
    pub(super) fn settle(&mut self, number: usize) {
        let entry = self.entry(number);
        if !self.open.contains(&entry) {
            return;
        }
        if !self.contexts[number].busy && self.path.len() < MAX_CALL_DEPTH {
            self.open.remove(&entry);
            return self.look(number);
        }
        let from = self.path.iter().position(|other| *other == number).unwrap_or(0);
        for waiting in self.path[from..].iter().chain([&number]) {
            self.contexts[*waiting].preliminary = true;
        }
    }
}

impl Context {
    /// What an address points to that follows from a pointer in a structure that a parameter points
    /// to, and how many bytes it lies behind that, if known.
    fn handed(&self, body: &Body, value: Value) -> Option<(Rc<[Pointer]>, Option<i64>)> {
        if self.call.handed.is_empty() {
            return None;
        }
        let (base, by) = base(body, value);
        let Value::Inst(id) = base else { return None };
        let (param, at) = match body[id].op {
            Op::Load(_) => behind(body, body[id].args[0])?,
            _ => return None,
        };
        let known = |(of, place, _): &&Handed| *of == param && Some(*place) == at;
        let (.., pointed) = self.call.handed.iter().find(known)?;
        Some((Rc::clone(pointed), by))
    }
}

/// The parameter that an address follows from, and how many bytes it lies behind that, if known.
fn behind(body: &Body, value: Value) -> Option<(u32, Option<i64>)> {
    match base(body, value) {
        (Value::Param(number), by) => Some((number, by)),
        _ => None,
    }
}

/// What an address is computed from, and how many bytes it lies behind that, if known.
fn base(body: &Body, mut value: Value) -> (Value, Option<i64>) {
    let mut by = Some(0i64);
    while let Value::Inst(id) = value {
        match &body[id].op {
            Op::Offset(bytes, scales) => {
                by = by.and_then(|by| by.checked_add(*bytes)).filter(|_| scales.is_empty());
                value = body[id].args[0];
            }
            Op::Cast => value = body[id].args[0],
            _ => break,
        }
    }
    (value, by)
}

/// What is stored in local structures whose addresses are arguments, each place once: argument,
/// bytes, value. So flang hands variables to regions of OpenMP.
fn stored(body: &Body, args: &[Value]) -> Vec<(u32, i64, Value)> {
    let mut found: Vec<(u32, i64, Option<Value>)> = Vec::new();
    for (number, arg) in (0..).zip(args) {
        let Value::Inst(of) = arg else { continue };
        if !matches!(body[*of].op, Op::Alloca(_)) {
            continue;
        }
        for inst in body.code.iter().filter(|inst| matches!(inst.op, Op::Store(_))) {
            let (Value::Inst(into), Some(at)) = base(body, inst.args[1]) else { continue };
            if into != *of {
                continue;
            }
            match found.iter_mut().find(|(of, place, _)| (*of, *place) == (number, at)) {
                Some((.., value)) => *value = None,
                None => found.push((number, at, Some(inst.args[0]))),
            }
        }
    }
    found.into_iter().filter_map(|(number, at, value)| Some((number, at, value?))).collect()
}
