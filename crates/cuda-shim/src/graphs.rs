//! Graphs, as calls make and change them.

use crate::arguments::{In, Out};
use crate::call::Call;
use crate::copies::{Copied, How, set_of};
use crate::host::{self, Planting};
use crate::launch::Kernel;
use crate::memory::allocated;
use crate::process::quietly;
use crate::real::SUCCESS;
use crate::{symbols, traffic, watch};
use commsan_cuda::{Copy, MemoryKind, NodeKind, Ticket};
use commsan_cuda_abi::{
    Extent, HostNodeParams, KernelNodeParams, MemAllocNodeParams, Memcpy3DParms, MemsetParams,
    PitchedPtr,
};
use std::ffi::{c_int, c_uint};

/// Bytes of `cudaGraphNodeParams` before what differs by the kind of node, and from there to the
/// parameters of a copy.
const HEADER: usize = 16;
const COPY_HEADER: usize = 16;

/// `cudaGraphNodeParams` of a node that calls a function of the host.
#[repr(C)]
#[derive(Clone, Copy)]
struct AnyNode {
    header: [u8; HEADER],
    host: HostNodeParams,
    rest: [u8; 256 - HEADER - size_of::<HostNodeParams>()],
}

/// The beginning of `cudaConditionalNodeParams`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Conditional {
    handle: u64,
    which: c_int,
    size: c_uint,
    graphs: *const usize,
}

/// Kinds of nodes, `cudaGraphNodeType`.
mod kind {
    use std::ffi::c_int;
    pub(super) const KERNEL: c_int = 0;
    pub(super) const COPY: c_int = 1;
    pub(super) const SET: c_int = 2;
    pub(super) const HOST: c_int = 3;
    pub(super) const GRAPH: c_int = 4;
    pub(super) const WAIT: c_int = 6;
    pub(super) const RECORD: c_int = 7;
    pub(super) const ALLOC: c_int = 10;
    pub(super) const FREE: c_int = 11;
    pub(super) const CONDITIONAL: c_int = 13;
}

/// A node that a call has to do with.
#[derive(Clone, Copy)]
pub(crate) enum Target {
    /// One that is added to a graph, after others.
    New { node: Out<usize>, graph: usize, after: In<usize>, count: usize },
    /// One that there is.
    Old { node: usize },
    /// One of a graph that was made ready.
    Ready { exec: usize, node: usize },
}

impl Target {
    /// What it does from now on.
    fn does(self, call: &Call, does: NodeKind) -> Option<Ticket> {
        match self {
            Target::New { node, graph, after, count } => {
                let (node, after) = (node.get(), after.all(count));
                traffic::graphs::node_added(call, (graph, node), does);
                call.with(|streams, place, _| streams.graph_node(graph, node, &after, does, place))
            }
            Target::Old { node } => {
                traffic::graphs::node_changed(call, node, does);
                call.with(|streams, place, _| streams.node_changed(node, does, place))
            }
            Target::Ready { exec, node } => {
                traffic::graphs::exec_node_changed(call, (exec, node), does);
                call.with(|streams, place, _| streams.exec_node_changed(exec, node, does, place))
            }
        }
    }

    /// It does nothing that is followed.
    pub fn nothing(self, call: &Call) {
        self.does(call, NodeKind::Empty);
    }

    /// It is another graph, as that is now.
    pub fn graph(self, call: &Call, child: usize) {
        self.does(call, NodeKind::Graph(child));
    }

    /// It records an event.
    pub fn records(self, call: &Call, event: usize) {
        self.does(call, NodeKind::Record(event));
    }

    /// It waits for an event.
    pub fn waits(self, call: &Call, event: usize) {
        self.does(call, NodeKind::Wait(event));
    }

    /// It allocates memory, at the same address in each launch.
    pub fn allocates(self, call: &Call, made: &MemAllocNodeParams) {
        allocated(call, MemoryKind::Device, made.dptr, made.bytesize);
        self.does(call, NodeKind::Alloc(made.dptr));
    }

