//! Functions that commsan interposes: the definition it stands in front of.
//!
//! Usually that is the next one that all libraries see. A library may also have been loaded for another one
//! alone, as modules of Python and what they need are: calls come to commsan all the same, which was there first,
//! and go on to what the caller would have called.

use crate::{modules, thread};
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ops::Range;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicPtr, Ordering};

/// The next definition of a symbol after ours, looked up once.
pub struct Next {
    name: &'static CStr,
    version: Option<&'static CStr>,
    found: AtomicPtr<c_void>,
    /// Where no library defines it for all: what it is for those that have called, the latest first.
    callers: AtomicPtr<Caller>,
}

/// What a symbol is for some code. It is kept for ever, as the library is that defines the symbol.
struct Caller {
    code: Range<usize>,
    found: *mut c_void,
    earlier: *const Caller,
}

impl Next {
    /// That of a symbol with one version, or none.
    pub const fn new(name: &'static CStr) -> Next {
        let found = AtomicPtr::new(std::ptr::null_mut());
        Next { name, version: None, found, callers: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// That of one with several, which mean different things.
    pub const fn versioned(name: &'static CStr, version: &'static CStr) -> Next {
        Next { version: Some(version), ..Next::new(name) }
    }

    /// Its address, if it has been looked up.
    #[inline]
    pub fn known(&self) -> Option<*mut c_void> {
        Some(self.found.load(Ordering::Relaxed)).filter(|found| !found.is_null())
    }

    /// Its address, null if there is none.
    #[inline]
    pub fn get(&self) -> *mut c_void {
        let found = self.found.load(Ordering::Relaxed);
        if found.is_null() { self.find() } else { found }
    }

    /// Its address, of a function that lookups may call; null also while this thread is looking it up.
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

    /// Its address, of a function that all libraries see, such as the C library's.
    #[inline]
    pub fn required(&self) -> *mut c_void {
        self.required_by(0)
    }

    /// Its address for who calls it from `caller`. Some library defines it, for it was called; where none does
    /// there is nothing to go on with.
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
    /// The handle is one of `dlopen`'s, or stands for some.
    unsafe fn look_up(&self, handle: *mut c_void) -> *mut c_void {
        let name = self.name.as_ptr();
        // SAFETY: by the caller.
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
        // SAFETY: those that are in the list are never changed, nor freed.
        while let Some(one) = unsafe { known.as_ref() } {
            if one.code.contains(&caller) {
                return one.found;
            }
            known = one.earlier;
        }
        let found = self.find();
        if found.is_null() { self.find_for(caller) } else { found }
    }

    /// Looks into the caller's own library and those it needs, and where that is not to be told, into all.
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
            // Another thread was quicker; who calls next finds out again.
            // SAFETY: nobody else has seen it.
            drop(unsafe { Box::from_raw(caller) });
        }
    }
}

/// A function that a loaded library defines, or one of those it needs. The library stays loaded then.
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

/// A function of the first loaded library, of those with a file name that is asked for, that `look_up` finds it
/// in; null if there is none. The library stays loaded.
pub fn in_libraries(
    is_one: impl Fn(&[u8]) -> bool,
    look_up: impl Fn(*mut c_void) -> *mut c_void,
) -> *mut c_void {
    struct Search<'a> {
        visit: &'a dyn Fn(*const c_char) -> *mut c_void,
        found: *mut c_void,
    }
    extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, data: *mut c_void) -> c_int {
        // SAFETY: the callback gets a valid `info`, and `data` is the search below.
        let (path, search) = unsafe { ((*info).dlpi_name, &mut *data.cast::<Search>()) };
        // The executable has no path; what it sees, all see.
        // SAFETY: ld.so keeps the name as a C string while the library is loaded.
        if !path.is_null() && unsafe { *path } != 0 {
            search.found = (search.visit)(path);
        }
        c_int::from(!search.found.is_null())
    }
    let of_library = |path: *const c_char| {
        // SAFETY: as above.
        let bytes = unsafe { CStr::from_ptr(path) }.to_bytes();
        let name = bytes.rsplit(|byte| *byte == b'/').next().unwrap_or(bytes);
        if is_one(name) { in_library(path, &look_up) } else { std::ptr::null_mut() }
    };
    let mut search = Search { visit: &of_library, found: std::ptr::null_mut() };
    // SAFETY: `visit` is of the callback's type, and `search` outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
    search.found
}

/// Whether a function is this library's.
fn is_own(function: *const c_void) -> bool {
    let library = |address: *const c_void| {
        let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
        // SAFETY: asks about any address; what is not known stays zero.
        unsafe {
            libc::dladdr(address, info.as_mut_ptr());
            info.assume_init().dli_fbase
        }
    };
    library(function) == library(is_own as *const c_void)
}
