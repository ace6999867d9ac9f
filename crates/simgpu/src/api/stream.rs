//! Stream management: creation, synchronisation, host functions, capture.

use crate::abi::GraphEdgeData;
use crate::api::entry::{In, Out};
use crate::device::limits;
use crate::error::{Error, Result};
use crate::order::{Kind, StreamId};
use crate::runtime::Session;
use crate::streams::NON_BLOCKING;
use crate::task::{HostCall, Task};
use crate::thread::{self, CaptureMode};
use std::ffi::{c_int, c_uint, c_void};

/// `cudaLaunchAttributePriority`.
const PRIORITY: c_int = 8;

/// `cudaEventWaitExternal`.
const WAIT_EXTERNAL: c_uint = 1;

calls! {
    fn cudaStreamCreate in (session)(stream: Out<usize>) {
        create(session, stream, 0, 0)
    }

    fn cudaStreamCreateWithFlags in (session)(stream: Out<usize>, flags: c_uint) {
        create(session, stream, flags, 0)
    }

    fn cudaStreamCreateWithPriority in (session)(stream: Out<usize>, flags: c_uint, priority: c_int) {
        create(session, stream, flags, priority)
    }

    fn cudaStreamDestroy in (session)(stream: usize) {
        session.current()?;
        destroy(session, stream)
    }

    fn cudaStreamSynchronize, cudaStreamSynchronize_ptsz in (session, which)(stream: usize) {
        let stream = session.stream(which(stream))?;
        session.forbid_in_capture(stream)?;
        let past = session.order.past(stream);
        session.wait(&past)?;
        session.usable(session.streams.get(stream).device)
    }

    fn cudaStreamQuery, cudaStreamQuery_ptsz in (session, which)(stream: usize) {
        let stream = session.stream(which(stream))?;
        session.forbid_in_capture(stream)?;
        let past = session.order.past(stream);
        session.query(&past)
    }

    fn cudaStreamWaitEvent, cudaStreamWaitEvent_ptsz in (session, which)(
        stream: usize,
        event: usize,
        flags: c_uint,
    ) {
        if flags & !WAIT_EXTERNAL != 0 {
            return Err(Error::INVALID_VALUE);
        }
        let stream = session.stream(which(stream))?;
        session.wait_event(stream, event)
    }

    fn cudaStreamGetPriority, cudaStreamGetPriority_ptsz in (session, which)(
        stream: usize,
        priority: Out<c_int>,
    ) {
        let stream = session.stream(which(stream))?;
        priority.put(session.streams.get(stream).priority)
    }

    fn cudaStreamGetFlags, cudaStreamGetFlags_ptsz in (session, which)(
        stream: usize,
        flags: Out<c_uint>,
    ) {
        let stream = session.stream(which(stream))?;
        flags.put(session.streams.get(stream).flags())
    }

    fn cudaStreamGetId, cudaStreamGetId_ptsz in (session, which)(stream: usize, id: Out<u64>) {
        let stream = session.stream(which(stream))?;
        id.put(session.streams.get(stream).number)
    }

    fn cudaStreamGetDevice, cudaStreamGetDevice_ptsz in (session, which)(
        stream: usize,
        device: Out<c_int>,
    ) {
        let stream = session.stream(which(stream))?;
        device.put(session.streams.get(stream).device as c_int)
    }

    fn cudaLaunchHostFunc, cudaLaunchHostFunc_ptsz in (session, which)(
        stream: usize,
        function: Option<extern "C" fn(*mut c_void)>,
        data: usize,
    ) {
        let function = function.ok_or(Error::INVALID_VALUE)?;
        let stream = session.stream(which(stream))?;
        session.submit(stream, Task::Host(HostCall::Function(function, data))).map(drop)
    }

    fn cudaLaunchHostFunc_v2, cudaLaunchHostFunc_v2_ptsz in (session, which)(
        stream: usize,
        function: Option<extern "C" fn(*mut c_void)>,
        data: usize,
        _waiting: c_uint,
    ) {
        let function = function.ok_or(Error::INVALID_VALUE)?;
        let stream = session.stream(which(stream))?;
        session.submit(stream, Task::Host(HostCall::Function(function, data))).map(drop)
    }

    fn cudaStreamGetAttribute, cudaStreamGetAttribute_ptsz in (session, which)(
        stream: usize,
        attribute: c_int,
        value: Out<[c_int; 16]>,
    ) {
        let stream = session.stream(which(stream))?;
        let mut found = [0; 16];
        if attribute == PRIORITY {
            found[0] = session.streams.get(stream).priority;
        }
        value.put(found)
    }

    fn cudaStreamSetAttribute, cudaStreamSetAttribute_ptsz in (session, which)(
        stream: usize,
        attribute: c_int,
        value: In<[c_int; 16]>,
    ) {
        let stream = session.stream(which(stream))?;
        let value = value.get()?;
        // All other attributes tune hardware.
        if attribute == PRIORITY {
            session.streams.get_mut(stream)?.priority = value[0];
        }
        Ok(())
    }

    fn cudaStreamCopyAttributes, cudaStreamCopyAttributes_ptsz in (session, which)(
        to: usize,
        from: usize,
    ) {
        let (to, from) = (session.stream(which(to))?, session.stream(which(from))?);
        let priority = session.streams.get(from).priority;
        session.streams.get_mut(to)?.priority = priority;
        Ok(())
    }

    fn cudaStreamAddCallback, cudaStreamAddCallback_ptsz in (session, which)(
        handle: usize,
        callback: Option<extern "C" fn(usize, c_int, *mut c_void)>,
        data: usize,
        flags: c_uint,
    ) {
        let callback = callback.filter(|_| flags == 0).ok_or(Error::INVALID_VALUE)?;
        let stream = session.stream(which(handle))?;
        session.forbid_in_capture(stream)?;
        session.submit(stream, Task::Host(HostCall::Callback(callback, handle, data))).map(drop)
    }

    fn cudaStreamAttachMemAsync, cudaStreamAttachMemAsync_ptsz in (session, which)(
        stream: usize,
        start: usize,
        length: usize,
        flags: c_uint,
    ) {
        let stream = session.stream(which(stream))?;
        let managed = session.memory.find(start).filter(|found| {
            let whole = length == 0 || length == found.range.len();
            found.kind == crate::memory::Kind::Managed && found.range.start == start && whole
        });
        if managed.is_none() || !matches!(flags, 1 | 2 | 4) {
            return Err(Error::INVALID_VALUE);
        }
        // Managed memory is accessible to all streams; only the order matters.
        session.submit(stream, Task::Mark).map(drop)
    }

    fn cudaStreamBeginCapture, cudaStreamBeginCapture_ptsz in (session, which)(
        stream: usize,
        mode: c_int,
    ) {
        let stream = session.stream(which(stream))?;
        session.begin_capture(stream, capture_mode(mode)?, None)
    }

    fn cudaStreamBeginCaptureToGraph, cudaStreamBeginCaptureToGraph_ptsz in (session, which)(
        stream: usize,
        graph: usize,
        after: In<usize>,
        _edges: usize,
        count: usize,
        mode: c_int,
    ) {
        let stream = session.stream(which(stream))?;
        let after = after.all(count)?;
        for &node in &after {
            if session.graphs.home(node)? != graph {
                return Err(Error::INVALID_VALUE);
            }
        }
        session.graphs.get(graph)?;
        session.begin_capture(stream, capture_mode(mode)?, Some((graph, after)))
    }

    fn cudaStreamEndCapture, cudaStreamEndCapture_ptsz in (session, which)(
        stream: usize,
        graph: Out<usize>,
    ) {
        let stream = session.stream(which(stream))?;
        let ended = session.end_capture(stream);
        graph.put(ended.unwrap_or(0))?;
        ended.map(drop)
    }

    fn cudaStreamIsCapturing, cudaStreamIsCapturing_ptsz in (session, which)(
        stream: usize,
        status: Out<c_int>,
    ) {
        let stream = session.stream(which(stream))?;
        status.put(capture_status(session, stream))
    }

    fn cudaThreadExchangeStreamCaptureMode in (_)(mode: Out<c_int>) {
        let previous = thread::set_capture_mode(capture_mode(mode.get()?)?);
        mode.put(previous as c_int)
    }

    fn commsan_12_cudaStreamGetCaptureInfo, commsan_12_cudaStreamGetCaptureInfo_ptsz in (session, which)(
        stream: usize,
        status: Out<c_int>,
        id: Out<u64>,
    ) {
        let stream = session.stream(which(stream))?;
        capture_info(session, stream, status, id, None)
    }

    fn cudaStreamGetCaptureInfo_v2, cudaStreamGetCaptureInfo_v2_ptsz in (session, which)(
        stream: usize,
        status: Out<c_int>,
        id: Out<u64>,
        graph: Out<usize>,
        after: Out<*const usize>,
        count: Out<usize>,
    ) {
        let stream = session.stream(which(stream))?;
        capture_info(session, stream, status, id, Some((graph, after, count)))
    }

    fn cudaStreamGetCaptureInfo_v3, cudaStreamGetCaptureInfo_v3_ptsz in (session, which)(
        stream: usize,
        status: Out<c_int>,
        id: Out<u64>,
        graph: Out<usize>,
        after: Out<*const usize>,
        edges: Out<*const GraphEdgeData>,
        count: Out<usize>,
    ) {
        let stream = session.stream(which(stream))?;
        edges.put_if_wanted(std::ptr::null());
        capture_info(session, stream, status, id, Some((graph, after, count)))
    }

    fn commsan_12_cudaStreamUpdateCaptureDependencies,
        commsan_12_cudaStreamUpdateCaptureDependencies_ptsz in (session, which)(
        stream: usize,
        after: In<usize>,
        count: usize,
        flags: c_uint,
    ) {
        let stream = session.stream(which(stream))?;
        update_capture(session, stream, &after.all(count)?, flags)
    }

    fn cudaStreamUpdateCaptureDependencies_v2,
        cudaStreamUpdateCaptureDependencies_v2_ptsz in (session, which)(
        stream: usize,
        after: In<usize>,
        _edges: usize,
        count: usize,
        flags: c_uint,
    ) {
        let stream = session.stream(which(stream))?;
        update_capture(session, stream, &after.all(count)?, flags)
    }
}

