//! Kernels that fail.

use super::*;
use crate::gpu::Failure;
use crate::nvshmem::Act;

const BLOCK: Range<usize> = 0x40_0000..0x40_1000;

/// What a finding says: both places, and what was wrong.
#[derive(Default)]
struct Said(Vec<(usize, usize, String)>);

impl Findings for Said {
    fn again(&mut self, _: Code, offender: usize, operation: usize) -> bool {
        self.0.iter().any(|(one, other, _)| (*one, *other) == (offender, operation))
    }
    fn report(&mut self, report: Report<'_>, operation: usize, _: &Stacks) -> u32 {
        let Some(argument) = &report.argument else { panic!("{report:?}") };
        let offender = if report.sites.len() > 1 { report.sites[0].1.pc } else { 0 };
        self.0.push((offender, operation, argument.problem.clone().into_owned()));
        0
    }
    fn emit(&mut self, _: Record<'_, Placed>, _: &Stacks) {}
    fn uses(&mut self, _: Use<'_>, _: &Stacks) {}
}

/// A kernel was launched, and the host has waited for all that is known of it.
fn launched() -> (Gpu, Ticket) {
    let mut gpu = gpu();
    gpu.observe_accesses();
    allocate(&mut gpu, MemoryKind::Device, BLOCK, None);
    let (at, mut out) = (At(90), Found::default());
    let ticket = gpu.enqueue(&work(created(1), &[kernel_access(Mode::Read, BLOCK)]), &at, &mut out);
    gpu.device_synchronized(0, "cudaFree", &At(91), &mut out);
    (gpu, ticket)
}

fn failure(start: usize, size: usize) -> Failure {
    let access = (size > 0).then_some((Mode::Write, start..start + size));
    let (block, thread) = ([2, 0, 0], [7, 0, 0]);
    Failure { what: "bad store".to_owned(), block, thread, line: None, access, pe: None }
}

#[test]
fn a_failure_names_the_launch_and_the_nearest_memory() {
    let told = [
        (BLOCK.end, 4, 90, 1, ", right behind the 4096 bytes of cudaMalloc"),
        (BLOCK.end + 8, 4, 90, 1, ", 8 bytes behind the 4096 bytes of cudaMalloc"),
        (BLOCK.start - 4, 4, 90, 1, ", 4 bytes in front of the 4096 bytes of cudaMalloc"),
        (BLOCK.start + 2, 4, 90, 1, ", at offset 2 of the 4096 bytes of cudaMalloc"),
        (0, 4, 0, 90, ""),
        (usize::MAX - 4, 4, 0, 90, ""),
        (usize::MAX, 0, 0, 90, ""),
        (0, 0, 0, 90, ""),
    ];
    for (start, size, offender, operation, beside) in told {
        let ((gpu, ticket), mut out) = (launched(), Said::default());
        gpu.failed(ticket, &failure(start, size), &mut out);
        let problem = format!("bad store in block (2,0,0), thread (7,0,0){beside}");
        assert_eq!(out.0, [(offender, operation, problem)]);
        gpu.failed(ticket, &failure(start, size), &mut out);
        assert_eq!(out.0.len(), 1, "it is told once");
    }
}

#[test]
fn a_failure_at_a_pe_is_that_of_an_argument() {
    const CODES: [Code; 3] = [Code::NoSuchPe, Code::BeyondSymmetric, Code::NotSymmetric];
    let told = [
        (2, BLOCK.start, CODES[0], 90, "writes 4 bytes at PE 2, but PEs are 0 to 1"),
        (
            1,
            BLOCK.end - 2,
            CODES[1],
            95,
            "writes bytes 4094 to 4097 at PE 1 of a symmetric allocation of 4096 bytes",
        ),
        (
            1,
            BLOCK.end + 4,
            CODES[1],
            95,
            "writes bytes 4100 to 4103 at PE 1 of a symmetric allocation of 4096 bytes",
        ),
        (
            0,
            OTHER.start,
            CODES[2],
            1,
            "writes 4 bytes at PE 0 by an address of memory of cudaMalloc, which is not symmetric",
        ),
        (0, 0, CODES[2], 90, "writes 4 bytes at PE 0 by a null pointer"),
        (
            0,
            1 << 40,
            CODES[2],
            90,
            "writes 4 bytes at PE 0 by an address that is not in memory of nvshmem_malloc",
        ),
    ];
    const OTHER: Range<usize> = 0x50_0000..0x50_1000;
    for (pe, start, code, operation, problem) in told {
        let ((mut gpu, ticket), mut out) = (launched(), Said::default());
        allocate(&mut gpu, MemoryKind::Device, OTHER, None);
        let begins = Act::Begins { pe: 0, pes: 2, id: None, followed: true };
        gpu.nvshmem(begins, None, &At(94), &mut Found::default());
        let made = Act::Allocated(BLOCK.start, BLOCK.len(), "nvshmem_malloc");
        gpu.nvshmem(made, None, &At(95), &mut Found::default());
        let failure = Failure { pe: Some(pe), ..failure(start, 4) };
        gpu.failed(ticket, &failure, &mut out);
        gpu.failed(ticket, &failure, &mut out);
        let offender = if operation == 90 { 0 } else { 90 };
        assert_eq!(out.0, [(offender, operation, problem.to_owned())]);
        let mut codes = Found::default();
        gpu.failed(ticket, &failure, &mut codes);
        assert_eq!(codes.0[0].0, code);
    }
}

#[test]
fn symmetric_memory_that_was_freed_is_none() {
    let ((mut gpu, ticket), mut out) = (launched(), Said::default());
    gpu.freed(BLOCK.start, Release::Device, "cudaFree", 0, &At(93), &mut Found::default());
    gpu.free_ended(BLOCK.start, false, &At(93));
    for act in [
        Act::Begins { pe: 0, pes: 2, id: None, followed: true },
        Act::Allocated(BLOCK.start, BLOCK.len(), "nvshmem_malloc"),
        Act::Freed(BLOCK.start, "nvshmem_free"),
    ] {
        gpu.nvshmem(act, None, &At(96), &mut Found::default());
    }
    gpu.failed(ticket, &Failure { pe: Some(1), ..failure(BLOCK.start, 4) }, &mut out);
    let problem = "writes 4 bytes at PE 1 by an address of memory that was freed";
    assert_eq!(out.0, [(90, 96, problem.to_owned())]);
}

#[test]
fn memory_that_is_being_given_back_counts() {
    let ((mut gpu, ticket), mut out) = (launched(), Said::default());
    gpu.freed(BLOCK.start, Release::Device, "cudaFree", 0, &At(93), &mut Found::default());
    gpu.failed(ticket, &failure(BLOCK.end, 4), &mut out);
    gpu.free_ended(BLOCK.start, false, &At(93));
    gpu.failed(ticket, &failure(BLOCK.end, 4), &mut out);
    let sides: Vec<_> = out.0.iter().map(|(one, other, _)| (*one, *other)).collect();
    assert_eq!(sides, [(90, 1), (0, 90)]);
}

#[test]
fn what_is_told_of_memory_that_was_given_back_is_told_once() {
    let (mut gpu, mut out) = (gpu(), Found::default());
    gpu.observe_accesses();
    allocate(&mut gpu, MemoryKind::Device, BLOCK, None);
    gpu.freed(BLOCK.start, Release::Device, "cudaFree", 0, &At(93), &mut out);
    gpu.free_ended(BLOCK.start, false, &At(93));
    let ticket =
        gpu.enqueue(&work(created(1), &[kernel_access(Mode::Read, BLOCK)]), &At(94), &mut out);
    gpu.failed(ticket, &failure(BLOCK.start, 4), &mut out);
    assert_eq!(out.0, [(Code::FreedDeviceMemory, 94, 93)]);
    gpu.failed(ticket, &failure(BLOCK.end, 4), &mut out);
    assert_eq!(out.0[1..], [(Code::KernelFailed, 94, 94)]);
}

#[test]
fn many_launches_later_it_is_still_known_where_a_kernel_was_launched() {
    let ((mut gpu, ticket), mut out) = (launched(), Said::default());
    for _ in 0..1 << 14 {
        gpu.enqueue(&work(created(1), &[]), &At(92), &mut Found::default());
    }
    gpu.failed(ticket, &failure(0, 0), &mut out);
    assert_eq!(out.0.len(), 1);
    gpu.failed(Ticket(1 << 40), &failure(0, 0), &mut out);
    assert_eq!(out.0.len(), 1, "of what is not known nothing can be said");
}

#[test]
fn a_kernel_fails_since_its_memory_is_gone() {
    let (uses, release) = (Code::FreedDeviceMemory, Code::WorkMemoryReleased);
    for (launched_first, expected) in [(false, (uses, 94, 93)), (true, (release, 93, 94))] {
        let (mut gpu, mut out) = (gpu(), Found::default());
        gpu.observe_accesses();
        allocate(&mut gpu, MemoryKind::Device, BLOCK, Some(created(1)));
        let free = |gpu: &mut Gpu, out: &mut Found| {
            let how = Release::Async(created(1));
            gpu.freed(BLOCK.start, how, "cudaFreeAsync", 0, &At(93), out);
            gpu.free_ended(BLOCK.start, false, &At(93));
        };
        if !launched_first {
            free(&mut gpu, &mut out);
        }
        // What it touches is found in memory.
        let ticket = gpu.enqueue(&work(created(3), &[]), &At(94), &mut out);
        if launched_first {
            free(&mut gpu, &mut out);
        }
        assert_eq!(out.0, []);
        gpu.failed(ticket, &failure(BLOCK.start, 4), &mut out);
        gpu.failed(ticket, &failure(BLOCK.start, 4), &mut out);
        assert_eq!(out.0, [expected]);
    }
}
