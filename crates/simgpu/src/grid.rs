//! The interface between the runtime and kernel execution: modules have kernels, and grids advance.
//!
//! Kernel execution implements [`Loader`], [`Module`] and [`Grid`]; the runtime decides when a grid
//! advances, and by how much.

use crate::account::Account;
use crate::checks::MistakeReporter;
use crate::error::{Error, Result};
use crate::failure::FailureReporter;
use crate::watch::Watch;
use commsan_simt::{Mapped, NoPeer, Surface, Texture};
use rustc_hash::FxHashMap;
use std::ffi::c_void;
use std::ops::Range;
use std::sync::Arc;

/// The result of advancing a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// There is more to do.
    Running,
    /// There is more to do, but threads have only polled memory that others may write, by volatile,
    /// atomic or synchronising loads, and have written nothing themselves.
    Spinning,
    /// No thread of the grid can run before this many nanoseconds of virtual time have passed.
    Idle(u64),
    /// All threads have exited.
    Done,
    /// A thread's fault has ended the grid and makes the device unusable.
    Fault(Error),
}

/// The memory that devices may access.
pub trait Reach {
    /// The allocation through which a device may access an address: its own memory, a peer's, or
    /// mapped, registered and managed memory of the host. It stays valid during the call of
    /// [`Grid::advance`] that asks, and no longer.
    fn allocation(&self, device: usize, address: usize) -> Option<Range<usize>>;

    /// The texture of a handle.
    fn texture(&self, handle: u64) -> Option<Arc<Texture>>;

    /// The surface of a handle.
    fn surface(&self, handle: u64) -> Option<Arc<Surface>>;

    /// The symmetric memory of a processing element that contains an address.
    fn peer(&self, pe: i32, address: u64) -> Result<Mapped, NoPeer>;
}

/// A kernel in execution.
///
/// All blocks of a grid that may be resident at once advance together and fairly, so that threads
/// may wait for each other's writes, in this grid or in another.
pub trait Grid: Send {
    /// Executes about `budget` thread instructions.
    fn advance(&mut self, budget: u64, reach: &dyn Reach) -> Progress;

    /// Others may run at the same time and have access to its memory.
    fn has_company(&mut self) {}
}

/// Whom a kernel is reported to.
#[derive(Debug, Default)]
pub struct Observed {
    /// The checker of what it accesses.
    pub watch: Option<Watch>,
    /// The profiler.
    pub account: Option<Account>,
    /// The checker of failures.
    pub failures: Option<FailureReporter>,
    /// The checker of what its threads do wrong.
    pub mistakes: Option<MistakeReporter>,
}

/// A kernel launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    /// The device that it runs on.
    pub device: usize,
    /// The kernel's name in its module.
    pub entry: String,
    /// The kernel's parameters, as laid out in its parameter space.
    pub arguments: Vec<u8>,
    /// Number of blocks in x, y and z.
    pub grid: [u32; 3],
    /// Number of threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Size of dynamic shared memory, in bytes.
    pub shared: usize,
    /// Whether all blocks must be resident at once, because the grid synchronises.
    pub cooperative: bool,
    /// The checker's tag of the launch; 0 for none.
    pub tag: u64,
    /// The profiler's origin of the launch.
    pub origin: u64,
}

/// The static properties of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kernel {
    /// Offset and size of each parameter, in bytes.
    pub parameters: Vec<(usize, usize)>,
    /// Size of static shared memory, in bytes.
    pub shared: usize,
    /// Local memory of a thread, in bytes.
    pub local: usize,
    /// Size of constant memory, in bytes.
    pub constant: usize,
    /// Registers of a thread.
    pub registers: u32,
    /// The maximum threads of a block, if the kernel declares it.
    pub max_threads: Option<u32>,
    /// Whether it declares clusters of several blocks.
    pub clusters: bool,
    /// The architecture that its PTX was compiled for, such as 90.
    pub architecture: u32,
}

/// A variable in device memory that a module defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Global {
    /// Its name, unique in the module; the name in PTX if the host refers to it.
    pub name: String,
    /// Size in bytes.
    pub size: usize,
    /// Alignment in bytes.
    pub alignment: usize,
}

/// The addresses of a module's variables on one device, by name.
pub type Addresses = FxHashMap<String, usize>;

/// A module: kernels and variables that were compiled together.
pub trait Module: Send + Sync {
    /// A kernel by its name in the module.
    fn kernel(&self, entry: &str) -> Option<&Kernel>;

    /// Its variables, without those in shared memory.
    fn globals(&self) -> &[Global];

    /// Writes a variable's initial value to `bytes`, which are zero.
    fn initialise(&self, global: &Global, addresses: &Addresses, bytes: &mut [u8]);

    /// Creates a grid that has not started.
    fn start(
        &self,
        launch: &Launch,
        addresses: &Arc<Addresses>,
        observed: Observed,
    ) -> Result<Box<dyn Grid>>;
}

/// Why a module cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unusable {
    /// The error returned to the program.
    pub error: Error,
    /// The message to the user.
    pub reason: String,
}

/// Loads modules that compilers embed in programs.
pub trait Loader: Send + Sync {
    /// Loads a module.
    ///
    /// # Safety
    /// `wrapper` is the argument of `__cudaRegisterFatBinary`, from compiled code.
    unsafe fn load(&self, wrapper: *const c_void) -> Result<Arc<dyn Module>, Unusable>;
}

/// Loads no module: for tests that launch no kernel of a module.
#[cfg(test)]
#[derive(Debug)]
pub struct NoLoader;

#[cfg(test)]
impl Loader for NoLoader {
    unsafe fn load(&self, _: *const c_void) -> Result<Arc<dyn Module>, Unusable> {
        Err(Unusable {
            error: Error::NO_KERNEL_IMAGE_FOR_DEVICE,
            reason: "this build executes no kernels".to_owned(),
        })
    }
}
