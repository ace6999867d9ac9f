//! Graphs of work: made node by node or captured from streams, and launched as often as the program
//! likes.
//!
//! Of a graph's nodes, each that has one before it that nobody else goes on from takes its *track*,
//! so that a graph needs as many places among the streams as it is wide.

use crate::clock::Clock;
use crate::gpu::Ticket;
use crate::memory::Block;
use crate::work::{KernelAccess, Work};
use commsan_callsite::Site;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::sync::Arc;

/// Indices of nodes.
type Nodes = SmallVec<[u32; 4]>;

/// What a node does.
#[derive(Clone, Debug)]
pub enum Act {
    /// Nothing that is followed.
    Nothing,
    /// Work, where the program has made the node.
    Work(Arc<Work>, Site, Ticket),
    /// A function of the host.
    Host(Ticket),
    /// Another graph, as it was then.
    Graph(Arc<Graph>),
    /// Records an event.
    Record(usize),
    /// Waits for one.
    Wait(usize),
    /// Memory is there from now on.
    Alloc(Arc<Block>),
    /// Memory that begins at an address is given back by a call, where the program has made the
    /// node.
    Free(usize, &'static str, Site),
    /// None, one or several of these graphs, as they are when it is made ready.
    Choice(Arc<[usize]>),
}

/// Graphs that nodes choose from, within each other, that are looked into.
const MAX_DEPTH: usize = 16;

#[derive(Clone, Debug)]
struct Node {
    act: Act,
    after: Nodes,
}

/// A graph of work.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    nodes: Vec<Node>,
    handles: FxHashMap<usize, u32>,
}

/// A step of a launch: what is done, after which other steps, and on which track.
#[derive(Clone, Debug)]
pub struct Step {
    /// What is done.
    pub act: Act,
    /// Earlier steps.
    pub after: Nodes,
    /// Which of the graph's tracks.
    pub track: u32,
    /// Which of the graph's nodes it is, or belongs to.
    node: u32,
}

/// A graph that can be launched.
#[derive(Debug, Default)]
pub struct Exec {
    /// In an order that respects the edges.
    pub steps: Arc<[Step]>,
    /// Places among the streams for its tracks; none before the first launch.
    pub slots: Vec<u32>,
    /// How many it needs.
    pub tracks: u32,
    /// What its launches so far have done: they do not overlap.
    pub last: Clock,
    /// The nodes that have names, which are those of the graph that it was made of.
    handles: FxHashMap<usize, u32>,
}

impl Exec {
    /// A node does something else from now on. Of one without a known handle it is not known which
    /// it is, and so of none of these what they do; nor is it of graphs in a node.
    pub fn change(&mut self, node: usize, act: &Act) {
        let number = self.handles.get(&node).copied();
        let act = match (number, act) {
            (None, _) | (_, Act::Graph(_)) => &Act::Nothing,
            (Some(_), act) => act,
        };
        let named: FxHashSet<u32> = self.handles.values().copied().collect();
        let is_meant = |step: &&mut Step| match number {
            Some(number) => step.node == number,
            None => !named.contains(&step.node),
        };
        let steps = Arc::make_mut(&mut self.steps).iter_mut();
        steps.filter(is_meant).for_each(|step| step.act = act.clone());
    }
}

/// A graph in the making, from streams.
#[derive(Debug, Default)]
struct Capture {
    graph: Graph,
    /// The last nodes of each stream that takes part.
    heads: FxHashMap<u32, Nodes>,
    origin: u32,
    /// The graph's name, if the program has asked for it.
    name: Option<usize>,
}

/// All graphs.
#[derive(Debug, Default)]
pub struct Graphs {
    graphs: FxHashMap<usize, Graph>,
    execs: FxHashMap<usize, Exec>,
    captures: Vec<Capture>,
    /// Events that were recorded in a capture: which, by its origin, and after which nodes.
    events: FxHashMap<usize, (u32, Nodes)>,
}

impl Graphs {
    /// Whether what is put into a stream makes a graph.
    #[inline]
    pub fn captures(&self, slot: u32) -> bool {
        self.captures.iter().any(|capture| capture.heads.contains_key(&slot))
    }

    fn capture(&mut self, slot: u32) -> Option<&mut Capture> {
        self.captures.iter_mut().find(|capture| capture.heads.contains_key(&slot))
    }

    /// A stream's work makes a graph from now on.
    pub fn begin(&mut self, slot: u32) {
        let heads = [(slot, Nodes::new())].into_iter().collect();
        self.captures.push(Capture { graph: Graph::default(), heads, origin: slot, name: None });
    }

