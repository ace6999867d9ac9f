//! The copies in graphs, which count each time that their graph is launched.

use super::count_copies;
use crate::ask;
use crate::call::Call;
use commsan_cuda::{Copy, NodeKind, StreamName};
use rustc_hash::FxHashMap;
use std::sync::{Mutex, PoisonError};

/// Copies of graphs.
#[derive(Default)]
struct Graphs {
    /// By graph, the copies of nodes, and graphs inside.
    graphs: FxHashMap<usize, Vec<(usize, Does)>>,
    /// What was made ready to be launched, by node.
    execs: FxHashMap<usize, Vec<(usize, Copy)>>,
    /// Captures that have begun, the last one last, with what was captured.
    captures: Vec<(StreamName, Vec<Copy>)>,
}

#[derive(Clone)]
enum Does {
    Copies(Vec<Copy>),
    Graph(usize),
}

static GRAPHS: Mutex<Option<Graphs>> = Mutex::new(None);

fn with_graphs<R>(f: impl FnOnce(&mut Graphs) -> R) -> R {
    let mut graphs = GRAPHS.lock().unwrap_or_else(PoisonError::into_inner);
    f(graphs.get_or_insert_default())
}

/// Notes something about graphs, if what moves is counted.
fn note(call: &Call, f: impl FnOnce(&mut Graphs)) {
    if call.counts() {
        with_graphs(f);
    }
}

/// Copies that a call puts into a stream: whether a graph is captured there, which will make them when it is
/// launched.
pub(super) fn captures(stream: StreamName, copies: &[Copy]) -> bool {
    // The library is asked with nothing locked.
    let captured = with_graphs(|graphs| !graphs.captures.is_empty()) && is_captured(stream);
    captured && with_graphs(|graphs| graphs.capture(copies))
}

fn is_captured(stream: StreamName) -> bool {
    match stream {
        StreamName::Created { handle } => ask::is_capturing(handle),
        StreamName::PerThread { .. } => ask::is_capturing(2),
        // CUDA refuses to capture it.
        StreamName::Legacy { .. } => false,
    }
}

/// What is put into a stream makes a graph from now on.
pub(crate) fn capture_begins(call: &Call, stream: StreamName) {
    note(call, |graphs| graphs.captures.push((stream, Vec::new())));
}

/// The graph that a stream's work makes is complete.
pub(crate) fn capture_ends(call: &Call, stream: StreamName, graph: usize) {
    note(call, |graphs| graphs.capture_ends(stream, graph));
}

/// A node was added to a graph.
pub(crate) fn node_added(call: &Call, (graph, node): (usize, usize), does: NodeKind) {
    note(call, |graphs| graphs.node_added(graph, node, does));
}

/// A node does something else.
pub(crate) fn node_changed(call: &Call, node: usize, does: NodeKind) {
    if let NodeKind::Copy(copy) = does {
        note(call, |graphs| graphs.node_changed(node, copy));
    }
}

/// A node does something else in what can be launched under a name.
pub(crate) fn exec_node_changed(call: &Call, (exec, node): (usize, usize), does: NodeKind) {
    if let NodeKind::Copy(copy) = does {
        note(call, |graphs| graphs.exec_node_changed(exec, node, copy));
    }
}

/// A graph was copied.
pub(crate) fn cloned(call: &Call, graph: usize, clone: usize) {
    note(call, |graphs| {
        let nodes = graphs.graphs.get(&graph).cloned().unwrap_or_default();
        graphs.graphs.insert(clone, nodes);
    });
}

/// A graph is about to go.
pub(crate) fn destroyed(call: &Call, graph: usize) {
    note(call, |graphs| drop(graphs.graphs.remove(&graph)));
}

/// A graph can be launched under a name.
pub(crate) fn instantiated(call: &Call, exec: usize, graph: usize) {
    note(call, |graphs| graphs.instantiated(exec, graph));
}

/// What could be launched is about to go.
pub(crate) fn exec_destroyed(call: &Call, exec: usize) {
    note(call, |graphs| drop(graphs.execs.remove(&exec)));
}

