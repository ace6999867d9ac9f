//! The machine: all devices of a process, under one lock.
//!
//! Nobody executes operations in the background. A thread that must wait for one executes it, and
//! what it waits for, itself, piece by piece, and lets others have the lock in between
//! ([`crate::schedule`]). Functions of the program that streams call run on a thread of their own,
//! and another makes things progress when the program waits without calling ([`crate::service`]).

use crate::account::Moved;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::events::Events;
use crate::failure::Failed;
use crate::graphs::Graphs;
use crate::grid::Loader;
use crate::images::Images;
use crate::ipc::Board;
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
use parking_lot::{Condvar, Mutex, MutexGuard};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long a thread sleeps before it looks again whether another process or a function of the
/// program has done what it waits for.
const NAP: Duration = Duration::from_millis(1);

/// What a nap counts for in pieces of execution: some tenths of a second are patience enough.
const NAP_COST: u64 = 100;

/// A process's devices and what is known of them.
pub struct Runtime {
    state: Mutex<State>,
    /// Something has completed.
    pub(crate) completed: Condvar,
    /// A function of the program is to be called.
    pub(crate) host_calls: Condvar,
    /// Calls so far: while the program calls, it needs no watching.
    pub(crate) calls: AtomicU64,
}

/// All that the lock protects.
pub struct State {
    pub(crate) choices: Choices,
    pub(crate) order: Order,
    /// What the operations do that have not started.
    pub(crate) pending: FxHashMap<OpId, Pending>,
    /// How many of these call the program.
    pub(crate) functions: usize,
    /// Bytes kept for copies that have not run.
    pub(crate) staged: usize,
    /// Memory to free when an operation is complete.
    pub(crate) leaving: FxHashMap<OpId, Vec<usize>>,
    /// Kernels that have started.
    pub(crate) residents: VecDeque<Resident>,
    /// Functions to call, for the thread that does.
    pub(crate) host_calls: VecDeque<(OpId, Pending)>,
    /// Virtual time, in nanoseconds.
    pub(crate) now: u64,
    /// Pieces executed.
    pub(crate) turn: u64,
    /// Pieces executed, or naps taken, since an operation last completed.
    pub(crate) barren: u64,
    /// How often graphs have chosen what runs.
    pub(crate) choices_made: u64,
    /// Threads in [`Session::wait`].
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
    pub(crate) board: Option<Arc<Board>>,
    /// Whether other processes have handles of memory here.
    pub(crate) exported: bool,
    pub(crate) services: Services,
    /// Who watches kernels.
    pub(crate) watcher: Option<Watcher>,
    /// Called for kernels that fail.
    pub(crate) plaintiff: Option<Failed>,
    /// Called with the accesses of kernels outside their devices.
    pub(crate) profiler: Option<Moved>,
    next_handle: usize,
}

impl Runtime {
    /// A runtime for as long as the process lives.
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
            barren: 0,
            choices_made: 0,
            waiting: 0,
            devices: Vec::new(),
            streams: Streams::default(),
            events: Events::default(),
            memory: Memory::new(count, crate::device::MEMORY)?,
            pools: Pools::default(),
            images: Images::default(),
            modules: Modules::new(loader),
            graphs: Graphs::default(),
            board: None,
            exported: false,
            services: Services::default(),
            watcher: None,
            plaintiff: None,
            profiler: None,
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

    /// A call of the program: takes the lock.
    pub fn session(&'static self) -> Session {
        self.calls.fetch_add(1, Ordering::Relaxed);
        Session { runtime: self, state: self.state.lock() }
    }

    pub(crate) fn lock(&'static self) -> MutexGuard<'static, State> {
        self.state.lock()
    }

    /// Calls of the program so far.
    pub(crate) fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }
}

/// Handles look like addresses, are never used twice, and lie where nothing is mapped.
const FIRST_HANDLE: usize = 0x5EED_0000_0100;
const HANDLE_STEP: usize = 0x10;

impl State {
    /// A handle that no other object has or had.
    pub(crate) fn new_handle(&mut self) -> usize {
        self.next_handle += HANDLE_STEP;
        self.next_handle
    }

    /// Checks that there is such a device.
    pub fn device_number(&self, device: i32) -> Result<usize> {
        let number = usize::try_from(device).ok().filter(|&device| device < self.devices.len());
        number.ok_or(Error::INVALID_DEVICE)
    }

    /// The calling thread's device, if there is any and a kernel has not spoilt it.
    pub fn current(&self) -> Result<usize> {
        let device = thread::device();
        self.usable(device)?;
        Ok(device)
    }

    /// Checks that a device is there and works.
    pub fn usable(&self, device: usize) -> Result {
        match self.devices.get(device) {
            None => Err(Error::NO_DEVICE),
            Some(Device { fault: Some(fault), .. }) => Err(*fault),
            Some(_) => Ok(()),
        }
    }
}

/// The lock, held by a call of the program.
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
    /// The stream that a handle means to this thread.
    pub fn stream(&mut self, which: Which) -> Result<StreamId> {
        let device = self.current()?;
        let state = &mut *self.state;
        state.streams.resolve(&mut state.order, which, thread::number(), device)
    }

    /// Executes until all of `goals` are complete; then returns whether a device is in an error
    /// state.
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
                // Whom a kernel waits for may be another process, which needs the processor, too.
                Step::Spinning if self.exported => {
                    MutexGuard::unlocked(&mut self.state, std::thread::yield_now);
                }
                Step::Progress | Step::Spinning => MutexGuard::bump(&mut self.state),
                Step::Blocked => {
                    self.state.barren += NAP_COST;
                    self.runtime.completed.wait_for(&mut self.state, NAP);
                }
            }
        }
        self.waiting -= 1;
        self.runtime.completed.notify_all();
        self.current().map(drop)
    }

    /// Executes what may run, whoever waits for it, for this long at most.
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

    /// Executes a piece, and has the functions called that are next.
    fn piece(&mut self, needed: &FxHashSet<OpId>) -> Step {
        let step = self.state.step(Some(needed));
        self.wake_services();
        step
    }

    /// Executes one slice of what `goals` need; returns whether they are complete. So who asks
    /// often enough sees them complete.
    pub fn query(&mut self, goals: &[OpId]) -> Result {
        let needed = self.order.needed(goals);
        if !needed.is_empty() && self.piece(&needed) == Step::Blocked {
            self.state.barren += 1;
            // Whom it waits for needs the processor, too.
            MutexGuard::unlocked(&mut self.state, std::thread::yield_now);
        }
        self.current()?;
        if goals.iter().any(|&goal| self.order.is_pending(goal)) {
            return Err(Error::NOT_READY);
        }
        Ok(())
    }

    /// Waits for everything on a device.
    pub fn wait_for_device(&mut self, device: usize) -> Result {
        let last = self.order.last_of(device);
        self.wait(&last)
    }
}
