//! MPI's operations against work of streams, both ways; and work alone.
#![cfg(feature = "mpi")]

use commsan_callsite::testing::At;
use commsan_callsite::{Findings, Placed, Report, Stacks, Use};
use commsan_checker::alone::Alone;
use commsan_checker::rank::Checker;
use commsan_checker::{Host, Load};
use commsan_cuda::{
    Allocation, Bytes, KernelAccess, MemoryKind, Release, StreamName, Strength, Ticket, Wait, Work,
};
use commsan_findings::Code;
use commsan_findings::record::Record;
use commsan_mpi::{Args, Token};
use commsan_mpi_calls::CALLS;
use commsan_shadow::{Access, Footprint, Mode, Pages};
use std::ops::Range;
use std::sync::Arc;

/// Findings: code, and the places of both sides.
#[derive(Default)]
struct Found(Vec<(Code, usize, usize)>);

impl Findings for Found {
    fn again(&mut self, code: Code, offender: usize, operation: usize) -> bool {
        self.0.contains(&(code, offender, operation))
    }
    fn report(&mut self, report: Report<'_>, _: usize, stacks: &Stacks) -> u32 {
        let place = |site: &commsan_callsite::Site| stacks.frames(site.stack)[0];
        self.0.push((report.code, place(&report.sites[0].1), place(&report.sites[1].1)));
        self.0.len() as u32 - 1
    }
    fn emit(&mut self, _: Record<'_, Placed>, _: &Stacks) {}
    fn uses(&mut self, _: Use<'_>, _: &Stacks) {}
}

/// Memory that the host may use, too.
const MANAGED: Range<usize> = 0x10_0000..0x10_4000;
const STREAM: StreamName = StreamName::Created { handle: 1 };

/// With a stream, and memory.
fn new<H: Host>() -> H {
    let mut host = H::new(Pages::leaked(1 << 10));
    let allocation =
        Allocation { kind: MemoryKind::Managed, device: 0, bytes: MANAGED, stream: None };
    host.with_streams(|streams| {
        streams.stream_created(1, 0, false);
        streams.allocated(allocation, "cudaMallocManaged", &At(1));
    });
    host
}

/// Launches a kernel that writes.
fn launch<H: Host>(host: &mut H, bytes: Range<usize>, at: usize, out: &mut Found) -> Ticket {
    let bytes = Bytes::Exactly(Footprint::Dense(bytes));
    let access = KernelAccess {
        mode: Mode::Write,
        strength: Strength::Weak,
        bytes,
        certain: true,
        line: None,
    };
    let work = Work {
        call: "cudaLaunchKernel",
        stream: STREAM,
        kernel: Some(Arc::from("kernel")),
        accesses: [access].into(),
        wait: Wait::Nothing,
    };
    let mut ticket = None;
    host.with_streams(|streams| ticket = Some(streams.enqueue(&work, &At(at), out)));
    ticket.expect("streams")
}

fn wait<H: Host>(host: &mut H, at: usize, out: &mut Found) {
    host.with_streams(|streams| {
        streams.stream_synchronized(STREAM, "cudaStreamSynchronize", &At(at), out);
    });
}

/// Starts a receive with a request.
fn receive(checker: &mut Checker, bytes: Range<usize>, key: usize, at: usize, out: &mut Found) {
    let call = CALLS.iter().find(|call| call.name == "MPI_Irecv").expect("a call of the table");
    let words = [bytes.start, bytes.len(), 1, 0, 5, 1, 0];
    let args = Args::new(call, &words, false);
    let access = Access { mode: Mode::Write, footprint: Footprint::Dense(bytes) };
    let mut accesses = [Some(access), None, None];
    checker.tracker.start(&args, &mut accesses, (key, 0x20_0000 + key * 8), &At(at), out);
}

#[test]
fn work_meets_a_pending_operation() {
    let (mut checker, mut out): (Checker, _) = (new(), Found::default());
    receive(&mut checker, MANAGED.start..MANAGED.start + 64, 1, 10, &mut out);
    launch(&mut checker, MANAGED.start + 64..MANAGED.start + 128, 11, &mut out);
    assert_eq!(out.0, [], "other bytes");
    launch(&mut checker, MANAGED.start + 32..MANAGED.start + 96, 12, &mut out);
    assert_eq!(out.0, [(Code::CallMeetsWork, 12, 10)]);
}

#[test]
fn an_operation_meets_work_that_the_host_has_not_waited_for() {
    let (mut checker, mut out): (Checker, _) = (new(), Found::default());
    launch(&mut checker, MANAGED, 11, &mut out);
    receive(&mut checker, MANAGED.start..MANAGED.start + 64, 1, 12, &mut out);
    assert_eq!(out.0, [(Code::WorkMeetsCall, 12, 11)]);
    wait(&mut checker, 13, &mut out);
    receive(&mut checker, MANAGED.start + 64..MANAGED.start + 128, 2, 14, &mut out);
    assert_eq!(out.0.len(), 1, "it has waited");
}

#[test]
fn completed_operations_and_work_do_not_meet() {
    let (mut checker, mut out): (Checker, _) = (new(), Found::default());
    receive(&mut checker, MANAGED.start..MANAGED.start + 64, 1, 10, &mut out);
    let token = Token { key: 1, variable: 0x20_0008, before: u64::MAX };
    checker.tracker.complete(token, "MPI_Wait", &At(11), &mut out);
    launch(&mut checker, MANAGED, 12, &mut out);
    wait(&mut checker, 13, &mut out);
    assert_eq!(out.0, []);
}

#[test]
fn the_host_meets_work_with_and_without_mpi() {
    fn meets<H: Host>() {
        let (mut host, mut out): (H, _) = (new(), Found::default());
        let bytes = MANAGED.start..MANAGED.start + 8;
        host.access("store", Mode::Write, bytes.clone(), &At(10), &mut out);
        assert_eq!(out.0, [], "nothing is in flight");
        launch(&mut host, MANAGED, 11, &mut out);
        assert_ne!(host.load(), Load::default());
        host.with_streams(|streams| {
            assert!(!streams.suspects(), "all that it accesses is certain");
            assert!(!streams.wants(Ticket(u64::MAX)), "there is no such work");
        });
        host.access("store", Mode::Write, bytes, &At(12), &mut out);
        assert_eq!(out.0, [(Code::WorkMeetsHost, 12, 11)]);
        host.with_streams(|streams| {
            streams.freed(MANAGED.start, Release::Device, "cudaFree", 0, &At(13), &mut out);
            streams.free_ended(MANAGED.start, false, &At(13));
        });
        assert_eq!(host.load().on_stack, 0);
    }
    meets::<Alone>();
    meets::<Checker>();
}
