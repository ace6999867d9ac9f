//! Groups of calls, by what they are about: the chapters of the standard, as far as statistics tell
//! them apart.

use crate::{Call, Effect, Object};

/// What a call is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CallGroup {
    /// Point-to-point and partitioned communication, probes and buffers for sends (MPI 4.1
    /// chapters 3 and 4).
    PointToPoint,
    /// Collective communication, that of neighbourhoods included (chapters 6 and 8).
    Collective,
    /// One-sided communication: windows, their synchronisation, operations (chapter 12).
    OneSided,
    /// Starting, completing, cancelling and freeing requests of any kind.
    Request,
    /// Communicators, groups and topologies (chapters 7, 8 and 11).
    Communicator,
    /// Datatypes, packing and addresses (chapter 5).
    Datatype,
    /// Files (chapter 14).
    File,
    /// Everything else.
    Other,
}

impl CallGroup {
    /// All groups.
    pub const ALL: [CallGroup; 8] = [
        CallGroup::PointToPoint,
        CallGroup::Collective,
        CallGroup::OneSided,
        CallGroup::Request,
        CallGroup::Communicator,
        CallGroup::Datatype,
        CallGroup::File,
        CallGroup::Other,
    ];

    /// As keys of statistics have it.
    pub fn key(self) -> &'static str {
        match self {
            CallGroup::PointToPoint => "point_to_point",
            CallGroup::Collective => "collective",
            CallGroup::OneSided => "one_sided",
            CallGroup::Request => "request",
            CallGroup::Communicator => "communicator",
            CallGroup::Datatype => "datatype",
            CallGroup::File => "file",
            CallGroup::Other => "other",
        }
    }
}

impl Call {
    /// What it is about.
    pub fn group(&self) -> CallGroup {
        use Effect::*;
        let begins =
            |prefixes: &[&str]| prefixes.iter().any(|prefix| self.bare_name().starts_with(prefix));
        let makes = |object| self.makes.is_some_and(|(made, _)| made == object);
        match self.effect {
            Wait | Test | WaitAll | TestAll | WaitAny | TestAny | Some => CallGroup::Request,
            GetStatus | Free | Cancel | Go | GoAll | GrequestComplete => CallGroup::Request,
            Pready | PreadyRange | PreadyList | Parrived => CallGroup::PointToPoint,
            BufferAttach | BufferDetach => CallGroup::PointToPoint,
            Pack | Unpack => CallGroup::Datatype,
            Symmetric => match self.symmetric_kind() {
                std::option::Option::Some(kind) if kind.is_remote() => CallGroup::OneSided,
                std::option::Option::Some(kind) if kind.is_collective() => CallGroup::Collective,
                _ => CallGroup::Other,
            },
            _ if begins(&["Grequest_"]) => CallGroup::Request,
            // Some have no parameters in the table.
            _ if self.at.file.is_some() || begins(&["File_"]) => CallGroup::File,
            _ if self.at.win.is_some() || begins(&["Win_"]) => CallGroup::OneSided,
            _ if begins(&["Type_", "Pack_", "Get_address", "Address"]) => CallGroup::Datatype,
            _ if begins(&["Reduce_local"]) => CallGroup::Collective,
            _ if self.bare_name().contains("flush_buffer") => CallGroup::PointToPoint,
            _ if begins(&["Buffer_"]) => CallGroup::PointToPoint,
            _ if begins(&[
                "Comm_",
                "Group_",
                "Cart",
                "Graph",
                "Dist_graph_",
                "Topo_",
                "Intercomm_",
                "Dims_",
                "Attr_",
                "Keyval_",
            ]) =>
            {
                CallGroup::Communicator
            }
            _ if makes(Object::Comm) => CallGroup::Communicator,
            _ if self.collective => CallGroup::Collective,
            _ if [self.at.dest, self.at.source, self.at.message].iter().any(Option::is_some) => {
                CallGroup::PointToPoint
            }
            _ => CallGroup::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{CALLS, CallGroup, named};

    #[test]
    fn calls_belong_where_the_standard_has_them() {
        let lists = [
            (
                CallGroup::PointToPoint,
                "Send Isend_c Ssend_init Recv Mrecv Imrecv Sendrecv Sendrecv_replace Iprobe Psend_init \
                 Pready Buffer_attach Buffer_iflush Comm_iflush_buffer",
            ),
            (
                CallGroup::Collective,
                "Barrier Ibcast Allreduce_init Alltoallw_c Neighbor_allgather Scan Reduce_local",
            ),
            (
                CallGroup::OneSided,
                "Put Rget Fetch_and_op Win_create Win_fence Win_lock_all Win_shared_query Win_get_attr",
            ),
            (
                CallGroup::Request,
                "Wait Waitall Testsome Start Startall Request_free Cancel Request_get_status Grequest_start",
            ),
            (
                CallGroup::Communicator,
                "Comm_rank Comm_dup Comm_idup Comm_split Comm_free Group_incl Cart_create Graph_map \
                 Intercomm_merge Dims_create Comm_spawn Comm_set_name Attr_get",
            ),
            (
                CallGroup::Datatype,
                "Type_commit Type_vector Pack Unpack_external Pack_size Get_address",
            ),
            (
                CallGroup::File,
                "File_open File_write_at_all File_iread File_read_all_begin File_sync",
            ),
            (
                CallGroup::Other,
                "Init Finalize Abort Alloc_mem Op_create Get_count Info_set Error_string",
            ),
        ];
        for (group, names) in lists {
            for name in names.split_whitespace() {
                assert_eq!(named(&format!("MPI_{name}")).unwrap().group(), group, "{name}");
            }
        }
    }

    #[test]
    fn twins_are_in_one_group() {
        let of = |row: u32| CALLS[row as usize].group();
        assert!(CALLS.iter().all(|call| call.group() == of(call.kind)));
        assert!(CallGroup::ALL.iter().all(|group| CALLS.iter().any(|call| call.group() == *group)));
    }
}
