//! Def-use chains: users of a value, and loads of a variable.

use super::effects::View;
use super::linear::{Known, Linear};
use commsan_ir::{InstId, Op, Value};
use rustc_hash::FxHashMap;

/// Instructions of a flat function by what they use.
#[derive(Debug, Default)]
pub struct Uses {
    of: FxHashMap<InstId, Vec<InstId>>,
    reads: FxHashMap<Value, Vec<InstId>>,
}

impl Uses {
    pub fn of(view: &View) -> Uses {
        let body = &view.flat.body;
        let mut uses = Uses::default();
        for id in body.blocks.iter().flat_map(|block| &block.code) {
            for arg in &body[*id].args {
                let Value::Inst(used) = arg else { continue };
                let users = uses.of.entry(*used).or_default();
                if users.last() != Some(id) {
                    users.push(*id);
                }
            }
            if !matches!(body[*id].op, Op::Copy | Op::Load(_)) {
                continue;
            }
            let known = Known::default();
            for touch in view.touches(&known, *id).iter().filter(|touch| !touch.writes) {
                let sum = Linear::of(body, &known, touch.address);
                if let Some(object) = sum.and_then(|sum| object(view, &sum)) {
                    uses.reads.entry(object).or_default().push(*id);
                }
            }
        }
        uses
    }

    /// Instructions that use a value.
    pub fn of_value(&self, id: InstId) -> impl Iterator<Item = InstId> {
        self.of.get(&id).into_iter().flatten().copied()
    }

    /// Loads and copies from the variable, or behind the pointer, that an address is made of.
    pub fn reads(&self, object: Value) -> impl Iterator<Item = InstId> {
        self.reads.get(&object).into_iter().flatten().copied()
    }
}

/// The variable that an address lies in, or else the pointer that it is made of.
pub fn object(view: &View, address: &Linear) -> Option<Value> {
    address.variable(&view.flat.body).or_else(|| address.base())
}
