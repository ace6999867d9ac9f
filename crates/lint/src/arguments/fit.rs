//! Reductions and datatypes that each are right, and do not fit each other (MPI 4.1 §6.9.2,
//! §12.3.4): where both are predefined ones. At run time, `mpi-shim/arguments/fit.rs` does the
//! same.

use super::Given;
use commsan_mpi_calls::reduction::{can_be_swapped, is_defined, name};

/// The parameter that is wrong, and what is wrong with it.
pub fn wrong(given: &Given) -> Option<(usize, String)> {
    let at = &given.call.at;
    let index = at.target_datatype?;
    let nowhere = at.peer.is_some_and(|peer| given.may_be_nowhere(peer));
    if nowhere || !given.matters(index) {
        return None;
    }
    let datatype = given.constants.datatype(given.mpi, given.inst, index)?;
    if at.compared.is_some() {
        let problem = || {
            format!("is {datatype}, but only integers, logicals and bytes are compared and swapped")
        };
        return (can_be_swapped(datatype) == Some(false)).then(|| (index, problem()));
    }
    let op = at.op?;
    let reduction = given.constants.reduction(given.mpi, given.inst, op)?;
    let name = name(reduction)?;
    (is_defined(reduction, datatype) == Some(false))
        .then(|| (op, format!("is {name}, which is not defined for {datatype}")))
}
