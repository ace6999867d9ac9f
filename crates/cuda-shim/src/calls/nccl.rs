//! NCCL: each operation is work in a stream, which reads what it sends and writes what it receives. What the
//! library itself does for that, its kernels and copies, is not the program's.

use crate::nccl::{Operation, Part, UniqueId, begin_group, end_group, operation};
use std::ffi::{c_int, c_void};

entries! {
    fn ncclCommInitRank(comm: usize, count: c_int, id: UniqueId, rank: c_int) instead(call, real) {
        let _ = call;
        // SAFETY: the program's arguments.
        unsafe { real(comm, count, id, rank) }
    }

    fn ncclCommInitRankConfig(
        comm: usize,
        count: c_int,
        id: UniqueId,
        rank: c_int,
        config: *mut c_void,
    ) instead(call, real) {
        let _ = call;
        // SAFETY: the program's arguments.
        unsafe { real(comm, count, id, rank, config) }
    }

    fn ncclCommInitAll(comms: usize, count: c_int, devices: *const c_int) instead(call, real) {
        let _ = call;
        // SAFETY: the program's arguments.
        unsafe { real(comms, count, devices) }
    }

    fn ncclCommSplit(
        comm: usize,
        color: c_int,
        key: c_int,
        new: usize,
        config: *mut c_void,
    ) instead(call, real) {
        let _ = call;
        // SAFETY: the program's arguments.
        unsafe { real(comm, color, key, new, config) }
    }

    fn ncclCommFinalize(comm: usize) instead(call, real) {
        let _ = call;
        // SAFETY: the program's arguments.
        unsafe { real(comm) }
    }

    fn ncclCommDestroy(comm: usize) instead(call, real) {
        let _ = call;
        // SAFETY: the program's arguments.
        unsafe { real(comm) }
    }

    fn ncclGroupStart() instead(call, real) {
        begin_group();
        let _ = call;
        // SAFETY: no arguments.
        unsafe { real() }
    }

    fn ncclGroupEnd() instead(call, real) {
        // SAFETY: no arguments.
        end_group(call, || unsafe { real() })
    }

    fn ncclAllReduce(
        send: usize,
        receive: usize,
        count: usize,
        datatype: c_int,
        op: c_int,
        comm: usize,
        stream: usize,
    ) instead(call, real) {
        let done = Operation { comm, stream, datatype, send: Part(send, count), receive: Part(receive, count) };
        // SAFETY: the program's arguments.
        operation(call, || done, || unsafe { real(send, receive, count, datatype, op, comm, stream) })
    }

    fn ncclReduce(
        send: usize,
        receive: usize,
        count: usize,
        datatype: c_int,
        op: c_int,
        root: c_int,
        comm: usize,
        stream: usize,
    ) instead(call, real) {
        let done = || {
            let receive = Part(receive, count).on(root, comm);
            Operation { comm, stream, datatype, send: Part(send, count), receive }
        };
        // SAFETY: the program's arguments.
        let real = || unsafe { real(send, receive, count, datatype, op, root, comm, stream) };
        operation(call, done, real)
    }

    fn ncclBroadcast(
        send: usize,
        receive: usize,
        count: usize,
        datatype: c_int,
        root: c_int,
        comm: usize,
        stream: usize,
    ) instead(call, real) {
        let done = || {
            let send = Part(send, count).on(root, comm);
            Operation { comm, stream, datatype, send, receive: Part(receive, count) }
        };
        // SAFETY: the program's arguments.
        let real = || unsafe { real(send, receive, count, datatype, root, comm, stream) };
        operation(call, done, real)
    }

    fn ncclBcast(
        buffer: usize,
        count: usize,
        datatype: c_int,
        root: c_int,
        comm: usize,
        stream: usize,
    ) instead(call, real) {
        let done = || {
            let send = Part(buffer, count).on(root, comm);
            let receive = Part(buffer, count).not_on(root, comm);
            Operation { comm, stream, datatype, send, receive }
        };
        // SAFETY: the program's arguments.
        operation(call, done, || unsafe { real(buffer, count, datatype, root, comm, stream) })
    }

    fn ncclAllGather(
        send: usize,
        receive: usize,
        count: usize,
        datatype: c_int,
        comm: usize,
        stream: usize,
    ) instead(call, real) {
        let done = || {
            let receive = Part(receive, count).for_all(comm);
            Operation { comm, stream, datatype, send: Part(send, count), receive }
        };
        // SAFETY: the program's arguments.
        operation(call, done, || unsafe { real(send, receive, count, datatype, comm, stream) })
    }

    fn ncclReduceScatter(
        send: usize,
        receive: usize,
        count: usize,
        datatype: c_int,
        op: c_int,
        comm: usize,
        stream: usize,
    ) instead(call, real) {
        let done = || {
            let send = Part(send, count).for_all(comm);
            Operation { comm, stream, datatype, send, receive: Part(receive, count) }
        };
        // SAFETY: the program's arguments.
        operation(call, done, || unsafe { real(send, receive, count, datatype, op, comm, stream) })
    }

    fn ncclSend(
        buffer: usize,
        count: usize,
        datatype: c_int,
        peer: c_int,
        comm: usize,
        stream: usize,
    ) instead(call, real) {
        let done = Operation { comm, stream, datatype, send: Part(buffer, count), receive: Part(0, 0) };
        // SAFETY: the program's arguments.
        operation(call, || done, || unsafe { real(buffer, count, datatype, peer, comm, stream) })
    }

    fn ncclRecv(
        buffer: usize,
        count: usize,
        datatype: c_int,
        peer: c_int,
        comm: usize,
        stream: usize,
    ) instead(call, real) {
        let done = Operation { comm, stream, datatype, send: Part(0, 0), receive: Part(buffer, count) };
        // SAFETY: the program's arguments.
        operation(call, || done, || unsafe { real(buffer, count, datatype, peer, comm, stream) })
    }
}
