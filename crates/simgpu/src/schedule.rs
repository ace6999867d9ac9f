//! The scheduler of ready operations.
//!
//! Only operations that something waits for run, so that a program that forgets to wait sees old
//! memory. But kernels may wait for each other, on flags in memory that the scheduler does not know
//! of: when nothing has completed for long, everything that can run takes turns.

use crate::account::Account;
use crate::checks::MistakeReporter;
use crate::conditional::CONDITIONS;
use crate::device::Device;
use crate::error::{Error, Result, SUCCESS};
use crate::failure::FailureReporter;
use crate::grid::{Grid, Observed, Progress, Reach};
use crate::images::Images;
use crate::memory::{Kind, Memory, Place};
use crate::order::OpId;
use crate::pools::Pools;
use crate::runtime::State;
use crate::task::{HostCall, KernelCall, Task};
use crate::watch::Watch;
use commsan_cuda_abi::nvshmem::{FOUND, FindPeerMemory, NO_PE, PeerMemory};
use commsan_simt::{Mapped, NoPeer, Surface, Texture};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Thread instructions of a time slice: a fraction of a millisecond of interpretation.
const SLICE_INSTRUCTIONS: u64 = 20_000;

/// Number of slices without a completed operation after which everything that can runs. A kernel
/// that merely takes long should not reach it, or work would run that nothing waits for.
const STALL_TIMEOUT_SLICES: u64 = 20_000;

/// Weight of a slice in which a kernel spins, or all sleep: the kernel probably waits for another.
const IDLE_SLICE_WEIGHT: u64 = 1_000;

/// Maximum number of turns for which a sleeping kernel is skipped.
const MAX_SLEEP_TURNS: u64 = 16;

/// An operation that has not started.
#[derive(Debug)]
pub struct Pending {
    /// Its action.
    pub task: Task,
    /// Its device.
    pub device: usize,
    /// The earliest start, in virtual time.
    pub start: u64,
}

/// A kernel that has started.
pub struct Resident {
    op: OpId,
    device: usize,
    grid: Box<dyn Grid>,
    /// The kernel's own virtual time.
    time: u64,
    /// The turn until which it sleeps.
    wake: u64,
}

/// The result of a scheduling step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Something was executed.
    Progress,
    /// A kernel was executed, which only polled memory that others may write.
    Spinning,
    /// Everything depends on functions of the program or on other processes, or nothing is pending.
    Blocked,
}

/// Memory and peers, as kernels see them.
struct View<'a> {
    memory: &'a Memory,
    devices: &'a [Device],
    pools: &'a Pools,
    images: &'a Images,
    peers: Option<FindPeerMemory>,
}

impl Reach for View<'_> {
    fn allocation(&self, device: usize, address: usize) -> Option<Range<usize>> {
        let found = self.memory.find(address)?;
        let reachable = found.place() != Place::Device
            || found.device == device
            || self.devices[device].peers.contains(&found.device)
            || found.pool.is_some_and(|pool| self.pools.is_open_to(pool, device));
        reachable.then(|| found.range.clone())
    }

    fn texture(&self, handle: u64) -> Option<Arc<Texture>> {
        self.images.texture(handle)
    }

    fn surface(&self, handle: u64) -> Option<Arc<Surface>> {
        self.images.surface(handle)
    }

    fn peer(&self, pe: i32, address: u64) -> Result<Mapped, NoPeer> {
        let mut found = PeerMemory::default();
        match self.peers.map_or(NO_PE, |find| find(pe, address, &mut found)) {
            FOUND => {
                Ok(Mapped { known: found.known..found.known + found.size, start: found.start })
            }
            NO_PE => Err(NoPeer::Pe),
            _ => Err(NoPeer::Memory),
        }
    }
}

