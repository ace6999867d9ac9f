//! The CUDA runtime that the program has.
//!
//! NCCL carries a runtime of its own, so that nobody who looks at the program's calls sees NCCL's.
//! Here it is the program's, but called past whoever stands in front of it.

use crate::abi::Code;
use crate::error::{Failure, Result};
use crate::fatbin::Wrapper;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;

/// `cudaSuccess`
const SUCCESS: c_int = 0;
/// `cudaErrorPeerAccessAlreadyEnabled`
const ALREADY_ENABLED: c_int = 704;
/// `cudaStreamNonBlocking`, `cudaEventDisableTiming`, `cudaIpcMemLazyEnablePeerAccess`
const NON_BLOCKING: c_uint = 1;
const DISABLE_TIMING: c_uint = 2;
const LAZY_PEER_ACCESS: c_uint = 1;
/// `cudaMemcpyHostToDevice`
const HOST_TO_DEVICE: c_int = 1;
/// `cudaStreamCaptureModeRelaxed`
const RELAXED: c_int = 2;

/// `cudaIpcMemHandle_t`
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct IpcHandle(pub [u8; 64]);

/// `dim3`
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Dim3([c_uint; 3]);

/// The functions that are called, looked up once.
macro_rules! functions {
    ($(fn $name:ident($($ty:ty),*) -> $result:ty;)*) => {
        #[allow(non_snake_case, reason = "the functions are named by CUDA")]
        struct Functions { $($name: unsafe extern "C" fn($($ty),*) -> $result,)* }

        impl Functions {
            /// Looks them up by `find`.
            ///
            /// # Safety
            /// `find` gives the CUDA runtime's functions.
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
    fn __cudaRegisterFatBinary(*const c_void) -> usize;
    fn __cudaRegisterFatBinaryEnd(usize) -> ();
    fn __cudaRegisterFunction(usize, *const c_void, *const c_void, *const c_char, c_int, usize, usize, usize, usize, usize) -> ();
}

/// What `cudaPointerAttributes` begins with in all versions, and more room than they take.
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
        // SAFETY: a libcudart, which stays loaded: it is not closed.
        unsafe { Functions::find(|name| libc::dlsym(self.0, name.as_ptr())) }
    }

    fn open(path: *const c_char, flags: c_int) -> Option<Library> {
        // SAFETY: a path, whose library runs nothing that it does not run in the program anyway.
        let handle = unsafe { libc::dlopen(path, libc::RTLD_NOW | flags) };
        (!handle.is_null()).then_some(Library(handle))
    }
}

/// The runtime that is loaded already, whoever it was loaded for; else the one that programs would
/// find.
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

/// Calls the runtime; what fails is not the program's error to find.
macro_rules! ask {
    ($name:ident($($argument:expr),* $(,)?)) => {{
        let functions = functions()?;
        // SAFETY: the runtime's function; pointers among the arguments are to what it reads or
        // writes.
        let code = unsafe { (functions.$name)($($argument),*) };
        check(functions, stringify!($name), code)
    }};
}

