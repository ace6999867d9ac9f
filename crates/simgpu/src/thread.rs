//! Per-thread state of the host: current device, last error, launch configurations.

use crate::error::{Error, Result, SUCCESS};
use std::cell::Cell;
use std::ffi::c_int;
use std::sync::atomic::{AtomicU64, Ordering};

/// The configuration in `<<<...>>>`, on its way to the launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    /// Number of blocks.
    pub grid: [u32; 3],
    /// Number of threads of a block.
    pub block: [u32; 3],
    /// Size of dynamic shared memory, in bytes.
    pub shared: usize,
    /// The stream's handle.
    pub stream: usize,
}

/// What captures forbid to a thread, `cudaStreamCaptureMode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaptureMode {
    /// Captures of any thread forbid unsafe calls.
    Global,
    /// Captures of this thread forbid unsafe calls.
    ThreadLocal,
    /// Nothing is forbidden.
    Relaxed,
}

/// Maximum nesting of launches whose arguments contain launches.
const NESTED: usize = 8;

/// It needs no drop, so that it is still valid when programs call from `atexit`.
struct Thread {
    number: u64,
    device: Cell<usize>,
    last_error: Cell<c_int>,
    in_host_call: Cell<bool>,
    capture_mode: Cell<CaptureMode>,
    configurations: Cell<[Configuration; NESTED]>,
    nested: Cell<usize>,
    tag: Cell<u64>,
    origin: Cell<u64>,
}

thread_local! {
    static THREAD: Thread = {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Thread {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            device: Cell::new(0),
            last_error: Cell::new(SUCCESS),
            in_host_call: Cell::new(false),
            capture_mode: Cell::new(CaptureMode::Global),
            configurations: Cell::new([Configuration::default(); NESTED]),
            nested: Cell::new(0),
            tag: Cell::new(0),
            origin: Cell::new(0),
        }
    };
}

/// A number that no other thread of the process has.
pub fn number() -> u64 {
    THREAD.with(|thread| thread.number)
}

/// The current device.
pub fn device() -> usize {
    THREAD.with(|thread| thread.device.get())
}

/// Sets the current device.
pub fn set_device(device: usize) {
    THREAD.with(|thread| thread.device.set(device));
}

/// Sets the last error.
pub fn set_last_error(error: Error) {
    THREAD.with(|thread| thread.last_error.set(error.code()));
}

/// The last error since [`take_last_error`].
pub fn last_error() -> c_int {
    THREAD.with(|thread| thread.last_error.get())
}

/// Returns the last error, and clears it unless it is sticky.
pub fn take_last_error() -> c_int {
    let last = last_error();
    if !commsan_cuda_abi::is_sticky(last) {
        THREAD.with(|thread| thread.last_error.set(SUCCESS));
    }
    last
}

/// Whether the thread is in a function called by a stream, which must not call CUDA.
pub fn is_in_host_call() -> bool {
    THREAD.with(|thread| thread.in_host_call.get())
}

/// Runs a function called by a stream.
pub fn in_host_call(function: impl FnOnce()) {
    THREAD.with(|thread| thread.in_host_call.set(true));
    function();
    THREAD.with(|thread| thread.in_host_call.set(false));
}

/// The thread's capture mode.
pub fn capture_mode() -> CaptureMode {
    THREAD.with(|thread| thread.capture_mode.get())
}

/// Sets the thread's capture mode; returns the previous one.
pub fn set_capture_mode(mode: CaptureMode) -> CaptureMode {
    THREAD.with(|thread| thread.capture_mode.replace(mode))
}

/// Sets the checker's tag for the thread's next launch.
pub fn set_tag(tag: u64) {
    THREAD.with(|thread| thread.tag.set(tag));
}

/// Takes the tag for this launch; 0 if none was set.
pub fn take_tag() -> u64 {
    THREAD.with(|thread| thread.tag.take())
}

/// Sets the profiler's origin of the thread's launches from now on.
pub fn set_origin(origin: u64) {
    THREAD.with(|thread| thread.origin.set(origin));
}

/// The origin of the thread's launches.
pub fn origin() -> u64 {
    THREAD.with(|thread| thread.origin.get())
}

/// Pushes the configuration of a launch that follows.
pub fn push_configuration(configuration: Configuration) -> Result {
    THREAD.with(|thread| {
        let mut configurations = thread.configurations.get();
        let nested = thread.nested.get();
        *configurations.get_mut(nested).ok_or(Error::INVALID_CONFIGURATION)? = configuration;
        thread.configurations.set(configurations);
        thread.nested.set(nested + 1);
        Ok(())
    })
}

/// Pops the configuration of this launch.
pub fn pop_configuration() -> Result<Configuration> {
    THREAD.with(|thread| {
        let nested = thread.nested.get().checked_sub(1).ok_or(Error::MISSING_CONFIGURATION)?;
        thread.nested.set(nested);
        Ok(thread.configurations.get()[nested])
    })
}
