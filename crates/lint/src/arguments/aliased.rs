//! One buffer for what a call reads and for what it writes: CS-BUF-04 (MPI 4.1 §2.3, §3.10,
//! §6.2.1).
//!
//! Only where the two are certain to share bytes: at one address, with predefined datatypes.
//! Derived ones may leave each other's bytes out, and so may displacements.

use super::{Given, count_of};
use crate::places;
use commsan_findings::{Code, Finding, Role};
use commsan_ir::{Body, FunctionId, Op, Program, Value};
use commsan_mpi_calls::{Extent, On, Rule};
use commsan_shadow::Mode;

use super::constant::Constant;

/// Maximum depth to which address expressions are compared.
const MAX_EXPR_DEPTH: u32 = 8;

/// The finding about a call that is given one buffer for both.
pub fn check(program: &Program, function: FunctionId, given: &Given) -> Option<Finding> {
    let of = |mode: Mode| given.call.accesses.iter().filter(move |rule| rule.mode == mode);
    let (read, written) = of(Mode::Read)
        .flat_map(|read| of(Mode::Write).map(move |written| (read, written)))
        .find(|(read, written)| are_same(given, read, written))?;
    let name = &given.mpi.name;
    let [from, to] = [read, written].map(|rule| given.call.params[rule.buffer].shown());
    let label = format!("`{from}` and `{to}` are the same memory");
    let site = places::at(program, function, given.inst.at, Role::Access, label.clone());
    let message = format!("{label} in {name}");
    let why = format!("{name} reads the one and writes the other, in no order that is fixed");
    let help = match given.call.collective {
        true => "pass MPI_IN_PLACE where the standard allows it, or use another buffer",
        false => "use another buffer, or a call that replaces what it has sent",
    };
    let finding =
        places::finding(Code::OperationsOverlap, message, vec![site], why, help.to_owned());
    let certain = [read, written].iter().all(|rule| given.is_of_something(rule));
    Some(Finding { possible: !certain, ..finding })
}

/// Whether two accesses of a call meet.
fn are_same(given: &Given, read: &Rule, written: &Rule) -> bool {
    let arguments = [read, written].map(|rule| given.inst.args.get(rule.buffer).copied());
    let [Some(from), Some(to)] = arguments else { return false };
    let usable = |rule: &Rule| {
        let nothing = count_of(rule).and_then(|count| given.number(count)) == Some(0);
        let datatype = given.constants.handle(given.mpi, given.inst, rule.datatype);
        let contiguous = matches!(rule.extent, Extent::Blocks { .. } | Extent::One);
        // Where all ranks make the call, one of them is the root.
        let somewhere = rule.on == On::All || rule.on == On::Root && given.by_all;
        let everywhere = somewhere && given.takes_place(rule);
        everywhere && contiguous && !nothing && datatype == Some(Constant::Datatype)
    };
    // With MPI_ROOT, of intercommunicators, one process only reads or writes.
    let is_rank = |root| given.number(root).is_none_or(|root| root >= 0);
    read.buffer != written.buffer
        && given.call.at.root.is_none_or(is_rank)
        && usable(read)
        && usable(written)
        && is_same_address(given.constants.body, from, to, MAX_EXPR_DEPTH)
}

/// Whether two values are computed in the same way from the same; numbers are no addresses, but
/// mean something to calls.
fn is_same_address(body: &Body, one: Value, other: Value, depth: u32) -> bool {
    match (one, other) {
        (Value::Int(_) | Value::Opaque, _) => false,
        (Value::Inst(first), Value::Inst(second)) if first != second && depth > 0 => {
            let (first, second) = (&body[first], &body[second]);
            let pairs = first.args.iter().zip(&second.args);
            matches!(first.op, Op::Offset(..) | Op::Cast)
                && first.op == second.op
                && first.args.len() == second.args.len()
                && pairs.into_iter().enumerate().all(|(index, (one, other))| {
                    index > 0 && one == other || is_same_address(body, *one, *other, depth - 1)
                })
        }
        _ => one == other,
    }
}
