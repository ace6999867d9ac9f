//! Roots, reductions, counts and datatypes that a collective is given, where these follow from the
//! rank.

use super::Check;
use super::comm::OTHER;
use super::signature;
use super::terms::{self, Event};
use crate::places;
use commsan_findings::{Code, Finding, Role};
use commsan_ir::{Body, FunctionId, Op, Value};

/// Maximum depth to which an expression is followed.
const MAX_EXPR_DEPTH: usize = 6;

impl Check<'_, '_> {
    /// Looks at what each collective is given.
    pub(super) fn given(&mut self) {
        let mut places: Vec<_> = self.divergent.given.iter().collect();
        places.sort_unstable();
        let mut told = None;
        for ((function, id, place), labels) in places {
            let Some(body) = &self.program[*function].body else { continue };
            let inst = &body[*id];
            let Some(mpi) = self.comms.calls.at(inst) else { continue };
            let Some(name) = terms::collective(mpi) else { continue };
            let Some(comm) = self.comms.of_call(*function, inst, mpi) else { continue };
            let Some(argument) = inst.args.get(*place).copied() else { continue };
            let Some(call) = mpi.call else { continue };
            let is_root = call.at.root == Some(*place);
            let is_rank = self.is_rank(*function, terms::named(body, argument), 1);
            let is_count = signature::is_count(call, *place);
            let is_amount = !is_root && call.at.op != Some(*place);
            let follows = || {
                labels & OTHER == 0
                    && self.follows(*function, body, argument, MAX_EXPR_DEPTH) == Some(true)
            };
            let wrong = match is_amount {
                true => !mpi.by_reference && self.is_own(*function, body, argument, is_count),
                false => is_root && is_rank || !mpi.by_reference && follows(),
            };
            if !wrong || !self.comms.differ(*function, comm, *labels) {
                continue;
            }
            // What is sent and what is received is one amount.
            if is_amount && told.replace((*function, *id)) == Some((*function, *id)) {
                continue;
            }
            let event = Event { function: *function, inst: *id, name, comm, nonblocking: false };
            let (code, what, rule, help) = match is_root {
                _ if is_amount => (
                    Code::SignaturesDiffer,
                    if is_count { "count" } else { "datatype" },
                    signature::RULE,
                    "pass the same count and datatype on all ranks, or call a variant that takes a count for \
                     each rank",
                ),
                true => (
                    Code::RootsDiffer,
                    "root",
                    "all ranks must name the same root (MPI 4.1 §6.1)",
                    "name the same root on all ranks, a constant or a value that all have received by a \
                     broadcast",
                ),
                false => (
                    Code::ReductionsDiffer,
                    "reduction",
                    "all ranks must name the same reduction (MPI 4.1 §6.9)",
                    "name the same reduction on all ranks",
                ),
            };
            let label = match is_rank {
                true => format!("the {what} of this `{name}` is the rank itself"),
                false => format!("the {what} of this `{name}` follows from the rank"),
            };
            let sites = vec![self.site(&event, Role::Access, label)];
            let message = format!("`{name}` is called with different {what}s by different ranks");
            let finding = places::finding(code, message, sites, rule.to_owned(), help.to_owned());
            // Sums with the rank are as certain as the rank.
            let chosen = matches!(argument, Value::Inst(id) if matches!(body[id].op, Op::Phi(_) | Op::Select));
            let certain = is_rank || is_amount && is_count && !chosen;
            self.found.push(Finding { possible: !certain, ..finding });
        }
    }

    /// Whether a value that differs is computed from the rank and what is the same on all, or is
    /// one of several constants. None where it may be a negative number: those are the roots of
    /// intercommunicators.
    fn follows(
        &self,
        function: FunctionId,
        body: &Body,
        value: Value,
        depth: usize,
    ) -> Option<bool> {
        let id = match value {
            Value::Int(number) if number < 0 => return None,
            Value::Inst(id) => id,
            _ => return Some(self.is_rank(function, value, 1)),
        };
        if self.is_rank(function, terms::named(body, value), 1) {
            return Some(true);
        }
        let inst = &body[id];
        let operands = match inst.op {
            Op::Binary(_) | Op::Cast | Op::Phi(_) => &inst.args[..],
            Op::Select => &inst.args[1..],
            _ => return Some(false),
        };
        let depth = depth.checked_sub(1)?;
        let chosen = matches!(inst.op, Op::Phi(_) | Op::Select);
        let mut follows = chosen
            && operands.iter().all(|value| matches!(value, Value::Int(_) | Value::Global(..)))
            && operands.windows(2).any(|pair| pair[0] != pair[1]);
        for operand in operands {
            follows |= self.follows(function, body, *operand, depth)?;
        }
        Some(follows)
    }
}
