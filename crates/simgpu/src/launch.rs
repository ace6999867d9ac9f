//! Kernel launches: validates a launch and gathers its arguments.

use crate::device::{limits, occupancy};
use crate::error::{Error, Result};
use crate::grid::{Kernel, Launch};
use crate::runtime::State;
use crate::task::KernelCall;
use crate::thread;
use std::ffi::c_void;
use std::sync::Arc;

/// A launch as the program requests it.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// The host function that stands for the kernel.
    pub function: usize,
    /// Number of blocks.
    pub grid: [u32; 3],
    /// Number of threads of a block.
    pub block: [u32; 3],
    /// Size of dynamic shared memory, in bytes.
    pub shared: usize,
    /// Whether all blocks must be resident at once.
    pub cooperative: bool,
    /// Whether clusters of several blocks are requested.
    pub clusters: bool,
}

impl Request {
    fn threads(&self) -> u32 {
        self.block.iter().product()
    }

    /// Checks that hold for any kernel.
    fn check(&self) -> Result {
        let within = |sizes: [u32; 3], most: [u32; 3]| {
            sizes.iter().zip(most).all(|(&size, most)| (1..=most).contains(&size))
        };
        let fits = within(self.grid, limits::GRID)
            && within(self.block, limits::BLOCK)
            && self.threads() <= limits::BLOCK_THREADS;
        // CUDA 13 does the same (observed with 13.5 in front of a driver of 13.0).
        if fits { Ok(()) } else { Err(Error::INVALID_VALUE) }
    }

    /// Checks that depend on the kernel; `allowed` is the dynamic shared memory that it may have.
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
    /// Prepares a kernel with its arguments for launch on a device.
    ///
    /// # Safety
    /// `arguments` points to a pointer for each of the kernel's parameters.
    pub unsafe fn prepare(
        &mut self,
        request: Request,
        arguments: *const *const c_void,
        device: usize,
    ) -> Result<Arc<KernelCall>> {
        let tag = thread::take_tag();
        request.check()?;
        let symbol = self.modules.kernel(request.function)?.clone();
        let module = self.modules.module(&symbol)?;
        let kernel = module.kernel(&symbol.name).ok_or(Error::INVALID_DEVICE_FUNCTION)?;
        if kernel.clusters || request.clusters {
            eprintln!(
                "commsan: simulated GPU: {}: clusters of blocks are not supported",
                symbol.name
            );
            return Err(Error::NOT_SUPPORTED);
        }
        request.check_kernel(kernel, self.shared_allowed(request.function, kernel))?;
        // SAFETY: by this function's contract.
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
            tag,
            origin: thread::origin(),
        };
        Ok(Arc::new(KernelCall { module, addresses, launch, function: request.function }))
    }

    /// The dynamic shared memory that a kernel may be launched with, in bytes.
    pub fn shared_allowed(&self, function: usize, kernel: &Kernel) -> usize {
        let usual = limits::SHARED.saturating_sub(kernel.shared);
        self.modules.shared_limit(function).unwrap_or(usual).max(usual)
    }
}