fn create(session: &mut Session, stream: Out<usize>, flags: c_uint, priority: c_int) -> Result {
    let device = session.current()?;
    if stream.is_null() || flags & !NON_BLOCKING != 0 {
        return Err(Error::INVALID_VALUE);
    }
    let kind = if flags == NON_BLOCKING { Kind::NonBlocking } else { Kind::Blocking };
    let priority = priority.clamp(limits::PRIORITIES.0, limits::PRIORITIES.1);
    let handle = session.new_handle();
    let state = &mut **session;
    state.streams.create(&mut state.order, handle, device, kind, priority);
    stream.put(handle)
}

/// Destroys a stream, and removes it from a capture that it takes part in.
pub(crate) fn destroy(session: &mut Session, handle: usize) -> Result {
    let state = &mut **session;
    let (id, stream) = state.streams.destroy(&mut state.order, handle)?;
    if let Some(joined) = stream.capture {
        state.leave_capture(id, joined);
    }
    Ok(())
}

fn capture_mode(mode: c_int) -> Result<CaptureMode> {
    match mode {
        0 => Ok(CaptureMode::Global),
        1 => Ok(CaptureMode::ThreadLocal),
        2 => Ok(CaptureMode::Relaxed),
        _ => Err(Error::INVALID_VALUE),
    }
}

