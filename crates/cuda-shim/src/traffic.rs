//! Counting what copies move, and what kernels access outside their device.
//!
//! Copies count when they are put into a stream; those of graphs each time that their graph is launched.
//! What kernels do to memory of other devices and of the host the simulated device tells, access by access;
//! real devices do not.

use crate::event::{Event, Node};
use crate::process::process;
use crate::real::Real;
use crate::{ask, entry, nvshmem};
use commsan_callsite::StackId;
use commsan_counters::{Amount, HOST, Identity, Key, Traffic, ticks};
use commsan_cuda::{Allocation, Copy, MemoryKind, Release, Rows, StreamName, demangled};
pub use commsan_cuda_abi::observe::Accesses;
use commsan_cuda_abi::observe::{self, LOAD, STORE, SetProfile};
use commsan_process::inside::Inside;
use commsan_process::thread;
use commsan_rundir::traffic::{End, Kind, Memory, Place, Side};
use commsan_shadow::{Footprint, Pattern};
use commsan_threads::Here;
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::ffi::{CStr, c_char};
use std::hash::BuildHasher as _;
use std::sync::{Mutex, OnceLock, PoisonError};

/// What is known of graphs: the copies in them.
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

/// The copies that happen with an event.
pub fn copies_of(event: &Event) -> Vec<Copy> {
    let captured = match event {
        // The library is asked with nothing locked.
        Event::Copied(Copy { stream, .. }) | Event::GraphLaunched { stream, .. } => {
            with_graphs(Graphs::is_capturing) && is_captured(*stream)
        }
        // The most frequent ones are about no graph.
        Event::Moved(_)
        | Event::Enqueued(_)
        | Event::EventRecorded { .. }
        | Event::EventAwaited { .. } => {
            return Vec::new();
        }
        _ => false,
    };
    with_graphs(|graphs| graphs.copies_of(event, captured))
}

fn with_graphs<R>(f: impl FnOnce(&mut Graphs) -> R) -> R {
    let mut graphs = GRAPHS.lock().unwrap_or_else(PoisonError::into_inner);
    f(graphs.get_or_insert_default())
}

impl Graphs {
    fn is_capturing(&mut self) -> bool {
        !self.captures.is_empty()
    }

