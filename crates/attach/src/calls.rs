//! Functions of libraries for communication, by the names that stacks have.

use commsan_mpi_calls::{CALLS, Call, Flow};
use std::collections::HashMap;
use std::sync::LazyLock;

/// A call that is known.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    /// Its name in C.
    pub(crate) name: String,
    /// Its row in the table of calls, if it has one.
    pub(crate) row: Option<&'static Call>,
    /// Whether it is the one of Fortran.
    pub(crate) is_fortran: bool,
    /// Whether the thread is in another function, to which this one has jumped as its last act.
    pub(crate) has_jumped: bool,
}

/// Collectives of NCCL's.
const NCCL: [&str; 9] = [
    "ncclAllReduce",
    "ncclReduce",
    "ncclBroadcast",
    "ncclBcast",
    "ncclAllGather",
    "ncclReduceScatter",
    "ncclAlltoAll",
    "ncclCommInitRank",
    "ncclCommSplit",
];

/// How calls of devices' libraries begin, before a capital.
const PREFIXES: [&str; 6] = ["nccl", "rccl", "cuda", "hip", "cu", "nvshmem_"];

impl Known {
    /// Whether it never waits, so that a program which makes it again and again waits by itself.
    pub(crate) fn asks(&self) -> bool {
        const ASKING: [&str; 4] =
            ["MPI_Test", "MPI_Iprobe", "MPI_Improbe", "MPI_Request_get_status"];
        ASKING.iter().any(|name| self.name.starts_with(name))
    }

    pub(crate) fn is_collective(&self) -> bool {
        let of_table = self.row.is_some_and(|row| row.waits && (row.collective || row.enters));
        of_table || NCCL.contains(&&*self.name)
    }

    /// Whether no rank leaves it before all have come.
    pub(crate) fn synchronizes(&self) -> bool {
        self.is_collective() && self.row.is_some_and(|row| row.collective && row.flow == Flow::All)
    }

    /// Whether all ranks take part, whatever is passed.
    pub(crate) fn is_of_all(&self) -> bool {
        self.is_collective()
            && self.row.is_some_and(|row| row.symmetric.is_some() && row.name.ends_with("_all"))
    }
}

/// The call that a function is, if it is one.
pub(crate) fn known(function: &str) -> Option<Known> {
    static IN_C: LazyLock<HashMap<&str, &Call>> =
        LazyLock::new(|| CALLS.iter().map(|call| (&*call.name, call)).collect());
    static IN_FORTRAN: LazyLock<HashMap<String, &Call>> =
        LazyLock::new(|| CALLS.iter().map(|call| (call.name.to_lowercase(), call)).collect());
    // Versions of symbols follow.
    let function = function.split('@').next()?;
    let in_c = match function {
        _ if function.starts_with("PMPI") => &function[1..],
        _ if function.starts_with("pshmem_") => &function[1..],
        _ => function,
    };
    if let Some(row) = IN_C.get(in_c) {
        return Some(Known {
            name: row.name.clone(),
            row: Some(row),
            is_fortran: false,
            has_jumped: false,
        });
    }
    let lower = function.to_lowercase();
    if let Some(name) = lower
        .strip_prefix('p')
        .filter(|name| name.starts_with("mpi_"))
        .or(Some(&*lower).filter(|name| name.starts_with("mpi_")))
    {
        let name = name.trim_end_matches('_');
        let name = ["_f08ts", "_f08", "_f", "_fortran"]
            .iter()
            .find_map(|end| name.strip_suffix(end))
            .unwrap_or(name);
        if let Some(row) = IN_FORTRAN.get(name) {
            return Some(Known {
                name: row.name.clone(),
                row: Some(row),
                is_fortran: true,
                has_jumped: false,
            });
        }
    }
    let mut rest = in_c.strip_prefix("MPI_").into_iter().flat_map(str::chars);
    if rest.next().is_some_and(char::is_uppercase) && rest.any(char::is_lowercase) {
        return Some(Known {
            name: in_c.to_owned(),
            row: None,
            is_fortran: false,
            has_jumped: false,
        });
    }
    let is_of_device = PREFIXES.iter().any(|prefix| {
        let rest = function.strip_prefix(prefix).and_then(|rest| rest.chars().next());
        rest.is_some_and(|next| next.is_uppercase() || prefix.ends_with('_'))
    });
    is_of_device.then(|| Known {
        name: function.to_owned(),
        row: None,
        is_fortran: false,
        has_jumped: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_known_by_all_their_names() {
        let of = |function: &str| known(function).map(|call| (call.name, call.is_fortran));
        let is = |name: &str, is_fortran| Some((name.to_owned(), is_fortran));
        for function in ["MPI_Allreduce", "PMPI_Allreduce"] {
            assert_eq!(of(function), is("MPI_Allreduce", false));
        }
        for function in [
            "mpi_allreduce_",
            "pmpi_allreduce__",
            "MPI_ALLREDUCE",
            "mpi_allreduce_f08_",
            "MPI_Allreduce_f08",
        ] {
            assert_eq!(of(function), is("MPI_Allreduce", true), "{function}");
        }
        assert_eq!(of("MPI_Get_processor_name"), is("MPI_Get_processor_name", false));
        assert_eq!(of("ncclAllReduce"), is("ncclAllReduce", false));
        assert_eq!(of("cudaStreamSynchronize"), is("cudaStreamSynchronize", false));
        assert_eq!(of("shmem_barrier_all"), is("shmem_barrier_all", false));
        for function in ["MPIR_Allreduce_impl", "main", "mpi_helper", "custom", "cut", "MPIDI_x"] {
            assert_eq!(of(function), None, "{function}");
        }
    }

    #[test]
    fn what_calls_wait_for_is_known() {
        let all = |name: &str| {
            let call = known(name).unwrap();
            (call.asks(), call.is_collective(), call.synchronizes())
        };
        assert_eq!(all("MPI_Barrier"), (false, true, true));
        assert_eq!(all("MPI_Bcast"), (false, true, false));
        assert_eq!(all("MPI_Recv"), (false, false, false));
        assert_eq!(all("MPI_Iallreduce"), (false, false, false));
        assert_eq!(all("MPI_Testall"), (true, false, false));
        assert!(known("shmem_barrier_all").unwrap().is_of_all());
    }
}
