//! One dataflow pass over a function in one context.

use super::super::assigned;
use super::super::comm::Labels;
use super::super::mod_ref::Targets;
use super::super::stored::Stored;
use super::search;
use crate::Calls;
use commsan_ir::graph::{Flow, post_dominators};
use commsan_ir::{BlockId, Body, FunctionId, InstId, Op, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// What is the same for all contexts of a function.
pub(super) struct Shape {
    pub flow: Flow,
    /// By block: the blocks whose conditions decide whether it runs.
    pub controllers: Vec<SmallVec<[BlockId; 2]>>,
    /// Whether it has loops.
    pub loops: bool,
    /// Of copies and fills, as far as they are known.
    pub lengths: FxHashMap<InstId, u64>,
    /// Arguments that matter no more once a search is over.
    pub begins: FxHashSet<(InstId, usize)>,
}

/// A look at one context.
pub(super) struct Pass<'b> {
    pub number: usize,
    pub function: FunctionId,
    pub body: &'b Body,
    pub shape: &'b Shape,
    pub values: Vec<Labels>,
    /// By block: labels of the conditions that decide whether it runs.
    pub control: Vec<Labels>,
    pub result: Labels,
    pub absent: FxHashSet<(InstId, usize)>,
    pub touched: FxHashSet<u32>,
    pub exit: Stored,
}

impl<'b> Pass<'b> {
    /// The context that this is a look at, and the function's body.
    pub(super) fn at(&self) -> (usize, &'b Body) {
        (self.number, self.body)
    }

    /// Labels of whether the way from a block to another is taken.
    pub(super) fn decided(&self, from: BlockId, to: BlockId, params: &[Labels]) -> Labels {
        let mut labels = self.control[from.0 as usize];
        if let Some(end) = self.body.end(from)
            && matches!(end.op, Op::Branch | Op::Switch(_))
            && self.body[from].next.iter().any(|next| *next != to)
        {
            labels |= value(end.args[0], &self.values, params);
        }
        labels
    }

    /// What was there is gone if it is certain where it is written.
    pub(super) fn write(&mut self, memory: &mut Stored, targets: &Targets, labels: Labels) {
        if !targets.is_certain {
            return self.add(memory, targets, labels);
        }
        for place in &targets.places {
            if memory.replace(*place, labels) {
                self.touched.insert(place.object);
            }
        }
    }

    pub(super) fn add(&mut self, memory: &mut Stored, targets: &Targets, labels: Labels) {
        for target in targets.places.iter().filter(|_| labels != 0) {
            self.touched.insert(target.object);
            memory.add(*target, labels);
        }
    }

    /// All ranks have the same there, from that place of the object on, for so many bytes if that
    /// is known.
    pub(super) fn clear(&mut self, memory: &mut Stored, targets: &Targets, bytes: Option<u64>) {
        for target in &targets.places {
            if memory.clear(*target, bytes) {
                self.touched.insert(target.object);
            }
        }
    }
}

impl Shape {
    pub(super) fn of(calls: &Calls, body: &Body) -> Shape {
        let flow = Flow::of(body);
        let post_dominators = post_dominators(body);
        let mut controllers = vec![SmallVec::<[BlockId; 2]>::new(); body.blocks.len()];
        for block in flow.order.iter().filter(|block| body[**block].next.len() > 1) {
            for next in &body[*block].next {
                let mut at = Some(*next);
                while let Some(dependent) =
                    at.filter(|at| Some(*at) != post_dominators[block.0 as usize])
                {
                    let ours = &mut controllers[dependent.0 as usize];
                    if !ours.contains(block) {
                        ours.push(*block);
                    }
                    at = post_dominators[dependent.0 as usize];
                }
            }
        }
        let ranks = flow.ranks();
        let rank = |block: BlockId| ranks[block.0 as usize];
        let again = |block: &BlockId| {
            flow.previous[block.0 as usize].iter().any(|from| rank(*from) >= rank(*block))
        };
        let loops = flow.order.iter().any(again);
        let begins = search::begins(calls, body, &flow);
        Shape { flow, controllers, loops, lengths: assigned::lengths(body), begins }
    }
}

/// Labels of a value, by those of instructions and parameters.
pub(super) fn value(value: Value, values: &[Labels], params: &[Labels]) -> Labels {
    match value {
        Value::Inst(id) => values[id.0 as usize],
        Value::Param(number) => params.get(number as usize).copied().unwrap_or(0),
        _ => 0,
    }
}
