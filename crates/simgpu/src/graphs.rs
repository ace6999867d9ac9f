//! CUDA graphs: operations with edges, launched as a unit.

use crate::conditional::Conditional;
use crate::error::{Error, Result};
use crate::order::OpId;
use crate::task::Task;
use parking_lot::Mutex;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The action of a node.
#[derive(Clone, Debug)]
pub enum Body {
    /// No action.
    Empty,
    /// An operation.
    Task(Task),
    /// A child graph, which belongs to the node.
    Child(usize),
    /// A conditional node, which selects from its graphs when it is reached.
    Conditional(Conditional),
    /// Records an event, by its handle.
    Record(usize),
    /// Waits for an event, by its handle.
    Wait(usize),
    /// Allocates memory, at the same address in every launch.
    Alloc(usize),
    /// Frees memory that another node allocates.
    Free(usize),
}

impl Body {
    /// The graphs that belong to the node.
    fn graphs(&self) -> &[usize] {
        match self {
            Body::Child(graph) => std::slice::from_ref(graph),
            Body::Conditional(conditional) => &conditional.graphs,
            _ => &[],
        }
    }
}

/// A node.
#[derive(Clone, Debug)]
pub struct Node {
    /// The action.
    pub body: Body,
    /// The nodes that it depends on.
    pub after: Vec<usize>,
}

/// A graph: nodes by handle; handles ascend in the order of creation.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    nodes: BTreeMap<usize, Node>,
    /// The node that each node was cloned from.
    origins: FxHashMap<usize, usize>,
    /// Memory of its nodes, shared with its instantiations.
    memory: Arc<Mutex<Vec<usize>>>,
}

/// The memory, if nothing else refers to it.
fn unshared(memory: Arc<Mutex<Vec<usize>>>) -> Vec<usize> {
    Arc::into_inner(memory).map(Mutex::into_inner).unwrap_or_default()
}

impl Graph {
    /// Adds a node.
    pub fn add(&mut self, handle: usize, body: Body, after: &[usize]) -> Result {
        let distinct: FxHashSet<_> = after.iter().collect();
        if distinct.len() != after.len() || !after.iter().all(|node| self.nodes.contains_key(node))
        {
            return Err(Error::INVALID_VALUE);
        }
        self.nodes.insert(handle, Node { body, after: after.to_vec() });
        Ok(())
    }

    /// Removes a node and its edges.
    pub fn remove(&mut self, handle: usize) {
        self.nodes.remove(&handle);
        for node in self.nodes.values_mut() {
            node.after.retain(|&after| after != handle);
        }
    }

    /// Adds an edge; an error if it exists.
    pub fn connect(&mut self, from: usize, to: usize) -> Result {
        if from == to || !self.nodes.contains_key(&from) {
            return Err(Error::INVALID_VALUE);
        }
        let node = self.nodes.get_mut(&to).ok_or(Error::INVALID_VALUE)?;
        if node.after.contains(&from) {
            return Err(Error::INVALID_VALUE);
        }
        node.after.push(from);
        Ok(())
    }

    /// Removes an edge; an error if it does not exist.
    pub fn disconnect(&mut self, from: usize, to: usize) -> Result {
        let node = self.nodes.get_mut(&to).ok_or(Error::INVALID_VALUE)?;
        let at = node.after.iter().position(|&after| after == from);
        node.after.remove(at.ok_or(Error::INVALID_VALUE)?);
        Ok(())
    }

    /// The node of a handle.
    pub fn node(&self, handle: usize) -> Option<&Node> {
        self.nodes.get(&handle)
    }

    /// The node of a handle, mutably.
    pub fn node_mut(&mut self, handle: usize) -> Option<&mut Node> {
        self.nodes.get_mut(&handle)
    }

