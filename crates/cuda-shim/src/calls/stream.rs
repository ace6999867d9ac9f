//! Streams: making them, waiting for them, calling functions from them, capturing them.

use crate::arguments::{In, Out};
use crate::call::Call;
use crate::host::{self, Callback, Function};
use crate::{ask, graphs, streams, traffic};
use commsan_cuda::waiting::HostWait;
use commsan_cuda::{Wait, Work};
use std::ffi::{c_int, c_uint, c_void};
use std::sync::{Arc, LazyLock};

/// `cudaStreamNonBlocking`.
const NON_BLOCKING: c_uint = 1;
/// `cudaEventWaitExternal`.
const EXTERNAL: c_uint = 1;

entries! {
    fn cudaStreamCreate(stream: Out<usize>) after(call) {
        created(call, stream.get(), true);
    }

    fn cudaStreamCreateWithFlags(stream: Out<usize>, flags: c_uint) after(call) {
        created(call, stream.get(), flags & NON_BLOCKING == 0);
    }

    fn cudaStreamCreateWithPriority(stream: Out<usize>, flags: c_uint, _priority: c_int)
    after(call) {
        created(call, stream.get(), flags & NON_BLOCKING == 0);
    }

    fn cudaStreamDestroy(stream: usize) before(call) {
        streams::destroyed(stream);
        call.with(|streams, _, _| streams.stream_destroyed(stream));
    }

    fn cudaStreamSynchronize, cudaStreamSynchronize_ptsz(stream: usize)
    blocks(call, |call: &Call| HostWait::Stream(call.stream(stream))) {
        waited(call, stream);
    }

    fn cudaStreamQuery, cudaStreamQuery_ptsz(stream: usize) waits(call) {
        waited(call, stream);
    }

    fn cudaStreamWaitEvent, cudaStreamWaitEvent_ptsz(stream: usize, event: usize, flags: c_uint)
    after(call) {
        let (stream, external) = (call.stream(stream), flags & EXTERNAL != 0);
        call.with(|streams, place, _| streams.event_awaited(stream, event, external, place));
    }

    fn cudaLaunchHostFunc, cudaLaunchHostFunc_ptsz(
        stream: usize,
        function: Option<Function>,
        data: *mut c_void,
    ) instead(call, real) {
        host::launch(call, stream, function, data, |function, data| {
            // SAFETY: the program's arguments, or ours for them.
            unsafe { real(stream, function, data) }
        })
    }

    fn cudaLaunchHostFunc_v2, cudaLaunchHostFunc_v2_ptsz(
        stream: usize,
        function: Option<Function>,
        data: *mut c_void,
        mode: c_uint,
    ) instead(call, real) {
        host::launch(call, stream, function, data, |function, data| {
            // SAFETY: the program's arguments, or ours for them.
            unsafe { real(stream, function, data, mode) }
        })
    }

    fn cudaStreamAddCallback, cudaStreamAddCallback_ptsz(
        stream: usize,
        callback: Option<Callback>,
        data: *mut c_void,
        flags: c_uint,
    ) instead(call, real) {
        host::callback(call, stream, callback, data, |callback, data| {
            // SAFETY: the program's arguments, or ours for them.
            unsafe { real(stream, callback, data, flags) }
        })
    }

    fn cudaStreamAttachMemAsync, cudaStreamAttachMemAsync_ptsz(
        stream: usize,
        _start: usize,
        _length: usize,
        _flags: c_uint,
    ) after(call) {
        mark(call, stream);
    }

    // CUDA 12 names the device by a number, and has no flags.
    fn cudaMemPrefetchAsync, cudaMemPrefetchAsync_ptsz(
        _start: usize,
        _size: usize,
        _place: usize,
        flags_or_stream: usize,
        stream: usize,
    ) after(call) {
        mark(call, if ask::is_13() { stream } else { flags_or_stream });
    }

    fn cudaMemPrefetchAsync_v2, cudaMemPrefetchAsync_v2_ptsz(
        _start: usize,
        _size: usize,
        _place: usize,
        _flags: c_uint,
        stream: usize,
    ) after(call) {
        mark(call, stream);
    }

    fn cudaStreamBeginCapture, cudaStreamBeginCapture_ptsz(stream: usize, _mode: c_int)
    after(call) {
        let stream = call.stream(stream);
        traffic::graphs::capture_begins(call, stream);
        call.with(|streams, _, _| streams.capture_begins(stream));
    }

    fn cudaStreamBeginCaptureToGraph, cudaStreamBeginCaptureToGraph_ptsz(
        stream: usize,
        graph: usize,
        after: In<usize>,
        _edges: usize,
        count: usize,
        _mode: c_int,
    ) after(call) {
        let (stream, after) = (call.stream(stream), after.all(count));
        traffic::graphs::capture_begins(call, stream);
        call.with(|streams, _, _| streams.capture_begins_to(stream, graph, &after));
    }

    // CUDA 12 says no more than whether it is captured.
    fn cudaStreamGetCaptureInfo, cudaStreamGetCaptureInfo_ptsz(
        stream: usize,
        status: Out<c_int>,
        _id: usize,
        graph: Out<usize>,
        last: Out<In<usize>>,
        _edges: usize,
        count: Out<usize>,
    ) after(call) {
        if ask::is_13() {
            graphs::capture_found(call, stream, status, graph, (last, count));
        }
    }

    fn cudaStreamGetCaptureInfo_v2, cudaStreamGetCaptureInfo_v2_ptsz(
        stream: usize,
        status: Out<c_int>,
        _id: usize,
        graph: Out<usize>,
        last: Out<In<usize>>,
        count: Out<usize>,
    ) after(call) {
        graphs::capture_found(call, stream, status, graph, (last, count));
    }

    fn cudaStreamGetCaptureInfo_v3, cudaStreamGetCaptureInfo_v3_ptsz(
        stream: usize,
        status: Out<c_int>,
        _id: usize,
        graph: Out<usize>,
        last: Out<In<usize>>,
        _edges: usize,
        count: Out<usize>,
    ) after(call) {
        graphs::capture_found(call, stream, status, graph, (last, count));
    }

    // CUDA 13 has data of edges before their number.
    fn cudaStreamUpdateCaptureDependencies, cudaStreamUpdateCaptureDependencies_ptsz(
        stream: usize,
        after: In<usize>,
        data_or_count: usize,
        count_or_flags: usize,
        flags: c_uint,
    ) after(call) {
        let (count, flags) = match ask::is_13() {
            true => (count_or_flags, flags),
            false => (data_or_count, count_or_flags as c_uint),
        };
        graphs::capture_goes_on(call, stream, (after, count), flags);
    }

    fn cudaStreamUpdateCaptureDependencies_v2, cudaStreamUpdateCaptureDependencies_v2_ptsz(
        stream: usize,
        after: In<usize>,
        _data: usize,
        count: usize,
        flags: c_uint,
    ) after(call) {
        graphs::capture_goes_on(call, stream, (after, count), flags);
    }

    fn cudaStreamEndCapture, cudaStreamEndCapture_ptsz(stream: usize, graph: Out<usize>)
    instead(call, real) {
        // SAFETY: the program's arguments.
        graphs::capture_ends(call, stream, graph, || unsafe { real(stream, graph) })
    }
}

/// The program has created a stream.
fn created(call: &Call, stream: usize, blocking: bool) {
    streams::created(stream);
    call.stream_created(stream, blocking);
}

/// The host knows that a stream has nothing left to do, or that its device has failed.
fn waited(call: &Call, stream: usize) {
    let stream = call.stream(stream);
    call.with(|streams, place, out| match call.failed {
        false => streams.stream_synchronized(stream, call.name, place, out),
        true => streams.stream_failed(stream, call.name, place, out),
    });
}

/// Something is put into a stream that is no access.
fn mark(call: &Call, stream: usize) {
    static NOTHING: LazyLock<Arc<[commsan_cuda::KernelAccess]>> = LazyLock::new(|| Arc::new([]));
    let (stream, accesses) = (call.stream(stream), Arc::clone(&NOTHING));
    let work = Work { call: call.name, stream, kernel: None, accesses, wait: Wait::Nothing };
    call.with(|streams, place, out| streams.enqueue(&work, place, out));
}
