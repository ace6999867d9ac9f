//! The constraint-graph node of each value.

use super::solve::Node;
use commsan_ir::{FunctionId, Program, Value};
use rustc_hash::FxHashMap;

/// The sets of all values of a program that have one.
#[derive(Debug)]
pub struct Values {
    /// By function and instruction.
    results: Vec<Vec<Option<Node>>>,
    params: FxHashMap<(FunctionId, u32), Node>,
    /// Constants have one set for the whole program.
    constants: FxHashMap<Value, Node>,
}

impl Values {
    pub fn of(program: &Program) -> Values {
        let size = |function: &commsan_ir::Function| {
            function.body.as_ref().map_or(0, |body| body.code.len())
        };
        let results = program.functions.iter().map(|function| vec![None; size(function)]);
        let (params, constants) = Default::default();
        Values { results: results.collect(), params, constants }
    }

    pub fn get(&self, function: FunctionId, value: Value) -> Option<Node> {
        match value {
            Value::Inst(id) => self.results[function.0 as usize].get(id.0 as usize).copied()?,
            Value::Param(number) => self.params.get(&(function, number)).copied(),
            constant => self.constants.get(&constant).copied(),
        }
    }

    pub fn insert(&mut self, function: FunctionId, value: Value, node: Node) {
        match value {
            Value::Inst(id) => self.results[function.0 as usize][id.0 as usize] = Some(node),
            Value::Param(number) => {
                self.params.insert((function, number), node);
            }
            constant => {
                self.constants.insert(constant, node);
            }
        }
    }
}
