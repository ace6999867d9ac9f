//! What calls demand of single arguments, by the parameters' names.

use super::{Param, Role};

/// What must hold of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// A communicator, not the null handle.
    Comm,
    /// A window, not the null handle.
    Win,
    /// A datatype that is committed, not the null handle.
    Datatype,
    /// A reduction, not the null handle.
    Op,
    /// A rank of the communicator (of the remote group), or `MPI_PROC_NULL`.
    Dest,
    /// The same, or `MPI_ANY_SOURCE`.
    Source,
    /// A rank of the communicator; of another's kind on an intercommunicator.
    Root,
    /// A rank of the window's group, or `MPI_PROC_NULL`.
    Target,
    /// From 0 to `MPI_TAG_UB`.
    Tag,
    /// The same, or `MPI_ANY_TAG`.
    ReceivedTag,
    /// Not negative.
    Count,
    /// More than 0.
    Unit,
    /// A place for a result, which must not be at address 0.
    Place,
}

impl Demand {
    /// The demands of a call, each with the index of its parameter: handles first, since what else is
    /// demanded may depend on them.
    pub fn of(params: &[Param]) -> Vec<(usize, Demand)> {
        let receives = params.iter().any(|param| param.name == "source");
        let demand = |param: &Param| {
            Some(match (param.role, &*param.name) {
                (Role::Comm, _) => Demand::Comm,
                (Role::Win, _) => Demand::Win,
                (Role::Datatype, _) => Demand::Datatype,
                (Role::Op, _) => Demand::Op,
                // Sizes of packed buffers.
                (Role::Count, "insize" | "outsize") => return None,
                (Role::Count, _) => Demand::Count,
                (_, "dest") => Demand::Dest,
                (_, "source") => Demand::Source,
                (_, "root") => Demand::Root,
                (_, "target_rank") => Demand::Target,
                (_, "recvtag") => Demand::ReceivedTag,
                (_, "tag") if receives => Demand::ReceivedTag,
                (_, "tag" | "sendtag") => Demand::Tag,
                (_, "disp_unit") => Demand::Unit,
                (Role::Request | Role::Flag, _) | (Role::Pointer, "win_out" | "comm_out") => {
                    Demand::Place
                }
                (Role::Pointer, "type_out" | "group_out" | "op_out") => Demand::Place,
                _ => return None,
            })
        };
        let mut demands: Vec<_> =
            (0..).zip(params).filter_map(|(index, param)| Some((index, demand(param)?))).collect();
        demands.sort_by_key(|(_, demand)| !matches!(demand, Demand::Comm | Demand::Win));
        demands
    }
}
