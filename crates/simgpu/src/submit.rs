//! Submission: enqueues operations into streams, or captures them into graphs.

use crate::copy::Copy;
use crate::error::{Error, Result};
use crate::events::Record;
use crate::graphs::{Body, ExecNode};
use crate::host_sync::{self, Call, Wait};
use crate::ipc::{Mark, SharedEvents, Slot};
use crate::memory::{Kind, Place};
use crate::order::{OpId, StreamId};
use crate::runtime::{Session, State};
use crate::schedule::Pending;
use crate::task::Task;
use crate::thread;
use std::sync::Arc;

/// Maximum bytes staged for copies that have not run; further copies are executed at once.
const MAX_STAGED_BYTES: usize = 64 << 20;

/// Virtual time of a call, in nanoseconds.
const CALL_NS: u64 = 1_000;

impl Session {
    /// Submits an operation to a stream, or to the graph that the stream is captured to. Returns
    /// the operation unless it was captured.
    pub fn submit(&mut self, stream: StreamId, task: Task) -> Result<Option<OpId>> {
        let device = self.streams.get(stream).device;
        self.usable(device)?;
        if self.capture(stream, &Body::Task(task.clone()))? {
            return Ok(None);
        }
        let op = self.enqueue(stream, task, &[]);
        self.after_submission();
        Ok(Some(op))
    }

    /// If a stream is captured, adds an allocation node to the graph. Returns its memory.
    pub fn capture_allocation(
        &mut self,
        stream: StreamId,
        device: usize,
        size: usize,
    ) -> Result<Option<usize>> {
        let Some(joined) = self.joined(stream)? else { return Ok(None) };
        let graph = self.graphs.captures[&joined.capture].graph;
        let start = self.memory.allocate(Kind::Graph, device, size)?;
        self.graphs.own(graph, start)?;
        self.capture(stream, &Body::Alloc(start))?;
        Ok(Some(start))
    }

    /// Submits a copy, and makes the host wait as the rules require.
    pub fn copy(&mut self, call: Call, stream: StreamId, copy: Copy) -> Result {
        if call == Call::Copy {
            self.forbid_unsafe()?;
        }
        if copy.extent.is_empty() {
            return Ok(());
        }
        let (from, to) = (self.memory.place(copy.from.start), self.memory.place(copy.to.start));
        let capturing = self.joined(stream)?.is_some();
        match self.decide(call, from, to) {
            Wait::Staging if !capturing => {
                let past = self.order.past(stream);
                self.wait(&past)?;
                if self.staged + copy.extent.bytes() > MAX_STAGED_BYTES {
                    let op = self.submit(stream, Task::Copy(copy))?;
                    return self.wait_as(Wait::Operation, op);
                }
                // SAFETY: the program has promised that the source is valid.
                let staged = unsafe { copy.stage() };
                self.staged += staged.len();
                self.submit(stream, Task::Staged(copy, staged.into())).map(drop)
            }
            wait => {
                let op = self.submit(stream, Task::Copy(copy))?;
                self.wait_as(wait, op)
            }
        }
    }

    /// Submits a set, and makes the host wait as the rules require.
    pub fn set(&mut self, call: Call, stream: StreamId, set: crate::copy::Set) -> Result {
        if call == Call::Set {
            self.forbid_unsafe()?;
        }
        if set.extent.is_empty() {
            return Ok(());
        }
        let to = self.memory.place(set.to.start);
        let wait = self.decide(call, to, to);
        let op = self.submit(stream, Task::Set(set))?;
        self.wait_as(wait, op)
    }

    /// Waits for an operation as a rule requires.
    pub(crate) fn wait_as(&mut self, wait: Wait, op: Option<OpId>) -> Result {
        match (wait, op) {
            (Wait::Operation, Some(op)) => self.wait(&[op]),
            _ => Ok(()),
        }
    }

    /// What the host waits for, where the seed decides if the rules leave it open.
    fn decide(&mut self, call: Call, from: Place, to: Place) -> Wait {
        let wait = host_sync::wait(call, from, to);
        let decided = match wait {
            Wait::PerhapsStaging => Wait::Staging,
            Wait::PerhapsOperation => Wait::Operation,
            certain => return certain,
        };
        if self.choices.at_once() { decided } else { Wait::Nothing }
    }

