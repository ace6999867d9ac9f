//! What follows from a call's name and parameters: messages, objects, and for collectives the flow
//! and the fit of data.

use crate::{Effect, Extent, Param, Rule};
use commsan_mpi_abi::HandleKind;

/// Where a call says what message it sends or receives: indices of parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The communicator.
    pub comm: usize,
    /// The other rank.
    pub peer: usize,
    /// The number of elements.
    pub count: usize,
    /// The datatype of the elements.
    pub datatype: usize,
}

impl Message {
    /// A message that is sent from, or received into, the first buffer that is accessed so.
    /// Messages of partitioned requests are none: they are transferred part by part.
    pub(crate) fn of(
        comm: Option<usize>,
        peer: Option<usize>,
        buffer: Option<&Rule>,
    ) -> Option<Message> {
        let Rule { extent: Extent::Blocks { count, .. }, datatype, .. } = *buffer? else {
            return None;
        };
        Some(Message { comm: comm?, peer: peer?, count, datatype })
    }
}

/// A kind of object that programs make, and free when they need it no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Object {
    /// A communicator.
    Comm,
    /// A datatype.
    Datatype,
    /// A group.
    Group,
    /// A reduction.
    Op,
    /// A persistent request.
    Request,
    /// A window.
    Window,
    /// A file.
    File,
}

impl Object {
    /// The kind of its handle.
    pub fn handle(self) -> HandleKind {
        match self {
            Object::Comm => HandleKind::Comm,
            Object::Datatype => HandleKind::Datatype,
            Object::Group => HandleKind::Group,
            Object::Op => HandleKind::Op,
            Object::Request => HandleKind::Request,
            Object::Window => HandleKind::Win,
            Object::File => HandleKind::File,
        }
    }

    /// What is made by a call with such parameters, and where its handle is stored.
    pub(crate) fn made(effect: Effect, params: &[Param]) -> Option<(Object, usize)> {
        let lasts = matches!(effect, Effect::Init | Effect::InitPartitioned);
        (0..).zip(params).find_map(|(index, param)| {
            let object = match &*param.name {
                "comm_out" => Object::Comm,
                "type_out" => Object::Datatype,
                "group_out" => Object::Group,
                "op_out" => Object::Op,
                "win_out" => Object::Window,
                "fh_out" => Object::File,
                "request" if lasts => Object::Request,
                _ => return None,
            };
            Some((object, index))
        })
    }

    /// What is freed by a call with such parameters.
    pub(crate) fn freed(effect: Effect, params: &[Param]) -> Option<Object> {
        Some(match &*params.first()?.name {
            "comm_inout" => Object::Comm,
            "datatype_inout" if effect == Effect::TypeFree => Object::Datatype,
            "group_inout" => Object::Group,
            "op_inout" => Object::Op,
            "win_inout" => Object::Window,
            "fh_inout" => Object::File,
            _ if effect == Effect::Free => Object::Request,
            _ => return None,
        })
    }
}

/// Which processes of a collective are ordered by its data: entering on one side happens before
/// leaving on the other (MPI 4.1 §6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// No order: the call is no collective.
    None,
    /// From all ranks to all ranks.
    All,
    /// From the root to all ranks.
    FromRoot,
    /// From all ranks to the root.
    ToRoot,
    /// From lower ranks to higher ones.
    Upwards,
    /// From sources to destinations of the topology.
    Neighbours,
}

impl Flow {
    /// The flow of the family of collectives with this name.
    pub(crate) fn of(name: &str) -> Flow {
        match name {
            "Bcast" | "Scatter" | "Scatterv" => Flow::FromRoot,
            "Gather" | "Gatherv" | "Reduce" => Flow::ToRoot,
            "Scan" | "Exscan" => Flow::Upwards,
            _ if name.starts_with("Neighbor") => Flow::Neighbours,
            _ => Flow::All,
        }
    }
}

/// Which data of a collective must be equal on all ranks (MPI 4.1 §6.4-6.12).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// Nothing that one rank alone could know.
    Nothing,
    /// The data that it sends to, or receives from, each rank.
    Block,
    /// The counts of all ranks, as a list.
    List,
}

impl Fit {
    /// The fit of the family of collectives with this name.
    pub(crate) fn of(name: &str) -> Fit {
        match name {
            "Bcast"
            | "Gather"
            | "Scatter"
            | "Allgather"
            | "Alltoall"
            | "Reduce"
            | "Allreduce"
            | "Reduce_scatter_block"
            | "Scan"
            | "Exscan" => Fit::Block,
            "Allgatherv" | "Reduce_scatter" => Fit::List,
            _ => Fit::Nothing,
        }
    }
}
