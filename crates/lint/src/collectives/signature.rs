//! How much a collective moves, where ranks differ in it: by counts and datatypes that follow from
//! the rank, or that are constants, others on each side of a condition on the rank (MPI 4.1 §6.4 to
//! §6.12).
//!
//! Counts only of collectives to which all ranks pass the same amount, and only what every rank
//! passes: what the root alone is asked for may be anything elsewhere, and so may what is in place.
//! Derived datatypes may move as much in other pieces.

use super::Check;
use super::terms::{Event, named};
use crate::datatypes::{Basic, basic};
use commsan_ir::graph::dominators;
use commsan_ir::{BlockId, Body, FunctionId, Op, Value};
use commsan_mpi_calls::abi::HandleKind;
use commsan_mpi_calls::{Call, Extent, Fit, Flow, On, Role};

/// What the standard says.
pub const RULE: &str =
    "the counts and datatypes of all ranks must describe the same amount (MPI 4.1 §6.4-6.12)";

/// What every rank passes to a collective alike.
#[derive(Clone, Copy, Debug)]
pub struct Amount {
    pub buffer: usize,
    /// None where each rank may pass another one.
    pub count: Option<usize>,
    pub datatype: usize,
}

/// Of a call.
pub fn amounts(call: &Call) -> impl Iterator<Item = Amount> {
    let is_one = |place: usize| call.params[place].role == Role::Datatype;
    let rules = call.accesses.iter().filter(move |rule| {
        let whole = rule.on == On::All || call.params[rule.buffer].name == "buffer";
        let to_all = call.collective && call.flow != Flow::Neighbours;
        to_all && whole && is_one(rule.datatype)
    });
    rules.map(|rule| {
        let count = match rule.extent {
            Extent::Blocks { count, .. } if call.fit == Fit::Block => Some(count),
            _ => None,
        };
        Amount { buffer: rule.buffer, count, datatype: rule.datatype }
    })
}

/// Whether an argument is a count.
pub fn is_count(call: &Call, place: usize) -> bool {
    amounts(call).any(|amount| amount.count == Some(place))
}

/// Maximum depth to which an expression is followed.
const MAX_EXPR_DEPTH: usize = 6;

impl Check<'_, '_> {
    /// Whether two calls of the same collective pass amounts that are known and differ.
    pub(super) fn signatures_differ(&self, one: &Event, two: &Event) -> bool {
        let Some(amount) = self.call(one).and_then(|call| amounts(call).next()) else {
            return false;
        };
        match (self.amount(one, amount), self.amount(two, amount)) {
            (Some((0, _)), Some((0, _))) => false,
            (Some(one), Some(two)) => one != two,
            _ => false,
        }
    }

    fn call(&self, event: &Event) -> Option<&'static Call> {
        let body = self.program[event.function].body.as_ref()?;
        self.comms.calls.at(&body[event.inst])?.call
    }

    /// What a call of C moves, if that is constant.
    fn amount(&self, event: &Event, amount: Amount) -> Option<(i64, Basic)> {
        let body = self.program[event.function].body.as_ref()?;
        let inst = &body[event.inst];
        let mpi = self.comms.calls.at(inst)?;
        // Numbers are MPI_IN_PLACE.
        if mpi.by_reference || matches!(inst.args.get(amount.buffer)?, Value::Int(at) if *at != 0) {
            return None;
        }
        let Value::Int(count) = *inst.args.get(amount.count?)? else { return None };
        Some((count, self.basic(*inst.args.get(amount.datatype)?)?))
    }

    /// What a predefined datatype is.
    fn basic(&self, datatype: Value) -> Option<Basic> {
        let environment = self.comms.environment;
        basic(environment.handle_of(self.program, HandleKind::Datatype, datatype)?)
    }

    /// Whether an argument differs between ranks, or between ranks that are distinguished by
    /// nothing but their number: counts, and datatypes of other elements.
    pub(super) fn is_own(
        &self,
        function: FunctionId,
        body: &Body,
        value: Value,
        count: bool,
    ) -> bool {
        match count {
            true => self.is_own_count(function, body, value, MAX_EXPR_DEPTH),
            false => self.options(function, body, value).is_some_and(|[one, other]| {
                let basics = (self.basic(one), self.basic(other));
                matches!(basics, (Some(one), Some(other)) if one != other)
            }),
        }
    }

    fn is_own_count(&self, function: FunctionId, body: &Body, value: Value, depth: usize) -> bool {
        if self.is_rank(function, named(body, value), 1) {
            return true;
        }
        let (Value::Inst(id), Some(depth)) = (value, depth.checked_sub(1)) else { return false };
        let inst = &body[id];
        let own = |value: &Value| self.is_own_count(function, body, *value, depth);
        match (&inst.op, &*inst.args) {
            (Op::Cast, [value]) => own(value),
            (Op::Binary(commsan_ir::Binary::Add | commsan_ir::Binary::Sub), [one, other]) => {
                match (one, other) {
                    (Value::Int(_), value) | (value, Value::Int(_)) => own(value),
                    _ => false,
                }
            }
            (Op::Binary(commsan_ir::Binary::Mul), [value, Value::Int(by)]) => {
                *by != 0 && own(value)
            }
            (Op::Phi(_) | Op::Select, _) => {
                let options = self.options(function, body, value);
                matches!(options, Some([Value::Int(one), Value::Int(other)]) if one != other)
            }
            _ => false,
        }
    }

    /// Two values of which a condition on nothing but the rank chooses one.
    fn options(&self, function: FunctionId, body: &Body, value: Value) -> Option<[Value; 2]> {
        let Value::Inst(id) = value else { return None };
        let of_rank = |condition| self.is_of_rank(function, body, condition, MAX_EXPR_DEPTH);
        let (one, other) = match (&body[id].op, &*body[id].args) {
            (Op::Select, [condition, one, other]) => {
                return of_rank(*condition).then_some([*one, *other]);
            }
            (Op::Phi(_), [one, other]) => (one, other),
            _ => return None,
        };
        let holds = |block: &BlockId| body[*block].code.contains(&id);
        let block = body.block_ids().find(holds)?;
        let branch = body.end(dominators(body)[block.0 as usize]?)?;
        let condition = branch.args.first().filter(|_| branch.op == Op::Branch)?;
        of_rank(*condition).then_some([*one, *other])
    }

    /// Whether a value is computed from the rank and constants alone.
    fn is_of_rank(&self, function: FunctionId, body: &Body, value: Value, depth: usize) -> bool {
        if self.is_rank(function, named(body, value), 1) {
            return true;
        }
        let (Value::Inst(id), Some(depth)) = (value, depth.checked_sub(1)) else { return false };
        let inst = &body[id];
        let constant = |value: &Value| matches!(value, Value::Int(_));
        matches!(inst.op, Op::Compare(_) | Op::Binary(_) | Op::Cast)
            && !inst.args.iter().all(constant)
            && inst
                .args
                .iter()
                .all(|arg| constant(arg) || self.is_of_rank(function, body, *arg, depth))
    }
}
