//! What is known of MPI without any program: the table of its calls, its predefined reductions,
//! and the application binary interfaces of its libraries ([`abi`]).
//!
//! `calls.txt` is the table; [`CALLS`] holds its rows, read once, and those of OpenSHMEM's. The
//! shim's generator uses it for names and parameters, the run-time checker for effects and
//! accesses, lint for both.

mod call;
mod datatype;
mod demands;
mod effect;
mod facts;
mod group;
mod params;
mod parse;
mod positions;
pub mod reduction;
mod results;
mod rules;
mod symmetric;

pub use call::Call;
pub use commsan_mpi_abi as abi;
pub use commsan_shmem_calls as shmem;
pub use datatype::Datatype;
pub use demands::{Demand, Topology};
pub use effect::Effect;
pub use facts::{Fit, Flow, Message, Object};
pub use group::CallGroup;
pub use params::{Param, Role};
use parse::parse;
pub use positions::Positions;
pub use results::{Element, Longest, Pointee};
pub use rules::{Extent, On, Rule, Times};
use std::sync::LazyLock;

/// All calls, families expanded; behind those of MPI the ones of OpenSHMEM, so that logs, the
/// rendezvous and the wait-for graph know both by their rows.
pub static CALLS: LazyLock<Vec<Call>> = LazyLock::new(|| {
    // The table is part of the program: a test parses it.
    let mut calls = parse(include_str!("calls.txt")).expect("calls.txt is well formed");
    calls.extend(symmetric::calls(calls.len() as u32));
    calls
});

/// The call with this name; for what is rare.
pub fn named(name: &str) -> Option<&'static Call> {
    CALLS.iter().find(|call| call.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_well_formed() {
        let calls = parse(include_str!("calls.txt")).unwrap();
        let mut names: Vec<_> = calls.iter().map(|c| c.name.as_str()).collect();
        assert!(names.len() > 200, "{}", names.len());
        names.sort_unstable();
        let total = names.len();
        names.dedup();
        assert_eq!(names.len(), total, "a call is described twice");
        let some = "MPI_Isend MPI_Irecv_c MPI_Ineighbor_alltoallw MPI_Bcast_init MPIX_Bcast_init";
        for call in some.split_whitespace() {
            assert!(names.binary_search(&call).is_ok(), "{call}");
        }
        for call in ["MPI_Waitall_c", "MPIX_Bcast_init_c", "MPIX_Send_init"] {
            assert!(names.binary_search(&call).is_err(), "{call}");
        }
    }

    #[test]
    fn calls_that_wait_are_known() {
        let waits = |name: &str| named(name).unwrap().waits;
        let all = "Send Ssend_c Recv Sendrecv Probe Mprobe Mrecv Barrier Bcast Comm_dup Wait Waitall \
                   Waitany Waitsome Win_fence Win_wait Win_lock Win_free Comm_free Finalize \
                   File_open File_read_all File_sync File_write_all_begin File_read_ordered_end File_close";
        all.split_whitespace().for_each(|name| assert!(waits(&format!("MPI_{name}")), "{name}"));
        let none = "Isend Send_init Iprobe Improbe Ibarrier Barrier_init Test Testsome Win_test Put \
                    Reduce_local File_read File_iread_all Start Grequest_start Request_free Pack Type_free";
        none.split_whitespace().for_each(|name| assert!(!waits(&format!("MPI_{name}")), "{name}"));
    }

    #[test]
    fn what_calls_make_and_free_is_known() {
        let of = |name: &str| {
            let call = named(&format!("MPI_{name}")).unwrap();
            (call.makes.map(|(object, _)| object), call.frees)
        };
        let makes = "Cart_create Type_vector_c Group_range_excl Op_create Send_init Bcast_init Psend_init Win_create File_open";
        let all = makes.split_whitespace().map(|name| of(name).0.unwrap());
        use Object::*;
        assert!(all.eq([Comm, Datatype, Group, Op, Request, Request, Request, Window, File]));
        let frees = "Comm_disconnect Type_free Group_free Op_free Request_free Win_free File_close";
        let all = frees.split_whitespace().map(|name| of(name).1.unwrap());
        assert!(all.eq([Comm, Datatype, Group, Op, Request, Window, File]));
        for name in ["Isend", "Type_commit", "Win_fence", "Type_get_contents", "Start"] {
            assert_eq!(of(name), (None, None), "{name}");
        }
    }

    #[test]
    fn calls_that_call_back_are_known() {
        let all = CALLS.iter().filter(|call| call.calls_back).map(Call::bare_name);
        let known = "Finalize Comm_dup Comm_dup_with_info Comm_idup Comm_idup_with_info Comm_free \
                     Comm_disconnect Type_dup Type_free Win_free Comm_set_attr Comm_delete_attr \
                     Type_set_attr Type_delete_attr Win_set_attr Win_delete_attr Attr_put Attr_delete";
        let (mut all, mut known): (Vec<_>, Vec<_>) =
            (all.collect(), known.split_whitespace().collect());
        all.sort_unstable();
        known.sort_unstable();
        assert_eq!(all, known);
    }

    #[test]
    fn mistakes_are_named() {
        for (line, message) in [
            ("p2p Send buf", "no parameter list"),
            ("nope Send (buf)", "unknown kind `nope`"),
            ("block Send (buff)", "parameter `buff` has no role"),
            ("block Send (buf count)  r buf count datatype", "no parameter `datatype`"),
        ] {
            let error = parse(line).unwrap_err();
            assert!(error.contains(message) && error.starts_with("calls.txt:1:"), "{error}");
        }
    }
}
