//! Kernels from embedded PTX, executed by the SIMT interpreter `commsan-simt`.

use crate::account::{Accounting, Both};
use crate::checks::Following;
use crate::conditional::CONDITIONS;
use crate::device_library;
use crate::error::{Error, Result};
use crate::failure::FailureReporter;
use crate::grid::{self, Addresses, Global, Launch, Loader, Observed, Progress, Unusable};
use crate::watch::Watching;
use commsan_kernel_checks::Detector;
use commsan_ptx::words::Space;
use commsan_ptx::{Linkage, Variable};
use commsan_ptx::{Module, fatbin};
use commsan_simt::{
    Access, At, Cause, Event, Fault, Mapped, NoPeer, Observer, Program, Refused, Services, Surface,
    Texture, Wrong,
};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use std::ffi::c_void;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Architecture of the simulated devices, as compilers name it.
pub const ARCHITECTURE: u32 = 90;
/// Registers that a thread is reported to use: PTX registers are virtual, so this is a guess.
const REGISTERS: u32 = 32;

/// Loads modules from the PTX in fatbins.
pub struct Ptx {
    seed: u64,
    devices: Arc<Devices>,
}

impl Ptx {
    /// A loader whose kernels' blocks run in an order that depends on the seed.
    pub fn new(seed: u64) -> Ptx {
        Ptx { seed, devices: Arc::default() }
    }
}

/// The services of each device for its kernels.
type Devices = Mutex<FxHashMap<usize, Arc<Services>>>;

impl Loader for Ptx {
    unsafe fn load(&self, wrapper: *const c_void) -> Result<Arc<dyn grid::Module>, Unusable> {
        // SAFETY: by this function's contract.
        let fatbins = unsafe { fatbin::embedded(wrapper) }.map_err(damaged)?;
        let modules: Vec<_> = fatbins.into_iter().map(module).collect();
        // Parts of a library without PTX, such as CUDA's own for kernels that launch kernels, are
        // missed only when they are called.
        let some = modules.iter().any(Result::is_ok);
        let usable = |module: &Result<Module, Unusable>| match module {
            Err(unusable) => !some || unusable.error != Error::NO_KERNEL_IMAGE_FOR_DEVICE,
            Ok(_) => true,
        };
        let modules = modules.into_iter().filter(usable).collect::<Result<Vec<_>, Unusable>>()?;
        let library = device_library::needed_by(&modules);
        let modules = modules.into_iter().chain(library).collect();
        let module = Module::linked(modules).map_err(|error| Unusable {
            error: Error::INVALID_KERNEL_IMAGE,
            reason: error.to_string(),
        })?;
        Ok(Arc::new(Kernels::new(module, self.seed, Arc::clone(&self.devices))))
    }
}

/// The PTX module in a fatbin, for the simulated devices.
fn module(fatbin: &[u8]) -> Result<Module, Unusable> {
    let images = fatbin::read(fatbin).map_err(damaged)?;
    let text = fatbin::ptx_for(&images, ARCHITECTURE).map_err(|error| match error {
        fatbin::Error::NoPtx { .. } => {
            Unusable { error: Error::NO_KERNEL_IMAGE_FOR_DEVICE, reason: error.to_string() }
        }
        other => damaged(other),
    })?;
    Module::parse(&text).map_err(|error| Unusable {
        error: Error::UNSUPPORTED_PTX_VERSION,
        reason: error.to_string(),
    })
}

fn damaged(error: fatbin::Error) -> Unusable {
    Unusable { error: Error::INVALID_KERNEL_IMAGE, reason: error.to_string() }
}

/// A module's kernels.
struct Kernels {
    module: Arc<Module>,
    program: Program,
    seed: u64,
    devices: Arc<Devices>,
    /// Properties by name; each is computed when it is first requested.
    known: FxHashMap<String, OnceLock<grid::Kernel>>,
    globals: Vec<Global>,
}

impl Kernels {
    fn new(module: Module, seed: u64, devices: Arc<Devices>) -> Kernels {
        let known = module.entries().map(|entry| (entry.name.clone(), OnceLock::new())).collect();
        let globals = module.variables.iter().filter(|variable| is_global(variable));
        let globals = globals.map(|variable| Global {
            name: variable.name.clone(),
            size: variable.size as usize,
            alignment: variable.align as usize,
        });
        let globals = globals.collect();
        let module = Arc::new(module);
        let program = Program::new(Arc::clone(&module));
        Kernels { module, program, seed, devices, known, globals }
    }

