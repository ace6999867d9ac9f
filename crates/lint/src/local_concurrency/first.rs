//! First iteration of a loop, analysed as if peeled: the operation that it starts.
//!
//! Where a loop starts operations on buffers of their own, `&in[i]`, it is not known after the loop
//! which of them a buffer belongs to. That of the first iteration is: `&in[0]`, which another loop
//! uses in its first iteration. So such an operation is followed once more, with what the first
//! iteration makes of the loop's variables, if it can be started then.

use super::linear::Linear;
use super::operation::Operation;
use super::state::State;
use super::walk::Walker;
use commsan_ir::{BlockId, InstId, Op, Value};

impl Walker<'_, '_> {
    /// What is known where an operation starts in the first iteration of the loops by which its
    /// buffers differ. None if there are no such loops, or it does not start then.
    pub fn in_first_iteration(&self, mut state: State, operation: &Operation) -> Option<State> {
        let start = self.blocks[operation.start.0 as usize];
        let places = self.view.places(&state.known, operation);
        let buffers = || places.buffers.iter().flatten();
        let decides = |phi: InstId| {
            let counts = |(value, _): &(Value, i64)| *value == Value::Inst(phi);
            buffers().any(|sum| sum.terms.iter().any(counts))
        };
        let mut around: Vec<_> = self
            .ways
            .around(start)
            .filter(|around| self.phis(around.header).any(decides))
            .collect();
        // Those outside first: inner ones may begin with what they have.
        around.sort_by_key(|around| std::cmp::Reverse(around.blocks.len()));
        if around.is_empty() {
            return None;
        }
        for around in around {
            for phi in self.phis(around.header) {
                let Some(first) =
                    self.entry_value(&state, phi, |from| around.blocks.contains(&from))
                else {
                    continue;
                };
                if !state.set(phi, first) {
                    return None;
                }
            }
        }
        Some(state)
    }

    /// The values of a block that depend on the way there.
    fn phis(&self, block: BlockId) -> impl Iterator<Item = InstId> {
        let code = self.view.flat.body.instructions(block);
        code.filter(|(_, inst)| matches!(&inst.op, Op::Phi(from) if from.len() > 1))
            .map(|(id, _)| id)
    }

    /// What a phi is on all ways into a loop.
    fn entry_value(
        &self,
        state: &State,
        phi: InstId,
        inside: impl Fn(BlockId) -> bool,
    ) -> Option<Linear> {
        let body = &self.view.flat.body;
        let Op::Phi(from) = &body[phi].op else { return None };
        let ways = from.iter().zip(&body[phi].args).filter(|(from, _)| !inside(**from));
        let mut values = ways.map(|(_, value)| Linear::of(body, &state.known, *value));
        let first = values.next()??;
        values.all(|value| value.as_ref() == Some(&first)).then_some(first)
    }
}
