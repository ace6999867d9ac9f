//! Bindings to the CUDA runtime of the program.
//!
//! The real NCCL has a runtime of its own, linked statically, so that tools that intercept the
//! program's CUDA calls do not see NCCL's. Here it is the program's runtime, but called past any
//! interceptor.

use crate::abi::Code;
use crate::error::{Failure, Result};
use crate::fatbin::Wrapper;
use commsan_cuda_abi::nvshmem::FindPeerMemory;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;

/// `cudaSuccess`.
const SUCCESS: c_int = 0;
/// `cudaErrorPeerAccessAlreadyEnabled`.
const ALREADY_ENABLED: c_int = 704;
/// `cudaStreamNonBlocking`, `cudaEventDisableTiming`, `cudaIpcMemLazyEnablePeerAccess`
const NON_BLOCKING: c_uint = 1;
const DISABLE_TIMING: c_uint = 2;
const LAZY_PEER_ACCESS: c_uint = 1;
/// `cudaMemcpyHostToDevice`.
const HOST_TO_DEVICE: c_int = 1;
/// `cudaStreamCaptureModeRelaxed`.
const RELAXED: c_int = 2;

/// `cudaIpcMemHandle_t`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct IpcHandle(pub [u8; 64]);

/// `dim3`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Dim3([c_uint; 3]);

/// Declares the functions that are called, looked up once.
macro_rules! functions {
    ($(fn $name:ident($($ty:ty),*) -> $result:ty;)*) => {
        #[allow(non_snake_case, reason = "the functions are named by CUDA")]
        struct Functions { $($name: unsafe extern "C" fn($($ty),*) -> $result,)* }

        impl Functions {
            /// Looks the functions up by `find`.
            ///
            /// # Safety
            /// `find` returns the CUDA runtime's function of a name, or null.
            unsafe fn find(find: impl Fn(&CStr) -> *mut c_void) -> Option<Functions> {
                Some(Functions { $($name: {
                    let name = concat!(stringify!($name), "\0");
                    let found = find(CStr::from_bytes_with_nul(name.as_bytes()).ok()?);
                    if found.is_null() {
                        return None;
                    }
                    // SAFETY: the runtime's function of this name, which is of this type.
                    unsafe {
                        std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($ty),*) -> $result>(found)
                    }
                },)* })
            }
        }
    };
}

functions! {
    fn cudaGetLastError() -> c_int;
    fn cudaPeekAtLastError() -> c_int;
    fn cudaGetErrorString(c_int) -> *const c_char;
    fn cudaGetDevice(*mut c_int) -> c_int;
    fn cudaSetDevice(c_int) -> c_int;
    fn cudaGetDeviceCount(*mut c_int) -> c_int;
    fn cudaDeviceEnablePeerAccess(c_int, c_uint) -> c_int;
    fn cudaMalloc(*mut u64, usize) -> c_int;
    fn cudaFree(u64) -> c_int;
    fn cudaMemcpyAsync(u64, *const c_void, usize, c_int, usize) -> c_int;
    fn cudaMemsetAsync(u64, c_int, usize, usize) -> c_int;
    fn cudaPointerGetAttributes(*mut PointerAttributes, u64) -> c_int;
    fn cudaStreamCreateWithFlags(*mut usize, c_uint) -> c_int;
    fn cudaStreamDestroy(usize) -> c_int;
    fn cudaStreamSynchronize(usize) -> c_int;
    fn cudaStreamWaitEvent(usize, usize, c_uint) -> c_int;
    fn cudaStreamGetCaptureInfo_v2(usize, *mut c_int, *mut u64, usize, usize, usize) -> c_int;
    fn cudaThreadExchangeStreamCaptureMode(*mut c_int) -> c_int;
    fn cudaLaunchHostFunc(usize, extern "C" fn(*mut c_void), *mut c_void) -> c_int;
    fn cudaEventCreateWithFlags(*mut usize, c_uint) -> c_int;
    fn cudaEventRecord(usize, usize) -> c_int;
    fn cudaEventSynchronize(usize) -> c_int;
    fn cudaEventDestroy(usize) -> c_int;
    fn cudaIpcGetMemHandle(*mut IpcHandle, u64) -> c_int;
    fn cudaIpcOpenMemHandle(*mut u64, IpcHandle, c_uint) -> c_int;
    fn cudaIpcCloseMemHandle(u64) -> c_int;
    fn cudaLaunchCooperativeKernel(*const c_void, Dim3, Dim3, *mut *const c_void, usize, usize) -> c_int;
    fn commsan_simgpu_peers(Option<FindPeerMemory>) -> u64;
    fn commsan_simgpu_variable(*const c_char, usize, *mut u64, *mut usize) -> c_int;
    fn __cudaRegisterFatBinary(*const c_void) -> usize;
    fn __cudaRegisterFatBinaryEnd(usize) -> ();
    fn __cudaRegisterFunction(usize, *const c_void, *const c_void, *const c_char, c_int, usize, usize, usize, usize, usize) -> ();
}

