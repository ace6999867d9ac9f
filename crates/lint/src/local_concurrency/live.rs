//! Liveness analysis.
//!
//! Which values still matter at a block: those that a condition or an address behind it depends on.
//!
//! What is known of other values need not be kept on a way, and need not be compared where ways
//! meet. So it costs no more to follow an operation through a large function than through a small
//! one.

use super::effects::View;
use super::loops::Ways;
use commsan_ir::{BlockId, Body, InstId, Op, Value};
use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};

/// Values that matter, by block.
pub struct Live {
    /// On which conditions depend.
    asked: Sets,
    /// On which anything depends.
    used: Sets,
}

impl Live {
    /// Of a flat function, whose instructions are in these blocks.
    pub fn of(view: &View, ways: &Ways, blocks: &[BlockId]) -> Live {
        let body = &view.flat.body;
        let condition = |id: InstId| match body[id].op {
            Op::Branch | Op::Switch(_) => body[id].args.to_vec(),
            _ => Vec::new(),
        };
        let mut passed: FxHashMap<InstId, Vec<Value>> = FxHashMap::default();
        for ((call, _), value) in &view.passed {
            passed.entry(*call).or_default().push(*value);
        }
        let any = |id: InstId| {
            let inst = &body[id];
            match inst.op {
                Op::Load(_) | Op::Store(_) | Op::Atomic(_) | Op::Copy | Op::Fill => {
                    inst.args.to_vec()
                }
                Op::Call(_) => {
                    let passed = passed.get(&id).into_iter().flatten();
                    inst.args.iter().chain(passed).copied().collect()
                }
                _ => condition(id),
            }
        };
        let asked = Sets::of(body, ways, blocks, condition);
        Live { asked, used: Sets::of(body, ways, blocks, any) }
    }

    /// Whether a condition depends on a value from here on, or here.
    pub fn is_asked(&self, block: BlockId, value: Value) -> bool {
        self.asked.contains(block, value)
    }

    /// Whether anything does.
    pub fn is_used(&self, block: BlockId, value: Value) -> bool {
        self.used.contains(block, value)
    }
}

/// Sets of values, one for each block.
struct Sets {
    numbers: FxHashMap<Value, usize>,
    at: Vec<FixedBitSet>,
}

impl Sets {
    /// What these uses depend on, in their block and in all from which it is reached.
    fn of(
        body: &Body,
        ways: &Ways,
        blocks: &[BlockId],
        uses: impl Fn(InstId) -> Vec<Value>,
    ) -> Sets {
        let mut maker = Maker { body, blocks, numbers: FxHashMap::default(), values: Vec::new() };
        let of_block = |block: BlockId| body[block].code.iter().flat_map(|id| uses(*id)).collect();
        let order = &ways.flow.order;
        let used: Vec<_> = order.iter().map(|block| maker.parts(of_block(*block))).collect();
        let edges = maker.edges();
        let mut at = vec![FixedBitSet::with_capacity(maker.values.len()); body.blocks.len()];
        for (block, used) in order.iter().zip(used) {
            at[block.0 as usize].extend(used);
        }
        let defined = maker.defined();
        let mut changed = true;
        while changed {
            changed = false;
            for block in order.iter().rev() {
                let mut set = at[block.0 as usize].clone();
                for next in &body[*block].next {
                    let after = &at[next.0 as usize];
                    let mut passing = after.clone();
                    for number in defined.get(next).into_iter().flatten() {
                        passing.set(*number, false);
                    }
                    set.union_with(&passing);
                    let comes = edges.get(&(*block, *next)).into_iter().flatten();
                    for (_, parts) in comes.filter(|(phi, _)| after.contains(*phi)) {
                        set.extend(parts.iter().copied());
                    }
                }
                changed |= set != at[block.0 as usize];
                at[block.0 as usize] = set;
            }
        }
        Sets { numbers: maker.numbers, at }
    }

    fn contains(&self, block: BlockId, value: Value) -> bool {
        let number = self.numbers.get(&value);
        number.is_some_and(|number| self.at[block.0 as usize].contains(*number))
    }
}

/// By edge: its phis, and what each then depends on.
type Edges = FxHashMap<(BlockId, BlockId), Vec<(usize, Vec<usize>)>>;

