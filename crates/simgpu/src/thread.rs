//! What each host thread has of its own: its current device, its last error, its launches.

use crate::error::{Error, Result, SUCCESS};
use std::cell::Cell;
use std::ffi::c_int;
use std::sync::atomic::{AtomicU64, Ordering};

/// What `<<<...>>>` says, on its way to the launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Configuration {
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared: usize,
    /// The stream's handle.
    pub stream: usize,
}

/// How much a capture on this thread forbids, `cudaStreamCaptureMode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaptureMode {
    /// Captures of any thread forbid calls that may break them.
    Global,
    /// Captures of this thread do.
    ThreadLocal,
    /// Nothing is forbidden.
    Relaxed,
}

/// Launches whose arguments are launches themselves are rare, and never deep.
const NESTED: usize = 8;

/// Nothing in it is dropped, so that it is still there when programs call from `atexit`.
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

/// Its current device.
pub fn device() -> usize {
    THREAD.with(|thread| thread.device.get())
}

/// Another device becomes current.
pub fn set_device(device: usize) {
    THREAD.with(|thread| thread.device.set(device));
}

/// A call has failed.
pub fn set_last_error(error: Error) {
    THREAD.with(|thread| thread.last_error.set(error.code()));
}

/// The last failure since [`take_last_error`].
pub fn last_error() -> c_int {
    THREAD.with(|thread| thread.last_error.get())
}

/// The last failure, which is forgotten if it can be.
pub fn take_last_error() -> c_int {
    let last = last_error();
    if !commsan_cuda_abi::is_sticky(last) {
        THREAD.with(|thread| thread.last_error.set(SUCCESS));
    }
    last
}

/// Whether the thread is in a function that a stream has called, where CUDA must not be called.
pub fn is_in_host_call() -> bool {
    THREAD.with(|thread| thread.in_host_call.get())
}

/// A stream calls a function.
pub fn in_host_call(function: impl FnOnce()) {
    THREAD.with(|thread| thread.in_host_call.set(true));
    function();
    THREAD.with(|thread| thread.in_host_call.set(false));
}

/// How much captures forbid.
pub fn capture_mode() -> CaptureMode {
    THREAD.with(|thread| thread.capture_mode.get())
}

/// Changes how much captures forbid; gives what it was.
pub fn set_capture_mode(mode: CaptureMode) -> CaptureMode {
    THREAD.with(|thread| thread.capture_mode.replace(mode))
}

/// What the next launch of the thread is called by who watches.
pub fn set_tag(tag: u64) {
    THREAD.with(|thread| thread.tag.set(tag));
}

/// What this launch is called; 0 if nobody has said.
pub fn take_tag() -> u64 {
    THREAD.with(|thread| thread.tag.take())
}

/// What launches of this thread are called by who profiles, from now on.
pub fn set_origin(origin: u64) {
    THREAD.with(|thread| thread.origin.set(origin));
}

/// What they are called.
pub fn origin() -> u64 {
    THREAD.with(|thread| thread.origin.get())
}

/// Notes what a launch that follows is to be.
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

/// What this launch is to be.
pub fn pop_configuration() -> Result<Configuration> {
    THREAD.with(|thread| {
        let nested = thread.nested.get().checked_sub(1).ok_or(Error::MISSING_CONFIGURATION)?;
        thread.nested.set(nested);
        Ok(thread.configurations.get()[nested])
    })
}
