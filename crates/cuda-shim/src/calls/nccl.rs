//! NCCL: each operation is work in a stream, which reads what it sends and writes what it receives,
//! and is compared with what other ranks call. What the library itself does for that, its kernels
//! and copies, is not the program's, and neither is what it does to make communicators.

use crate::nccl::{
    Asked, Part, UniqueId, destroy, end_group, listed, made_by_id, make, operation, simulate_group,
    start_group,
};
use commsan_cuda::nccl::operation::{Kind, Operation};
use commsan_cuda::nccl::{Act, Origin};
use std::ffi::{c_int, c_void};

/// Rows for operations behind others: those that can be called with a configuration, too, and those
/// that cannot.
macro_rules! entries_with_operations {
    (
        {$($others:tt)*}
        $(fn $name:ident | $configured:ident ($($arg:ident: $ty:ty),* $(,)?) $asked:block)*
        ---
        $(fn $plain:ident ($($plain_arg:ident: $plain_ty:ty),* $(,)?) $plain_asked:block)*
    ) => {
        entries! {
            $($others)*
            $(
                fn $name($($arg: $ty),*) instead(call, real) {
                    // SAFETY: the program's arguments.
                    operation(call, &$asked, || unsafe { real($($arg),*) })
                }

                fn $configured($($arg: $ty,)* config: *mut c_void) instead(call, real) {
                    // SAFETY: the program's arguments.
                    operation(call, &$asked, || unsafe { real($($arg,)* config) })
                }
            )*
            $(
                fn $plain($($plain_arg: $plain_ty),*) instead(call, real) {
                    // SAFETY: the program's arguments.
                    operation(call, &$plain_asked, || unsafe { real($($plain_arg),*) })
                }
            )*
        }
    };
}

