//! NCCL: each operation is work in a stream, which reads what it sends and writes what it receives.
//! What the library itself does for that, its kernels and copies, is not the program's, and neither
//! is what it does to make communicators.

use crate::entry::after;
use crate::nccl::{
    Operation, Part, UniqueId, begin_group, group_ended, launching, leave_group, operation,
};
use std::ffi::{c_int, c_void};

entries! {
    fn ncclCommInitRank(_comm: usize, _count: c_int, _id: UniqueId, _rank: c_int) before(_) {}

    fn ncclCommInitRankConfig(
        _comm: usize,
        _count: c_int,
        _id: UniqueId,
        _rank: c_int,
        _config: *mut c_void,
    ) before(_) {}

    fn ncclCommInitAll(_comms: usize, _count: c_int, _devices: *const c_int) before(_) {}

    fn ncclCommSplit(
        _comm: usize,
        _color: c_int,
        _key: c_int,
        _new: usize,
        _config: *mut c_void,
    ) before(_) {}

    fn ncclCommFinalize(_comm: usize) before(_) {}

    fn ncclCommDestroy(_comm: usize) before(_) {}

    fn ncclGroupStart() before(_) {
        begin_group();
    }

    fn ncclGroupEnd() instead(call, real) {
        launching(call);
        let works = leave_group();
        // SAFETY: no arguments.
        after(call, || unsafe { real() }, |call| group_ended(call, &works))
    }

    fn ncclAllReduce(
        send: usize,
        receive: usize,
        count: usize,
        datatype: c_int,
        _op: c_int,
        comm: usize,
        stream: usize,
    ) launches(call) {
        let (send, receive) = (Part(send, count), Part(receive, count));
        operation(call, &Operation { comm, stream, datatype, send, receive });
    }

    fn ncclReduce(
        send: usize,
        receive: usize,
        count: usize,
        datatype: c_int,
        _op: c_int,
        root: c_int,
        comm: usize,
        stream: usize,
    ) launches(call) {
        let (send, receive) = (Part(send, count), Part(receive, count).on(root, comm));
        operation(call, &Operation { comm, stream, datatype, send, receive });
    }

    fn ncclBroadcast(
        send: usize,
        receive: usize,
        count: usize,
        datatype: c_int,
        root: c_int,
        comm: usize,
        stream: usize,
    ) launches(call) {
        let (send, receive) = (Part(send, count).on(root, comm), Part(receive, count));
        operation(call, &Operation { comm, stream, datatype, send, receive });
    }

    fn ncclBcast(
        buffer: usize,
        count: usize,
        datatype: c_int,
        root: c_int,
        comm: usize,
        stream: usize,
    ) launches(call) {
        let (send, receive) = (Part(buffer, count).on(root, comm), Part(buffer, count).not_on(root, comm));
        operation(call, &Operation { comm, stream, datatype, send, receive });
    }

    fn ncclAllGather(
        send: usize,
        receive: usize,
        count: usize,
        datatype: c_int,
        comm: usize,
        stream: usize,
    ) launches(call) {
        let (send, receive) = (Part(send, count), Part(receive, count).for_all(comm));
        operation(call, &Operation { comm, stream, datatype, send, receive });
    }

    fn ncclReduceScatter(
        send: usize,
        receive: usize,
        count: usize,
        datatype: c_int,
        _op: c_int,
        comm: usize,
        stream: usize,
    ) launches(call) {
        let (send, receive) = (Part(send, count).for_all(comm), Part(receive, count));
        operation(call, &Operation { comm, stream, datatype, send, receive });
    }

    fn ncclSend(
        buffer: usize,
        count: usize,
        datatype: c_int,
        _peer: c_int,
        comm: usize,
        stream: usize,
    ) launches(call) {
        let (send, receive) = (Part(buffer, count), Part::NONE);
        operation(call, &Operation { comm, stream, datatype, send, receive });
    }

    fn ncclRecv(
        buffer: usize,
        count: usize,
        datatype: c_int,
        _peer: c_int,
        comm: usize,
        stream: usize,
    ) launches(call) {
        let (send, receive) = (Part::NONE, Part(buffer, count));
        operation(call, &Operation { comm, stream, datatype, send, receive });
    }
}