/// `cudaStreamCaptureStatus`.
fn capture_status(session: &Session, stream: StreamId) -> c_int {
    match session.joined(stream) {
        Ok(None) => 0,
        Ok(Some(_)) => 1,
        Err(_) => 2,
    }
}

fn capture_info(
    session: &mut Session,
    stream: StreamId,
    status: Out<c_int>,
    id: Out<u64>,
    more: Option<(Out<usize>, Out<*const usize>, Out<usize>)>,
) -> Result {
    status.put(capture_status(session, stream))?;
    let Some(joined) = session.joined(stream)? else { return Ok(()) };
    id.put_if_wanted(joined.capture);
    if let Some((graph, after, count)) = more {
        let capture = session.graphs.captures.get_mut(&joined.capture);
        let capture = capture.ok_or(Error::ILLEGAL_STATE)?;
        // The program may read the array until its next call for this capture.
        capture.returned.clone_from(&joined.after);
        graph.put_if_wanted(capture.graph);
        after.put_if_wanted(capture.returned.as_ptr());
        count.put_if_wanted(capture.returned.len());
    }
    Ok(())
}

fn update_capture(
    session: &mut Session,
    stream: StreamId,
    after: &[usize],
    flags: c_uint,
) -> Result {
    let mut joined = session.joined(stream)?.ok_or(Error::ILLEGAL_STATE)?;
    let graph = session.graphs.captures[&joined.capture].graph;
    for &node in after {
        if session.graphs.home(node)? != graph {
            return Err(Error::INVALID_VALUE);
        }
    }
    match flags {
        // `cudaStreamAddCaptureDependencies`: keeps the earlier ones.
        0 => joined.after.extend(after),
        1 => joined.after = after.to_vec(),
        _ => return Err(Error::INVALID_VALUE),
    }
    joined.after.sort_unstable();
    joined.after.dedup();
    session.streams.get_mut(stream)?.capture = Some(joined);
    Ok(())
}