    fn copies_of(&mut self, event: &Event, captured: bool) -> Vec<Copy> {
        match *event {
            Event::Copied(copy) => match self.captures.last_mut().filter(|_| captured) {
                Some((_, copies)) => copies.push(copy.clone()),
                None => return vec![copy.clone()],
            },
            Event::CaptureBegins { stream } | Event::CaptureBeginsTo { stream, .. } => {
                self.captures.push((stream, Vec::new()));
            }
            Event::CaptureEnds { stream, graph } => {
                let at = self.captures.iter().rposition(|(of, _)| *of == stream);
                if let Some(at) = at {
                    let (_, copies) = self.captures.remove(at);
                    self.graphs.entry(graph).or_default().push((0, Does::Copies(copies)));
                }
            }
            Event::GraphNode { graph, node, does, .. } => {
                let does = match does {
                    Node::Copy(copy) => Does::Copies(vec![copy.clone()]),
                    Node::Graph(child) => Does::Graph(child),
                    _ => return Vec::new(),
                };
                self.graphs.entry(graph).or_default().push((node, does));
            }
            Event::NodeChanged { node, does: Node::Copy(copy) } => {
                let all = self.graphs.values_mut().flatten();
                for (_, does) in all.filter(|(known, _)| *known == node) {
                    *does = Does::Copies(vec![copy.clone()]);
                }
            }
            Event::GraphCloned { graph, clone } => {
                let nodes = self.graphs.get(&graph).cloned().unwrap_or_default();
                self.graphs.insert(clone, nodes);
            }
            Event::GraphDestroyed { graph } => drop(self.graphs.remove(&graph)),
            Event::GraphInstantiated { exec, graph } => {
                let copies = self.flattened(graph, 0);
                self.execs.insert(exec, copies);
            }
            Event::ExecNodeChanged { exec, node, does: Node::Copy(copy) } => {
                let all = self.execs.get_mut(&exec).into_iter().flatten();
                for (_, known) in all.filter(|(known, _)| *known == node) {
                    *known = copy.clone();
                }
            }
            Event::ExecDestroyed { exec } => drop(self.execs.remove(&exec)),
            Event::GraphLaunched { exec, .. } => {
                let copies = self.execs.get(&exec).into_iter().flatten();
                let copies = copies.map(|(_, copy)| copy.clone());
                match self.captures.last_mut().filter(|_| captured) {
                    Some((_, all)) => all.extend(copies),
                    None => return copies.collect(),
                }
            }
            _ => {}
        }
        Vec::new()
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

fn is_captured(stream: StreamName) -> bool {
    match stream {
        StreamName::Created { handle } => ask::is_capturing(handle),
        StreamName::PerThread { .. } => ask::is_capturing(2),
        // CUDA refuses to capture it.
        StreamName::Legacy { .. } => false,
    }
}

/// Counts what the event and these copies of it are.
pub fn count(event: &Event, copies: &[Copy], here: &Here, traffic: &mut Traffic, me: u32) {
    match event {
        Event::Allocated { call, allocation } => allocated(call, allocation, here, traffic),
        Event::IsPe { pe, device } => traffic.pe = Some((*pe, on_host(*device))),
        Event::Reached { address, pe, there } => reached(*address, *pe, *there, traffic),
        Event::Moved(moved) => one_sided(moved, here, traffic, me),
        Event::Freed { address, how, .. } if !matches!(how, Release::Unregister) => {
            traffic.objects.freed(*address);
        }
        _ => {}
    }
    if copies.is_empty() {
        return;
    }
    let stack = traffic.path(here);
    copies.iter().for_each(|copy| copied(copy, stack, here, traffic, me));
}

/// The number on its host of a device of this process, which may see but some of them, in another order.
fn on_host(device: u32) -> u32 {
    static VISIBLE: OnceLock<Vec<u32>> = OnceLock::new();
    let visible = VISIBLE.get_or_init(|| {
        // All simulated devices are seen, which is what that variable asks for.
        let is_simulated = std::env::var_os("COMMSAN_GPU").is_some();
        let list = std::env::var("CUDA_VISIBLE_DEVICES").unwrap_or_default();
        if is_simulated { Vec::new() } else { numbers(&list) }
    });
    visible.get(device as usize).copied().unwrap_or(device)
}

/// The devices that `CUDA_VISIBLE_DEVICES` names, up to the first that is not there; none if it names any by
/// identifiers.
fn numbers(list: &str) -> Vec<u32> {
    let is_identifier = |name: &str| name.trim_start().starts_with(|c: char| c.is_alphabetic());
    if list.split(',').any(is_identifier) {
        return Vec::new();
    }
    list.split(',').map_while(|name| name.trim().parse().ok()).collect()
}

fn allocated(call: &'static str, allocation: &Allocation, here: &Here, traffic: &mut Traffic) {
    let (memory, place) = match allocation.kind {
        MemoryKind::Device => (Memory::Device, Place::Device(on_host(allocation.device))),
        MemoryKind::Managed => (Memory::Managed, HOST),
        // Memory that is registered has been allocated before.
        MemoryKind::Pinned if traffic.objects.at(allocation.bytes.start).is_some() => return,
        MemoryKind::Pinned => (Memory::Pinned, HOST),
    };
    let stack = traffic.path(here);
    let identity = Identity { memory, place, stack, call: Some(call), name: None };
    traffic.objects.allocated(allocation.bytes.clone(), identity);
}

fn copied(copy: &Copy, stack: StackId, here: &Here, traffic: &mut Traffic, me: u32) {
    let (from, to) = (side(copy, &copy.from), side(copy, &copy.to));
    let source = traffic.object_at(copy.from.start, here);
    let target = traffic.object_at(copy.to.start, here);
    let (source_place, target_place) = (place_of(traffic, source), place_of(traffic, target));
    let kind = match (source_place, target_place) {
        (None, None) => Kind::HostToHost,
        (None, Some(_)) => Kind::HostToDevice,
        (Some(_), None) => Kind::DeviceToHost,
        (Some(_), Some(_)) => Kind::DeviceToDevice,
    };
    let end = |device: Option<Place>| End::At(device.unwrap_or(Place::Rank(me)));
    let key = Key {
        kind,
        call: traffic.strings.fixed(copy.call),
        stack,
        line: None,
        side: Side::Both,
        source: end(source_place),
        target: end(target_place),
        group: None,
        tag: None,
        object: source.map(|(object, _)| object),
        other: target.map(|(object, _)| object),
        region: traffic.region(),
    };
    let bytes = (copy.width * copy.height * copy.depth) as u64;
    let parts = (source.map(|(_, base)| (base, &from)), target.map(|(_, base)| (base, &to)));
    traffic.record_transfer(ticks(), key, Amount::one(bytes), parts.0, parts.1);
}

/// What a symmetric object is at a processing element.
fn object_of(object: u32, pe: u32, traffic: &mut Traffic) -> Option<u32> {
    let identity = traffic.objects.all()[object as usize].identity;
    traffic.objects.number(Identity { place: Place::Pe(pe), ..identity })
}

/// Kernels may use an address at which a processing element's memory is.
fn reached(address: usize, pe: u32, there: usize, traffic: &mut Traffic) {
    let Some((block, object)) = traffic.objects.block(address) else { return };
    let Some(start) = there.checked_sub(address - block.start).filter(|at| *at != block.start)
    else {
        return;
    };
    if let Some(object) = object_of(object, pe, traffic) {
        traffic.objects.map_to(start..start.saturating_add(block.len()), object);
    }
}

/// Counts what NVSHMEM moves in one direction.
fn one_sided<'a>(moved: &'a nvshmem::Moved, here: &Here, traffic: &mut Traffic, me: u32) {
    let stack = traffic.path(here);
    let own =
        moved.own.as_ref().and_then(|own| Some((traffic.object_at(own.span().start, here)?, own)));
    let theirs = moved.theirs.as_ref().zip(moved.peer).and_then(|(theirs, peer)| {
        let (object, base) = traffic.objects.at(theirs.span().start)?;
        Some(((object_of(object, peer, traffic)?, base), theirs))
    });
    // Symmetric memory is on the device; what is put from it need not be.
    let is_on_host = own.is_some_and(|(own, _)| place_of(traffic, Some(own)).is_none());
    let here = End::At(if is_on_host { Place::Rank(me) } else { Place::Pe(moved.pe) });
    let group = moved.team.as_ref().map(|team| {
        let members = || team.iter().map(|pe| Place::Pe(*pe)).collect();
        traffic.group(FxBuildHasher.hash_one(("PEs", team)), members)
    });
    let there = match (moved.peer, group) {
        (Some(peer), _) => End::At(Place::Pe(peer)),
        (None, Some(group)) => End::Others(group),
        (None, None) => return,
    };
    let (source, target) = if moved.sends { (here, there) } else { (there, here) };
    let (side, first, second) = match (moved.team.is_some(), moved.sends) {
        (true, true) => (Side::Source, own, None),
        (true, false) => (Side::Target, own, None),
        (false, true) => (Side::Both, own, theirs),
        (false, false) => (Side::Both, theirs, own),
    };
    let key = Key {
        kind: Kind::Nvshmem,
        call: traffic.strings.fixed(moved.call),
        stack,
        line: None,
        side,
        source,
        target,
        group,
        tag: None,
        object: first.map(|((object, _), _)| object),
        other: second.map(|((object, _), _)| object),
        region: traffic.region(),
    };
    let part =
        |end: Option<((u32, usize), &'a Footprint)>| end.map(|((_, base), part)| (base, part));
    traffic.record_transfer(ticks(), key, Amount::one(moved.bytes), part(first), part(second));
}

/// What a copy touches on one side.
fn side(copy: &Copy, rows: &Rows) -> Footprint {
    let row = Pattern::dense(0, copy.width as isize);
    let slice = row.repeat(copy.height, rows.pitch as isize);
    Footprint::new(rows.start, slice.repeat(copy.depth, rows.slice as isize))
}

/// The device on which an object is; `None` for the host's memory.
fn place_of(traffic: &Traffic, object: Option<(u32, usize)>) -> Option<Place> {
    let (object, _) = object?;
    let place = traffic.objects.all()[object as usize].identity.place;
    matches!(place, Place::Device(_) | Place::DeviceOf(..)).then_some(place)
}

type SetOrigin = unsafe extern "C" fn(u64);

/// The place of what this thread launches is this one, from now on, if there is a simulated device; `by`
/// says for which call of a library.
pub(crate) fn launches_from(call: &entry::Call, by: Option<&'static str>) {
    static ORIGIN: OnceLock<Option<SetOrigin>> = OnceLock::new();
    let set = *ORIGIN.get_or_init(|| {
        static SET: Real = Real::new(c"commsan_simgpu_origin");
        static PROFILE: Real = Real::new(c"commsan_simgpu_profile");
        let (set, profile) = (SET.get()?, PROFILE.get()?);
        // SAFETY: the simulated runtime's functions of these names.
        unsafe {
            std::mem::transmute::<*mut _, SetProfile>(profile)(Some(moved));
            Some(std::mem::transmute::<*mut _, SetOrigin>(set))
        }
    });
    if let Some(set) = set {
        // SAFETY: by what it is, it may be called at any time.
        unsafe { set(call.origin(by)) };
    }
}

extern "C" fn moved(accesses: &Accesses) {
    entry::quietly(|| {
        let _inside = Inside::enter();
        if let Some(process) = process() {
            thread::with(|thread| process.accessed(thread, accesses));
        }
    });
}

/// A name that the device has told.
fn name(name: *const c_char) -> Option<String> {
    // SAFETY: the device passes a string that it keeps, or null.
    (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned())
}

/// What launches are called: their call path, and the call of a library that they serve, if they do.
pub fn origin_of(stack: StackId, library: Option<u32>) -> u64 {
    u64::from(stack.to_bits()) | library.map_or(0, |call| u64::from(call) + 1) << 32
}

/// Back from [`origin_of`].
fn origin(origin: u64) -> (StackId, Option<u32>) {
    (StackId::from_bits(origin as u32), ((origin >> 32) as u32).checked_sub(1))
}

/// Counts accesses of a kernel in the counters of rank `me`.
pub fn count_accesses(accesses: &Accesses, traffic: &mut Traffic, me: u32) {
    let kernel = name(accesses.kernel).map_or_else(String::new, |name| demangled(&name));
    if !traffic.settings().kernels.is_empty()
        && !traffic.settings().kernels.iter().any(|wanted| kernel.contains(wanted.as_str()))
    {
        return;
    }
    let (stack, library) = origin(accesses.origin);
    let owner = traffic.objects.at(accesses.start as usize);
    let device = (accesses.owner != observe::HOST).then_some(Place::Device(accesses.owner));
    let running = End::At(Place::Device(accesses.device));
    let owned = End::At(device.unwrap_or(Place::Rank(me)));
    let kind = match (device.is_some(), accesses.kind) {
        _ if library.is_some() => Kind::Nccl,
        (true, LOAD) => Kind::PeerLoad,
        (true, STORE) => Kind::PeerStore,
        (true, _) => Kind::PeerAtomic,
        (false, LOAD) => Kind::HostLoad,
        (false, _) => Kind::HostStore,
    };
    let loads = accesses.kind == LOAD;
    let (source, target) = if loads { (owned, running) } else { (running, owned) };
    let file = name(accesses.file);
    let line = file.map(|file| traffic.line(&kernel, &file, accesses.line));
    let object = owner.map(|(object, _)| object);
    let key = Key {
        kind,
        call: match library {
            Some(call) => call,
            None => traffic.strings.number(&name(accesses.instruction).unwrap_or_default()),
        },
        stack,
        line,
        side: Side::Both,
        source,
        target,
        group: None,
        tag: None,
        object: object.filter(|_| loads),
        other: object.filter(|_| !loads),
        region: traffic.region(),
    };
    let (start, bytes) = (accesses.start as usize, accesses.bytes as usize);
    let footprint = Footprint::Dense(start..start + bytes);
    let part = owner.map(|(_, base)| (base, &footprint));
    let count = accesses.bytes / u64::from(accesses.size.max(1)) * accesses.times;
    let amount = Amount { count, bytes: accesses.bytes * accesses.times, times: accesses.times };
    let (read, written) = if loads { (part, None) } else { (None, part) };
    traffic.record_transfer(ticks(), key, amount, read, written);
}

#[cfg(test)]
mod tests {
    use super::{Event, Graphs, Node, numbers};
    use commsan_cuda::{Copy, Rows, StreamName};

    #[test]
    fn graphs_launched_into_captures_move_when_those_are_launched() {
        let stream = StreamName::Created { handle: 9 };
        let rows = Rows { start: 4096, pitch: 0, slice: 0 };
        let (call, serialises) = ("cudaGraphAddMemcpyNode1D", Vec::new());
        let (to, from, [width, height, depth]) = (rows, rows, [8, 1, 1]);
        let copy =
            Copy { call, stream, asynchronous: true, to, from, width, height, depth, serialises };
        let mut graphs = Graphs::default();
        let mut moved = |event: Event, captured| graphs.copies_of(&event, captured).len();
        let does = Node::Copy(&copy);
        moved(Event::GraphNode { graph: 1, node: 2, after: &[], does }, false);
        moved(Event::GraphInstantiated { exec: 3, graph: 1 }, false);
        moved(Event::CaptureBegins { stream }, false);
        assert_eq!(moved(Event::GraphLaunched { exec: 3, stream }, true), 0);
        moved(Event::CaptureEnds { stream, graph: 4 }, false);
        moved(Event::GraphInstantiated { exec: 5, graph: 4 }, false);
        assert_eq!(moved(Event::GraphLaunched { exec: 5, stream }, false), 1);
    }

    #[test]
    fn visible_devices() {
        assert_eq!(numbers("2, 0,3"), [2, 0, 3]);
        assert_eq!(numbers("1,-1,2"), [1]);
        assert_eq!(numbers(""), [0; 0]);
        assert_eq!(numbers("GPU-8932f937,MIG-4"), [0; 0]);
    }
}
