//! Datatypes that are committed after they have been used only: CS-ARG-02 (MPI 4.1 §5.1.9). Those
//! that nobody commits are found in `objects.rs`.

use super::Given;
use crate::{Calls, places};
use commsan_findings::{Code, Finding, Role};
use commsan_ir::{FunctionId, InstId, Program, Value};
use commsan_mpi_calls::{Demand, Effect};

/// The finding about a call that communicates with a datatype which is committed later.
pub fn check(
    program: &Program,
    calls: &Calls,
    function: FunctionId,
    given: &Given,
) -> Option<Finding> {
    if !given.call.communicates() {
        return None;
    }
    let datatypes = given.call.demands.iter().filter(|(_, demand)| *demand == Demand::Datatype);
    let (index, made, commit) = datatypes.into_iter().find_map(|(index, _)| {
        let made = given.constants.uncommitted(*index).filter(|_| given.matters(*index))?;
        Some((*index, made, committed(calls, given, made)?))
    })?;
    let parameter = given.call.params[index].shown();
    let problem = "is not committed yet";
    let body = given.constants.body;
    let site = |at: InstId, role, label| places::at(program, function, body[at].at, role, label);
    let maker = calls.at(&body[made])?;
    let sites = vec![
        places::at(
            program,
            function,
            given.inst.at,
            Role::Operation,
            format!("`{parameter}` {problem}"),
        ),
        site(made, Role::Cause, format!("{} makes it", maker.name)),
        site(commit, Role::Cause, "it is committed here".to_owned()),
    ];
    Some(places::finding(
        Code::TypeNotCommitted,
        format!("`{parameter}` of {} {problem}", given.mpi.name),
        sites,
        "a datatype must be committed before it is used in a communication".to_owned(),
        "call MPI_Type_commit when the type has been made".to_owned(),
    ))
}

/// The call that commits what is in the variable that a call has stored a new datatype in.
fn committed(calls: &Calls, given: &Given, made: InstId) -> Option<InstId> {
    let body = given.constants.body;
    let (_, place) = calls.at(&body[made])?.call?.makes?;
    let variable = *body[made].args.get(place)?;
    let commits = |inst: &&InstId| {
        let inst = &body[**inst];
        let call = calls.at(inst).and_then(|mpi| mpi.call);
        call.is_some_and(|call| call.effect == Effect::TypeCommit)
            && inst.args.first() == Some(&variable)
            && matches!(variable, Value::Inst(_))
    };
    body.blocks.iter().flat_map(|block| &block.code).find(commits).copied()
}