entries_with_operations! {
    {
        fn ncclCommInitRank(comm: *mut usize, count: c_int, id: UniqueId, rank: c_int)
            instead(call, real)
        {
            let known = made_by_id(rank, count);
            // SAFETY: the program's arguments.
            make(call, Origin::Id(id.bytes()), known, &[comm], || unsafe {
                real(comm, count, id, rank)
            })
        }

        fn ncclCommInitRankConfig(
            comm: *mut usize,
            count: c_int,
            id: UniqueId,
            rank: c_int,
            config: *mut c_void,
        ) instead(call, real) {
            let known = made_by_id(rank, count);
            // SAFETY: the program's arguments.
            make(call, Origin::Id(id.bytes()), known, &[comm], || unsafe {
                real(comm, count, id, rank, config)
            })
        }

        fn ncclCommInitRankScalable(
            comm: *mut usize,
            count: c_int,
            rank: c_int,
            number: c_int,
            ids: *const UniqueId,
            config: *mut c_void,
        ) instead(call, real) {
            let known = made_by_id(rank, count);
            // SAFETY: the program passes so many.
            let all = unsafe { listed(ids, number) };
            let all: Vec<u8> = all.iter().flat_map(|id| id.bytes()).copied().collect();
            // SAFETY: the program's arguments.
            make(call, Origin::Id(&all), known, &[comm], || unsafe {
                real(comm, count, rank, number, ids, config)
            })
        }

        fn ncclCommInitAll(comms: *mut usize, count: c_int, devices: *const c_int)
            instead(call, real)
        {
            let places: Vec<_> = (0..count.max(0) as usize).map(|n| comms.wrapping_add(n)).collect();
            // SAFETY: the program's arguments.
            make(call, Origin::All, [None, u32::try_from(count).ok()], &places, || unsafe {
                real(comms, count, devices)
            })
        }

        fn ncclCommSplit(
            comm: usize,
            color: c_int,
            key: c_int,
            new: *mut usize,
            config: *mut c_void,
        ) instead(call, real) {
            // SAFETY: the program's arguments.
            make(call, Origin::Split(comm, color), [None; 2], &[new], || unsafe {
                real(comm, color, key, new, config)
            })
        }

        fn ncclCommShrink(
            comm: usize,
            excluded: *const c_int,
            count: c_int,
            new: *mut usize,
            config: *mut c_void,
            flags: c_int,
        ) instead(call, real) {
            // SAFETY: the program passes so many.
            let without = unsafe { listed(excluded, count) };
            // SAFETY: the program's arguments.
            make(call, Origin::Shrink(comm, without), [None; 2], &[new], || unsafe {
                real(comm, excluded, count, new, config, flags)
            })
        }

        fn ncclCommGrow(
            comm: usize,
            ranks: c_int,
            id: *const c_void,
            rank: c_int,
            new: *mut usize,
            config: *mut c_void,
        ) instead(call, real) {
            // SAFETY: the program's arguments.
            make(call, Origin::Unknown, [None; 2], &[new], || unsafe {
                real(comm, ranks, id, rank, new, config)
            })
        }

        fn ncclCommFinalize(comm: usize) before(call) {
            destroy(call, comm, Act::Destroys);
        }

        fn ncclCommDestroy(comm: usize) before(call) {
            destroy(call, comm, Act::Destroys);
        }

        fn ncclCommAbort(comm: usize) before(call) {
            destroy(call, comm, Act::Aborts);
        }

        fn ncclCommRevoke(comm: usize, _flags: c_int) before(call) {
            call.with(|streams, place, out| streams.nccl(Act::Failed(comm), place, out));
        }

        fn ncclGroupStart() after(call) {
            start_group(call);
        }

        fn ncclGroupEnd() instead(call, real) {
            // SAFETY: no arguments.
            end_group(call, || unsafe { real() })
        }

        fn ncclGroupSimulateEnd(info: *mut c_void) instead(call, real) {
            // SAFETY: the program's argument.
            simulate_group(call, || unsafe { real(info) })
        }
    }

    fn ncclAllReduce | ncclAllReduceConfig(
        send: usize,
        receive: usize,
        count: usize,
        datatype: c_int,
        op: c_int,
        comm: usize,
        stream: usize,
    ) {
        let what = Operation::new(Kind::AllReduce, count, datatype).by(op);
        Asked { comm, stream, what, send: Part::of(send), receive: Part::of(receive) }
    }

    fn ncclReduce | ncclReduceConfig(
        send: usize,
        receive: usize,
        count: usize,
        datatype: c_int,
        op: c_int,
        root: c_int,
        comm: usize,
        stream: usize,
    ) {
        let what = Operation::new(Kind::Reduce, count, datatype).by(op).with(root);
        Asked { comm, stream, what, send: Part::of(send), receive: Part::of(receive).on_root() }
    }

    fn ncclReduceScatter | ncclReduceScatterConfig(
        send: usize,
        receive: usize,
        count: usize,
        datatype: c_int,
        op: c_int,
        comm: usize,
        stream: usize,
    ) {
        let what = Operation::new(Kind::ReduceScatter, count, datatype).by(op);
        Asked { comm, stream, what, send: Part::of(send).for_all(), receive: Part::of(receive) }
    }

    fn ncclBroadcast | ncclBroadcastConfig(
        send: usize,
        receive: usize,
        count: usize,
        datatype: c_int,
        root: c_int,
        comm: usize,
        stream: usize,
    ) {
        let what = Operation::new(Kind::Broadcast, count, datatype).with(root);
        Asked { comm, stream, what, send: Part::of(send).on_root(), receive: Part::of(receive) }
    }

    fn ncclAllGather | ncclAllGatherConfig(
        send: usize,
        receive: usize,
        count: usize,
        datatype: c_int,
        comm: usize,
        stream: usize,
    ) {
        let what = Operation::new(Kind::AllGather, count, datatype);
        Asked { comm, stream, what, send: Part::of(send), receive: Part::of(receive).for_all() }
    }

    fn ncclAlltoAll | ncclAlltoAllConfig(
        send: usize,
        receive: usize,
        count: usize,
        datatype: c_int,
        comm: usize,
        stream: usize,
    ) {
        let what = Operation::new(Kind::AlltoAll, count, datatype);
        let (send, receive) = (Part::of(send).for_all(), Part::of(receive).for_all());
        Asked { comm, stream, what, send, receive }
    }

    fn ncclGather | ncclGatherConfig(
        send: usize,
        receive: usize,
        count: usize,
        datatype: c_int,
        root: c_int,
        comm: usize,
        stream: usize,
    ) {
        let what = Operation::new(Kind::Gather, count, datatype).with(root);
        let receive = Part::of(receive).for_all().on_root();
        Asked { comm, stream, what, send: Part::of(send), receive }
    }

    fn ncclScatter | ncclScatterConfig(
        send: usize,
        receive: usize,
        count: usize,
        datatype: c_int,
        root: c_int,
        comm: usize,
        stream: usize,
    ) {
        let what = Operation::new(Kind::Scatter, count, datatype).with(root);
        let send = Part::of(send).for_all().on_root();
        Asked { comm, stream, what, send, receive: Part::of(receive) }
    }

    ---

    fn ncclBcast(
        buffer: usize,
        count: usize,
        datatype: c_int,
        root: c_int,
        comm: usize,
        stream: usize,
    ) {
        let what = Operation::new(Kind::Broadcast, count, datatype).with(root);
        let (send, receive) = (Part::of(buffer).on_root(), Part::of(buffer).on_others());
        Asked { comm, stream, what, send, receive }
    }

    fn ncclSend(
        buffer: usize,
        count: usize,
        datatype: c_int,
        peer: c_int,
        comm: usize,
        stream: usize,
    ) {
        let what = Operation::new(Kind::Send, count, datatype).with(peer);
        Asked { comm, stream, what, send: Part::of(buffer), receive: Part::NONE }
    }

    fn ncclRecv(
        buffer: usize,
        count: usize,
        datatype: c_int,
        peer: c_int,
        comm: usize,
        stream: usize,
    ) {
        let what = Operation::new(Kind::Receive, count, datatype).with(peer);
        Asked { comm, stream, what, send: Part::NONE, receive: Part::of(buffer) }
    }
}
