//! Inlining of device functions: analyses a callee in the context of each call.

use super::{Bindings, Walker};
use crate::instruction::{Base, Operand};
use crate::opcodes::Op;
use crate::summary::Site;
use crate::summary::graph::NodeId;

/// Maximum depth of nested calls that are analysed.
const MAX_CALL_DEPTH: usize = 8;
/// Maximum number of activations of functions that one kernel's analysis follows.
const MAX_ACTIVATIONS: u32 = 2000;

/// Device functions that touch only their arguments' memory and their own.
const HARMLESS: [&str; 5] =
    ["vprintf", "__assertfail", "malloc", "free", "cudaGraphSetConditional"];

impl Walker<'_> {
    /// The value that the last call before an instruction returned in a variable.
    pub(super) fn returned(&mut self, at: usize, variable: u32, offset: i64) -> Option<NodeId> {
        let start = self.flow.blocks[self.flow.block_of[at]].instructions.start;
        let body = self.body;
        let (call, n) = (start..at).rev().find_map(|at| {
            let call = &body.instructions[at];
            let returned = body.operands_of(call).get(1).filter(|_| call.op == Op::Call)?;
            let mut places = body.elements_of(returned).iter();
            let n = places.position(|p| *p == Operand::Address(Base::Local(variable), 0))?;
            Some((at, n))
        })?;
        self.call(call).get(&(n as u32, offset)).copied()
    }

    /// Analyses a call; returns its returned values.
    pub(super) fn call(&mut self, at: usize) -> Bindings {
        if let Some(known) = self.calls.get(&at) {
            return known.clone();
        }
        self.calls.insert(at, Bindings::default());
        let callee = self.body.operands_of(&self.body.instructions[at]).first();
        let callee = match callee {
            Some(Operand::Address(Base::Function(number), 0)) => Some(*number),
            _ => None,
        };
        let called = callee.map(|number| &self.module.functions[number as usize]);
        let returned = match (callee, called) {
            (_, Some(f)) if f.body.is_none() && HARMLESS.contains(&f.name.as_str()) => {
                Bindings::default()
            }
            (Some(number), Some(f)) if f.body.is_some() && self.may_enter(number) => {
                self.findings.activations += 1;
                let arguments = self.arguments(at);
                let mut context = self.context_at(at);
                context.calls.push(Site { function: self.number, instruction: at as u32 });
                Walker::walk(self.module, number, Some(arguments), context, self.findings)
            }
            _ => {
                self.anything(at);
                Bindings::default()
            }
        };
        self.calls.insert(at, returned.clone());
        returned
    }

    fn may_enter(&self, function: u32) -> bool {
        let is_active = |s: &Site| s.function == function;
        let recursive = function == self.number || self.context.calls.iter().any(is_active);
        !recursive
            && self.context.calls.len() < MAX_CALL_DEPTH
            && self.findings.activations < MAX_ACTIVATIONS
    }

    /// The arguments of a call: stored into parameters before it, or passed directly.
    fn arguments(&mut self, call: usize) -> Bindings {
        let body = self.body;
        let list = body.operands_of(&body.instructions[call]).get(2);
        let list = list.map_or(&[][..], |l| body.elements_of(l));
        let start = self.flow.blocks[self.flow.block_of[call]].instructions.start;
        let mut all = Bindings::default();
        for (argument, n) in list.iter().zip(0..) {
            let &Operand::Address(Base::Local(variable), 0) = argument else {
                all.insert((n, 0), self.value(call, argument));
                continue;
            };
            for at in start..call {
                let store = &body.instructions[at];
                let [Operand::Memory(Base::Local(to), offset), value] = body.operands_of(store)
                else {
                    continue;
                };
                if store.op == Op::St && *to == variable {
                    let step = store.modifiers.ty().size() as i64;
                    for (element, place) in body.elements_of(value).iter().zip(0..) {
                        all.insert((n, offset + place * step), self.value(at, element));
                    }
                }
            }
        }
        all
    }
}
