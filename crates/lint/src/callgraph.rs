//! The call graph, with indirect calls resolved by points-to analysis.

use crate::openmp::{Runtime, created, runtime, task_entry};
use commsan_ir::{Body, Callee, FunctionId, Inst, InstId, Op, Program};
use commsan_points_to::PointsTo;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};

/// The calls of each function.
pub struct CallGraph {
    callers: FxHashMap<FunctionId, Vec<(FunctionId, InstId)>>,
}

impl CallGraph {
    /// Of a program in which an instruction calls what `callees` says.
    pub fn of<C>(program: &Program, callees: impl Fn(FunctionId, &Body, &Inst) -> C) -> CallGraph
    where
        C: IntoIterator<Item = FunctionId>,
    {
        let mut callers: FxHashMap<_, Vec<_>> = FxHashMap::default();
        for (id, _, body) in program.defined() {
            for (index, inst) in body.code.iter().enumerate() {
                for callee in callees(id, body, inst) {
                    callers.entry(callee).or_default().push((id, InstId(index as u32)));
                }
            }
        }
        CallGraph { callers }
    }

    /// The calls of a function.
    pub fn callers(&self, function: FunctionId) -> &[(FunctionId, InstId)] {
        self.callers.get(&function).map_or(&[], Vec::as_slice)
    }

    /// Functions, and all from which they are reached.
    pub fn reaching(
        &self,
        functions: impl IntoIterator<Item = FunctionId>,
    ) -> FxHashSet<FunctionId> {
        let mut open: Vec<_> = functions.into_iter().collect();
        let mut found = FxHashSet::default();
        while let Some(function) = open.pop() {
            if found.insert(function) {
                open.extend(self.callers(function).iter().map(|(caller, _)| *caller));
            }
        }
        found
    }
}

/// Functions selected by a property of their code.
pub fn with(
    program: &Program,
    kind: impl Fn(FunctionId, &Body) -> bool,
) -> impl Iterator<Item = FunctionId> {
    program.defined().filter(move |(id, _, body)| kind(*id, body)).map(|(id, ..)| id)
}

/// The functions one of which an instruction calls: several where it does so through a pointer,
/// none where nothing is known of that.
pub fn callees(
    points_to: &PointsTo,
    function: FunctionId,
    inst: &Inst,
) -> SmallVec<[FunctionId; 1]> {
    match inst.op {
        Op::Call(Callee::Direct(callee)) => smallvec![callee],
        Op::Call(Callee::Indirect) => points_to.callees(function, inst).unwrap_or_default().into(),
        _ => SmallVec::new(),
    }
}

/// Whom an instruction calls, or starts in other threads.
pub fn called(
    program: &Program,
    points_to: &PointsTo,
    function: FunctionId,
    body: &Body,
    inst: &Inst,
) -> impl Iterator<Item = FunctionId> + use<> {
    let started = started(program, body, inst).map(|(callee, _)| callee);
    let others = created(program, inst).into_iter().skip(1);
    let called = points_to.callees(function, inst).unwrap_or_default();
    started.into_iter().chain(others).chain(called)
}

/// The function that a call starts in other threads, and the first argument that it is given.
pub fn started(program: &Program, body: &Body, inst: &Inst) -> Option<(FunctionId, usize)> {
    if !matches!(inst.op, Op::Call(Callee::Direct(_))) {
        return None;
    }
    match runtime(program, inst)? {
        Runtime::Fork(callee) | Runtime::Create(callee) => Some((callee?, 3)),
        Runtime::Task { task, .. } | Runtime::TaskLoop(task) => {
            Some((task_entry(program, body, task)?, usize::MAX))
        }
        _ => None,
    }
}
