//! The happens-before order of operations: which operations of all streams must complete before
//! which.
//!
//! Every operation waits for the ones before it in its stream. To these edges come the rules of the
//! CUDA C++ Programming Guide ("Streams") and of the runtime's "Stream synchronization behavior":
//!
//! - an operation in a device's legacy default stream waits for all blocking streams of the device,
//!   and work submitted to these later waits for it;
//! - an event is a snapshot: the operation that recorded it, which joins the stream's past;
//! - a copy between devices by `cudaMemcpyPeer` waits for all work of the devices that take part,
//!   and work submitted to their streams later waits for it.
//!
//! Recording and waiting are operations themselves, so that a stream's last operation stands for
//! all its past. This module does not know what operations do.

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::collections::BTreeSet;

/// An operation, numbered in the order of submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OpId(u64);

/// A stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(u32);

/// How a stream is ordered with its device's legacy default stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It is the legacy default stream.
    Legacy,
    /// Ordered with it: streams created without flags, and default streams of threads.
    Blocking,
    /// Not ordered with it.
    NonBlocking,
}

#[derive(Debug)]
struct Stream {
    device: usize,
    kind: Kind,
    /// The last operation, which may have completed.
    last: Option<OpId>,
}

#[derive(Debug)]
struct Op {
    /// Its dependencies that have not completed.
    before: SmallVec<[OpId; 4]>,
    after: SmallVec<[OpId; 4]>,
    started: bool,
}

/// The pending operations and their order.
#[derive(Debug, Default)]
pub struct Order {
    streams: FxHashMap<StreamId, Stream>,
    ops: FxHashMap<OpId, Op>,
    /// Operations without dependencies that have not started.
    ready: BTreeSet<OpId>,
    /// The legacy default stream of each device that has one.
    legacy: FxHashMap<usize, StreamId>,
    /// Destroyed streams that have pending work.
    leaving: Vec<StreamId>,
    /// The last serialising operation of each device, which new streams wait for.
    serial: FxHashMap<usize, OpId>,
    next_stream: u32,
    next_op: u64,
}

impl Order {
    /// Adds a stream of a device. A device has at most one legacy default stream.
    pub fn add_stream(&mut self, device: usize, kind: Kind) -> StreamId {
        let id = StreamId(self.next_stream);
        self.next_stream += 1;
        let last = self.serial.get(&device).copied();
        self.streams.insert(id, Stream { device, kind, last });
        if kind == Kind::Legacy {
            let previous = self.legacy.insert(device, id);
            debug_assert!(previous.is_none(), "one legacy stream a device");
        }
        id
    }

    /// Destroys a stream; pending work still runs, and later work still waits for it.
    pub fn retire_stream(&mut self, stream: StreamId) {
        self.leaving.push(stream);
        self.forget_retired();
    }

    /// Enqueues an operation into a stream, after what the rules require and after `also`.
    pub fn enqueue(&mut self, stream: StreamId, also: &[OpId]) -> OpId {
        let mut before: SmallVec<[OpId; 4]> = SmallVec::from_slice(also);
        before.extend(self.past(stream));
        let id = self.insert(before);
        self.stream_mut(stream).last = Some(id);
        id
    }

    /// Adds an operation outside of streams, ordered by `before` alone: a node of a graph.
    pub fn enqueue_beside(&mut self, before: &[OpId]) -> OpId {
        self.insert(SmallVec::from_slice(before))
    }

    /// Enqueues an operation that is serialised with all work of `devices`, past and future.
    pub fn enqueue_serial(&mut self, stream: StreamId, devices: &[usize]) -> OpId {
        let before = devices.iter().flat_map(|&device| self.last_of(device)).collect::<Vec<_>>();
        let id = self.enqueue(stream, &before);
        for entry in self.streams.values_mut().filter(|s| devices.contains(&s.device)) {
            entry.last = Some(id);
        }
        self.serial.extend(devices.iter().map(|&device| (device, id)));
        id
    }

    /// The dependencies of an operation enqueued into the stream now.
    pub fn past(&self, stream: StreamId) -> SmallVec<[OpId; 4]> {
        let entry = &self.streams[&stream];
        let mut past: SmallVec<[OpId; 4]> = entry.last.into_iter().collect();
        match entry.kind {
            Kind::Legacy => {
                let others = self.of_device(entry.device);
                past.extend(others.filter(|o| o.kind == Kind::Blocking).filter_map(|o| o.last));
            }
            Kind::Blocking => {
                let legacy = self.legacy.get(&entry.device);
                past.extend(legacy.and_then(|id| self.streams[id].last));
            }
            Kind::NonBlocking => {}
        }
        past.retain(|op| self.is_pending(*op));
        past
    }