    /// Handles of all nodes, the oldest first.
    pub fn handles(&self) -> impl Iterator<Item = usize> + '_ {
        self.nodes.keys().copied()
    }

    /// Nodes without dependencies.
    pub fn roots(&self) -> impl Iterator<Item = usize> + '_ {
        self.nodes.iter().filter(|(_, node)| node.after.is_empty()).map(|(&handle, _)| handle)
    }

    /// All edges.
    pub fn edges(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let into = |(&to, node): (&usize, &Node)| {
            node.after.iter().map(|&from| (from, to)).collect::<Vec<_>>()
        };
        self.nodes.iter().flat_map(into)
    }

    /// The clone of node `origin`.
    pub fn clone_of(&self, origin: usize) -> Option<usize> {
        self.origins.iter().find(|(_, from)| **from == origin).map(|(&handle, _)| handle)
    }

    /// A topological order of the nodes; an error if there is a cycle.
    pub fn sorted(&self) -> Result<Vec<usize>> {
        let mut missing: FxHashMap<usize, usize> =
            self.nodes.iter().map(|(&handle, node)| (handle, node.after.len())).collect();
        let mut before: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        for (from, to) in self.edges() {
            before.entry(from).or_default().push(to);
        }
        let mut sorted: Vec<usize> = self.roots().collect();
        let mut next = 0;
        while next < sorted.len() {
            for to in before.remove(&sorted[next]).unwrap_or_default() {
                let count = missing.entry(to).or_default();
                *count -= 1;
                if *count == 0 {
                    sorted.push(to);
                }
            }
            next += 1;
        }
        if sorted.len() == self.nodes.len() { Ok(sorted) } else { Err(Error::INVALID_VALUE) }
    }

    /// The given nodes and all nodes that they depend on.
    pub fn ancestors(&self, handles: &[usize]) -> FxHashSet<usize> {
        let mut found = FxHashSet::default();
        let mut open = handles.to_vec();
        while let Some(handle) = open.pop() {
            if found.insert(handle)
                && let Some(node) = self.nodes.get(&handle)
            {
                open.extend(&node.after);
            }
        }
        found
    }
}

/// A node of an instantiated graph.
#[derive(Clone, Debug)]
pub struct ExecNode {
    /// The node that it was instantiated from.
    pub handle: usize,
    /// The action; child graphs are flattened.
    pub body: Body,
    /// Positions of the nodes that it depends on, all before its own.
    pub after: Vec<usize>,
    /// Whether it is enabled (`cudaGraphNodeSetEnabled`).
    pub enabled: bool,
    /// The instantiated graphs of a conditional node.
    pub bodies: Vec<Vec<ExecNode>>,
}

/// Positions of nodes that no other node depends on.
pub fn leaves(nodes: &[ExecNode]) -> Vec<usize> {
    let inner: FxHashSet<usize> = nodes.iter().flat_map(|node| node.after.clone()).collect();
    (0..nodes.len()).filter(|at| !inner.contains(at)).collect()
}

/// The node that was instantiated from a node of a graph.
fn find(nodes: &mut [ExecNode], handle: usize) -> Option<&mut ExecNode> {
    if let Some(at) = nodes.iter().position(|node| node.handle == handle) {
        return Some(&mut nodes[at]);
    }
    nodes.iter_mut().flat_map(|node| &mut node.bodies).find_map(|body| find(body, handle))
}

impl ExecNode {
    /// The node in a launch with a tag, which is added to the tag of a kernel that has one.
    pub fn tagged(mut self, tag: u64) -> ExecNode {
        if let Body::Task(Task::Kernel(kernel)) = &mut self.body
            && tag != 0
            && kernel.launch.tag != 0
        {
            let launch = &mut Arc::make_mut(kernel).launch;
            launch.tag = launch.tag.wrapping_add(tag);
        }
        for body in &mut self.bodies {
            *body = std::mem::take(body).into_iter().map(|node| node.tagged(tag)).collect();
        }
        self
    }
}

/// An instantiated graph.
#[derive(Clone, Debug, Default)]
pub struct Exec {
    /// Its nodes in topological order.
    pub nodes: Vec<ExecNode>,
    /// The end of its last launch: launches do not overlap.
    pub last: Option<OpId>,
    /// The flags it was instantiated with.
    pub flags: u64,
    /// Memory of its nodes.
    memory: Vec<Arc<Mutex<Vec<usize>>>>,
}

impl Exec {
    /// The node that was instantiated from a node of the graph.
    pub fn node_mut(&mut self, handle: usize) -> Result<&mut ExecNode> {
        find(&mut self.nodes, handle).ok_or(Error::INVALID_VALUE)
    }

    /// Positions of nodes that no other node depends on.
    pub fn leaves(&self) -> Vec<usize> {
        leaves(&self.nodes)
    }
}

/// All graphs and instantiated graphs, by handle.
#[derive(Debug, Default)]
pub struct Graphs {
    graphs: FxHashMap<usize, Graph>,
    /// The graph that each node belongs to.
    homes: FxHashMap<usize, usize>,
    execs: FxHashMap<usize, Exec>,
    /// Values to which conditions are set at each launch.
    pub(crate) defaults: FxHashMap<u64, u32>,
    pub(crate) captures: FxHashMap<u64, crate::capture::Capture>,
}

impl Graphs {
    /// Creates a graph.
    pub fn create(&mut self, handle: usize) {
        self.graphs.insert(handle, Graph::default());
    }

    /// The graph of a handle.
    pub fn get(&self, handle: usize) -> Result<&Graph> {
        self.graphs.get(&handle).ok_or(Error::INVALID_VALUE)
    }

