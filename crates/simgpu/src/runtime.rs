//! The runtime: all devices of a process, under one lock.
//!
//! There is no background execution. A thread that must wait for an operation executes it and its
//! dependencies itself, slice by slice, and releases the lock in between ([`crate::schedule`]).
//! Functions of the program that streams call run on a thread of their own, and another thread
//! makes progress when the program waits without calling ([`crate::service`]).

use crate::device::Device;
use crate::error::{Error, Result};
use crate::events::Events;
use crate::graphs::Graphs;
use crate::grid::Loader;
use crate::images::Images;
use crate::ipc::SharedEvents;
use crate::memory::Memory;
use crate::modules::Modules;
use crate::order::{OpId, Order, StreamId};
use crate::pools::Pools;
use crate::schedule::{Pending, Resident, Step};
use crate::service::Services;
use crate::settings::{Choices, Settings};
use crate::streams::{Streams, Which};
use crate::thread;
use crate::watch::Watcher;
use commsan_cuda_abi::nvshmem::FindPeerMemory;
use commsan_cuda_abi::observe::{Failed, Mistaken, Moved};
use parking_lot::{Condvar, Mutex, MutexGuard};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long a thread sleeps before it checks again whether another process or a function of the
/// program has done what it waits for.
const SLEEP_INTERVAL: Duration = Duration::from_millis(1);

/// The weight of a sleep in slices of execution: a stall is detected after some tenths of a second.
const SLEEP_WEIGHT: u64 = 100;

/// A process's devices and their state.
pub struct Runtime {
    state: Mutex<State>,
    /// Signalled when an operation completes.
    pub(crate) completed: Condvar,
    /// Signalled when a function of the program is to be called.
    pub(crate) host_calls: Condvar,
    /// Number of calls so far: while the program calls, the watcher is not needed.
    pub(crate) calls: AtomicU64,
}

/// The state under the lock.
pub struct State {
    pub(crate) choices: Choices,
    pub(crate) order: Order,
    /// The actions of operations that have not started.
    pub(crate) pending: FxHashMap<OpId, Pending>,
    /// How many of these call the program.
    pub(crate) functions: usize,
    /// Bytes staged for copies that have not run.
    pub(crate) staged: usize,
    /// Memory to free when an operation is complete.
    pub(crate) leaving: FxHashMap<OpId, Vec<usize>>,
    /// Kernels that have started.
    pub(crate) residents: VecDeque<Resident>,
    /// Functions to call, for the thread that calls them.
    pub(crate) host_calls: VecDeque<(OpId, Pending)>,
    /// Virtual time, in nanoseconds.
    pub(crate) now: u64,
    /// Number of executed slices.
    pub(crate) turn: u64,
    /// Slices executed, or weighted sleeps, since an operation last completed.
    pub(crate) stalled_slices: u64,
    /// How often conditional nodes have selected a graph.
    pub(crate) choices_made: u64,
    /// Number of threads in [`Session::wait`].
    pub(crate) waiting: usize,
    pub(crate) devices: Vec<Device>,
    pub(crate) streams: Streams,
    pub(crate) events: Events,
    pub(crate) memory: Memory,
    pub(crate) pools: Pools,
    pub(crate) images: Images,
    pub(crate) modules: Modules,
    pub(crate) graphs: Graphs,
    /// Events that other processes may open.
    pub(crate) board: Option<Arc<SharedEvents>>,
    /// Whether other processes have handles of memory of this one.
    pub(crate) exported: bool,
    pub(crate) services: Services,
    /// The checker's callbacks for kernels.
    pub(crate) watcher: Option<Watcher>,
    /// The checker's callback for kernels that fail.
    pub(crate) failures: Option<Failed>,
    /// Whether kernels are followed for what their threads do wrong.
    pub(crate) kernel_checks: bool,
    /// The checker's callback for mistakes within kernels.
    pub(crate) mistakes: Option<Mistaken>,
    /// The profiler's callback for accesses of kernels outside their devices.
    pub(crate) profiler: Option<Moved>,
    /// Who finds memory of processing elements.
    pub(crate) peers: Option<FindPeerMemory>,
    next_handle: usize,
}

impl Runtime {
    /// Creates the runtime, which lives as long as the process.
    pub fn new(settings: Settings, loader: Box<dyn Loader>) -> Result<&'static Runtime> {
        let count = settings.devices;
        let mut state = State {
            choices: Choices::new(settings.seed),
            order: Order::default(),
            pending: FxHashMap::default(),
            functions: 0,
            staged: 0,
            leaving: FxHashMap::default(),
            residents: VecDeque::new(),
            host_calls: VecDeque::new(),
            now: 0,
            turn: 0,
            stalled_slices: 0,
            choices_made: 0,
            waiting: 0,
            devices: Vec::new(),
            streams: Streams::default(),
            events: Events::default(),
            memory: Memory::new(count, crate::device::MEMORY)?.marked(settings.kernel_checks),
            pools: Pools::default(),
            images: Images::default(),
            modules: Modules::new(loader),
            graphs: Graphs::default(),
            board: None,
            exported: false,
            services: Services::default(),
            watcher: None,
            failures: None,
            kernel_checks: settings.kernel_checks,
            mistakes: None,
            profiler: None,
            peers: None,
            next_handle: FIRST_HANDLE,
        };
        for device in 0..count {
            let legacy = state.streams.add_legacy(&mut state.order, device);
            let handle = state.new_handle();
            state.pools.add_default(handle, device);
            state.devices.push(Device::new(legacy, handle));
        }
        Ok(Box::leak(Box::new(Runtime {
            state: Mutex::new(state),
            completed: Condvar::new(),
            host_calls: Condvar::new(),
            calls: AtomicU64::new(0),
        })))
    }

    /// Begins a call of the program: takes the lock.
    pub fn session(&'static self) -> Session {
        self.calls.fetch_add(1, Ordering::Relaxed);
        Session { runtime: self, state: self.state.lock() }
    }

    pub(crate) fn lock(&'static self) -> MutexGuard<'static, State> {
        self.state.lock()
    }

    /// Number of calls of the program so far.
    pub(crate) fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }
}