/// Copies the arguments to their offsets in parameter space.
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
        // SAFETY: by the contract, each points to as many bytes as the parameter has.
        let argument = unsafe {
            let argument = arguments.add(at).read();
            std::slice::from_raw_parts(argument.cast::<u8>(), size)
        };
        bytes[offset..offset + size].copy_from_slice(argument);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{
        Addresses, Global, Grid, Loader, Module, Observed, Progress, Reach, Unusable,
    };
    use crate::runtime::{Runtime, Session};
    use crate::settings::Settings;
    use crate::streams::Which;
    use crate::task::Task;

    /// A module with a kernel `add(int *to, char by)` that also adds a variable, whose initial
    /// value is 40.
    struct Adder {
        kernel: Kernel,
        globals: Vec<Global>,
    }

    struct Add {
        to: usize,
        by: i32,
    }

    struct Adders;

    const FUNCTION: usize = 0x1000;
    const VARIABLE: usize = 0x2000;
    const IMAGE: usize = 0x3000;

    impl Loader for Adders {
        unsafe fn load(&self, wrapper: *const c_void) -> Result<Arc<dyn Module>, Unusable> {
            if wrapper.is_null() {
                let error = Error::NO_KERNEL_IMAGE_FOR_DEVICE;
                return Err(Unusable { error, reason: "nothing there".to_owned() });
            }
            let kernel = Kernel {
                parameters: vec![(0, 8), (8, 1)],
                max_threads: Some(64),
                registers: 32,
                ..Kernel::default()
            };
            let globals = vec![Global { name: "forty".to_owned(), size: 4, alignment: 4 }];
            Ok(Arc::new(Adder { kernel, globals }))
        }
    }

    impl Module for Adder {
        fn kernel(&self, entry: &str) -> Option<&Kernel> {
            (entry == "add").then_some(&self.kernel)
        }

        fn globals(&self) -> &[Global] {
            &self.globals
        }

        fn initialise(&self, _: &Global, _: &Addresses, bytes: &mut [u8]) {
            bytes.copy_from_slice(&40_i32.to_le_bytes());
        }

        fn start(
            &self,
            launch: &Launch,
            addresses: &Arc<Addresses>,
            _: Observed,
        ) -> Result<Box<dyn Grid>> {
            let pointer: [u8; 8] = launch.arguments[..8].try_into().expect("eight bytes");
            // SAFETY: device memory, which is valid until the device is reset.
            let forty = unsafe { (addresses["forty"] as *const i32).read() };
            let by = i32::from(launch.arguments[8] as i8) + forty;
            Ok(Box::new(Add { to: usize::from_le_bytes(pointer), by }))
        }
    }

    impl Grid for Add {
        fn advance(&mut self, _: u64, reach: &dyn Reach) -> Progress {
            if reach.allocation(0, self.to).is_none() {
                return Progress::Fault(Error::ILLEGAL_ADDRESS);
            }
            // SAFETY: `reach` has confirmed the allocation.
            unsafe { *(self.to as *mut i32) += self.by };
            Progress::Done
        }
    }

    fn session(wrapper: usize) -> Session {
        let settings = Settings { devices: 1, seed: 0, kernel_checks: false };
        let runtime = Runtime::new(settings, Box::new(Adders)).expect("address space");
        let mut session = runtime.session();
        session.modules.register(IMAGE, wrapper);
        session.modules.register_kernel(IMAGE, FUNCTION, "add".to_owned());
        session.modules.register_variable(IMAGE, VARIABLE, "forty".to_owned(), 4);
        session
    }

    fn request(block: u32, shared: usize) -> Request {
        let (function, grid, block) = (FUNCTION, [1, 1, 1], [block, 1, 1]);
        Request { function, grid, block, shared, cooperative: false, clusters: false }
    }

    fn launch(session: &mut Session, request: Request, to: &usize, by: &i8) -> Result {
        let arguments: [*const c_void; 2] = [(&raw const *to).cast(), (&raw const *by).cast()];
        // SAFETY: an argument for each parameter.
        let kernel = unsafe { session.prepare(request, arguments.as_ptr(), 0) }?;
        let stream = session.stream(Which::legacy(0))?;
        session.submit(stream, Task::Kernel(kernel)).map(drop)
    }

    #[test]
    fn arguments_are_those_of_the_call_and_variables_those_of_the_device() {
        let mut session = session(1);
        let to = session.memory.allocate(crate::memory::Kind::Device, 0, 4).expect("room");
        let mut by = 2;
        launch(&mut session, request(1, 0), &to, &by).expect("a kernel");
        by = 100;
        session.wait_for_device(0).expect("no fault");
        // SAFETY: allocated, and nothing runs.
        assert_eq!(unsafe { *(to as *const i32) }, 42);
        let state = &mut *session;
        let variable = state.modules.address(&mut state.memory, VARIABLE, 0).expect("a variable");
        // SAFETY: allocated for the module, and nothing runs.
        unsafe { *(variable as *mut i32) = -100 };
        launch(&mut session, request(1, 0), &to, &by).expect("a kernel");
        session.wait_for_device(0).expect("no fault");
        // SAFETY: allocated, and nothing runs.
        assert_eq!(unsafe { *(to as *const i32) }, 42);
        launch(&mut session, request(1, 0), &7, &by).expect("not known yet");
        assert_eq!(session.wait_for_device(0), Err(Error::ILLEGAL_ADDRESS));
    }

    #[test]
    fn what_a_launch_may_not_be() {
        let mut session = session(1);
        let refused = |session: &mut Session, request| launch(session, request, &8, &0);
        assert_eq!(refused(&mut session, request(0, 0)), Err(Error::INVALID_VALUE));
        assert_eq!(refused(&mut session, request(65, 0)), Err(Error::LAUNCH_OUT_OF_RESOURCES));
        assert_eq!(refused(&mut session, request(1, 49 << 10)), Err(Error::INVALID_VALUE));
        session.modules.set_shared_limit(FUNCTION, 100 << 10);
        assert_eq!(refused(&mut session, request(1, 49 << 10)), Ok(()));
        let unknown = Request { function: 9, ..request(1, 0) };
        assert_eq!(refused(&mut session, unknown), Err(Error::INVALID_DEVICE_FUNCTION));
        let grid = [32 * 132 + 1, 1, 1];
        let cooperative = Request { grid, cooperative: true, ..request(1, 0) };
        let too_large = Err(Error::COOPERATIVE_LAUNCH_TOO_LARGE);
        assert_eq!(refused(&mut session, cooperative), too_large);
    }

    #[test]
    fn a_module_that_cannot_be_read_says_so_at_every_launch() {
        let mut session = session(0);
        for _ in 0..2 {
            let refused = launch(&mut session, request(1, 0), &8, &0);
            assert_eq!(refused, Err(Error::NO_KERNEL_IMAGE_FOR_DEVICE));
        }
    }
}
