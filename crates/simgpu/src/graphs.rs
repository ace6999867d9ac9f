//! Graphs: operations with edges, to be launched as one.

use crate::conditional::Conditional;
use crate::error::{Error, Result};
use crate::order::OpId;
use crate::task::Task;
use parking_lot::Mutex;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a node does.
#[derive(Clone, Debug)]
pub enum Body {
    /// Nothing.
    Empty,
    /// An operation.
    Task(Task),
    /// All of another graph, which belongs to the node.
    Child(usize),
    /// Those of its graphs that a condition says, when it is reached.
    Conditional(Conditional),
    /// Records an event, by its handle.
    Record(usize),
    /// Waits for an event, by its handle.
    Wait(usize),
    /// Allocates memory, which is at this address in every launch.
    Alloc(usize),
    /// Frees what another node allocates.
    Free(usize),
}

impl Body {
    /// The graphs that belong to it.
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
    /// What it does.
    pub body: Body,
    /// The nodes it depends on.
    pub after: Vec<usize>,
}

/// A graph: nodes by their handles, which ascend in the order in which they were added.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    nodes: BTreeMap<usize, Node>,
    /// The node that each was cloned from.
    origins: FxHashMap<usize, usize>,
    /// Memory of its nodes, shared with what was made of it.
    memory: Arc<Mutex<Vec<usize>>>,
}

/// Memory that nobody has any more.
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

    /// Adds an edge, which must not be there.
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

    /// Removes an edge, which must be there.
    pub fn disconnect(&mut self, from: usize, to: usize) -> Result {
        let node = self.nodes.get_mut(&to).ok_or(Error::INVALID_VALUE)?;
        let at = node.after.iter().position(|&after| after == from);
        node.after.remove(at.ok_or(Error::INVALID_VALUE)?);
        Ok(())
    }

    /// A node.
    pub fn node(&self, handle: usize) -> Option<&Node> {
        self.nodes.get(&handle)
    }

    /// A node.
    pub fn node_mut(&mut self, handle: usize) -> Option<&mut Node> {
        self.nodes.get_mut(&handle)
    }

    /// Handles of all nodes, oldest first.
    pub fn handles(&self) -> impl Iterator<Item = usize> + '_ {
        self.nodes.keys().copied()
    }

    /// Nodes that depend on nothing.
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

    /// The node that `origin` was cloned to.
    pub fn clone_of(&self, origin: usize) -> Option<usize> {
        self.origins.iter().find(|(_, from)| **from == origin).map(|(&handle, _)| handle)
    }

    /// Nodes in an order in which each comes after those it depends on; an error if there is none.
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

    /// All nodes that `handles` depend on, and themselves.
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

/// A node of a graph that can be launched.
#[derive(Clone, Debug)]
pub struct ExecNode {
    /// The node it was made of.
    pub handle: usize,
    /// What it does; children are taken apart.
    pub body: Body,
    /// Positions of the nodes it comes after, all before its own.
    pub after: Vec<usize>,
    /// Whether it does that when launched.
    pub enabled: bool,
    /// The nodes of the graphs that it chooses from.
    pub bodies: Vec<Vec<ExecNode>>,
}

/// Positions of nodes that no other comes after.
pub fn leaves(nodes: &[ExecNode]) -> Vec<usize> {
    let inner: FxHashSet<usize> = nodes.iter().flat_map(|node| node.after.clone()).collect();
    (0..nodes.len()).filter(|at| !inner.contains(at)).collect()
}

/// The node that was made of a node of a graph.
fn find(nodes: &mut [ExecNode], handle: usize) -> Option<&mut ExecNode> {
    if let Some(at) = nodes.iter().position(|node| node.handle == handle) {
        return Some(&mut nodes[at]);
    }
    nodes.iter_mut().flat_map(|node| &mut node.bodies).find_map(|body| find(body, handle))
}

