//! What calls say, one by one.

use commsan_cuda::{Allocation, Copy, Line, Release, Set, StreamName, Ticket, Work};
use commsan_engine::Mode;
use commsan_mpi::Tracker;
use commsan_place::{Findings, Place};
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
    StreamSynchronized { stream: StreamName },
    /// The host has waited for a device.
    DeviceSynchronized { device: u32 },
    /// Everything of a device is about to go.
    DeviceReset { device: u32 },
    /// An event was recorded in a stream.
    EventRecorded { event: usize, stream: StreamName },
    /// The host has waited for an event, or was told that it has come.
    EventSynchronized { event: usize },
    /// A stream waits for an event.
    EventAwaited { stream: StreamName, event: usize },
    /// An event is about to be destroyed.
    EventDestroyed { event: usize },
    /// Memory was allocated or registered.
    Allocated { call: &'static str, allocation: Allocation },
    /// Memory is about to be given back.
    Freed { call: &'static str, address: usize, how: Release, device: u32 },
    /// Work was put into a stream.
    Enqueued(&'a Work),
    /// A copy was put into a stream.
    Copied(&'a Copy),
    /// Bytes are set in a stream.
    Set(&'a Set),
    /// Work that was told is not in its stream: the call has failed.
    Withdrawn(Ticket),
    /// A function of the host that was put into a stream begins, on this thread.
    HostFunctionBegins(Ticket),
    /// It ends.
    HostFunctionEnds(Ticket),
    /// What is put into a stream makes a graph from now on.
    CaptureBegins { stream: StreamName },
    /// That graph is complete; 0 if there is none.
    CaptureEnds { stream: StreamName, graph: usize },
    /// An empty graph was made.
    GraphCreated { graph: usize },
    /// A node was added to a graph.
    GraphNode { graph: usize, node: usize, after: &'a [usize], work: Option<&'a Work> },
    /// Edges were added or taken away.
    GraphEdges { graph: usize, edges: &'a [(usize, usize)], added: bool },
    /// A graph was copied.
    GraphCloned { graph: usize, clone: usize },
    /// A graph is about to go.
    GraphDestroyed { graph: usize },
    /// A graph can be launched under a name.
    GraphInstantiated { exec: usize, graph: usize },
    /// A graph was launched.
    GraphLaunched { exec: usize, stream: StreamName },
    /// What could be launched is about to go.
    ExecDestroyed { exec: usize },
    /// Work has touched this.
    Touched { ticket: Ticket, mode: Mode, bytes: Range<usize>, line: Option<Line> },
}

impl Event<'_> {
    /// Hands it to the semantics. Work gets a ticket.
    pub fn apply(
        &self,
        tracker: &mut Tracker,
        place: &impl Place,
        out: &mut dyn Findings,
    ) -> Option<Ticket> {
        match self {
            Event::Enqueued(work) => return Some(tracker.enqueue(work, place, out)),
            Event::Copied(copy) => return Some(tracker.copy(copy, place, out)),
            Event::Set(set) => return Some(tracker.set(set, place, out)),
            Event::GraphLaunched { exec, stream } => {
                tracker.graph_launched(*exec, *stream, place, out);
            }
            _ => self.apply_to_gpu(tracker, place, out),
        }
        None
    }

    fn apply_to_gpu(&self, tracker: &mut Tracker, place: &impl Place, out: &mut dyn Findings) {
        let gpu = tracker.gpu();
        match *self {
            Event::Enqueued(_) | Event::Copied(_) | Event::Set(_) | Event::GraphLaunched { .. } => {
                unreachable!("concerns MPI's operations, too")
            }
            Event::StreamCreated { handle, device, blocking } => {
                gpu.stream_created(handle, device, blocking);
            }
            Event::StreamDestroyed { handle } => gpu.stream_destroyed(handle),
            Event::StreamSynchronized { stream } => gpu.stream_synchronized(stream, place, out),
            Event::DeviceSynchronized { device } => gpu.device_synchronized(device, place, out),
            Event::DeviceReset { device } => gpu.device_reset(device, place, out),
            Event::EventRecorded { event, stream } => gpu.event_recorded(event, stream),
            Event::EventSynchronized { event } => gpu.event_synchronized(event, place, out),
            Event::EventAwaited { stream, event } => gpu.event_awaited(stream, event),
            Event::EventDestroyed { event } => gpu.event_destroyed(event),
            Event::Allocated { call, ref allocation } => {
                gpu.allocated(allocation.clone(), call, place, out);
            }
            Event::Freed { call, address, how, device } => {
                gpu.freed(address, how, call, device, place, out);
            }
            Event::Withdrawn(ticket) => gpu.withdraw(ticket),
            Event::HostFunctionBegins(ticket) => gpu.host_function_begins(ticket),
            Event::HostFunctionEnds(ticket) => gpu.host_function_ends(ticket),
            Event::CaptureBegins { stream } => gpu.capture_begins(stream),
            Event::CaptureEnds { stream, graph } => gpu.capture_ends(stream, graph),
            Event::GraphCreated { graph } => gpu.graph_created(graph),
            Event::GraphNode { graph, node, after, work } => {
                gpu.graph_node(graph, node, after, work, place);
            }
            Event::GraphEdges { graph, edges, added } => gpu.graph_edges(graph, edges, added),
            Event::GraphCloned { graph, clone } => gpu.graph_cloned(graph, clone),
            Event::GraphDestroyed { graph } => gpu.graph_destroyed(graph),
            Event::GraphInstantiated { exec, graph } => gpu.graph_instantiated(exec, graph),
            Event::ExecDestroyed { exec } => gpu.exec_destroyed(exec),
            Event::Touched { ticket, mode, ref bytes, ref line } => {
                gpu.touched(ticket, mode, bytes.clone(), line.clone(), out);
            }
        }
    }
}
