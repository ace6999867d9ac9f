//! Variables of modules, by the host variables that stand for them.

use crate::ask;
use crate::entry::{Call, In, quietly};
use crate::memory::allocated;
use commsan_cuda::MemoryKind;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Where variables are, by symbol and device.
static ADDRESSES: LazyLock<Mutex<FxHashMap<(usize, u32), usize>>> = LazyLock::new(Mutex::default);

/// Managed variables that have no memory yet: where their address will be, and their size.
static MANAGED: Mutex<Vec<(usize, usize)>> = Mutex::new(Vec::new());
static SOME_MANAGED: AtomicBool = AtomicBool::new(false);

/// The address of a variable on the current device. Its memory is told of when it is met first.
pub(crate) fn address(call: &Call, symbol: usize) -> Option<usize> {
    let key = (symbol, call.device());
    if let Some(&known) = ADDRESSES.lock().get(&key) {
        return Some(known);
    }
    let (start, size) = ask::symbol(symbol)?;
    if ADDRESSES.lock().insert(key, start).is_none() {
        allocated(call, MemoryKind::Device, start, size);
    }
    Some(start)
}

/// Everything of a device is about to go. Where variables of others are is asked again.
pub(crate) fn reset() {
    ADDRESSES.lock().clear();
}

/// A managed variable was registered, which the program reaches through a pointer that the library sets
/// when it makes its memory.
pub(crate) fn managed(pointer: usize, size: usize) {
    MANAGED.lock().push((pointer, size));
    SOME_MANAGED.store(true, Ordering::Release);
}

/// Tells of managed variables that have memory now.
#[inline]
pub(crate) fn meet_managed(call: &Call) {
    if SOME_MANAGED.load(Ordering::Acquire) {
        look_at_managed(call);
    }
}

#[cold]
fn look_at_managed(call: &Call) {
    quietly(|| tell_managed(call));
}

fn tell_managed(call: &Call) {
    let mut made = Vec::new();
    {
        let mut managed = MANAGED.lock();
        managed.retain(|&(pointer, size)| {
            let start = In::from(pointer as *const usize).get();
            made.extend((start != 0).then_some((start, size)));
            start == 0
        });
        SOME_MANAGED.store(!managed.is_empty(), Ordering::Release);
    }
    for (start, size) in made {
        allocated(call, MemoryKind::Managed, start, size);
    }
}
