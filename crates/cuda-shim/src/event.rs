//! What calls say, one by one.

use crate::nvshmem::Moved;
use commsan_callsite::{Findings, Place};
use commsan_cuda::{
    Allocation, Copy, Failure, Line, NodeKind, Release, Set, StreamChecker, StreamName, Strength,
    Ticket, Work,
};
use commsan_shadow::Mode;
use std::ops::Range;

/// Something that has happened.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "handles and addresses, as the calls have them")]
pub enum Event<'a> {
    /// A stream was created, or has been met first.
    StreamCreated { handle: usize, device: u32, blocking: bool },
    /// A stream is about to be destroyed.
    StreamDestroyed { handle: usize },
    /// The host has waited for a stream, or was told that it has nothing left to do.
    StreamSynchronized { call: &'static str, stream: StreamName },
    /// The host was told that a stream's device has failed.
    StreamFailed { call: &'static str, stream: StreamName },
    /// The host has waited for a device.
    DeviceSynchronized { call: &'static str, device: u32 },
    /// Everything of a device is about to go.
    DeviceReset { device: u32 },
    /// An event was recorded in a stream; `external` is one that a graph records which is captured, when
    /// it is launched.
    EventRecorded { event: usize, stream: StreamName, external: bool },
    /// The host has waited for an event, or was told that it has come.
    EventSynchronized { call: &'static str, event: usize },
    /// A stream waits for an event; `external` as above.
    EventAwaited { stream: StreamName, event: usize, external: bool },
    /// Other processes may open an event by this handle.
    EventExported { event: usize, handle: [u8; 64] },
    /// An event was opened by the handle of another process.
    EventOpened { event: usize, handle: [u8; 64] },
    /// Other processes may open memory by this handle.
    MemoryExported { address: usize, handle: [u8; 64] },
    /// Memory was opened by the handle of another process.
    MemoryOpened { call: &'static str, address: usize, handle: [u8; 64] },
    /// An event is about to be destroyed.
    EventDestroyed { event: usize },
    /// Memory was allocated or registered.
    Allocated { call: &'static str, allocation: Allocation },
    /// Memory is about to be given back.
    Freed { call: &'static str, address: usize, how: Release, device: u32 },
    /// The call that gives memory back has returned; refused, the memory is there as before.
    FreeEnded { address: usize, refused: bool },
    /// This process is a processing element of NVSHMEM, and has its memory on a device.
    IsPe { pe: u32, device: u32 },
    /// What is here at an address, a processing element has where this one reaches it.
    Reached { address: usize, pe: u32, there: usize },
    /// NVSHMEM moves something between those.
    Moved(&'a Moved),
    /// Work was put into a stream.
    Enqueued(&'a Work),
    /// A copy was put into a stream.
    Copied(&'a Copy),
    /// Bytes are set in a stream.
    Set(&'a Set),
    /// A copy was refused.
    CopyRefused(&'a Copy),
    /// A setting of bytes was refused.
    SetRefused(&'a Set),
    /// Work that was told is not in its stream: the call has failed.
    Withdrawn(Ticket),
    /// A function of the host was put into a stream. It gets a ticket.
    HostFunction { stream: StreamName },
    /// It begins, on this thread.
    HostFunctionBegins(Ticket),
    /// It ends.
    HostFunctionEnds(Ticket),
    /// What is put into a stream makes a graph from now on.
    CaptureBegins { stream: StreamName },
    /// The same, added to a graph behind some of its nodes.
    CaptureBeginsTo { stream: StreamName, graph: usize, after: &'a [usize] },
    /// The program has asked for that graph, and for the last nodes of the stream.
    CaptureNamed { stream: StreamName, graph: usize, last: &'a [usize] },
    /// What is put into the stream next comes after these nodes, or, if they are added, also after them.
    CaptureGoesOn { stream: StreamName, after: &'a [usize], added: bool },
    /// That graph is complete; 0 if there is none.
    CaptureEnds { stream: StreamName, graph: usize },
    /// Work that is told of later wants its ticket now.
    TicketTaken,
    /// An empty graph was made.
    GraphCreated { graph: usize },
    /// A node was added to a graph.
    GraphNode { graph: usize, node: usize, after: &'a [usize], does: Node<'a> },
    /// A node does something else.
    NodeChanged { node: usize, does: Node<'a> },
    /// The same in what can be launched under a name.
    ExecNodeChanged { exec: usize, node: usize, does: Node<'a> },
    /// Edges were added or taken away.
    GraphEdges { graph: usize, edges: &'a [(usize, usize)], added: bool },
    /// A graph was copied.
    GraphCloned { graph: usize, clone: usize },
    /// A graph is about to go.
    GraphDestroyed { graph: usize },
    /// A graph can be launched under a name, or is what is launched under it from now on.
    GraphInstantiated { exec: usize, graph: usize },
    /// A graph was launched.
    GraphLaunched { exec: usize, stream: StreamName },
    /// What could be launched is about to go.
    ExecDestroyed { exec: usize },
    /// Some device will tell what work touches of which it is not certain.
    DoubtsAreResolved,
    /// A kernel has failed.
    Failed { ticket: Ticket, failure: &'a Failure },
    /// Work has touched this.
    Touched {
        ticket: Ticket,
        mode: Mode,
        strength: Strength,
        bytes: Range<usize>,
        line: Option<Line>,
    },
}

/// What a node of a graph does.
#[derive(Clone, Copy, Debug)]
pub enum Node<'a> {
    /// Nothing that is followed.
    Nothing,
    /// A kernel, perhaps with a ticket that it has already.
    Kernel(&'a Work, Option<Ticket>),
    /// A copy.
    Copy(&'a Copy),
    /// Sets bytes.
    Set(&'a Set),
    /// Calls a function of the host.
    Host,
    /// Another graph, as it is now.
    Graph(usize),
    /// Records an event.
    Record(usize),
    /// Waits for an event.
    Wait(usize),
    /// Allocates what begins at an address.
    Alloc(usize),
    /// Gives that back, by a call.
    Free(usize, &'static str),
    /// Those of some graphs that a condition says.
    Choice(&'a [usize]),
}

impl<'a> Node<'a> {
    fn kind(self) -> NodeKind<'a> {
        match self {
            Node::Nothing => NodeKind::Empty,
            Node::Kernel(work, ticket) => NodeKind::Kernel(work, ticket),
            Node::Copy(copy) => NodeKind::Copy(copy),
            Node::Set(set) => NodeKind::Set(set),
            Node::Host => NodeKind::Host,
            Node::Graph(graph) => NodeKind::Graph(graph),
            Node::Record(event) => NodeKind::Record(event),
            Node::Wait(event) => NodeKind::Wait(event),
            Node::Alloc(address) => NodeKind::Alloc(address),
            Node::Free(address, call) => NodeKind::Free(address, call),
            Node::Choice(graphs) => NodeKind::Choice(graphs),
        }
    }
}

impl Event<'_> {
    /// Hands it to the semantics. What is put into a stream or a graph gets a ticket.
    pub fn apply(
        &self,
        gpu: &mut dyn StreamChecker,
        place: &dyn Place,
        out: &mut dyn Findings,
    ) -> Option<Ticket> {
        match *self {
            Event::Enqueued(work) => return Some(gpu.enqueue(work, place, out)),
            Event::Copied(copy) => return Some(gpu.copy(copy, place, out)),
            Event::Set(set) => return Some(gpu.set(set, place, out)),
            Event::GraphLaunched { exec, stream } => gpu.graph_launched(exec, stream, place, out),
            Event::EventExported { event, ref handle } => gpu.event_exported(event, handle),
            Event::EventOpened { event, ref handle } => gpu.event_opened(event, handle),
            Event::MemoryExported { address, ref handle } => gpu.memory_exported(address, handle),
            Event::MemoryOpened { call, address, ref handle } => {
                gpu.memory_opened(address, handle, call, place, out);
            }
            Event::HostFunction { stream } => return Some(gpu.host_function(stream)),
            Event::TicketTaken => return Some(gpu.ticket()),
            Event::GraphNode { graph, node, after, does } => {
                return Some(gpu.graph_node(graph, node, after, does.kind(), place));
            }
            Event::NodeChanged { node, does } => {
                return Some(gpu.node_changed(node, does.kind(), place));
            }
            Event::ExecNodeChanged { exec, node, does } => {
                return Some(gpu.exec_node_changed(exec, node, does.kind(), place));
            }
            Event::StreamCreated { handle, device, blocking } => {
                gpu.stream_created(handle, device, blocking);
            }
            Event::StreamDestroyed { handle } => gpu.stream_destroyed(handle),
            Event::StreamSynchronized { call, stream } => {
                gpu.stream_synchronized(stream, call, place, out);
            }
            Event::StreamFailed { call, stream } => gpu.stream_failed(stream, call, place, out),
            Event::DeviceSynchronized { call, device } => {
                gpu.device_synchronized(device, call, place, out);
            }
            Event::DeviceReset { device } => gpu.device_reset(device, place, out),
            Event::EventRecorded { event, stream, external } => {
                gpu.event_recorded(event, stream, external, place);
            }
            Event::EventSynchronized { call, event } => {
                gpu.event_synchronized(event, call, place, out);
            }
            Event::EventAwaited { stream, event, external } => {
                gpu.event_awaited(stream, event, external, place);
            }
            Event::EventDestroyed { event } => gpu.event_destroyed(event),
            Event::Allocated { call, ref allocation } => {
                gpu.allocated(allocation.clone(), call, place);
            }
            Event::Freed { call, address, how, device } => {
                gpu.freed(address, how, call, device, place, out);
            }
            Event::FreeEnded { address, refused } => gpu.free_ended(address, refused, place),
            Event::CopyRefused(copy) => {
                gpu.copy_refused(copy, place, out);
            }
            Event::SetRefused(set) => {
                gpu.set_refused(set, place, out);
            }
            Event::Withdrawn(ticket) => gpu.withdrawn(ticket, place, out),
            Event::HostFunctionBegins(ticket) => gpu.host_function_begins(ticket, place.thread()),
            Event::HostFunctionEnds(ticket) => gpu.host_function_ends(ticket, place.thread()),
            Event::CaptureBegins { stream } => gpu.capture_begins(stream),
            Event::CaptureBeginsTo { stream, graph, after } => {
                gpu.capture_begins_to(stream, graph, after);
            }
            Event::CaptureNamed { stream, graph, last } => gpu.capture_named(stream, graph, last),
            Event::CaptureGoesOn { stream, after, added } => {
                gpu.capture_goes_on(stream, after, added);
            }
            Event::CaptureEnds { stream, graph } => gpu.capture_ends(stream, graph),
            Event::GraphCreated { graph } => gpu.graph_created(graph),
            Event::GraphEdges { graph, edges, added } => gpu.graph_edges(graph, edges, added),
            Event::GraphCloned { graph, clone } => gpu.graph_cloned(graph, clone),
            Event::GraphDestroyed { graph } => gpu.graph_destroyed(graph),
            Event::GraphInstantiated { exec, graph } => gpu.graph_instantiated(exec, graph),
            Event::ExecDestroyed { exec } => gpu.exec_destroyed(exec),
            // The semantics know nothing of it.
            Event::IsPe { .. } | Event::Reached { .. } | Event::Moved(_) => {}
            Event::DoubtsAreResolved => gpu.resolve_doubts(),
            Event::Failed { ticket, failure } => gpu.failed(ticket, failure, out),
            Event::Touched { ticket, mode, strength, ref bytes, ref line } => {
                gpu.touched(ticket, mode, strength, bytes, line.as_ref(), out);
            }
        }
        None
    }
}