/// A graph was launched.
pub(crate) fn launched(call: &Call, exec: usize, stream: StreamName) {
    if !call.counts() {
        return;
    }
    let copies = with_graphs(|graphs| graphs.copies_of(exec));
    if !captures(stream, &copies) {
        count_copies(call, &copies);
    }
}

impl Graphs {
    /// Copies are put into a stream that is captured; false if no capture is known.
    fn capture(&mut self, copies: &[Copy]) -> bool {
        let capture = self.captures.last_mut();
        capture.map(|(_, captured)| captured.extend_from_slice(copies)).is_some()
    }

    fn capture_ends(&mut self, stream: StreamName, graph: usize) {
        let at = self.captures.iter().rposition(|(of, _)| *of == stream);
        if let Some(at) = at {
            let (_, copies) = self.captures.remove(at);
            self.graphs.entry(graph).or_default().push((0, Does::Copies(copies)));
        }
    }

    fn node_added(&mut self, graph: usize, node: usize, does: NodeKind) {
        let does = match does {
            NodeKind::Copy(copy) => Does::Copies(vec![copy.clone()]),
            NodeKind::Graph(child) => Does::Graph(child),
            _ => return,
        };
        self.graphs.entry(graph).or_default().push((node, does));
    }

    fn node_changed(&mut self, node: usize, copy: &Copy) {
        let all = self.graphs.values_mut().flatten();
        for (_, does) in all.filter(|(known, _)| *known == node) {
            *does = Does::Copies(vec![copy.clone()]);
        }
    }

    fn exec_node_changed(&mut self, exec: usize, node: usize, copy: &Copy) {
        let all = self.execs.get_mut(&exec).into_iter().flatten();
        for (_, known) in all.filter(|(known, _)| *known == node) {
            *known = copy.clone();
        }
    }

    fn instantiated(&mut self, exec: usize, graph: usize) {
        let copies = self.flattened(graph, 0);
        self.execs.insert(exec, copies);
    }

    /// The copies of a launch.
    fn copies_of(&self, exec: usize) -> Vec<Copy> {
        let copies = self.execs.get(&exec).into_iter().flatten();
        copies.map(|(_, copy)| copy.clone()).collect()
    }

    /// All copies of a graph; graphs lie in each other a few deep at most.
    fn flattened(&self, graph: usize, depth: u32) -> Vec<(usize, Copy)> {
        const DEEPEST: u32 = 16;
        let nodes = self.graphs.get(&graph).into_iter().flatten();
        let copies = nodes.map(|(node, does)| match does {
            Does::Copies(copies) => copies.iter().map(|copy| (*node, copy.clone())).collect(),
            Does::Graph(child) if depth < DEEPEST => self.flattened(*child, depth + 1),
            Does::Graph(_) => Vec::new(),
        });
        copies.collect::<Vec<_>>().concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use commsan_cuda::Rows;

    #[test]
    fn graphs_launched_into_captures_move_when_those_are_launched() {
        let stream = StreamName::Created { handle: 9 };
        let rows = Rows { start: 4096, pitch: 0, slice: 0 };
        let (call, serialises) = ("cudaGraphAddMemcpyNode1D", Vec::new());
        let (to, from, [width, height, depth]) = (rows, rows, [8, 1, 1]);
        let copy =
            Copy { call, stream, asynchronous: true, to, from, width, height, depth, serialises };
        let mut graphs = Graphs::default();
        graphs.node_added(1, 2, NodeKind::Copy(&copy));
        graphs.instantiated(3, 1);
        assert!(!graphs.capture(&graphs.copies_of(3)), "there is no capture yet");
        graphs.captures.push((stream, Vec::new()));
        assert!(graphs.capture(&graphs.copies_of(3)));
        graphs.capture_ends(stream, 4);
        graphs.instantiated(5, 4);
        assert_eq!(graphs.copies_of(5).len(), 1);
    }
}
