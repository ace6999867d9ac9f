//! What CUDA calls are counted for statistics: each by its name, and what they mean to the checker.
//!
//! **Soundness.** A call counts when it is made, work once the library has taken it; only a kernel
//! that a simulated device refuses counts, too. What libraries launch from within their own calls
//! counts as theirs. Work that is captured counts once, when it is captured; of a launch of a
//! graph, what the graph has then.

use commsan_callsite::{Findings, Place};
use commsan_cuda::nccl::{Act, Making, Origin};
use commsan_cuda::nvshmem::{self, Uses, Wrong};
use commsan_cuda::waiting::{HostWait, Meeting};
use commsan_cuda::{
    Allocation, Bytes, Copy, Failure, Gpu, KernelAccess, Line, MemoryKind, Mistake, NodeKind,
    Release, Set, StreamChecker, StreamName, Strength, Ticket, Wait, Work, stream_calls,
};
use commsan_findings::stats::{CUDA_CALLS, Counter};
use commsan_process::stats::add;
use commsan_shadow::Mode;
use parking_lot::{Mutex, MutexGuard};
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::sync::LazyLock;
use std::time::Duration;

/// What is counted by name.
#[derive(Default)]
struct Named {
    calls: BTreeMap<&'static str, u64>,
    streams: HashSet<StreamName>,
    events: HashSet<usize>,
}

static NAMED: LazyLock<Mutex<Named>> = LazyLock::new(Mutex::default);

/// In the copy of a process that has crashed, the lock may never be given back.
const LOCK_TIMEOUT: Duration = Duration::from_secs(1);

fn named() -> Option<MutexGuard<'static, Named>> {
    NAMED.try_lock().or_else(|| NAMED.try_lock_for(LOCK_TIMEOUT))
}

/// Whether a name is that of a call of a group.
type IsOf = fn(&str) -> bool;

/// Groups of calls, by what their names begin or end with: the first that fits.
const GROUPS: &[(&str, IsOf)] = &[
    ("nccl", |name| name.starts_with("nccl")),
    ("nvshmem", |name| name.starts_with("nvshmem")),
    ("synchronisation", |name| name.ends_with("Synchronize") || name.ends_with("Query")),
    ("launch", |name| name.contains("Launch") || name.contains("CallConfiguration")),
    ("graph", |name| name.contains("Graph") || name.contains("Capture")),
    ("stream", |name| name.contains("Stream")),
    ("event", |name| name.contains("Event")),
    ("set", |name| name.starts_with("cudaMemset")),
    ("copy", |name| name.starts_with("cudaMemcpy") || name.starts_with("cudaMemPrefetch")),
    ("memory", |name| {
        ["Malloc", "Free", "HostAlloc", "HostRegister", "HostUnregister", "Mem"]
            .iter()
            .any(|word| name["cuda".len().min(name.len())..].starts_with(word))
    }),
    ("device", |name| name.contains("Device")),
];

/// The program makes a call.
#[cold]
pub(crate) fn called(name: &'static str) {
    if let Some(mut named) = named() {
        *named.calls.entry(name).or_default() += 1;
    }
    let counter = match name {
        "cudaDeviceSynchronize" | "cudaThreadSynchronize" => Counter::DeviceSynchronisations,
        "cudaStreamSynchronize" => Counter::StreamSynchronisations,
        "cudaEventSynchronize" => Counter::EventSynchronisations,
        "cudaStreamQuery" | "cudaEventQuery" => Counter::Queries,
        _ => return,
    };
    add(counter, 1);
}

/// Calls so far: by group, name and number.
pub fn each_call(f: &mut dyn FnMut(String, u64)) {
    let Some(named) = named() else { return };
    for (name, count) in &named.calls {
        let group = GROUPS.iter().find(|(_, has)| has(name)).map_or("other", |(group, _)| group);
        f(format!("{CUDA_CALLS}.{group}.{name}"), *count);
    }
}

/// Counts what a call says to the checker, and passes it on.
pub(crate) struct Counted<'a>(pub &'a mut dyn StreamChecker);

impl Counted<'_> {
    fn use_stream(&self, stream: StreamName) {
        if named().is_some_and(|mut named| named.streams.insert(stream)) {
            add(Counter::StreamsUsed, 1);
        }
    }

    /// Work that is put into a stream.
    fn work(&mut self, work: &Work) {
        self.use_stream(work.stream);
        if work.wait == Wait::Work {
            add(Counter::WaitingCopies, 1);
        }
        for access in &*work.accesses {
            let (count, bytes) = match access.mode {
                Mode::Read => (Counter::RangesRead, Counter::RangesReadBytes),
                Mode::Write => (Counter::RangesWritten, Counter::RangesWrittenBytes),
            };
            add(count, 1);
            add(bytes, self.bytes(access));
        }
    }

    fn bytes(&mut self, access: &KernelAccess) -> u64 {
        match &access.bytes {
            Bytes::Exactly(footprint) => footprint.bytes() as u64,
            Bytes::Within(address) => {
                self.0.gpu().block_around(*address).map_or(0, |block| block.len() as u64)
            }
            Bytes::Anywhere => 0,
        }
    }

    fn copied(&mut self, copy: &Copy) {
        use Counter::*;
        let gpu = self.0.gpu();
        let (from, to) = (gpu.memory_at(copy.from.start), gpu.memory_at(copy.to.start));
        let device = |memory: Option<(MemoryKind, u32)>| match memory {
            Some((MemoryKind::Device, device)) => Some(device),
            _ => None,
        };
        let managed = |memory| matches!(memory, Some((MemoryKind::Managed, _)));
        let (count, bytes) = match (device(from), device(to)) {
            _ if managed(from) || managed(to) => (CopiesManaged, CopiesManagedBytes),
            (None, None) => (CopiesOnHost, CopiesOnHostBytes),
            (None, Some(_)) => (CopiesToDevice, CopiesToDeviceBytes),
            (Some(_), None) => (CopiesToHost, CopiesToHostBytes),
            (Some(from), Some(to)) if from == to => (CopiesOnDevice, CopiesOnDeviceBytes),
            (Some(_), Some(_)) => (CopiesToPeer, CopiesToPeerBytes),
        };
        add(count, 1);
        add(bytes, volume([copy.width, copy.height, copy.depth]));
        let work = gpu.work_of_copy(copy);
        self.work(&work);
    }
}

