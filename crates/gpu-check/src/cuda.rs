//! NVIDIA's driver, loaded at run time: as much of it as is needed to query devices and to launch
//! kernels of PTX.

use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};

/// `CUdevice_attribute`: number of multiprocessors.
const MULTIPROCESSORS: c_int = 16;
/// `CUjit_option`: buffer for errors of the PTX compiler, and its size in bytes.
const ERROR_LOG: c_int = 5;
const ERROR_LOG_BYTES: c_int = 6;
const SUCCESS: c_int = 0;

/// The driver, with a context on the first device.
pub struct Driver {
    library: *mut c_void,
    device: c_int,
}

/// The driver's function of a name, as a function of a type.
macro_rules! call {
    ($driver:expr, $name:literal, fn($($ty:ty),* $(,)?), $($argument:expr),* $(,)?) => {{
        let found = $driver.symbol($name)?;
        // SAFETY: the function of this name in the driver's library has this signature (cuda.h);
        // arguments are values or live for the call.
        let code = unsafe {
            std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($ty),*) -> c_int>(found)($($argument),*)
        };
        if code == SUCCESS { Ok(()) } else { Err($driver.failure($name, code)) }
    }};
}

impl Driver {
    /// Loads the driver and makes a context.
    ///
    /// # Errors
    ///
    /// There is no driver, or no device.
    pub fn open() -> Result<Driver, String> {
        // SAFETY: loads a library by a constant name.
        let library = unsafe { libc::dlopen(c"libcuda.so.1".as_ptr(), libc::RTLD_NOW) };
        if library.is_null() {
            return Err("no NVIDIA driver here: libcuda.so.1 is not to be found".to_owned());
        }
        let mut driver = Driver { library, device: 0 };
        call!(driver, c"cuInit", fn(c_uint), 0)?;
        let mut device = 0;
        call!(driver, c"cuDeviceGet", fn(*mut c_int, c_int), &mut device, 0)?;
        driver.device = device;
        driver.make_context()?;
        Ok(driver)
    }

    fn make_context(&self) -> Result<(), String> {
        let mut context: *mut c_void = std::ptr::null_mut();
        call!(
            self,
            c"cuDevicePrimaryCtxRetain",
            fn(*mut *mut c_void, c_int),
            &mut context,
            self.device
        )?;
        call!(self, c"cuCtxSetCurrent", fn(*mut c_void), context)
    }

    /// Makes the context anew, after a kernel has made it unusable.
    ///
    /// # Errors
    ///
    /// The driver refuses.
    pub fn reset(&self) -> Result<(), String> {
        call!(self, c"cuDevicePrimaryCtxReset_v2", fn(c_int), self.device)?;
        self.make_context()
    }

    /// Number of devices, 0 without a driver.
    pub fn devices() -> u32 {
        let count = || -> Result<c_int, String> {
            let driver = Driver::open()?;
            let mut count = 0;
            call!(driver, c"cuDeviceGetCount", fn(*mut c_int), &mut count)?;
            Ok(count)
        };
        count().map_or(0, |count| count.unsigned_abs())
    }

    /// The device's name, its multiprocessors, and the CUDA version of the driver.
    ///
    /// # Errors
    ///
    /// The driver refuses.
    pub fn description(&self) -> Result<String, String> {
        let mut name = [0 as c_char; 128];
        call!(
            self,
            c"cuDeviceGetName",
            fn(*mut c_char, c_int, c_int),
            name.as_mut_ptr(),
            128,
            self.device
        )?;
        let (mut version, mut processors) = (0, 0);
        call!(self, c"cuDriverGetVersion", fn(*mut c_int), &mut version)?;
        call!(
            self,
            c"cuDeviceGetAttribute",
            fn(*mut c_int, c_int, c_int),
            &mut processors,
            MULTIPROCESSORS,
            self.device
        )?;
        // SAFETY: the driver has written a string that ends with NUL into the array, which was
        // zero.
        let name = unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned();
        let module = std::fs::read_to_string("/proc/driver/nvidia/version").unwrap_or_default();
        let driver = module.split_whitespace().find(|word| word.split('.').count() == 3);
        Ok(format!(
            "{name}, {processors} multiprocessors, driver {}, CUDA {}.{}",
            driver.unwrap_or("unknown"),
            version / 1000,
            version % 1000 / 10
        ))
    }

