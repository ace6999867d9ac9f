//! Everything commsan knows about CUDA in one process.

mod check;
mod enqueued;
mod failure;
mod graphs;
mod may_conflict;
mod memory;
mod nccl;
mod nvshmem;
mod observed;
mod polling;
mod shared;
mod stack;
mod waiting;
mod within_kernel;

pub use failure::Failure;
pub use graphs::NodeKind;
pub use may_conflict::Suspect;
pub use within_kernel::Mistake;

use crate::clock::{Clock, Epoch};
use crate::graphs::{Act, Graphs};
use crate::ipc::{Ipc, Recorded, SharedEvent};
use crate::memory::{Block, Memory};
use crate::nccl::Nccl;
use crate::nvshmem::Nvshmem;
use crate::order::{Kind, Order};
use crate::waiting::Waiting;
use crate::work::{Copy, KernelAccess, Line, Rows, Set, StreamName, Wait, Work};
use commsan_callsite::{Doing, Findings, Place, Site, Stacks, Subscribers};
use commsan_findings::Role;
use commsan_findings::record::Record;
use commsan_shadow::{Actor, Live, OpId, Pages};
use enqueued::Enqueued;
use failure::Launches;
use may_conflict::PossibleConflicts;
use rustc_hash::FxHashMap;
use shared::Shared;
use smallvec::SmallVec;
use stack::Local;
use std::ops::Range;
use std::sync::Arc;

/// Names work that has been put into a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// Streams, events, graphs, memory and work of one process.
///
/// **Soundness.** Both sides of a finding touch a common byte, one of them writes, and what the
/// CUDA Runtime API says of streams, events and the host's waits orders neither before the other
/// (`order.rs`, `rules.rs`). Which accesses are certain is for who makes [`Work`] to say; others
/// are no finding before an execution has shown them. Missed is what was put into streams before
/// more than [`MAX_IN_FLIGHT`] other pieces of work that nobody has waited for, and what host
/// threads did to memory before work on it began without being ordered before it.
pub struct Gpu {
    pages: Pages,
    order: Order,
    ipc: Ipc,
    memory: Memory,
    shared: Shared,
    /// What threads are giving back: the call may fail.
    released: FxHashMap<u32, Block>,
    graphs: Graphs,
    nccl: Nccl,
    nvshmem: Nvshmem,
    /// Nonblocking operations of NVSHMEM that nobody has waited for.
    begun: Vec<nvshmem::Pending>,
    /// What needs other ranks: work in flight, and the host's calls.
    meetings: Waiting,
    /// Work that some thread of the host may not know to be complete, with what it certainly
    /// touches.
    live: Live<Flight>,
    possible: PossibleConflicts,
    launches: Launches,
    /// Work in flight by place and accesses: the same again takes its place.
    same: FxHashMap<(u32, usize), OpId>,
    locals: Vec<Local>,
    /// Pages marked for work on memory that is not CUDA's, or whose blocks are marked.
    marked: usize,
    /// What copies and sets touch; made once for each.
    extents: FxHashMap<Extent, Arc<[KernelAccess]>>,
    /// Who acts, if there are several and it is known.
    actor: Option<Actor>,
    /// What host functions in streams come after, and the threads that run one.
    host_functions: FxHashMap<Ticket, (Epoch, Clock)>,
    hosts: SmallVec<[(u32, Ticket); 2]>,
    /// Work in flight that may wait for the host.
    waiting: Vec<Epoch>,
    enqueued: Enqueued,
    /// Whether some work may wait for other work.
    listens: bool,
    labels: FxHashMap<u32, Arc<str>>,
    streams: u32,
    tickets: u64,
    /// Work that is over and has not been asked for, the first [`MAX_IN_FLIGHT`]; none is kept
    /// where nobody asks.
    ended: Option<Vec<Ended>>,
    stacks: Stacks,
}

/// Work that the host knows to be complete.
#[derive(Debug)]
pub struct Ended {
    /// The address of the call.
    pub pc: usize,
    /// What it has touched; only what is certain counts.
    pub accesses: Arc<[KernelAccess]>,
}

/// Work in flight.
struct Flight {
    epoch: Epoch,
    /// What it comes after.
    clock: Clock,
    ticket: Ticket,
    call: &'static str,
    kernel: Option<Arc<str>>,
    stream: Arc<str>,
    device: u32,
    site: Site,
    accesses: Arc<[KernelAccess]>,
    /// What the page filter has for it.
    marks: SmallVec<[Range<usize>; 1]>,
    /// Findings that want to know when the host has waited for it.
    findings: Subscribers,
}

