//! Builds the constraints of a program and solves them.

use super::code::Code;
use super::rules::{Rules, Sets};
use super::summary::Summaries;
use super::{Object, Pointer, PointsTo};
use crate::Calls;
use commsan_ir::{Callee, FunctionId, GlobalId, InstId, Op, Program, Value, absolute_address};
use rustc_hash::FxHashSet;

/// A program's sets, on the way.
struct Builder<'a> {
    code: Code<'a, Sets>,
    bound: FxHashSet<(FunctionId, InstId, FunctionId)>,
    /// Functions that are known outside.
    called_back: FxHashSet<FunctionId>,
}

/// What pointers of a program point to.
pub fn build(program: &Program, calls: &Calls) -> PointsTo {
    let called = called(program);
    let summaries = Summaries::of_program(program, calls, &called);
    let code = Code { program, calls, summaries: &summaries, rules: Sets::new(program) };
    let (bound, called_back) = Default::default();
    let mut builder = Builder { code, bound, called_back };
    builder.program(&called);
    let functions = program.functions.iter().map(|function| function.params).collect();
    let Sets { solver, values, .. } = builder.code.rules;
    let (escaped, sets) = (solver.escaped(), Default::default());
    PointsTo { solver, values, escaped, functions, sets }
}

/// By function: whether the program calls it by its name.
fn called(program: &Program) -> Vec<bool> {
    let mut called = vec![false; program.functions.len()];
    for inst in program.defined().flat_map(|(.., body)| &body.code) {
        if let Op::Call(Callee::Direct(callee)) = inst.op {
            called[callee.0 as usize] = true;
        }
    }
    called
}

impl Builder<'_> {
    fn program(&mut self, called: &[bool]) {
        let program = self.code.program;
        for (number, global) in program.globals.iter().enumerate() {
            self.global(GlobalId(number as u32), global);
        }
        for (id, ..) in program.defined() {
            self.code.rules.is_summarised = self.code.summaries.of(id).is_some();
            self.code.function(id);
        }
        self.code.rules.is_summarised = false;
        while let Some((function, id)) = self.code.rules.apart.pop() {
            self.code.join_parts(function, id);
        }
        // Without a caller in the program, others may call it.
        for (id, function, _) in program.defined() {
            let is_started = self.code.rules.started.contains(&id);
            if !function.address_taken && !called[id.0 as usize] && !is_started {
                self.pass_anything(id);
            }
        }
        loop {
            self.code.rules.solver.run();
            let mut changed = self.bind_indirect();
            changed |= self.call_back();
            for (to, from) in self.code.rules.copies.clone() {
                changed |= self.code.rules.solver.copy_objects(to, from);
            }
            if !changed {
                break;
            }
        }
    }

    fn global(&mut self, id: GlobalId, global: &commsan_ir::Global) {
        for (at, value) in &global.initial {
            if let Some(pointer) = self.code.constant(*value) {
                let field = Pointer { object: Object::Global(id), at: Some(*at as i64) };
                let field = self.code.rules.solver.field(field);
                self.code.rules.solver.add(field, pointer);
            }
        }
        let is_handle =
            global.name.starts_with("ompi_") || absolute_address(&global.name).is_some();
        let is_known = is_handle || global.name == TABLE_OF_THREADS;
        if !global.defined && !is_known {
            let rules = &mut self.code.rules;
            let own = rules.pointing(Pointer { object: Object::Global(id), at: None });
            let outside = rules.outside();
            rules.store(outside, own);
        }
    }

    fn pass_anything(&mut self, function: FunctionId) {
        for number in 0..self.code.program[function].params {
            let param = self.code.value(function, Value::Param(number));
            let outside = self.code.rules.outside();
            self.code.rules.copy(outside, param);
        }
    }

    fn bind_indirect(&mut self) -> bool {
        let before = self.bound.len();
        let program = self.code.program;
        for (function, id, set) in self.code.rules.indirect.clone() {
            let Some(body) = &program[function].body else { continue };
            for pointer in self.code.rules.solver.pointers(set) {
                let callee = match pointer.object {
                    Object::Function(callee) => callee,
                    // Marked as if the caller called itself.
                    Object::Outside => {
                        if self.bound.insert((function, id, FunctionId(u32::MAX))) {
                            let to = self.code.value(function, Value::Inst(id));
                            self.code.give_away(function, &body[id].args, to);
                        }
                        continue;
                    }
                    _ => continue,
                };
                if self.bound.insert((function, id, callee)) {
                    self.code.bind(function, id, &body[id], callee);
                }
            }
        }
        self.bound.len() > before
    }

    /// Functions whose address is known outside are called with anything.
    fn call_back(&mut self) -> bool {
        let known = self.code.rules.solver.content(Pointer { object: Object::Outside, at: None });
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
}

/// Virtual functions of the base of what threads of C++ run, which keep nothing of it.
const TABLE_OF_THREADS: &str = "_ZTVNSt6thread6_StateE";