    /// Executes the kernel `name(in, out)` of a PTX module with a thread for each row of input.
    ///
    /// # Errors
    ///
    /// The driver's compiler refuses the PTX, or the kernel fails: the text says which and why.
    pub fn execute(&self, ptx: &str, name: &str, input: &[[u64; 3]]) -> Result<Vec<u64>, String> {
        let text = CString::new(ptx).map_err(|error| error.to_string())?;
        let mut log = vec![0u8; 4096];
        let mut module: *mut c_void = std::ptr::null_mut();
        let mut options = [ERROR_LOG, ERROR_LOG_BYTES];
        let mut values = [log.as_mut_ptr().cast::<c_void>(), log.len() as *mut c_void];
        call!(
            self,
            c"cuModuleLoadDataEx",
            fn(*mut *mut c_void, *const c_char, c_uint, *mut c_int, *mut *mut c_void),
            &mut module,
            text.as_ptr(),
            2,
            options.as_mut_ptr(),
            values.as_mut_ptr()
        )
        .map_err(|problem| {
            format!("{problem}: {}", String::from_utf8_lossy(&log).trim_end_matches('\0'))
        })?;
        let done = self.launch(module, name, input);
        call!(self, c"cuModuleUnload", fn(*mut c_void), module)?;
        done
    }

    fn launch(
        &self,
        module: *mut c_void,
        name: &str,
        input: &[[u64; 3]],
    ) -> Result<Vec<u64>, String> {
        let kernel = CString::new(name).map_err(|error| error.to_string())?;
        let mut function: *mut c_void = std::ptr::null_mut();
        call!(
            self,
            c"cuModuleGetFunction",
            fn(*mut *mut c_void, *mut c_void, *const c_char),
            &mut function,
            module,
            kernel.as_ptr()
        )?;
        let mut output = vec![0u64; input.len()];
        let (bytes_in, bytes_out) = (size_of_val(input), size_of_val(&*output));
        let mut memory = 0u64;
        call!(self, c"cuMemAlloc_v2", fn(*mut u64, usize), &mut memory, bytes_in + bytes_out)?;
        let to = memory + bytes_in as u64;
        call!(
            self,
            c"cuMemcpyHtoD_v2",
            fn(u64, *const c_void, usize),
            memory,
            input.as_ptr().cast(),
            bytes_in
        )?;
        let (mut from, mut result) = (memory, to);
        let mut arguments = [(&raw mut from).cast::<c_void>(), (&raw mut result).cast::<c_void>()];
        let threads = input.len() as c_uint;
        let null = std::ptr::null_mut();
        call!(
            self,
            c"cuLaunchKernel",
            fn(
                *mut c_void,
                c_uint,
                c_uint,
                c_uint,
                c_uint,
                c_uint,
                c_uint,
                c_uint,
                *mut c_void,
                *mut *mut c_void,
                *mut *mut c_void,
            ),
            function,
            1,
            1,
            1,
            threads,
            1,
            1,
            0,
            null,
            arguments.as_mut_ptr(),
            null.cast()
        )?;
        call!(
            self,
            c"cuMemcpyDtoH_v2",
            fn(*mut c_void, u64, usize),
            output.as_mut_ptr().cast(),
            to,
            bytes_out
        )?;
        call!(self, c"cuMemFree_v2", fn(u64), memory)?;
        Ok(output)
    }

    fn symbol(&self, name: &CStr) -> Result<*mut c_void, String> {
        // SAFETY: a look-up by name in a library that stays loaded.
        let found = unsafe { libc::dlsym(self.library, name.as_ptr()) };
        if found.is_null() {
            return Err(format!("the driver has no {}", name.to_string_lossy()));
        }
        Ok(found)
    }

    fn failure(&self, name: &CStr, code: c_int) -> String {
        let mut text: *const c_char = std::ptr::null();
        if let Ok(found) = self.symbol(c"cuGetErrorString") {
            type Ask = unsafe extern "C" fn(c_int, *mut *const c_char) -> c_int;
            // SAFETY: cuda.h's function of this name; the variable lives for the call.
            unsafe { std::mem::transmute::<*mut c_void, Ask>(found)(code, &mut text) };
        }
        let meaning = if text.is_null() {
            "unknown error".into()
        } else {
            // SAFETY: a constant string of the driver.
            unsafe { CStr::from_ptr(text) }.to_string_lossy()
        };
        format!("{} gives {code} ({meaning})", name.to_string_lossy())
    }
}
