//! What the runtime knows of kernels: that a module has them, and that a grid of one advances.
//!
//! Who executes kernels implements [`Loader`], [`Module`] and [`Grid`]; the runtime decides when a
//! grid advances, and by how much.

use crate::account::Account;
use crate::error::{Error, Result};
use crate::failure::Plaintiff;
use crate::watch::Watch;
use commsan_simt::{Surface, Texture};
use rustc_hash::FxHashMap;
use std::ffi::c_void;
use std::ops::Range;
use std::sync::Arc;

/// What came of advancing a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// There is more to do.
    Running,
    /// There is more to do, but threads have only polled what others may write, by volatile, atomic
    /// or synchronising loads, and have written nothing themselves.
    Spinning,
    /// No thread of the grid wants to run before so many nanoseconds of virtual time.
    Idle(u64),
    /// All threads have ended.
    Done,
    /// A thread did what ends the grid and makes the device unusable.
    Fault(Error),
}

/// What devices may reach.
pub trait Reach {
    /// The allocation that a device may access an address in: its own memory, a peer's, or mapped,
    /// registered and managed memory of the host. It stays as long as the call of
    /// [`Grid::advance`] that asks, and no longer.
    fn allocation(&self, device: usize, address: usize) -> Option<Range<usize>>;

    /// The texture that a handle stands for.
    fn texture(&self, handle: u64) -> Option<Arc<Texture>>;

    /// The surface that a handle stands for.
    fn surface(&self, handle: u64) -> Option<Arc<Surface>>;
}

/// A kernel in execution.
///
/// All blocks of a grid that may be resident at once advance together and fairly, so that threads
/// may wait for each other's writes, in this grid or in another.
pub trait Grid: Send {
    /// Executes about `budget` instructions of threads.
    fn advance(&mut self, budget: u64, reach: &dyn Reach) -> Progress;
}

/// A launch of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Launch {
    /// The device it runs on.
    pub device: usize,
    /// The kernel's name in its module.
    pub entry: String,
    /// The kernel's parameters as they lie in its parameter space.
    pub arguments: Vec<u8>,
    /// Blocks in x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared: usize,
    /// Whether all blocks must be resident at once: the grid synchronises.
    pub cooperative: bool,
    /// What who watches calls it; 0 if nobody does.
    pub tag: u64,
    /// What who profiles calls it.
    pub origin: u64,
}

/// What is known of a kernel without running it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Kernel {
    /// Offset and size of each parameter.
    pub parameters: Vec<(usize, usize)>,
    /// Bytes of static shared memory.
    pub shared: usize,
    /// Bytes of local memory of a thread.
    pub local: usize,
    /// Bytes of constant memory.
    pub constant: usize,
    /// Registers of a thread.
    pub registers: u32,
    /// The most threads a block may have, if the kernel says so.
    pub max_threads: Option<u32>,
    /// Whether it says that its blocks are in clusters of several.
    pub clusters: bool,
    /// The architecture that its PTX was compiled for, such as 90.
    pub architecture: u32,
}

/// A variable in device memory that a module defines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Global {
    /// Its name, which no other of the module has; the name in PTX if the host knows it.
    pub name: String,
    /// Bytes.
    pub size: usize,
    /// Bytes its address is a multiple of.
    pub alignment: usize,
}

/// Where a module's variables are on one device, by name.
pub type Addresses = FxHashMap<String, usize>;

/// Kernels and variables that were compiled together.
pub trait Module: Send + Sync {
    /// A kernel by its name in the module.
    fn kernel(&self, entry: &str) -> Option<&Kernel>;

    /// Its variables, but for those in shared memory.
    fn globals(&self) -> &[Global];

    /// Writes a variable's initial value to `bytes`, which are zero.
    fn initialise(&self, global: &Global, addresses: &Addresses, bytes: &mut [u8]);

    /// A grid, of which nothing has run yet; what it accesses is told to `watch` and to
    /// `account`, that it fails to `plaintiff`.
    fn start(
        &self,
        launch: &Launch,
        addresses: &Arc<Addresses>,
        watch: Option<Watch>,
        account: Option<Account>,
        plaintiff: Option<Plaintiff>,
    ) -> Result<Box<dyn Grid>>;
}

/// Why a module cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unusable {
    /// The error that the program gets.
    pub error: Error,
    /// The message that its user gets.
    pub reason: String,
}

/// Makes modules of what compilers embed in programs.
pub trait Loader: Send + Sync {
    /// Reads a module.
    ///
    /// # Safety
    /// `wrapper` is what the compiler's code gives to `__cudaRegisterFatBinary`.
    unsafe fn load(&self, wrapper: *const c_void) -> Result<Arc<dyn Module>, Unusable>;
}

/// Loads nothing: for tests that launch no kernel of a module.
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
