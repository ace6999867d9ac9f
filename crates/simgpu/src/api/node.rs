//! Graph nodes: adding them, reading and changing their parameters.

use crate::abi::{
    Extent, HostNodeParams, KernelNodeParams, MemAllocNodeParams, Memcpy3DParms, MemsetParams,
    PitchedPtr, Pos,
};
use crate::api::entry::{In, Out};
use crate::api::{copy, graph, set, symbol};
use crate::conditional::{CONDITIONS, Conditional, ConditionalType};
use crate::copy::{Copy, Place, Set};
use crate::error::{Error, Result};
use crate::graphs::Body;
use crate::launch::Request;
use crate::memory::Kind;
use crate::runtime::Session;
use crate::task::{HostCall, Task};
use std::ffi::{c_int, c_void};
use std::mem::discriminant;
use std::sync::Arc;

/// `cudaConditionalNodeParams`, without the pointer through which its graphs are returned.
#[repr(C)]
#[derive(Clone, Copy)]
struct ConditionalParams {
    handle: u64,
    kind: c_int,
    size: u32,
}

/// `cudaMemcpyDefault`.
const BY_POINTER: c_int = 4;

/// Offset in `cudaGraphNodeParams` of the fields that depend on the kind of node, and from there to
/// a copy's parameters, in bytes.
const NODE_HEADER: usize = 16;
const COPY_HEADER: usize = 16;

/// Defines, for a kind of node, the functions that add a node, change it, and change it in an
/// instantiated graph; all take the same parameters.
macro_rules! nodes {
    ($($add:ident, $change:ident, $change_ready:ident in ($session:ident)
        ($($arg:ident: $ty:ty),* $(,)?) $body:block)*) => { $(
        calls! {
            fn $add in ($session)(
                node: Out<usize>,
                graph: usize,
                after: In<usize>,
                count: usize,
                $($arg: $ty),*
            ) {
                let body: Body = $body?;
                add($session, node, graph, after.all(count)?, body)
            }

            fn $change in ($session)(node: usize, $($arg: $ty),*) {
                let body: Body = $body?;
                replace(&mut $session.graphs.node_mut(node)?.body, body)
            }

            fn $change_ready in ($session)(exec: usize, node: usize, $($arg: $ty),*) {
                let body: Body = $body?;
                replace(&mut $session.graphs.exec_mut(exec)?.node_mut(node)?.body, body)
            }
        }
    )* };
}

nodes! {
    cudaGraphAddMemcpyNode, cudaGraphMemcpyNodeSetParams, cudaGraphExecMemcpyNodeSetParams
    in (session)(parameters: In<Memcpy3DParms>) {
        copy_body(session, parameters.get()?)
    }

    cudaGraphAddMemcpyNode1D, cudaGraphMemcpyNodeSetParams1D, cudaGraphExecMemcpyNodeSetParams1D
    in (session)(to: usize, from: usize, bytes: usize, kind: c_int) {
        flat_copy(session, to, from, bytes, kind)
    }

    cudaGraphAddMemcpyNodeToSymbol, cudaGraphMemcpyNodeSetParamsToSymbol,
    cudaGraphExecMemcpyNodeSetParamsToSymbol
    in (session)(to: usize, from: usize, bytes: usize, offset: usize, kind: c_int) {
        let to = symbol::address(session, to, offset, bytes)?;
        flat_copy(session, to, from, bytes, kind)
    }

    cudaGraphAddMemcpyNodeFromSymbol, cudaGraphMemcpyNodeSetParamsFromSymbol,
    cudaGraphExecMemcpyNodeSetParamsFromSymbol
    in (session)(to: usize, from: usize, bytes: usize, offset: usize, kind: c_int) {
        let from = symbol::address(session, from, offset, bytes)?;
        flat_copy(session, to, from, bytes, kind)
    }

    cudaGraphAddMemsetNode, cudaGraphMemsetNodeSetParams, cudaGraphExecMemsetNodeSetParams
    in (session)(parameters: In<MemsetParams>) {
        set_body(session, parameters.get()?)
    }

    cudaGraphAddHostNode, cudaGraphHostNodeSetParams, cudaGraphExecHostNodeSetParams
    in (_session)(parameters: In<HostNodeParams>) {
        host_body(parameters.get()?)
    }

    cudaGraphAddKernelNode, cudaGraphKernelNodeSetParams, cudaGraphExecKernelNodeSetParams
    in (session)(parameters: In<KernelNodeParams>) {
        kernel_body(session, parameters.get()?)
    }

    cudaGraphAddEventRecordNode, cudaGraphEventRecordNodeSetEvent,
    cudaGraphExecEventRecordNodeSetEvent
    in (session)(event: usize) {
        session.events.get(event).map(|_| Body::Record(event))
    }

    cudaGraphAddEventWaitNode, cudaGraphEventWaitNodeSetEvent, cudaGraphExecEventWaitNodeSetEvent
    in (session)(event: usize) {
        session.events.get(event).map(|_| Body::Wait(event))
    }
}

