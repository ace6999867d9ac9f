//! What the compiler's code calls: to register modules, and to launch kernels.

use crate::arguments::{In, Out};
use crate::launch::{Kernel, note, note_name};
use crate::process::process;
use crate::real::real;
use crate::{sites, symbols};
use commsan_cuda_abi::{Dim3, LaunchConfig};
use commsan_process::caller;
use std::ffi::{c_char, c_int, c_uint, c_void};

entries! {
    fn __cudaGetKernel(kernel: Out<usize>, function: usize) after(_) {
        note(|modules| modules.register_handle(kernel.get(), function));
    }

    fn cudaGetKernel(kernel: Out<usize>, function: usize) after(_) {
        note(|modules| modules.register_handle(kernel.get(), function));
    }

    fn cudaGetFuncBySymbol(kernel: Out<usize>, function: usize) after(_) {
        note(|modules| modules.register_handle(kernel.get(), function));
    }

    fn __cudaPopCallConfiguration(
        _grid: Out<Dim3>,
        _block: Out<Dim3>,
        _shared: Out<usize>,
        _stream: Out<usize>,
    ) after(_) {
        sites::take_back();
    }

    fn __cudaLaunchKernel, __cudaLaunchKernel_ptsz(
        function: usize,
        grid: Dim3,
        block: Dim3,
        arguments: *const *const c_void,
        shared: usize,
        stream: usize,
    ) instead(call, real) {
        let kernel = Kernel { function, grid, block, arguments };
        kernel.launch(call, stream, || {
            // SAFETY: the program's arguments.
            unsafe { real(function, grid, block, arguments, shared, stream) }
        })
    }

    fn cudaLaunchKernel, cudaLaunchKernel_ptsz(
        function: usize,
        grid: Dim3,
        block: Dim3,
        arguments: *const *const c_void,
        shared: usize,
        stream: usize,
    ) instead(call, real) {
        let kernel = Kernel { function, grid, block, arguments };
        kernel.launch(call, stream, || {
            // SAFETY: the program's arguments.
            unsafe { real(function, grid, block, arguments, shared, stream) }
        })
    }

    fn cudaLaunchCooperativeKernel, cudaLaunchCooperativeKernel_ptsz(
        function: usize,
        grid: Dim3,
        block: Dim3,
        arguments: *const *const c_void,
        shared: usize,
        stream: usize,
    ) instead(call, real) {
        let kernel = Kernel { function, grid, block, arguments };
        kernel.launch(call, stream, || {
            // SAFETY: the program's arguments.
            unsafe { real(function, grid, block, arguments, shared, stream) }
        })
    }

    fn cudaLaunchKernelExC, cudaLaunchKernelExC_ptsz(
        configuration: In<LaunchConfig>,
        function: usize,
        arguments: *const *const c_void,
    ) instead(call, real) {
        let (kernel, stream) = Kernel::configured(configuration, function, arguments);
        kernel.launch(call, stream, || {
            // SAFETY: the program's arguments.
            unsafe { real(configuration, function, arguments) }
        })
    }
}

#[unsafe(no_mangle)]
#[inline(never)]
unsafe extern "C" fn __cudaPushCallConfiguration(
    grid: Dim3,
    block: Dim3,
    shared: usize,
    stream: usize,
) -> c_uint {
    /// Do not launch.
    const NO: c_uint = 1;
    let real = real!(c"__cudaPushCallConfiguration", fn(Dim3, Dim3, usize, usize) -> c_uint);
    let Some(real) = real else { return NO };
    // SAFETY: the program's arguments.
    let code = unsafe { real(grid, block, shared, stream) };
    if code == 0 && process().is_some() {
        sites::note(caller!());
    }
    code
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __cudaRegisterFatBinary(wrapper: usize) -> usize {
    let Some(real) = real!(c"__cudaRegisterFatBinary", fn(usize) -> usize) else { return 0 };
    // SAFETY: the program's arguments.
    let handle = unsafe { real(wrapper) };
    note(|modules| {
        // SAFETY: the compiler's code passes what it has made for that.
        unsafe { modules.register(handle, wrapper) }
    });
    handle
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __cudaUnregisterFatBinary(handle: usize) {
    note(|modules| modules.unregister(handle));
    if let Some(real) = real!(c"__cudaUnregisterFatBinary", fn(usize) -> ()) {
        // SAFETY: the program's arguments.
        unsafe { real(handle) }
    }
}

#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "they are CUDA's")]
unsafe extern "C" fn __cudaRegisterFunction(
    handle: usize,
    function: usize,
    device_function: usize,
    name: *const c_char,
    thread_limit: c_int,
    thread: usize,
    block: usize,
    block_size: usize,
    grid_size: usize,
    warp: usize,
) {
    let real = real!(
        c"__cudaRegisterFunction",
        fn(usize, usize, usize, *const c_char, c_int, usize, usize, usize, usize, usize) -> ()
    );
    if let Some(real) = real {
        // SAFETY: the program's arguments.
        unsafe {
            real(
                handle,
                function,
                device_function,
                name,
                thread_limit,
                thread,
                block,
                block_size,
                grid_size,
                warp,
            );
        }
    }
    note_name(name, |modules, name| modules.register_kernel(handle, function, name));
}

#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "they are CUDA's")]
unsafe extern "C" fn __cudaRegisterVar(
    handle: usize,
    host: usize,
    address: usize,
    name: *const c_char,
    external: c_int,
    size: usize,
    constant: c_int,
    global: c_int,
) {
    let real = real!(
        c"__cudaRegisterVar",
        fn(usize, usize, usize, *const c_char, c_int, usize, c_int, c_int) -> ()
    );
    if let Some(real) = real {
        // SAFETY: the program's arguments.
        unsafe { real(handle, host, address, name, external, size, constant, global) }
    }
    note_name(name, |modules, name| modules.register_variable(handle, host, name, size));
}

#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments, reason = "they are CUDA's")]
unsafe extern "C" fn __cudaRegisterManagedVar(
    handle: usize,
    host: usize,
    address: usize,
    name: *const c_char,
    external: c_int,
    size: usize,
    constant: c_int,
    global: c_int,
) {
    let real = real!(
        c"__cudaRegisterManagedVar",
        fn(usize, usize, usize, *const c_char, c_int, usize, c_int, c_int) -> ()
    );
    if let Some(real) = real {
        // SAFETY: the program's arguments.
        unsafe { real(handle, host, address, name, external, size, constant, global) }
    }
    symbols::managed(host, size);
    note_name(name, |modules, name| modules.register_variable(handle, host, name, size));
}
