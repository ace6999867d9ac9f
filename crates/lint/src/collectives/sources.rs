//! Sources and sinks of rank divergence: library calls whose results differ between ranks, or are
//! uniform.

use super::absent;
use commsan_mpi_calls::{Call, Role};
use commsan_shadow::Mode;

/// Calls that return the rank or a value that depends on it, with the first and last argument that
/// they store it to.
pub fn rank_results(name: &str) -> Option<(usize, usize)> {
    Some(match name {
        "MPI_Comm_rank" | "MPI_Group_rank" => (1, 1),
        "MPI_Cart_coords" => (3, 3),
        "MPI_Cart_shift" => (3, 4),
        "MPI_Cart_get" => (4, 4),
        "MPI_Cart_rank" => (2, 2),
        "MPI_Graph_neighbors" | "MPI_Dist_graph_neighbors" => (3, 3),
        "MPI_Graph_neighbors_count" => (2, 2),
        "MPI_Dist_graph_neighbors_count" => (1, 2),
        _ => return None,
    })
}

/// Whether a call stores something that may differ.
pub fn is_source(mpi: &crate::Mpi) -> bool {
    let stores = |call: &Call| {
        let buffers = call.accesses.iter().any(|access| access.mode == Mode::Write);
        buffers || call.params.iter().any(|param| param.role == Role::Status)
    };
    rank_results(&mpi.name).is_some()
        || absent::made(&mpi.name).is_some()
        || matches!(&*mpi.name, "MPI_Wtime" | "MPI_Get_processor_name")
        || mpi.call.is_some_and(stores)
}

/// Whether a call, or the operation it starts, writes a buffer.
pub fn writes(call: &Call, place: usize) -> bool {
    call.accesses.iter().any(|access| access.buffer == place && access.mode == Mode::Write)
}

/// Whether a collective gives all ranks the same.
pub fn uniform(name: &str) -> bool {
    let name = name.trim_start_matches("MPI_").to_lowercase();
    let name = name.trim_end_matches("_init").trim_end_matches("_c");
    let name = name.strip_prefix('i').filter(|rest| BLOCKING.contains(rest)).unwrap_or(name);
    BLOCKING.contains(&name)
}

const BLOCKING: [&str; 4] = ["bcast", "allreduce", "allgather", "allgatherv"];

/// Functions of the C library whose results are not the same on all ranks.
pub const DIFFERS: [&str; 4] = ["getpid", "gethostid", "gethostname", "pthread_self"];

/// Whether a function of Fortran's I/O inquires about a file, or begins to: its unit number may be
/// another one on each rank, and the file the same.
pub fn tells_of_file(name: &str) -> bool {
    name.strip_prefix("_FortranAio").is_some_and(|rest| !rest.starts_with("BeginInternal"))
}

/// Whether a function of BLAS or of Fortran makes a number of the arrays that it is given.
pub fn digests(name: &str) -> bool {
    const OF_FORTRAN: [&str; 9] =
        ["Sum", "Product", "Maxval", "Minval", "DotProduct", "Norm2", "Any", "All", "Count"];
    const OF_BLAS: [&str; 10] =
        ["sdot", "ddot", "dsdot", "snrm2", "dnrm2", "scnrm2", "dznrm2", "sasum", "dasum", "idamax"];
    if let Some(intrinsic) = name.strip_prefix("_FortranA") {
        // What follows names the type.
        let is_whole = |rest: &str| !rest.starts_with(|next: char| next.is_ascii_lowercase());
        return OF_FORTRAN.iter().any(|name| intrinsic.strip_prefix(name).is_some_and(is_whole));
    }
    let plain = name.strip_prefix("cblas_").unwrap_or(name).trim_end_matches('_');
    OF_BLAS.contains(&plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_arrays_are_told_from_what_else_has_such_names() {
        for name in
            ["_FortranASumReal8", "_FortranAAll", "_FortranANorm2_8", "cblas_ddot", "dnrm2_"]
        {
            assert!(digests(name), "{name}");
        }
        for name in ["_FortranAAllocatableAllocate", "_FortranACountdown", "ddot_product", "dcopy_"]
        {
            assert!(!digests(name), "{name}");
        }
    }
}
