//! What to do about an argument that is not allowed, and about objects that are never freed.

use super::Facts;
use commsan_findings::Problem;

impl Facts<'_> {
    /// What to do about an argument that is not allowed.
    pub(super) fn mend(&self) -> String {
        let (argument, _) = self.argument();
        let kind = self.observation.finding.argument.as_ref().and_then(|argument| argument.kind);
        advice(kind.unwrap_or_default(), &argument)
    }
}

/// What frees the object that a call makes.
pub(super) fn freeing(maker: &str) -> &'static str {
    let name = maker.strip_prefix("MPI_").unwrap_or(maker);
    let begins = |all: &[&str]| all.iter().any(|begin| name.starts_with(begin));
    match () {
        () if begins(&["Type_create_keyval"]) => "MPI_Type_free_keyval",
        () if begins(&["Comm_create_keyval"]) => "MPI_Comm_free_keyval",
        () if begins(&["Win_create_keyval"]) => "MPI_Win_free_keyval",
        () if begins(&[
            "Comm_create_errhandler",
            "Win_create_err",
            "File_create_err",
            "Session_create_err",
        ]) =>
        {
            "MPI_Errhandler_free"
        }
        () if begins(&[
            "Comm_group",
            "Comm_remote_group",
            "Group_",
            "Win_get_group",
            "File_get_group",
        ]) =>
        {
            "MPI_Group_free"
        }
        () if begins(&["Type_"]) => "MPI_Type_free",
        () if begins(&["Op_"]) => "MPI_Op_free",
        () if begins(&["Info_"]) => "MPI_Info_free",
        () if begins(&["Win_"]) => "MPI_Win_free",
        () if begins(&["Comm_", "Cart_", "Graph_", "Dist_graph_", "Intercomm_"]) => "MPI_Comm_free",
        () => "MPI_Request_free",
    }
}

/// How many characters the standard asks for where a call stores a string.
pub(super) fn longest(call: &str) -> &'static str {
    match call {
        "MPI_Get_processor_name" => "MPI_MAX_PROCESSOR_NAME",
        "MPI_Get_library_version" => "MPI_MAX_LIBRARY_VERSION_STRING",
        "MPI_Error_string" => "MPI_MAX_ERROR_STRING",
        "MPI_Open_port" | "MPI_Lookup_name" => "MPI_MAX_PORT_NAME",
        "MPI_Info_get_nthkey" => "MPI_MAX_INFO_KEY",
        "MPI_File_get_view" => "MPI_MAX_DATAREP_STRING",
        "MPI_Info_get" => "`valuelen` + 1",
        _ => "MPI_MAX_OBJECT_NAME",
    }
}

/// How to mend a mistake of this kind in `argument`.
fn advice(kind: Problem, argument: &str) -> String {
    let computed = format!("check how {argument} is computed on this rank");
    match kind {
        Problem::NullPointer => format!(
            "was the memory of {argument} allocated on this rank? Results need the address of a variable"
        ),
        Problem::Freed => "free it after its last use; a handle that was copied is not reset with the original".to_owned(),
        Problem::NullCommunicator => "a rank that is not in a communicator must not use it: MPI_Comm_split gives \
             MPI_COMM_NULL for MPI_UNDEFINED, MPI_Cart_create to ranks that are left over"
            .to_owned(),
        Problem::NullHandle => {
            format!("has the object of {argument} been made on this rank, and not been freed yet?")
        }
        Problem::NoTopology => "give it the communicator that MPI_Cart_create, MPI_Graph_create or \
             MPI_Dist_graph_create has made, not the one it was made of, nor a copy by MPI_Comm_split"
            .to_owned(),
        Problem::UndefinedForType => "give the datatype of the buffer's elements; the standard lists which operations \
             are defined for which (MPI 4.1 §6.9.2, §12.3.4), and MPI_Op_create makes others"
            .to_owned(),
        Problem::SidesDiffer => "let both sides have as many elements of the same basic types".to_owned(),
        Problem::Negative => format!(
            "{computed}: a product of type `int` overflows beyond 2147483647; calls whose names end in `_c` take \
             counts of type `MPI_Count`"
        ),
        Problem::NoSuchPeer => {
            format!("{computed}; `MPI_PROC_NULL` is the neighbour where there is none")
        }
        Problem::TagOutOfRange => format!(
            "{computed}: the largest tag is the attribute `MPI_TAG_UB` of `MPI_COMM_WORLD`, which differs between \
             libraries, and is at least 32767"
        ),
        Problem::SmallResult => format!(
            "declare {argument} as the call needs it: a status has MPI_STATUS_SIZE integers in Fortran, or is a \
             type(MPI_Status) with mpi_f08; an array of statuses or requests has an element for each request"
        ),
        Problem::Missing => format!(
            "pass {argument}: without it the library stores the error code wherever the register or stack points; \
             `use mpi` or `use mpi_f08` instead of `mpif.h` lets the compiler check arguments"
        ),
        Problem::InPlace => format!(
            "pass a buffer of this rank as {argument}; MPI_IN_PLACE stands for `sendbuf` where the rank also receives: \
             at the root of MPI_Gather and MPI_Reduce, and on all ranks of MPI_Allreduce and the like; and for \
             `recvbuf` at the root of MPI_Scatter"
        ),
        Problem::OtherExtent => "give the datatype the size of the structure as its extent: \
             `MPI_Type_create_resized(old, 0, sizeof(element), &new)`"
            .to_owned(),
        Problem::Value => computed,
    }
}