    /// The graph of a handle, mutably.
    pub fn get_mut(&mut self, handle: usize) -> Result<&mut Graph> {
        self.graphs.get_mut(&handle).ok_or(Error::INVALID_VALUE)
    }

    /// Destroys a graph and its nodes' graphs. Returns the memory that only they referred to.
    pub fn destroy(&mut self, handle: usize) -> Result<Vec<usize>> {
        let graph = self.graphs.remove(&handle).ok_or(Error::INVALID_VALUE)?;
        let mut memory = unshared(graph.memory);
        for (node, Node { body, .. }) in graph.nodes {
            self.homes.remove(&node);
            for child in body.graphs() {
                memory.extend(self.destroy(*child)?);
            }
        }
        Ok(memory)
    }

    /// Adds memory to a graph, which keeps it as long as it or an instantiation exists.
    pub fn own(&mut self, graph: usize, address: usize) -> Result {
        self.get_mut(graph)?.memory.lock().push(address);
        Ok(())
    }

    /// Adds a node to a graph.
    pub fn add(&mut self, graph: usize, node: usize, body: Body, after: &[usize]) -> Result {
        self.get_mut(graph)?.add(node, body, after)?;
        self.homes.insert(node, graph);
        Ok(())
    }

    /// Removes a node; an error if it owns memory.
    pub fn remove(&mut self, node: usize) -> Result<Vec<usize>> {
        let body = self.node(node)?.body.clone();
        if matches!(body, Body::Alloc(_) | Body::Free(_)) {
            return Err(Error::NOT_SUPPORTED);
        }
        let home = self.homes.remove(&node).ok_or(Error::INVALID_VALUE)?;
        self.get_mut(home)?.remove(node);
        let mut memory = Vec::new();
        for child in body.graphs() {
            memory.extend(self.destroy(*child)?);
        }
        Ok(memory)
    }

    /// The graph that a node belongs to.
    pub fn home(&self, node: usize) -> Result<usize> {
        self.homes.get(&node).copied().ok_or(Error::INVALID_VALUE)
    }

    /// The node of a handle.
    pub fn node(&self, node: usize) -> Result<&Node> {
        self.get(self.home(node)?)?.node(node).ok_or(Error::INVALID_VALUE)
    }

    /// The node of a handle, mutably.
    pub fn node_mut(&mut self, node: usize) -> Result<&mut Node> {
        let home = self.home(node)?;
        self.get_mut(home)?.node_mut(node).ok_or(Error::INVALID_VALUE)
    }

    /// Clones a graph, with its nodes' graphs. The clone gets one of the first of `handles`; its
    /// nodes get the next ones.
    pub fn copy(&mut self, graph: usize, handles: &mut dyn FnMut() -> usize) -> Result<usize> {
        let original = self.get(graph)?.clone();
        let copy = handles();
        let mut renamed = FxHashMap::default();
        let mut nodes = BTreeMap::new();
        for (&old, node) in &original.nodes {
            let body = match node.body {
                Body::Child(child) => Body::Child(self.copy(child, handles)?),
                Body::Conditional(ref conditional) => {
                    let graphs = conditional.graphs.iter();
                    let copies = graphs.map(|graph| self.copy(*graph, handles));
                    let graphs = copies.collect::<Result<_>>()?;
                    Body::Conditional(Conditional { graphs, ..*conditional })
                }
                ref body => body.clone(),
            };
            let new = handles();
            renamed.insert(old, new);
            nodes.insert(new, Node { body, after: node.after.clone() });
        }
        for node in nodes.values_mut() {
            node.after.iter_mut().for_each(|after| *after = renamed[after]);
        }
        self.homes.extend(nodes.keys().map(|&node| (node, copy)));
        let origins = renamed.into_iter().map(|(old, new)| (new, old)).collect();
        let memory = original.memory;
        self.graphs.insert(copy, Graph { nodes, origins, memory });
        Ok(copy)
    }

    /// Instantiates a graph.
    pub fn instantiate(&self, graph: usize) -> Result<Exec> {
        let mut exec = Exec::default();
        self.flatten(graph, &[], &mut exec)?;
        Ok(exec)
    }