    fn describe(&self, entry: &str) -> grid::Kernel {
        let Some(kernel) = self.program.kernel(entry) else { return grid::Kernel::default() };
        let function = kernel.function();
        let parameters = function.parameters.iter().map(|p| (p.offset as usize, p.size as usize));
        let threads = ["maxntid", "reqntid"].iter().find_map(|name| function.directive(name));
        let clusters = function.directive("reqnctapercluster");
        grid::Kernel {
            parameters: parameters.collect(),
            shared: kernel.static_shared() as usize,
            local: kernel.local() as usize,
            constant: 0,
            registers: REGISTERS,
            max_threads: threads.map(|extents| extents.iter().product()),
            clusters: clusters.is_some_and(|extents| extents.iter().any(|&size| size > 1)),
            architecture: self.module.architecture().unwrap_or(ARCHITECTURE),
        }
    }

    fn services(&self, device: usize) -> Arc<Services> {
        let mut devices = self.devices.lock();
        let new = || Arc::new(Services::new(print).with_conditions(&CONDITIONS));
        Arc::clone(devices.entry(device).or_insert_with(new))
    }
}

/// Whether a variable lives in device memory and is defined in this module.
fn is_global(variable: &Variable) -> bool {
    matches!(variable.space, Space::Global | Space::Const) && variable.linkage != Linkage::Extern
}

impl grid::Module for Kernels {
    fn kernel(&self, entry: &str) -> Option<&grid::Kernel> {
        let known = self.known.get(entry)?;
        Some(known.get_or_init(|| self.describe(entry)))
    }

    fn globals(&self) -> &[Global] {
        &self.globals
    }

    fn initialise(&self, global: &Global, addresses: &Addresses, bytes: &mut [u8]) {
        if let Some((_, variable)) = self.module.variable(&global.name) {
            self.program.initialise(variable, &|name: &str| address(addresses, name), bytes);
        }
    }

    fn start(
        &self,
        launch: &Launch,
        addresses: &Arc<Addresses>,
        observed: Observed,
    ) -> Result<Box<dyn grid::Grid>> {
        let Observed { watch, account, failures, mistakes } = observed;
        let kernel = self.program.kernel(&launch.entry).ok_or(Error::INVALID_DEVICE_FUNCTION)?;
        let launched = Arc::clone(&kernel);
        let launch_of = commsan_simt::Launch {
            kernel,
            arguments: launch.arguments.clone(),
            grid: launch.grid,
            block: launch.block,
            shared: u32::try_from(launch.shared).map_err(|_| Error::INVALID_VALUE)?,
            cooperative: launch.cooperative,
            seed: self.seed,
            services: self.services(launch.device),
            time: 0,
        };
        let symbols = |name: &str| address(addresses, name);
        let grid = commsan_simt::Grid::new(launch_of, &symbols).map_err(|refused| {
            eprintln!("commsan: simulated GPU: {}: {refused}", launch.entry);
            match refused {
                Refused::Arguments => Error::INVALID_VALUE,
                Refused::Shape => Error::INVALID_CONFIGURATION,
                Refused::Kernel(_) | Refused::Memory => Error::LAUNCH_OUT_OF_RESOURCES,
                Refused::Symbol(_) => Error::SYMBOL_NOT_FOUND,
            }
        })?;
        let detector = || Detector::new(launched, launch.grid, launch.block);
        let checks = mistakes.and_then(|reporter| Some(Following::new(detector()?, reporter)));
        let observers = Observers {
            watching: watch.map(Watching::new),
            accounting: account.map(|account| Accounting::new(account, &launch.entry)),
            module: Arc::clone(&self.module),
        };
        Ok(Box::new(Running { grid, device: launch.device, observers, checks, failures }))
    }
}

fn address(addresses: &Addresses, name: &str) -> Option<u64> {
    addresses.get(name).map(|address| *address as u64)
}

/// A kernel in execution.
struct Running {
    grid: commsan_simt::Grid,
    device: usize,
    observers: Observers,
    checks: Option<Following>,
    failures: Option<FailureReporter>,
}

/// The observers of a kernel's accesses, with its module.
struct Observers {
    watching: Option<Watching>,
    accounting: Option<Accounting>,
    module: Arc<Module>,
}

impl Observers {
    /// Whether there are any.
    fn observe(&self) -> bool {
        self.watching.is_some() || self.accounting.is_some()
    }