    /// What is captured from a stream continues a graph.
    pub fn begin_to(&mut self, slot: u32, graph: usize, after: &[usize]) {
        let name = Some(graph);
        let graph = self.graphs.get(&graph).cloned().unwrap_or_default();
        let heads = [(slot, graph.numbers(after))].into_iter().collect();
        self.captures.push(Capture { graph, heads, origin: slot, name });
    }

    /// The graph is complete, and known by this name.
    pub fn end(&mut self, slot: u32, graph: usize) {
        let found = self.captures.iter().position(|capture| capture.origin == slot);
        if let Some(at) = found {
            let capture = self.captures.remove(at);
            self.events.retain(|_, (origin, _)| *origin != slot);
            self.graphs.insert(graph, capture.graph);
        }
    }

    /// Adds what is put into a stream that is captured.
    pub fn add_captured(&mut self, slot: u32, act: Act) {
        if let Some(Capture { graph, heads, .. }) = self.capture(slot)
            && let Some(head) = heads.get_mut(&slot)
        {
            let node = graph.add(act, std::mem::take(head));
            head.push(node);
        }
    }

    /// What is ready is launched into a stream that is captured: its nodes become part of that
    /// graph.
    pub fn add_launch(&mut self, slot: u32, exec: usize) {
        let Some(exec) = self.execs.get(&exec) else { return };
        let nodes = exec.steps.iter();
        let nodes = nodes.map(|step| Node { act: step.act.clone(), after: step.after.clone() });
        let graph = Graph { nodes: nodes.collect(), handles: FxHashMap::default() };
        self.add_captured(slot, Act::Graph(Arc::new(graph)));
    }

    /// An event is recorded; false if that is no part of a capture.
    pub fn record(&mut self, event: usize, slot: u32) -> bool {
        let recorded =
            self.capture(slot).map(|capture| (capture.origin, capture.heads[&slot].clone()));
        match recorded {
            Some(recorded) => {
                self.events.insert(event, recorded);
                true
            }
            None => {
                self.events.remove(&event);
                false
            }
        }
    }

    /// A stream waits for an event, and so becomes part of a capture; false if the event is in
    /// none.
    pub fn wait(&mut self, slot: u32, event: usize) -> bool {
        let Some((origin, nodes)) = self.events.get(&event) else { return false };
        let capture = self.captures.iter_mut().find(|capture| capture.origin == *origin);
        let Some(capture) = capture else { return false };
        let head = capture.heads.entry(slot).or_default();
        for node in nodes {
            if !head.contains(node) {
                head.push(*node);
            }
        }
        true
    }

    /// The graph that a stream's work makes has this name, and these are the stream's last nodes.
    /// Which is which is known if it is one.
    pub fn name(&mut self, slot: u32, name: usize, handles: &[usize]) {
        let Some(capture) = self.capture(slot) else { return };
        capture.name = Some(name);
        if let ([handle], [number]) = (handles, &capture.heads[&slot][..]) {
            capture.graph.handles.insert(*handle, *number);
        }
    }

    /// What is put into a stream next comes after these nodes, and, if they are added, after what
    /// it would have come after anyway.
    pub fn go_on_after(&mut self, slot: u32, handles: &[usize], added: bool) {
        let Some(Capture { graph, heads, .. }) = self.capture(slot) else { return };
        let mut head = graph.numbers(handles);
        if added {
            let before = heads.remove(&slot).unwrap_or_default();
            head.extend(before.into_iter().filter(|node| !head.contains(node)).collect::<Nodes>());
        }
        heads.insert(slot, head);
    }

    /// The graph of a name, in the making or made.
    fn named(&mut self, name: usize) -> Option<&mut Graph> {
        let mut captures = self.captures.iter_mut();
        match captures.find(|capture| capture.name == Some(name)) {
            Some(capture) => Some(&mut capture.graph),
            None => self.graphs.get_mut(&name),
        }
    }

    /// An event is no more.
    pub fn forget_event(&mut self, event: usize) {
        self.events.remove(&event);
    }

    /// An empty graph has been made.
    pub fn create(&mut self, graph: usize) {
        self.graphs.insert(graph, Graph::default());
    }

    /// A node has been added.
    pub fn add(&mut self, graph: usize, node: usize, after: &[usize], act: Act) {
        let Some(graph) = self.named(graph) else { return };
        let after = graph.numbers(after);
        let number = graph.add(act, after);
        graph.handles.insert(node, number);
    }

