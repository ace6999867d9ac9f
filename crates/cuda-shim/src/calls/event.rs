//! Events.

use crate::arguments::Out;
use crate::call::Call;
use commsan_cuda::waiting::HostWait;
use commsan_cuda_abi::IpcHandle;
use std::ffi::c_uint;

/// `cudaEventRecordExternal`.
const EXTERNAL: c_uint = 1;

entries! {
    fn cudaEventRecord, cudaEventRecord_ptsz(event: usize, stream: usize) after(call) {
        recorded(call, event, stream, false);
    }

    fn cudaEventRecordWithFlags, cudaEventRecordWithFlags_ptsz(
        event: usize,
        stream: usize,
        flags: c_uint,
    ) after(call) {
        recorded(call, event, stream, flags & EXTERNAL != 0);
    }

    fn cudaEventSynchronize(event: usize) blocks(call, |_: &Call| HostWait::Event(event)) {
        has_come(call, event);
    }

    fn cudaEventQuery(event: usize) waits(call) {
        has_come(call, event);
    }

    // It succeeds when both have come.
    fn cudaEventElapsedTime(_milliseconds: usize, start: usize, end: usize) waits(call) {
        has_come(call, start);
        has_come(call, end);
    }

    fn cudaEventElapsedTime_v2(_milliseconds: usize, start: usize, end: usize) waits(call) {
        has_come(call, start);
        has_come(call, end);
    }

    fn cudaIpcGetEventHandle(handle: Out<IpcHandle>, event: usize) after(call) {
        call.with(|streams, _, _| streams.event_exported(event, &handle.get().reserved));
    }

    fn cudaIpcOpenEventHandle(event: Out<usize>, handle: IpcHandle) after(call) {
        call.with(|streams, _, _| streams.event_opened(event.get(), &handle.reserved));
    }

    fn cudaEventDestroy(event: usize) before(call) {
        call.with(|streams, _, _| streams.event_destroyed(event));
    }
}

fn recorded(call: &Call, event: usize, stream: usize, external: bool) {
    let stream = call.stream(stream);
    call.with(|streams, place, _| streams.event_recorded(event, stream, external, place));
}

fn has_come(call: &Call, event: usize) {
    call.with(|streams, place, out| streams.event_synchronized(event, call.name, place, out));
}
