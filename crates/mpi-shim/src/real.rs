//! The MPI library of this process: its own functions and variables, looked up when they are first
//! used.
//!
//! The runtime is not linked with any MPI library: one build serves all libraries of a family, of
//! all versions, and a program may load its library at any time (`dlopen`, Python). The library is
//! the one in the global scope, or else the first loaded one that defines `PMPI_Init` and has a
//! name of the family; where only a library of another family is found, calls are passed on
//! unchanged, and nothing is checked.

use crate::absent::hide;
use crate::lookup;
use crate::rank::Rank;
use crate::sys;
use commsan_mpi_calls::abi::MpiFamily;
use commsan_process::next;
use std::ffi::{CStr, c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8};

/// A function or variable of the MPI library.
pub(crate) struct Real {
    name: &'static CStr,
    found: AtomicPtr<c_void>,
}

impl Real {
    pub(crate) const fn new(name: &'static CStr) -> Real {
        Real { name, found: AtomicPtr::new(null_mut()) }
    }

    /// Its address; that of [`absent`] if the library lacks it.
    #[inline]
    pub(crate) fn address(&self) -> *mut c_void {
        let found = self.found.load(Relaxed);
        if found.is_null() { self.find() } else { found }
    }

    /// Whether the library has it.
    #[inline]
    pub(crate) fn exists(&self) -> bool {
        self.address() != absent as *mut c_void
    }

    #[cold]
    fn find(&self) -> *mut c_void {
        let library = library();
        if library.is_null() {
            return absent as *mut c_void; // not loaded yet
        }
        // As the loader would bind it: a program that is linked with the library may have copies of
        // its variables, which the library uses as well, and functions that replace the library's.
        let scope = if library == libc::RTLD_NEXT { libc::RTLD_DEFAULT } else { library };
        // SAFETY: a handle of the loader.
        let mut found = unsafe { lookup::past_ours(scope, self.name) };
        // Extensions may have no name with a P; ours stand before those.
        let plain = self.name.to_bytes_with_nul().strip_prefix(b"P");
        let plain = plain.and_then(|name| CStr::from_bytes_with_nul(name).ok());
        if let (true, Some(plain)) = (found.is_null(), plain) {
            // SAFETY: as above.
            found = unsafe { lookup::past_ours(library, plain) };
        }
        let found = if found.is_null() { absent as *mut c_void } else { found };
        self.found.store(found, Relaxed);
        found
    }
}

/// Stands for all functions that the library lacks: a program finds them nowhere else either, and
/// calls them only if it does not look at whether they are there.
extern "C" fn absent() -> c_int {
    sys::MPI_ERR_OTHER
}

/// The loader's handle for the library; null while there is none.
static LIBRARY: AtomicPtr<c_void> = AtomicPtr::new(null_mut());

/// Whose library it is.
static OWNER: AtomicU8 = AtomicU8::new(UNKNOWN);
const UNKNOWN: u8 = 0;
const OURS: u8 = 1;
const FOREIGN: u8 = 2;

/// Whether the library is one of the family that this runtime is built for; also if there is none.
#[inline]
pub(crate) fn is_ours() -> bool {
    match OWNER.load(Relaxed) {
        UNKNOWN => {
            library();
            OWNER.load(Relaxed) != FOREIGN
        }
        owner => owner == OURS,
    }
}

fn library() -> *mut c_void {
    let known = LIBRARY.load(Acquire);
    if known.is_null() { find_library() } else { known }
}

#[cold]
fn find_library() -> *mut c_void {
    let defines = |handle: *mut c_void| if init_of(handle).is_null() { null_mut() } else { handle };
    let is_of = |family: MpiFamily| move |name: &[u8]| MpiFamily::of_library(name) == Some(family);
    let (found, owner) = {
        let first = defines(libc::RTLD_NEXT);
        if first.is_null() {
            let own = next::in_libraries(is_of(sys::FAMILY), defines);
            match own.is_null() {
                true => (next::in_libraries(|_| true, defines), FOREIGN),
                false => (own, OURS),
            }
        } else {
            let family = family_of(init_of(first));
            (first, if family.is_some_and(|family| family != sys::FAMILY) { FOREIGN } else { OURS })
        }
    };
    if found.is_null() {
        return found;
    }
    OWNER.store(owner, Relaxed);
    match LIBRARY.compare_exchange(null_mut(), found, AcqRel, Acquire) {
        Ok(_) => {
            if owner == OURS {
                hide(found);
            }
            found
        }
        Err(earlier) => earlier,
    }
}

/// The runtime is loaded: a library that the program is linked with is known from the start.
pub fn loaded() {
    library();
}

/// The process has loaded a library of another family: says so, once.
#[cold]
pub(crate) fn say_foreign(rank: &dyn Rank) {
    static SAID: AtomicBool = AtomicBool::new(false);
    let library = library();
    if library.is_null() || is_ours() || SAID.swap(true, Relaxed) {
        return;
    }
    let init = init_of(library);
    let Some(family) = family_of(init) else { return };
    let path = String::from_utf8_lossy(path_of(init));
    rank.unchecked(&format!(
        "was not checked: it has loaded {path}, a library of {family}, but was started as a program of \
         {}. Run it with `commsan run --mpi {}`.",
        sys::FAMILY,
        family.key()
    ));
}

/// The library's `PMPI_Init`; null if it has none.
fn init_of(library: *mut c_void) -> *mut c_void {
    // SAFETY: a handle of the loader.
    unsafe { libc::dlsym(library, c"PMPI_Init".as_ptr()) }
}

/// The family of the MPI library that an address belongs to, by the name of its file.
pub(crate) fn family_of(address: *const c_void) -> Option<MpiFamily> {
    let path = path_of(address);
    MpiFamily::of_library(path.rsplit(|byte| *byte == b'/').next().unwrap_or(path))
}

/// The path of the library that an address belongs to; empty if it is not known.
fn path_of(address: *const c_void) -> &'static [u8] {
    let file = module_of(address).dli_fname;
    if file.is_null() {
        return b"";
    }
    // SAFETY: the loader keeps it while the library is loaded; MPI libraries are never unloaded.
    unsafe { CStr::from_ptr(file) }.to_bytes()
}

/// The loaded file that an address belongs to; all zero if there is none.
pub(crate) fn module_of(address: *const c_void) -> libc::Dl_info {
    let mut info = std::mem::MaybeUninit::zeroed();
    // SAFETY: any address may be asked for; of an unknown one the structure stays zero.
    unsafe {
        libc::dladdr(address, info.as_mut_ptr());
        info.assume_init()
    }
}
