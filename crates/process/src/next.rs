//! Symbol interposition: finds the definition that an interposed function stands in front of
//! (`dlsym` with `RTLD_NEXT`).
//!
//! Usually that is the next one in the global scope. A library may also be loaded for another one
//! alone (`RTLD_LOCAL`), as Python's extension modules and their dependences are: calls reach
//! commsan, which comes first, and continue to the definition that the caller would have called.

use crate::{loaded, modules, thread};
use std::ffi::{CStr, CString, c_char, c_void};
use std::ops::{ControlFlow, Range};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The next definition of a symbol after ours, looked up once.
pub struct Next {
    name: &'static CStr,
    version: Option<&'static CStr>,
    found: AtomicPtr<c_void>,
    /// If no library in the global scope defines it: the definitions for its callers, latest first.
    callers: AtomicPtr<Caller>,
}

/// The definition for some calling code. It is never freed, as the defining library stays loaded.
struct Caller {
    code: Range<usize>,
    found: *mut c_void,
    earlier: *const Caller,
}

impl Next {
    /// The next definition of a symbol with one version, or none.
    pub const fn new(name: &'static CStr) -> Next {
        let found = AtomicPtr::new(std::ptr::null_mut());
        Next { name, version: None, found, callers: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// The next definition of one version of a symbol whose versions mean different things.
    pub const fn versioned(name: &'static CStr, version: &'static CStr) -> Next {
        Next { version: Some(version), ..Next::new(name) }
    }

    /// The address, if it has been looked up.
    #[inline]
    pub fn known(&self) -> Option<*mut c_void> {
        Some(self.found.load(Ordering::Relaxed)).filter(|found| !found.is_null())
    }

    /// The address, null if there is none.
    #[inline]
    pub fn get(&self) -> *mut c_void {
        let found = self.found.load(Ordering::Relaxed);
        if found.is_null() { self.find() } else { found }
    }

    /// The address of a function that lookups may call; null also while this thread is looking it
    /// up.
    #[inline]
    pub fn unless_looking_up(&self) -> *mut c_void {
        let found = self.found.load(Ordering::Relaxed);
        if found.is_null() { self.find_once() } else { found }
    }

    #[cold]
    fn find_once(&self) -> *mut c_void {
        if thread::with(|thread| thread.looks_up.replace(true)) {
            return std::ptr::null_mut();
        }
        let found = self.find();
        thread::with(|thread| thread.looks_up.set(false));
        found
    }

    /// The address of a function in the global scope, such as the C library's.
    #[inline]
    pub fn required(&self) -> *mut c_void {
        self.required_by(0)
    }

    /// The address for the caller at `caller`. Some library defines the function, since it was
    /// called; if none is found the process cannot continue.
    #[inline]
    pub fn required_by(&self, caller: usize) -> *mut c_void {
        let found = self.found.load(Ordering::Relaxed);
        if found.is_null() { self.for_caller(caller) } else { found }
    }

    #[cold]
    fn find(&self) -> *mut c_void {
        // SAFETY: a lookup by name.
        let found = unsafe { self.look_up(libc::RTLD_NEXT) };
        self.found.store(found, Ordering::Relaxed);
        found
    }

    /// # Safety
    /// `handle` comes from `dlopen`, or is one of the pseudo-handles `RTLD_*`.
    unsafe fn look_up(&self, handle: *mut c_void) -> *mut c_void {
        let name = self.name.as_ptr();
        // SAFETY: by this function's contract.
        unsafe {
            match self.version {
                Some(version) => libc::dlvsym(handle, name, version.as_ptr()),
                None => libc::dlsym(handle, name),
            }
        }
    }

    #[cold]
    fn for_caller(&self, caller: usize) -> *mut c_void {
        let mut known = self.callers.load(Ordering::Acquire).cast_const();
        // SAFETY: entries of the list are never changed, nor freed.
        while let Some(one) = unsafe { known.as_ref() } {
            if one.code.contains(&caller) {
                return one.found;
            }
            known = one.earlier;
        }
        let found = self.find();
        if found.is_null() { self.find_for(caller) } else { found }
    }

    /// Searches the caller's own library and its dependences, and then every loaded library.
    fn find_for(&self, caller: usize) -> *mut c_void {
        let look_up = |handle| {
            // SAFETY: a handle that is valid as long as the closure runs.
            let found = unsafe { self.look_up(handle) };
            if is_own(found) { std::ptr::null_mut() } else { found }
        };
        let (path, code) = modules::code_at(caller).unwrap_or((PathBuf::new(), caller..caller + 1));
        let mut found = match CString::new(path.into_os_string().into_vec()) {
            Ok(path) => in_library(path.as_ptr(), look_up),
            Err(_) => std::ptr::null_mut(),
        };
        if found.is_null() {
            found = in_libraries(|_| true, look_up);
        }
        if found.is_null() {
            eprintln!("commsan: no library in this process defines {:?}", self.name);
            std::process::abort();
        }
        self.remember(code, found);
        found
    }

    fn remember(&self, code: Range<usize>, found: *mut c_void) {
        let earlier = self.callers.load(Ordering::Acquire);
        let caller = Box::into_raw(Box::new(Caller { code, found, earlier }));
        let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
        if self.callers.compare_exchange(earlier, caller, success, failure).is_err() {
            // Another thread was quicker; the next call looks the definition up again.
            // SAFETY: the box was never published.
            drop(unsafe { Box::from_raw(caller) });
        }
    }
}

/// A function that a loaded library or one of its dependences defines. The library stays loaded
/// from then on.
fn in_library(
    path: *const c_char,
    look_up: impl FnOnce(*mut c_void) -> *mut c_void,
) -> *mut c_void {
    // SAFETY: the path is a C string; a library that is loaded already.
    let handle = unsafe { libc::dlopen(path, libc::RTLD_LAZY | libc::RTLD_NOLOAD) };
    if handle.is_null() {
        return handle;
    }
    let found = look_up(handle);
    if found.is_null() {
        // SAFETY: as opened above.
        unsafe { libc::dlclose(handle) };
    }
    found
}

/// A function of the first loaded library, among those whose file names are asked for, in which
/// `look_up` finds it; null if there is none. The library stays loaded.
pub fn in_libraries(
    is_one: impl Fn(&[u8]) -> bool,
    look_up: impl Fn(*mut c_void) -> *mut c_void,
) -> *mut c_void {
    let found = loaded::visit(|module| {
        // The executable's scope is the global one, already searched.
        let Some(path) = module.c_path().filter(|_| is_one(module.file_name())) else {
            return ControlFlow::Continue(());
        };
        match in_library(path.as_ptr(), &look_up) {
            found if found.is_null() => ControlFlow::Continue(()),
            found => ControlFlow::Break(found),
        }
    });
    found.unwrap_or(std::ptr::null_mut())
}

/// Whether a function belongs to this library.
fn is_own(function: *const c_void) -> bool {
    let library = |address: *const c_void| {
        let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
        // SAFETY: `dladdr` accepts any address; for an unknown one the structure stays zero.
        unsafe {
            libc::dladdr(address, info.as_mut_ptr());
            info.assume_init().dli_fbase
        }
    };
    library(function) == library(is_own as *const c_void)
}