calls! {
    fn cudaGraphAddEmptyNode in (session)(
        node: Out<usize>,
        graph: usize,
        after: In<usize>,
        count: usize,
    ) {
        add(session, node, graph, after.all(count)?, Body::Empty)
    }

    fn cudaGraphAddChildGraphNode in (session)(
        node: Out<usize>,
        graph: usize,
        after: In<usize>,
        count: usize,
        child: usize,
    ) {
        let child = graph::copy(session, child)?;
        add(session, node, graph, after.all(count)?, Body::Child(child))
    }

    fn cudaGraphAddMemAllocNode in (session)(
        node: Out<usize>,
        graph: usize,
        after: In<usize>,
        count: usize,
        parameters: Out<MemAllocNodeParams>,
    ) {
        let mut given = parameters.get()?;
        let device = session.device_number(given.poolProps.location.id)?;
        if given.bytesize == 0 || node.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        session.graphs.get(graph)?;
        given.dptr = session.memory.allocate(Kind::Graph, device, given.bytesize)?;
        session.graphs.own(graph, given.dptr)?;
        parameters.put(given)?;
        add(session, node, graph, after.all(count)?, Body::Alloc(given.dptr))
    }

    fn cudaGraphAddMemFreeNode in (session)(
        node: Out<usize>,
        graph: usize,
        after: In<usize>,
        count: usize,
        pointer: usize,
    ) {
        let found = session.memory.find(pointer);
        found.filter(|found| found.kind == Kind::Graph).ok_or(Error::INVALID_VALUE)?;
        add(session, node, graph, after.all(count)?, Body::Free(pointer))
    }

    fn cudaGraphMemFreeNodeGetParams in (session)(node: usize, pointer: Out<usize>) {
        match session.graphs.node(node)?.body {
            Body::Free(found) => pointer.put(found),
            _ => Err(Error::INVALID_VALUE),
        }
    }

    fn cudaDeviceGraphMemTrim in (session)(device: c_int) {
        // No memory is cached.
        session.device_number(device).map(drop)
    }

    fn cudaGraphChildGraphNodeGetGraph in (session)(node: usize, child: Out<usize>) {
        match session.graphs.node(node)?.body {
            Body::Child(found) => child.put(found),
            _ => Err(Error::INVALID_VALUE),
        }
    }

    fn commsan_12_cudaGraphAddNode in (session)(
        node: Out<usize>,
        graph: usize,
        after: In<usize>,
        count: usize,
        parameters: In<c_int>,
    ) {
        let body = any_body(session, parameters)?;
        add(session, node, graph, after.all(count)?, body)
    }

    fn cudaGraphAddNode_v2 in (session)(
        node: Out<usize>,
        graph: usize,
        after: In<usize>,
        _edges: usize,
        count: usize,
        parameters: In<c_int>,
    ) {
        let body = any_body(session, parameters)?;
        add(session, node, graph, after.all(count)?, body)
    }

    fn cudaGraphConditionalHandleCreate in (session)(
        handle: Out<u64>,
        graph: usize,
        value: u32,
        flags: u32,
    ) {
        handle.put(session.new_condition(graph, value, flags)?)
    }

    fn cudaGraphConditionalHandleCreate_v2 in (session)(
        handle: Out<u64>,
        graph: usize,
        _context: usize,
        value: u32,
        flags: u32,
    ) {
        handle.put(session.new_condition(graph, value, flags)?)
    }

    fn cudaGraphNodeGetType in (session)(node: usize, kind: Out<c_int>) {
        kind.put(number(&session.graphs.node(node)?.body))
    }

    fn cudaGraphMemcpyNodeGetParams in (session)(node: usize, parameters: Out<Memcpy3DParms>) {
        match &session.graphs.node(node)?.body {
            Body::Task(Task::Copy(copy)) => parameters.put(to_parameters(copy)),
            _ => Err(Error::INVALID_VALUE),
        }
    }

    fn cudaGraphMemsetNodeGetParams in (session)(node: usize, parameters: Out<MemsetParams>) {
        match &session.graphs.node(node)?.body {
            Body::Task(Task::Set(set)) => parameters.put(MemsetParams {
                dst: set.to.start,
                pitch: set.to.pitch,
                value: set.value,
                elementSize: set.element as u32,
                width: set.extent.width / set.element,
                height: set.extent.height,
            }),
            _ => Err(Error::INVALID_VALUE),
        }
    }

    fn cudaGraphHostNodeGetParams in (session)(node: usize, parameters: Out<HostNodeParams>) {
        match session.graphs.node(node)?.body {
            Body::Task(Task::Host(HostCall::Function(function, data))) => {
                parameters.put(HostNodeParams { func: function as usize, userData: data })
            }
            _ => Err(Error::INVALID_VALUE),
        }
    }

    fn cudaGraphEventRecordNodeGetEvent in (session)(node: usize, event: Out<usize>) {
        match session.graphs.node(node)?.body {
            Body::Record(found) => event.put(found),
            _ => Err(Error::INVALID_VALUE),
        }
    }

    fn cudaGraphEventWaitNodeGetEvent in (session)(node: usize, event: Out<usize>) {
        match session.graphs.node(node)?.body {
            Body::Wait(found) => event.put(found),
            _ => Err(Error::INVALID_VALUE),
        }
    }
}

