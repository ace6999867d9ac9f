//! CUDA arrays: memory that the program has handles of, and no addresses.
//!
//! Texels have consecutive addresses, row by row. On the simulated device these are their real
//! addresses; on hardware the addresses are not known, and texels get addresses that no memory has.

use crate::arguments::In;
use crate::call::Call;
use crate::copies::Copied;
use crate::memory::{allocated, free};
use crate::real::{SUCCESS, real};
use commsan_cuda::{MemoryKind, Release, Rows};
use commsan_cuda_abi::{ChannelFormatDesc, Extent, Pos};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::ffi::c_int;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Arrays by their handles.
static ARRAYS: LazyLock<Mutex<FxHashMap<usize, Array>>> = LazyLock::new(Mutex::default);

/// Addresses above these are no program's.
const NO_MEMORY: usize = 1 << 58;
/// Between arrays that are said to lie there.
const GAP: usize = 1 << 12;

/// An array.
#[derive(Clone, Copy)]
pub(crate) struct Array {
    start: usize,
    /// Bytes of a texel.
    pub element: usize,
    pitch: usize,
    slice: usize,
}

impl Array {
    /// The array of a handle.
    pub fn of(handle: usize) -> Option<Array> {
        ARRAYS.lock().get(&handle).copied()
    }

    /// What begins at so many bytes of a row of a slice.
    pub fn rows(&self, x: usize, y: usize, z: usize) -> Rows {
        let start = self.start + x + y * self.pitch + z * self.slice;
        Rows { start, pitch: self.pitch, slice: self.slice }
    }

    /// What begins at a position in texels.
    pub fn at(&self, at: Pos) -> Rows {
        self.rows(at.x * self.element, at.y, at.z)
    }
}

/// An array was made.
pub(crate) fn made(call: &Call, handle: usize, format: In<ChannelFormatDesc>, extent: Extent) {
    static NEXT: AtomicUsize = AtomicUsize::new(NO_MEMORY);
    let Some((channels, width)) = format.if_any().and_then(|format| format.channels()) else {
        return;
    };
    let element = channels * width;
    let pitch = extent.width * element;
    let slice = pitch * extent.height.max(1);
    let size = slice * extent.depth.max(1);
    let simulated = real!(c"commsan_simgpu_array", fn(usize) -> usize)
        // SAFETY: the simulated runtime's function of this name.
        .map(|function| unsafe { function(handle) });
    let start = simulated
        .unwrap_or_else(|| NEXT.fetch_add(size.next_multiple_of(GAP) + GAP, Ordering::Relaxed));
    ARRAYS.lock().insert(handle, Array { start, element, pitch, slice });
    allocated(call, MemoryKind::Device, start, size);
}

/// An array is given back.
pub(crate) fn freed(call: Option<&Call>, handle: usize, real: impl FnOnce() -> c_int) -> c_int {
    let Some(array) = call.and_then(|_| Array::of(handle)) else { return real() };
    let code = free(call, array.start, |_| Release::Device, real);
    if code == SUCCESS {
        ARRAYS.lock().remove(&handle);
    }
    code
}

/// Rows that are copied to a place in an array, and back if `turned`.
pub(crate) fn rows(
    (array, x, y): (usize, usize, usize),
    (start, pitch): (usize, usize),
    (width, height): (usize, usize),
    turned: bool,
) -> Option<Copied> {
    let to = Array::of(array)?.rows(x, y, 0);
    let from = Rows { start, pitch, slice: pitch * height };
    let extent = Extent { width, height, depth: 1 };
    let (to, from) = if turned { (from, to) } else { (to, from) };
    Some(Copied { to, from, extent })
}

/// Where so many bytes begin.
pub(crate) fn start((array, x, y): (usize, usize, usize)) -> Option<usize> {
    Some(Array::of(array)?.rows(x, y, 0).start)
}
