//! Results that every caller takes as the end of the job: `if (load() != 0) MPI_Abort(…)`.

use crate::Calls;
use crate::callgraph::CallGraph;
use crate::levels;
use commsan_ir::{BlockId, Body, FunctionId, InstId, Op, Program, Value};

/// Maximum number of levels of callers that are examined.
const MAX_CALLER_DEPTH: usize = 4;
/// Maximum number of blocks of a branch-free path to the end of the program.
const MAX_PATH_BLOCKS: usize = 16;

/// Where failures lead to.
pub struct Failures<'f> {
    pub program: &'f Program,
    pub mpi: &'f Calls,
    pub calls: &'f CallGraph,
}

impl Failures<'_> {
    /// Whether a block leads out of its function with a result that ends the job.
    pub fn end_with(&self, function: FunctionId, body: &Body, block: BlockId) -> bool {
        self.returns_failure(function, body, block, MAX_CALLER_DEPTH)
    }

    fn returns_failure(
        &self,
        function: FunctionId,
        body: &Body,
        from: BlockId,
        depth: usize,
    ) -> bool {
        let [next] = *body[from].next else { return false };
        let Some(end) = body.end(next).filter(|end| end.op == Op::Return) else { return false };
        let Some(Value::Inst(id)) = end.args.first() else { return false };
        let Op::Phi(blocks) = &body[*id].op else { return false };
        let mut results = blocks.iter().zip(&body[*id].args);
        match results.find(|(block, _)| **block == from) {
            Some((_, Value::Int(result))) => self.is_fatal(function, *result, depth),
            _ => false,
        }
    }

    /// Whether the job ends if the function returns this.
    fn is_fatal(&self, function: FunctionId, result: i64, depth: usize) -> bool {
        if levels::MAINS.contains(&&*self.program[function].name) {
            return result != 0;
        }
        let Some(depth) = depth.checked_sub(1) else { return false };
        let callers = self.calls.callers(function);
        !callers.is_empty()
            && callers.iter().all(|(caller, call)| {
                let body = self.program[*caller].body.as_ref();
                body.is_some_and(|body| self.gives_up(*caller, body, *call, result, depth))
            })
    }

    /// Whether a caller tests the result of a call at once, and does not go on if it is this.
    fn gives_up(
        &self,
        caller: FunctionId,
        body: &Body,
        call: InstId,
        result: i64,
        depth: usize,
    ) -> bool {
        let mut blocks = (0..body.blocks.len() as u32).map(BlockId);
        let Some(block) = blocks.find(|block| body[*block].code.contains(&call)) else {
            return false;
        };
        let asked = body.end(block).filter(|end| end.op == Op::Branch).and_then(|end| {
            let Value::Inst(id) = end.args[0] else { return None };
            answer(body, id, call, result)
        });
        let Some(&way) = asked.and_then(|yes| body[block].next.get(usize::from(!yes))) else {
            return false;
        };
        self.ends_job(caller, body, way, depth)
    }

    fn ends_job(&self, function: FunctionId, body: &Body, from: BlockId, depth: usize) -> bool {
        let mut at = from;
        for _ in 0..MAX_PATH_BLOCKS {
            let aborts = |inst| self.mpi.at(inst).is_some_and(|mpi| mpi.name == "MPI_Abort");
            if body.instructions(at).any(|(_, inst)| aborts(inst))
                || body.end(at).is_some_and(|end| end.op == Op::Unreachable)
                || self.returns_failure(function, body, at, depth)
            {
                return true;
            }
            let [next] = *body[at].next else { return false };
            at = next;
        }
        false
    }
}

/// Whether a condition on the result of a call holds if it is this.
fn answer(body: &Body, condition: InstId, call: InstId, result: i64) -> Option<bool> {
    let inst = &body[condition];
    match (&inst.op, &*inst.args) {
        (Op::Cast, [Value::Inst(inner)]) => answer(body, *inner, call, result),
        (Op::Compare(comparison), [left, Value::Int(with)]) if is_of(body, *left, call) => {
            comparison.of(result, *with)
        }
        _ => None,
    }
}

fn is_of(body: &Body, value: Value, call: InstId) -> bool {
    match value {
        Value::Inst(id) if id == call => true,
        Value::Inst(id) if body[id].op == Op::Cast => is_of(body, body[id].args[0], call),
        _ => false,
    }
}
