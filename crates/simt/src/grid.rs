//! Grids: a round-robin scheduler of resident blocks, as many as a device would hold.

use crate::access::Region;
use crate::block::{Block, together};
use crate::execute::{Context, Place as Step};
use crate::fault::{Fault, line_of, name_of};
use crate::memory::{Global, Mapped, NoPeer, Reach};
use crate::observe::{At, Event, Observer};
use crate::program::{Kernel, Symbols};
use crate::provided::Services;
use crate::rows::Storage;
use crate::special::Place;
use crate::texture::{Surface, Texture};
use crate::warp::Outcome;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// A kernel launch.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The kernel.
    pub kernel: Arc<Kernel>,
    /// The kernel's parameters, as laid out in its parameter space.
    pub arguments: Vec<u8>,
    /// Number of blocks in x, y and z.
    pub grid: [u32; 3],
    /// Number of threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Size of dynamic shared memory, in bytes.
    pub shared: u32,
    /// Whether all blocks are resident at once and may synchronise (`cudaLaunchCooperativeKernel`).
    pub cooperative: bool,
    /// Seed of the order in which blocks run; 0 for round-robin.
    pub seed: u64,
    /// The services of the device.
    pub services: Arc<Services>,
    /// Virtual time at the start, in nanoseconds.
    pub time: u64,
}

/// Why a launch is rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The kernel cannot be executed.
    Kernel(String),
    /// The arguments are shorter than the kernel's parameters.
    Arguments,
    /// Zero blocks or threads, or too many.
    Shape,
    /// Too much shared or local memory.
    Memory,
    /// A variable that has no address on the device.
    Symbol(String),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::Kernel(why) => f.write_str(why),
            Refused::Arguments => f.write_str("fewer arguments than the kernel has parameters"),
            Refused::Shape => f.write_str("a grid or block of a size that devices do not have"),
            Refused::Memory => f.write_str("more shared or local memory than devices have"),
            Refused::Symbol(name) => write!(f, "variable `{name}` has no address"),
        }
    }
}

/// The result of advancing a grid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// There is more to do.
    Running,
    /// There is more to do, but all threads only poll memory that others may write.
    Spinning,
    /// No thread can run before this many nanoseconds of virtual time have passed. The next call
    /// treats them as passed.
    Idle(u64),
    /// All threads have exited.
    Done,
    /// A thread's fault has ended the grid.
    Fault(Box<Fault>),
}

/// Maximum number of resident blocks, unless the launch is cooperative.
const MAX_RESIDENT_BLOCKS: u64 = 16;
/// Maximum number of instructions of a block before the next block runs.
const MAX_STEPS_PER_TURN: u64 = 1 << 16;
/// Maximum number of threads of a block.
const MAX_THREADS_PER_BLOCK: u64 = 1024;
/// Maximum shared memory of a block, in bytes, as on current devices.
const MAX_SHARED_BYTES: u64 = 228 << 10;

/// A running kernel.
pub struct Grid {
    launch: Launch,
    constants: Storage,
    /// The workspace through which cooperative groups synchronise the grid; its second word is a
    /// barrier.
    workspace: Box<[AtomicU64; 4]>,
    /// The resident blocks.
    blocks: Vec<Block>,
    /// Memory of finished blocks, for reuse.
    spare: Vec<Block>,
    /// The number of the next block to start.
    next: u64,
    count: u64,
    turn: usize,
    random: u64,
    now: u64,
    executed: u64,
    ended: Option<Progress>,
}

// SAFETY: its pointers point to its own memory.
unsafe impl Send for Grid {}

impl fmt::Debug for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Grid");
        out.field("kernel", &self.launch.kernel.name()).field("next", &self.next).finish()
    }
}

