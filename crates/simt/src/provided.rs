//! Device functions that the system provides: `printf`, `assert`, `malloc`, `free`, and
//! `cudaGraphSetConditional`.

use crate::access::Region;
use crate::code::{Call, Passed, Provided};
use crate::condition::Conditions;
use crate::fault::Cause;
use crate::memory::{ARGUMENT_WINDOW, Global, LOCAL_WINDOW, in_window};
use crate::printf;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;

/// The services of a device for all grids that run on it.
pub struct Services {
    /// Memory that kernels have allocated.
    heap: Mutex<Heap>,
    /// The sink of `printf`.
    output: Output,
    /// The conditions that `cudaGraphSetConditional` sets.
    conditions: &'static Conditions,
}

/// The conditions of devices without graphs.
static NO_CONDITIONS: Conditions = Conditions::new();

type Output = Box<dyn Fn(&[u8]) + Send + Sync>;

#[derive(Default)]
struct Heap {
    blocks: BTreeMap<u64, u64>,
    used: u64,
}

/// Size of the device's heap (`cudaLimitMallocHeapSize`), in bytes, unless a program changes it.
const DEFAULT_HEAP_BYTES: u64 = 8 << 20;
const ALIGNMENT: usize = 16;

impl std::fmt::Debug for Services {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Services").finish_non_exhaustive()
    }
}

/// The calling thread.
pub struct Caller<'a, 'g> {
    /// The index of the block.
    pub block: [u32; 3],
    /// The index of the thread.
    pub thread: [u32; 3],
    /// Offset of the function's frame in local memory.
    pub frame: u64,
    /// The launch's arguments.
    pub arguments: Region,
    /// The host's memory.
    pub constants: &'a mut Global<'g>,
}

impl Services {
    /// Services that write the output of `printf` by `output`.
    pub fn new(output: impl Fn(&[u8]) + Send + Sync + 'static) -> Services {
        let conditions = &NO_CONDITIONS;
        Services { heap: Mutex::default(), output: Box::new(output), conditions }
    }

    /// Adds the handles of conditional nodes that kernels may set.
    pub fn with_conditions(mut self, conditions: &'static Conditions) -> Services {
        self.conditions = conditions;
        self
    }

    /// The allocation of the kernels' heap that contains an address.
    pub fn allocation(&self, address: u64) -> Option<Range<u64>> {
        let heap = self.heap.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let (start, end) = heap.blocks.range(..=address).next_back()?;
        (address < *end).then_some(*start..*end)
    }

    /// Calls a provided function in one thread, whose local memory holds the arguments; returns its
    /// result.
    pub(crate) fn call(
        &self,
        provided: Provided,
        call: &Call,
        local: &mut [u8],
        mut caller: Caller<'_, '_>,
    ) -> Result<u64, Cause> {
        let argument =
            |n: usize| call.arguments.get(n).map_or(0, |passed| word(local, caller.frame, *passed));
        let (a, b, c, d) = (argument(0), argument(1), argument(2), argument(3));
        let result = match provided {
            Provided::Vprintf => {
                let mut read = |address| byte(&mut caller, local, address);
                let format = text(&mut read, a).unwrap_or_default();
                let (bytes, count) = printf::format(&format, b, &mut read);
                (self.output)(&bytes);
                count
            }
            Provided::AssertFail => {
                let ([bx, by, bz], [tx, ty, tz]) = (caller.block, caller.thread);
                let mut read = |address| byte(&mut caller, local, address);
                let mut at = |address| {
                    String::from_utf8_lossy(&text(&mut read, address).unwrap_or_default())
                        .into_owned()
                };
                let (message, file, function) = (at(a), at(b), at(d));
                // In CUDA's format.
                let line = format!(
                    "{file}:{c}: {function}: block: [{bx},{by},{bz}], thread: [{tx},{ty},{tz}] \
                     Assertion `{message}` failed.\n"
                );
                (self.output)(line.as_bytes());
                return Err(Cause::Assertion(format!("assertion `{message}` failed")));
            }
            Provided::Malloc => self.malloc(a),
            Provided::Free => {
                self.free(a);
                0
            }
            Provided::SetConditional => {
                if !self.conditions.set(a, b as u32) {
                    return Err(Cause::NoCondition(a));
                }
                0
            }
        };
        if let Some(returned) = call.returns.first() {
            let at = (caller.frame + returned.at) as usize;
            let size = returned.size.min(8) as usize;
            local[at..at + size].copy_from_slice(&result.to_le_bytes()[..size]);
        }
        Ok(result)
    }

    /// Allocates from the kernels' heap; 0 if it has not enough memory.
    fn malloc(&self, size: u64) -> u64 {
        let mut heap = self.heap.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let size = size.max(1);
        if size > DEFAULT_HEAP_BYTES - heap.used {
            return 0;
        }
        let Ok(layout) = Layout::from_size_align(size as usize, ALIGNMENT) else { return 0 };
        // SAFETY: the size is not zero.
        let start = unsafe { alloc_zeroed(layout) }.expose_provenance() as u64;
        if start != 0 {
            heap.blocks.insert(start, start + size);
            heap.used += size;
        }
        start
    }

    /// Frees memory of the kernels' heap; any other pointer, or one already freed, has no effect.
    fn free(&self, start: u64) {
        let mut heap = self.heap.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(end) = heap.blocks.remove(&start) {
            heap.used -= end - start;
            release(start, end);
        }
    }
}

impl Drop for Services {
    fn drop(&mut self) {
        let heap = self.heap.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner());
        heap.blocks.iter().for_each(|(start, end)| release(*start, *end));
    }
}

fn release(start: u64, end: u64) {
    let layout = Layout::from_size_align((end - start) as usize, ALIGNMENT);
    let layout = layout.expect("it was good when the memory was allocated");
    // SAFETY: allocated with this layout; its entry was removed.
    unsafe { dealloc(std::ptr::with_exposed_provenance_mut(start as usize), layout) }
}

fn word(local: &[u8], frame: u64, passed: Passed) -> u64 {
    let at = (frame + passed.at) as usize;
    let size = passed.size.min(8) as usize;
    let mut bytes = [0; 8];
    bytes[..size].copy_from_slice(&local[at..at + size]);
    u64::from_le_bytes(bytes)
}

/// A byte at a generic address, if the thread may read it.
fn byte(caller: &mut Caller<'_, '_>, local: &[u8], address: u64) -> Option<u8> {
    if in_window(address, LOCAL_WINDOW) {
        return local.get((address - LOCAL_WINDOW) as usize).copied();
    }
    if in_window(address, ARGUMENT_WINDOW) {
        let offset = address - ARGUMENT_WINDOW;
        let inside = offset < caller.arguments.size;
        // SAFETY: within the arguments, which live as long as the grid.
        return inside.then(|| unsafe { *caller.arguments.base.add(offset as usize) });
    }
    caller.constants.check(u32::MAX, address, 1).ok()?;
    // SAFETY: checked to be accessible.
    Some(unsafe {
        <u8 as crate::memory::Cell>::load(std::ptr::with_exposed_provenance(address as usize))
    })
}

/// A zero-terminated string; `None` for a null pointer.
pub(crate) fn text(read: &mut dyn FnMut(u64) -> Option<u8>, address: u64) -> Option<Vec<u8>> {
    const MAX_TEXT_BYTES: u64 = 1 << 16;
    (address != 0).then(|| {
        let bytes = (0..MAX_TEXT_BYTES).map_while(|n| read(address + n));
        bytes.take_while(|byte| *byte != 0).collect()
    })
}
