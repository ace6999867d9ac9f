//! Kernels: the modules that the compiler's code registers, and launches.

use crate::arguments::In;
use crate::call::Call;
use crate::process::quietly;
use crate::real::SUCCESS;
use crate::{ask, sites, symbols, traffic, watch};
use commsan_cuda::{Bytes, KernelAccess, Modules, Shape, Strength, Wait, Work};
use commsan_cuda_abi::{Dim3, KernelNodeParams, LaunchConfig};
use commsan_shadow::Mode;
use parking_lot::{Mutex, MutexGuard};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::{Arc, LazyLock, Once};
use std::time::Duration;

static MODULES: LazyLock<Mutex<Modules>> = LazyLock::new(Mutex::default);

/// Code is chosen by what the first device that runs some is.
static ARCHITECTURE: Once = Once::new();

/// Longer than anybody needs them. Who left them by `longjmp` does not give them back.
const MODULES_TIMEOUT: Duration = Duration::from_secs(5);

fn modules() -> Option<MutexGuard<'static, Modules>> {
    MODULES.try_lock().or_else(|| MODULES.try_lock_for(MODULES_TIMEOUT))
}

/// Notes something about modules. The compiler's code does that before `main`, and perhaps before
/// commsan's own.
pub(crate) fn note(f: impl FnOnce(&mut Modules)) {
    quietly(|| modules().map(|mut modules| f(&mut modules)));
}

/// Notes something about a name in a module.
pub(crate) fn note_name(name: *const c_char, f: impl FnOnce(&mut Modules, &str)) {
    if !name.is_null() {
        // SAFETY: the compiler's code passes a string constant.
        let name = unsafe { CStr::from_ptr(name) };
        note(|modules| f(modules, &name.to_string_lossy()));
    }
}

/// A kernel with its arguments.
pub(crate) struct Kernel {
    /// The host function that stands for it, or its handle.
    pub function: usize,
    pub grid: Dim3,
    pub block: Dim3,
    pub arguments: *const *const c_void,
}

impl Kernel {
    /// The one of a launch by configuration, and its stream.
    pub fn configured(
        configuration: In<LaunchConfig>,
        function: usize,
        arguments: *const *const c_void,
    ) -> (Kernel, usize) {
        if configuration.is_null() {
            // The library refuses it.
            let none = Dim3 { x: 0, y: 0, z: 0 };
            return (Kernel { function, grid: none, block: none, arguments }, 0);
        }
        let configuration = configuration.get();
        let (grid, block) = (configuration.gridDim, configuration.blockDim);
        (Kernel { function, grid, block, arguments }, configuration.stream)
    }

    /// The one of a node.
    pub fn of_node(node: &KernelNodeParams) -> Kernel {
        Kernel {
            function: node.func,
            grid: node.gridDim,
            block: node.blockDim,
            arguments: node.kernelParams,
        }
    }

    /// What it does in a stream.
    pub fn work(&self, call: &Call, stream: usize) -> Work {
        let shape = Shape { grid: sizes(self.grid), block: sizes(self.block) };
        let variable = &mut |symbol| symbols::address(call, symbol);
        ARCHITECTURE.call_once(|| {
            if let Some(architecture) = ask::architecture(call.device()) {
                note(|modules| modules.set_architecture(architecture));
            }
        });
        let launched = modules().and_then(|mut modules| {
            // SAFETY: the program's arguments.
            unsafe { modules.launch(self.function, shape, self.arguments, variable) }
        });
        let (kernel, accesses) = match launched {
            Some(launched) => (Some(launched.kernel), launched.accesses),
            None => (None, Arc::clone(&ANYTHING)),
        };
        let stream = call.stream(stream);
        Work { call: call.name, stream, kernel, accesses, wait: Wait::Nothing }
    }

    /// Launches it.
    ///
    /// The simulated device knows it by its ticket, which it has before the launch.
    pub fn launch(
        &self,
        call: Option<&Call>,
        stream: usize,
        real: impl FnOnce() -> c_int,
    ) -> c_int {
        let Some(call) = call else { return real() };
        let call = &sites::of_launch().map_or(*call, |site| call.from(site));
        if call.counts() {
            traffic::accesses::launches_from(call, None);
        }
        if !call.checks() {
            return real();
        }
        let put = || {
            let work = self.work(call, stream);
            call.with(|streams, place, out| streams.enqueue(&work, place, out))
        };
        let Some(tag) = watch::tag(call) else {
            let code = real();
            if code == SUCCESS {
                quietly(put);
            }
            return code;
        };
        let ticket = quietly(put).flatten();
        watch::tagged(tag, ticket, || {
            let code = real();
            if let Some(ticket) = ticket.filter(|_| code != SUCCESS) {
                quietly(|| call.with(|streams, place, out| streams.withdrawn(ticket, place, out)));
            }
            code
        })
    }
}

fn sizes(sizes: Dim3) -> [u32; 3] {
    [sizes.x, sizes.y, sizes.z]
}

/// What a kernel may do of which nothing is known.
static ANYTHING: LazyLock<Arc<[KernelAccess]>> = LazyLock::new(|| {
    let access = |mode| KernelAccess {
        mode,
        strength: Strength::Weak,
        bytes: Bytes::Anywhere,
        certain: false,
        line: None,
    };
    Arc::new([access(Mode::Read), access(Mode::Write)])
});
