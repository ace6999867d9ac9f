//! Functions called by compiled code: registration of modules, kernel launches.

use crate::abi::{Dim3, FuncAttributes, LaunchConfig};
use crate::api::entry::{In, Out, call};
use crate::error::{Error, Result};
use crate::kernels::ARCHITECTURE;
use crate::launch::Request;
use crate::memory::Kind;
use crate::order::StreamId;
use crate::runtime::Session;
use crate::task::Task;
use crate::thread::{self, Configuration};
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ops::RangeInclusive;

/// `cudaLaunchAttributeCooperative` and `cudaLaunchAttributeClusterDimension`.
const COOPERATIVE: c_int = 2;
const CLUSTER: c_int = 4;
/// `cudaFuncAttributeMaxDynamicSharedMemorySize`, and the range of the other attributes.
const MAX_DYNAMIC_SHARED: c_int = 8;
const OTHER_FUNCTION_ATTRIBUTES: RangeInclusive<c_int> = 9..=16;

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterFatBinary(wrapper: usize) -> usize {
    let mut handle = 0;
    call(|session| {
        handle = session.new_handle();
        session.modules.register(handle, wrapper);
        Ok(())
    });
    handle
}

#[unsafe(no_mangle)]
extern "C" fn __cudaRegisterFatBinaryEnd(_image: usize) {}

