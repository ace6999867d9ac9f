//! What calls demand of single arguments, by the parameters' names.

use crate::{Object, Param, Role};

/// What must hold of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// A communicator, not the null handle.
    Comm,
    /// A communicator with this topology.
    Topology(Topology),
    /// A window, not the null handle.
    Win,
    /// A datatype that is committed, not the null handle.
    Datatype,
    /// A reduction, not the null handle.
    Op,
    /// A group, not the null handle.
    Group,
    /// An info object, not the null handle.
    Info,
    /// A file, not the null handle.
    File,
    /// A rank of the communicator (of the remote group), or `MPI_PROC_NULL`.
    Dest,
    /// A rank, `MPI_PROC_NULL` or `MPI_ANY_SOURCE`.
    Source,
    /// A rank of the communicator; of another's kind on an intercommunicator.
    Root,
    /// A rank of the communicator.
    Rank,
    /// A rank of the window's group, or `MPI_PROC_NULL`.
    Target,
    /// From 0 to `MPI_TAG_UB`.
    Tag,
    /// A tag or `MPI_ANY_TAG`.
    ReceivedTag,
    /// A variable with the handle of something that can be freed.
    Freeable(Object),
    /// Not negative.
    Count,
    /// None of them negative.
    Counts,
    /// An array, which must not be at address 0 where it is used.
    Array,
    /// Not negative, or `MPI_UNDEFINED`.
    Color,
    /// Processes in each dimension of a grid, all more than 0.
    Dims,
    /// More than 0.
    Unit,
    /// A place for a result, which must not be at address 0.
    Place,
    /// An intercommunicator.
    Inter,
    /// A dimension of the communicator's grid.
    Direction,
    /// Datatypes that are there still.
    Types,
    /// Where each node's edges end in the list of all, ascending.
    Ends,
    /// Nodes of a graph.
    Edges,
    /// A group of ranks of the communicator.
    Subgroup,
    /// Data for which there is room in the attached buffer.
    Buffered,
    /// A buffer besides which no other is attached.
    Unattached,
    /// Sizes of parts of an array, all more than 0.
    Parts,
    /// Beginnings of parts that lie within their array.
    Starts,
    /// Ranks of the group, each once.
    Members,
    /// Numbers of edges, none of them negative.
    Degrees,
    /// Room for as many coordinates as the grid has dimensions.
    Room,
    /// Memory, unless its size is 0.
    Base,
    /// Ranks of the communicator, or `MPI_PROC_NULL`, as many as this parameter says.
    Neighbours(&'static str),
    /// Not negative, or `MPI_DISPLACEMENT_CURRENT`.
    Offset,
    /// How to open a file.
    AccessMode,
    /// A file that is open for what the call does.
    Opened,
    /// Where an offset is counted from.
    Whence,
    /// Not before the file's beginning.
    Sought,
    /// A whole number of the elements that a view has.
    Filetype,
    /// A key of attributes.
    Keyval,
    /// A variable with one.
    FreeableKeyval,
}

/// What a communicator says of neighbours (MPI 4.1 chapter 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topology {
    /// A Cartesian grid.
    Cartesian,
    /// A graph that every rank has given.
    Graph,
    /// A graph of which every rank has given a part.
    DistributedGraph,
    /// Any of these.
    Any,
}

impl Topology {
    /// What a call asks about, or goes by.
    fn of(name: &str) -> Option<Topology> {
        Some(match name {
            "Cart_get" | "Cart_coords" | "Cart_rank" | "Cart_shift" | "Cart_sub"
            | "Cartdim_get" => Topology::Cartesian,
            "Graph_get" | "Graphdims_get" | "Graph_neighbors" | "Graph_neighbors_count" => {
                Topology::Graph
            }
            "Dist_graph_neighbors" | "Dist_graph_neighbors_count" => Topology::DistributedGraph,
            _ if name.starts_with("Neighbor_") => Topology::Any,
            _ => return None,
        })
    }
}

impl Demand {
    /// The kind of object that a handle must be of, where the argument is one.
    pub fn object(self) -> Option<Object> {
        Some(match self {
            Demand::Comm => Object::Comm,
            Demand::Win => Object::Window,
            Demand::Datatype => Object::Datatype,
            Demand::Op => Object::Op,
            Demand::Group => Object::Group,
            Demand::File => Object::File,
            _ => return None,
        })
    }