fn volume(extent: [usize; 3]) -> u64 {
    extent.iter().map(|size| *size as u64).product()
}

/// Whether work is a kernel, by what has put it into its stream: one without PTX has no name.
fn is_kernel(work: &Work) -> bool {
    work.kernel.is_some()
        || work.call.contains("LaunchKernel")
        || work.call.contains("LaunchCooperative")
}

/// Counts a call of those that concern streams only.
macro_rules! count {
    (stream_created) => {
        add(Counter::StreamsCreated, 1)
    };
    (event_awaited) => {
        add(Counter::EventWaits, 1)
    };
    (host_function) => {
        add(Counter::HostFunctions, 1)
    };
    ($other:ident) => {};
}

macro_rules! pass_on {
    ($(
        $(#[$doc:meta])*
        fn $name:ident($($($arg:ident: $ty:ty),+ ; $($context:ident: $context_ty:ty),*)?)
            $(-> $result:ty)?;
    )*) => {
        impl StreamChecker for Counted<'_> {
            fn gpu(&mut self) -> &mut Gpu {
                self.0.gpu()
            }

            fn enqueue(&mut self, work: &Work, place: &dyn Place, out: &mut dyn Findings) -> Ticket {
                if is_kernel(work) {
                    add(Counter::Kernels, 1);
                    add(Counter::KernelsUnknown, u64::from(work.kernel.is_none()));
                }
                self.work(work);
                self.0.enqueue(work, place, out)
            }

            fn nccl(
                &mut self,
                act: Act,
                place: &dyn Place,
                out: &mut dyn Findings,
            ) -> Option<Meeting> {
                self.0.nccl(act, place, out)
            }

            fn nvshmem(
                &mut self,
                act: nvshmem::Act<'_>,
                place: &dyn Place,
                out: &mut dyn Findings,
            ) -> Option<Meeting> {
                self.0.nvshmem(act, place, out)
            }

            fn copy(&mut self, copy: &Copy, place: &dyn Place, out: &mut dyn Findings) -> Ticket {
                self.copied(copy);
                self.0.copy(copy, place, out)
            }

            fn set(&mut self, set: &Set, place: &dyn Place, out: &mut dyn Findings) -> Ticket {
                add(Counter::Memsets, 1);
                add(Counter::MemsetsBytes, volume([set.width, set.height, set.depth]));
                let work = self.0.gpu().work_of_set(set);
                self.work(&work);
                self.0.set(set, place, out)
            }

            fn graph_launched(
                &mut self,
                exec: usize,
                stream: StreamName,
                place: &dyn Place,
                out: &mut dyn Findings,
            ) {
                self.use_stream(stream);
                add(Counter::Graphs, 1);
                let all = self.0.gpu().work_of_graph(exec);
                let kernels = all.iter().filter(|(work, _)| is_kernel(work)).count();
                add(Counter::KernelsInGraphs, kernels as u64);
                self.0.graph_launched(exec, stream, place, out);
            }

            fn freed(
                &mut self,
                address: usize,
                how: Release,
                call: &'static str,
                device: u32,
                place: &dyn Place,
                out: &mut dyn Findings,
            ) {
                self.0.freed(address, how, call, device, place, out);
            }

            fn event_exported(&mut self, event: usize, handle: &[u8; 64]) {
                self.0.event_exported(event, handle);
            }

            fn event_opened(&mut self, event: usize, handle: &[u8; 64]) {
                self.0.event_opened(event, handle);
            }

            fn memory_exported(&mut self, address: usize, handle: &[u8; 64]) {
                self.0.memory_exported(address, handle);
            }

            fn memory_opened(
                &mut self,
                address: usize,
                handle: &[u8; 64],
                call: &'static str,
                place: &dyn Place,
                out: &mut dyn Findings,
            ) {
                self.0.memory_opened(address, handle, call, place, out);
            }

            $(
                fn $name(&mut self, $($($arg: $ty,)+ $($context: $context_ty,)*)?) $(-> $result)? {
                    count!($name);
                    pass_on!(@more self, $name $($(, $arg)+)?);
                    self.0.$name($($($arg,)+ $($context,)*)?)
                }
            )*
        }
    };
    (@more $self:ident, event_recorded, $event:ident, $stream:ident, $external:ident) => {
        add(Counter::EventRecords, 1);
        $self.use_stream($stream);
        if named().is_some_and(|mut named| named.events.insert($event)) {
            add(Counter::Events, 1);
        }
    };
    (@more $self:ident, allocated, $allocation:ident, $call:ident) => {
        let (count, bytes) = match $allocation.kind {
            MemoryKind::Device => (Counter::AllocationsDevice, Counter::AllocationsDeviceBytes),
            MemoryKind::Managed => (Counter::AllocationsManaged, Counter::AllocationsManagedBytes),
            MemoryKind::Pinned => (Counter::AllocationsPinned, Counter::AllocationsPinnedBytes),
        };
        add(count, 1);
        add(bytes, $allocation.bytes.len() as u64);
    };
    (@more $($other:tt)*) => {};
}

stream_calls!(pass_on);