impl Grid {
    /// A grid that has not started.
    pub fn new(launch: Launch, symbols: &dyn Symbols) -> Result<Grid, Refused> {
        let kernel = launch.kernel.clone();
        if kernel.routine(kernel.entry()).is_none() {
            return Err(Refused::Kernel("more registers than a thread may have".to_owned()));
        }
        if (launch.arguments.len() as u64) < kernel.function().parameter_size() {
            return Err(Refused::Arguments);
        }
        let product = |extents: [u32; 3]| extents.iter().map(|e| u64::from(*e)).product::<u64>();
        let (count, threads) = (product(launch.grid), product(launch.block));
        let too_large =
            launch.grid[0] > i32::MAX as u32 || launch.grid[1..].iter().any(|e| *e > 65535);
        if count == 0 || threads == 0 || threads > MAX_THREADS_PER_BLOCK || too_large {
            return Err(Refused::Shape);
        }
        let shared = kernel.static_shared().saturating_add(launch.shared.into());
        let shared = shared.saturating_add(kernel.reserved_shared().into());
        if shared > MAX_SHARED_BYTES || kernel.local() > 512 << 10 {
            return Err(Refused::Memory);
        }
        let constants = kernel.place(symbols).map_err(Refused::Symbol)?;
        Ok(Grid {
            constants,
            workspace: Default::default(),
            blocks: Vec::new(),
            spare: Vec::new(),
            next: 0,
            count,
            turn: 0,
            random: launch.seed,
            now: launch.time,
            executed: 0,
            ended: None,
            launch,
        })
    }

    /// Number of thread instructions executed so far.
    pub fn executed(&self) -> u64 {
        self.executed
    }

    /// Virtual time, in nanoseconds.
    pub fn time(&self) -> u64 {
        self.now
    }

    /// Executes about `budget` thread instructions.
    pub fn advance<O: Observer>(
        &mut self,
        budget: u64,
        reach: &dyn Reach,
        observer: &mut O,
    ) -> Progress {
        if let Some(ended) = &self.ended {
            return ended.clone();
        }
        let progress = self.turns(budget, reach, observer);
        if matches!(progress, Progress::Done | Progress::Fault(_)) {
            self.ended = Some(progress.clone());
            (self.blocks, self.spare) = Default::default();
        }
        progress
    }

    fn turns<O: Observer>(&mut self, budget: u64, reach: &dyn Reach, observer: &mut O) -> Progress {
        let services = self.launch.services.clone();
        let reach = WithHeap { reach, services: &services };
        let mut global = Global::new(&reach, self.workspace_range());
        let end = self.executed.saturating_add(budget);
        // The combined outcome of the blocks since one of them last made progress.
        let (mut waiting, mut all) = (0, Outcome::Done);
        while self.executed < end {
            self.fill();
            if self.blocks.is_empty() {
                return Progress::Done;
            }
            self.turn %= self.blocks.len();
            let turn = MAX_STEPS_PER_TURN.min(end - self.executed);
            match self.run(turn, &mut global, observer) {
                Err(fault) => return Progress::Fault(fault),
                Ok(Outcome::Running) => waiting = 0,
                Ok(Outcome::Done) => {
                    if O::ORDERED {
                        let block = self.blocks[self.turn].number();
                        let at = At { block, warp: 0, lanes: 0 };
                        observer.event(&at, Event::End);
                    }
                    self.spare.push(self.blocks.remove(self.turn));
                    waiting = 0;
                    continue;
                }
                Ok(outcome) => {
                    all = if waiting == 0 { outcome } else { together(all, outcome) };
                    waiting += 1;
                }
            }
            self.pass_turn();
            if waiting >= self.blocks.len() && (self.launch.cooperative || self.blocks_wait()) {
                return self.wait(all);
            }
        }
        Progress::Running
    }

    /// Whether every resident block has had its turn and no further block could run.
    fn blocks_wait(&self) -> bool {
        self.blocks.len() as u64
            >= MAX_RESIDENT_BLOCKS.min(self.count - self.next + self.blocks.len() as u64)
    }

    /// Handles that all blocks wait.
    fn wait(&mut self, outcome: Outcome) -> Progress {
        match outcome {
            Outcome::Sleeping(until) => {
                let time = until.saturating_sub(self.now).max(1);
                self.now += time;
                Progress::Idle(time)
            }
            Outcome::Spinning => {
                // Sleeping threads must not depend on spinning ones to advance virtual time.
                self.now += 1000;
                Progress::Spinning
            }
            _ => match self.blocks.iter().find_map(|block| block.deadlock(&self.launch.kernel)) {
                Some((step, place)) => Progress::Fault(self.fault(step, place)),
                None => Progress::Running,
            },
        }
    }