/// What a thread of the host has waited for.
struct Knowledge {
    clock: Clock,
    /// The function of a stream that it runs: there is work that waits for that.
    within: Option<Epoch>,
}

impl Knowledge {
    /// Whether neither of this thread's present and some work comes after the other.
    fn is_unordered(&self, flight: &Flight) -> bool {
        let waits = self.within.is_some_and(|function| function.happens_before(&flight.clock));
        !waits && !flight.epoch.happens_before(&self.clock)
    }
}

/// A piece of work at its begin.
struct Started<'c> {
    ticket: Ticket,
    epoch: Epoch,
    /// What it comes after.
    clock: &'c Clock,
    /// Where it was put into its stream or graph.
    site: Site,
}

/// Work in flight that is kept at most.
pub const MAX_IN_FLIGHT: usize = 1 << 16;

/// What copies and sets that touch the same bytes have in common: destination, source, width,
/// height and depth.
type Extent = (Rows, Option<Rows>, [usize; 3]);

/// Extents that are remembered.
const MAX_EXTENTS: usize = 1 << 12;

impl Gpu {
    /// Nothing in any stream.
    pub fn new(pages: Pages) -> Gpu {
        Gpu {
            pages,
            order: Order::default(),
            ipc: Ipc::default(),
            memory: Memory::default(),
            shared: Shared::default(),
            released: FxHashMap::default(),
            graphs: Graphs::default(),
            nccl: Nccl::default(),
            nvshmem: Nvshmem::default(),
            begun: Vec::new(),
            meetings: Waiting::default(),
            live: Live::unmarked(),
            possible: PossibleConflicts::default(),
            launches: Launches::default(),
            same: FxHashMap::default(),
            locals: Vec::new(),
            marked: 0,
            extents: FxHashMap::default(),
            actor: None,
            host_functions: FxHashMap::default(),
            hosts: SmallVec::new(),
            waiting: Vec::new(),
            enqueued: Enqueued::default(),
            listens: false,
            labels: FxHashMap::default(),
            streams: 0,
            tickets: 0,
            ended: None,
            stacks: Stacks::new(),
        }
    }

    /// Marks in the page filter; the hooks skip checks while there are none.
    pub fn load(&self) -> usize {
        self.marked
    }

    /// Whether there is work that the host has not waited for.
    pub fn has_work(&self) -> bool {
        self.live.iter().next().is_some()
    }

