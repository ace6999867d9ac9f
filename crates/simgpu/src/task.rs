//! The actions of stream operations.

use crate::conditional::Choice;
use crate::copy::{Copy, Set};
use crate::grid::{Addresses, Launch, Module};
use crate::ipc::Mark;
use std::ffi::{c_int, c_void};
use std::fmt;
use std::sync::Arc;

/// A function of the program, with its argument.
#[derive(Clone, Copy, Debug)]
pub enum HostCall {
    /// A `cudaLaunchHostFunc`.
    Function(extern "C" fn(*mut c_void), usize),
    /// A `cudaStreamAddCallback`, with the stream's handle.
    Callback(extern "C" fn(usize, c_int, *mut c_void), usize, usize),
}

impl HostCall {
    /// Calls the function; `status` is passed to callbacks.
    pub fn call(self, status: c_int) {
        match self {
            HostCall::Function(function, data) => function(data as *mut c_void),
            HostCall::Callback(function, stream, data) => {
                function(stream, status, data as *mut c_void);
            }
        }
    }
}

/// A kernel to launch.
#[derive(Clone)]
pub struct KernelCall {
    /// The module that defines it.
    pub module: Arc<dyn Module>,
    /// The addresses of the module's variables on the device.
    pub addresses: Arc<Addresses>,
    /// The launch configuration.
    pub launch: Launch,
    /// The host function that stands for it.
    pub function: usize,
}

impl fmt::Debug for KernelCall {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.launch.fmt(formatter)
    }
}

/// The action of an operation.
#[derive(Clone, Debug)]
pub enum Task {
    /// No action: it only orders others, or records its time.
    Mark,
    /// Copies memory.
    Copy(Copy),
    /// Copies bytes that were read from the source before.
    Staged(Copy, Arc<[u8]>),
    /// Sets memory.
    Set(Set),
    /// Calls the program.
    Host(HostCall),
    /// Runs a kernel.
    Kernel(Arc<KernelCall>),
    /// Frees memory that was allocated in stream order.
    Free(usize),
    /// Signals an event to other processes.
    Signal(Mark),
    /// Waits for an event of another process.
    Await(Mark),
    /// Sets conditions of graphs to their values at a launch.
    Assign(Arc<[(u64, u32)]>),
    /// Launches the graph that a condition selects.
    Choose(Arc<Choice>),
}

impl Task {
    /// Duration in nanoseconds of virtual time; kernels report theirs while they run. Latencies and
    /// rates are of the order of a current device's; they only affect `cudaEventElapsedTime`.
    pub fn cost(&self) -> u64 {
        const LATENCY_NS: u64 = 2_000;
        const HOST_CALLBACK_NS: u64 = 10_000;
        const BYTES_PER_NS: u64 = 25;
        const SET_BYTES_PER_NS: u64 = 1_000;
        match self {
            Task::Copy(copy) | Task::Staged(copy, _) => {
                LATENCY_NS + copy.extent.bytes() as u64 / BYTES_PER_NS
            }
            Task::Set(set) => LATENCY_NS + set.extent.bytes() as u64 / SET_BYTES_PER_NS,
            Task::Host(_) => HOST_CALLBACK_NS,
            Task::Kernel(_) => LATENCY_NS,
            Task::Mark
            | Task::Free(_)
            | Task::Signal(_)
            | Task::Await(_)
            | Task::Assign(_)
            | Task::Choose(_) => 0,
        }
    }
}
