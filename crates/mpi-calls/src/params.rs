//! Parameters, and what each is for.

use commsan_mpi_abi::HandleKind;

/// One parameter.
#[derive(Debug)]
pub struct Param {
    /// Name in the standard.
    pub name: String,
    /// What kind of thing is passed.
    pub role: Role,
    /// Whether all ranks must pass the same value.
    pub alike: bool,
}

/// Kinds of parameters, as far as somebody must distinguish them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Address of data; may be a sentinel.
    Buffer,
    /// An integer by value.
    Int,
    /// A count by value: `int`, or `MPI_Count` in the large twin.
    Count,
    /// An `MPI_Offset` or `MPI_Aint` by value.
    Offset,
    /// Array of counts.
    Counts,
    /// Array of displacements: `int`, or `MPI_Aint` in the large twin.
    Displs,
    /// Array of displacements that are always `MPI_Aint`.
    ByteDispls,
    /// A datatype handle.
    Datatype,
    /// Array of datatype handles.
    Datatypes,
    /// A communicator handle.
    Comm,
    /// One that matters on a leader only.
    PeerComm,
    /// A window handle.
    Win,
    /// A group handle.
    Group,
    /// A handle of a reduction operation.
    Op,
    /// An info handle.
    Info,
    /// A file handle.
    File,
    /// Another handle by value, not looked at.
    Handle,
    /// A string, whose length Fortran passes besides.
    Text,
    /// Pointer to one request.
    Request,
    /// A request by value.
    RequestValue,
    /// Array of requests.
    Requests,
    /// Pointer to one status, or the ignoring sentinel.
    Status,
    /// Pointer to a logical result.
    Flag,
    /// Pointer to an integer or an array of integers, in or out.
    Ints,
    /// Pointer to something else.
    Pointer,
}

impl Role {
    /// The kind of handle that is passed by value.
    pub fn handle(self) -> Option<HandleKind> {
        Some(match self {
            Role::Datatype => HandleKind::Datatype,
            Role::Comm | Role::PeerComm => HandleKind::Comm,
            Role::Win => HandleKind::Win,
            Role::Group => HandleKind::Group,
            Role::Op => HandleKind::Op,
            Role::Info => HandleKind::Info,
            Role::File => HandleKind::File,
            Role::RequestValue => HandleKind::Request,
            _ => return None,
        })
    }

    /// The role of a parameter with this name.
    pub(crate) fn of(name: &str) -> Option<Role> {
        Some(match name {
            "buf" | "buffer" | "sendbuf" | "recvbuf" | "inbuf" | "inoutbuf" | "outbuf"
            | "origin_addr" | "result_addr" | "compare_addr" => Role::Buffer,
            "base" | "baseptr" => Role::Pointer,
            "count" | "sendcount" | "recvcount" | "incount" | "outcount_in" | "insize"
            | "outsize" | "blocklength" | "origin_count" | "result_count" | "target_count" => {
                Role::Count
            }
            "dest" | "source" | "root" | "tag" | "sendtag" | "recvtag" | "partitions"
            | "partition" | "partition_low" | "partition_high" | "length" | "required"
            | "errorcode" | "target_rank" | "disp_unit" | "assert" | "lock_type" | "color"
            | "key" | "split_type" | "high" | "ndims" | "reorder" | "nnodes" | "n" | "indegree"
            | "outdegree" | "stride" | "order" | "commute" | "bsize" | "maxdims" | "rank"
            | "direction" | "disp" | "comm_size" | "maxindex" | "maxedges" | "maxneighbors"
            | "maxindegree" | "maxoutdegree" | "whence" | "amode" | "max_integers"
            | "max_addresses" | "max_datatypes" | "local_leader" | "remote_leader" | "p" | "r"
            | "typeclass" | "width" | "fd" | "maxprocs" | "commands" | "max_counts" | "atomic"
            | "keyval" | "valuelen" | "source_stream" | "dest_stream" | "index_value"
            | "notification" => Role::Int,
            "outsize_wide" | "insize_wide" => Role::Offset,
            "offset" | "size" | "target_disp" | "byte_stride" | "lb" | "extent" => Role::Offset,
            "sendcounts" | "recvcounts" | "blocklengths" => Role::Counts,
            "displs" | "sdispls" | "rdispls" => Role::Displs,
            "sdispls_bytes" | "rdispls_bytes" => Role::ByteDispls,
            "datatype" | "sendtype" | "recvtype" | "origin_datatype" | "result_datatype"
            | "target_datatype" | "oldtype" | "etype" | "filetype" | "value_type"
            | "index_type" => Role::Datatype,
            "sendtypes" | "recvtypes" => Role::Datatypes,
            "comm" | "comm_other" => Role::Comm,
            "peer_comm" => Role::PeerComm,
            "win" => Role::Win,
            "group" | "group_other" => Role::Group,
            "op" => Role::Op,
            "info" => Role::Info,
            "fh" => Role::File,
            "errhandler" | "session" | "stream" => Role::Handle,
            "text" | "key_text" | "value_text" | "name_text" | "names_text" | "argv_text"
            | "argvs_text" | "string_text" | "version_text" | "datarep_text" | "name_out"
            | "comm_name" | "type_name" | "win_name" | "port_name" | "key_out" | "value_out" => {
                Role::Text
            }
            "request" => Role::Request,
            "request_in" => Role::RequestValue,
            "requests" => Role::Requests,
            "status" => Role::Status,
            "flag" => Role::Flag,
            "index" | "outcount" | "indices" | "partitions_array" | "provided" => Role::Ints,
            "message" | "position" | "statuses" | "argc" | "argv" | "query_fn" | "free_fn"
            | "cancel_fn" | "extra_state" | "datatype_inout" | "comm_inout" | "win_out"
            | "win_inout" | "comm_out" | "dims" | "periods" | "remain_dims" | "ends" | "edges"
            | "sources" | "degrees" | "destinations" | "weights" | "destweights" | "type_out"
            | "displacements" | "types" | "sizes" | "subsizes" | "starts" | "ranks"
            | "group_out" | "user_fn" | "op_out" | "coords" | "rank_out" | "rank_source"
            | "rank_dest" | "buffer_out" | "size_out" | "session_out" | "session_inout"
            | "distribs" | "dargs" | "psizes" | "group_inout" | "op_inout" | "ndims_out"
            | "nnodes_out" | "nedges_out" | "neighbors" | "nneighbors_out" | "indegree_out"
            | "outdegree_out" | "weighted_out" | "lb_out" | "extent_out" | "count_out"
            | "result_out" | "ranks_out" | "offset_out" | "info_out" | "fh_inout" | "fh_out"
            | "status_in" | "integers_out" | "addresses_out" | "types_out" | "newtype_out"
            | "filetype_out" | "errcodes_out" | "infos" | "index_in" | "parent_out"
            | "counts_out" | "copy_fn" | "delete_fn" | "keyval_out" | "keyval_inout"
            | "attribute" | "attribute_out" | "stream_out" | "stream_inout" | "streams"
            | "status_later" | "request_later" | "requests_later" => Role::Pointer,
            _ => return None,
        })
    }
}

impl Param {
    /// As the standard calls it.
    pub fn shown(&'static self) -> &'static str {
        let name = &*self.name;
        let ends = ["_inout", "_out", "_in", "_text", "_wide", "_value", "_later"];
        ends.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name)
    }

    /// Whether the Fortran binding has the parameter too.
    pub fn in_fortran(&self) -> bool {
        self.name != "argc" && self.name != "argv"
    }
}