    /// Starts blocks while fewer than the maximum are resident.
    fn fill(&mut self) {
        let room = if self.launch.cooperative { self.count } else { MAX_RESIDENT_BLOCKS };
        while (self.blocks.len() as u64) < room && self.next < self.count {
            let place = self.place(self.next);
            let block = Block::start(self.spare.pop(), &self.launch.kernel, place);
            self.blocks.push(block);
            self.next += 1;
        }
    }

    fn workspace_range(&self) -> Range<u64> {
        let start = self.workspace.as_ptr().expose_provenance() as u64;
        start..start + size_of_val(&*self.workspace) as u64
    }

    /// The place of the block with that number.
    fn place(&self, number: u64) -> Place {
        let [x, y, _] = self.launch.grid.map(u64::from);
        let index = [number % x, number / x % y, number / (x * y)].map(|i| i as u32);
        let workspace = match self.launch.cooperative {
            true => self.workspace_range().start,
            false => 0,
        };
        Place {
            grid: self.launch.grid,
            block: self.launch.block,
            index,
            number,
            warp: 0,
            processor: (number % MAX_RESIDENT_BLOCKS) as u32,
            processors: MAX_RESIDENT_BLOCKS as u32,
            grid_id: 1,
            // Cooperative groups combine the address from these two.
            environment: [0, (workspace >> 32) as u32, workspace as u32, 0],
            reserved_shared: self.launch.kernel.reserved_shared(),
            static_shared: self.launch.kernel.static_shared() as u32,
            dynamic_shared: self.launch.shared,
        }
    }

    fn pass_turn(&mut self) {
        self.turn += 1;
        if self.launch.seed != 0 {
            // Marsaglia's xorshift: any order will do, as long as it is reproducible.
            self.random ^= self.random << 13;
            self.random ^= self.random >> 7;
            self.random ^= self.random << 17;
            self.turn += (self.random % 3) as usize;
        }
        self.turn %= self.blocks.len();
    }

    /// Runs the block whose turn it is.
    fn run<O: Observer>(
        &mut self,
        budget: u64,
        global: &mut Global<'_>,
        observer: &mut O,
    ) -> Result<Outcome, Box<Fault>> {
        let arguments = Region {
            base: self.launch.arguments.as_mut_ptr(),
            stride: 0,
            size: self.launch.arguments.len() as u64,
        };
        let block = &mut self.blocks[self.turn];
        // The context owns them while the block's warps are borrowed.
        let mut barriers = block.barriers.clone();
        let mut context = Context {
            kernel: &self.launch.kernel,
            constants: &self.constants,
            arguments,
            shared: block.shared(),
            barriers: &mut barriers,
            global,
            observer,
            services: &self.launch.services,
            now: self.now,
            executed: 0,
        };
        let outcome = block.run(&mut context, budget);
        (self.now, self.executed) = (context.now, self.executed + context.executed);
        block.barriers = barriers;
        outcome.map_err(|at| self.fault(at.0, at.1))
    }

    fn fault(&self, step: Step, place: Place) -> Box<Fault> {
        let module = self.launch.kernel.module();
        let function = &module.functions[step.routine as usize];
        let body = function.body.as_ref();
        let instruction = body.and_then(|body| body.instructions.get(step.origin as usize));
        Box::new(Fault {
            cause: step.trap.cause,
            kernel: self.launch.kernel.name().to_owned(),
            function: function.name.clone(),
            instruction: (step.origin, instruction.map_or_else(String::new, name_of)),
            line: line_of(module, step.routine, step.origin),
            block: place.index,
            thread: place.thread(place.warp * 32 + step.trap.lane as u32),
        })
    }
}

/// The user's memory and memory that kernels have allocated.
struct WithHeap<'a> {
    reach: &'a dyn Reach,
    services: &'a Services,
}

impl Reach for WithHeap<'_> {
    fn allocation(&self, address: u64) -> Option<Range<u64>> {
        self.reach.allocation(address).or_else(|| self.services.allocation(address))
    }

    fn texture(&self, handle: u64) -> Option<Arc<Texture>> {
        self.reach.texture(handle)
    }

    fn surface(&self, handle: u64) -> Option<Arc<Surface>> {
        self.reach.surface(handle)
    }

    fn peer(&self, pe: i32, address: u64) -> Result<Mapped, NoPeer> {
        self.reach.peer(pe, address)
    }
}