fn add(
    session: &mut Session,
    node: Out<usize>,
    graph: usize,
    after: Vec<usize>,
    body: Body,
) -> Result {
    if node.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    let handle = session.new_handle();
    session.graphs.add(graph, handle, body, &after)?;
    node.put(handle)
}

/// Replaces the parameters of a node; the kind must stay the same.
fn replace(old: &mut Body, new: Body) -> Result {
    let same = match (&*old, &new) {
        (Body::Task(old), Body::Task(new)) => discriminant(old) == discriminant(new),
        (old, new) => discriminant(old) == discriminant(new),
    };
    if !same {
        return Err(Error::INVALID_VALUE);
    }
    *old = new;
    Ok(())
}

/// `cudaGraphNodeType`.
fn number(body: &Body) -> c_int {
    match body {
        Body::Task(Task::Kernel(_)) => 0,
        Body::Task(Task::Copy(_) | Task::Staged(..)) => 1,
        Body::Task(Task::Set(_)) => 2,
        Body::Task(Task::Host(_)) => 3,
        Body::Child(_) => 4,
        Body::Wait(_) => 6,
        Body::Record(_) => 7,
        Body::Alloc(_) => 10,
        Body::Free(_) => 11,
        Body::Conditional(_) => 13,
        // Nodes that only order others.
        Body::Empty | Body::Task(_) => 5,
    }
}

/// The node that `cudaGraphNodeParams` describes: its kind, followed by that kind's parameters.
fn any_body(session: &mut Session, parameters: In<c_int>) -> Result<Body> {
    let kind = parameters.get()?;
    match kind {
        0 => kernel_body(session, parameters.after(NODE_HEADER).get()?),
        1 => copy_body(session, parameters.after(NODE_HEADER + COPY_HEADER).get()?),
        2 => set_body(session, parameters.after(NODE_HEADER).get()?),
        3 => host_body(parameters.after(NODE_HEADER).get()?),
        4 => graph::copy(session, parameters.after(NODE_HEADER).get()?).map(Body::Child),
        5 => Ok(Body::Empty),
        6 | 7 => {
            let event = parameters.after(NODE_HEADER).get()?;
            session.events.get(event)?;
            Ok(if kind == 6 { Body::Wait(event) } else { Body::Record(event) })
        }
        13 => conditional_body(session, parameters.after(NODE_HEADER)),
        _ => Err(Error::NOT_SUPPORTED),
    }
}

