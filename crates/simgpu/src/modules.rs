//! Modules, kernels and variables that compiled code registers before `main`.
//!
//! A module is loaded, and its variables are allocated on a device, at the first use there.

use crate::error::{Error, Result};
use crate::grid::{Addresses, Kernel, Loader, Module};
use crate::memory::{Kind, Memory};
use rustc_hash::FxHashMap;
use std::ffi::c_void;
use std::sync::Arc;

/// A registered module.
struct Image {
    /// The argument of the registration.
    wrapper: usize,
    module: Option<Result<Arc<dyn Module>>>,
    /// The addresses of its variables on each device.
    on_devices: FxHashMap<usize, Arc<Addresses>>,
    /// Its managed variables, whose addresses are the same for all devices.
    managed: Addresses,
    /// Whether these have their initial values.
    managed_set: bool,
}

/// A kernel or variable: its module and its name there.
#[derive(Clone, Debug)]
pub struct Symbol {
    image: usize,
    /// Its name in the module.
    pub name: String,
    /// Size of a variable, in bytes.
    pub size: usize,
}

/// Everything registered.
pub struct Modules {
    loader: Box<dyn Loader>,
    images: FxHashMap<usize, Image>,
    /// Kernels by the host functions that stand for them.
    kernels: FxHashMap<usize, Symbol>,
    /// Variables by the host variables that stand for them.
    variables: FxHashMap<usize, Symbol>,
    /// Maximum dynamic shared memory of kernels in bytes, where the program has set it.
    shared: FxHashMap<usize, usize>,
}

impl Modules {
    /// No registered modules.
    pub fn new(loader: Box<dyn Loader>) -> Modules {
        Modules {
            loader,
            images: FxHashMap::default(),
            kernels: FxHashMap::default(),
            variables: FxHashMap::default(),
            shared: FxHashMap::default(),
        }
    }

    /// Registers a module under a handle.
    pub fn register(&mut self, handle: usize, wrapper: usize) {
        let on_devices = FxHashMap::default();
        let managed = Addresses::default();
        let image = Image { wrapper, module: None, on_devices, managed, managed_set: false };
        self.images.insert(handle, image);
    }

    /// Unregisters a module, whose library is being unloaded.
    pub fn unregister(&mut self, handle: usize) {
        self.images.remove(&handle);
        self.kernels.retain(|_, symbol| symbol.image != handle);
        self.variables.retain(|_, symbol| symbol.image != handle);
    }

    /// Registers a kernel by its host function.
    pub fn register_kernel(&mut self, image: usize, function: usize, name: String) {
        self.kernels.insert(function, Symbol { image, name, size: 0 });
    }

    /// Registers a variable by its host variable.
    pub fn register_variable(&mut self, image: usize, host: usize, name: String, size: usize) {
        self.variables.insert(host, Symbol { image, name, size });
    }

    /// Registers a managed variable, which has its memory already.
    pub fn register_managed(
        &mut self,
        image: usize,
        host: usize,
        name: &str,
        range: (usize, usize),
    ) {
        self.register_variable(image, host, name.to_owned(), range.1);
        if let Some(image) = self.images.get_mut(&image) {
            image.managed.insert(name.to_owned(), range.0);
        }
    }

    /// The kernel of a host function.
    pub fn kernel(&self, function: usize) -> Result<&Symbol> {
        self.kernels.get(&function).ok_or(Error::INVALID_DEVICE_FUNCTION)
    }

    /// The variable of a host variable.
    pub fn variable(&self, host: usize) -> Result<&Symbol> {
        self.variables.get(&host).ok_or(Error::INVALID_SYMBOL)
    }

    /// Maximum dynamic shared memory of a kernel in bytes, if set.
    pub fn shared_limit(&self, function: usize) -> Option<usize> {
        self.shared.get(&function).copied()
    }

    /// Sets the maximum dynamic shared memory of a kernel.
    pub fn set_shared_limit(&mut self, function: usize, bytes: usize) {
        self.shared.insert(function, bytes);
    }

    /// The module of a symbol, loaded if necessary.
    pub fn module(&mut self, symbol: &Symbol) -> Result<Arc<dyn Module>> {
        let image = self.images.get_mut(&symbol.image).ok_or(Error::INVALID_KERNEL_IMAGE)?;
        if image.module.is_none() {
            // SAFETY: registered by compiled code, and not unregistered since.
            let loaded = unsafe { self.loader.load(image.wrapper as *const c_void) };
            image.module = Some(loaded.map_err(|unusable| {
                eprintln!("commsan: simulated GPU: {}: {}", symbol.name, unusable.reason);
                unusable.error
            }));
        }
        image.module.clone().unwrap_or(Err(Error::INVALID_KERNEL_IMAGE))
    }

    /// The properties of a kernel.
    pub fn describe(&mut self, function: usize) -> Result<Kernel> {
        let symbol = self.kernel(function)?.clone();
        let module = self.module(&symbol)?;
        module.kernel(&symbol.name).cloned().ok_or(Error::INVALID_DEVICE_FUNCTION)
    }

