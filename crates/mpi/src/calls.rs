//! The table of MPI calls: what each does with buffers and requests.
//!
//! `calls.txt` is the data; this is its one reader. The shim's generator uses it for names and
//! parameters, the semantics for effects and accesses.

mod demands;
mod parse;

use commsan_engine::Mode;
pub use demands::{Demand, Topology};
use parse::parse;
use std::sync::LazyLock;

/// All calls, families expanded.
pub static CALLS: LazyLock<Vec<Call>> = LazyLock::new(|| {
    // The table is part of the program: a test parses it.
    parse(include_str!("calls.txt")).expect("calls.txt is well formed")
});

/// One MPI call.
#[derive(Debug)]
pub struct Call {
    /// C name, `MPI_Isend`.
    pub name: String,
    /// Parameters in order.
    pub params: Vec<Param>,
    /// What the call does to requests and to the library.
    pub effect: Effect,
    /// What it, or the operation it starts, does to buffers.
    pub accesses: Vec<Rule>,
    /// Whether counts are `MPI_Count` (the `_c` twin).
    pub large: bool,
    /// Whether it is a collective.
    pub collective: bool,
    /// From whom to whom a collective tells something.
    pub flow: Flow,
    /// Whether it is a send that is complete only when the receive has started.
    pub synchronous: bool,
    /// Its number in the table.
    pub row: u32,
    /// The number of the twin without large counts: what it is, whatever its arguments' types.
    pub kind: u32,
    /// Whether ranks enter it together, in the order in which each calls such calls.
    pub enters: bool,
    /// Whether it may wait until other ranks call something, and for nothing else.
    pub waits: bool,
    /// What of its data is the same on all ranks.
    pub fit: Fit,
    /// Whether each pair of ranks has amounts of its own, which this call says.
    pub parts: bool,
    /// Where the parameters are that many look for.
    pub at: Positions,
    /// Whether the only access is one run of elements, on every rank.
    pub simple: bool,
    /// The message that it sends.
    pub sent: Option<Message>,
    /// The message that it receives.
    pub received: Option<Message>,
    /// What it demands of single arguments.
    pub demands: Vec<(usize, Demand)>,
    /// Parameters that must have the same value on all ranks, at most [`alike::MOST`](crate::collective::alike::MOST).
    pub alike: Vec<usize>,
    /// What it makes, and the parameter where it stores the handle.
    pub makes: Option<(Object, usize)>,
    /// What it frees, of which it is given the variable of a handle first.
    pub frees: Option<Object>,
    /// Whether it calls functions of the program that may call MPI as they like: those that attributes are
    /// copied and deleted by (MPI 4.1 §7.7).
    pub calls_back: bool,
    /// Whether counts, displacements or datatypes are arrays.
    pub has_arrays: bool,
    /// Whether it makes an error handler.
    pub makes_handler: bool,
    /// Whether it says by which handler errors are handled.
    pub sets_handler: bool,
    /// Whether it tells what an error means.
    pub explains_errors: bool,
}

/// Where a call says what message it sends or receives: indices of parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// The communicator.
    pub comm: usize,
    /// The other rank.
    pub peer: usize,
    /// The number of elements.
    pub count: usize,
    /// Their datatype.
    pub datatype: usize,
}

