//! Positions of a call's parameters, looked up once.

use crate::{Param, Role};

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
    /// The displacement at the target of a one-sided operation.
    pub displacement: Option<usize>,
    /// The count at the target of a one-sided operation.
    pub target_count: Option<usize>,
    /// The datatype at the target of a one-sided operation.
    pub target_datatype: Option<usize>,
    /// A reduction operation.
    pub op: Option<usize>,
    /// The source of what a call receives.
    pub source: Option<usize>,
    /// The tag of what a call receives.
    pub received_tag: Option<usize>,
    /// The destination of what a call sends.
    pub dest: Option<usize>,
    /// Where a call stores the message it has found, for `MPI_Mrecv`.
    pub message: Option<usize>,
    /// The other value of `MPI_Compare_and_swap`.
    pub compared: Option<usize>,
    /// The group that a call synchronises a window with.
    pub group: Option<usize>,
    /// The type of a lock.
    pub lock_type: Option<usize>,
    /// The assertions of a call that synchronises a window.
    pub assert: Option<usize>,
    /// The position in a packed buffer.
    pub position: Option<usize>,
    /// The number of a partition.
    pub partition: Option<usize>,
    /// The number of a counter of operations that are complete at their target.
    pub notification: Option<usize>,
}

impl Positions {
    pub(crate) fn of(params: &[Param]) -> Positions {
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
            notification: name("notification"),
        }
    }
}
