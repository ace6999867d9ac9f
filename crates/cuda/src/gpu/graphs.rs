//! Graphs, as the program makes and launches them.

use super::{Gpu, Started, Ticket};
use crate::clock::Clock;
use crate::graphs::{Act, Exec, Step};
use crate::work::{Copy, Set, StreamName, Work};
use commsan_callsite::{Findings, Place};
use std::sync::Arc;

/// What a node of a graph does, as a call that adds it says.
#[derive(Clone, Copy, Debug)]
pub enum NodeKind<'a> {
    /// Nothing that is followed.
    Empty,
    /// A kernel, perhaps with a ticket that it has already.
    Kernel(&'a Work, Option<Ticket>),
    /// A copy.
    Copy(&'a Copy),
    /// Sets bytes.
    Set(&'a Set),
    /// A function of the host.
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
    /// Those of some graphs, as they are when its graph is made ready, that a condition says.
    Choice(&'a [usize]),
}

impl Gpu {
    /// Whether what is put into a stream makes a graph.
    pub fn makes_graph(&mut self, stream: StreamName) -> bool {
        let slot = self.slot(stream);
        self.graphs.captures(slot)
    }

    /// What is put into a stream makes a graph from now on.
    pub fn capture_begins(&mut self, stream: StreamName) {
        let slot = self.slot(stream);
        self.graphs.begin(slot);
    }

    /// What is put into a stream from now on is added to a graph, behind some of its nodes.
    pub fn capture_begins_to(&mut self, stream: StreamName, graph: usize, after: &[usize]) {
        let slot = self.slot(stream);
        self.graphs.begin_to(slot, graph, after);
    }

    /// That graph is complete.
    pub fn capture_ends(&mut self, stream: StreamName, graph: usize) {
        let slot = self.slot(stream);
        self.graphs.end(slot, graph);
    }

    /// The program has asked for the graph that a stream's work makes, and for the stream's last
    /// nodes.
    pub fn capture_named(&mut self, stream: StreamName, graph: usize, last: &[usize]) {
        let slot = self.slot(stream);
        self.graphs.name(slot, graph, last);
    }

    /// What is captured next from a stream comes after other nodes, or also after these.
    pub fn capture_goes_on(&mut self, stream: StreamName, after: &[usize], added: bool) {
        let slot = self.slot(stream);
        self.graphs.go_on_after(slot, after, added);
    }

    /// Something becomes a node where a stream's work makes a graph: what gives memory back, and
    /// what of an event is no edge (`cudaEventRecordExternal`, `cudaEventWaitExternal`); false if
    /// it does not.
    pub fn captured(&mut self, stream: StreamName, kind: NodeKind<'_>, place: &dyn Place) -> bool {
        let captures = self.makes_graph(stream);
        if captures {
            let (_, act) = self.act(kind, place);
            self.capture(stream, act);
        }
        captures
    }

    /// A node is captured from a stream.
    pub(super) fn capture(&mut self, stream: StreamName, act: Act) {
        let slot = self.slot(stream);
        self.graphs.add_captured(slot, act);
    }

    /// An empty graph has been made.
    pub fn graph_created(&mut self, graph: usize) {
        self.graphs.create(graph);
    }

    /// A node has been added to a graph.
    pub fn graph_node(
        &mut self,
        graph: usize,
        node: usize,
        after: &[usize],
        kind: NodeKind<'_>,
        place: &dyn Place,
    ) -> Ticket {
        let (ticket, act) = self.act(kind, place);
        self.graphs.add(graph, node, after, act);
        ticket
    }

    /// A node does something else from now on, where its graph is made ready anew.
    pub fn node_changed(&mut self, node: usize, kind: NodeKind<'_>, place: &dyn Place) -> Ticket {
        let (ticket, act) = self.act(kind, place);
        self.graphs.change(node, act);
        ticket
    }

    /// A node does something else in what can be launched under a name, from the next launch on.
    pub fn exec_node_changed(
        &mut self,
        exec: usize,
        node: usize,
        kind: NodeKind<'_>,
        place: &dyn Place,
    ) -> Ticket {
        let (ticket, act) = self.act(kind, place);
        if let Some(exec) = self.graphs.exec(exec) {
            exec.change(node, &act);
        }
        ticket
    }

    fn act(&mut self, kind: NodeKind<'_>, place: &dyn Place) -> (Ticket, Act) {
        let ticket = match kind {
            NodeKind::Kernel(_, Some(ticket)) => ticket,
            _ => self.ticket(),
        };
        let act = match kind {
            NodeKind::Empty => Act::Nothing,
            NodeKind::Kernel(work, _) => self.node_work(work.clone(), ticket, place),
            NodeKind::Copy(copy) => {
                let work = self.work_of_copy(copy);
                self.node_work(work, ticket, place)
            }
            NodeKind::Set(set) => {
                let work = self.work_of_set(set);
                self.node_work(work, ticket, place)
            }
            NodeKind::Host => Act::Host(ticket),
            NodeKind::Graph(child) => self.graphs.get(child).map_or(Act::Nothing, Act::Graph),
            NodeKind::Record(event) => Act::Record(event),
            NodeKind::Wait(event) => Act::Wait(event),
            NodeKind::Alloc(address) => self.allocation(address),
            NodeKind::Free(address, call) => {
                Act::Free(address, call, place.site(Some(call), &mut self.stacks))
            }
            NodeKind::Choice(graphs) => Act::Choice(graphs.into()),
        };
        (ticket, act)
    }

    fn node_work(&mut self, work: Work, ticket: Ticket, place: &dyn Place) -> Act {
        let site = place.site(Some(work.call), &mut self.stacks);
        Act::Work(Arc::new(work), site, ticket)
    }

    /// What allocates memory at an address.
    pub(super) fn allocation(&self, address: usize) -> Act {
        self.memory.at(address).map_or(Act::Nothing, |block| Act::Alloc(Arc::new(block.clone())))
    }

    /// Edges have been added or taken away.
    pub fn graph_edges(&mut self, graph: usize, edges: &[(usize, usize)], added: bool) {
        self.graphs.edges(graph, edges, added);
    }

    /// A graph has been copied.
    pub fn graph_cloned(&mut self, graph: usize, clone: usize) {
        self.graphs.copy(graph, clone);
    }

    /// A graph is gone.
    pub fn graph_destroyed(&mut self, graph: usize) {
        self.graphs.destroy(graph);
    }

    /// A graph can be launched under a name; also after it was updated.
    pub fn graph_instantiated(&mut self, exec: usize, graph: usize) {
        let slots = self.graphs.instantiate(exec, graph);
        slots.into_iter().for_each(|slot| self.order.drop_slot(slot));
    }

    /// What could be launched is gone.
    pub fn exec_destroyed(&mut self, exec: usize) {
        let slots = self.graphs.destroy_exec(exec);
        slots.into_iter().for_each(|slot| self.order.drop_slot(slot));
    }

    /// The work that a launch does, and what it is known by.
    pub fn work_of_graph(&mut self, exec: usize) -> Vec<(Arc<Work>, Ticket)> {
        let steps = self.graphs.exec(exec).map(|exec| Arc::clone(&exec.steps));
        let steps = steps.iter().flat_map(|steps| steps.iter());
        steps
            .filter_map(|step| match &step.act {
                Act::Work(work, _, ticket) => Some((Arc::clone(work), *ticket)),
                _ => None,
            })
            .collect()
    }

    /// A graph has been launched.
    pub fn graph_launched(
        &mut self,
        exec: usize,
        stream: StreamName,
        place: &dyn Place,
        out: &mut dyn Findings,
    ) {
        let slot = self.slot(stream);
        if self.graphs.captures(slot) {
            return self.graphs.add_launch(slot, exec);
        }
        let device = self.order.device(slot);
        let (_, mut start) = self.order.enqueue(slot, self.actor.as_ref());
        let Some(Exec { steps, slots, tracks, last, .. }) = self.graphs.exec(exec) else { return };
        while slots.len() < *tracks as usize {
            slots.push(self.order.add_slot_beside(device));
        }
        start.join(last);
        let (steps, slots) = (Arc::clone(steps), slots.clone());
        let label = Arc::clone(&self.labels[&slot]);
        for slot in &slots {
            self.labels.insert(*slot, Arc::clone(&label));
        }
        let end = self.run(&steps, &slots, start, place, out);
        self.order.add(slot, &end);
        if let Some(exec) = self.graphs.exec(exec) {
            exec.last = end;
        }
    }

    /// Puts the steps of a graph into their places; gives what comes after all.
    fn run(
        &mut self,
        steps: &[Step],
        slots: &[u32],
        start: Clock,
        place: &dyn Place,
        out: &mut dyn Findings,
    ) -> Clock {
        let mut end = start.clone();
        let mut done: Vec<Clock> = Vec::with_capacity(steps.len());
        for step in steps {
            let mut clock = start.clone();
            step.after.iter().for_each(|before| clock.join(&done[*before as usize]));
            if let Act::Wait(event) = step.act
                && let Some(recorded) = self.event(event)
            {
                clock.join(&recorded);
            }
            let epoch = self.order.number(slots[step.track as usize], &clock);
            match &step.act {
                Act::Work(work, site, ticket) => {
                    let started = Started { ticket: *ticket, epoch, clock: &clock, site: *site };
                    self.begin(work, &started, place, out);
                }
                Act::Host(ticket) => {
                    self.host_functions.insert(*ticket, (epoch, clock.clone()));
                }
                Act::Record(event) => {
                    self.order.record_at(*event, clock.clone());
                    self.publish(*event);
                }
                Act::Alloc(block) => self.allocated_in_graph(block, epoch),
                Act::Free(address, call, site) => {
                    self.freed_in_graph(*address, (call, *site), &clock, place, out);
                }
                Act::Nothing | Act::Wait(_) | Act::Graph(_) | Act::Choice(_) => {}
            }
            clock.acquire(epoch);
            end.join(&clock);
            done.push(clock);
        }
        end
    }
}