impl Message {
    /// One that is sent from, or received into, the first buffer that is accessed so. Those that a request
    /// stands for part by part are no such message.
    fn of(comm: Option<usize>, peer: Option<usize>, buffer: Option<&Rule>) -> Option<Message> {
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
    /// What is made by a call with such parameters, and where its handle is stored.
    fn made(effect: Effect, params: &[Param]) -> Option<(Object, usize)> {
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
    fn freed(effect: Effect, params: &[Param]) -> Option<Object> {
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
    /// It is none.
    None,
    /// From everybody to everybody.
    All,
    /// From the root to everybody.
    FromRoot,
    /// From everybody to the root.
    ToRoot,
    /// From lower ranks to higher ones.
    Upwards,
    /// From sources to destinations of the topology.
    Neighbours,
}

impl Flow {
    /// Of the family of collectives with this name.
    fn of(name: &str) -> Flow {
        match name {
            "Bcast" | "Scatter" | "Scatterv" => Flow::FromRoot,
            "Gather" | "Gatherv" | "Reduce" => Flow::ToRoot,
            "Scan" | "Exscan" => Flow::Upwards,
            _ if name.starts_with("Neighbor") => Flow::Neighbours,
            _ => Flow::All,
        }
    }
}

/// What each rank passes to a collective alike (MPI 4.1 §6.4-6.12).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fit {
    /// Nothing that one rank alone could tell.
    Nothing,
    /// The data that it sends to, or receives from, each rank.
    Block,
    /// The counts of all ranks, as a list.
    List,
}

impl Fit {
    /// Of the family of collectives with this name.
    fn of(name: &str) -> Fit {
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

/// Indices of parameters.
#[derive(Debug)]
pub struct Positions {
    /// The communicator.
    pub comm: Option<usize>,
    /// The root rank.
    pub root: Option<usize>,
    /// The first other rank: destination or source.
    pub peer: Option<usize>,
    /// The first tag.
    pub tag: Option<usize>,
    /// A pointer to one request.
    pub request: Option<usize>,
    /// A request by value.
    pub request_value: Option<usize>,
    /// An array of requests.
    pub requests: Option<usize>,
    /// The first count.
    pub count: Option<usize>,
    /// A pointer to one status.
    pub status: Option<usize>,
    /// A pointer to a logical result.
    pub flag: Option<usize>,
    /// The first pointer to an integer result.
    pub result: Option<usize>,
    /// The array of indices of completed requests.
    pub indices: Option<usize>,
    /// The communicator of the leaders of two groups.
    pub peer_comm: Option<usize>,
    /// A window.
    pub win: Option<usize>,
    /// A file.
    pub file: Option<usize>,
    /// Displacement, count and datatype at the target of a one-sided operation.
    pub displacement: Option<usize>,
    /// See `displacement`.
    pub target_count: Option<usize>,
    /// See `displacement`.
    pub target_datatype: Option<usize>,
    /// A reduction operation.
    pub op: Option<usize>,
    /// The source and tag of what a call receives.
    pub source: Option<usize>,
    /// See `source`.
    pub received_tag: Option<usize>,
    /// The destination of what it sends.
    pub dest: Option<usize>,
    /// Where it stores the message it has found, for `MPI_Mrecv`.
    pub message: Option<usize>,
    /// The other value of `MPI_Compare_and_swap`.
    pub compared: Option<usize>,
    /// What a call that synchronises a window names besides: a group, how to lock, assertions.
    pub group: Option<usize>,
    /// See `group`.
    pub lock_type: Option<usize>,
    /// See `group`.
    pub assert: Option<usize>,
    /// The position in a packed buffer.
    pub position: Option<usize>,
    /// The number of a partition.
    pub partition: Option<usize>,
}

impl Positions {
    fn of(params: &[Param]) -> Positions {
        let role = |role: Role| params.iter().position(|p| p.role == role);
        let name = |name: &str| params.iter().position(|p| p.name == name);
        Positions {
            comm: role(Role::Comm),
            root: name("root"),
            peer: name("dest").or_else(|| name("source")).or_else(|| name("target_rank")),
            tag: name("tag").or_else(|| name("sendtag")),
            request: role(Role::Request),
            request_value: role(Role::RequestValue),
            requests: role(Role::Requests),
            count: role(Role::Count),
            status: role(Role::Status),
            flag: role(Role::Flag),
            result: role(Role::Ints),
            indices: name("indices"),
            peer_comm: role(Role::PeerComm),
            win: role(Role::Win),
            file: role(Role::File),
            displacement: name("target_disp"),
            target_count: name("target_count"),
            target_datatype: name("target_datatype").or_else(|| name("datatype")),
            op: role(Role::Op),
            source: name("source"),
            received_tag: name("recvtag").or_else(|| name("tag")),
            dest: name("dest"),
            message: name("message"),
            compared: name("compare_addr"),
            group: role(Role::Group),
            lock_type: name("lock_type"),
            assert: name("assert"),
            position: name("position"),
            partition: name("partition"),
        }
    }
}

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

/// Kinds of parameters, as far as somebody must tell them apart.
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
    /// The role of a parameter with this name.
    fn of(name: &str) -> Option<Role> {
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
            | "keyval" => Role::Int,
            "outsize_wide" | "insize_wide" => Role::Offset,
            "offset" | "size" | "target_disp" | "byte_stride" | "lb" | "extent" => Role::Offset,
            "sendcounts" | "recvcounts" | "blocklengths" => Role::Counts,
            "displs" | "sdispls" | "rdispls" => Role::Displs,
            "sdispls_bytes" | "rdispls_bytes" => Role::ByteDispls,
            "datatype" | "sendtype" | "recvtype" | "origin_datatype" | "result_datatype"
            | "target_datatype" | "oldtype" | "etype" | "filetype" => Role::Datatype,
            "sendtypes" | "recvtypes" => Role::Datatypes,
            "comm" | "comm_other" => Role::Comm,
            "peer_comm" => Role::PeerComm,
            "win" => Role::Win,
            "group" | "group_other" => Role::Group,
            "op" => Role::Op,
            "info" => Role::Info,
            "fh" => Role::File,
            "errhandler" | "session" => Role::Handle,
            "text" | "key_text" | "value_text" | "name_text" | "names_text" | "argv_text"
            | "argvs_text" => Role::Text,
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
            | "attribute" | "attribute_out" => Role::Pointer,
            _ => return None,
        })
    }
}

/// What a call does besides touching buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Touches its buffers before it returns.
    Block,
    /// None.
    Local,
    /// Starts an operation that ends when its request completes.
    Start,
    /// Makes an inactive persistent request.
    Init,
    /// Makes an inactive partitioned request, for sending or receiving.
    InitPartitioned,
    /// `MPI_Pready`: hands over one partition.
    Pready,
    /// `MPI_Pready_range`.
    PreadyRange,
    /// `MPI_Pready_list`.
    PreadyList,
    /// `MPI_Parrived`: may hand back one partition.
    Parrived,
    /// Starts a persistent request.
    Go,
    /// Starts several.
    GoAll,
    /// Completes one request.
    Wait,
    /// Completes one if the flag comes back true.
    Test,
    /// Completes all.
    WaitAll,
    /// Completes all or none.
    TestAll,
    /// Completes the one at the index that comes back.
    WaitAny,
    /// Completes that one if the flag comes back true.
    TestAny,
    /// Completes those whose indices come back (`MPI_Waitsome`, `MPI_Testsome`).
    Some,
    /// Says whether an operation is complete and leaves the request alone.
    GetStatus,
    /// Gives a request up.
    Free,
    /// Asks for an operation to be cancelled.
    Cancel,
    /// `MPI_Pack`: writes the buffer between the two positions.
    Pack,
    /// `MPI_Unpack`: reads it there.
    Unpack,
    /// Initialises the library.
    Begin,
    /// `MPI_Finalize`.
    Finalize,
    /// `MPI_Abort`.
    Abort,
    /// Commits a datatype.
    TypeCommit,
    /// `MPI_Type_free`.
    TypeFree,
    /// Hands out datatypes that may have been made, and freed, before (`MPI_Type_get_contents`), or that nobody frees.
    TypeContents,
    /// `MPI_Comm_free`, `MPI_Comm_disconnect`.
    CommFree,
    /// Starts a one-sided operation.
    Rma,
    /// Makes a window.
    Window,
    /// `MPI_Win_free`.
    WindowFree,
    /// `MPI_Win_attach`.
    Attach,
    /// `MPI_Win_detach`.
    Detach,
    /// `MPI_Win_set_info`.
    WindowInfo,
    /// `MPI_Win_fence`.
    Fence,
    /// `MPI_Win_start`: begins an access epoch.
    EpochBegin,
    /// `MPI_Win_complete`: ends it.
    EpochEnd,
    /// `MPI_Win_post`: begins an exposure epoch.
    ExposureBegin,
    /// `MPI_Win_wait`, or `MPI_Win_test` with a true flag: ends it.
    ExposureEnd,
    /// `MPI_Win_lock`, of all ranks where it names none.
    Lock,
    /// `MPI_Win_unlock`, of all ranks where it names none.
    Unlock,
    /// `MPI_Win_flush`, of all ranks where it names none.
    Flush,
    /// `MPI_Win_flush_local`, of all ranks where it names none.
    FlushLocal,
    /// `MPI_Win_sync`.
    WindowSync,
    /// `MPI_Alloc_mem`.
    MemAlloc,
    /// `MPI_Free_mem`.
    MemFree,
    /// `MPI_Session_init`.
    Session,
    /// `MPI_Session_finalize`.
    SessionEnd,
    /// Asks something that any thread may ask as far as anybody can tell.
    Ask,
    /// Makes a key of attributes.
    KeyvalMake,
    /// Frees one.
    KeyvalFree,
    /// `MPI_Grequest_complete`: the program says that its own operation is complete.
    GrequestComplete,
    /// Nothing is known of it, not even its parameters.
    Bare,
    /// `MPI_Buffer_attach`: lends memory to MPI.
    BufferAttach,
    /// `MPI_Buffer_detach`: takes it back.
    BufferDetach,
    /// Opens a file.
    FileOpen,
    /// `MPI_File_close`.
    FileClose,
    /// Begins a split collective: an operation that its file stands for.
    SplitBegin,
    /// Ends it.
    SplitEnd,
}

