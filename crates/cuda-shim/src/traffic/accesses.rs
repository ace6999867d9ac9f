//! Counting what kernels access outside their device: the simulated device reports it, access by
//! access.

use crate::call::Call;
use crate::process::{process, quietly};
use crate::real::Real;
use commsan_callsite::StackId;
use commsan_counters::{Amount, Key, Path, Traffic, ticks};
use commsan_cuda::demangled;
use commsan_cuda_abi::observe::{Accesses, HOST, LOAD, STORE, SetProfile};
use commsan_process::inside::Inside;
use commsan_process::thread;
use commsan_rundir::traffic::{End, Kind, Place, Side};
use commsan_shadow::Footprint;
use std::ffi::{CStr, c_char};
use std::sync::OnceLock;

type SetOrigin = unsafe extern "C" fn(u64);

/// The place of what this thread launches is this one, from now on, if there is a simulated device;
/// `by` says for which call of a library.
pub(crate) fn launches_from(call: &Call, by: Option<&'static str>) {
    quietly(|| set_origin(call, by));
}

fn set_origin(call: &Call, by: Option<&'static str>) {
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
        let mut origin = 0;
        call.count(|traffic, _| {
            let stack = traffic.path(&call.here);
            origin = origin_of(stack, by.map(|call| traffic.strings.fixed(call)));
        });
        // SAFETY: by what it is, it may be called at any time.
        unsafe { set(origin) };
    }
}

extern "C" fn moved(accesses: &Accesses) {
    quietly(|| {
        let _inside = Inside::enter();
        if let Some(process) = process() {
            thread::with(|thread| {
                process.count(thread, &mut |traffic, me| count(accesses, traffic, me));
            });
        }
    });
}

/// A name that the device passes.
fn name(name: *const c_char) -> Option<String> {
    // SAFETY: the device passes a string that it keeps, or null.
    (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned())
}

/// What launches are called: their call path, and the call of a library that they serve, if they
/// do.
fn origin_of(stack: StackId, library: Option<u32>) -> u64 {
    u64::from(stack.to_bits()) | library.map_or(0, |call| u64::from(call) + 1) << 32
}

/// Back from [`origin_of`].
fn origin(origin: u64) -> (StackId, Option<u32>) {
    (StackId::from_bits(origin as u32), ((origin >> 32) as u32).checked_sub(1))
}

/// Counts accesses of a kernel in the counters of rank `me`.
fn count(accesses: &Accesses, traffic: &mut Traffic, me: u32) {
    let kernel = name(accesses.kernel).map_or_else(String::new, |name| demangled(&name));
    if !traffic.settings().kernels.is_empty()
        && !traffic.settings().kernels.iter().any(|wanted| kernel.contains(wanted.as_str()))
    {
        return;
    }
    let (stack, library) = origin(accesses.origin);
    let owner = traffic.objects.at(accesses.start as usize);
    let device = (accesses.owner != HOST).then_some(Place::Device(accesses.owner));
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
        path: Path { stack, line },
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
    let number = accesses.bytes / u64::from(accesses.size.max(1)) * accesses.times;
    let amount =
        Amount { count: number, bytes: accesses.bytes * accesses.times, times: accesses.times };
    let (read, written) = if loads { (part, None) } else { (None, part) };
    traffic.record_transfer(ticks(), key, amount, read, written);
}