    /// It gives memory back.
    pub fn frees(self, call: &Call, pointer: usize) {
        self.does(call, NodeKind::Free(pointer, call.name));
    }

    /// It chooses from graphs that have been made for it.
    fn chooses(self, call: &Call, parameters: In<Conditional>) {
        let Conditional { size, graphs, .. } = parameters.get();
        let graphs = In::from(graphs).all(size as usize);
        for graph in &graphs {
            call.with(|streams, _, _| streams.graph_created(*graph));
        }
        self.does(call, NodeKind::Choice(&graphs));
    }

    /// It runs a kernel. The simulated device has the ticket before the node, as for launches.
    pub fn kernel(
        self,
        call: Option<&Call>,
        parameters: In<KernelNodeParams>,
        real: impl FnOnce() -> c_int,
    ) -> c_int {
        let Some(call) = call.filter(|_| !parameters.is_null()) else { return real() };
        let tag = if call.checks() { watch::tag(call) } else { None };
        let ticket =
            tag.and_then(|_| quietly(|| call.with(|streams, _, _| streams.ticket())).flatten());
        let code = match tag {
            Some(tag) => watch::tagged(tag, ticket, real),
            None => real(),
        };
        if code == SUCCESS {
            quietly(|| {
                let work = Kernel::of_node(&parameters.get()).work(call, 0);
                self.does(call, NodeKind::Kernel(&work, ticket));
            });
        }
        code
    }

    /// It copies.
    pub fn copy(self, call: &Call, copied: Option<Copied>) {
        let copy: Option<Copy> = copied.map(|copied| copied.in_graph(call));
        self.does(call, copy.as_ref().map_or(NodeKind::Empty, NodeKind::Copy));
    }

    /// It copies by parameters.
    pub fn copy_slices(self, call: &Call, parameters: In<Memcpy3DParms>) {
        self.copy(call, Copied::slices(&parameters.get()));
    }

    /// It copies to a variable of a module.
    pub fn copy_to_symbol(self, call: &Call, to: (usize, usize), from: usize, bytes: usize) {
        let start = symbols::address(call, to.0);
        self.copy(call, start.map(|start| Copied::flat(start + to.1, from, bytes)));
    }

    /// It copies from a variable of a module.
    pub fn copy_from_symbol(self, call: &Call, to: usize, from: (usize, usize), bytes: usize) {
        let start = symbols::address(call, from.0);
        self.copy(call, start.map(|start| Copied::flat(to, start + from.1, bytes)));
    }

    /// It sets bytes.
    pub fn set(self, call: &Call, parameters: In<MemsetParams>) {
        let MemsetParams { dst: ptr, pitch, elementSize, width, height, .. } = parameters.get();
        let width = width * elementSize as usize;
        let to = PitchedPtr { ptr, pitch, xsize: width, ysize: height };
        let set = set_of(call, How::In(0), to, Extent { width, height, depth: 1 });
        self.does(call, NodeKind::Set(&set));
    }

    /// It calls a function of the host: ours, with which the library's function runs; with the program's
    /// where there is none.
    pub fn host(
        self,
        call: Option<&Call>,
        parameters: In<HostNodeParams>,
        real: impl FnOnce(Option<&HostNodeParams>) -> c_int,
    ) -> c_int {
        let call = call.filter(|_| !parameters.is_null());
        let planted = call.and_then(|call| Some((call, Planting::new(parameters.get())?)));
        let Some((call, planting)) = planted else { return real(None) };
        let code = real(Some(&planting.parameters));
        if code == SUCCESS {
            planting.made(quietly(|| self.does(call, NodeKind::Host)).flatten());
        } else {
            planting.refused();
        }
        code
    }

