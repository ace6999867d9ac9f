//! Events.

use crate::Event;
use crate::entry::{Call, Out};
use commsan_cuda_abi::IpcHandle;
use std::ffi::c_uint;

/// `cudaEventRecordExternal`.
const EXTERNAL: c_uint = 1;

entries! {
    fn cudaEventRecord, cudaEventRecord_ptsz(event: usize, stream: usize) after(call) {
        call.tell(Event::EventRecorded { event, stream: call.stream(stream), external: false });
    }

    fn cudaEventRecordWithFlags, cudaEventRecordWithFlags_ptsz(
        event: usize,
        stream: usize,
        flags: c_uint,
    ) after(call) {
        let (stream, external) = (call.stream(stream), flags & EXTERNAL != 0);
        call.tell(Event::EventRecorded { event, stream, external });
    }

    fn cudaEventSynchronize(event: usize) waits(call) {
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
        call.tell(Event::EventExported { event, handle: handle.get().reserved });
    }

    fn cudaIpcOpenEventHandle(event: Out<usize>, handle: IpcHandle) after(call) {
        call.tell(Event::EventOpened { event: event.get(), handle: handle.reserved });
    }

    fn cudaEventDestroy(event: usize) before(call) {
        call.tell(Event::EventDestroyed { event });
    }
}

fn has_come(call: &Call, event: usize) {
    call.tell(Event::EventSynchronized { call: call.name, event });
}