    /// Submits a copy between devices, serialised with all work of those and of the current one.
    pub fn copy_serial(&mut self, copy: Copy, devices: &[usize]) -> Result {
        self.forbid_unsafe()?;
        let stream = self.stream(crate::streams::Which::legacy(0))?;
        let device = self.streams.get(stream).device;
        let devices: Vec<usize> = devices.iter().copied().chain([device]).collect();
        let op = self.order.enqueue_serial(stream, &devices);
        self.expect(op, Task::Copy(copy), device);
        self.after_submission();
        Ok(())
    }

    /// Records an event in a stream.
    pub fn record(&mut self, event: usize, stream: StreamId) -> Result {
        let device = self.streams.get(stream).device;
        self.usable(device)?;
        if self.events.get(event)?.device != device {
            return Err(Error::INVALID_RESOURCE_HANDLE);
        }
        if let Some(joined) = self.joined(stream)? {
            return self.events.record(event, Record::Captured(joined));
        }
        let task = match &self.events.get(event)?.slot {
            Some(slot) => Task::Signal(slot.record()),
            None => Task::Mark,
        };
        let op = self.enqueue(stream, task, &[]);
        self.events.record(event, Record::Op(op))?;
        self.after_submission();
        Ok(())
    }

    /// Makes a stream wait for an event.
    pub fn wait_event(&mut self, stream: StreamId, event: usize) -> Result {
        self.usable(self.streams.get(stream).device)?;
        let (record, slot) = {
            let event = self.events.get(event)?;
            (event.record.clone(), event.slot.clone())
        };
        if self.capture_wait(stream, &record)? {
            return Ok(());
        }
        match (slot, record) {
            (Some(slot), _) => drop(self.enqueue(stream, Task::Await(slot.last()), &[])),
            (None, Record::Op(op)) => drop(self.enqueue(stream, Task::Mark, &[op])),
            (None, Record::Never | Record::Captured(_)) => {}
        }
        self.after_submission();
        Ok(())
    }

    /// The operation that an event stands for, if it is pending, and another process's record of
    /// it, if that has not completed.
    ///
    /// For an event that was recorded in a capture, this invalidates the capture.
    pub fn outstanding(&mut self, event: usize) -> Result<(Option<OpId>, Option<Mark>)> {
        let event = self.events.get(event)?;
        self.usable(event.device)?;
        let op = match &event.record {
            Record::Captured(joined) => {
                let capture = joined.capture;
                self.break_capture(capture);
                return Err(Error::CAPTURED_EVENT);
            }
            Record::Op(op) => Some(*op).filter(|&op| self.order.is_pending(op)),
            Record::Never => None,
        };
        let mark = event.slot.as_ref().map(Slot::last).filter(|mark| !mark.is_reached());
        Ok((op, mark))
    }

    /// Waits for an event on the host.
    pub fn wait_for_event(&mut self, event: usize) -> Result {
        let (op, mark) = self.outstanding(event)?;
        let device = self.events.get(event)?.device;
        let mut goals: Vec<OpId> = op.into_iter().collect();
        if let (None, Some(mark)) = (op, mark) {
            let op = self.order.enqueue_beside(&[]);
            self.expect(op, Task::Await(mark), device);
            goals.push(op);
        }
        self.wait(&goals)
    }

    /// Whether an event has completed; an error if not.
    pub fn query_event(&mut self, event: usize) -> Result {
        let (op, _) = self.outstanding(event)?;
        self.query(op.as_slice())?;
        match self.outstanding(event)? {
            (None, None) => Ok(()),
            _ => Err(Error::NOT_READY),
        }
    }

    /// Launches an instantiated graph.
    pub fn launch_graph(&mut self, exec: usize, stream: StreamId) -> Result {
        let tag = thread::take_tag();
        let device = self.streams.get(stream).device;
        self.usable(device)?;
        if self.joined(stream)?.is_some() {
            // A captured graph launch becomes its nodes.
            return self.capture_exec(exec, stream);
        }
        let (nodes, last, leaves) = {
            let exec = self.graphs.exec_mut(exec)?;
            (exec.nodes.clone(), exec.last, exec.leaves())
        };
        let assignment = self.assignment(&nodes);
        let start = self.enqueue(stream, assignment, last.as_slice());
        let nodes: Vec<ExecNode> = nodes.into_iter().map(|node| node.tagged(tag)).collect();
        let ops = self.launch_nodes(device, &nodes, &[start])?;
        let ends: Vec<OpId> = leaves.into_iter().map(|leaf| ops[leaf]).collect();
        let end = self.enqueue(stream, Task::Mark, &ends);
        self.graphs.exec_mut(exec)?.last = Some(end);
        self.after_submission();
        Ok(())
    }

