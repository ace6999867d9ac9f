//! The accesses of a kernel launch, derived from the program's device code.
//!
//! The compiler's code registers modules, kernels and variables before `main`; a module's PTX is
//! read when the first of its kernels is launched, a kernel's accesses are summarised when it is
//! first launched itself (`commsan_ptx::Summary`). A launch puts its arguments and its grid into
//! that.
//!
//! **Soundness.** What is [certain](KernelAccess::certain) is touched, to the byte, by every run of
//! the kernel that ends without a fault. All accesses together cover what it may touch, as far as
//! it is memory that others can name: its own local and shared memory, and variables that the
//! host does not know of, such as texts to print, are left out. A kernel whose code cannot be read
//! has no accesses but [`None`]. Supposed is what compilers suppose: that a pointer into one
//! allocation does not reach another, and that indices do not overflow. And the PTX that is read
//! must be what runs: where a program has code for several architectures, which of it is read
//! depends on [`Modules::set_architecture`].
//!
//! A launch like one before costs a look-up: launches are alike where they agree in the grid, and
//! in those bytes of the arguments that addresses and conditions depend on.

mod accesses;
mod code;
mod join;

use crate::KernelAccess;
pub use code::demangled;
use code::{Code, Known};
use rustc_hash::FxHashMap;
use std::ffi::c_void;
use std::sync::Arc;

/// Blocks of a grid, threads of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Blocks in each dimension.
    pub grid: [u32; 3],
    /// Threads of a block in each dimension.
    pub block: [u32; 3],
}

/// What is known of a launch.
#[derive(Clone, Debug)]
pub struct Launched {
    /// The kernel's name, demangled, without its parameters.
    pub kernel: Arc<str>,
    /// What it touches.
    pub accesses: Arc<[KernelAccess]>,
}

/// The device code of a process, as the compiler's code registers it.
#[derive(Debug)]
pub struct Modules {
    architecture: u32,
    images: FxHashMap<usize, Image>,
    kernels: FxHashMap<usize, Kernel>,
    /// Kernels' host functions, by what the runtime calls these kernels.
    handles: FxHashMap<usize, usize>,
    variables: FxHashMap<usize, Variable>,
    /// Of the launch at hand; kept so that nothing is allocated.
    scratch: Scratch,
}

/// A registered module.
#[derive(Debug)]
struct Image {
    wrapper: usize,
    code: Option<Code>,
}

/// A registered kernel.
#[derive(Debug)]
struct Kernel {
    image: usize,
    name: Box<str>,
    /// Once it has been launched: none if its code cannot be read.
    known: Option<Option<Box<Known>>>,
}

/// A registered variable.
#[derive(Debug)]
struct Variable {
    image: usize,
    name: Box<str>,
    size: usize,
}

#[derive(Debug, Default)]
struct Scratch {
    arguments: Vec<u8>,
    addresses: Vec<Option<u64>>,
    key: Vec<u8>,
}

/// Launches of one kernel that are remembered; programs that vary more vary without end.
const MAX_LAUNCHES: usize = 1024;

/// The architecture of the simulated devices.
const SIMULATED: u32 = 90;

impl Default for Modules {
    fn default() -> Modules {
        Modules {
            architecture: SIMULATED,
            images: FxHashMap::default(),
            kernels: FxHashMap::default(),
            handles: FxHashMap::default(),
            variables: FxHashMap::default(),
            scratch: Scratch::default(),
        }
    }
}

impl Modules {
    /// The devices' architecture, such as 90 for `sm_90`, which code is chosen by that is read from
    /// now on.
    pub fn set_architecture(&mut self, architecture: u32) {
        self.architecture = architecture;
    }

    /// `__cudaRegisterFatBinary` was given `wrapper`, and has returned `handle`.
    ///
    /// # Safety
    /// `wrapper` is the address of what a compiler has made for that call, which stays until the
    /// module is unregistered.
    pub unsafe fn register(&mut self, handle: usize, wrapper: usize) {
        self.images.insert(handle, Image { wrapper, code: None });
    }