impl ExecNode {
    /// The node in a launch with a tag, which is added to that of a kernel that has one.
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

/// A graph that can be launched.
#[derive(Clone, Debug, Default)]
pub struct Exec {
    /// Its nodes, each behind those it comes after.
    pub nodes: Vec<ExecNode>,
    /// The end of its last launch: launches do not overlap.
    pub last: Option<OpId>,
    /// Flags it was made with.
    pub flags: u64,
    /// Memory of its nodes.
    memory: Vec<Arc<Mutex<Vec<usize>>>>,
}

impl Exec {
    /// The node that was made of a node of the graph.
    pub fn node_mut(&mut self, handle: usize) -> Result<&mut ExecNode> {
        find(&mut self.nodes, handle).ok_or(Error::INVALID_VALUE)
    }

    /// Positions of nodes that no other comes after.
    pub fn leaves(&self) -> Vec<usize> {
        leaves(&self.nodes)
    }
}

/// All graphs and what was made of them, by their handles.
#[derive(Debug, Default)]
pub struct Graphs {
    graphs: FxHashMap<usize, Graph>,
    /// The graph that each node is of.
    homes: FxHashMap<usize, usize>,
    execs: FxHashMap<usize, Exec>,
    /// Values that conditions have at each launch.
    pub(crate) defaults: FxHashMap<u64, u32>,
    pub(crate) captures: FxHashMap<u64, crate::capture::Capture>,
}

impl Graphs {
    /// A new graph.
    pub fn create(&mut self, handle: usize) {
        self.graphs.insert(handle, Graph::default());
    }

    /// A graph.
    pub fn get(&self, handle: usize) -> Result<&Graph> {
        self.graphs.get(&handle).ok_or(Error::INVALID_VALUE)
    }

    /// A graph.
    pub fn get_mut(&mut self, handle: usize) -> Result<&mut Graph> {
        self.graphs.get_mut(&handle).ok_or(Error::INVALID_VALUE)
    }

    /// Destroys a graph, and those that belong to its nodes. Gives the memory that only they had.
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

    /// A graph has memory, as long as it is there or anything made of it.
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

    /// Removes a node, which has no memory.
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

    /// The graph that a node is of.
    pub fn home(&self, node: usize) -> Result<usize> {
        self.homes.get(&node).copied().ok_or(Error::INVALID_VALUE)
    }

    /// A node.
    pub fn node(&self, node: usize) -> Result<&Node> {
        self.get(self.home(node)?)?.node(node).ok_or(Error::INVALID_VALUE)
    }

    /// A node.
    pub fn node_mut(&mut self, node: usize) -> Result<&mut Node> {
        let home = self.home(node)?;
        self.get_mut(home)?.node_mut(node).ok_or(Error::INVALID_VALUE)
    }

    /// Copies a graph, with all that belongs to it, to one of the first of `handles`; its nodes get
    /// the next ones.
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

    /// Makes a graph ready to be launched.
    pub fn instantiate(&self, graph: usize) -> Result<Exec> {
        let mut exec = Exec::default();
        self.flatten(graph, &[], &mut exec)?;
        Ok(exec)
    }

    /// Appends a graph's nodes, its roots after `before`; gives the positions of its ends.
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
            // An empty child orders what is around it all the same.
            ends.insert(handle, if end.is_empty() { after } else { end });
        }
        let inner: FxHashSet<usize> = graph.edges().map(|(from, _)| from).collect();
        Ok(graph.handles().filter(|h| !inner.contains(h)).flat_map(|h| ends[&h].clone()).collect())
    }

    /// The nodes of what a node chooses from; their memory belongs to what is made ready.
    fn bodies(&self, body: &Body, to: &mut Exec) -> Result<Vec<Vec<ExecNode>>> {
        let Body::Conditional(Conditional { graphs, .. }) = body else { return Ok(Vec::new()) };
        let ready = graphs.iter().map(|graph| {
            let Exec { nodes, memory, .. } = self.instantiate(*graph)?;
            to.memory.extend(memory);
            Ok(nodes)
        });
        ready.collect()
    }

    /// Keeps what was made ready.
    pub fn insert_exec(&mut self, handle: usize, exec: Exec) {
        self.execs.insert(handle, exec);
    }

    /// What was made ready.
    pub fn exec_mut(&mut self, handle: usize) -> Result<&mut Exec> {
        self.execs.get_mut(&handle).ok_or(Error::INVALID_VALUE)
    }

    /// Destroys it; launches go on. Gives the end of the last one, and the memory that it had.
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