/// The beginning of `cudaPointerAttributes`, common to all versions, with more space than any
/// takes.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct PointerAttributes {
    kind: c_int,
    device: c_int,
    pointer: u64,
    rest: [u64; 14],
}

fn functions() -> Result<&'static Functions> {
    static FUNCTIONS: OnceLock<Option<Functions>> = OnceLock::new();
    FUNCTIONS.get_or_init(|| library().and_then(Library::functions)).as_ref().ok_or_else(|| {
        Failure {
            code: Code::System,
            message: "there is no shared CUDA runtime in this process (libcudart.so)".to_owned(),
        }
    })
}

/// A loaded runtime.
struct Library(*mut c_void);

impl Library {
    fn functions(self) -> Option<Functions> {
        // SAFETY: a libcudart, which is never closed.
        unsafe { Functions::find(|name| libc::dlsym(self.0, name.as_ptr())) }
    }

    fn open(path: *const c_char, flags: c_int) -> Option<Library> {
        // SAFETY: a path; loading the library runs only initialisers that run in the program
        // anyway.
        let handle = unsafe { libc::dlopen(path, libc::RTLD_NOW | flags) };
        (!handle.is_null()).then_some(Library(handle))
    }
}

/// A runtime that is loaded already, by whatever library; else the one that programs would find.
fn library() -> Option<Library> {
    extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, data: *mut c_void) -> c_int {
        // SAFETY: the callback gets a valid `info`, and `data` is the result below.
        let (path, found) = unsafe { ((*info).dlpi_name, &mut *data.cast::<Option<Library>>()) };
        if !path.is_null() && is_runtime(path) {
            *found = Library::open(path, libc::RTLD_NOLOAD);
        }
        c_int::from(found.is_some())
    }
    let mut found: Option<Library> = None;
    // SAFETY: `visit` is of the callback's type, and `found` outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut found).cast()) };
    let names = [c"libcudart.so.13", c"libcudart.so.12"];
    found.or_else(|| names.iter().find_map(|name| Library::open(name.as_ptr(), 0)))
}

fn is_runtime(path: *const c_char) -> bool {
    // SAFETY: ld.so keeps the name as a C string while the library is loaded.
    let path = unsafe { CStr::from_ptr(path) }.to_bytes();
    let base = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
    base.starts_with(b"libcudart.so")
}

/// Calls the runtime; the program does not see its last error.
macro_rules! ask {
    ($name:ident($($argument:expr),* $(,)?)) => {{
        let functions = functions()?;
        // SAFETY: the runtime's function; pointers among the arguments are valid for what it reads
        // or writes.
        let code = unsafe { (functions.$name)($($argument),*) };
        check(functions, stringify!($name), code)
    }};
}

fn check(functions: &Functions, name: &str, code: c_int) -> Result {
    if code == SUCCESS {
        return Ok(());
    }
    // SAFETY: calls without arguments, and one that accepts any number and returns a static string.
    let text = unsafe {
        if (functions.cudaPeekAtLastError)() == code {
            (functions.cudaGetLastError)();
        }
        CStr::from_ptr((functions.cudaGetErrorString)(code))
    };
    let message = format!("Cuda failure {code} '{}' in {name}", text.to_string_lossy());
    Err(Failure { code: Code::UnhandledCuda, message })
}

/// The current device.
pub fn device() -> Result<i32> {
    let mut device = 0;
    ask!(cudaGetDevice(&mut device))?;
    Ok(device)
}

/// The number of devices.
pub fn devices() -> Result<i32> {
    let mut count = 0;
    ask!(cudaGetDeviceCount(&mut count))?;
    Ok(count)
}

