//! The process environment, read and edited in place.

use std::ffi::{CStr, c_char};

unsafe extern "C" {
    static mut environ: *mut *mut c_char;
}

/// The value of a variable.
pub fn get(name: &CStr) -> Option<&'static CStr> {
    // SAFETY: `name` is a C string; constructors run before the program can start threads that
    // change the environment.
    let value = unsafe { libc::getenv(name.as_ptr()) };
    // SAFETY: a non-null result of getenv is a C string that lives as long as the environment.
    (!value.is_null()).then(|| unsafe { CStr::from_ptr(value) })
}

/// Sets a variable; without memory for it, nothing changes.
pub fn set(name: &CStr, value: &CStr) {
    // SAFETY: both are C strings; constructors run before the program can start threads that use
    // the environment.
    unsafe { libc::setenv(name.as_ptr(), value.as_ptr(), 1) };
}

/// The value of a variable as a number.
pub fn number(name: &CStr) -> Option<u64> {
    get(name)?.to_str().ok()?.parse().ok()
}

/// Every `NAME=value` of the environment.
pub fn entries() -> impl Iterator<Item = &'static CStr> {
    let mut index = 0;
    std::iter::from_fn(move || {
        // SAFETY: `environ` is null or an array of C strings that ends with a null pointer, and
        // iteration stops there.
        let entry =
            unsafe { if environ.is_null() { std::ptr::null_mut() } else { *environ.add(index) } };
        index += 1;
        // SAFETY: an entry of `environ` is null or a C string.
        (!entry.is_null()).then(|| unsafe { CStr::from_ptr(entry) })
    })
}

/// The value of `entry` if it is `name=value`.
pub fn value_of(entry: &'static CStr, name: &CStr) -> Option<&'static CStr> {
    let length = name.count_bytes();
    let rest = entry.to_bytes_with_nul().strip_prefix(name.to_bytes())?.strip_prefix(b"=")?;
    debug_assert_eq!(rest.len(), entry.to_bytes_with_nul().len() - length - 1);
    CStr::from_bytes_with_nul(rest).ok()
}

/// Replaces each entry by what `edit` returns, and drops it for `None`.
///
/// Works on the array itself and without allocating, so that it is safe this early.
pub fn rewrite(mut edit: impl FnMut(&'static CStr) -> Option<&'static CStr>) {
    // SAFETY: `environ` is null or an array of C strings that ends with a null pointer; entries
    // only move towards its start; no thread exists yet that could read it.
    unsafe {
        if environ.is_null() {
            return;
        }
        let (mut from, mut to) = (environ, environ);
        while !(*from).is_null() {
            if let Some(entry) = edit(CStr::from_ptr(*from)) {
                *to = entry.as_ptr().cast_mut();
                to = to.add(1);
            }
            from = from.add(1);
        }
        *to = std::ptr::null_mut();
    }
}
