//! From instructions to the solver's rules.

mod calls;

use super::solve::{Node, Solver};
use super::{Memory, Object, Pointer, Values, is_handle};
use crate::Calls;
use commsan_ir::{Callee, FunctionId, GlobalId, Inst, InstId, Op, Program, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// Turns a program into sets and rules.
pub struct Builder<'p> {
    program: &'p Program,
    calls: &'p Calls,
    solver: Solver,
    values: Values,
    returns: FxHashMap<FunctionId, Node>,
    /// Values whose sets are their own, not those of what they are computed from.
    apart: Vec<(FunctionId, InstId)>,
    /// Copies of memory: to, from.
    copies: Vec<(Node, Node)>,
    /// Calls through pointers: caller, call, the set of the callee.
    indirect: Vec<(FunctionId, InstId, Node)>,
    bound: FxHashSet<(FunctionId, InstId, FunctionId)>,
    /// Functions that libraries call with arguments that are known.
    started: FxHashSet<FunctionId>,
    /// Functions that are known outside.
    called_back: FxHashSet<FunctionId>,
    /// A pointer to everything outside.
    outside: Node,
}

impl<'p> Builder<'p> {
    pub fn new(program: &'p Program, calls: &'p Calls) -> Builder<'p> {
        let mut solver = Solver::default();
        let outside = solver.node();
        let anything = Pointer { object: Object::Outside, at: None };
        solver.add(outside, anything);
        solver.outside();
        let values = Values::of(program);
        let (returns, apart, copies, indirect) = Default::default();
        let (bound, started, called_back) = Default::default();
        Builder {
            program,
            calls,
            solver,
            values,
            returns,
            apart,
            copies,
            indirect,
            bound,
            started,
            called_back,
            outside,
        }
    }

    pub fn build(mut self) -> Memory {
        for (number, global) in self.program.globals.iter().enumerate() {
            self.global(GlobalId(number as u32), global);
        }
        let program = self.program;
        let mut called = vec![false; program.functions.len()];
        for (id, _, body) in program.defined() {
            for block in &body.blocks {
                for inst in &block.code {
                    if let Op::Call(Callee::Direct(callee)) = body[*inst].op {
                        called[callee.0 as usize] = true;
                    }
                    self.instruction(id, *inst, &body[*inst]);
                }
            }
        }
        while let Some((function, id)) = self.apart.pop() {
            self.join_parts(function, id);
        }
        // Without a caller in the program, others may call it.
        for (id, function, _) in program.defined() {
            let is_started = self.started.contains(&id);
            if !function.address_taken && !called[id.0 as usize] && !is_started {
                self.pass_anything(id);
            }
        }
        loop {
            self.solver.run();
            let mut changed = self.bind_indirect();
            changed |= self.call_back();
            for (to, from) in self.copies.clone() {
                changed |= self.solver.copy_objects(to, from);
            }
            if !changed {
                break;
            }
        }
        let functions = program.functions.iter().map(|function| function.params).collect();
        let escaped = self.solver.escaped();
        let (solver, values, sets) = (self.solver, self.values, Default::default());
        Memory { solver, values, escaped, functions, sets }
    }

    fn global(&mut self, id: GlobalId, global: &commsan_ir::Global) {
        for (at, value) in &global.initial {
            if let Some(pointer) = self.constant(*value) {
                let field = Pointer { object: Object::Global(id), at: Some(*at as i64) };
                let field = self.solver.field(field);
                self.solver.add(field, pointer);
            }
        }
        let is_known = global.name.starts_with("ompi_") || global.name == TABLE_OF_THREADS;
        if !global.defined && !is_known {
            let own = self.solver.node();
            self.solver.add(own, Pointer { object: Object::Global(id), at: None });
            let outside = self.outside;
            self.solver.store(outside, own);
        }
    }

    /// The pointer that a constant is.
    fn constant(&self, value: Value) -> Option<Pointer> {
        let object = match value {
            Value::Global(id, at) => {
                return Some(Pointer { object: Object::Global(id), at: Some(at) });
            }
            // Whoever calls these ends the program.
            Value::Function(id) if NOBODY.contains(&&*self.program[id].name) => return None,
            Value::Function(id) => Object::Function(id),
            Value::Int(number) if is_handle(number) => Object::Handle(number),
            _ => return None,
        };
        Some(Pointer { object, at: Some(0) })
    }

    fn pass_anything(&mut self, function: FunctionId) {
        for number in 0..self.program[function].params {
            let param = self.value(function, Value::Param(number));
            let outside = self.outside;
            self.solver.copy(outside, param);
        }
    }

    /// The set of a value.
    fn value(&mut self, function: FunctionId, value: Value) -> Node {
        self.value_at(function, value, DEPTH)
    }

    fn value_at(&mut self, function: FunctionId, value: Value, depth: u32) -> Node {
        if let Some(node) = self.values.get(function, value) {
            return node;
        }
        let node = match value {
            Value::Inst(id) => self.computed(function, id, depth),
            _ => self.solver.node(),
        };
        if let Some(pointer) = self.constant(value) {
            self.solver.add(node, pointer);
        }
        self.values.insert(function, value, node);
        node
    }

    /// The set of what an instruction computes, shared with all that is computed in the same way.
    fn computed(&mut self, function: FunctionId, id: InstId, depth: u32) -> Node {
        let Some(inst) = self.program[function].body.as_ref().map(|body| &body[id]) else {
            return self.solver.node();
        };
        let Some(rule) = self.rule(inst) else { return self.solver.node() };
        if depth == 0 {
            self.apart.push((function, id));
            return self.solver.node();
        }
        match rule {
            Rule::Same(value) => self.value_at(function, value, depth - 1),
            Rule::Returned(callee) => self.returned(callee),
            Rule::Shifted(base, by) => {
                let base = self.value_at(function, base, depth - 1);
                self.solver.shifted(base, by)
            }
            Rule::Loaded(address) => {
                let address = self.value_at(function, address, depth - 1);
                self.solver.loaded(address)
            }
        }
    }

    /// What a set is computed from, if it is just one.
    fn rule(&self, inst: &Inst) -> Option<Rule> {
        let first = inst.args.first().copied();
        match &inst.op {
            Op::Cast => first.map(Rule::Same),
            Op::Phi(from) if from.len() == 1 => first.map(Rule::Same),
            Op::Offset(bytes, scales) => {
                first.map(|base| Rule::Shifted(base, scales.is_empty().then_some(*bytes)))
            }
            Op::Load(size) if *size <= WORD => first.map(Rule::Loaded),
            Op::Call(Callee::Direct(callee)) => {
                self.program[*callee].body.is_some().then_some(Rule::Returned(*callee))
            }
            _ => None,
        }
    }

    /// Joins a set of its own with what it is computed from.
    fn join_parts(&mut self, function: FunctionId, id: InstId) {
        let Some(body) = &self.program[function].body else { return };
        let to = self.value(function, Value::Inst(id));
        match self.rule(&body[id]) {
            Some(Rule::Same(value)) => {
                let from = self.value(function, value);
                self.solver.copy(from, to);
            }
            Some(Rule::Returned(callee)) => {
                let from = self.returned(callee);
                self.solver.copy(from, to);
            }
            Some(Rule::Shifted(base, by)) => {
                let base = self.value(function, base);
                self.solver.shift(base, to, by);
            }
            Some(Rule::Loaded(address)) => {
                let address = self.value(function, address);
                self.solver.load(address, to);
            }
            None => {}
        }
    }

    fn returned(&mut self, function: FunctionId) -> Node {
        *self.returns.entry(function).or_insert_with(|| self.solver.node())
    }

    fn made(&mut self, function: FunctionId, inst: InstId, through: Option<u8>) -> Node {
        let node = self.solver.node();
        let object = Object::Made(function, inst, through);
        self.solver.add(node, Pointer { object, at: Some(0) });
        node
    }

    fn instruction(&mut self, function: FunctionId, id: InstId, inst: &Inst) {
        let arg = |n: usize| inst.args.get(n).copied().unwrap_or(Value::Opaque);
        let result = Value::Inst(id);
        match &inst.op {
            Op::Alloca(_) => {
                let node = self.value(function, result);
                self.solver.add(node, Pointer { object: Object::Local(function, id), at: Some(0) });
            }
            Op::Load(size) => {
                let (address, to) = (self.value(function, arg(0)), self.value(function, result));
                if *size > WORD {
                    self.load_aggregate(address, *size, to);
                }
            }
            Op::Store(size) => {
                let value = self.value(function, arg(0));
                let address = self.value(function, arg(1));
                match *size > WORD {
                    true => self.copy_aggregate(function, *size, arg(0), address),
                    false => self.solver.store(address, value),
                }
            }
            Op::Atomic(_) => {
                let address = self.value(function, arg(0));
                let to = self.value(function, result);
                self.solver.load(address, to);
                for value in &inst.args[1..] {
                    let value = self.value(function, *value);
                    self.solver.store(address, value);
                }
            }
            Op::Copy => {
                let (to, from) = (self.value(function, arg(0)), self.value(function, arg(1)));
                self.copies.push((to, from));
            }
            Op::Call(_) => self.call(function, id, inst),
            Op::Cast | Op::Offset(..) => {
                self.value(function, result);
            }
            Op::Phi(_) => self.join(function, result, &inst.args, Some(0)),
            Op::Select => self.join(function, result, &inst.args[1..], Some(0)),
            Op::Binary(_) | Op::Mix => self.join(function, result, &inst.args, None),
            Op::Return => {
                let to = self.returned(function);
                for value in &inst.args {
                    let value = self.value(function, *value);
                    self.solver.copy(value, to);
                }
            }
            Op::Nop
            | Op::Fill
            | Op::Compare(_)
            | Op::Goto
            | Op::Branch
            | Op::Switch(_)
            | Op::Unreachable => {}
        }
    }

    fn join(&mut self, function: FunctionId, result: Value, from: &[Value], by: Option<i64>) {
        let to = self.value(function, result);
        for value in from {
            let value = self.value(function, *value);
            self.solver.shift(value, to, by);
        }
    }

    /// A whole structure that is loaded holds all pointers in it.
    fn load_aggregate(&mut self, address: Node, size: u32, to: Node) {
        for part in self.parts(address, size) {
            self.solver.load(part, to);
        }
    }

    /// A whole structure that is stored after it was loaded is copied; any other may have its
    /// pointers anywhere in it.
    fn copy_aggregate(&mut self, function: FunctionId, size: u32, value: Value, address: Node) {
        if let (Value::Inst(id), Some(body)) = (value, &self.program[function].body)
            && matches!(body[id].op, Op::Load(_))
        {
            let from = self.value(function, body[id].args[0]);
            self.copies.push((address, from));
            return;
        }
        let value = self.value(function, value);
        for part in self.parts(address, size) {
            self.solver.store(part, value);
        }
    }

    /// Where in a structure pointers, or handles, may be: of a large one, anywhere in its object.
    fn parts(&mut self, address: Node, size: u32) -> Vec<Node> {
        if size > LARGEST {
            return vec![self.solver.shifted(address, None)];
        }
        let places = (0..size).step_by(HANDLE);
        places.map(|at| self.solver.shifted(address, Some(i64::from(at)))).collect()
    }

    fn call(&mut self, function: FunctionId, id: InstId, inst: &Inst) {
        match inst.op {
            Op::Call(Callee::Direct(callee)) => self.bind(function, id, inst, callee),
            Op::Call(Callee::Indirect) => {
                let callee = self.value(function, inst.args[inst.args.len() - 1]);
                self.indirect.push((function, id, callee));
            }
            _ => {
                let to = self.value(function, Value::Inst(id));
                self.give_away(function, &inst.args, to);
            }
        }
    }

    fn bind_indirect(&mut self) -> bool {
        let before = self.bound.len();
        for (function, id, set) in self.indirect.clone() {
            let Some(body) = &self.program[function].body else { continue };
            for pointer in self.solver.pointers(set) {
                let callee = match pointer.object {
                    Object::Function(callee) => callee,
                    // Marked as if the caller called itself.
                    Object::Outside => {
                        if self.bound.insert((function, id, FunctionId(u32::MAX))) {
                            let to = self.value(function, Value::Inst(id));
                            self.give_away(function, &body[id].args, to);
                        }
                        continue;
                    }
                    _ => continue,
                };
                if self.bound.insert((function, id, callee)) {
                    self.bind(function, id, &body[id], callee);
                }
            }
        }
        self.bound.len() > before
    }

    /// Functions whose address is known outside are called with anything.
    fn call_back(&mut self) -> bool {
        let known = self.solver.content(Pointer { object: Object::Outside, at: None });
        let functions = known.iter().filter_map(|pointer| match pointer.object {
            Object::Function(id) => Some(id),
            _ => None,
        });
        let mut changed = false;
        for id in functions.collect::<Vec<_>>() {
            if self.called_back.insert(id) {
                self.pass_anything(id);
                changed = true;
            }
        }
        changed
    }

    /// Arguments become parameters, and what is returned the result.
    fn bind(&mut self, function: FunctionId, id: InstId, inst: &Inst, callee: FunctionId) {
        let program = self.program;
        let to = self.value(function, Value::Inst(id));
        if program[callee].body.is_some() {
            for (number, argument) in (0..program[callee].params).zip(&inst.args) {
                let argument = self.value(function, *argument);
                let param = self.value(callee, Value::Param(number));
                self.solver.copy(argument, param);
            }
            let from = self.returned(callee);
            self.solver.copy(from, to);
        } else if let Some(mpi) = self.calls.get(callee) {
            self.mpi(function, id, inst, mpi);
        } else if !self.library(function, id, inst, &program[callee].name) {
            self.give_away(function, &inst.args, to);
        }
    }
}

