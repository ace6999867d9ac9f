//! The library's own functions.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

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

/// A function of a libcudart that was loaded for somebody in particular, as Python's modules are:
/// they call us all the same, since we were there first.
fn in_loaded_library(name: &CStr) -> *mut c_void {
    struct Search<'a> {
        name: &'a CStr,
        found: *mut c_void,
    }
    extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, data: *mut c_void) -> c_int {
        // SAFETY: the callback gets a valid `info`, and `data` is the search below.
        let (path, search) = unsafe { ((*info).dlpi_name, &mut *data.cast::<Search>()) };
        search.found = from(path, search.name);
        c_int::from(!search.found.is_null())
    }
    let mut search = Search { name, found: std::ptr::null_mut() };
    // SAFETY: `visit` is of the callback's type, and `search` outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
    search.found
}

/// The function if the library at `path` is a libcudart, the driver that it has loaded, or NCCL.
fn from(path: *const c_char, name: &CStr) -> *mut c_void {
    if path.is_null() {
        return std::ptr::null_mut();
    }
    // SAFETY: ld.so keeps the name as a C string while the library is loaded.
    let bytes = unsafe { CStr::from_ptr(path) }.to_bytes();
    let base = bytes.rsplit(|byte| *byte == b'/').next().unwrap_or(bytes);
    let libraries: [&[u8]; 3] = [b"libcudart", b"libcuda.so", b"libnccl"];
    if !libraries.iter().any(|library| base.starts_with(library)) {
        return std::ptr::null_mut();
    }
    // SAFETY: a library that is loaded already; what is found in it lives as long as it does, and the
    // program calls it.
    unsafe {
        let handle = libc::dlopen(path, libc::RTLD_LAZY | libc::RTLD_NOLOAD);
        if handle.is_null() {
            return handle;
        }
        let found = libc::dlsym(handle, name.as_ptr());
        libc::dlclose(handle);
        found
    }
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