    /// The last operations of all streams of a device, which stand for all its work.
    pub fn last_of(&self, device: usize) -> Vec<OpId> {
        let last = self.of_device(device).filter_map(|stream| stream.last);
        last.filter(|&op| self.is_pending(op)).collect()
    }

    /// The pending operations among `goals` and everything they wait for.
    pub fn needed(&self, goals: &[OpId]) -> FxHashSet<OpId> {
        let mut needed = FxHashSet::default();
        let mut open: Vec<OpId> = goals.to_vec();
        while let Some(id) = open.pop() {
            if let Some(op) = self.ops.get(&id)
                && needed.insert(id)
            {
                open.extend(&op.before);
            }
        }
        needed
    }

    /// Whether an operation is pending.
    pub fn is_pending(&self, op: OpId) -> bool {
        self.ops.contains_key(&op)
    }

    /// Whether no operation is pending.
    pub fn is_idle(&self) -> bool {
        self.ops.is_empty()
    }

    /// Operations that may start, oldest first.
    pub fn ready(&self) -> impl Iterator<Item = OpId> + '_ {
        self.ready.iter().copied()
    }

    /// Starts a ready operation.
    pub fn start(&mut self, op: OpId) {
        let was_ready = self.ready.remove(&op);
        debug_assert!(was_ready, "only what is ready starts");
        if let Some(entry) = self.ops.get_mut(&op) {
            entry.started = true;
        }
    }

    /// Completes a started operation. Returns the operations that waited for it, ready or not.
    pub fn complete(&mut self, op: OpId) -> SmallVec<[OpId; 4]> {
        let Some(done) = self.ops.remove(&op) else { return SmallVec::new() };
        debug_assert!(done.started, "only what has started completes");
        for &next in &done.after {
            // Whatever waits for a pending operation is pending.
            let Some(entry) = self.ops.get_mut(&next) else { continue };
            entry.before.retain(|before| *before != op);
            if entry.before.is_empty() {
                self.ready.insert(next);
            }
        }
        self.forget_retired();
        done.after
    }

    /// Removes destroyed streams without pending work.
    fn forget_retired(&mut self) {
        let Order { leaving, streams, ops, .. } = self;
        leaving.retain(|stream| {
            let last = streams.get(stream).and_then(|entry| entry.last);
            let works = last.is_some_and(|op| ops.contains_key(&op));
            if !works {
                streams.remove(stream);
            }
            works
        });
    }

    fn of_device(&self, device: usize) -> impl Iterator<Item = &Stream> {
        self.streams.values().filter(move |stream| stream.device == device)
    }

    fn stream_mut(&mut self, stream: StreamId) -> &mut Stream {
        self.streams.get_mut(&stream).expect("streams in use are not retired")
    }

    /// Makes a started operation wait for others; it starts again when they are complete.
    pub fn start_again(&mut self, op: OpId, before: &[OpId]) {
        if let Some(entry) = self.ops.get_mut(&op) {
            entry.started = false;
        }
        self.wait_for(op, SmallVec::from_slice(before));
    }

    fn insert(&mut self, before: SmallVec<[OpId; 4]>) -> OpId {
        let id = OpId(self.next_op);
        self.next_op += 1;
        let (nothing, after) = (SmallVec::new(), SmallVec::new());
        self.ops.insert(id, Op { before: nothing, after, started: false });
        self.wait_for(id, before);
        id
    }

    /// Makes an operation without dependencies wait for these, as far as they are pending.
    fn wait_for(&mut self, op: OpId, mut before: SmallVec<[OpId; 4]>) {
        before.sort_unstable();
        before.dedup();
        before.retain(|before| self.ops.contains_key(before));
        for earlier in &before {
            if let Some(earlier) = self.ops.get_mut(earlier) {
                earlier.after.push(op);
            }
        }
        if before.is_empty() {
            self.ready.insert(op);
        }
        if let Some(entry) = self.ops.get_mut(&op) {
            entry.before = before;
        }
    }
}
