//! What commsan asks the library itself.
//!
//! Questions leave the program's last error as it was: a call that succeeds does not touch it, and what
//! one that fails leaves is taken away. Where the program has an error of its own that it has not looked
//! at, and the question fails as well, it finds the latter.

use crate::real::{SUCCESS, real};
use std::ffi::{c_int, c_uint};
use std::sync::OnceLock;

/// Asks, and says whether there was an answer.
fn ask(question: impl FnOnce() -> c_int) -> bool {
    let peek = || match real!(c"cudaPeekAtLastError", fn() -> c_int) {
        // SAFETY: no arguments.
        Some(peek) => unsafe { peek() },
        None => SUCCESS,
    };
    let before = peek();
    let answered = question() == SUCCESS;
    if !answered
        && before == SUCCESS
        && let Some(take) = real!(c"cudaGetLastError", fn() -> c_int)
    {
        // SAFETY: no arguments.
        unsafe { take() };
    }
    answered
}

/// Asks a question whose first argument is where the answer goes.
macro_rules! answer {
    ($name:literal, $answer:ty $(, $argument:expr => $ty:ty)*) => {{
        let mut answer = <$answer>::default();
        let asked = real!($name, fn(*mut $answer $(, $ty)*) -> c_int).is_some_and(|function| {
            // SAFETY: the function of this name, with a place for its answer.
            ask(|| unsafe { function(&mut answer $(, $argument)*) })
        });
        asked.then_some(answer)
    }};
}

/// The current device of this thread.
pub(crate) fn device() -> u32 {
    answer!(c"cudaGetDevice", c_int).map_or(0, |device| device.max(0) as u32)
}

/// The device that memory of the current one is on: the driver knows it where the runtime is linked into the program.
pub(crate) fn device_of(address: usize) -> u32 {
    /// `CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL`
    const ORDINAL: c_int = 9;
    let current = answer!(c"cudaGetDevice", c_int);
    let device = current
        .or_else(|| answer!(c"cuPointerGetAttribute", c_int, ORDINAL => c_int, address => usize));
    device.map_or(0, |device| device.max(0) as u32)
}

/// The architecture of a device, such as 90 for `sm_90`.
pub(crate) fn architecture(device: u32) -> Option<u32> {
    /// `cudaDevAttrComputeCapabilityMajor` and `Minor`.
    const MAJOR: c_int = 75;
    const MINOR: c_int = 76;
    let device = device as c_int;
    let attribute = |attribute: c_int| answer!(c"cudaDeviceGetAttribute", c_int, attribute => c_int, device => c_int);
    Some((attribute(MAJOR)? * 10 + attribute(MINOR)?) as u32)
}

/// Where the variable is on the current device that a host symbol stands for, and its size.
pub(crate) fn symbol(symbol: usize) -> Option<(usize, usize)> {
    let address = answer!(c"cudaGetSymbolAddress", usize, symbol => usize)?;
    let size = answer!(c"cudaGetSymbolSize", usize, symbol => usize)?;
    Some((address, size))
}

/// Whether a stream waits for the legacy default stream, and that for it.
pub(crate) fn is_blocking(stream: usize) -> bool {
    const NON_BLOCKING: c_uint = 1;
    let mut flags = 0;
    let asked = real!(c"cudaStreamGetFlags", fn(usize, *mut c_uint) -> c_int)
        // SAFETY: the function of this name, with a place for its answer.
        .is_some_and(|function| ask(|| unsafe { function(stream, &mut flags) }));
    !asked || flags & NON_BLOCKING == 0
}

/// Whether what is put into a stream makes a graph; true if in doubt.
pub(crate) fn is_capturing(stream: usize) -> bool {
    let mut status = 0;
    let asked = real!(c"cudaStreamIsCapturing", fn(usize, *mut c_int) -> c_int)
        // SAFETY: the function of this name, with a place for its answer.
        .is_some_and(|function| ask(|| unsafe { function(stream, &mut status) }));
    !asked || status != 0
}

/// Whether the library has the ABI of CUDA 13 or later.
pub(crate) fn is_13() -> bool {
    static ANSWER: OnceLock<bool> = OnceLock::new();
    *ANSWER.get_or_init(|| {
        answer!(c"cudaRuntimeGetVersion", c_int).is_none_or(|version| version >= 13000)
    })
}

/// The allocation that an address lies in, as the driver knows it.
pub(crate) fn allocation(address: usize) -> Option<std::ops::Range<usize>> {
    let function = real!(c"cuMemGetAddressRange_v2", fn(*mut usize, *mut usize, usize) -> c_int)?;
    let (mut start, mut size) = (0, 0);
    // SAFETY: the driver's function of this name, with places for its answers. It leaves no error.
    let code = unsafe { function(&mut start, &mut size, address) };
    (code == SUCCESS).then_some(start..start + size)
}