/// Runs a closure while another device is current.
pub fn on_device<T>(device: i32, what: impl FnOnce() -> Result<T>) -> Result<T> {
    let before = self::device()?;
    ask!(cudaSetDevice(device))?;
    let outcome = what();
    ask!(cudaSetDevice(before))?;
    outcome
}

/// Runs a closure in relaxed capture mode, so that captures of other streams stay valid, as NCCL
/// does.
pub fn relaxed<T>(what: impl FnOnce() -> Result<T>) -> Result<T> {
    let mut mode = RELAXED;
    ask!(cudaThreadExchangeStreamCaptureMode(&mut mode))?;
    let outcome = what();
    ask!(cudaThreadExchangeStreamCaptureMode(&mut mode))?;
    outcome
}

/// Lets the current device access a peer's memory.
pub fn reach(peer: i32) -> Result {
    let functions = functions()?;
    // SAFETY: the arguments are plain numbers.
    match unsafe { (functions.cudaDeviceEnablePeerAccess)(peer, 0) } {
        ALREADY_ENABLED => {
            // SAFETY: no arguments. The error that it clears is the one just caused.
            unsafe { (functions.cudaGetLastError)() };
            Ok(())
        }
        code => check(functions, "cudaDeviceEnablePeerAccess", code),
    }
}

/// Allocates memory of the current device.
pub fn allocate(size: usize) -> Result<u64> {
    let mut address = 0;
    ask!(cudaMalloc(&mut address, size))?;
    Ok(address)
}

/// Frees device memory.
pub fn free(address: u64) -> Result {
    ask!(cudaFree(address))
}

/// Whether no device can use an address, or it belongs to another device than `device`.
pub fn is_foreign(address: u64, device: i32) -> Result<bool> {
    /// `cudaMemoryTypeDevice`.
    const DEVICE: c_int = 2;
    let mut attributes = PointerAttributes::default();
    let asked = ask!(cudaPointerGetAttributes(&mut attributes, address));
    let unknown = asked.is_err() || attributes.pointer == 0;
    Ok(unknown || attributes.kind == DEVICE && attributes.device != device)
}

/// A stream of the library's own, which does not synchronise with the legacy stream.
#[derive(Debug)]
pub struct Stream(usize);

impl Stream {
    /// Creates a stream on the current device.
    pub fn new() -> Result<Stream> {
        let mut stream = 0;
        ask!(cudaStreamCreateWithFlags(&mut stream, NON_BLOCKING))?;
        Ok(Stream(stream))
    }

    /// Writes bytes to device memory, and waits for completion.
    pub fn write(&self, to: u64, bytes: &[u8]) -> Result {
        let from = bytes.as_ptr().cast();
        ask!(cudaMemcpyAsync(to, from, bytes.len(), HOST_TO_DEVICE, self.0))?;
        ask!(cudaStreamSynchronize(self.0))
    }

    /// Sets bytes of device memory, and waits for completion.
    pub fn set(&self, to: u64, value: u8, size: usize) -> Result {
        ask!(cudaMemsetAsync(to, value.into(), size, self.0))?;
        ask!(cudaStreamSynchronize(self.0))
    }

    /// Destroys the stream.
    pub fn destroy(self) -> Result {
        ask!(cudaStreamDestroy(self.0))
    }
}

/// The number of the capture that a stream takes part in; 0 if it is not captured.
pub fn capture_of(stream: usize) -> Result<u64> {
    /// `cudaStreamCaptureStatusActive`.
    const ACTIVE: c_int = 1;
    let (mut status, mut id) = (0, 0);
    ask!(cudaStreamGetCaptureInfo_v2(stream, &mut status, &mut id, 0, 0, 0))?;
    Ok(if status == ACTIVE { id } else { 0 })
}

/// An event of the library's own.
#[derive(Debug)]
pub struct Event(usize);

impl Event {
    /// Creates an event on the current device.
    pub fn new() -> Result<Event> {
        let mut event = 0;
        ask!(cudaEventCreateWithFlags(&mut event, DISABLE_TIMING))?;
        Ok(Event(event))
    }

    /// Records the event in a stream.
    pub fn record(&self, stream: usize) -> Result {
        ask!(cudaEventRecord(self.0, stream))
    }