fn check(functions: &Functions, name: &str, code: c_int) -> Result {
    if code == SUCCESS {
        return Ok(());
    }
    // SAFETY: calls without arguments, and one that takes any number and gives a text that stays.
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

/// How many devices there are.
pub fn devices() -> Result<i32> {
    let mut count = 0;
    ask!(cudaGetDeviceCount(&mut count))?;
    Ok(count)
}

/// Does something with another device current.
pub fn on_device<T>(device: i32, what: impl FnOnce() -> Result<T>) -> Result<T> {
    let before = self::device()?;
    ask!(cudaSetDevice(device))?;
    let outcome = what();
    ask!(cudaSetDevice(before))?;
    outcome
}

/// Does something that captures of other streams need not mind, as NCCL does.
pub fn relaxed<T>(what: impl FnOnce() -> Result<T>) -> Result<T> {
    let mut mode = RELAXED;
    ask!(cudaThreadExchangeStreamCaptureMode(&mut mode))?;
    let outcome = what();
    ask!(cudaThreadExchangeStreamCaptureMode(&mut mode))?;
    outcome
}

/// The current device may access a peer's memory from now on.
pub fn reach(peer: i32) -> Result {
    let functions = functions()?;
    // SAFETY: a call with numbers.
    match unsafe { (functions.cudaDeviceEnablePeerAccess)(peer, 0) } {
        ALREADY_ENABLED => {
            // SAFETY: no arguments. The error that it forgets is the one just made.
            unsafe { (functions.cudaGetLastError)() };
            Ok(())
        }
        code => check(functions, "cudaDeviceEnablePeerAccess", code),
    }
}

/// Memory of the current device.
pub fn allocate(size: usize) -> Result<u64> {
    let mut address = 0;
    ask!(cudaMalloc(&mut address, size))?;
    Ok(address)
}

/// Gives it back.
pub fn free(address: u64) -> Result {
    ask!(cudaFree(address))
}

/// Whether an address is nothing that a device can use, or memory of another device than that.
pub fn is_foreign(address: u64, device: i32) -> Result<bool> {
    /// `cudaMemoryTypeDevice`
    const DEVICE: c_int = 2;
    let mut attributes = PointerAttributes::default();
    let asked = ask!(cudaPointerGetAttributes(&mut attributes, address));
    let unknown = asked.is_err() || attributes.pointer == 0;
    Ok(unknown || attributes.kind == DEVICE && attributes.device != device)
}

/// A stream of the library's own, which waits for no other.
#[derive(Debug)]
pub struct Stream(usize);

impl Stream {
    /// A stream of the current device.
    pub fn new() -> Result<Stream> {
        let mut stream = 0;
        ask!(cudaStreamCreateWithFlags(&mut stream, NON_BLOCKING))?;
        Ok(Stream(stream))
    }

    /// Writes bytes to device memory, and waits until they are there.
    pub fn write(&self, to: u64, bytes: &[u8]) -> Result {
        let from = bytes.as_ptr().cast();
        ask!(cudaMemcpyAsync(to, from, bytes.len(), HOST_TO_DEVICE, self.0))?;
        ask!(cudaStreamSynchronize(self.0))
    }

    /// Sets bytes of device memory, and waits until they are.
    pub fn set(&self, to: u64, value: u8, size: usize) -> Result {
        ask!(cudaMemsetAsync(to, value.into(), size, self.0))?;
        ask!(cudaStreamSynchronize(self.0))
    }

    /// Ends it.
    pub fn destroy(self) -> Result {
        ask!(cudaStreamDestroy(self.0))
    }
}

/// A capture that work put into a stream becomes part of; 0 if it is executed.
pub fn capture_of(stream: usize) -> Result<u64> {
    /// `cudaStreamCaptureStatusActive`
    const ACTIVE: c_int = 1;
    let (mut status, mut id) = (0, 0);
    ask!(cudaStreamGetCaptureInfo_v2(stream, &mut status, &mut id, 0, 0, 0))?;
    Ok(if status == ACTIVE { id } else { 0 })
}

/// An event of the library's own.
#[derive(Debug)]
pub struct Event(usize);

impl Event {
    /// An event of the current device.
    pub fn new() -> Result<Event> {
        let mut event = 0;
        ask!(cudaEventCreateWithFlags(&mut event, DISABLE_TIMING))?;
        Ok(Event(event))
    }

    /// It is what a stream has before it now.
    pub fn record(&self, stream: usize) -> Result {
        ask!(cudaEventRecord(self.0, stream))
    }

    /// A stream waits for it.
    pub fn hold(&self, stream: usize) -> Result {
        ask!(cudaStreamWaitEvent(stream, self.0, 0))
    }

    /// The host waits for it.
    pub fn wait(&self) -> Result {
        ask!(cudaEventSynchronize(self.0))
    }

    /// Ends it.
    pub fn destroy(self) -> Result {
        ask!(cudaEventDestroy(self.0))
    }
}

/// By what other processes find memory of the current device.
pub fn export(address: u64) -> Result<IpcHandle> {
    let mut handle = IpcHandle([0; 64]);
    ask!(cudaIpcGetMemHandle(&mut handle, address))?;
    Ok(handle)
}

/// Where memory of another process is here.
pub fn open(handle: IpcHandle) -> Result<u64> {
    let mut address = 0;
    ask!(cudaIpcOpenMemHandle(&mut address, handle, LAZY_PEER_ACCESS))?;
    Ok(address)
}

/// It is used no more.
pub fn close(address: u64) -> Result {
    ask!(cudaIpcCloseMemHandle(address))
}

/// Makes a kernel of a module known; gives what stands for it from then on, as the address of a
/// host function does in what compilers make: here it is the wrapper's.
pub fn register(module: &'static Wrapper, name: &'static CStr) -> Result<usize> {
    let functions = functions()?;
    let wrapper = (&raw const *module).cast::<c_void>();
    // SAFETY: a wrapper of a fatbin that stays, and a name that does.
    unsafe {
        let handle = (functions.__cudaRegisterFatBinary)(wrapper);
        let (key, name) = (wrapper, name.as_ptr());
        (functions.__cudaRegisterFunction)(handle, key, key, name, -1, 0, 0, 0, 0, 0);
        (functions.__cudaRegisterFatBinaryEnd)(handle);
    }
    Ok(wrapper as usize)
}

/// Launches a kernel of one parameter, all of whose blocks run at once.
pub fn launch(key: usize, blocks: u32, threads: u32, parameter: &[u8], stream: usize) -> Result {
    let mut arguments = [parameter.as_ptr().cast::<c_void>()];
    let (grid, block) = (Dim3([blocks, 1, 1]), Dim3([threads, 1, 1]));
    let key = key as *const c_void;
    ask!(cudaLaunchCooperativeKernel(key, grid, block, arguments.as_mut_ptr(), 0, stream))
}

/// Waits until a stream of the program has done everything.
pub fn wait_for(stream: usize) -> Result {
    ask!(cudaStreamSynchronize(stream))
}

/// Puts a function of the host into a stream.
pub fn call(stream: usize, function: impl Fn() + Send + 'static) -> Result {
    struct Called {
        function: Box<dyn Fn() + Send>,
        /// A graph calls it whenever it is launched.
        stays: bool,
    }
    extern "C" fn call(data: *mut c_void) {
        let data = data.cast::<Called>();
        // SAFETY: it was made below, and is there until it is called, or forever.
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
