//! Local concurrency (after RMA local concurrency errors): conflicting accesses of one process to
//! the buffers of its own pending operations, nonblocking and one-sided, and misuse of requests.
//!
//! ```text
//! function ─ flat ─▶ one body ─ cells ─▶ memory as values ─ walk ─▶ violations ─▶ findings
//! ```
//!
//! An operation uses its buffer from the call that starts it to the call that completes it (MPI 4.1
//! §3.7.2, §3.7.3, §12.3). From each start all paths are followed (`walk.rs`), through callees
//! (`flat.rs`), to accesses of the same bytes. A finding is **certain** if no path from the
//! operation to the access completes it, and **possible** if some do and others do not, and the
//! condition that decides is one that the start does not depend on.
//!
//! **Never misreported**: addresses that cannot be compared do not overlap; a call that may
//! complete the operation does; an unknown condition that depends on the loop's own state rules the
//! violation out. Two false positives remain, both reported as possible only: a condition that in
//! truth never holds, and irregular indices that never repeat.
//!
//! **Missed**: addresses that differ from the buffer's by more than constants; derived datatypes;
//! operations whose request or window is known to functions outside the program; accesses in
//! functions that are too large together (`flat.rs`), in recursion, and where exceptions are
//! caught; other threads.

mod cells;
mod coverage;
mod effects;
mod effort;
mod first;
mod flat;
mod found;
mod linear;
mod live;
mod loops;
mod operation;
mod report;
mod state;
mod uses;
mod walk;

use crate::callgraph::CallGraph;
use crate::environment::Environment;
use crate::{Analysis, Calls};
use commsan_ir::{Body, Callee, FunctionId, Inst, Op, Program, Value};
use commsan_mpi_calls::Effect;
use commsan_points_to::PointsTo;
use coverage::Coverage;
use effects::View;
use effort::Effort;
use flat::Flat;
use loops::Ways;
use rustc_hash::FxHashSet;
use walk::Walker;

/// Checks.
pub fn check(
    program: &Program,
    calls: &Calls,
    points_to: &PointsTo,
    environment: &Environment,
    analysis: &mut Analysis,
) {
    let starting = starting(program, calls, points_to);
    let mut checker = Checker {
        program,
        calls,
        points_to,
        environment,
        effort: Effort::of(program),
        seen: FxHashSet::default(),
        coverage: Coverage::default(),
    };
    // After the roots what is not reached from there, as it is called through pointers, or
    // recursion.
    for root in roots(program).into_iter().chain(program.defined().map(|(id, ..)| id)) {
        if starting.contains(&root) && !checker.seen.contains(&root) {
            checker.check(root, analysis);
        }
    }
    analysis.followed = checker.coverage.sum(program, calls);
}

struct Checker<'p> {
    program: &'p Program,
    calls: &'p Calls,
    points_to: &'p PointsTo,
    environment: &'p Environment,
    effort: Effort,
    /// Functions that were looked at, by themselves or in place of a call.
    seen: FxHashSet<FunctionId>,
    coverage: Coverage,
}

impl Checker<'_> {
    fn check(&mut self, root: FunctionId, analysis: &mut Analysis) {
        let flat = Flat::of(self.program, self.points_to, root);
        self.seen.extend(flat.frames.iter().map(|frame| frame.function));
        let view = View::new(self.program, self.calls, self.points_to, self.environment, flat);
        let ways = Ways::of(&view.flat.body);
        let (operations, skipped) = view.operations(&ways.order());
        for (start, why) in skipped {
            self.coverage.skipped(&view, start, why);
        }
        if operations.is_empty() {
            return;
        }
        let walker = Walker::new(&view, &ways, &self.effort);
        let basis = walker.basis();
        for operation in operations {
            // Conditions that are never true may guard it.
            let Some(found) = walker.follow(&basis, &operation) else { continue };
            self.coverage.walked(&walker, &operation, found.as_ref());
            let Some(found) = found else { continue };
            let mut findings = report::findings(&walker, &operation, &found);
            if let Some(mut first) = walker.follow_first(&basis, &operation).flatten() {
                first.keep_new(&found);
                findings.extend(report::findings(&walker, &operation, &first));
            }
            for finding in findings {
                if !analysis.findings.contains(&finding) {
                    analysis.findings.push(finding);
                }
            }
        }
    }
}

/// Functions that nobody in the program calls.
fn roots(program: &Program) -> Vec<FunctionId> {
    let mut called = FxHashSet::default();
    for (_, _, body) in program.defined() {
        for inst in &body.code {
            let Op::Call(Callee::Direct(callee)) = inst.op else { continue };
            called.insert(callee);
            // Regions of OpenMP.
            let forks = program[callee].name.starts_with("__kmpc_fork");
            called.extend(inst.args.iter().filter_map(|arg| match arg {
                Value::Function(region) if forks => Some(*region),
                _ => None,
            }));
        }
    }
    program.defined().map(|(id, ..)| id).filter(|id| !called.contains(id)).collect()
}

/// Functions that start operations, or call those that do.
fn starting(program: &Program, calls: &Calls, points_to: &PointsTo) -> FxHashSet<FunctionId> {
    let starts = |function: FunctionId| {
        let call = calls.get(function).and_then(|mpi| mpi.call);
        let effect = call.map(|call| call.effect);
        matches!(
            effect,
            Some(Effect::Start | Effect::Go | Effect::GoAll | Effect::Rma | Effect::SplitBegin)
        )
    };
    let called = |id, _: &Body, inst: &Inst| {
        let mut callees = points_to.callees(id, inst).unwrap_or_default();
        if matches!(inst.op, Op::Call(_)) {
            callees.extend(inst.args.iter().filter_map(|arg| match arg {
                Value::Function(region) => Some(*region),
                _ => None,
            }));
        }
        callees
    };
    let functions = (0..program.functions.len() as u32).map(FunctionId);
    CallGraph::of(program, called).reaching(functions.filter(|id| starts(*id)))
}
