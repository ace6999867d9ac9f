//! From what a program says of a launch to a kernel that can run.

use crate::device::{limits, occupancy};
use crate::error::{Error, Result};
use crate::grid::{Kernel, Launch};
use crate::runtime::State;
use crate::task::KernelCall;
use std::ffi::c_void;
use std::sync::Arc;

/// A launch as the program asks for it.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// The host function that stands for the kernel.
    pub function: usize,
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared: usize,
    /// Whether all blocks must be resident at once.
    pub cooperative: bool,
}

impl Request {
    fn threads(&self) -> u32 {
        self.block.iter().product()
    }

    /// Checks what holds for any kernel.
    fn check(&self) -> Result {
        let within = |sizes: [u32; 3], most: [u32; 3]| {
            sizes.iter().zip(most).all(|(&size, most)| (1..=most).contains(&size))
        };
        let fits = within(self.grid, limits::GRID)
            && within(self.block, limits::BLOCK)
            && self.threads() <= limits::BLOCK_THREADS;
        if fits { Ok(()) } else { Err(Error::INVALID_CONFIGURATION) }
    }

    /// Checks what holds for this one; `allowed` is the dynamic shared memory it may have.
    fn check_kernel(&self, kernel: &Kernel, allowed: usize) -> Result {
        if self.shared > allowed {
            return Err(Error::INVALID_VALUE);
        }
        if kernel.max_threads.is_some_and(|most| self.threads() > most) {
            return Err(Error::LAUNCH_OUT_OF_RESOURCES);
        }
        let blocks: u64 = self.grid.iter().map(|&size| u64::from(size)).product();
        let resident = occupancy(self.threads(), kernel.shared + self.shared, kernel.registers);
        if self.cooperative && blocks > u64::from(resident * limits::MULTIPROCESSORS) {
            return Err(Error::COOPERATIVE_LAUNCH_TOO_LARGE);
        }
        Ok(())
    }
}

impl State {
    /// A kernel with its arguments, ready to be launched on a device.
    ///
    /// # Safety
    /// `arguments` points to a pointer for each of the kernel's parameters.
    pub unsafe fn prepare(
        &mut self,
        request: Request,
        arguments: *const *const c_void,
        device: usize,
    ) -> Result<Arc<KernelCall>> {
        request.check()?;
        let symbol = self.modules.kernel(request.function)?.clone();
        let module = self.modules.module(&symbol)?;
        let kernel = module.kernel(&symbol.name).ok_or(Error::INVALID_DEVICE_FUNCTION)?;
        request.check_kernel(kernel, self.shared_allowed(request.function, kernel))?;
        // SAFETY: as promised.
        let arguments = unsafe { gather(kernel, arguments) }?;
        let addresses = self.modules.addresses(&mut self.memory, &symbol, device)?;
        let launch = Launch {
            device,
            entry: symbol.name,
            arguments,
            grid: request.grid,
            block: request.block,
            shared: request.shared,
            cooperative: request.cooperative,
        };
        Ok(Arc::new(KernelCall { module, addresses, launch, function: request.function }))
    }

    /// The dynamic shared memory that a kernel may be launched with.
    pub fn shared_allowed(&self, function: usize, kernel: &Kernel) -> usize {
        let usual = limits::SHARED.saturating_sub(kernel.shared);
        self.modules.shared_limit(function).unwrap_or(usual).max(usual)
    }
}

/// Reads the arguments to where they lie in parameter space.
///
/// # Safety
/// `arguments` points to a pointer for each parameter.
unsafe fn gather(kernel: &Kernel, arguments: *const *const c_void) -> Result<Vec<u8>> {
    let size = kernel.parameters.iter().map(|(offset, size)| offset + size).max().unwrap_or(0);
    let mut bytes = vec![0; size];
    if size > 0 && arguments.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    for (at, &(offset, size)) in kernel.parameters.iter().enumerate() {
        // SAFETY: as promised; each points to as many bytes as the parameter has.
        let argument = unsafe {
            let argument = arguments.add(at).read();
            std::slice::from_raw_parts(argument.cast::<u8>(), size)
        };
        bytes[offset..offset + size].copy_from_slice(argument);
    }
    Ok(bytes)
}
