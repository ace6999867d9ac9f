//! Constant bounds of the bytes that MPI calls write.

use super::comm::Comms;
use crate::{Mpi, datatypes};
use commsan_ir::{Body, Inst, Value};
use commsan_mpi_calls::{Call, Extent, Role, Rule, Times};
use commsan_points_to::mpi::stored;
use commsan_shadow::Mode;

/// Bytes of an integer.
const INTEGER: u64 = 4;

/// Bytes that a call, or the operation it starts, writes through an argument.
pub fn written(
    comms: &Comms,
    body: &Body,
    inst: &Inst,
    (mpi, call): (&Mpi, &Call),
    place: usize,
) -> Option<u64> {
    if call.params.get(place)?.role == Role::Status {
        return Some(datatypes::STATUS);
    }
    let writes = |rule: &&Rule| rule.buffer == place && rule.mode == Mode::Write;
    let rule = call.accesses.iter().find(writes)?;
    let element = element(comms, body, *inst.args.get(rule.datatype)?, mpi.by_reference)?;
    match rule.extent {
        Extent::One => Some(element),
        Extent::Blocks { count, times: Times::Once } => {
            let count = mpi.integer(comms.program, body, inst, count)?;
            element.checked_mul(u64::try_from(count).ok()?)
        }
        _ => None,
    }
}

/// Bytes written by a call that returns the rank, or what depends on it, in integers.
pub fn of_integers(comms: &Comms, body: &Body, inst: &Inst, mpi: &Mpi) -> Option<u64> {
    let most = match &*mpi.name {
        "MPI_Cart_coords" => 2,
        "MPI_Cart_get" => 1,
        "MPI_Graph_neighbors" | "MPI_Dist_graph_neighbors" => return None,
        _ => return Some(INTEGER),
    };
    let dimensions = mpi.integer(comms.program, body, inst, most)?;
    INTEGER.checked_mul(u64::try_from(dimensions).ok()?)
}

/// Bytes of one element of a datatype; none of derived ones.
fn element(comms: &Comms, body: &Body, datatype: Value, by_reference: bool) -> Option<u64> {
    let handle = match by_reference {
        true => Value::Int(stored(comms.program, body, datatype)?),
        false => datatype,
    };
    datatypes::size_of_value(comms.program, comms.environment, handle)
}