/// One access of a call or of the operation it starts. Numbers are indices of parameters.
#[derive(Debug)]
pub struct Rule {
    /// Read or write.
    pub mode: Mode,
    /// The buffer.
    pub buffer: usize,
    /// The buffer to use where the first is in place.
    pub in_place: Option<usize>,
    /// How many elements and where.
    pub extent: Extent,
    /// The element type, or the array of them.
    pub datatype: usize,
    /// No access where this rank is `MPI_PROC_NULL`.
    pub peer: Option<usize>,
    /// No access where this reduction is `MPI_NO_OP`.
    pub op: Option<usize>,
    /// Where it takes place.
    pub on: On,
}

/// How much of the buffer an access covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// One run of elements for each of `times`.
    Blocks {
        /// Elements in each block.
        count: usize,
        /// How many blocks.
        times: Times,
    },
    /// Blocks of given sizes at given displacements.
    Placed {
        /// Elements in each block.
        counts: usize,
        /// Where each block begins.
        displs: usize,
        /// How many blocks.
        times: Times,
    },
    /// As many elements as all counts together.
    Sum(usize),
    /// As many elements as this rank's count.
    Own(usize),
    /// One element.
    One,
}

/// How often a block repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// Once.
    Once,
    /// For each rank of the (remote) group.
    Size,
    /// For each rank of the own group.
    Local,
    /// For each source of the topology.
    In,
    /// For each destination of the topology.
    Out,
    /// As often as an integer parameter says.
    Param(usize),
}

