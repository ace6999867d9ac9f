//! Calls on a way of which nothing is known: functions that are not analysed, and pointers to
//! unknown functions. They may call collectives, so that what seems to be missing on that way may
//! be there.
//!
//! **Never misreported**: a call counts only if it lies on that way alone. **Missed**: such calls
//! in loops around the branch, in functions of the C library's name.

use super::comm::Comms;
use super::terms::Choice;
use crate::callgraph;
use crate::library::Library;
use commsan_ir::{BlockId, Body, Callee, FunctionId, Inst, Op};
use commsan_points_to::library;
use rustc_hash::FxHashSet;

/// Calls of unknown functions in a program.
pub struct Unverified<'c, 'p> {
    comms: &'c Comms<'p>,
    /// Functions from which one is reached.
    functions: FxHashSet<FunctionId>,
}

impl<'c, 'p> Unverified<'c, 'p> {
    pub fn new(comms: &'c Comms<'p>) -> Self {
        let mut unverified = Unverified { comms, functions: FxHashSet::default() };
        let calls = |id: FunctionId, body: &Body| {
            body.code.iter().any(|inst| unverified.unknown(id, inst).is_some())
        };
        let direct: Vec<_> = callgraph::with(comms.program, calls).collect();
        unverified.functions = comms.graph.reaching(direct);
        unverified
    }

    /// The first such call on one way out of a branch and on no other.
    pub fn on_way(&self, choice: &Choice, way: usize) -> Option<String> {
        let body = self.comms.program[choice.function].body.as_ref()?;
        let block = body.block_ids().find(|block| body[*block].code.contains(&choice.inst))?;
        let next = &body[block].next;
        let own = reached(body, &[*next.get(way)?]);
        let others: Vec<_> =
            next.iter().enumerate().filter(|(at, _)| *at != way).map(|(_, next)| *next).collect();
        let others = reached(body, &others);
        let blocks =
            body.block_ids().filter(|block| own.contains(block) && !others.contains(block));
        blocks.flat_map(|block| &body[block].code).find_map(|id| {
            let inst = &body[*id];
            if let Some(name) = self.unknown(choice.function, inst) {
                return Some(name);
            }
            let Op::Call(Callee::Direct(callee)) = inst.op else { return None };
            let is_one = self.functions.contains(&callee);
            is_one.then(|| format!("what `{}` calls", self.comms.program[callee].shown))
        })
    }

    /// What an instruction calls, if nothing is known of it.
    fn unknown(&self, function: FunctionId, inst: &Inst) -> Option<String> {
        let comms = self.comms;
        match inst.op {
            Op::Call(Callee::Direct(callee)) => {
                let (of, name) = (&comms.program[callee], &*comms.program[callee].name);
                let is_known = of.body.is_some()
                    || comms.calls.get(callee).is_some()
                    || !matches!(Library::of(name), Library::Anything | Library::Forks)
                    || library::Library::of(name).is_some()
                    || ["omp_", "__kmpc_", "pthread_", "_ZNS", "_ZS", "_ZNKS", "__cxa_"]
                        .iter()
                        .any(|with| name.starts_with(with));
                (!is_known).then(|| format!("`{}`", of.shown))
            }
            Op::Call(Callee::Indirect) => {
                let callees = comms.points_to.callees(function, inst);
                let is_known = callees.is_some_and(|callees| !callees.is_empty());
                (!is_known).then(|| "a function behind a pointer".to_owned())
            }
            _ => None,
        }
    }
}

/// Blocks reached from these.
fn reached(body: &Body, from: &[BlockId]) -> FxHashSet<BlockId> {
    let (mut found, mut open) = (FxHashSet::default(), from.to_vec());
    while let Some(block) = open.pop() {
        if found.insert(block) {
            open.extend(&body[block].next);
        }
    }
    found
}