/// Numbers values as they appear.
struct Maker<'b> {
    body: &'b Body,
    blocks: &'b [BlockId],
    numbers: FxHashMap<Value, usize>,
    values: Vec<Value>,
}

impl Maker<'_> {
    /// What sums and conditions may be made of that values are computed by.
    fn parts(&mut self, mut open: Vec<Value>) -> Vec<usize> {
        let mut seen = FxHashSet::default();
        let mut parts = Vec::new();
        while let Some(value) = open.pop() {
            let value = match value {
                Value::Int(_) | Value::Opaque => continue,
                Value::Global(id, _) => Value::Global(id, 0),
                other => other,
            };
            if !seen.insert(value) {
                continue;
            }
            parts.push(self.number(value));
            let Value::Inst(id) = value else { continue };
            let inst = &self.body[id];
            match &inst.op {
                Op::Cast | Op::Offset(..) | Op::Binary(_) | Op::Compare(_) => {
                    open.extend(&inst.args);
                }
                Op::Phi(from) if from.len() == 1 => open.extend(&inst.args),
                _ => {}
            }
        }
        parts
    }

    fn number(&mut self, value: Value) -> usize {
        let values = &mut self.values;
        *self.numbers.entry(value).or_insert_with(|| {
            values.push(value);
            values.len() - 1
        })
    }

    /// What phis that matter take along edges; numbers what these depend on, too.
    fn edges(&mut self) -> Edges {
        let mut edges = Edges::default();
        let mut phi = 0;
        while let Some(value) = self.values.get(phi).copied() {
            if let Value::Inst(id) = value
                && let Op::Phi(from) = &self.body[id].op
                && from.len() > 1
            {
                let to = self.blocks[id.0 as usize];
                for (from, arg) in from.iter().zip(&self.body[id].args) {
                    let parts = self.parts(vec![*arg]);
                    edges.entry((*from, to)).or_default().push((phi, parts));
                }
            }
            phi += 1;
        }
        edges
    }

    /// By block: values computed there.
    fn defined(&self) -> FxHashMap<BlockId, Vec<usize>> {
        let mut defined: FxHashMap<_, Vec<_>> = FxHashMap::default();
        for (number, value) in self.values.iter().enumerate() {
            if let Value::Inst(id) = value {
                defined.entry(self.blocks[id.0 as usize]).or_default().push(number);
            }
        }
        defined
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use commsan_ir::{Block, Inst, Place};

    /// 0 → 1 ⇄ 2, 1 → 3. A parameter decides in 0; the loop counts from another one.
    fn body() -> Body {
        let mut body = Body::default();
        let mut block = |next: &[u32], code: Vec<(Op, Vec<Value>)>| {
            let mut numbers = Vec::new();
            for (op, args) in code {
                numbers.push(InstId(body.code.len() as u32));
                let args = args.into_iter().collect();
                body.code.push(Inst { op, args, at: Place::default() });
            }
            let next = next.iter().map(|next| BlockId(*next)).collect();
            body.blocks.push(Block { code: numbers, next, unwind: None });
        };
        let value = |number| Value::Inst(InstId(number));
        let phi = Op::Phi([BlockId(0), BlockId(2)].into());
        let add = Op::Binary(commsan_ir::Binary::Add);
        block(&[1, 3], vec![(Op::Branch, vec![Value::Param(0)])]);
        block(&[2, 3], vec![(phi, vec![Value::Param(1), value(3)]), (Op::Branch, vec![value(1)])]);
        block(&[1], vec![(add, vec![value(1), Value::Int(1)]), (Op::Goto, vec![])]);
        block(&[], vec![(Op::Return, vec![])]);
        body
    }

    #[test]
    fn what_is_asked_for_matters_up_to_there() {
        let body = body();
        let blocks = [0, 1, 1, 2, 2, 3].map(BlockId);
        let branches = |id: InstId| match body[id].op {
            Op::Branch => body[id].args.to_vec(),
            _ => Vec::new(),
        };
        let sets = Sets::of(&body, &Ways::of(&body), &blocks, branches);
        let at = |value| [0, 1, 2, 3].map(|block| sets.contains(BlockId(block), value));
        assert_eq!(at(Value::Param(0)), [true, false, false, false]);
        // It goes into the phi, which is asked for.
        assert_eq!(at(Value::Param(1)), [true, false, false, false]);
        assert_eq!(at(Value::Inst(InstId(1))), [false, true, true, false]);
    }
}