/// Handles look like addresses, are never reused, and lie in unmapped memory.
const FIRST_HANDLE: usize = 0x5EED_0000_0100;
const HANDLE_STEP: usize = 0x10;

impl State {
    /// A handle that no other object has or had.
    pub(crate) fn new_handle(&mut self) -> usize {
        self.next_handle += HANDLE_STEP;
        self.next_handle
    }

    /// Checks a device number.
    pub fn device_number(&self, device: i32) -> Result<usize> {
        let number = usize::try_from(device).ok().filter(|&device| device < self.devices.len());
        number.ok_or(Error::INVALID_DEVICE)
    }

    /// The calling thread's device; an error if there is none, or a fault has made it unusable.
    pub fn current(&self) -> Result<usize> {
        let device = thread::device();
        self.usable(device)?;
        Ok(device)
    }

    /// Checks that a device exists and is usable.
    pub fn usable(&self, device: usize) -> Result {
        match self.devices.get(device) {
            None => Err(Error::NO_DEVICE),
            Some(Device { fault: Some(fault), .. }) => Err(*fault),
            Some(_) => Ok(()),
        }
    }
}

/// The lock, held during a call of the program.
pub struct Session {
    pub(crate) runtime: &'static Runtime,
    state: MutexGuard<'static, State>,
}

impl Deref for Session {
    type Target = State;

    fn deref(&self) -> &State {
        &self.state
    }
}

impl DerefMut for Session {
    fn deref_mut(&mut self) -> &mut State {
        &mut self.state
    }
}

impl Session {
    /// The stream that a handle denotes for this thread.
    pub fn stream(&mut self, which: Which) -> Result<StreamId> {
        let device = self.current()?;
        let state = &mut *self.state;
        state.streams.resolve(&mut state.order, which, thread::number(), device)
    }

    /// Executes until all of `goals` are complete; then returns the error of a device that is in an
    /// error state.
    pub fn wait(&mut self, goals: &[OpId]) -> Result {
        let mut needed = self.order.needed(goals);
        let mut choices = self.choices_made;
        self.waiting += 1;
        while goals.iter().any(|&goal| self.state.order.is_pending(goal)) {
            if choices != self.choices_made {
                choices = self.choices_made;
                needed = self.order.needed(goals);
            }
            match self.piece(&needed) {
                // A kernel may wait for another process, which needs the processor, too.
                Step::Spinning if self.exported => {
                    MutexGuard::unlocked(&mut self.state, std::thread::yield_now);
                }
                Step::Progress | Step::Spinning => MutexGuard::bump(&mut self.state),
                Step::Blocked => {
                    self.state.stalled_slices += SLEEP_WEIGHT;
                    self.runtime.completed.wait_for(&mut self.state, SLEEP_INTERVAL);
                }
            }
        }
        self.waiting -= 1;
        self.runtime.completed.notify_all();
        self.current().map(drop)
    }

    /// Executes whatever can run, for at most this long.
    pub fn execute_for(&mut self, limit: Duration) {
        let start = Instant::now();
        while !self.order.is_idle() && start.elapsed() < limit {
            let step = self.state.step(None);
            self.wake_services();
            if step == Step::Blocked {
                break;
            }
            MutexGuard::bump(&mut self.state);
        }
        self.runtime.completed.notify_all();
    }

    /// Executes a slice, and hands over functions that are next to be called.
    fn piece(&mut self, needed: &FxHashSet<OpId>) -> Step {
        let step = self.state.step(Some(needed));
        self.wake_services();
        step
    }

    /// Executes one slice of what `goals` need; an error if they are not complete. A polling loop
    /// thus makes progress.
    pub fn query(&mut self, goals: &[OpId]) -> Result {
        let needed = self.order.needed(goals);
        if !needed.is_empty() && self.piece(&needed) == Step::Blocked {
            self.state.stalled_slices += 1;
            // The process that it waits for needs the processor, too.
            MutexGuard::unlocked(&mut self.state, std::thread::yield_now);
        }
        self.current()?;
        if goals.iter().any(|&goal| self.order.is_pending(goal)) {
            return Err(Error::NOT_READY);
        }
        Ok(())
    }

    /// Waits for all work of a device.
    pub fn wait_for_device(&mut self, device: usize) -> Result {
        let last = self.order.last_of(device);
        self.wait(&last)
    }
}
