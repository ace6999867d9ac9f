//! Handles of what has been freed on one side of a condition only, where they are used whatever the
//! condition says: `if (rank == 0) MPI_Type_free(&type);` and then a send of `type`.
//!
//! From the call that frees all ways lead to the use, and none to anything that writes the variable
//! before, or ends the program.

use super::{Content, Done, Tracked, Variable};
use commsan_ir::graph::post_dominators;
use commsan_ir::{BlockId, Body, Callee, Inst, InstId, Op, Value};
use commsan_mpi_calls::{Effect, Object};
use rustc_hash::FxHashSet;

/// A variable whose handle is used after it may have been freed.
pub struct Use {
    /// The load, or the call that is passed the address as this argument.
    pub by: InstId,
    pub place: Option<usize>,
    pub content: Content,
}

/// Of a function.
pub fn uses(tracked: &Tracked) -> Vec<Use> {
    let body = tracked.body;
    let mut found = Vec::new();
    let mut after = None;
    for block in body.block_ids() {
        for (at, (id, inst)) in body.instructions(block).enumerate() {
            for (variable, object) in freed(tracked, inst) {
                let after = after.get_or_insert_with(|| post_dominators(body));
                let free =
                    Free { tracked, variable, block, at, content: Content::Sometimes(object, id) };
                free.uses(after, &mut found);
            }
        }
    }
    found
}

/// The variables in which a call leaves null handles.
fn freed(tracked: &Tracked, inst: &Inst) -> Vec<(InstId, Object)> {
    if !matches!(inst.op, Op::Call(_)) {
        return Vec::new();
    }
    let variable = |(place, arg): (usize, &Value)| match (
        tracked.variable(Some(arg))?,
        tracked.done(inst, place),
    ) {
        (Variable::Local(id), Done::Freed(object)) if !tracked.shared.contains(&id) => {
            Some((id, object))
        }
        _ => None,
    };
    inst.args.iter().enumerate().filter_map(variable).collect()
}

/// A call that frees what is in a variable.
struct Free<'t, 'p> {
    tracked: &'t Tracked<'p>,
    variable: InstId,
    block: BlockId,
    at: usize,
    content: Content,
}

impl Free<'_, '_> {
    fn uses(&self, after: &[Option<BlockId>], found: &mut Vec<Use>) {
        let body = self.tracked.body;
        let writes = |id: &InstId| self.writes(&body[*id]) || self.ends(&body[*id]);
        if body[self.block].code[self.at + 1..].iter().any(writes) {
            return;
        }
        let written = self.written(body);
        let mut at = after[self.block.0 as usize];
        while let Some(block) = at.filter(|at| !written.contains(at)) {
            for (id, inst) in body.instructions(block) {
                match inst.op {
                    Op::Load(_) if inst.args.first() == Some(&Value::Inst(self.variable)) => {
                        found.push(Use { by: id, place: None, content: self.content });
                    }
                    Op::Call(_) => {
                        let at = Value::Inst(self.variable);
                        let places = inst.args.iter().enumerate().filter(|(_, arg)| **arg == at);
                        let content = self.content;
                        found.extend(places.map(|(place, _)| Use {
                            by: id,
                            place: Some(place),
                            content,
                        }));
                    }
                    _ => {}
                }
                if self.writes(inst) {
                    return;
                }
            }
            at = after[block.0 as usize];
        }
    }

    /// Blocks that are reached from something that writes the variable after this.
    fn written(&self, body: &Body) -> FxHashSet<BlockId> {
        let (mut seen, mut written) = (FxHashSet::default(), FxHashSet::default());
        let mut open: Vec<_> = body[self.block].next.iter().map(|next| (*next, false)).collect();
        while let Some((block, dirty)) = open.pop() {
            let known = if dirty { &mut written } else { &mut seen };
            if !known.insert(block) {
                continue;
            }
            let dirty = dirty
                || body.instructions(block).any(|(_, inst)| self.writes(inst) || self.ends(inst));
            open.extend(body[block].next.iter().map(|next| (*next, dirty)));
        }
        written
    }

    /// Whether a call may end the program, by itself or in a function that does little else.
    fn ends(&self, inst: &Inst) -> bool {
        let aborts = |inst: &Inst| {
            let call = self.tracked.calls.at(inst).and_then(|mpi| mpi.call);
            call.is_some_and(|call| call.effect == Effect::Abort)
        };
        let body = match inst.op {
            Op::Call(Callee::Direct(callee)) => self.tracked.program[callee].body.as_ref(),
            _ => None,
        };
        aborts(inst) || body.is_some_and(|body| body.code.iter().any(aborts))
    }

    fn writes(&self, inst: &Inst) -> bool {
        let at = Value::Inst(self.variable);
        match inst.op {
            Op::Store(_) => inst.args.get(1) == Some(&at),
            Op::Call(_) => inst.args.iter().enumerate().any(|(place, arg)| {
                *arg == at && !matches!(self.tracked.done(inst, place), Done::Nothing)
            }),
            _ => false,
        }
    }
}