    /// The demands of a call of this family, each with the index of its parameter. Handles come
    /// first, since what else is demanded may depend on them.
    pub fn of(family: &str, params: &[Param]) -> Vec<(usize, Demand)> {
        let receives = params.iter().any(|param| param.name == "source");
        let has_comm = params.iter().any(|param| param.role == Role::Comm);
        let demand = |param: &Param| {
            Some(match (param.role, &*param.name) {
                (Role::Comm, _) => Demand::Comm,
                (Role::Win, _) => Demand::Win,
                (Role::Datatype, _) => Demand::Datatype,
                (Role::Op, _) => Demand::Op,
                (Role::Group, _) => Demand::Group,
                (Role::Info, _) if family.starts_with("Info_") => Demand::Info,
                (Role::File, _) => Demand::File,
                // Sizes of packed buffers.
                (Role::Count, "insize" | "outsize") => return None,
                (Role::Count, _) => Demand::Count,
                (Role::Counts, "sendcounts" | "recvcounts") => Demand::Counts,
                (Role::Displs | Role::ByteDispls | Role::Requests, _) => Demand::Array,
                (_, "color") => Demand::Color,
                (_, "dims") if family == "Cart_create" => Demand::Dims,
                (_, "degrees") => Demand::Degrees,
                (_, "sources") if family == "Dist_graph_create" => Demand::Neighbours("n"),
                (_, "maxdims") => Demand::Room,
                (_, "base") if family == "Win_create" => Demand::Base,
                (_, "keyval") => Demand::Keyval,
                (_, "keyval_inout") => Demand::FreeableKeyval,
                (_, "direction") => Demand::Direction,
                (_, "starts") => Demand::Starts,
                (_, "subsizes") => Demand::Parts,
                (_, "types") => Demand::Types,
                (_, "index_in") => Demand::Ends,
                (_, "edges") if family == "Graph_create" => Demand::Edges,
                (_, "buf") if family == "Bsend" => Demand::Buffered,
                (_, "buffer")
                    if family.starts_with("Buffer_attach") || family.contains("attach_buffer") =>
                {
                    Demand::Unattached
                }
                (_, "ranks") if !family.starts_with("Group_range") => Demand::Members,
                (_, "sources") if family == "Dist_graph_create_adjacent" => {
                    Demand::Neighbours("indegree")
                }
                (_, "destinations") if family == "Dist_graph_create_adjacent" => {
                    Demand::Neighbours("outdegree")
                }
                (Role::Offset, "offset") if !family.starts_with("File_seek") => Demand::Offset,
                (Role::Offset, "offset") => Demand::Sought,
                (_, "whence") => Demand::Whence,
                (_, "amode") => Demand::AccessMode,
                (Role::Offset, "size") if family.starts_with("File_") => Demand::Offset,
                (_, "dest") => Demand::Dest,
                (_, "source") => Demand::Source,
                (_, "root") => Demand::Root,
                (_, "rank") if has_comm => Demand::Rank,
                (_, "local_leader") => Demand::Rank,
                (_, "target_rank") => Demand::Target,
                (_, "recvtag") => Demand::ReceivedTag,
                (_, "tag") if receives => Demand::ReceivedTag,
                (_, "tag" | "sendtag") => Demand::Tag,
                (_, "disp_unit") => Demand::Unit,
                (Role::Request | Role::Flag, _)
                | (Role::Pointer, "win_out" | "comm_out" | "position") => Demand::Place,
                (Role::Pointer, "type_out" | "group_out" | "op_out") => Demand::Place,
                (_, "comm_inout") => Demand::Freeable(Object::Comm),
                (_, "datatype_inout") => Demand::Freeable(Object::Datatype),
                (_, "group_inout") => Demand::Freeable(Object::Group),
                (_, "op_inout") => Demand::Freeable(Object::Op),
                (_, "win_inout") => Demand::Freeable(Object::Window),
                (_, "fh_inout") => Demand::Freeable(Object::File),
                _ => return None,
            })
        };
        let mut demands: Vec<_> =
            (0..).zip(params).filter_map(|(index, param)| Some((index, demand(param)?))).collect();
        demands.sort_by_key(|(_, demand)| !matches!(demand, Demand::Comm | Demand::Win));
        if matches!(family, "Comm_remote_size" | "Comm_remote_group") {
            demands.push((0, Demand::Inter));
        }
        let at = |name: &str| params.iter().position(|param| param.name == name);
        if let (Some(file), Some(_)) = (at("fh"), at("datatype")) {
            demands.push((file, Demand::Opened));
        }
        if let Some(group) =
            at("group").filter(|_| matches!(family, "Comm_create" | "Comm_create_group"))
        {
            demands.push((group, Demand::Subgroup));
        }
        if let Some(filetype) = at("filetype").filter(|_| family == "File_set_view") {
            demands.push((filetype, Demand::Filetype));
        }
        if let Some(topology) = Topology::of(family)
            && let Some(comm) = demands.iter().position(|(_, demand)| *demand == Demand::Comm)
        {
            demands.insert(comm + 1, (demands[comm].0, Demand::Topology(topology)));
        }
        demands
    }
}