/// On which ranks of a rooted collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// On all.
    All,
    /// On the root.
    Root,
    /// On all but the root.
    Other,
    /// On all but rank 0.
    Later,
}

impl Param {
    /// As the standard calls it.
    pub fn shown(&'static self) -> &'static str {
        let name = &*self.name;
        let ends = ["_inout", "_out", "_in", "_text", "_wide"];
        ends.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name)
    }

    /// Whether the Fortran binding has the parameter too.
    pub fn in_fortran(&self) -> bool {
        self.name != "argc" && self.name != "argv"
    }
}

impl Call {
    /// Its name without `MPI_`.
    pub fn bare_name(&self) -> &str {
        self.name.split_once('_').map_or(&*self.name, |(_, name)| name)
    }

    /// Whether it ends what the program has of MPI: of a session, if it is the last.
    pub fn ends(&self) -> bool {
        matches!(self.effect, Effect::Finalize | Effect::SessionEnd)
    }

    /// How many arguments Fortran passes: a parameter each, `ierror`, and after them the length of each string.
    pub fn fortran_arguments(&self) -> (usize, usize) {
        let count = |is: fn(&Param) -> bool| self.params.iter().filter(|param| is(param)).count();
        (count(Param::in_fortran) + 1, count(|param| param.role == Role::Text))
    }

    /// Whether its datatypes must be committed (MPI 4.1 §5.1.9), as those of a file's view.
    pub fn communicates(&self) -> bool {
        let moves = !matches!(self.effect, Effect::Pack | Effect::Unpack | Effect::Local);
        let file = self.at.file.is_some()
            && (!self.accesses.is_empty() || self.named("filetype").is_some());
        moves && (self.at.comm.is_some() || self.at.win.is_some() || file)
    }

    /// Whether it looks for a message and leaves it where it is.
    pub fn probes(&self) -> bool {
        self.accesses.is_empty() && self.at.source.is_some()
    }

    /// Whether those of a group make a communicator by it, without all others of the old one.
    pub fn is_by_group(&self) -> bool {
        self.effect == Effect::Block && self.makes.is_some() && !self.collective
    }

    /// Whether no other process takes part: it asks for what this one knows, or makes or frees what only this one
    /// has. Communicators are made with others.
    pub fn is_alone(&self) -> bool {
        let is_shared = self.makes.is_some_and(|(object, _)| object == Object::Comm);
        matches!(self.effect, Effect::Local | Effect::Ask) && !is_shared
    }

    /// Whether its active request may be freed: that of a send to one rank (MPI 4.1 §3.7.3), and of an
    /// R-version, about which the standard is not of one mind (§12.3.5).
    pub fn may_be_freed(&self) -> bool {
        let reads_only = self.accesses.iter().all(|rule| rule.mode == Mode::Read);
        let whole = self.effect != Effect::InitPartitioned;
        let sends = self.at.dest.is_some() && reads_only && whole;
        !self.collective && (sends || self.at.win.is_some())
    }

    /// Whether it may wait until other ranks enter it, too. Communicators are anticipated to be freed
    /// without (MPI 4.1 §7.4.3).
    pub fn blocks(&self) -> bool {
        let frees = self.effect == Effect::CommFree;
        self.enters && !frees && !matches!(self.effect, Effect::Start | Effect::Init)
    }

    /// Whether the status it returns tells something that is needed.
    pub fn needs_status(&self) -> bool {
        let completes_one =
            matches!(self.effect, Effect::Wait | Effect::Test | Effect::WaitAny | Effect::TestAny);
        completes_one || matches!(self.effect, Effect::Block | Effect::SplitEnd)
    }

    /// Index of the parameter with this name; for calls that are rare.
    pub fn named(&self, name: &str) -> Option<usize> {
        self.params.iter().position(|p| p.name == name)
    }
}

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
