//! Counting what NVSHMEM moves between processing elements (PEs).

use super::{on_host, place_of};
use crate::call::Call;
use commsan_counters::{Amount, Identity, Key, Traffic, ticks};
use commsan_rundir::traffic::{End, Kind, Place, Side};
use commsan_shadow::Footprint;
use commsan_threads::Here;
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher as _;
use std::sync::Arc;

/// What a call moves in one direction.
#[derive(Clone, Debug)]
pub struct Moved {
    /// The call.
    pub call: &'static str,
    /// This PE.
    pub pe: u32,
    /// From this PE, or to it.
    pub sends: bool,
    /// The other PE; `None` for each other one of the team.
    pub peer: Option<u32>,
    /// The team of a collective, in which each PE reports only its own end.
    pub team: Option<Arc<[u32]>>,
    /// Bytes to or from each.
    pub bytes: u64,
    /// This PE's memory, if it is in memory.
    pub own: Option<Footprint>,
    /// The other PE's, by where the same is here.
    pub theirs: Option<Footprint>,
}

/// This process is a processing element, and has its memory on a device.
pub(crate) fn is_pe(call: &Call, pe: u32, device: u32) {
    call.count(|traffic, _| traffic.pe = Some((pe, on_host(device))));
}

/// What is here at an address, a processing element has where this one reaches it.
pub(crate) fn reached(call: &Call, address: usize, pe: u32, there: usize) {
    call.count(|traffic, _| reaches(address, pe, there, traffic));
}

/// NVSHMEM moves something in one direction.
pub(crate) fn moved(call: &Call, moved: &Moved) {
    call.count(|traffic, me| moves(moved, &call.here, traffic, me));
}

/// What a symmetric object is at a processing element.
fn object_of(object: u32, pe: u32, traffic: &mut Traffic) -> Option<u32> {
    let identity = traffic.objects.all()[object as usize].identity;
    traffic.objects.number(Identity { place: Place::Pe(pe), ..identity })
}

/// Kernels may use an address at which a processing element's memory is.
fn reaches(address: usize, pe: u32, there: usize, traffic: &mut Traffic) {
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
fn moves<'a>(moved: &'a Moved, here: &Here, traffic: &mut Traffic, me: u32) {
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
        path: stack.into(),
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
