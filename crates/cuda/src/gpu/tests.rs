//! What is found against all pairs of everything that ever was, and the life of memory.

mod failure;
mod graphs;
mod may_conflict;
mod polling;
mod stack;

use super::{Gpu, Ticket};
use crate::clock::{Clock, Epoch};
use crate::work::{Allocation, Bytes, KernelAccess, MemoryKind, Release, StreamName, Wait, Work};
use commsan_callsite::testing::At;
use commsan_callsite::{Findings, Place, Placed, Report, Stacks, Use};
use commsan_findings::Code;
use commsan_findings::record::{RawDoing, RawOperation, Record};
use commsan_ptx::Strength;
use commsan_shadow::{Access, Footprint, Mode, Pages};
use proptest::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// Findings: code, and the places of both sides; the lines inside kernels; and of which work was
/// waited for where.
#[derive(Default)]
struct Found(Vec<(Code, usize, usize)>, Vec<[Option<u32>; 2]>, Vec<(u32, usize)>);

impl Findings for Found {
    fn again(&mut self, code: Code, offender: usize, operation: usize) -> bool {
        self.0.contains(&(code, offender, operation))
    }
    fn report(&mut self, report: Report<'_>, operation: usize, _: &Stacks) -> u32 {
        self.0.push((report.code, report.sites[0].1.pc, operation));
        if let (Some(work), None) = (&report.work, &report.argument) {
            let line = |doing: &Option<RawDoing<_>>| doing.as_ref()?.line;
            self.1.push([line(&work.access), line(&work.operation)]);
        }
        self.0.len() as u32 - 1
    }
    fn emit(&mut self, record: Record<'_, Placed>, _: &Stacks) {
        if let Record::Completed { id: finding, site: (_, site) } = record {
            self.2.push((finding, site.pc));
        }
    }

    fn uses(&mut self, _: Use<'_>, _: &Stacks) {}
}

fn kernel_access(mode: Mode, bytes: Range<usize>) -> KernelAccess {
    let bytes = Bytes::Exactly(Footprint::Dense(bytes));
    KernelAccess { mode, strength: Strength::Weak, bytes, certain: true, line: None }
}

/// An access of the host or of a call.
fn access(mode: Mode, bytes: Range<usize>) -> Access {
    Access { mode, footprint: Footprint::Dense(bytes) }
}

fn work(stream: StreamName, accesses: &[KernelAccess]) -> Work {
    let kernel = Some(Arc::from("kernel"));
    let accesses = accesses.into();
    Work { call: "cudaLaunchKernel", stream, kernel, accesses, wait: Wait::Nothing }
}

const MANAGED: usize = 0x10_0000;
const PAGEABLE: usize = 0x20_0000;
const LEGACY: StreamName = StreamName::Legacy { device: 0 };

fn created(handle: usize) -> StreamName {
    StreamName::Created { handle }
}

/// Managed memory, and streams 1 and 2, which are blocking, and 3, which is not.
fn gpu() -> Gpu {
    let mut gpu = Gpu::new(Pages::leaked(1 << 10));
    for handle in 1..=3 {
        gpu.stream_created(handle, 0, handle < 3);
    }
    allocate(&mut gpu, MemoryKind::Managed, MANAGED..MANAGED + 0x4000, None);
    gpu
}

fn allocate(gpu: &mut Gpu, kind: MemoryKind, bytes: Range<usize>, stream: Option<StreamName>) {
    gpu.allocated(Allocation { kind, device: 0, bytes, stream }, "cudaMalloc", &At(1));
}

#[derive(Clone, Debug)]
enum Step {
    /// Work number so and so, which a program does again and again.
    Work(usize, usize),
    Sync(usize),
    SyncDevice,
    Record(usize, usize),
    Await(usize, usize),
    SyncEvent(usize),
    Host(Mode, Range<usize>),
}

fn range() -> impl Strategy<Value = Range<usize>> {
    let start = prop_oneof![MANAGED..MANAGED + 0x100, PAGEABLE..PAGEABLE + 0x100];
    (start, 1..0x40usize).prop_map(|(start, size)| start..start + size)
}

fn mode() -> impl Strategy<Value = Mode> {
    prop_oneof![Just(Mode::Read), Just(Mode::Write)]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0..4usize, 0..8usize).prop_map(|(stream, which)| Step::Work(stream, which)),
        1 => (0..4usize).prop_map(Step::Sync),
        1 => Just(Step::SyncDevice),
        1 => (0..2usize, 0..4usize).prop_map(|(event, stream)| Step::Record(event, stream)),
        1 => (0..4usize, 0..2usize).prop_map(|(stream, event)| Step::Await(stream, event)),
        1 => (0..2usize).prop_map(Step::SyncEvent),
        5 => (mode(), range()).prop_map(|(mode, bytes)| Step::Host(mode, bytes)),
    ]
}

fn stream(number: usize) -> StreamName {
    if number == 0 { LEGACY } else { created(number) }
}

/// All that has been put into streams.
struct Past {
    epoch: Epoch,
    accesses: Arc<[KernelAccess]>,
}

