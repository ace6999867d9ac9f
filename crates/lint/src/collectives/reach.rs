//! A flow-insensitive pre-analysis of rank divergence.
//!
//! Where anything can differ between ranks at all: a quick look without regard to order, places in
//! objects, or who calls. Most functions of most programs drop out here.

use super::comm::Comms;
use super::mod_ref::{arrays, digested};
use super::sources::{DIFFERS, is_source};
use crate::Calls;
use crate::callgraph::{self, CallGraph, started};
use crate::library::Library;
use commsan_ir::{Body, FunctionId, Op, Program, Value};
use commsan_points_to::pool::SetId;
use commsan_points_to::{Object, Pointer, PointsTo};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// What the quick look has found.
pub struct Found {
    /// Functions in which something may differ, or which call such functions, or MPI.
    pub functions: FxHashSet<FunctionId>,
    /// Places that are written by themselves, not only as some element of an array: variables, and
    /// fields of structures and common blocks.
    pub fields: FxHashSet<Pointer>,
    /// Objects in which something may differ, in order.
    pub objects: BTreeSet<Object>,
}

/// Looks at the whole program.
pub fn look(comms: &Comms) -> Found {
    let (program, calls, points_to) = (comms.program, comms.calls, comms.points_to);
    let mut reach = Reach {
        program,
        calls,
        points_to,
        values: program
            .functions
            .iter()
            .map(|f| vec![false; f.body.as_ref().map_or(0, |body| body.code.len())])
            .collect(),
        params: program.functions.iter().map(|f| vec![false; f.params as usize]).collect(),
        controlled: vec![false; program.functions.len()],
        results: vec![false; program.functions.len()],
        objects: FxHashSet::default(),
        asked: FxHashMap::default(),
        stored: FxHashSet::default(),
        changed: true,
    };
    while std::mem::replace(&mut reach.changed, false) {
        for (id, _, body) in program.defined() {
            reach.look(id, body);
        }
    }
    Found {
        functions: reach.found(&comms.graph),
        fields: fields(program, calls, points_to),
        objects: reach.objects.into_iter().collect(),
    }
}

fn fields(program: &Program, calls: &Calls, points_to: &PointsTo) -> FxHashSet<Pointer> {
    let mut fields = FxHashSet::default();
    for (id, _, body) in program.defined() {
        for inst in &body.code {
            let addresses = match inst.op {
                Op::Store(_) => &inst.args[1..2],
                Op::Call(_) if calls.at(inst).is_some() => &inst.args[..],
                _ => continue,
            };
            for address in addresses {
                if let [one @ Pointer { at: Some(_), .. }] = &*points_to.targets(id, *address) {
                    fields.insert(*one);
                }
            }
        }
    }
    fields
}

struct Reach<'p> {
    program: &'p Program,
    calls: &'p Calls,
    points_to: &'p PointsTo,
    values: Vec<Vec<bool>>,
    params: Vec<Vec<bool>>,
    /// Functions that are called, or do something, only if a condition that differs says so.
    controlled: Vec<bool>,
    results: Vec<bool>,
    objects: FxHashSet<Object>,
    /// Sets of addresses: how many objects there were when it was last asked whether these lead to
    /// one; none if they do.
    asked: FxHashMap<SetId, Option<usize>>,
    /// Sets of addresses whose objects are all known.
    stored: FxHashSet<SetId>,
    changed: bool,
}