    /// Appends a graph's nodes, its roots after `before`; returns the positions of its leaves.
    fn flatten(&self, graph: usize, before: &[usize], to: &mut Exec) -> Result<Vec<usize>> {
        let graph = self.get(graph)?;
        to.memory.push(Arc::clone(&graph.memory));
        let mut ends: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        for handle in graph.sorted()? {
            let node = &graph.nodes[&handle];
            let mut after: Vec<usize> = node.after.iter().flat_map(|n| ends[n].clone()).collect();
            if node.after.is_empty() {
                after.extend(before);
            }
            let end = if let Body::Child(child) = node.body {
                self.flatten(child, &after, to)?
            } else {
                let (body, after) = (node.body.clone(), after.clone());
                let bodies = self.bodies(&body, to)?;
                to.nodes.push(ExecNode { handle, body, after, enabled: true, bodies });
                vec![to.nodes.len() - 1]
            };
            // An empty child still orders its neighbours.
            ends.insert(handle, if end.is_empty() { after } else { end });
        }
        let inner: FxHashSet<usize> = graph.edges().map(|(from, _)| from).collect();
        Ok(graph.handles().filter(|h| !inner.contains(h)).flat_map(|h| ends[&h].clone()).collect())
    }

    /// The nodes of a conditional node's graphs; their memory belongs to the instantiation.
    fn bodies(&self, body: &Body, to: &mut Exec) -> Result<Vec<Vec<ExecNode>>> {
        let Body::Conditional(Conditional { graphs, .. }) = body else { return Ok(Vec::new()) };
        let ready = graphs.iter().map(|graph| {
            let Exec { nodes, memory, .. } = self.instantiate(*graph)?;
            to.memory.extend(memory);
            Ok(nodes)
        });
        ready.collect()
    }

    /// Adds an instantiated graph.
    pub fn insert_exec(&mut self, handle: usize, exec: Exec) {
        self.execs.insert(handle, exec);
    }

    /// The instantiated graph of a handle.
    pub fn exec_mut(&mut self, handle: usize) -> Result<&mut Exec> {
        self.execs.get_mut(&handle).ok_or(Error::INVALID_VALUE)
    }

    /// Destroys an instantiated graph; its launches continue. Returns the end of the last one, and
    /// the memory that it owned.
    pub fn destroy_exec(&mut self, handle: usize) -> Result<(Option<OpId>, Vec<usize>)> {
        let exec = self.execs.remove(&handle).ok_or(Error::INVALID_VALUE)?;
        Ok((exec.last, exec.memory.into_iter().flat_map(unshared).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn empty(graph: &mut Graph, handle: usize, after: &[usize]) {
        graph.add(handle, Body::Empty, after).expect("nodes that are there");
    }

    #[test]
    fn sorted_has_no_place_for_cycles() {
        let mut graph = Graph::default();
        empty(&mut graph, 1, &[]);
        empty(&mut graph, 2, &[1]);
        empty(&mut graph, 3, &[1, 2]);
        assert_eq!(graph.sorted(), Ok(vec![1, 2, 3]));
        graph.connect(3, 1).expect("a new edge");
        assert_eq!(graph.sorted(), Err(Error::INVALID_VALUE));
        assert_eq!(graph.connect(3, 1), Err(Error::INVALID_VALUE));
        graph.disconnect(3, 1).expect("the edge");
        assert_eq!(graph.disconnect(3, 1), Err(Error::INVALID_VALUE));
        assert_eq!(graph.ancestors(&[2]), FxHashSet::from_iter([1, 2]));
    }

    #[test]
    fn children_are_taken_apart() {
        let mut graphs = Graphs::default();
        for graph in [1, 2] {
            graphs.create(graph);
        }
        graphs.add(1, 11, Body::Empty, &[]).expect("a graph");
        graphs.add(1, 12, Body::Empty, &[]).expect("a graph");
        graphs.add(2, 21, Body::Empty, &[]).expect("a graph");
        graphs.add(2, 22, Body::Child(1), &[21]).expect("a graph");
        graphs.add(2, 23, Body::Empty, &[22]).expect("a graph");
        let exec = graphs.instantiate(2).expect("no cycle");
        let order: Vec<(usize, &[usize])> =
            exec.nodes.iter().map(|node| (node.handle, node.after.as_slice())).collect();
        assert_eq!(order, [(21, &[][..]), (11, &[0]), (12, &[0]), (23, &[1, 2])]);
        assert_eq!(exec.leaves(), [3]);
    }

    #[test]
    fn a_copy_shares_nothing() {
        let mut graphs = Graphs::default();
        graphs.create(1);
        graphs.add(1, 11, Body::Empty, &[]).expect("a graph");
        graphs.add(1, 12, Body::Empty, &[11]).expect("a graph");
        let mut next = 100;
        let copy = graphs
            .copy(1, &mut || {
                next += 1;
                next
            })
            .expect("a graph");
        let node = graphs.get(copy).expect("made").clone_of(12).expect("cloned");
        assert_eq!(graphs.node(node).expect("made").after.len(), 1);
        graphs.destroy(1).expect("a graph");
        assert!(graphs.node(12).is_err() && graphs.node(node).is_ok());
    }
}
