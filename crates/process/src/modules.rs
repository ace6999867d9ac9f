//! Loaded modules: the executable or library that an address belongs to, the first half of
//! symbolization.

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
    /// The path of its file.
    pub path: PathBuf,
    base: usize,
    text: Range<usize>,
}

impl Modules {
    /// The module that holds `pc`, and the offset in it; `new` is called for a module not seen
    /// before. `None` for code that belongs to no file.
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

/// The executable or library whose variable is at an address, and the offset in it; `None` for
/// memory that belongs to no file.
pub fn data_at(address: usize) -> Option<(PathBuf, u64)> {
    find(address).map(|module| (module.path, (address - module.base) as u64))
}

/// The executable or library that holds `pc`, and the range of all its code.
pub fn code_at(pc: usize) -> Option<(PathBuf, Range<usize>)> {
    find(pc).map(|module| (module.path, module.text))
}

/// Whether `pc` is in code that commsan compiled, or in the C++ library, which creates the
/// program's threads.
pub fn is_program_code(pc: usize) -> bool {
    let mut search = Search { pc, found: None, is_checked: false };
    // SAFETY: as in `find`.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
    let name = search.found.as_ref().and_then(|(.., path)| path.file_name()?.to_str());
    search.is_checked || name.is_some_and(|name| name.starts_with("libstdc++.so"))
}

/// The code of the program: of the executable, and of libraries compiled by commsan.
pub fn program_text() -> Vec<Range<usize>> {
    unsafe extern "C" fn collect(
        info: *mut libc::dl_phdr_info,
        _size: usize,
        data: *mut c_void,
    ) -> c_int {
        // SAFETY: the loader passes a valid description with its headers and name, and `data` is
        // the list.
        unsafe {
            let (info, text) = (&*info, &mut *data.cast::<Vec<Range<usize>>>());
            let headers = std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into());
            let base = info.dlpi_addr as usize;
            let is_executable = info.dlpi_name.is_null() || *info.dlpi_name == 0;
            if is_executable || is_checked(base, headers) {
                let code = headers.iter().filter(|header| {
                    header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_X != 0
                });
                text.extend(code.map(|header| {
                    let start = base + header.p_vaddr as usize;
                    start..start + header.p_memsz as usize
                }));
            }
        }
        0
    }
    let mut text = Vec::new();
    // SAFETY: `collect` is called during this call only, with the list.
    unsafe { libc::dl_iterate_phdr(Some(collect), (&raw mut text).cast()) };
    text
}

/// Communication libraries, by the names of their files up to `.so`.
const COMMUNICATION: [&str; 16] = [
    "libmpi",
    "libmpich",
    "libopen-pal",
    "libopen-rte",
    "libpmix",
    "libfabric",
    "libhwloc",
    "libucm",
    "libucp",
    "libucs",
    "libuct",
    "libpsm2",
    "libpsm_infinipath",
    "libibverbs",
    "librdmacm",
    "libnuma",
];

/// The variables of the communication libraries that are loaded.
pub fn communication_data() -> Vec<Range<usize>> {
    unsafe extern "C" fn collect(
        info: *mut libc::dl_phdr_info,
        _size: usize,
        data: *mut c_void,
    ) -> c_int {
        // SAFETY: the loader passes a valid description with its headers, and `data` is the list.
        let (info, data) = unsafe { (&*info, &mut *data.cast::<Vec<Range<usize>>>()) };
        if info.dlpi_name.is_null() {
            return 0;
        }
        // SAFETY: a C string; the loader's array of program headers.
        let (path, headers) = unsafe {
            let headers = std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into());
            (CStr::from_ptr(info.dlpi_name), headers)
        };
        let path = Path::new(std::ffi::OsStr::from_bytes(path.to_bytes()));
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let stem = name.split(".so").next().unwrap_or_default();
        if COMMUNICATION.contains(&stem) {
            let written = headers.iter().filter(|header| {
                header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_W != 0
            });
            data.extend(written.map(|header| {
                let start = info.dlpi_addr as usize + header.p_vaddr as usize;
                start..start + header.p_memsz as usize
            }));
        }
        0
    }
    let mut data = Vec::new();
    // SAFETY: `collect` is called during this call only, with the list.
    unsafe { libc::dl_iterate_phdr(Some(collect), (&raw mut data).cast()) };
    data
}

/// Whether the object loaded at `base` carries hooks.
fn is_checked(base: usize, headers: &[libc::Elf64_Phdr]) -> bool {
    headers.iter().filter(|header| header.p_type == libc::PT_NOTE).any(|header| {
        let (start, size) = (base + header.p_vaddr as usize, header.p_memsz as usize);
        // SAFETY: the notes are part of a loaded segment.
        has_our_note(unsafe { std::slice::from_raw_parts(start as *const u8, size) })
    })
}

struct Search {
    pc: usize,
    found: Option<(usize, Range<usize>, PathBuf)>,
    /// Whether the object that was found carries hooks.
    is_checked: bool,
}

/// Whether a note segment has the note of the hooks archive (`hooks/init.c`).
fn has_our_note(mut notes: &[u8]) -> bool {
    let word = |notes: &[u8], at| {
        notes.get(at..at + 4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize)
    };
    while let (Some(name), Some(description)) = (word(notes, 0), word(notes, 4)) {
        let end = 12 + name.next_multiple_of(4);
        if notes.get(12..12 + name) == Some(b"commsan\0") {
            return true;
        }
        notes = notes.get(end + description.next_multiple_of(4)..).unwrap_or_default();
    }
    false
}

fn find(pc: usize) -> Option<Module> {
    let mut search = Search { pc, found: None, is_checked: false };
    // SAFETY: `visit` is called during this call only, with the pointer given here.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
    let (base, text, path) = search.found?;
    let path = match path.as_os_str().is_empty() {
        // The main program has an empty name.
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
            search.is_checked = is_checked(base, headers);
            return 1;
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_told_apart() {
        let note = |name: &[u8], description: &[u8]| {
            let mut bytes = Vec::new();
            for word in [name.len() as u32, description.len() as u32, 1] {
                bytes.extend_from_slice(&word.to_le_bytes());
            }
            for part in [name, description] {
                bytes.extend_from_slice(part);
                bytes.resize(bytes.len().next_multiple_of(4), 0);
            }
            bytes
        };
        let (gnu, ours) = (note(b"GNU\0", &[1; 20]), note(b"commsan\0", &[4, 0, 0, 0]));
        assert!(has_our_note(&ours));
        assert!(has_our_note(&[gnu.clone(), ours.clone()].concat()));
        assert!(!has_our_note(&gnu));
        assert!(!has_our_note(&ours[..18]));
        assert!(!has_our_note(b"commsan"));
    }

    #[test]
    fn code_of_the_program_carries_notes_of_its_own() {
        assert!(!is_program_code(is_program_code as *const () as usize));
        assert!(!is_program_code(16));
    }
}