    /// Makes a stream wait for the event.
    pub fn hold(&self, stream: usize) -> Result {
        ask!(cudaStreamWaitEvent(stream, self.0, 0))
    }

    /// Makes the host wait for the event.
    pub fn wait(&self) -> Result {
        ask!(cudaEventSynchronize(self.0))
    }

    /// Destroys the event.
    pub fn destroy(self) -> Result {
        ask!(cudaEventDestroy(self.0))
    }
}

/// A handle by which other processes open memory of the current device.
pub fn export(address: u64) -> Result<IpcHandle> {
    let mut handle = IpcHandle([0; 64]);
    ask!(cudaIpcGetMemHandle(&mut handle, address))?;
    Ok(handle)
}

/// Opens memory of another process; returns its address here.
pub fn open(handle: IpcHandle) -> Result<u64> {
    let mut address = 0;
    ask!(cudaIpcOpenMemHandle(&mut address, handle, LAZY_PEER_ACCESS))?;
    Ok(address)
}

/// Closes memory of another process.
pub fn close(address: u64) -> Result {
    ask!(cudaIpcCloseMemHandle(address))
}

/// Registers a kernel of a module; returns its key, which takes the place of a host function's
/// address: here it is the wrapper's.
pub fn register(module: &'static Wrapper, name: &'static CStr) -> Result<usize> {
    let functions = functions()?;
    let wrapper = (&raw const *module).cast::<c_void>();
    // SAFETY: the wrapper, its fatbin and the name are static.
    unsafe {
        let handle = (functions.__cudaRegisterFatBinary)(wrapper);
        let (key, name) = (wrapper, name.as_ptr());
        (functions.__cudaRegisterFunction)(handle, key, key, name, -1, 0, 0, 0, 0, 0);
        (functions.__cudaRegisterFatBinaryEnd)(handle);
    }
    Ok(wrapper as usize)
}

/// Launches a kernel with one parameter cooperatively: all blocks are resident at once.
pub fn launch(key: usize, blocks: u32, threads: u32, parameter: &[u8], stream: usize) -> Result {
    let mut arguments = [parameter.as_ptr().cast::<c_void>()];
    let (grid, block) = (Dim3([blocks, 1, 1]), Dim3([threads, 1, 1]));
    let key = key as *const c_void;
    ask!(cudaLaunchCooperativeKernel(key, grid, block, arguments.as_mut_ptr(), 0, stream))
}

/// Kernels find memory of PEs by a function from now on; returns what they add to an address for
/// that of PE 0.
pub fn find_peers_by(find: FindPeerMemory) -> Result<u64> {
    let functions = functions()?;
    // SAFETY: the simulated runtime's function, and one that lives as long as the process.
    Ok(unsafe { (functions.commsan_simgpu_peers)(Some(find)) })
}

/// Addresses on the current device, and sizes, of the variables of kernels with a name.
pub fn variables(name: &CStr) -> Result<Vec<(u64, usize)>> {
    let mut all = Vec::new();
    loop {
        let (mut address, mut size) = (0, 0);
        ask!(commsan_simgpu_variable(name.as_ptr(), all.len(), &mut address, &mut size))?;
        if address == 0 {
            return Ok(all);
        }
        all.push((address, size));
    }
}

/// Waits until all work of a stream of the program is complete.
pub fn wait_for(stream: usize) -> Result {
    ask!(cudaStreamSynchronize(stream))
}

/// Enqueues a host function into a stream.
pub fn call(stream: usize, function: impl Fn() + Send + 'static) -> Result {
    struct Called {
        function: Box<dyn Fn() + Send>,
        /// Whether a graph contains it, which calls it at every launch.
        stays: bool,
    }
    extern "C" fn call(data: *mut c_void) {
        let data = data.cast::<Called>();
        // SAFETY: `call` below made it; it is valid until it is called, or forever.
        unsafe {
            let called = &*data;
            // A panic ends here: the function has reported the error.
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| (called.function)()));
            if !called.stays {
                drop(Box::from_raw(data));
            }
        }
    }
    let stays = capture_of(stream)? != 0;
    let data = Box::into_raw(Box::new(Called { function: Box::new(function), stays }));
    ask!(cudaLaunchHostFunc(stream, call, data.cast()))
}