    fn observer(&mut self) -> impl Observer + '_ {
        let Observers { watching, accounting, module } = self;
        let watching = watching.as_mut().map(|watching| watching.with(module));
        Both { watching, accounting: accounting.as_mut(), module }
    }

    /// Reports buffered accesses.
    fn flush(&mut self) {
        if let Some(watching) = &mut self.watching {
            watching.flush(&self.module);
        }
        if let Some(accounting) = &mut self.accounting {
            accounting.flush();
        }
    }
}

impl grid::Grid for Running {
    fn has_company(&mut self) {
        if let Some(checks) = &mut self.checks {
            checks.detector.company = true;
        }
    }

    fn advance(&mut self, budget: u64, reach: &dyn grid::Reach) -> Progress {
        let reach = OnDevice { reach, device: self.device };
        // Each kind of observer is an interpreter of its own.
        let progress = match &mut self.checks {
            None if !self.observers.observe() => self.grid.advance(budget, &reach, &mut ()),
            None => self.grid.advance(budget, &reach, &mut self.observers.observer()),
            Some(Following { detector, .. }) => {
                let others = self.observers.observer();
                self.grid.advance(budget, &reach, &mut All { others, checks: detector })
            }
        };
        if progress != commsan_simt::Progress::Running {
            self.observers.flush();
            if let Some(checks) = &mut self.checks {
                // If all threads only wait for memory to change, others change it.
                checks.detector.company |= progress == commsan_simt::Progress::Spinning;
                use commsan_simt::Progress::{Done, Fault};
                checks.flush(&self.observers.module, matches!(progress, Done | Fault(_)));
            }
        }
        match progress {
            commsan_simt::Progress::Running => Progress::Running,
            commsan_simt::Progress::Spinning => Progress::Spinning,
            commsan_simt::Progress::Idle(time) => Progress::Idle(time),
            commsan_simt::Progress::Done => Progress::Done,
            commsan_simt::Progress::Fault(fault) => {
                eprintln!("commsan: simulated GPU: device {}: {fault}", self.device);
                if let Some(failures) = self.failures {
                    failures.report(&fault);
                }
                Progress::Fault(error_of(&fault))
            }
        }
    }
}

/// The detector of mistakes, and all others.
struct All<'a, O> {
    others: O,
    checks: &'a mut Detector,
}

impl<O: Observer> Observer for All<'_, O> {
    const ORDERED: bool = true;

    fn access(&mut self, access: &Access<'_>) {
        self.others.access(access);
        self.checks.access(access);
    }

    fn shared(&mut self, access: &Access<'_>) {
        self.checks.shared(access);
    }

    fn event(&mut self, at: &At, event: Event) {
        self.checks.event(at, event);
    }
}

/// The memory that a kernel may access on its device.
struct OnDevice<'a> {
    reach: &'a dyn grid::Reach,
    device: usize,
}

impl commsan_simt::Reach for OnDevice<'_> {
    fn allocation(&self, address: u64) -> Option<Range<u64>> {
        let found = self.reach.allocation(self.device, address as usize)?;
        Some(found.start as u64..found.end as u64)
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

/// The error that hardware reports for a fault (CUDA Runtime API, `cudaError_t`).
fn error_of(fault: &Fault) -> Error {
    match &fault.cause {
        Cause::Access { wrong: Wrong::Outside, .. }
        | Cause::Peer { .. }
        | Cause::NoTexture(_)
        | Cause::NoSurface(_) => Error::ILLEGAL_ADDRESS,
        Cause::Access { wrong: Wrong::Misaligned, .. } => Error::MISALIGNED_ADDRESS,
        Cause::Assertion(_) => Error::ASSERT,
        Cause::Unsupported(_) => Error::ILLEGAL_INSTRUCTION,
        Cause::Deadlock => Error::LAUNCH_TIMEOUT,
        Cause::StackOverflow => Error::HARDWARE_STACK_ERROR,
        Cause::NoFunction(_) => Error::INVALID_PC,
        Cause::Trap | Cause::Barrier(_) | Cause::NoCondition(_) => Error::LAUNCH_FAILURE,
    }
}

/// Prints to the C library's standard output, in one order with the program's own output.
fn print(text: &[u8]) {
    unsafe extern "C" {
        static stdout: *mut libc::FILE;
    }
    // SAFETY: libc's own stream, and bytes of that length.
    unsafe { libc::fwrite(text.as_ptr().cast(), 1, text.len(), stdout) };
}
