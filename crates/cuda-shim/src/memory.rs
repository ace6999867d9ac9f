//! Memory that is allocated, registered and given back.

use crate::call::Call;
use crate::process::quietly;
use crate::real::SUCCESS;
use crate::watch::execute_suspects;
use crate::{ask, traffic};
use commsan_cuda::{Allocation, MemoryKind, Release, StreamName};
use std::ffi::c_int;
use std::ops::Range;

/// Memory of so many bytes was allocated or registered.
pub(crate) fn allocated(call: &Call, kind: MemoryKind, start: usize, size: usize) {
    allocated_as(call, call.name, kind, start, size);
}

/// Memory of so many bytes is there that is not allocated by the call.
pub(crate) fn allocated_as(
    call: &Call,
    name: &'static str,
    kind: MemoryKind,
    start: usize,
    size: usize,
) {
    allocated_at(call, name, kind, start..start.saturating_add(size), None);
}

/// Memory was allocated in the order of a stream.
pub(crate) fn allocated_in(call: &Call, stream: usize, start: usize, size: usize) {
    let stream = call.stream(stream);
    let bytes = start..start.saturating_add(size);
    allocated_at(call, call.name, MemoryKind::Device, bytes, Some(stream));
}

/// Another process's memory was opened. How much there is of it, the call does not say.
pub(crate) fn opened(call: &Call, start: usize, handle: [u8; 64]) {
    let found = ask::allocation(start).or_else(|| mapping(start));
    // Others may lie before it in what is mapped; each process counts from where the memory begins.
    let bytes = start..found.map_or(start + 1, |bytes| bytes.end);
    allocated_at(call, call.name, MemoryKind::Device, bytes, None);
    call.with(|streams, place, out| {
        streams.memory_opened(start, &handle, call.name, place, out);
    });
}

fn allocated_at(
    call: &Call,
    name: &'static str,
    kind: MemoryKind,
    bytes: Range<usize>,
    stream: Option<StreamName>,
) {
    if bytes.start != 0 && !bytes.is_empty() {
        let allocation = Allocation { kind, device: call.device(), bytes, stream };
        made(call, name, allocation);
    }
}

/// Memory was allocated or registered.
pub(crate) fn made(call: &Call, name: &'static str, allocation: Allocation) {
    traffic::allocated(call, name, &allocation);
    call.with(|streams, place, _| streams.allocated(allocation, name, place));
}

/// Memory is given back.
pub(crate) fn free(
    call: Option<&Call>,
    address: usize,
    how: impl FnOnce(&Call) -> Release,
    real: impl FnOnce() -> c_int,
) -> c_int {
    let Some(call) = call.filter(|_| address != 0) else { return real() };
    quietly(|| {
        let how = how(call);
        if !matches!(how, Release::Async(_)) {
            execute_suspects(call.here.thread); // the call waits for them
        }
        let device = call.device();
        if how != Release::Unregister {
            traffic::freed(call, address);
        }
        call.with(|streams, place, out| {
            streams.freed(address, how, call.name, device, place, out);
        });
    });
    let code = real();
    quietly(|| {
        call.with(|streams, place, _| streams.free_ended(address, code != SUCCESS, place));
    });
    code
}

/// What is mapped at an address, from there on.
fn mapping(address: usize) -> Option<Range<usize>> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    maps.lines().find_map(|line| {
        let (start, end) = line.split_once(' ')?.0.split_once('-')?;
        let parse = |number| usize::from_str_radix(number, 16).ok();
        let bytes = parse(start)?..parse(end)?;
        bytes.contains(&address).then_some(address..bytes.end)
    })
}
