//! The library's own functions.

use commsan_process::next::in_libraries;
use std::ffi::{CStr, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

/// `cudaSuccess`.
pub(crate) const SUCCESS: c_int = 0;
/// `cudaErrorInvalidValue`.
pub(crate) const INVALID_VALUE: c_int = 1;
/// `cudaErrorInitializationError`, for calls where there is no library.
pub(crate) const NO_LIBRARY: c_int = 3;

/// A function of the library, looked up once it is there.
pub(crate) struct Real {
    name: &'static CStr,
    found: AtomicPtr<c_void>,
}

impl Real {
    pub const fn new(name: &'static CStr) -> Real {
        Real { name, found: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// Its address; `None` while no library has it.
    #[inline]
    pub fn get(&self) -> Option<*mut c_void> {
        let found = self.found.load(Ordering::Relaxed);
        if found.is_null() { self.find() } else { Some(found) }
    }

    #[cold]
    fn find(&self) -> Option<*mut c_void> {
        // SAFETY: a look-up by name.
        let next = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        let found = if next.is_null() { in_loaded_library(self.name) } else { next };
        self.found.store(found, Ordering::Relaxed);
        (!found.is_null()).then_some(found)
    }
}

/// A function of a libcudart, the driver that it has loaded, NCCL, or NVSHMEM, loaded for somebody in particular, as
/// Python's modules are: they call us all the same, since we were there first.
fn in_loaded_library(name: &CStr) -> *mut c_void {
    let libraries: [&[u8]; 4] = [b"libcudart", b"libcuda.so", b"libnccl", b"libnvshmem_host"];
    let is_one = |file: &[u8]| libraries.iter().any(|library| file.starts_with(library));
    // SAFETY: a lookup by name, in a library that is loaded.
    in_libraries(is_one, |handle| unsafe { libc::dlsym(handle, name.as_ptr()) })
}

/// The library's function of a name and type, if there is one.
macro_rules! real {
    (@name $name:ident, $($signature:tt)*) => {
        crate::real::real!(
            match std::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => unreachable!(),
            },
            $($signature)*
        )
    };
    ($name:expr, fn($($ty:ty),* $(,)?) -> $result:ty) => {{
        static REAL: crate::real::Real = crate::real::Real::new($name);
        REAL.get().map(|found| {
            // SAFETY: the function of this name, which is of this type.
            unsafe {
                std::mem::transmute::<*mut std::ffi::c_void, unsafe extern "C" fn($($ty),*) -> $result>(
                    found,
                )
            }
        })
    }};
}
pub(crate) use real;
