//! What is only suspected, until the execution shows it.

use super::*;
use crate::work::Line;

const ELSEWHERE: Range<usize> = MANAGED + 0x200..MANAGED + 0x208;
const HERE: Range<usize> = MANAGED..MANAGED + 8;

/// The usual streams and memory, where a device reports what is accessed.
fn resolved() -> (Gpu, Found) {
    let mut gpu = gpu();
    gpu.observe_accesses();
    gpu.stream_created(4, 1, false);
    (gpu, Found::default())
}

/// Some bytes of the managed block.
fn doubtful(mode: Mode) -> KernelAccess {
    KernelAccess { bytes: Bytes::Within(MANAGED), certain: false, ..kernel_access(mode, HERE) }
}

fn line(line: u32) -> Option<Line> {
    Some(Line { file: Arc::from("kernel.cu"), line })
}

/// Work that writes somewhere in the managed block.
fn scatter(gpu: &mut Gpu, handle: usize, at: usize, out: &mut Found) -> Ticket {
    gpu.enqueue(&work(created(handle), &[doubtful(Mode::Write)]), &At(at), out)
}

fn wrote(gpu: &mut Gpu, ticket: Ticket, bytes: Range<usize>, out: &mut Found) {
    gpu.touched(ticket, Mode::Write, Strength::Weak, &bytes, line(7).as_ref(), out);
}

#[test]
fn a_suspicion_is_a_finding_once_it_is_borne_out() {
    let (mut gpu, mut out) = resolved();
    let ticket = scatter(&mut gpu, 1, 90, &mut out);
    assert!(!gpu.wants(ticket), "nothing has met it");
    gpu.meets("load", None, &access(Mode::Read, HERE), &At(91), &mut out);
    assert!(gpu.wants(ticket));
    wrote(&mut gpu, ticket, ELSEWHERE, &mut out);
    gpu.touched(ticket, Mode::Read, Strength::Weak, &HERE, None, &mut out);
    assert_eq!(out.0, []);
    wrote(&mut gpu, ticket, HERE.start + 4..HERE.end + 4, &mut out);
    assert_eq!(
        (&out.0[..], &out.1[..]),
        (&[(Code::WorkMeetsHost, 91, 90)][..], &[[None, Some(7)]][..])
    );
    wrote(&mut gpu, ticket, HERE, &mut out);
    assert_eq!(out.0.len(), 1, "it is told once");
}

#[test]
fn what_the_execution_has_shown_learns_of_the_wait() {
    let (mut gpu, mut out) = resolved();
    let ticket = scatter(&mut gpu, 1, 90, &mut out);
    gpu.meets("load", None, &access(Mode::Read, HERE), &At(91), &mut out);
    wrote(&mut gpu, ticket, HERE, &mut out);
    assert_eq!(out.2, []);
    gpu.stream_synchronized(created(1), "cudaStreamSynchronize", &At(92), &mut out);
    assert_eq!(out.2, [(0, 92)]);
}

#[test]
fn nothing_is_suspected_where_nobody_tells() {
    let (mut gpu, mut out) = (gpu(), Found::default());
    let ticket = scatter(&mut gpu, 1, 90, &mut out);
    gpu.meets("load", None, &access(Mode::Read, HERE), &At(91), &mut out);
    assert!(!gpu.wants(ticket));
    wrote(&mut gpu, ticket, HERE, &mut out);
    assert_eq!(out.0, []);
}

#[test]
fn nor_what_the_host_has_waited_for() {
    let (mut gpu, mut out) = resolved();
    let before = scatter(&mut gpu, 1, 90, &mut out);
    gpu.meets("load", None, &access(Mode::Read, HERE), &At(91), &mut out);
    gpu.stream_synchronized(created(1), "cudaStreamSynchronize", &At(92), &mut out);
    assert!(!gpu.wants(before), "it has been executed");
    let after = scatter(&mut gpu, 1, 93, &mut out);
    gpu.stream_synchronized(created(1), "cudaStreamSynchronize", &At(94), &mut out);
    gpu.meets("store", None, &access(Mode::Write, HERE), &At(95), &mut out);
    assert!(!gpu.wants(after));
    assert_eq!(out.0, []);
}

#[test]
fn marks_go_with_the_work() {
    let (mut gpu, mut out) = resolved();
    let on_host = Bytes::Exactly(Footprint::Dense(PAGEABLE..PAGEABLE + 8));
    let access = KernelAccess { bytes: on_host, ..doubtful(Mode::Write) };
    gpu.enqueue(&work(created(1), &[access]), &At(90), &mut out);
    assert_eq!(gpu.load(), 1);
    gpu.stream_synchronized(created(1), "cudaStreamSynchronize", &At(91), &mut out);
    assert_eq!(gpu.load(), 0);
}

#[test]
fn calls_meet_what_work_may_touch() {
    let (mut gpu, mut out) = resolved();
    let ticket = scatter(&mut gpu, 1, 90, &mut out);
    gpu.meets("MPI_Send", Some("MPI_Send"), &access(Mode::Read, HERE), &At(91), &mut out);
    wrote(&mut gpu, ticket, HERE, &mut out);
    assert_eq!(out.0, [(Code::WorkMeetsCall, 91, 90)]);
}