/// How a set follows from another.
enum Rule {
    /// It is that of this value.
    Same(Value),
    /// Of what a function returns.
    Returned(FunctionId),
    /// So many bytes on, if that is known.
    Shifted(Value, Option<i64>),
    /// Of what is stored there.
    Loaded(Value),
}

/// Steps of a computation that are followed at once; sets of what is beyond are their own.
const DEPTH: u32 = 256;

/// Bytes of the largest pointer.
const WORD: u32 = 8;
/// Bytes of the smallest handle: MPICH's, and Fortran's.
const HANDLE: usize = 4;
/// Bytes of structures in which places are told apart: descriptors of Fortran's arrays of up to nine dimensions
/// are no larger.
const LARGEST: u32 = 256;

/// Virtual functions of the base of what threads of C++ run, which keep nothing of it.
const TABLE_OF_THREADS: &str = "_ZTVNSt6thread6_StateE";

/// What stands in tables of virtual functions where there is none (Itanium C++ ABI §3.2.6).
const NOBODY: [&str; 2] = ["__cxa_pure_virtual", "__cxa_deleted_virtual"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::FIELDS;

    fn object(number: u32) -> Object {
        Object::Global(GlobalId(number))
    }

    fn at(number: u32, at: i64) -> Pointer {
        Pointer { object: object(number), at: Some(at) }
    }

    #[test]
    fn fields_are_told_apart_and_a_variable_index_is_all_of_them() {
        let mut solver = Solver::default();
        let [structure, first, second, loaded, any, all] = [(); 6].map(|()| solver.node());
        solver.add(structure, at(0, 0));
        let field = solver.node();
        solver.shift(structure, field, Some(8));
        solver.add(first, at(1, 0));
        solver.add(second, at(2, 0));
        solver.store(structure, first);
        solver.store(field, second);
        solver.load(field, loaded);
        solver.shift(structure, any, None);
        solver.load(any, all);
        solver.run();
        assert_eq!(solver.pointers(loaded), [at(2, 0)]);
        assert_eq!(solver.pointers(all), [at(1, 0), at(2, 0)]);
    }

    #[test]
    fn a_pointer_that_walks_in_a_loop_ends() {
        let mut solver = Solver::default();
        let [walking, next] = [(); 2].map(|()| solver.node());
        solver.add(walking, at(0, 0));
        solver.shift(walking, next, Some(8));
        solver.copy(next, walking);
        solver.run();
        let found = solver.pointers(walking);
        assert!(found.len() <= FIELDS + 2, "{}", found.len());
        assert!(found.contains(&Pointer { object: object(0), at: None }));
    }

    #[test]
    fn pointers_that_walk_through_many_objects_are_few() {
        let mut solver = Solver::default();
        let [walking, next] = [(); 2].map(|()| solver.node());
        for number in 0..100 {
            solver.add(walking, at(number, 0));
        }
        solver.shift(walking, next, Some(8));
        solver.copy(next, walking);
        solver.run();
        let found = solver.pointers(walking);
        assert!(found.len() <= 100 * 8, "{}", found.len());
        assert!((0..100).all(|n| found.contains(&Pointer { object: object(n), at: None })));
    }

    #[test]
    fn places_from_many_sets_become_the_whole_object() {
        let mut solver = Solver::default();
        let [base, all] = [(); 2].map(|()| solver.node());
        solver.add(base, at(0, 0));
        for field in 1..300 {
            let stepped = solver.shifted(base, Some(8 * field));
            solver.copy(stepped, all);
        }
        solver.run();
        let found = solver.pointers(all);
        assert!(found.len() < 150, "{}", found.len());
        assert!(found.contains(&Pointer { object: object(0), at: None }));
    }

    #[test]
    fn copied_objects_bring_their_fields() {
        let mut solver = Solver::default();
        let [from, to, held, loaded] = [(); 4].map(|()| solver.node());
        solver.add(from, at(0, 0));
        solver.add(to, at(1, 16));
        solver.add(held, at(2, 4));
        let field = solver.node();
        solver.shift(from, field, Some(8));
        solver.store(field, held);
        solver.run();
        while solver.copy_objects(to, from) {
            solver.run();
        }
        let moved = solver.node();
        solver.shift(to, moved, Some(8));
        solver.load(moved, loaded);
        solver.run();
        assert_eq!(solver.pointers(loaded), [at(2, 4)]);
    }
}