fn meets(past: &Past, mode: Mode, footprint: &Footprint, clock: &Clock) -> bool {
    let conflicts = |access: &KernelAccess| {
        let Bytes::Exactly(other) = &access.bytes else { return false };
        (mode == Mode::Write || access.mode == Mode::Write) && other.meets(footprint).is_some()
    };
    !past.epoch.happens_before(clock) && past.accesses.iter().any(conflicts)
}

fn compare(kernels: &[Vec<(Mode, Range<usize>)>], steps: &[Step]) -> Result<(), TestCaseError> {
    let (mut gpu, mut past, mut out) = (gpu(), Vec::<Past>::new(), Found::default());
    let accesses: Vec<Arc<[KernelAccess]>> = kernels
        .iter()
        .map(|all| all.iter().map(|(mode, bytes)| kernel_access(*mode, bytes.clone())).collect())
        .collect();
    for (number, step) in steps.iter().enumerate() {
        let (at, before) = (At(100 + number), out.0.len());
        let mut expected = false;
        match step {
            Step::Work(slot, which) => {
                let accesses = Arc::clone(&accesses[which % accesses.len()]);
                let slot_number = gpu.slot(stream(*slot));
                let clock = gpu.order.of_stream(slot_number);
                let mut clock = clock;
                clock.join(&gpu.order.host(None));
                expected = accesses.iter().any(|access| {
                    let Bytes::Exactly(footprint) = &access.bytes else { return false };
                    past.iter().any(|past| meets(past, access.mode, footprint, &clock))
                });
                let work = Work { accesses: Arc::clone(&accesses), ..work(stream(*slot), &[]) };
                gpu.enqueue(&work, &at, &mut out);
                let epoch = Epoch {
                    agent: slot_number,
                    time: 1 + past.iter().filter(|p| p.epoch.agent == slot_number).count() as u32,
                };
                past.push(Past { epoch, accesses });
            }
            Step::Sync(slot) => {
                gpu.stream_synchronized(stream(*slot), "cudaStreamSynchronize", &at, &mut out);
            }
            Step::SyncDevice => gpu.device_synchronized(0, "cudaDeviceSynchronize", &at, &mut out),
            Step::Record(event, slot) => gpu.event_recorded(*event, stream(*slot), false, &At(0)),
            Step::Await(slot, event) => gpu.event_awaited(stream(*slot), *event, false, &At(0)),
            Step::SyncEvent(event) => {
                gpu.event_synchronized(*event, "cudaEventSynchronize", &at, &mut out);
            }
            Step::Host(mode, bytes) => {
                let footprint = Footprint::Dense(bytes.clone());
                let clock = gpu.order.host(None);
                expected = past.iter().any(|past| meets(past, *mode, &footprint, &clock));
                // As the hooks do.
                if gpu.pages.may_conflict(bytes, *mode) {
                    gpu.meets("store", None, &Access { mode: *mode, footprint }, &at, &mut out);
                }
            }
        }
        let found = out.0.len() > before;
        prop_assert_eq!(found, expected, "step {}: {:?}", number, step);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn findings_agree_with_all_pairs(
        kernels in proptest::collection::vec(
            proptest::collection::vec((mode(), range()), 1..4), 1..8),
        steps in proptest::collection::vec(step(), 1..50),
    ) {
        compare(&kernels, &steps)?;
    }
}

#[test]
fn marks_go_with_what_they_are_for() {
    let (mut gpu, mut out) = (gpu(), Found::default());
    let on_host = [kernel_access(Mode::Write, PAGEABLE..PAGEABLE + 8)];
    let managed = [kernel_access(Mode::Write, MANAGED..MANAGED + 8)];
    gpu.enqueue(&work(created(1), &on_host), &At(10), &mut out);
    gpu.enqueue(&work(created(1), &managed), &At(11), &mut out);
    assert_eq!(gpu.load(), 2);
    gpu.device_synchronized(0, "cudaDeviceSynchronize", &At(12), &mut out);
    assert_eq!(gpu.load(), 1, "a block stays marked until the host comes by");
    let access = access(Mode::Read, MANAGED..MANAGED + 4);
    gpu.meets("load", None, &access, &At(13), &mut out);
    assert_eq!((gpu.load(), out.0.len()), (0, 0));
}

#[test]
fn device_memory_is_not_the_hosts_and_free_memory_nobodys() {
    let (mut gpu, mut out) = (gpu(), Found::default());
    let bytes = 0x40_0000..0x40_1000;
    allocate(&mut gpu, MemoryKind::Device, bytes.clone(), None);
    let access = access(Mode::Write, bytes.start..bytes.start + 4);
    gpu.meets("MPI_Recv", Some("MPI_Recv"), &access, &At(20), &mut out);
    assert_eq!(out.0, []);
    gpu.meets("store", None, &access, &At(21), &mut out);
    assert_eq!(out.0, [(Code::DeviceMemoryOnHost, 21, 1)]);
    gpu.freed(bytes.start, Release::Device, "cudaFree", 0, &At(22), &mut out);
    gpu.enqueue(&work(LEGACY, &[kernel_access(Mode::Read, bytes.clone())]), &At(23), &mut out);
    gpu.meets("MPI_Recv", Some("MPI_Recv"), &access, &At(24), &mut out);
    let freed = Code::FreedDeviceMemory;
    assert_eq!(out.0[1..], [(freed, 23, 22), (freed, 24, 22)]);
    allocate(&mut gpu, MemoryKind::Device, bytes.clone(), None);
    gpu.enqueue(&work(LEGACY, &[kernel_access(Mode::Read, bytes)]), &At(25), &mut out);
    assert_eq!(out.0.len(), 3);
}

#[test]
fn memory_whose_release_was_refused_is_there_as_before() {
    for kind in [MemoryKind::Device, MemoryKind::Pinned] {
        let (mut gpu, mut out) = (gpu(), Found::default());
        let bytes = 0x40_0000..0x40_1000;
        allocate(&mut gpu, kind, bytes.clone(), None);
        let marks = gpu.load();
        gpu.freed(bytes.start, Release::Device, "cudaFree", 0, &At(22), &mut out);
        gpu.free_ended(bytes.start, true, &At(22));
        assert_eq!(gpu.load(), marks);
        gpu.enqueue(&work(LEGACY, &[kernel_access(Mode::Write, bytes.clone())]), &At(23), &mut out);
        assert_eq!(out.0, []);
        let access = access(Mode::Write, bytes.start..bytes.start + 4);
        gpu.meets("store", None, &access, &At(24), &mut out);
        assert_eq!(out.0.len(), 1, "it is {kind:?} memory that work uses");
        gpu.freed(bytes.start, Release::Device, "cudaFree", 0, &At(25), &mut out);
        allocate(&mut gpu, MemoryKind::Managed, bytes.start + 8..bytes.end, None);
        let marks = gpu.load();
        gpu.free_ended(bytes.start, true, &At(25));
        assert_eq!(gpu.load(), marks, "the memory is somebody else's");
    }
}

#[test]
fn a_device_that_has_failed_does_nothing_any_more() {
    let (mut gpu, mut out) = (gpu(), Found::default());
    gpu.enqueue(
        &work(created(1), &[kernel_access(Mode::Write, MANAGED..MANAGED + 8)]),
        &At(40),
        &mut out,
    );
    gpu.stream_failed(created(3), "cudaStreamSynchronize", &At(41), &mut out);
    gpu.meets("load", None, &access(Mode::Read, MANAGED..MANAGED + 4), &At(42), &mut out);
    assert_eq!(out.0, []);
}

#[test]
fn memory_of_a_pool_lives_in_the_order_of_streams() {
    let (mut gpu, mut out) = (gpu(), Found::default());
    let bytes = 0x40_0000..0x40_1000;
    allocate(&mut gpu, MemoryKind::Device, bytes.clone(), Some(created(1)));
    let use_it = |stream| work(stream, &[kernel_access(Mode::Write, bytes.clone())]);
    gpu.enqueue(&use_it(created(1)), &At(30), &mut out);
    assert_eq!(out.0, []);
    gpu.event_recorded(7, created(1), false, &At(0));
    gpu.event_awaited(created(3), 7, false, &At(0));
    gpu.enqueue(&use_it(created(3)), &At(31), &mut out);
    assert_eq!(out.0, []);
    gpu.freed(bytes.start, Release::Async(created(1)), "cudaFreeAsync", 0, &At(32), &mut out);
    assert_eq!(out.0, [(Code::WorkMemoryReleased, 32, 31)]);

    allocate(&mut gpu, MemoryKind::Device, bytes.clone(), Some(created(1)));
    gpu.enqueue(&use_it(created(3)), &At(33), &mut out);
    assert_eq!(out.0[1..], [(Code::FreedDeviceMemory, 33, 1)]);
}

#[test]
fn a_function_of_the_host_comes_after_its_stream() {
    let (mut gpu, mut out) = (gpu(), Found::default());
    gpu.enqueue(
        &work(created(1), &[kernel_access(Mode::Write, MANAGED..MANAGED + 8)]),
        &At(40),
        &mut out,
    );
    let ticket: Ticket = gpu.host_function(created(1));
    assert!(gpu.may_wait_for_host(&work(created(3), &[])));
    let access = access(Mode::Read, MANAGED..MANAGED + 4);
    gpu.host_function_begins(ticket, 0);
    gpu.meets("load", None, &access, &At(41), &mut out);
    gpu.host_function_ends(ticket, 0);
    assert_eq!(out.0, []);
    assert!(!gpu.may_wait_for_host(&work(created(3), &[])));
    gpu.meets("load", None, &access, &At(42), &mut out);
    assert_eq!(out.0, [], "it may have said so");

    gpu.enqueue(
        &work(created(1), &[kernel_access(Mode::Write, MANAGED..MANAGED + 8)]),
        &At(43),
        &mut out,
    );
    gpu.host_function(created(1));
    gpu.meets("load", None, &access, &At(44), &mut out);
    assert_eq!(out.0, [(Code::WorkMeetsHost, 44, 43)], "it has not run yet");
}
