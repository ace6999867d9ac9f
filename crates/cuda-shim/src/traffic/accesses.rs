//! Counting what kernels access outside their device: the simulated device reports it, access by access.

use crate::call::Call;
use crate::process::{process, quietly};
use crate::real::Real;
use commsan_callsite::StackId;
use commsan_counters::{Amount, Key, Traffic, ticks};
use commsan_cuda::demangled;
use commsan_process::inside::Inside;
use commsan_process::thread;
use commsan_rundir::traffic::{End, Kind, Place, Side};
use commsan_shadow::Footprint;
use std::ffi::{CStr, c_char};
use std::sync::OnceLock;

/// What the simulated device reports: `commsan_simgpu::account::Accesses`.
#[repr(C)]
struct Accesses {
    origin: u64,
    kernel: *const c_char,
    instruction: *const c_char,
    file: *const c_char,
    line: u32,
    device: u32,
    kind: u32,
    size: u32,
    owner: u32,
    start: u64,
    bytes: u64,
    times: u64,
}

/// The owner of memory that is no device's.
const NO_DEVICE: u32 = u32::MAX;

const LOAD: u32 = 0;
const STORE: u32 = 1;

type Moved = extern "C" fn(&Accesses);
type SetOrigin = unsafe extern "C" fn(u64);
type Profile = unsafe extern "C" fn(Option<Moved>);

/// The place of what this thread launches is this one, from now on, if there is a simulated device; `by`
/// says for which call of a library.
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
            std::mem::transmute::<*mut _, Profile>(profile)(Some(moved));
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
                process.count(thread, &mut |traffic, me| accesses.count(traffic, me));
            });
        }
    });
}

/// A name that the device passes.
fn name(name: *const c_char) -> Option<String> {
    // SAFETY: the device passes a string that it keeps, or null.
    (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned())
}

/// What launches are called: their call path, and the call of a library that they serve, if they do.
fn origin_of(stack: StackId, library: Option<u32>) -> u64 {
    u64::from(stack.to_bits()) | library.map_or(0, |call| u64::from(call) + 1) << 32
}

/// Back from [`origin_of`].
fn origin(origin: u64) -> (StackId, Option<u32>) {
    (StackId::from_bits(origin as u32), ((origin >> 32) as u32).checked_sub(1))
}

impl Accesses {
    /// Counts them.
    fn count(&self, traffic: &mut Traffic, me: u32) {
        let kernel = name(self.kernel).map_or_else(String::new, |name| demangled(&name));
        if !traffic.settings().kernels.is_empty()
            && !traffic.settings().kernels.iter().any(|wanted| kernel.contains(wanted.as_str()))
        {
            return;
        }
        let (stack, library) = origin(self.origin);
        let owner = traffic.objects.at(self.start as usize);
        let device = (self.owner != NO_DEVICE).then_some(Place::Device(self.owner));
        let running = End::At(Place::Device(self.device));
        let owned = End::At(device.unwrap_or(Place::Rank(me)));
        let kind = match (device.is_some(), self.kind) {
            _ if library.is_some() => Kind::Nccl,
            (true, LOAD) => Kind::PeerLoad,
            (true, STORE) => Kind::PeerStore,
            (true, _) => Kind::PeerAtomic,
            (false, LOAD) => Kind::HostLoad,
            (false, _) => Kind::HostStore,
        };
        let loads = self.kind == LOAD;
        let (source, target) = if loads { (owned, running) } else { (running, owned) };
        let file = name(self.file);
        let line = file.map(|file| traffic.line(&kernel, &file, self.line));
        let object = owner.map(|(object, _)| object);
        let key = Key {
            kind,
            call: match library {
                Some(call) => call,
                None => traffic.strings.number(&name(self.instruction).unwrap_or_default()),
            },
            stack,
            line,
            side: Side::Both,
            source,
            target,
            group: None,
            tag: None,
            object: object.filter(|_| loads),
            other: object.filter(|_| !loads),
            region: traffic.region(),
        };
        let (start, bytes) = (self.start as usize, self.bytes as usize);
        let footprint = Footprint::Dense(start..start + bytes);
        let part = owner.map(|(_, base)| (base, &footprint));
        let accesses = self.bytes / u64::from(self.size.max(1)) * self.times;
        let amount = Amount { count: accesses, bytes: self.bytes * self.times, times: self.times };
        let (read, written) = if loads { (part, None) } else { (None, part) };
        traffic.moved(ticks(), key, amount, read, written);
    }
}