    fn capture_exec(&mut self, exec: usize, stream: StreamId) -> Result {
        let nodes = self.graphs.exec_mut(exec)?.nodes.clone();
        if nodes.iter().any(|node| matches!(node.body, Body::Conditional(_))) {
            return Err(Error::NOT_SUPPORTED);
        }
        let leaves = self.graphs.exec_mut(exec)?.leaves();
        let Some(joined) = self.joined(stream)? else { return Ok(()) };
        let graph = self.graphs.captures[&joined.capture].graph;
        let mut handles = Vec::new();
        for node in nodes {
            let handle = self.new_handle();
            let mut after: Vec<usize> = node.after.iter().map(|&at| handles[at]).collect();
            if after.is_empty() {
                after.clone_from(&joined.after);
            }
            self.graphs.add(graph, handle, node.body, &after)?;
            handles.push(handle);
        }
        let after: Vec<usize> = leaves.into_iter().map(|leaf| handles[leaf]).collect();
        if !after.is_empty() {
            let joined = crate::streams::Joined { after, ..joined };
            self.streams.get_mut(stream)?.capture = Some(joined);
        }
        Ok(())
    }

    /// Follows every submission: the seed may run something early, and the watcher is started for a
    /// program that does not call again.
    fn after_submission(&mut self) {
        self.run_early();
        self.wake_services();
    }
}

impl State {
    /// Enqueues an operation into a stream, also after `also`.
    pub(crate) fn enqueue(&mut self, stream: StreamId, task: Task, also: &[OpId]) -> OpId {
        let device = self.streams.get(stream).device;
        let op = self.order.enqueue(stream, also);
        self.expect(op, task, device);
        op
    }

    /// Launches the nodes of a graph, the first ones after `start`.
    pub(crate) fn launch_nodes(
        &mut self,
        device: usize,
        nodes: &[ExecNode],
        start: &[OpId],
    ) -> Result<Vec<OpId>> {
        let mut ops = Vec::with_capacity(nodes.len());
        for node in nodes {
            let op = self.launch_node(device, node, start, &ops)?;
            ops.push(op);
        }
        Ok(ops)
    }

    fn launch_node(
        &mut self,
        device: usize,
        node: &ExecNode,
        start: &[OpId],
        ops: &[OpId],
    ) -> Result<OpId> {
        let mut before: Vec<OpId> = node.after.iter().map(|&at| ops[at]).collect();
        if before.is_empty() {
            before.extend(start);
        }
        let mut task = Task::Mark;
        match &node.body {
            _ if !node.enabled => {}
            Body::Task(body) => task = body.clone(),
            Body::Conditional(conditional) => task = conditional.task(&node.bodies),
            Body::Wait(event) => {
                if let Record::Op(op) = self.events.get(*event)?.record {
                    before.push(op);
                }
            }
            Body::Empty | Body::Record(_) | Body::Child(_) | Body::Alloc(_) | Body::Free(_) => {}
        }
        let device = match &task {
            Task::Kernel(kernel) => kernel.launch.device,
            _ => device,
        };
        let op = self.order.enqueue_beside(&before);
        self.expect(op, task, device);
        if let (Body::Record(event), true) = (&node.body, node.enabled) {
            self.events.record(*event, Record::Op(op))?;
        }
        Ok(op)
    }

    /// Adds the action of an operation.
    pub(crate) fn expect(&mut self, op: OpId, task: Task, device: usize) {
        self.now += CALL_NS;
        let start = self.now.max(self.devices[device].finished);
        self.functions += usize::from(matches!(task, Task::Host(_)));
        self.pending.insert(op, Pending { task, device, start });
    }

    /// Frees the memory of a graph when its last launch is complete.
    pub(crate) fn free_after(&mut self, last: Option<OpId>, memory: Vec<usize>) {
        match last.filter(|&op| self.order.is_pending(op)) {
            Some(op) => self.leaving.entry(op).or_default().extend(memory),
            None => memory.into_iter().for_each(|start| self.release(start)),
        }
    }

    /// The slot for an event that other processes may open.
    pub(crate) fn new_slot(&mut self, number: usize) -> Result<Slot> {
        if self.board.is_none() {
            let board = SharedEvents::create().map_err(|_| Error::OPERATING_SYSTEM)?;
            self.board = Some(Arc::new(board));
        }
        let board = self.board.as_ref().ok_or(Error::OPERATING_SYSTEM)?;
        Ok(Slot::new(board, number))
    }
}

#[cfg(test)]
mod tests;