    /// It is of any kind.
    pub fn any(
        self,
        call: Option<&Call>,
        parameters: In<c_int>,
        real: impl FnOnce(In<c_int>) -> c_int,
    ) -> c_int {
        let Some(call) = call.filter(|_| !parameters.is_null()) else { return real(parameters) };
        let body: In<u8> = parameters.after(HEADER);
        if parameters.get() == kind::HOST {
            return self.host(Some(call), body.after(0), |host| {
                let Some(&host) = host else { return real(parameters) };
                let changed = AnyNode { host, ..parameters.after::<AnyNode>(0).get() };
                real(In::from((&raw const changed).cast()))
            });
        }
        if parameters.get() == kind::KERNEL {
            return self.kernel(Some(call), body.after(0), || real(parameters));
        }
        let code = real(parameters);
        if code == SUCCESS {
            quietly(|| match parameters.get() {
                kind::COPY => self.copy_slices(call, body.after(COPY_HEADER)),
                kind::SET => self.set(call, body.after(0)),
                kind::GRAPH => self.graph(call, body.after::<usize>(0).get()),
                kind::WAIT => self.waits(call, body.after::<usize>(0).get()),
                kind::RECORD => self.records(call, body.after::<usize>(0).get()),
                kind::ALLOC => self.allocates(call, &body.after(0).get()),
                kind::FREE => self.frees(call, body.after::<usize>(0).get()),
                kind::CONDITIONAL => self.chooses(call, body.after(0)),
                _ => self.nothing(call),
            });
        }
        code
    }
}

/// What a node calls, as the program has said it.
pub(crate) fn host_parameters(found: Out<HostNodeParams>) {
    found.put(host::as_wanted(found.get()));
}

/// The capture of a stream ends, well or not.
pub(crate) fn capture_ends(
    call: Option<&Call>,
    stream: usize,
    graph: Out<usize>,
    real: impl FnOnce() -> c_int,
) -> c_int {
    /// `cudaErrorStreamCaptureInvalidated` to `cudaErrorStreamCaptureUnjoined`: it is over.
    const OVER: std::ops::RangeInclusive<c_int> = 901..=904;
    let code = real();
    let Some(call) = call else { return code };
    let graph = match code {
        SUCCESS => graph.get(),
        code if OVER.contains(&code) => 0,
        _ => return code,
    };
    quietly(|| {
        let stream = call.stream(stream);
        traffic::graphs::capture_ends(call, stream, graph);
        call.with(|streams, _, _| streams.capture_ends(stream, graph));
    });
    code
}

/// The program has asked what the work of a stream makes; it need not want to know everything.
pub(crate) fn capture_found(
    call: &Call,
    stream: usize,
    status: Out<c_int>,
    graph: Out<usize>,
    (last, count): (Out<In<usize>>, Out<usize>),
) {
    /// `cudaStreamCaptureStatusActive`.
    const ACTIVE: c_int = 1;
    if status.get() == ACTIVE && !graph.is_null() {
        let asked = !last.is_null() && !count.is_null();
        let last = if asked { last.get().all(count.get()) } else { Vec::new() };
        let (stream, graph) = (call.stream(stream), graph.get());
        call.with(|streams, _, _| streams.capture_named(stream, graph, &last));
    }
}

/// The program says what the next work of a stream comes after in the graph that it makes.
pub(crate) fn capture_goes_on(
    call: &Call,
    stream: usize,
    (after, count): (In<usize>, usize),
    flags: c_uint,
) {
    /// `cudaStreamSetCaptureDependencies`.
    const SET: c_uint = 1;
    let (stream, after) = (call.stream(stream), after.all(count));
    call.with(|streams, _, _| streams.capture_goes_on(stream, &after, flags != SET));
}

/// Edges are added to a graph or taken away.
pub(crate) fn edges(
    call: &Call,
    graph: usize,
    (from, to): (In<usize>, In<usize>),
    count: usize,
    added: bool,
) {
    let edges: Vec<_> = from.all(count).into_iter().zip(to.all(count)).collect();
    call.with(|streams, _, _| streams.graph_edges(graph, &edges, added));
}

/// What a node of any kind calls, if it does, as the program has said it.
pub(crate) fn any_parameters(found: Out<c_int>) {
    if found.get() == kind::HOST {
        host_parameters(found.after(HEADER));
    }
}