impl State {
    /// Executes one slice of what is `needed`; of everything if that is `None`, or if it has not
    /// helped for long.
    pub fn step(&mut self, needed: Option<&FxHashSet<OpId>>) -> Step {
        self.turn += 1;
        let needed = needed.filter(|_| self.stalled_slices < STALL_TIMEOUT_SLICES);
        let wanted = |op: OpId| needed.is_none_or(|needed| needed.contains(&op));
        let mut startable: Vec<OpId> = self.order.ready().filter(|&op| wanted(op)).collect();
        startable.retain(|op| match self.pending.get(op) {
            Some(Pending { task: Task::Await(mark), .. }) => mark.is_reached(),
            _ => true,
        });
        // Running kernels take turns, the oldest first, unless the seed selects another one, or
        // lets kernels continue before others start.
        let is_awake = |resident: &Resident| wanted(resident.op) && resident.wake <= self.turn;
        let awake = (0..self.residents.len()).filter(|at| is_awake(&self.residents[*at]));
        let awake: SmallVec<[usize; 4]> = awake.collect();
        if !startable.is_empty() || !awake.is_empty() {
            let chosen = self.choices.pick(startable.len() + awake.len());
            let Some(&op) = startable.get(chosen) else {
                return self.advance(awake[chosen - startable.len()]);
            };
            self.begin(op);
            return Step::Progress;
        }
        if self.residents.iter().any(|resident| wanted(resident.op)) {
            self.residents.iter_mut().for_each(|resident| resident.wake = self.turn);
            self.stalled_slices += IDLE_SLICE_WEIGHT;
            return Step::Progress;
        }
        Step::Blocked
    }

    /// Occasionally runs something early, if the seed says so.
    pub(crate) fn run_early(&mut self) {
        while self.choices.is_eager() {
            if self.step(None) == Step::Blocked {
                break;
            }
        }
    }

    /// Starts a ready operation; all but kernels and functions of the program complete at once.
    fn begin(&mut self, op: OpId) {
        self.order.start(op);
        let Some(pending) = self.pending.remove(&op) else { return };
        let finish = pending.start + pending.task.cost();
        match &pending.task {
            Task::Mark | Task::Await(_) => {}
            // SAFETY: the program has promised that this memory is valid until the operation is
            // complete.
            Task::Copy(copy) => unsafe { copy.run() },
            Task::Staged(copy, staged) => {
                self.staged -= staged.len();
                // SAFETY: the program has promised that this memory is valid until the operation is
                // complete.
                unsafe { copy.finish(staged) };
            }
            // SAFETY: the program has promised that this memory is valid until the operation is
            // complete.
            Task::Set(set) => unsafe { set.run() },
            Task::Free(start) => self.release(*start),
            Task::Signal(mark) => mark.signal(),
            Task::Assign(values) => {
                values.iter().for_each(|(handle, value)| CONDITIONS.insert(*handle, *value));
            }
            Task::Choose(choice) => {
                if self.choose(op, choice, pending.device, finish) {
                    return;
                }
            }
            Task::Host(_) => {
                self.functions -= 1;
                self.host_calls.push_back((op, pending));
                return;
            }
            Task::Kernel(kernel) => match self.start(kernel) {
                Ok(grid) => {
                    let device = pending.device;
                    self.residents.push_back(Resident { op, device, grid, time: finish, wake: 0 });
                    return;
                }
                Err(error) => self.fail_device(pending.device, error),
            },
        }
        self.finish(op, pending.device, finish);
    }

    /// Completes an operation at a virtual time.
    pub(crate) fn finish(&mut self, op: OpId, device: usize, time: u64) {
        self.stalled_slices = 0;
        for next in self.order.complete(op) {
            if let Some(pending) = self.pending.get_mut(&next) {
                pending.start = pending.start.max(time);
            }
        }
        let finished = &mut self.devices[device].finished;
        *finished = time.max(*finished);
        self.now = self.now.max(time);
        self.events.complete(op, time);
        for start in self.leaving.remove(&op).unwrap_or_default() {
            self.release(start);
        }
    }