    /// The addresses, on a device, of the variables of a symbol's module.
    pub fn addresses(
        &mut self,
        memory: &mut Memory,
        symbol: &Symbol,
        device: usize,
    ) -> Result<Arc<Addresses>> {
        let module = self.module(symbol)?;
        let image = self.images.get_mut(&symbol.image).ok_or(Error::INVALID_KERNEL_IMAGE)?;
        if let Some(addresses) = image.on_devices.get(&device) {
            return Ok(Arc::clone(addresses));
        }
        let mut addresses = image.managed.clone();
        for global in module.globals() {
            if !addresses.contains_key(&global.name) {
                let start = memory.allocate(Kind::Variable, device, global.size)?;
                addresses.insert(global.name.clone(), start);
            }
        }
        // Those of a part that has no PTX, such as NVSHMEM's library for kernels, are known by
        // their registration alone.
        for other in self.variables.values().filter(|other| other.image == symbol.image) {
            if !addresses.contains_key(&other.name) {
                let start = memory.allocate(Kind::Variable, device, other.size)?;
                // SAFETY: memory of this size, which nothing knows yet.
                unsafe { (start as *mut u8).write_bytes(0, other.size) };
                addresses.insert(other.name.clone(), start);
            }
        }
        for global in module.globals() {
            if image.managed_set && image.managed.contains_key(&global.name) {
                continue;
            }
            let start = addresses[&global.name] as *mut u8;
            // SAFETY: memory of this size that was allocated for this variable; nothing that runs
            // has its address yet.
            let bytes = unsafe { std::slice::from_raw_parts_mut(start, global.size) };
            module.initialise(global, &addresses, bytes);
        }
        image.managed_set = true;
        let addresses = Arc::new(addresses);
        image.on_devices.insert(device, Arc::clone(&addresses));
        Ok(addresses)
    }

    /// The address of a variable on a device.
    pub fn address(&mut self, memory: &mut Memory, host: usize, device: usize) -> Result<usize> {
        let symbol = self.variable(host)?.clone();
        let addresses = self.addresses(memory, &symbol, device)?;
        addresses.get(&symbol.name).copied().ok_or(Error::INVALID_SYMBOL)
    }

    /// The variables with a name of all modules that can be loaded: their addresses on a device,
    /// and sizes in bytes.
    pub fn named(&mut self, memory: &mut Memory, name: &str, device: usize) -> Vec<(usize, usize)> {
        let all = self.variables.values().filter(|symbol| symbol.name == name);
        let all: Vec<Symbol> = all.cloned().collect();
        let place = |symbol: &Symbol| {
            let addresses = self.addresses(memory, symbol, device).ok()?;
            Some((*addresses.get(&symbol.name)?, symbol.size))
        };
        all.iter().filter_map(place).collect()
    }

    /// Whether a managed variable is at this address.
    pub fn is_managed(&self, start: usize) -> bool {
        self.images.values().any(|image| image.managed.values().any(|&address| address == start))
    }

    /// Forgets the variables of a device that is reset; they are initialised again at the next use.
    pub fn forget_device(&mut self, device: usize) {
        for image in self.images.values_mut() {
            image.on_devices.remove(&device);
        }
    }

    /// Any symbol of a module, through which its managed variables can be initialised.
    pub fn any_of(&self, image: usize) -> Option<Symbol> {
        self.variables.values().find(|symbol| symbol.image == image).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{Global, Grid, Launch, Observed, Unusable};

    /// A module that has one variable in its PTX.
    struct Known([Global; 1]);

    impl Module for Known {
        fn kernel(&self, _: &str) -> Option<&Kernel> {
            None
        }

        fn globals(&self) -> &[Global] {
            &self.0
        }

        fn initialise(&self, _: &Global, _: &Addresses, bytes: &mut [u8]) {
            bytes.fill(7);
        }

        fn start(&self, _: &Launch, _: &Arc<Addresses>, _: Observed) -> Result<Box<dyn Grid>> {
            Err(Error::NOT_SUPPORTED)
        }
    }

    struct OfKnown;

    impl Loader for OfKnown {
        unsafe fn load(&self, _: *const c_void) -> Result<Arc<dyn Module>, Unusable> {
            Ok(Arc::new(Known([Global { name: "known".to_owned(), size: 16, alignment: 8 }])))
        }
    }

    #[test]
    fn a_variable_without_ptx_is_memory_of_the_registered_size() {
        let mut memory = Memory::new(2, 1 << 30).expect("memory");
        let mut modules = Modules::new(Box::new(OfKnown));
        modules.register(1, 0x1000);
        modules.register_variable(1, 0x2000, "known".to_owned(), 16);
        modules.register_variable(1, 0x2010, "other".to_owned(), 776);
        let bytes_of = |(start, size): (usize, usize)| {
            // SAFETY: memory of the device, of this size.
            unsafe { std::slice::from_raw_parts(start as *const u8, size) }.to_vec()
        };
        let known = modules.named(&mut memory, "known", 1);
        let other = modules.named(&mut memory, "other", 1);
        assert_eq!(known.iter().copied().map(bytes_of).collect::<Vec<_>>(), [[7; 16]]);
        assert_eq!(other.iter().copied().map(bytes_of).collect::<Vec<_>>(), [[0; 776]]);
        assert_eq!(modules.address(&mut memory, 0x2010, 1), Ok(other[0].0));
        assert_ne!(modules.address(&mut memory, 0x2010, 0), Ok(other[0].0));
        assert!(modules.named(&mut memory, "none", 1).is_empty());
    }
}
