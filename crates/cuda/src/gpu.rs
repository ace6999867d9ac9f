//! Everything commsan knows about CUDA in one process.

use crate::{Allocation, Copy, Line, Release, Set, StreamName, Work};
use commsan_engine::{Mode, Pages};
use commsan_place::{Findings, Place};
use std::ops::Range;

/// Names work that has been put into a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// Streams, events, graphs, memory and work of one process.
pub struct Gpu {
    #[allow(dead_code)]
    pages: Pages,
}

#[allow(unused_variables)]
impl Gpu {
    /// Nothing in any stream.
    pub fn new(pages: Pages) -> Gpu {
        Gpu { pages }
    }
    /// A stream has been created.
    pub fn stream_created(&mut self, handle: usize, device: u32, blocking: bool) {}
    /// A stream is about to be destroyed.
    pub fn stream_destroyed(&mut self, handle: usize) {}
    /// The host has waited for a stream, or was told that it has nothing left to do.
    pub fn stream_synchronized(
        &mut self,
        stream: StreamName,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
    }
    /// The host has waited for a device.
    pub fn device_synchronized(&mut self, device: u32, place: &impl Place, out: &mut dyn Findings) {
    }
    /// All of a device is gone.
    pub fn device_reset(&mut self, device: u32, place: &impl Place, out: &mut dyn Findings) {}
    /// An event is recorded in a stream.
    pub fn event_recorded(&mut self, event: usize, stream: StreamName) {}
    /// The host has waited for an event, or was told that it has come.
    pub fn event_synchronized(&mut self, event: usize, place: &impl Place, out: &mut dyn Findings) {
    }
    /// A stream waits for an event.
    pub fn event_awaited(&mut self, stream: StreamName, event: usize) {}
    /// An event is destroyed.
    pub fn event_destroyed(&mut self, event: usize) {}
    /// Memory has been allocated or registered.
    pub fn allocated(
        &mut self,
        allocation: Allocation,
        call: &'static str,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
    }
    /// Memory is about to be given back.
    pub fn freed(
        &mut self,
        address: usize,
        how: Release,
        call: &'static str,
        device: u32,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
    }
    /// Work has been put into a stream.
    pub fn enqueue(&mut self, work: &Work, place: &impl Place, out: &mut dyn Findings) -> Ticket {
        Ticket(0)
    }
    /// A copy has been put into a stream.
    pub fn copy(&mut self, copy: &Copy, place: &impl Place, out: &mut dyn Findings) -> Ticket {
        Ticket(0)
    }
    /// Bytes are set in a stream.
    pub fn set(&mut self, set: &Set, place: &impl Place, out: &mut dyn Findings) -> Ticket {
        Ticket(0)
    }
    /// A function of the host that was put into a stream begins, on this thread.
    pub fn host_function_begins(&mut self, ticket: Ticket) {}
    /// It ends.
    pub fn host_function_ends(&mut self, ticket: Ticket) {}
    /// What is put into a stream makes a graph from now on.
    pub fn capture_begins(&mut self, stream: StreamName) {}
    /// That graph is complete.
    pub fn capture_ends(&mut self, stream: StreamName, graph: usize) {}
    /// An empty graph has been made.
    pub fn graph_created(&mut self, graph: usize) {}
    /// A node has been added to a graph.
    pub fn graph_node(
        &mut self,
        graph: usize,
        node: usize,
        after: &[usize],
        work: Option<&Work>,
        place: &impl Place,
    ) {
    }
    /// Edges have been added or taken away.
    pub fn graph_edges(&mut self, graph: usize, edges: &[(usize, usize)], added: bool) {}
    /// A graph has been copied.
    pub fn graph_cloned(&mut self, graph: usize, clone: usize) {}
    /// A graph is gone.
    pub fn graph_destroyed(&mut self, graph: usize) {}
    /// A graph can be launched under a name.
    pub fn graph_instantiated(&mut self, exec: usize, graph: usize) {}
    /// A graph has been launched.
    pub fn graph_launched(
        &mut self,
        exec: usize,
        stream: StreamName,
        place: &impl Place,
        out: &mut dyn Findings,
    ) {
    }
    /// What could be launched is gone.
    pub fn exec_destroyed(&mut self, exec: usize) {}
    /// Whether it is of interest what this work really touches.
    pub fn wants(&self, ticket: Ticket) -> bool {
        false
    }
    /// Work has touched this.
    pub fn touched(
        &mut self,
        ticket: Ticket,
        mode: Mode,
        bytes: Range<usize>,
        line: Option<Line>,
        out: &mut dyn Findings,
    ) {
    }
}