#[test]
fn work_may_meet_operations_that_are_pending() {
    let (mut gpu, mut out) = resolved();
    let work = work(created(1), &[kernel_access(Mode::Write, ELSEWHERE), doubtful(Mode::Write)]);
    let ticket = gpu.enqueue(&work, &At(90), &mut out);
    let mut stacks = Stacks::new();
    let site = |at, stacks: &mut Stacks| At(at).site(Some("call"), stacks);
    let suspects = gpu.open_suspects(&work, (work.stream, ticket), &At(90));
    let [(reached, now)] = &suspects[..] else { panic!("{suspects:?}") };
    assert_eq!(reached.footprint.span(), MANAGED..MANAGED + 0x4000, "the whole block");
    let operation = RawOperation::of("MPI_Irecv");
    let pending = (operation, site(89, &mut stacks), access(Mode::Write, HERE));
    gpu.suspect_operation(now.clone(), pending, &stacks);
    wrote(&mut gpu, ticket, ELSEWHERE, &mut out);
    assert_eq!(out.0, []);
    wrote(&mut gpu, ticket, HERE, &mut out);
    assert_eq!(out.0, [(Code::CallMeetsWork, 90, 89)]);
}

#[test]
fn what_is_certain_meets_what_is_not() {
    for certain_first in [true, false] {
        let (mut gpu, mut out) = resolved();
        let certain = work(created(3), &[kernel_access(Mode::Read, HERE)]);
        if certain_first {
            gpu.enqueue(&certain, &At(90), &mut out);
        }
        let ticket = scatter(&mut gpu, 1, 91, &mut out);
        if !certain_first {
            gpu.enqueue(&certain, &At(92), &mut out);
        }
        wrote(&mut gpu, ticket, ELSEWHERE, &mut out);
        assert_eq!(out.0, []);
        wrote(&mut gpu, ticket, HERE, &mut out);
        let sides = if certain_first { (91, 90) } else { (92, 91) };
        assert_eq!(out.0, [(Code::StreamsRace, sides.0, sides.1)]);
    }
}

#[test]
fn both_sides_may_be_open() {
    for first_runs_first in [true, false] {
        let (mut gpu, mut out) = resolved();
        let first = scatter(&mut gpu, 1, 90, &mut out);
        let second = scatter(&mut gpu, 3, 91, &mut out);
        let (one, other) = if first_runs_first { (first, second) } else { (second, first) };
        wrote(&mut gpu, one, HERE, &mut out);
        wrote(&mut gpu, other, ELSEWHERE, &mut out);
        assert_eq!(out.0, [], "of what they access nothing is common");
        wrote(&mut gpu, other, HERE.start + 7..HERE.end + 8, &mut out);
        assert_eq!(out.0, [(Code::StreamsRace, 91, 90)]);
    }
}

#[test]
fn ordered_work_is_not_suspected() {
    let (mut gpu, mut out) = resolved();
    let first = scatter(&mut gpu, 1, 90, &mut out);
    gpu.event_recorded(7, created(1), false, &At(0));
    gpu.event_awaited(created(3), 7, false, &At(0));
    let second = scatter(&mut gpu, 3, 91, &mut out);
    assert!(!gpu.wants(first) && !gpu.wants(second));
}

/// Strengths of two kernels' accesses, whether their devices are the same, and whether they race.
const STRENGTHS: [(Strength, Strength, bool, bool); 6] = [
    (Strength::Device, Strength::Device, true, false),
    (Strength::Device, Strength::System, true, false),
    (Strength::Weak, Strength::System, true, true),
    (Strength::Device, Strength::System, false, true),
    (Strength::System, Strength::System, false, false),
    (Strength::System, Strength::Weak, false, true),
];

#[test]
fn atomics_do_not_race_with_each_other() {
    for (first, second, one_device, races) in STRENGTHS {
        let (mut gpu, mut out) = resolved();
        let handle = if one_device { 3 } else { 4 };
        let certain = KernelAccess { strength: first, ..kernel_access(Mode::Write, HERE) };
        gpu.enqueue(&work(created(1), &[certain]), &At(90), &mut out);
        let open = scatter(&mut gpu, handle, 91, &mut out);
        gpu.touched(open, Mode::Write, second, &HERE, None, &mut out);
        assert_eq!(out.0.len(), usize::from(races), "certain {first:?}, {second:?}");

        let (mut gpu, mut out) = resolved();
        let one = scatter(&mut gpu, 1, 90, &mut out);
        let other = scatter(&mut gpu, handle, 91, &mut out);
        gpu.touched(one, Mode::Write, first, &HERE, None, &mut out);
        gpu.touched(other, Mode::Write, second, &HERE, None, &mut out);
        assert_eq!(out.0.len(), usize::from(races), "open {first:?}, {second:?}");
    }
}

#[test]
fn every_range_is_compared_with_work_that_is_executed_later() {
    let (mut gpu, mut out) = resolved();
    let first = scatter(&mut gpu, 1, 90, &mut out);
    let second = scatter(&mut gpu, 3, 91, &mut out);
    let word = |n: usize| MANAGED + 2 * n..MANAGED + 2 * n + 1;
    (0..0x2000).for_each(|n| wrote(&mut gpu, first, word(n), &mut out));
    wrote(&mut gpu, second, word(0x1FFF), &mut out);
    assert_eq!(out.0, [(Code::StreamsRace, 91, 90)]);
}