impl Reach<'_> {
    fn look(&mut self, id: FunctionId, body: &Body) {
        let function = id.0 as usize;
        for (index, inst) in body.code.iter().enumerate() {
            let differs = inst.args.iter().any(|arg| self.differs(function, *arg));
            let control = self.controlled[function];
            let result = match &inst.op {
                Op::Nop => continue,
                Op::Load(_) => differs || self.is_in(id, inst.args[0]),
                Op::Store(_) => {
                    self.store(id, inst.args[1], differs || control);
                    false
                }
                Op::Copy => {
                    let from = self.is_in(id, inst.args[1]);
                    self.store(id, inst.args[0], differs || control || from);
                    false
                }
                Op::Fill | Op::Atomic(_) => {
                    self.store(id, inst.args[0], differs || control);
                    differs || self.is_in(id, inst.args[0])
                }
                // Which way was taken.
                Op::Phi(_) => differs || control,
                Op::Branch | Op::Switch(_) => {
                    self.changed |= differs && !control;
                    self.controlled[function] |= differs;
                    false
                }
                Op::Return => {
                    self.changed |= differs && !self.results[function];
                    self.results[function] |= differs;
                    false
                }
                Op::Call(_) => self.call(id, body, inst, differs, control),
                _ => differs,
            };
            if result && !std::mem::replace(&mut self.values[function][index], true) {
                self.changed = true;
            }
        }
    }

    fn call(
        &mut self,
        id: FunctionId,
        body: &Body,
        inst: &commsan_ir::Inst,
        differs: bool,
        control: bool,
    ) -> bool {
        if let Some(mpi) = self.calls.at(inst) {
            if is_source(mpi) {
                inst.args.iter().for_each(|arg| self.store(id, *arg, true));
            }
            return mpi.name == "MPI_Wtime";
        }
        let callees = started(self.program, body, inst)
            .map(|(callee, from)| (vec![callee], from))
            .or_else(|| Some((self.points_to.callees(id, inst)?, 0)));
        let Some((callees, from)) = callees else { return differs };
        let mut result = false;
        for callee in callees {
            let number = callee.0 as usize;
            if self.program[callee].body.is_none() {
                let name = &*self.program[callee].name;
                for arg in Library::of(name).written(&inst.args) {
                    self.store(id, *arg, control);
                }
                let mut arrays = digested(self.program, inst).iter();
                result |= differs
                    || DIFFERS.contains(&name)
                    || arrays.any(|array| self.is_in_array(id, *array));
                continue;
            }
            self.changed |= control && !self.controlled[number];
            self.controlled[number] |= control;
            let shift = if from == 0 { 0 } else { 2 };
            for (place, arg) in inst.args.iter().skip(from).enumerate() {
                let differs = self.differs(id.0 as usize, *arg);
                if let Some(known) = self.params[number].get_mut(place + shift)
                    && differs
                    && !*known
                {
                    *known = true;
                    self.changed = true;
                }
            }
            result |= self.results[number];
        }
        result
    }

    fn differs(&self, function: usize, value: Value) -> bool {
        match value {
            Value::Inst(id) => self.values[function][id.0 as usize],
            Value::Param(number) => {
                self.params[function].get(number as usize).copied().unwrap_or(false)
            }
            _ => false,
        }
    }

    fn is_in(&mut self, function: FunctionId, address: Value) -> bool {
        if self.objects.is_empty() {
            return false;
        }
        let set = self.points_to.set(function, address);
        match set.and_then(|set| self.asked.get(&set)) {
            Some(None) => return true,
            Some(Some(count)) if *count == self.objects.len() => return false,
            _ => {}
        }
        let is_in =
            self.points_to.any_target(function, address, |p| self.objects.contains(&p.object));
        if let Some(set) = set {
            self.asked.insert(set, (!is_in).then_some(self.objects.len()));
        }
        is_in
    }

    fn is_in_array(&self, function: FunctionId, array: Value) -> bool {
        arrays(self.points_to, function, array).iter().any(|object| self.objects.contains(object))
    }

    fn store(&mut self, function: FunctionId, address: Value, differs: bool) {
        if !differs
            || self.points_to.set(function, address).is_some_and(|set| !self.stored.insert(set))
        {
            return;
        }
        for target in self.points_to.targets(function, address) {
            let changes = match target.object {
                Object::Outside | Object::Function(_) | Object::Handle(_) => false,
                Object::Global(global) => !self.program[global].constant,
                Object::Local(..) | Object::Made(..) => true,
            };
            self.changed |= changes && self.objects.insert(target.object);
        }
    }

    /// With those that call them.
    fn found(&self, graph: &CallGraph) -> FxHashSet<FunctionId> {
        let own = |id: FunctionId, body: &Body| {
            let number = id.0 as usize;
            self.values[number].contains(&true)
                || self.params[number].contains(&true)
                || self.controlled[number]
                || body.code.iter().any(|inst| self.calls.at(inst).is_some())
        };
        graph.reaching(callgraph::with(self.program, own))
    }
}