#[unsafe(no_mangle)]
extern "C" fn __cudaUnregisterFatBinary(image: usize) {
    call(|session| {
        session.modules.unregister(image);
        Ok(())
    });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __cudaRegisterFunction(
    image: usize,
    function: usize,
    _device_function: usize,
    name: In<c_char>,
    _thread_limit: c_int,
) {
    call(|session| {
        session.modules.register_kernel(image, function, name.text()?);
        Ok(())
    });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __cudaRegisterVar(
    image: usize,
    host: usize,
    _address: usize,
    name: In<c_char>,
    _external: c_int,
    size: usize,
    _constant: c_int,
    _global: c_int,
) {
    call(|session| {
        session.modules.register_variable(image, host, name.text()?, size);
        Ok(())
    });
}

#[unsafe(no_mangle)]
unsafe extern "C" fn __cudaRegisterManagedVar(
    image: usize,
    host: Out<usize>,
    _address: usize,
    name: In<c_char>,
    _external: c_int,
    size: usize,
    _constant: c_int,
    _global: c_int,
) {
    call(|session| {
        let start = session.memory.allocate(Kind::Managed, 0, size)?;
        let name = name.text()?;
        session.modules.register_managed(image, host.address(), &name, (start, size));
        // The program reads the variable through this pointer.
        host.put(start)
    });
}

#[unsafe(no_mangle)]
extern "C" fn __cudaInitModule(image: usize) -> c_char {
    call(|session| {
        let device = session.current()?;
        let Some(symbol) = session.modules.any_of(image) else { return Ok(()) };
        let state = &mut **session;
        state.modules.addresses(&mut state.memory, &symbol, device).map(drop)
    });
    1
}

#[unsafe(no_mangle)]
extern "C" fn __cudaPushCallConfiguration(
    grid: Dim3,
    block: Dim3,
    shared: usize,
    stream: usize,
) -> c_uint {
    let (grid, block) = (sizes(grid), sizes(block));
    thread::push_configuration(Configuration { grid, block, shared, stream }).is_err().into()
}

calls! {
    fn __cudaPopCallConfiguration in (_)(
        grid: Out<Dim3>,
        block: Out<Dim3>,
        shared: Out<usize>,
        stream: Out<usize>,
    ) {
        let popped = thread::pop_configuration()?;
        let [x, y, z] = popped.grid;
        grid.put(Dim3 { x, y, z })?;
        let [x, y, z] = popped.block;
        block.put(Dim3 { x, y, z })?;
        shared.put(popped.shared)?;
        stream.put(popped.stream)
    }

    fn __cudaGetKernel in (session)(kernel: Out<usize>, function: usize) {
        session.modules.kernel(function)?;
        // The host function's address is the handle of the kernel everywhere.
        kernel.put(function)
    }

    fn cudaGetKernel in (session)(kernel: Out<usize>, function: usize) {
        session.modules.kernel(function)?;
        kernel.put(function)
    }

    fn cudaGetFuncBySymbol in (session)(kernel: Out<usize>, function: usize) {
        session.modules.kernel(function)?;
        kernel.put(function)
    }

    fn __cudaLaunchKernel, __cudaLaunchKernel_ptsz in (session, which)(
        function: usize,
        grid: Dim3,
        block: Dim3,
        arguments: *const *const c_void,
        shared: usize,
        stream: usize,
    ) {
        let stream = session.stream(which(stream))?;
        launch(session, request(function, grid, block, shared, false), arguments, stream)
    }

    fn cudaLaunchKernel, cudaLaunchKernel_ptsz in (session, which)(
        function: usize,
        grid: Dim3,
        block: Dim3,
        arguments: *const *const c_void,
        shared: usize,
        stream: usize,
    ) {
        let stream = session.stream(which(stream))?;
        launch(session, request(function, grid, block, shared, false), arguments, stream)
    }

    fn cudaLaunchCooperativeKernel, cudaLaunchCooperativeKernel_ptsz in (session, which)(
        function: usize,
        grid: Dim3,
        block: Dim3,
        arguments: *const *const c_void,
        shared: usize,
        stream: usize,
    ) {
        let stream = session.stream(which(stream))?;
        launch(session, request(function, grid, block, shared, true), arguments, stream)
    }

    fn cudaLaunchKernelExC, cudaLaunchKernelExC_ptsz in (session, which)(
        configuration: In<LaunchConfig>,
        function: usize,
        arguments: *const *const c_void,
    ) {
        let configuration = configuration.get()?;
        let stream = session.stream(which(configuration.stream))?;
        let attributes = In::from(configuration.attrs).all(configuration.numAttrs as usize)?;
        let clusters =
            attributes.iter().any(|a| a.id == CLUSTER && a.val[..3].iter().any(|&size| size > 1));
        let cooperative = attributes.iter().any(|a| a.id == COOPERATIVE && a.val[0] != 0);
        let (grid, block) = (configuration.gridDim, configuration.blockDim);
        let shared = configuration.dynamicSmemBytes;
        let request = Request { clusters, ..request(function, grid, block, shared, cooperative) };
        launch(session, request, arguments, stream)
    }

    fn cudaFuncGetAttributes in (session)(attributes: Out<FuncAttributes>, function: usize) {
        session.current()?;
        let kernel = session.modules.describe(function)?;
        let most = kernel.max_threads.unwrap_or(crate::device::limits::BLOCK_THREADS);
        attributes.put(FuncAttributes {
            sharedSizeBytes: kernel.shared,
            constSizeBytes: kernel.constant,
            localSizeBytes: kernel.local,
            maxThreadsPerBlock: most as c_int,
            numRegs: kernel.registers as c_int,
            ptxVersion: kernel.architecture as c_int,
            // The version that a driver would have compiled for the device.
            binaryVersion: ARCHITECTURE as c_int,
            maxDynamicSharedSizeBytes: session.shared_allowed(function, &kernel) as c_int,
            preferredShmemCarveout: -1,
            ..FuncAttributes::zero()
        })
    }

    fn cudaFuncGetParamCount in (session)(function: usize, count: Out<usize>) {
        let kernel = session.modules.describe(function)?;
        count.put(kernel.parameters.len())
    }

    fn cudaFuncGetParamInfo in (session)(
        function: usize,
        index: usize,
        offset: Out<usize>,
        size: Out<usize>,
    ) {
        let kernel = session.modules.describe(function)?;
        let parameter = kernel.parameters.get(index).ok_or(Error::INVALID_VALUE)?;
        offset.put(parameter.0)?;
        size.put_if_wanted(parameter.1);
        Ok(())
    }

    fn cudaFuncSetAttribute in (session)(function: usize, attribute: c_int, value: c_int) {
        session.current()?;
        session.modules.kernel(function)?;
        match attribute {
            MAX_DYNAMIC_SHARED => {
                let most = crate::device::limits::SHARED_OPTIN;
                let bytes = usize::try_from(value).ok().filter(|&bytes| bytes <= most);
                session.modules.set_shared_limit(function, bytes.ok_or(Error::INVALID_VALUE)?);
                Ok(())
            }
            // They tune hardware.
            _ if OTHER_FUNCTION_ATTRIBUTES.contains(&attribute) => Ok(()),
            _ => Err(Error::INVALID_VALUE),
        }
    }

    fn cudaFuncSetCacheConfig in (session)(function: usize, _config: c_int) {
        session.modules.kernel(function).map(drop)
    }

    fn cudaFuncSetSharedMemConfig in (session)(function: usize, _config: c_int) {
        session.modules.kernel(function).map(drop)
    }
}

fn sizes(sizes: Dim3) -> [u32; 3] {
    [sizes.x, sizes.y, sizes.z]
}

fn request(function: usize, grid: Dim3, block: Dim3, shared: usize, cooperative: bool) -> Request {
    let (grid, block) = (sizes(grid), sizes(block));
    Request { function, grid, block, shared, cooperative, clusters: false }
}

fn launch(
    session: &mut Session,
    request: Request,
    arguments: *const *const c_void,
    stream: StreamId,
) -> Result {
    let device = session.current()?;
    if session.streams.get(stream).device != device {
        return Err(Error::INVALID_RESOURCE_HANDLE);
    }
    // SAFETY: the program has promised an argument for each parameter.
    let kernel = unsafe { session.prepare(request, arguments, device) }?;
    session.submit(stream, Task::Kernel(kernel)).map(drop)
}
