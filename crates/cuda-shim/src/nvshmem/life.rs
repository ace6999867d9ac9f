//! The life of a PE: its begin and end, its memory, its teams.

use super::{
    Act, BEGUN, ENDED, Operation, TEAMS, Uses, WORLD, act, checked, complete, identity, report,
    team, through, together,
};
use crate::call::{Call, DefaultStream};
use crate::process::{process, quietly};
use crate::real::{Real, SUCCESS, real};
use crate::traffic::one_sided;
use crate::{ask, memory};
use commsan_cuda::{Allocation, MemoryKind, Release};
use commsan_cuda_abi::nvshmem::{Attributes, WITH_ID};
use commsan_process::inside::Inside;
use commsan_process::stack::Caller;
use commsan_threads::Here;
use std::ffi::{c_int, c_uint};
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// How often the program has initialised the library and not finalized it.
static DEPTH: AtomicU32 = AtomicU32::new(0);

fn call_of<'a>(name: &'static str, caller: Caller, inside: &'a Inside) -> Option<Call<'a>> {
    let here = Here::new(caller, inside);
    Some(Call::of(process()?, here, name, DefaultStream::Legacy))
}

/// Initialises the library, together with all other PEs.
///
/// # Safety
///
/// The attributes are the program's, or there are none.
pub(crate) unsafe fn init(
    caller: Caller,
    flags: c_uint,
    attributes: *const Attributes,
    real: impl FnOnce() -> c_int,
) -> c_int {
    let Some(inside) = Inside::enter() else { return real() };
    let Some(call) = call_of("nvshmem_init", caller, &inside) else { return real() };
    // It waits for others; who these are is not known yet.
    let code = through(real, |real| call.process.waits(call.here.thread, real));
    if code != SUCCESS || DEPTH.fetch_add(1, Relaxed) > 0 {
        return code;
    }
    BEGUN.store(true, Relaxed);
    if call.checks() {
        quietly(|| {
            // SAFETY: see above.
            let attributes = unsafe { attributes.as_ref() }.filter(|_| flags & WITH_ID != 0);
            // SAFETY: the program provides an identifier, which the library has read.
            let id = attributes.and_then(|all| unsafe { all.by_id.id.as_ref() });
            let id = id.map(|id| &id.bytes[..]);
            if let Some([pe, pes]) = identity() {
                act(&call, Act::Begins { pe, pes, id, followed: true });
            }
        });
    }
    code
}

/// Finalizes the library, together with all other PEs.
pub(crate) fn end(caller: Caller, real: impl FnOnce()) {
    let Some(inside) = Inside::enter() else { return real() };
    let Some(call) = call_of("nvshmem_finalize", caller, &inside) else { return real() };
    if DEPTH.load(Relaxed) > 1 {
        DEPTH.fetch_sub(1, Relaxed);
        return real();
    }
    match checked(&call) {
        Some(call) => {
            let operation = Operation::new(call.name, 0);
            through(real, |real| together(call, WORLD, operation, None, Vec::new(), real));
        }
        None => real(),
    }
    DEPTH.store(0, Relaxed);
    BEGUN.store(false, Relaxed);
    ENDED.store(true, Relaxed);
    TEAMS.lock().clear();
}

/// Allocates symmetric memory: a call of all PEs, which waits for all.
pub(crate) fn allocate(
    name: &'static str,
    caller: Caller,
    size: usize,
    real: impl FnOnce() -> usize,
) -> usize {
    let Some(inside) = Inside::enter() else { return real() };
    let Some(call) = call_of(name, caller, &inside) else { return real() };
    let is_checked = size != 0 && checked(&call).is_some();
    let address = match is_checked {
        true => {
            let operation = Operation::new(name, size as u64);
            through(real, |real| together(&call, WORLD, operation, None, Vec::new(), real))
        }
        false => real(),
    };
    if address == 0 || size == 0 {
        return address;
    }
    quietly(|| {
        let device = ask::device_of(address);
        if let Some(pe) = super::my_pe() {
            one_sided::is_pe(&call, pe, device);
        }
        let (kind, bytes) = (MemoryKind::Device, address..address.saturating_add(size));
        let allocation = Allocation { kind, device, bytes, stream: None };
        memory::made(&call, name, allocation);
        for_kernels(&call, address);
        if is_checked {
            act(&call, Act::Allocated(address, size, name));
        }
    });
    address
}