    /// Creates a kernel's grid, with the observers of its accesses and of its failure.
    fn start(&self, kernel: &KernelCall) -> Result<Box<dyn Grid>> {
        let launch = &kernel.launch;
        let own = self.memory.of_device(launch.device);
        let account = self.profiler.map(|moved| Account {
            origin: launch.origin,
            device: launch.device,
            own: (own.start as u64, own.end as u64),
            owners: self.memory.owners(),
            moved,
        });
        let failures = FailureReporter::of(launch, self.failures);
        let mistaken = || MistakeReporter::of(launch, self.mistakes);
        let mistakes = self.kernel_checks.then(mistaken).flatten();
        let observed = Observed { watch: self.watch_of(launch.tag), account, failures, mistakes };
        start(kernel, observed)
    }

    /// The observer of the accesses of a kernel with a tag.
    fn watch_of(&self, tag: u64) -> Option<Watch> {
        self.watcher.filter(|_| tag != 0)?.watch(tag)
    }

    /// Executes a slice of a kernel, and moves it behind the others.
    fn advance(&mut self, at: usize) -> Step {
        let Some(mut resident) = self.residents.remove(at) else { return Step::Blocked };
        let State { memory, devices, pools, images, peers, .. } = self;
        let view = View { memory, devices, pools, images, peers: *peers };
        // Other kernels may pass on what this one tells them, those of other processes, too.
        if !self.residents.is_empty() || self.board.is_some() || self.exported {
            resident.grid.has_company();
        }
        let advance = AssertUnwindSafe(|| resident.grid.advance(SLICE_INSTRUCTIONS, &view));
        let progress = catch_unwind(advance).unwrap_or(Progress::Fault(Error::LAUNCH_FAILURE));
        self.stalled_slices += 1;
        match progress {
            Progress::Running => resident.time += SLICE_INSTRUCTIONS,
            Progress::Spinning => {
                resident.time += SLICE_INSTRUCTIONS;
                self.stalled_slices += IDLE_SLICE_WEIGHT;
            }
            Progress::Idle(time) => {
                resident.time += time;
                resident.wake = self.turn + 1 + (time / 1000).min(MAX_SLEEP_TURNS);
            }
            Progress::Done | Progress::Fault(_) => {
                if let Progress::Fault(error) = progress {
                    self.fail_device(resident.device, error);
                }
                self.finish(resident.op, resident.device, resident.time);
                return Step::Progress;
            }
        }
        self.residents.push_back(resident);
        if progress == Progress::Spinning { Step::Spinning } else { Step::Progress }
    }

    /// A kernel's fault makes its device unusable: nothing that was to run there does.
    fn fail_device(&mut self, device: usize, error: Error) {
        self.devices[device].fault.get_or_insert(error);
        for pending in self.pending.values_mut().filter(|pending| pending.device == device) {
            match &pending.task {
                // Callbacks are called with the error.
                Task::Host(HostCall::Callback(..)) => continue,
                Task::Host(HostCall::Function(..)) => self.functions -= 1,
                Task::Staged(_, staged) => self.staged -= staged.len(),
                _ => {}
            }
            pending.task = Task::Mark;
        }
        let time = self.now;
        let residents = std::mem::take(&mut self.residents);
        let (lost, kept): (Vec<_>, _) = residents.into_iter().partition(|r| r.device == device);
        self.residents = kept.into();
        for resident in lost {
            self.finish(resident.op, device, time);
        }
    }

    /// Frees memory that no pending operation needs.
    pub(crate) fn release(&mut self, start: usize) {
        if let Some(freed) = self.memory.release(start)
            && let (Kind::Pool, Some(pool)) = (freed.kind, freed.pool)
        {
            self.pools.note_free(pool, freed.range.len());
        }
    }

    /// The error of a device that callbacks are passed.
    pub(crate) fn status(&self, device: usize) -> i32 {
        self.devices[device].fault.map_or(SUCCESS, Error::code)
    }
}

/// Starts a grid. A panic there, as in [`Grid::advance`], fails like a kernel.
fn start(kernel: &KernelCall, observed: Observed) -> Result<Box<dyn Grid>> {
    let (module, launch) = (&kernel.module, &kernel.launch);
    let start = || module.start(launch, &kernel.addresses, observed);
    let start = AssertUnwindSafe(start);
    catch_unwind(start).unwrap_or(Err(Error::LAUNCH_FAILURE))
}

#[cfg(test)]
mod tests;
