//! Null communicators.
//!
//! Communicators that some ranks do not get: those whose color is `MPI_UNDEFINED` have
//! `MPI_COMM_NULL` from `MPI_Comm_split` (MPI 4.1 §7.4.2), those outside of the group from
//! `MPI_Comm_create` (§7.4.2).
//!
//! Such handles differ between ranks ([`ABSENT`]), and so do conditions on them. A call that is
//! given one, where no condition that differs decides whether it is made, is made by all, also by
//! those who have none.

use super::comm::{ABSENT, Comms, Labels, RANK};
use commsan_ir::{Callee, FunctionId, InstId, Op, Value};
use commsan_points_to::Object;
use rustc_hash::FxHashSet;

/// Which argument of a call is a new communicator that some ranks may not get; for
/// `MPI_Comm_split`, also that which says whether.
pub fn made(name: &str) -> Option<(usize, Option<usize>)> {
    Some(match name {
        "MPI_Comm_split" => (3, Some(1)),
        "MPI_Comm_create" => (2, None),
        "MPI_Comm_create_group" => (3, None),
        _ => return None,
    })
}

/// How a new communicator differs between ranks, by the labels of its color.
pub fn label(comms: &Comms, function: FunctionId, id: InstId, color: Option<Labels>) -> Labels {
    match color {
        // Nobody makes a communicator of everybody like this to ask whether it is there.
        None => RANK,
        Some(labels) if labels != 0 && may_be_undefined(comms, function, id) => labels | ABSENT,
        Some(_) => 0,
    }
}

/// The call that has made the communicator that a value is, or that is at an address, if only one
/// can have.
pub fn maker(
    comms: &Comms,
    function: FunctionId,
    value: Value,
    by_reference: bool,
) -> Option<(FunctionId, InstId)> {
    let mut targets = comms.points_to.targets(function, value);
    if by_reference {
        targets = targets.into_iter().flat_map(|at| comms.points_to.content(at)).collect();
    }
    let mut objects: Vec<_> = targets.into_iter().map(|target| target.object).collect();
    objects.retain(|object| !comms.is_null(*object));
    objects.sort_unstable();
    objects.dedup();
    match *objects {
        [Object::Made(function, id, _)] if may_be_undefined(comms, function, id) => {
            Some((function, id))
        }
        _ => None,
    }
}

/// Whether the color of a split may be `MPI_UNDEFINED`.
fn may_be_undefined(comms: &Comms, function: FunctionId, id: InstId) -> bool {
    let Some(inst) = comms.program[function].body.as_ref().map(|body| &body[id]) else {
        return false;
    };
    let Some(mpi) = comms.calls.at(inst) else { return false };
    let Some((_, Some(color))) = made(&mpi.name) else { return false };
    let Some(color) = inst.args.get(color) else { return false };
    let mut search = Search { comms, seen: FxHashSet::default() };
    if mpi.by_reference {
        search.is_stored(function, *color)
    } else {
        search.may_be(function, *color)
    }
}

/// Where a value may come from.
struct Search<'c, 'p> {
    comms: &'c Comms<'p>,
    seen: FxHashSet<(FunctionId, Value)>,
}

impl Search<'_, '_> {
    fn may_be(&mut self, function: FunctionId, value: Value) -> bool {
        let program = self.comms.program;
        let Some(body) = &program[function].body else { return false };
        if !self.seen.insert((function, value)) {
            return false;
        }
        match value {
            Value::Int(number) => number == self.comms.environment.constants().undefined,
            Value::Inst(id) => match (&body[id].op, &*body[id].args) {
                (Op::Load(_), [address]) => self.is_stored(function, *address),
                (Op::Select, [_, one, other]) => {
                    self.may_be(function, *one) || self.may_be(function, *other)
                }
                (Op::Phi(_) | Op::Cast, values) => {
                    values.iter().any(|value| self.may_be(function, *value))
                }
                (Op::Call(Callee::Direct(callee)), _) => {
                    let code = program[*callee].body.iter().flat_map(|body| &body.code);
                    let mut results = code.filter(|inst| inst.op == Op::Return);
                    results.any(|inst| inst.args.iter().any(|value| self.may_be(*callee, *value)))
                }
                _ => false,
            },
            Value::Param(number) => {
                self.comms.graph.callers(function).iter().any(|(caller, call)| {
                    let body = program[*caller].body.as_ref();
                    let passed = body.and_then(|body| body[*call].args.get(number as usize));
                    passed.is_some_and(|value| self.may_be(*caller, *value))
                })
            }
            _ => false,
        }
    }

    /// Whether the function stores it at an address.
    fn is_stored(&mut self, function: FunctionId, address: Value) -> bool {
        let program = self.comms.program;
        let code = program[function].body.iter().flat_map(|body| &body.code);
        let mut stores = code.filter(|inst| matches!(inst.op, Op::Store(_)));
        stores.any(|inst| inst.args[1] == address && self.may_be(function, inst.args[0]))
    }
}
