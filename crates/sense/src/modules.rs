//! Which executable or library an address belongs to.

use std::ffi::{CStr, c_int, c_void};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Executables and libraries seen so far, numbered in the order of their first use.
#[derive(Default)]
pub struct Modules {
    known: Vec<Module>,
}

/// One loaded object.
pub struct Module {
    /// Its file.
    pub path: PathBuf,
    base: usize,
    text: Range<usize>,
}

impl Modules {
    /// The module that holds `pc` and the offset in it; `new` is called when the module has not
    /// been seen before. `None` for code that is in no file.
    pub fn locate(&mut self, pc: usize, mut new: impl FnMut(u32, &Path)) -> Option<(u32, u64)> {
        let found = match self.known.iter().position(|module| module.text.contains(&pc)) {
            Some(index) => index,
            None => {
                let module = find(pc)?;
                new(self.known.len() as u32, &module.path);
                self.known.push(module);
                self.known.len() - 1
            }
        };
        Some((found as u32, (pc - self.known[found].base) as u64))
    }
}

struct Search {
    pc: usize,
    found: Option<(usize, Range<usize>, PathBuf)>,
}

fn find(pc: usize) -> Option<Module> {
    let mut search = Search { pc, found: None };
    // SAFETY: `visit` is called during this call only, with the pointer given here.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
    let (base, text, path) = search.found?;
    let path = match path.as_os_str().is_empty() {
        // The main program comes without a name.
        true => std::fs::read_link("/proc/self/exe").ok()?,
        false => std::fs::canonicalize(&path).unwrap_or(path),
    };
    Some(Module { path, base, text })
}

unsafe extern "C" fn visit(
    info: *mut libc::dl_phdr_info,
    _size: usize,
    data: *mut c_void,
) -> c_int {
    // SAFETY: the loader passes a valid description, and `data` is the search of `find`.
    let (info, search) = unsafe { (&*info, &mut *data.cast::<Search>()) };
    // SAFETY: the loader's array of program headers.
    let headers = unsafe { std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
    let base = info.dlpi_addr as usize;
    for header in headers.iter().filter(|h| h.p_type == libc::PT_LOAD) {
        let start = base + header.p_vaddr as usize;
        let range = start..start + header.p_memsz as usize;
        if range.contains(&search.pc) {
            let name = match info.dlpi_name.is_null() {
                true => PathBuf::new(),
                false => {
                    // SAFETY: a name, if present, is a C string.
                    let name = unsafe { CStr::from_ptr(info.dlpi_name) };
                    PathBuf::from(std::ffi::OsStr::from_bytes(name.to_bytes()))
                }
            };
            search.found = Some((base, range, name));
            return 1;
        }
    }
    0
}