    /// `__cudaUnregisterFatBinary`: the library that the module is of is being unloaded.
    pub fn unregister(&mut self, handle: usize) {
        self.images.remove(&handle);
        self.kernels.retain(|_, kernel| kernel.image != handle);
        self.variables.retain(|_, variable| variable.image != handle);
        let kernels = &self.kernels;
        self.handles.retain(|_, function| kernels.contains_key(function));
    }

    /// `__cudaRegisterFunction`: a kernel by its name in the module, and the function of the host
    /// that stands for it.
    pub fn register_kernel(&mut self, handle: usize, function: usize, name: &str) {
        self.kernels.insert(function, Kernel { image: handle, name: name.into(), known: None });
    }

    /// `__cudaRegisterVar` and `__cudaRegisterManagedVar`: a variable by its name in the module,
    /// and what stands for it on the host.
    pub fn register_variable(&mut self, handle: usize, host: usize, name: &str, size: usize) {
        self.variables.insert(host, Variable { image: handle, name: name.into(), size });
    }

    /// What the runtime calls the kernel that a function of the host stands for
    /// (`__cudaGetKernel`).
    pub fn register_handle(&mut self, kernel: usize, function: usize) {
        if kernel != function {
            self.handles.insert(kernel, function);
        }
    }

    /// The size of the variable that something of the host stands for.
    pub fn variable_size(&self, host: usize) -> Option<usize> {
        self.variables.get(&host).map(|variable| variable.size)
    }

    /// The accesses of a launch of the kernel with this host function or handle. `None` if the
    /// kernel is not known: it may then access anything. `variable` returns the address on the
    /// current device of the variable that a host address represents.
    ///
    /// # Safety
    /// `arguments` points to a pointer to each of the kernel's arguments, as launches are given
    /// them.
    pub unsafe fn launch(
        &mut self,
        function: usize,
        shape: Shape,
        arguments: *const *const c_void,
        variable: &mut dyn FnMut(usize) -> Option<usize>,
    ) -> Option<Launched> {
        let function = self.handles.get(&function).copied().unwrap_or(function);
        if self.kernels.get(&function)?.known.is_none() {
            self.look_at(function);
        }
        let known = self.kernels.get_mut(&function)?.known.as_mut()?.as_mut()?;
        let Scratch { arguments: bytes, addresses, key } = &mut self.scratch;
        // SAFETY: as promised.
        unsafe { known.gather(arguments, bytes) }?;
        addresses.clear();
        addresses.extend(known.variables().map(|host| Some(variable(host?)? as u64)));
        known.key(&shape, bytes, addresses, key);
        if let Some(launched) = known.launches.get(&key[..]) {
            return Some(launched.clone());
        }
        let accesses = known.accesses(&shape, bytes, addresses);
        let launched = Launched { kernel: known.name.clone(), accesses };
        if known.launches.len() >= MAX_LAUNCHES {
            known.launches.clear();
        }
        known.launches.insert(key.as_slice().into(), launched.clone());
        Some(launched)
    }

    /// Finds out what is to be known of a kernel.
    fn look_at(&mut self, function: usize) {
        let Some(kernel) = self.kernels.get_mut(&function) else { return };
        let image = self.images.get_mut(&kernel.image);
        let code = image.map(|image| {
            // SAFETY: `register` was promised that, and the module is still registered.
            &*image
                .code
                .get_or_insert_with(|| unsafe { Code::read(image.wrapper, self.architecture) })
        });
        let own = self.variables.iter().filter(|(_, variable)| variable.image == kernel.image);
        let hosts = own.map(|(host, variable)| (&*variable.name, *host)).collect();
        let known = code.and_then(|code| code.kernel(&kernel.name, &hosts));
        kernel.known = Some(known.map(Box::new));
    }
}