/// Creates the graphs that a conditional node chooses from, and returns them to the program.
fn conditional_body(session: &mut Session, parameters: In<ConditionalParams>) -> Result<Body> {
    let ConditionalParams { handle, kind, size } = parameters.get()?;
    let which = ConditionalType::from_number(kind, size).ok_or(Error::INVALID_VALUE)?;
    if CONDITIONS.value(handle).is_none() {
        return Err(Error::INVALID_VALUE);
    }
    let graphs: Arc<[usize]> = (0..size).map(|_| session.new_handle()).collect();
    graphs.iter().for_each(|graph| session.graphs.create(*graph));
    // The array lives as long as the node.
    parameters.after(size_of::<ConditionalParams>()).written().put(graphs.as_ptr() as usize)?;
    Ok(Body::Conditional(Conditional { condition: handle, which, graphs }))
}

fn copy_body(session: &Session, parameters: Memcpy3DParms) -> Result<Body> {
    let copied = copy::from_parameters(session, &parameters)?;
    copy::check(session, &copied, parameters.kind)?;
    Ok(Body::Task(Task::Copy(copied)))
}

fn flat_copy(session: &Session, to: usize, from: usize, bytes: usize, kind: c_int) -> Result<Body> {
    let copied = Copy::flat(to, from, bytes);
    copy::check(session, &copied, kind)?;
    Ok(Body::Task(Task::Copy(copied)))
}

fn set_body(session: &Session, parameters: MemsetParams) -> Result<Body> {
    let element = parameters.elementSize as usize;
    let width = parameters.width.checked_mul(element).ok_or(Error::INVALID_VALUE)?;
    if parameters.height > 1 && width > parameters.pitch {
        return Err(Error::INVALID_VALUE);
    }
    let extent = crate::copy::Extent { width, height: parameters.height, depth: 1 };
    let to = Place { start: parameters.dst, pitch: parameters.pitch, slice: 0 };
    let set = Set { to, extent, value: parameters.value, element };
    set::check(session, &set)?;
    Ok(Body::Task(Task::Set(set)))
}

fn host_body(parameters: HostNodeParams) -> Result<Body> {
    if parameters.func == 0 {
        return Err(Error::INVALID_VALUE);
    }
    // SAFETY: the program has promised that it is a function of this type.
    let function =
        unsafe { std::mem::transmute::<usize, extern "C" fn(*mut c_void)>(parameters.func) };
    Ok(Body::Task(Task::Host(HostCall::Function(function, parameters.userData))))
}

fn kernel_body(session: &mut Session, parameters: KernelNodeParams) -> Result<Body> {
    let device = session.current()?;
    if parameters.kernelParams.is_null() && parameters.extra != 0 {
        return Err(Error::NOT_SUPPORTED);
    }
    let sizes = |sizes: crate::abi::Dim3| [sizes.x, sizes.y, sizes.z];
    let request = Request {
        function: parameters.func,
        grid: sizes(parameters.gridDim),
        block: sizes(parameters.blockDim),
        shared: parameters.sharedMemBytes as usize,
        cooperative: false,
        clusters: false,
    };
    // SAFETY: the program has promised an argument for each parameter.
    let kernel = unsafe { session.prepare(request, parameters.kernelParams, device) }?;
    Ok(Body::Task(Task::Kernel(kernel)))
}

/// A copy as `cudaMemcpy3DParms`.
fn to_parameters(copy: &Copy) -> Memcpy3DParms {
    let extent = copy.extent;
    let side = |place: Place| PitchedPtr {
        ptr: place.start,
        pitch: if place.pitch == 0 { extent.width } else { place.pitch },
        xsize: extent.width,
        ysize: place.slice.checked_div(place.pitch).unwrap_or(extent.height),
    };
    Memcpy3DParms {
        srcArray: 0,
        srcPos: Pos::zero(),
        srcPtr: side(copy.from),
        dstArray: 0,
        dstPos: Pos::zero(),
        dstPtr: side(copy.to),
        extent: Extent { width: extent.width, height: extent.height, depth: extent.depth },
        kind: BY_POINTER,
    }
}
