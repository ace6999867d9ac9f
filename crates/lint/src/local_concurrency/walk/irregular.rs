//! Irregular indices, whose value may recur in a later iteration.

use super::{Facts, Run};
use crate::local_concurrency::effects::Touch;
use crate::local_concurrency::linear::Linear;
use commsan_ir::{Op, Value};

impl Run<'_, '_, '_> {
    /// Whether an access in a later iteration may be to the same bytes: the same object, at a place
    /// that follows no regular pattern.
    pub(super) fn perhaps(&self, number: usize, touch: &Touch, facts: &Facts) -> bool {
        let view = self.walker.view;
        let body = &view.flat.body;
        let round = facts.places.as_ref().is_some_and(|places| places.round);
        if !round || touch.length.certain() == 0 {
            return false;
        }
        let none = Default::default();
        let buffer = &self.operation.buffers[number];
        let (Some(own), Some(other)) =
            (Linear::of(body, &none, buffer.address), Linear::of(body, &none, touch.address))
        else {
            return false;
        };
        let base = |sum: &Linear| self.outer_base(sum);
        let irregular = |sum: &Linear| {
            let index = sum.terms.iter().any(|(value, _)| self.is_irregular(*value));
            index && !sum.terms.iter().any(|(value, _)| self.is_counter(*value))
        };
        base(&own).is_some() && base(&own) == base(&other) && irregular(&own) && irregular(&other)
    }

    /// The object that an address lies in, as it is before the loops around the start.
    fn outer_base(&self, sum: &Linear) -> Option<Value> {
        let view = self.walker.view;
        let outer = |value: Value| match value {
            Value::Inst(id) => {
                let block = self.walker.blocks[id.0 as usize];
                let start = self.walker.blocks[self.operation.start.0 as usize];
                block.0 != u32::MAX
                    && !self.walker.ways.around(start).any(|l| l.blocks.contains(&block))
            }
            _ => true,
        };
        let is_pointer = |value: Value| match value {
            Value::Inst(id) if view.flat.origin(id).is_none() => true,
            Value::Inst(_) | Value::Global(..) | Value::Param(_) => view.objects(value).is_some(),
            _ => false,
        };
        let mut bases = sum.terms.iter().filter(|(value, factor)| *factor == 1 && outer(*value));
        bases.find(|(value, _)| is_pointer(*value)).map(|(value, _)| *value)
    }

    /// Whether a value is computed anew in each iteration from what nobody can foresee.
    fn is_irregular(&self, value: Value) -> bool {
        let Value::Inst(id) = value else { return false };
        let block = self.walker.blocks[id.0 as usize];
        let start = self.walker.blocks[self.operation.start.0 as usize];
        self.walker.ways.around(start).any(|around| around.blocks.contains(&block))
    }

    /// Whether a value counts iterations.
    fn is_counter(&self, value: Value) -> bool {
        let Value::Inst(id) = value else { return false };
        let body = &self.walker.view.flat.body;
        let Op::Phi(_) = body[id].op else { return false };
        body[id].args.iter().any(|arg| {
            let sum = Linear::of(body, &Default::default(), *arg);
            sum.is_some_and(|sum| sum.base() == Some(value))
        })
    }
}
