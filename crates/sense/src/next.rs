//! Functions that commsan interposes: the definition it stands in front of.

use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicPtr, Ordering};

/// The next definition of a symbol after ours, looked up once.
pub struct Next {
    name: &'static CStr,
    version: Option<&'static CStr>,
    found: AtomicPtr<c_void>,
}

impl Next {
    /// That of a symbol with one version, or none.
    pub const fn new(name: &'static CStr) -> Next {
        Next { name, version: None, found: AtomicPtr::new(std::ptr::null_mut()) }
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

    /// Its address. The program called the symbol, so some library defines it; where none does there is
    /// nothing to go on with.
    #[inline]
    pub fn required(&self) -> *mut c_void {
        let found = self.get();
        if found.is_null() {
            eprintln!("commsan: no library in this process defines {:?}", self.name);
            std::process::abort();
        }
        found
    }

    #[cold]
    fn find(&self) -> *mut c_void {
        let name = self.name.as_ptr();
        // SAFETY: lookups by name.
        let found = unsafe {
            match self.version {
                Some(version) => libc::dlvsym(libc::RTLD_NEXT, name, version.as_ptr()),
                None => libc::dlsym(libc::RTLD_NEXT, name),
            }
        };
        self.found.store(found, Ordering::Relaxed);
        found
    }
}