    /// Changes a node. The handles of captured or copied nodes are not known. If it may be one of
    /// these, all nodes of such graphs become unknown.
    pub fn change(&mut self, node: usize, act: Act) {
        let known = |graph: &&mut Graph| graph.handles.contains_key(&node);
        let captured = self.captures.iter_mut().map(|capture| &mut capture.graph);
        if let Some(graph) = self.graphs.values_mut().chain(captured).find(known) {
            let number = graph.handles[&node];
            graph.nodes[number as usize].act = act;
            return;
        }
        self.graphs.values_mut().for_each(Graph::forget_nameless);
    }

    /// A graph as it is now.
    pub fn get(&self, graph: usize) -> Option<Arc<Graph>> {
        self.graphs.get(&graph).cloned().map(Arc::new)
    }

    /// Edges have been added or taken away.
    pub fn edges(&mut self, graph: usize, edges: &[(usize, usize)], added: bool) {
        let Some(graph) = self.named(graph) else { return };
        for (from, to) in edges {
            match (graph.handles.get(from), graph.handles.get(to)) {
                (Some(&from), Some(&to)) => {
                    let after = &mut graph.nodes[to as usize].after;
                    match added {
                        true => after.push(from),
                        false => after.retain(|node| *node != from),
                    }
                }
                // Which nodes come after others is not known any more.
                _ if added => graph.forget(),
                _ => {}
            }
        }
    }

    /// Copies a graph. The handles of its nodes are not known.
    pub fn copy(&mut self, graph: usize, clone: usize) {
        if let Some(graph) = self.graphs.get(&graph) {
            let copy = Graph { nodes: graph.nodes.clone(), handles: FxHashMap::default() };
            self.graphs.insert(clone, copy);
        }
    }

    /// A graph is no more, nor are those that its nodes choose from.
    pub fn destroy(&mut self, graph: usize) {
        for node in self.graphs.remove(&graph).into_iter().flat_map(|graph| graph.nodes) {
            if let Act::Choice(bodies) = node.act {
                bodies.iter().for_each(|body| self.destroy(*body));
            }
        }
    }

    /// A graph, with what its nodes choose from in their place.
    fn settled(&self, graph: &Graph, depth: usize) -> Graph {
        let mut settled = graph.clone();
        for node in &mut settled.nodes {
            let inside = match &node.act {
                _ if depth == MAX_DEPTH => continue,
                Act::Choice(bodies) => self.perhaps(bodies, depth + 1),
                Act::Graph(graph) => self.settled(graph, depth + 1),
                _ => continue,
            };
            node.act = Act::Graph(Arc::new(inside));
        }
        settled
    }

    /// Graphs of which it is open which are launched. They are never launched at once: each comes
    /// after the one before.
    fn perhaps(&self, bodies: &[usize], depth: usize) -> Graph {
        let mut all = Graph::default();
        let mut last = Nodes::new();
        for body in bodies.iter().filter_map(|body| self.graphs.get(body)) {
            let body = self.settled(body, depth).doubtful();
            last = Nodes::from_slice(&[all.add(Act::Graph(Arc::new(body)), last)]);
        }
        all
    }

    /// A graph can be launched under a name, as it is now. Gives the places of what had that name.
    pub fn instantiate(&mut self, exec: usize, graph: usize) -> Vec<u32> {
        let Some(graph) = self.graphs.get(&graph) else { return Vec::new() };
        let (steps, tracks) = self.settled(graph, 0).steps();
        let handles = graph.handles.clone();
        let before = self.execs.remove(&exec).unwrap_or_default();
        let made =
            Exec { steps: steps.into(), slots: Vec::new(), tracks, last: before.last, handles };
        self.execs.insert(exec, made);
        before.slots
    }

    /// What can be launched under a name.
    pub fn exec(&mut self, exec: usize) -> Option<&mut Exec> {
        self.execs.get_mut(&exec)
    }

    /// It cannot any more. Gives its places.
    pub fn destroy_exec(&mut self, exec: usize) -> Vec<u32> {
        self.execs.remove(&exec).map_or(Vec::new(), |exec| exec.slots)
    }
}

impl Graph {
    fn add(&mut self, act: Act, after: Nodes) -> u32 {
        self.nodes.push(Node { act, after });
        self.nodes.len() as u32 - 1
    }