    /// Whether nothing is known that an access could meet.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.live.ranges() == 0 && self.memory.is_empty()
    }

    /// The thread that acts from now on; `alone` where there is one only.
    pub fn act_as(&mut self, actor: Option<&Actor>, alone: bool) {
        self.actor = actor.cloned();
        if alone {
            self.order.alone();
        }
    }

    /// A stream has been created.
    pub fn stream_created(&mut self, handle: usize, device: u32, blocking: bool) {
        let kind = if blocking { Kind::Blocking } else { Kind::NonBlocking };
        self.order.create(StreamName::Created { handle }, device, kind);
        let slot = self.order.slot(StreamName::Created { handle }, device);
        self.streams += 1;
        let nonblocking = if blocking { "" } else { "non-blocking " };
        let label = format!("{nonblocking}stream {} of device {device}", self.streams);
        self.labels.insert(slot, label.into());
    }

    /// A stream is about to be destroyed.
    pub fn stream_destroyed(&mut self, handle: usize) {
        self.order.destroy(StreamName::Created { handle });
    }

    /// The place of a stream.
    fn slot(&mut self, stream: StreamName) -> u32 {
        let slot = self.order.slot(stream, 0);
        self.labels.entry(slot).or_insert_with(|| match stream {
            StreamName::Legacy { device } => {
                format!("the default stream of device {device}").into()
            }
            StreamName::PerThread { device, thread } => {
                format!("the default stream of thread {thread} on device {device}").into()
            }
            StreamName::Created { handle } => format!("stream {handle:#x}").into(),
        });
        slot
    }

    /// The host has waited for a stream, or knows from the library that it has nothing left to do.
    pub fn stream_synchronized(
        &mut self,
        stream: StreamName,
        call: &'static str,
        place: &dyn Place,
        out: &mut dyn Findings,
    ) {
        let slot = self.slot(stream);
        let clock = self.order.of_stream(slot);
        self.host_waited(&clock, call, place, out);
    }

    /// The host knows from the library that a stream's device has failed: it does nothing any more.
    pub fn stream_failed(
        &mut self,
        stream: StreamName,
        call: &'static str,
        place: &dyn Place,
        out: &mut dyn Findings,
    ) {
        let slot = self.slot(stream);
        self.device_synchronized(self.order.device(slot), call, place, out);
    }

    /// The host has waited for a device.
    pub fn device_synchronized(
        &mut self,
        device: u32,
        call: &'static str,
        place: &dyn Place,
        out: &mut dyn Findings,
    ) {
        let clock = self.order.of_device(device);
        self.host_waited(&clock, call, place, out);
    }

    /// An event is recorded in a stream; if `external`, by a graph that is captured there, when
    /// that is launched.
    pub fn event_recorded(
        &mut self,
        event: usize,
        stream: StreamName,
        external: bool,
        place: &dyn Place,
    ) {
        if external && self.captured(stream, NodeKind::Record(event), place) {
            return;
        }
        let slot = self.slot(stream);
        if !self.graphs.record(event, slot) {
            self.order.record(event, slot, self.actor.as_ref());
            self.publish(event);
        }
    }

    /// Other processes may open an event; where they find what it stands for.
    pub fn event_exported(&mut self, event: usize) -> Option<SharedEvent> {
        let shared = self.ipc.export(event);
        self.publish(event);
        shared
    }

    /// An event of another process was opened, which says where, or nobody does.
    pub fn event_opened(&mut self, event: usize, shared: Option<SharedEvent>) {
        self.ipc.open(event, shared);
    }

    /// Other processes see what an event stands for, if it is theirs, too.
    fn publish(&mut self, event: usize) {
        if self.ipc.is_used()
            && let Some(clock) = self.order.event(event)
        {
            self.ipc.record(event, clock);
        }
    }

    /// What an event stands for.
    fn event(&mut self, event: usize) -> Option<Clock> {
        if self.ipc.is_used()
            && let Some(recorded) = self.ipc.recorded(event, &mut self.order)
        {
            return match recorded {
                Recorded::Never => None,
                Recorded::At(clock) => Some(clock),
                Recorded::Unknown => Some(self.order.of_all()),
            };
        }
        self.order.event(event).cloned()
    }

    /// The host has waited for an event, or knows from the library that it has come.
    pub fn event_synchronized(
        &mut self,
        event: usize,
        call: &'static str,
        place: &dyn Place,
        out: &mut dyn Findings,
    ) {
        if let Some(clock) = self.event(event) {
            self.host_waited(&clock, call, place, out);
        }
    }

    /// A stream waits for an event; if `external`, a graph that is captured there does, when that
    /// is launched.
    pub fn event_awaited(
        &mut self,
        stream: StreamName,
        event: usize,
        external: bool,
        place: &dyn Place,
    ) {
        if external && self.captured(stream, NodeKind::Wait(event), place) {
            return;
        }
        let slot = self.slot(stream);
        if !self.graphs.wait(slot, event)
            && let Some(clock) = self.event(event)
        {
            self.order.add(slot, &clock);
        }
    }

    /// An event is destroyed. What waits for it goes on waiting.
    pub fn event_destroyed(&mut self, event: usize) {
        self.order.forget_event(event);
        self.ipc.forget(event);
        self.graphs.forget_event(event);
    }

    /// Keeps work that ends from now on until it is asked for.
    pub fn keep_ended(&mut self) {
        self.ended.get_or_insert_default();
    }

    /// The work that has ended since this was asked last.
    pub fn take_ended(&mut self) -> Vec<Ended> {
        self.ended.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Whoever acts has waited for this.
    fn host_waited(
        &mut self,
        clock: &Clock,
        call: &'static str,
        place: &dyn Place,
        out: &mut dyn Findings,
    ) {
        self.ipc.release(clock);
        self.order.wait(clock, self.actor.as_ref());
        self.complete_shared(clock);
        self.sweep(Some(call), place, out);
    }

    /// Hosts of other processes may have waited for work of this one.
    fn acquire_from_others(&mut self) {
        if let Some(clock) = self.ipc.acquire() {
            self.order.wait(&clock, None);
            self.complete_shared(&clock);
        }
    }

    /// What whoever acts here has waited for.
    fn knowledge(&mut self, thread: u32) -> Knowledge {
        self.acquire_from_others();
        let mut clock = self.order.host(self.actor.as_ref());
        let running = self.hosts.iter().rev().find(|(running, _)| *running == thread);
        let function = running.and_then(|(_, ticket)| self.host_functions.get(ticket));
        if let Some((_, past)) = function {
            clock.join(past);
        }
        Knowledge { clock, within: function.map(|(epoch, _)| *epoch) }
    }

    /// Forgets work that all threads of the host know to be complete.
    fn sweep(&mut self, call: Option<&'static str>, place: &dyn Place, out: &mut dyn Findings) {
        self.sweep_possible(call, place, out);
        self.waiting.retain(|epoch| !self.order.is_known_to_all(*epoch));
        self.enqueued.latest.retain(|_, epoch| !self.order.is_known_to_all(*epoch));
        if self.live.ranges() == 0 {
            return;
        }
        let known = |flight: &Flight| self.order.is_known_to_all(flight.epoch);
        let over: SmallVec<[OpId; 16]> =
            self.live.iter().filter(|(_, flight)| known(flight)).map(|(id, _)| id).collect();
        let heard = self.awaited_by(&over);
        for id in over {
            self.finish(id, call, place, out);
        }
        if heard != Clock::default() {
            self.ipc.release(&heard);
            self.order.wait(&heard, None);
            self.sweep(call, place, out);
        }
    }

    /// Work is over for everybody.
    fn finish(
        &mut self,
        id: OpId,
        call: Option<&'static str>,
        place: &dyn Place,
        out: &mut dyn Findings,
    ) {
        let Some(flight) = self.live.end(id) else { return };
        self.forget_locals(id);
        self.report_waited(&flight, call, place, out);
        if let Some(ended) = self.ended.as_mut().filter(|ended| ended.len() < MAX_IN_FLIGHT) {
            ended.push(Ended { pc: flight.site.pc, accesses: Arc::clone(&flight.accesses) });
        }
        self.unmark(flight.marks);
        let key = (flight.epoch.agent, Arc::as_ptr(&flight.accesses).addr());
        if self.same.get(&key) == Some(&id) {
            self.same.remove(&key);
        }
    }

    /// Findings about work learn by which call the host has waited for it.
    fn report_waited(
        &mut self,
        flight: &Flight,
        call: Option<&'static str>,
        place: &dyn Place,
        out: &mut dyn Findings,
    ) {
        let Some(call) = call else { return };
        for finding in flight.findings.numbers() {
            let site = place.site(Some(call), &mut self.stacks);
            out.emit(
                Record::Completed { id: finding, site: (Role::Completion, site) },
                &self.stacks,
            );
        }
    }

    /// The library has refused a copy, perhaps since its memory is gone.
    pub fn copy_refused(&mut self, copy: &Copy, place: &dyn Place, out: &mut dyn Findings) {
        let work = self.work_of_copy(copy);
        self.refused(&work, place, out);
    }

    /// The library has refused a setting of bytes, perhaps since its memory is gone.
    pub fn set_refused(&mut self, set: &Set, place: &dyn Place, out: &mut dyn Findings) {
        let work = self.work_of_set(set);
        self.refused(&work, place, out);
    }

    /// A copy, as work.
    pub fn work_of_copy(&mut self, copy: &Copy) -> Work {
        let size = [copy.width, copy.height, copy.depth];
        let kind = |start| self.memory.around(start).map(|block| block.kind);
        let wait =
            crate::rules::copy(kind(copy.from.start), kind(copy.to.start), copy.asynchronous);
        let accesses = self.extent((copy.to, Some(copy.from), size));
        Work { call: copy.call, stream: copy.stream, kernel: None, accesses, wait }
    }

    /// A setting of bytes, as work.
    pub fn work_of_set(&mut self, set: &Set) -> Work {
        let size = [set.width, set.height, set.depth];
        let kind = self.memory.around(set.to.start).map(|block| block.kind);
        let wait = crate::rules::set(kind, set.asynchronous);
        let accesses = self.extent((set.to, None, size));
        Work { call: set.call, stream: set.stream, kernel: None, accesses, wait }
    }

    fn extent(&mut self, extent: Extent) -> Arc<[KernelAccess]> {
        if let Some(accesses) = self.extents.get(&extent) {
            return Arc::clone(accesses);
        }
        if self.extents.len() == MAX_EXTENTS {
            self.extents.clear();
        }
        let (to, from, size) = extent;
        let accesses: Arc<[KernelAccess]> = KernelAccess::of_rows(to, from, size).into();
        self.extents.insert(extent, Arc::clone(&accesses));
        accesses
    }

    /// Work has been put into a stream.
    pub fn enqueue(&mut self, work: &Work, place: &dyn Place, out: &mut dyn Findings) -> Ticket {
        let slot = self.slot(work.stream);
        let ticket = self.ticket();
        let site = place.site(Some(work.call), &mut self.stacks);
        if self.graphs.captures(slot) {
            self.graphs.add_captured(slot, Act::Work(Arc::new(work.clone()), site, ticket));
            return ticket;
        }
        self.acquire_from_others();
        let (epoch, clock) = self.order.enqueue(slot, self.actor.as_ref());
        let started = Started { ticket, epoch, clock: &clock, site };
        self.begin(work, &started, place, out);
        if work.wait == Wait::Work {
            let mut clock = clock;
            clock.acquire(epoch);
            self.host_waited(&clock, work.call, place, out);
        }
        ticket
    }

    /// Work of a stream that is serialised with all of some devices, past and future.
    pub fn serialise(&mut self, stream: StreamName, devices: &[u32]) {
        let slot = self.slot(stream);
        let mut clock = self.order.of_stream(slot);
        devices.iter().for_each(|device| clock.join(&self.order.of_device(*device)));
        self.order.serialise(devices, &clock);
    }

    /// A ticket for what is put into a stream or a graph next, or is handed over later.
    pub fn ticket(&mut self) -> Ticket {
        self.tickets += 1;
        Ticket(self.tickets)
    }

    /// A function of the host has been put into a stream; it comes after what is there.
    pub fn host_function(&mut self, stream: StreamName) -> Ticket {
        let slot = self.slot(stream);
        let ticket = self.ticket();
        if self.graphs.captures(slot) {
            self.graphs.add_captured(slot, Act::Host(ticket));
        } else {
            let function = self.order.enqueue(slot, self.actor.as_ref());
            self.host_functions.insert(ticket, function);
        }
        ticket
    }

    /// It begins, on this thread.
    pub fn host_function_begins(&mut self, ticket: Ticket, thread: u32) {
        self.hosts.push((thread, ticket));
    }

    /// It has ended, and is not called again unless it is a graph's. It may have released all that
    /// it came after to anybody, by whatever means: a flag, a condition variable, a message.
    pub fn host_function_ends(&mut self, ticket: Ticket, thread: u32) {
        if let Some(at) = self.hosts.iter().rposition(|host| *host == (thread, ticket)) {
            self.hosts.remove(at);
        }
        if let Some((_, past)) = self.host_functions.remove(&ticket) {
            self.ipc.release(&past);
            self.order.wait(&past, None);
            self.complete_shared(&past);
        }
    }

    /// Work that was enqueued is not in its stream: the call that should have put it there has
    /// failed.
    pub fn withdrawn(&mut self, ticket: Ticket, place: &dyn Place, out: &mut dyn Findings) {
        self.host_functions.remove(&ticket);
        let withdrawn: SmallVec<[OpId; 2]> = self
            .live
            .iter()
            .filter(|(_, flight)| flight.ticket == ticket)
            .map(|(id, _)| id)
            .collect();
        withdrawn.into_iter().for_each(|id| self.finish(id, None, place, out));
    }

    /// Whether work that is put into a stream next may wait for what this process is taken to do
    /// later: for a function of the host that still has to run, or for what a kernel looks for.
    pub fn may_wait_for_host(&mut self, work: &Work) -> bool {
        let slot = self.slot(work.stream);
        let is_told = self.awaits_host(work) || self.is_held_back(&self.order.of_stream(slot));
        is_told || !self.host_functions.is_empty()
    }

    /// What findings say of work that is about to be put into a stream.
    pub fn doing(&mut self, work: &Work, access: &KernelAccess) -> Doing {
        let slot = self.slot(work.stream);
        self.doing_in(slot, work, access)
    }

    /// What findings say of work in a stream slot.
    fn doing_in(&self, slot: u32, work: &Work, access: &KernelAccess) -> Doing {
        let (kernel, stream) = (work.kernel.clone(), Arc::clone(&self.labels[&slot]));
        let (file, line) = access.line.as_ref().map(Line::parts).unzip();
        Doing { kernel, stream, file, line }
    }
}

#[cfg(test)]
mod tests;
