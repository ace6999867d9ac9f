//! Counting what copies move, and what kernels access outside their device.
//!
//! Copies count when they are put into a stream; those of graphs each time that their graph is
//! launched. What kernels do to memory of other devices and of the host the simulated device
//! reports, access by access; real devices do not.

pub(crate) mod accesses;
pub(crate) mod graphs;
pub(crate) mod one_sided;

use crate::call::Call;
use commsan_callsite::StackId;
use commsan_counters::{Amount, HOST, Identity, Key, Traffic, ticks};
use commsan_cuda::{Allocation, Copy, MemoryKind, Rows};
use commsan_rundir::traffic::{End, Kind, Memory, Place, Side};
use commsan_shadow::{Footprint, Pattern};
use commsan_threads::Here;
use std::slice;
use std::sync::OnceLock;

/// Memory was allocated or registered.
pub(crate) fn allocated(call: &Call, name: &'static str, allocation: &Allocation) {
    call.count(|traffic, _| count_allocation(name, allocation, &call.here, traffic));
}

/// Memory is about to be given back.
pub(crate) fn freed(call: &Call, address: usize) {
    call.count(|traffic, _| traffic.objects.freed(address));
}

/// A copy was put into a stream.
pub(crate) fn copied(call: &Call, copy: &Copy) {
    let copies = slice::from_ref(copy);
    if call.counts() && !graphs::captures(copy.stream, copies) {
        count_copies(call, copies);
    }
}

fn count_copies(call: &Call, copies: &[Copy]) {
    if copies.is_empty() {
        return;
    }
    call.count(|traffic, me| {
        let stack = traffic.path(&call.here);
        copies.iter().for_each(|copy| count_copy(copy, stack, &call.here, traffic, me));
    });
}

/// The number on its host of a device of this process, which may see but some of them, in another
/// order.
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

/// The devices that `CUDA_VISIBLE_DEVICES` names, up to the first that is not there; none if it
/// names any by identifiers.
fn numbers(list: &str) -> Vec<u32> {
    let is_identifier = |name: &str| name.trim_start().starts_with(|c: char| c.is_alphabetic());
    if list.split(',').any(is_identifier) {
        return Vec::new();
    }
    list.split(',').map_while(|name| name.trim().parse().ok()).collect()
}

fn count_allocation(
    call: &'static str,
    allocation: &Allocation,
    here: &Here,
    traffic: &mut Traffic,
) {
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

fn count_copy(copy: &Copy, stack: StackId, here: &Here, traffic: &mut Traffic, me: u32) {
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
        path: stack.into(),
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

#[cfg(test)]
mod tests {
    use super::numbers;

    #[test]
    fn visible_devices() {
        assert_eq!(numbers("2, 0,3"), [2, 0, 3]);
        assert_eq!(numbers("1,-1,2"), [1]);
        assert_eq!(numbers(""), [0; 0]);
        assert_eq!(numbers("GPU-8932f937,MIG-4"), [0; 0]);
    }
}
