//! Constraint generation: the effect of each instruction on points-to sets.

use super::calls::length;
use super::rules::Rules;
use super::summary::{Application, Summaries};
use super::{Object, Pointer, is_handle};
use crate::Calls;
use commsan_ir::{Binary, Callee, FunctionId, Inst, InstId, Op, Program, Value};

/// Turns instructions into rules.
pub struct Code<'a, R> {
    pub program: &'a Program,
    pub calls: &'a Calls,
    /// Summaries of functions that are analysed context-sensitively.
    pub summaries: &'a Summaries,
    pub rules: R,
}

impl<R: Rules> Code<'_, R> {
    /// All instructions of a function.
    pub fn function(&mut self, function: FunctionId) {
        let program = self.program;
        let Some(body) = &program[function].body else { return };
        for block in &body.blocks {
            for inst in &block.code {
                self.instruction(function, *inst, &body[*inst]);
            }
        }
    }

    /// The pointer that a constant is.
    pub fn constant(&self, value: Value) -> Option<Pointer> {
        let object = match value {
            Value::Global(id, at) => {
                return Some(Pointer { object: Object::Global(id), at: Some(at) });
            }
            // Whoever calls these ends the program.
            Value::Function(id) if NO_VIRTUAL_FUNCTION.contains(&&*self.program[id].name) => {
                return None;
            }
            Value::Function(id) => Object::Function(id),
            Value::Int(number) if is_handle(number) => Object::Handle(number),
            _ => return None,
        };
        Some(Pointer { object, at: Some(0) })
    }

    /// The set of a value.
    pub fn value(&mut self, function: FunctionId, value: Value) -> R::Set {
        self.value_at(function, value, MAX_EXPR_DEPTH)
    }

    fn value_at(&mut self, function: FunctionId, value: Value, depth: u32) -> R::Set {
        if let Some(set) = self.rules.known(function, value) {
            return set;
        }
        let set = match (value, self.constant(value)) {
            (Value::Inst(id), _) => self.computed(function, id, depth),
            (Value::Param(number), _) => self.rules.param(function, number),
            (_, Some(pointer)) => self.rules.pointing(pointer),
            _ => self.rules.node(),
        };
        self.rules.set(function, value, set);
        set
    }

    /// The set of what an instruction computes, shared with all that is computed in the same way.
    fn computed(&mut self, function: FunctionId, id: InstId, depth: u32) -> R::Set {
        let program = self.program;
        let Some(inst) = program[function].body.as_ref().map(|body| &body[id]) else {
            return self.rules.node();
        };
        match inst.op {
            Op::Alloca(_) => {
                let object = Object::Local(function, id);
                return self.rules.pointing(Pointer { object, at: Some(0) });
            }
            Op::Call(Callee::Indirect) => return self.rules.returned_by(function, id),
            _ => {}
        }
        let Some(rule) = self.rule(inst) else { return self.rules.node() };
        if depth == 0 {
            self.rules.put_apart(function, id);
            return self.rules.node();
        }
        self.by_rule(function, inst, rule, depth - 1)
    }

    fn by_rule(&mut self, function: FunctionId, inst: &Inst, rule: Rule, depth: u32) -> R::Set {
        match rule {
            Rule::Same(value) => self.value_at(function, value, depth),
            Rule::Returned(callee) => self.rules.returned(callee),
            Rule::Shifted(base, by) => {
                let base = self.value_at(function, base, depth);
                self.rules.shifted(base, by)
            }
            Rule::Loaded(address) => {
                let address = self.value_at(function, address, depth);
                self.rules.loaded(address)
            }
            Rule::Applied(callee) => {
                let summaries = self.summaries;
                let Some(summary) = summaries.of(callee) else { return self.rules.node() };
                let mut arguments = vec![None; inst.args.len()];
                if let Some(number) = summary.returned_param()
                    && let Some(argument) = inst.args.get(number)
                {
                    arguments[number] = Some(self.value_at(function, *argument, depth));
                }
                let returned = Application::new(summary, &arguments).returned(&mut self.rules);
                returned.unwrap_or_else(|| self.rules.node())
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
            Op::Load(size) if (MIN_HANDLE_BYTES as u32..=POINTER_BYTES).contains(size) => {
                first.map(Rule::Loaded)
            }
            Op::Call(Callee::Direct(callee)) => match self.summaries.of(*callee) {
                Some(summary) => summary.is_plain().then_some(Rule::Applied(*callee)),
                None => self.program[*callee].body.is_some().then_some(Rule::Returned(*callee)),
            },
            _ => None,
        }
    }

    /// Joins a set of its own with what it is computed from.
    pub fn join_parts(&mut self, function: FunctionId, id: InstId) {
        let program = self.program;
        let Some(body) = &program[function].body else { return };
        let to = self.value(function, Value::Inst(id));
        if let Some(rule) = self.rule(&body[id]) {
            let from = self.by_rule(function, &body[id], rule, MAX_EXPR_DEPTH);
            self.rules.copy(from, to);
        }
    }

    /// New memory, or a new handle.
    pub fn made(&mut self, function: FunctionId, inst: InstId, through: Option<u8>) -> R::Set {
        self.rules.pointing(Pointer { object: Object::Made(function, inst, through), at: Some(0) })
    }

    fn instruction(&mut self, function: FunctionId, id: InstId, inst: &Inst) {
        let arg = |n: usize| inst.args.get(n).copied().unwrap_or(Value::Opaque);
        let result = Value::Inst(id);
        match &inst.op {
            Op::Load(size) => {
                let (address, to) = (self.value(function, arg(0)), self.value(function, result));
                if *size > POINTER_BYTES {
                    self.load_aggregate(address, *size, to);
                }
            }
            Op::Store(size) => {
                let value = self.value(function, arg(0));
                let address = self.value(function, arg(1));
                if *size > POINTER_BYTES {
                    self.copy_aggregate(function, *size, arg(0), address);
                } else if *size >= MIN_HANDLE_BYTES as u32 {
                    self.rules.store(address, value);
                }
            }
            Op::Atomic(_) => {
                let address = self.value(function, arg(0));
                let to = self.value(function, result);
                self.rules.load(address, to);
                for value in &inst.args[1..] {
                    let value = self.value(function, *value);
                    self.rules.store(address, value);
                }
            }
            Op::Copy => {
                let (to, from) = (self.value(function, arg(0)), self.value(function, arg(1)));
                self.rules.copy_memory(to, from, length(arg(2)));
            }
            Op::Call(_) => self.call(function, id, inst),
            Op::Alloca(_) | Op::Cast | Op::Offset(..) => {
                self.value(function, result);
            }
            Op::Phi(_) => self.join(function, result, &inst.args, Some(0)),
            Op::Select => self.join(function, result, &inst.args[1..], Some(0)),
            // A product is no pointer.
            Op::Binary(Binary::Float | Binary::Mul | Binary::Div | Binary::Rem) => {}
            Op::Binary(_) | Op::Mix => self.join(function, result, &inst.args, None),
            Op::Return => {
                let to = self.rules.returned(function);
                for value in &inst.args {
                    let value = self.value(function, *value);
                    self.rules.copy(value, to);
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
            self.rules.shift(value, to, by);
        }
    }

    /// A whole structure that is loaded holds all pointers in it.
    fn load_aggregate(&mut self, address: R::Set, size: u32, to: R::Set) {
        for part in self.parts(address, size) {
            self.rules.load(part, to);
        }
    }

    /// A whole structure that is stored after it was loaded is copied; any other may have its
    /// pointers anywhere in it.
    fn copy_aggregate(&mut self, function: FunctionId, size: u32, value: Value, address: R::Set) {
        let program = self.program;
        if let (Value::Inst(id), Some(body)) = (value, &program[function].body)
            && matches!(body[id].op, Op::Load(_))
        {
            let from = self.value(function, body[id].args[0]);
            self.rules.copy_memory(address, from, Some(i64::from(size)));
            return;
        }
        let value = self.value(function, value);
        for part in self.parts(address, size) {
            self.rules.store(part, value);
        }
    }

    /// Where in a structure pointers, or handles, may be: of a large one, anywhere in its object.
    fn parts(&mut self, address: R::Set, size: u32) -> Vec<R::Set> {
        if size > MAX_STRUCT_BYTES {
            return vec![self.rules.shifted(address, None)];
        }
        let places = (0..size).step_by(MIN_HANDLE_BYTES);
        places.map(|at| self.rules.shifted(address, Some(i64::from(at)))).collect()
    }

    fn call(&mut self, function: FunctionId, id: InstId, inst: &Inst) {
        match inst.op {
            Op::Call(Callee::Direct(callee)) => self.bind(function, id, inst, callee),
            Op::Call(Callee::Indirect) => {
                for argument in &inst.args {
                    let argument = self.value(function, *argument);
                    self.rules.hand_over(argument);
                }
                let callee = self.value(function, inst.args[inst.args.len() - 1]);
                self.value(function, Value::Inst(id));
                self.rules.calls(function, id, callee);
            }
            _ => {
                let to = self.value(function, Value::Inst(id));
                self.give_away(function, &inst.args, to);
            }
        }
    }

    /// Arguments become parameters, and what is returned the result.
    pub fn bind(&mut self, function: FunctionId, id: InstId, inst: &Inst, callee: FunctionId) {
        let program = self.program;
        if self.summaries.of(callee).is_some() {
            return self.apply(function, id, inst, callee);
        }
        let to = self.value(function, Value::Inst(id));
        if program[callee].body.is_some() {
            for (number, argument) in (0..program[callee].params).zip(&inst.args) {
                let argument = self.value(function, *argument);
                let param = self.value(callee, Value::Param(number));
                self.rules.copy(argument, param);
            }
            let from = self.rules.returned(callee);
            self.rules.copy(from, to);
        } else if let Some(mpi) = self.calls.get(callee) {
            self.mpi(function, id, inst, mpi);
        } else if !self.library(function, id, inst, &program[callee].name) {
            self.give_away(function, &inst.args, to);
        }
    }

    /// What a function with a summary does when it is called here.
    fn apply(&mut self, function: FunctionId, id: InstId, inst: &Inst, callee: FunctionId) {
        let summaries = self.summaries;
        let Some(summary) = summaries.of(callee) else { return };
        let params = self.program[callee].params as usize;
        let arguments = inst.args.iter().take(params).copied();
        let arguments: Vec<_> =
            arguments.map(|argument| Some(self.value(function, argument))).collect();
        self.rules.passed(callee, &arguments);
        let to = self.value(function, Value::Inst(id));
        let mut application = Application::new(summary, &arguments);
        application.effects(&mut self.rules);
        if !summary.is_plain()
            && let Some(from) = application.returned(&mut self.rules)
        {
            self.rules.copy(from, to);
        }
    }
}

/// How a set follows from another.
enum Rule {
    /// It is that of this value.
    Same(Value),
    /// The value that a function returns.
    Returned(FunctionId),
    /// The value that a function with a summary returns for these arguments.
    Applied(FunctionId),
    /// So many bytes on, if that is known.
    Shifted(Value, Option<i64>),
    /// The value stored at this address.
    Loaded(Value),
}

/// Maximum depth to which an expression is evaluated at once; beyond it, values get sets of their
/// own.
const MAX_EXPR_DEPTH: u32 = 256;

/// Bytes of the largest pointer.
const POINTER_BYTES: u32 = 8;
/// Bytes of the smallest handle: MPICH's, and Fortran's. A smaller value is no part of a pointer.
pub const MIN_HANDLE_BYTES: usize = 4;
/// Maximum size in bytes of structures whose fields are distinguished: descriptors of Fortran's
/// arrays of up to nine dimensions are no larger.
const MAX_STRUCT_BYTES: u32 = 256;

/// Entries of virtual tables that stand for no function (Itanium C++ ABI §3.2.6).
const NO_VIRTUAL_FUNCTION: [&str; 2] = ["__cxa_pure_virtual", "__cxa_deleted_virtual"];
