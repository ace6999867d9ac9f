//! Havoc: skips a region under an unknown condition and forgets everything that it may write.

use super::interpreter::{Interpreter, Stop};
use super::store::{Datum, ObjectId, Origin};
use crate::library::Library;
use commsan_ir::{BlockId, Callee, FunctionId, Inst, InstId, Op, Value};

impl Interpreter<'_, '_> {
    /// Goes past the code that a condition decides about: whatever it may do is not known
    /// afterwards. Where it may call MPI, nobody knows how the rank goes on. A `loop_only`
    /// condition is one of a loop's own.
    pub(super) fn skip(&mut self, loop_only: bool) -> Result<(), Stop> {
        let (function, block) = (self.frame().function, self.frame().block);
        let region = self.text.region(function, block).ok_or(Stop::Lost)?;
        if loop_only && !region.blocks.contains(&block) {
            return Err(Stop::Lost);
        }
        let body = self.body();
        let inside: Vec<_> =
            region.blocks.iter().flat_map(|block| body[*block].code.iter()).collect();
        let mut changed = Vec::new();
        for id in &inside {
            let inst = &body[**id];
            let target = match inst.op {
                Op::Store(_) => inst.args[1],
                Op::Atomic(_) if inst.args.len() > 1 => inst.args[0],
                Op::Copy | Op::Fill => inst.args[0],
                Op::Call(Callee::Direct(callee)) => {
                    changed.extend(self.changed_by(callee, inst, &region.blocks)?);
                    continue;
                }
                _ => continue,
            };
            changed.extend(self.objects_at(target, &region.blocks).ok_or(Stop::Lost)?);
        }
        for object in changed {
            self.store.forget(object);
        }
        let phis = self.phis_after(&region.blocks, block, region.end);
        for id in inside {
            self.result(*id, Datum::Unknown);
        }
        self.begin(region.end, &phis);
        Ok(())
    }

    /// What comes together behind a region: what all ways agree on.
    fn phis_after(
        &mut self,
        region: &[BlockId],
        block: BlockId,
        end: BlockId,
    ) -> Vec<(InstId, Datum)> {
        let body = self.body();
        let phis = body.instructions(end).map_while(|(id, inst)| match &inst.op {
            Op::Phi(blocks) => Some((id, inst, blocks)),
            _ => None,
        });
        let mut found = Vec::new();
        for (id, inst, blocks) in phis {
            let from = blocks.iter().zip(&inst.args);
            let from = from.filter(|(from, _)| region.contains(from) || **from == block);
            let values: Vec<_> = from.map(|(_, value)| *value).collect();
            let known: Vec<_> = values
                .into_iter()
                .map(
                    |value| {
                        if self.is_in(value, region) { Datum::Unknown } else { self.value(value) }
                    },
                )
                .collect();
            let first = known.first().copied().unwrap_or(Datum::Unknown);
            let same = known.iter().all(|datum| *datum == first);
            found.push((id, if same { first } else { Datum::Unknown }));
        }
        found
    }

    /// Whether a value is made within these blocks.
    fn is_in(&self, value: Value, region: &[BlockId]) -> bool {
        let Value::Inst(id) = value else { return false };
        region.iter().any(|block| self.body()[*block].code.contains(&id))
    }

    /// The objects that a function may change that is called in a region.
    fn changed_by(
        &mut self,
        callee: FunctionId,
        inst: &Inst,
        region: &[BlockId],
    ) -> Result<Vec<ObjectId>, Stop> {
        let called = &self.text.program[callee];
        let harmless = called.body.is_none() && Library::of(&called.name) == Library::Nothing;
        if harmless || self.text.is_idle(callee) {
            return Ok(Vec::new());
        }
        let mut known = Vec::new();
        for value in &inst.args {
            // Numbers and the like have no objects.
            known.extend(self.objects_at(*value, region).unwrap_or_default());
        }
        if called.body.is_some() {
            known.extend(self.globals.values().copied());
        }
        let reached = self.store.reached(known);
        let is_variable = |object: &ObjectId| match self.store.get(*object).origin {
            Origin::Global(id) => !self.text.program[id].constant,
            _ => true,
        };
        Ok(reached.into_iter().filter(is_variable).collect())
    }

    /// The objects that an address may be in, which is perhaps made in a region that has not run.
    pub(super) fn objects_at(&mut self, value: Value, region: &[BlockId]) -> Option<Vec<ObjectId>> {
        let mut open = vec![value];
        let (mut seen, mut found) = (Vec::new(), Vec::new());
        while let Some(value) = open.pop() {
            if seen.contains(&value) {
                continue;
            }
            seen.push(value);
            if !self.is_in(value, region)
                && let Datum::Address(object, _) = self.value(value)
            {
                found.push(object);
                continue;
            }
            let Value::Inst(id) = value else {
                if matches!(value, Value::Int(_) | Value::Opaque) {
                    continue;
                }
                return None;
            };
            let inst = &self.body()[id];
            match inst.op {
                Op::Offset(..) | Op::Cast => open.push(inst.args[0]),
                Op::Phi(_) => open.extend(&inst.args),
                Op::Select => open.extend(&inst.args[1..]),
                Op::Mix => open.extend(&inst.args),
                // Of the region itself: new, or what others forget.
                Op::Alloca(_) => {}
                Op::Load(_) => {
                    for object in self.objects_at(inst.args[0], region)? {
                        found.extend(self.store.addresses(object).collect::<Vec<_>>());
                    }
                }
                _ => return None,
            }
        }
        Some(found)
    }
}
