//! The effects of instructions, reported to an implementation of [`Rules`]: [`Sets`], those of the
//! whole program, or the terms of one function (`summary`).

use super::solve::{Node, Solver, Step};
use super::{Object, Pointer, Values};
use commsan_ir::{FunctionId, InstId, Program, Value};
use rustc_hash::{FxHashMap, FxHashSet};

/// Keeps sets of pointers.
pub trait Rules {
    /// A set: that of a value, say.
    type Set: Copy;

    /// A new set, with nothing in it.
    fn node(&mut self) -> Self::Set;
    /// The set of just this pointer.
    fn pointing(&mut self, pointer: Pointer) -> Self::Set;
    /// The set of a pointer to everything outside.
    fn outside(&mut self) -> Self::Set;
    /// What is in `from` is in `to`, so many bytes on.
    fn shift(&mut self, from: Self::Set, to: Self::Set, by: Step);
    /// The set of what is in another, so many bytes on.
    fn shifted(&mut self, from: Self::Set, by: Step) -> Self::Set;
    /// What is stored where `address` points is in `to`.
    fn load(&mut self, address: Self::Set, to: Self::Set);
    /// The set of what is stored where `address` points.
    fn loaded(&mut self, address: Self::Set) -> Self::Set;
    /// Whether stores to this address are to be reported.
    fn takes_stores(&self, address: Self::Set) -> bool;
    /// What is in `value` is stored where `address` points.
    fn store(&mut self, address: Self::Set, value: Self::Set);
    /// What is stored where `from` points is also stored where `to` points, so many bytes if that
    /// is known.
    fn copy_memory(&mut self, to: Self::Set, from: Self::Set, length: Option<i64>);
    /// Somebody who is not followed gets what is in a set.
    fn hand_over(&mut self, value: Self::Set);

    /// The set of a value, if there is one yet.
    fn known(&self, function: FunctionId, value: Value) -> Option<Self::Set>;
    /// A value has this set.
    fn set(&mut self, function: FunctionId, value: Value, set: Self::Set);
    /// The set of what a function is given.
    fn param(&mut self, function: FunctionId, number: u32) -> Self::Set;
    /// The set of what a function returns.
    fn returned(&mut self, function: FunctionId) -> Self::Set;
    /// The set of what a call through a pointer returns.
    fn returned_by(&mut self, function: FunctionId, call: InstId) -> Self::Set;
    /// The arguments of a call of a function that has a summary.
    fn passed(&mut self, callee: FunctionId, arguments: &[Option<Self::Set>]);

    /// A value has a set of its own, not that of what it is computed from.
    fn put_apart(&mut self, function: FunctionId, id: InstId);
    /// A call through a pointer.
    fn calls(&mut self, function: FunctionId, call: InstId, callee: Self::Set);
    /// A library calls this function with arguments that are known.
    fn starts(&mut self, function: FunctionId);

    /// What is in `from` is in `to`.
    fn copy(&mut self, from: Self::Set, to: Self::Set) {
        self.shift(from, to, Some(0));
    }
}

/// The sets of a whole program, of all calls of its functions together.
pub struct Sets {
    pub solver: Solver,
    pub values: Values,
    /// Values whose sets are their own, not those of what they are computed from.
    pub apart: Vec<(FunctionId, InstId)>,
    /// Copies of memory: to, from.
    pub copies: Vec<(Node, Node)>,
    /// Calls through pointers: caller, call, the set of the callee.
    pub indirect: Vec<(FunctionId, InstId, Node)>,
    /// Functions that libraries call with arguments that are known.
    pub started: FxHashSet<FunctionId>,
    /// Whether the current function has a summary, which describes, for each of its calls, what it
    /// stores through its parameters.
    pub is_summarised: bool,
    returns: FxHashMap<FunctionId, Node>,
    /// By set: whether it is the same for all calls.
    fixed: Vec<bool>,
    /// A pointer to everything outside.
    outside: Node,
}

impl Sets {
    pub fn new(program: &Program) -> Sets {
        let mut solver = Solver::default();
        let outside = solver.pointing(Pointer { object: Object::Outside, at: None });
        solver.outside();
        let values = Values::of(program);
        let (apart, copies, indirect, started) = Default::default();
        let (is_summarised, returns, fixed) = Default::default();
        let mut sets = Sets {
            solver,
            values,
            apart,
            copies,
            indirect,
            started,
            is_summarised,
            returns,
            fixed,
            outside,
        };
        sets.fix(outside);
        sets
    }

    fn fix(&mut self, node: Node) {
        let at = node.index();
        if at >= self.fixed.len() {
            self.fixed.resize(at + 1, false);
        }
        self.fixed[at] = true;
    }

    fn is_fixed(&self, node: Node) -> bool {
        self.fixed.get(node.index()).copied().unwrap_or(false)
    }
}

impl Rules for Sets {
    type Set = Node;

    fn node(&mut self) -> Node {
        self.solver.node()
    }

    fn pointing(&mut self, pointer: Pointer) -> Node {
        let node = self.solver.pointing(pointer);
        self.fix(node);
        node
    }

    fn outside(&mut self) -> Node {
        self.outside
    }

    fn shift(&mut self, from: Node, to: Node, by: Step) {
        self.solver.shift(from, to, by);
    }

    fn shifted(&mut self, from: Node, by: Step) -> Node {
        let node = self.solver.shifted(from, by);
        if self.is_fixed(from) {
            self.fix(node);
        }
        node
    }

    fn load(&mut self, address: Node, to: Node) {
        self.solver.load(address, to);
    }

    fn loaded(&mut self, address: Node) -> Node {
        self.solver.loaded(address)
    }

    fn takes_stores(&self, address: Node) -> bool {
        !self.is_summarised || self.is_fixed(address)
    }

    fn store(&mut self, address: Node, value: Node) {
        if self.takes_stores(address) {
            self.solver.store(address, value);
        }
    }

    fn copy_memory(&mut self, to: Node, from: Node, _length: Option<i64>) {
        if self.takes_stores(to) {
            self.copies.push((to, from));
        }
    }

    fn hand_over(&mut self, _value: Node) {}

    fn known(&self, function: FunctionId, value: Value) -> Option<Node> {
        self.values.get(function, value)
    }

    fn set(&mut self, function: FunctionId, value: Value, set: Node) {
        self.values.insert(function, value, set);
    }

    fn param(&mut self, _function: FunctionId, _number: u32) -> Node {
        self.solver.node()
    }

    fn returned(&mut self, function: FunctionId) -> Node {
        *self.returns.entry(function).or_insert_with(|| self.solver.node())
    }

    fn returned_by(&mut self, _function: FunctionId, _call: InstId) -> Node {
        self.solver.node()
    }

    fn passed(&mut self, callee: FunctionId, arguments: &[Option<Node>]) {
        for (number, argument) in (0..).zip(arguments) {
            let Some(argument) = *argument else { continue };
            let value = Value::Param(number);
            let param = self.values.get(callee, value).unwrap_or_else(|| {
                let node = self.solver.node();
                self.values.insert(callee, value, node);
                node
            });
            self.solver.copy(argument, param);
        }
    }

    fn put_apart(&mut self, function: FunctionId, id: InstId) {
        self.apart.push((function, id));
    }

    fn calls(&mut self, function: FunctionId, call: InstId, callee: Node) {
        self.indirect.push((function, call, callee));
    }

    fn starts(&mut self, function: FunctionId) {
        self.started.insert(function);
    }
}
