//! Variables of modules, by the host variables that stand for them.

use crate::arguments::In;
use crate::ask;
use crate::call::Call;
use crate::memory::allocated_as;
use crate::process::quietly;
use commsan_cuda::MemoryKind;
use parking_lot::Mutex;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// Where variables are, by symbol and device.
static ADDRESSES: LazyLock<Mutex<FxHashMap<(usize, u32), usize>>> = LazyLock::new(Mutex::default);

static MANAGED: LazyLock<Mutex<Managed>> = LazyLock::new(Mutex::default);
static SOME_MANAGED: AtomicBool = AtomicBool::new(false);

/// Managed variables, by where the library puts their addresses.
#[derive(Default)]
struct Managed {
    known: FxHashSet<usize>,
    /// Those that have no memory yet, with their sizes.
    waiting: Vec<(usize, usize)>,
}

/// What the library has put where the address of a managed variable is to be.
fn content(pointer: usize) -> Option<usize> {
    Some(In::from(pointer as *const usize).get()).filter(|&address| address != 0)
}

/// The address of a variable on the current device. Its memory becomes known when it is met first.
pub(crate) fn address(call: &Call, symbol: usize) -> Option<usize> {
    let key = (symbol, call.device());
    if let Some(&known) = ADDRESSES.lock().get(&key) {
        return Some(known);
    }
    let managed = MANAGED.lock().known.contains(&symbol);
    let (start, size) = if managed { (content(symbol)?, 0) } else { ask::symbol(symbol)? };
    if ADDRESSES.lock().insert(key, start).is_none() && !managed {
        allocated_as(call, "__device__", MemoryKind::Device, start, size);
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
    let mut managed = MANAGED.lock();
    managed.known.insert(pointer);
    managed.waiting.push((pointer, size));
    SOME_MANAGED.store(true, Ordering::Release);
}

/// Takes note of managed variables that have memory now.
#[inline]
pub(crate) fn meet_managed(call: &Call) {
    if SOME_MANAGED.load(Ordering::Acquire) {
        look_at_managed(call);
    }
}

#[cold]
fn look_at_managed(call: &Call) {
    quietly(|| take_managed(call));
}

fn take_managed(call: &Call) {
    let mut made = Vec::new();
    {
        let mut managed = MANAGED.lock();
        managed.waiting.retain(|&(pointer, size)| {
            let start = content(pointer);
            made.extend(start.map(|start| (start, size)));
            start.is_none()
        });
        SOME_MANAGED.store(!managed.waiting.is_empty(), Ordering::Release);
    }
    for (start, size) in made {
        allocated_as(call, "__managed__", MemoryKind::Managed, start, size);
    }
}