    /// Nodes by their handles. Where some is not known, which may be any, all that there are: what
    /// comes after them comes after it.
    fn numbers(&self, handles: &[usize]) -> Nodes {
        let known = handles.iter().map(|handle| self.handles.get(handle).copied());
        known.collect::<Option<_>>().unwrap_or_else(|| (0..self.nodes.len() as u32).collect())
    }

    /// No node does anything that is known.
    fn forget(&mut self) {
        self.nodes.iter_mut().for_each(|node| node.act = Act::Nothing);
    }

    /// Nodes without handles do nothing that is known.
    fn forget_nameless(&mut self) {
        let named: FxHashSet<u32> = self.handles.values().copied().collect();
        for (number, node) in self.nodes.iter_mut().enumerate() {
            if !named.contains(&(number as u32)) {
                node.act = Act::Nothing;
            }
        }
    }

    /// These steps, of which nothing is certain to be done.
    fn doubtful(mut self) -> Graph {
        for node in &mut self.nodes {
            match &mut node.act {
                Act::Work(work, ..) => {
                    let doubtful =
                        |access: &KernelAccess| KernelAccess { certain: false, ..access.clone() };
                    let accesses = work.accesses.iter().map(doubtful).collect();
                    *work = Arc::new(Work { accesses, ..Work::clone(work) });
                }
                Act::Graph(graph) => *graph = Arc::new(Graph::clone(graph).doubtful()),
                _ => {}
            }
        }
        self
    }

    /// The nodes as steps, and how many tracks they need.
    fn steps(&self) -> (Vec<Step>, u32) {
        let mut steps = Vec::new();
        self.add_steps(&mut steps, &Nodes::new());
        let tracks = lay_tracks(&mut steps);
        (steps, tracks)
    }

    /// Adds all nodes, the first after `start`; gives those that nothing comes after.
    fn add_steps(&self, steps: &mut Vec<Step>, start: &Nodes) -> Nodes {
        // The steps that stand for the end of each node.
        let mut ends: FxHashMap<u32, Nodes> = FxHashMap::default();
        for node in self.in_order() {
            let Node { act, after } = &self.nodes[node as usize];
            let mut before: Nodes =
                after.iter().flat_map(|node| ends[node].iter().copied()).collect();
            if before.is_empty() {
                before.clone_from(start);
            }
            let end = match act {
                Act::Graph(graph) => {
                    let first = steps.len();
                    let end = graph.add_steps(steps, &before);
                    steps[first..].iter_mut().for_each(|step| step.node = node);
                    end
                }
                act => {
                    steps.push(Step { act: act.clone(), after: before, track: 0, node });
                    Nodes::from_slice(&[steps.len() as u32 - 1])
                }
            };
            ends.insert(node, end);
        }
        let continued: FxHashSet<u32> =
            self.nodes.iter().flat_map(|node| node.after.iter().copied()).collect();
        let last = ends.into_iter().filter(|(node, _)| !continued.contains(node));
        last.flat_map(|(_, end)| end).collect()
    }

    /// The nodes, each after those it comes after, and else as they were made. CUDA makes no graph
    /// with a cycle; what would be in one is left out.
    fn in_order(&self) -> Vec<u32> {
        let mut open: Vec<usize> = self.nodes.iter().map(|node| node.after.len()).collect();
        let mut next: FxHashMap<u32, Nodes> = FxHashMap::default();
        for (at, node) in self.nodes.iter().enumerate() {
            node.after.iter().for_each(|before| next.entry(*before).or_default().push(at as u32));
        }
        let all = 0..self.nodes.len() as u32;
        let mut ready: Vec<u32> = all.rev().filter(|node| open[*node as usize] == 0).collect();
        let mut order = Vec::with_capacity(self.nodes.len());
        while let Some(node) = ready.pop() {
            order.push(node);
            for after in next.remove(&node).into_iter().flatten().rev() {
                open[after as usize] -= 1;
                if open[after as usize] == 0 {
                    ready.push(after);
                }
            }
        }
        order
    }
}

/// Gives each step a track: that of a step before it that has no other successor on it, else a new
/// one.
fn lay_tracks(steps: &mut [Step]) -> u32 {
    let mut tracks = 0;
    let mut left = vec![false; steps.len()];
    for at in 0..steps.len() {
        let before = steps[at].after.iter().copied().find(|before| !left[*before as usize]);
        steps[at].track = match before {
            Some(before) => {
                left[before as usize] = true;
                steps[before as usize].track
            }
            None => {
                tracks += 1;
                tracks - 1
            }
        };
    }
    tracks
}