/// Kernels on simulated devices may access memory of all PEs that is here at an address.
fn for_kernels(call: &Call, address: usize) {
    static SIMULATED: Real = Real::new(c"commsan_simgpu_peers");
    let Some([me, pes]) = identity().filter(|_| call.counts() && SIMULATED.get().is_some()) else {
        return;
    };
    for pe in (0..pes).filter(|pe| *pe != me) {
        let there = real!(c"nvshmem_ptr", fn(usize, c_int) -> usize);
        // SAFETY: the library's function, which reads its numbers.
        let there = there.map_or(0, |there| unsafe { there(address, pe as c_int) });
        if there != 0 {
            one_sided::reached(call, address, pe, there);
        }
    }
}

/// Gives symmetric memory back, together with all other PEs.
pub(crate) fn free(caller: Caller, address: usize, real: impl FnOnce()) {
    let Some(inside) = Inside::enter() else { return real() };
    let Some(call) = call_of("nvshmem_free", caller, &inside) else { return real() };
    let call = &call;
    let checked = checked(call).filter(|_| address != 0);
    let is_wrong =
        checked.is_some_and(|call| quietly(|| report(call, &[Uses::Block(address)])) == Some(true));
    let Some(checked) = checked.filter(|_| !is_wrong) else {
        return give_back(call, address, real);
    };
    // It begins with a barrier.
    complete(call, None);
    let block = call.with(|streams, _, _| streams.nvshmem_block(address)).unwrap_or(0);
    let operation = Operation::new(call.name, block);
    let real = || give_back(call, address, real);
    through(real, |real| together(checked, WORLD, operation, None, Vec::new(), real));
    quietly(|| act(call, Act::Freed(address, call.name)));
}

fn give_back(call: &Call, address: usize, real: impl FnOnce()) {
    let real = || {
        real();
        SUCCESS
    };
    memory::free(Some(call), address, |_| Release::Device, real);
}

/// Splits a team into parts, whose handles the library stores in these places.
pub(crate) fn split(
    name: &'static str,
    caller: Caller,
    parent: c_int,
    parts: &[*mut c_int],
    real: impl FnOnce() -> c_int,
) -> c_int {
    let Some(inside) = Inside::enter() else { return real() };
    let Some(call) = call_of(name, caller, &inside) else { return real() };
    let Some(call) = checked(&call) else { return real() };
    if team(parent).is_none() {
        quietly(|| report(call, &[Uses::NoTeam(parent)]));
        return real();
    }
    let operation = Operation::new(name, 0);
    let code = through(real, |real| together(call, parent, operation, None, Vec::new(), real));
    quietly(|| {
        for (part, place) in (0..).zip(parts) {
            // SAFETY: the library has stored a handle there.
            let Some(made) = (unsafe { place.as_ref() }).copied() else { continue };
            TEAMS.lock().remove(&made);
            if let Some(members) = team(made) {
                act(call, Act::Split { parent, team: made, members: &members, part });
            }
        }
    });
    code
}

/// Destroys a team, together with its other PEs.
pub(crate) fn destroy_team(caller: Caller, of: c_int, real: impl FnOnce()) {
    let Some(inside) = Inside::enter() else { return real() };
    let Some(call) = call_of("nvshmem_team_destroy", caller, &inside) else { return real() };
    match checked(&call).filter(|_| team(of).is_some()) {
        Some(call) => {
            let operation = Operation::new(call.name, 0);
            through(real, |real| together(call, of, operation, None, Vec::new(), real));
        }
        None => real(),
    }
    // Its number may be another one's.
    TEAMS.lock().remove(&of);
}

/// A call that only asks for something; it must be made while the library is initialised.
pub(crate) fn asks<R>(name: &'static str, caller: Caller, real: impl FnOnce() -> R) -> R {
    if !BEGUN.load(Relaxed)
        && let Some(inside) = Inside::enter()
        && let Some(call) = call_of(name, caller, &inside)
    {
        checked(&call);
    }
    real()
}
