//! Loaded modules: the executable or library that an address belongs to, the first half of
//! symbolization.

use crate::loaded::{self, Loaded};
use std::ffi::{CStr, CString, OsStr};
use std::ops::{ControlFlow, Range};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

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
    let is_of_program =
        |module: &Loaded<'_>| is_checked(module) || module.file_name().starts_with(b"libstdc++.so");
    loaded::visit(|module| match module.holds(pc) {
        true => ControlFlow::Break(is_of_program(module)),
        false => ControlFlow::Continue(()),
    })
    .unwrap_or(false)
}

/// The code of the program: of the executable, and of libraries compiled by commsan.
pub fn program_text() -> Vec<Range<usize>> {
    let mut text = Vec::new();
    loaded::visit::<()>(|module| {
        if module.c_path().is_none() || is_checked(module) {
            text.extend(module.parts(libc::PT_LOAD, libc::PF_X));
        }
        ControlFlow::Continue(())
    });
    text
}

/// Functions that answer each thread differently: of the C library, of compilers, of MPI.
const IDENTITIES: [&CStr; 13] = [
    c"MPI_Is_thread_main",
    c"__emutls_get_address",
    c"__kmpc_threadprivate_cached",
    c"__tls_get_addr",
    c"gettid",
    c"mpi_is_thread_main_",
    c"omp_get_ancestor_thread_num",
    c"omp_get_place_num",
    c"pthread_getspecific",
    c"pthread_self",
    c"sched_getcpu",
    c"thrd_current",
    c"tss_get",
];

/// Whether the program's modules may distinguish its threads, other than by OpenMP's thread number:
/// they have thread-local variables, or call functions that identify the calling thread.
pub fn identify_threads() -> bool {
    /// The modules that the last answer is for, and the answer in the lowest bit.
    static LAST: AtomicU64 = AtomicU64::new(0);
    let last = LAST.load(Relaxed);
    let mut loaded_now = 0;
    let known = loaded::visit(|module| {
        loaded_now = module.changes() << 1;
        ControlFlow::Break((loaded_now == last & !1).then_some(last & 1 != 0))
    });
    known.flatten().unwrap_or_else(|| {
        let answer = look_for_identities();
        LAST.store(loaded_now | u64::from(answer), Relaxed);
        answer
    })
}

fn look_for_identities() -> bool {
    loaded::visit(|module| {
        let is_program = module.c_path().is_none() || is_checked(module);
        let has_own = || module.parts(libc::PT_TLS, 0).any(|part| !part.is_empty());
        let asks = || {
            let calls =
                |symbols: loaded::Symbols| symbols.imports().any(|name| IDENTITIES.contains(&name));
            module.symbols().is_none_or(calls)
        };
        match is_program && (has_own() || asks()) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    })
    .is_some()
}

/// Whether a variable of a module, not thread-local, is at an address.
pub fn is_variable(address: usize) -> bool {
    let holds = |module: &Loaded<'_>| {
        module.parts(libc::PT_LOAD, libc::PF_W).any(|part| part.contains(&address))
    };
    loaded::visit(|module| match holds(module) {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    })
    .is_some()
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
    let mut data = Vec::new();
    loaded::visit::<()>(|module| {
        let name = str::from_utf8(module.file_name()).unwrap_or_default();
        let stem = name.split(".so").next().unwrap_or_default();
        if COMMUNICATION.contains(&stem) {
            data.extend(module.parts(libc::PT_LOAD, libc::PF_W));
        }
        ControlFlow::Continue(())
    });
    data
}

/// Beginnings of the names of communication libraries, and of the modules that these load.
const COMMUNICATION_PREFIXES: [&str; 5] = ["libmpi", "libpmpi", "libopen-", "libmca_", "mca_"];

/// Whether `pc` is in code of a communication library.
pub fn is_communication_code(pc: usize) -> bool {
    let communicates = |module: &Loaded<'_>| {
        let name = str::from_utf8(module.file_name()).unwrap_or_default();
        let stem = name.split(".so").next().unwrap_or_default();
        COMMUNICATION.contains(&stem)
            || COMMUNICATION_PREFIXES.iter().any(|prefix| stem.starts_with(prefix))
    };
    loaded::visit(|module| match module.holds(pc) {
        true => ControlFlow::Break(communicates(module)),
        false => ControlFlow::Continue(()),
    })
    .unwrap_or(false)
}

/// Whether `pc` is in the C library, or in what stands in front of it for a compiler's checks.
pub fn is_system_code(pc: usize) -> bool {
    const NAMES: [&[u8]; 7] =
        [b"libc.so", b"libc-", b"libpthread", b"libasan", b"libtsan", b"libubsan", b"libclang_rt"];
    loaded::visit(|module| match module.holds(pc) {
        true => ControlFlow::Break(NAMES.iter().any(|name| module.file_name().starts_with(name))),
        false => ControlFlow::Continue(()),
    })
    .unwrap_or(false)
}

/// Whether `pc` is in a module that carries hooks.
pub fn is_hooked_code(pc: usize) -> bool {
    loaded::visit(|module| match module.holds(pc) {
        true => ControlFlow::Break(is_checked(module)),
        false => ControlFlow::Continue(()),
    })
    .unwrap_or(false)
}

/// The variables of all modules, without what the loader has made constant.
pub fn variables() -> Vec<Range<usize>> {
    let mut variables = Vec::new();
    loaded::visit::<()>(|module| {
        variables.extend(variables_of(module));
        ControlFlow::Continue(())
    });
    variables
}

/// The variables of the program itself, without what the loader has made constant.
pub fn program_variables() -> Range<usize> {
    let of_program = loaded::visit(|module| match module.path().as_os_str().is_empty() {
        true => ControlFlow::Break(variables_of(module)),
        false => ControlFlow::Continue(()),
    });
    let of_program = of_program.unwrap_or_default();
    let start = of_program.iter().map(|part| part.start).min().unwrap_or(0);
    start..of_program.iter().map(|part| part.end).max().unwrap_or(start)
}

fn variables_of(module: &Loaded<'_>) -> Vec<Range<usize>> {
    let of_part = |part: Range<usize>| {
        let constant = module.parts(libc::PT_GNU_RELRO, 0).find(|c| part.contains(&c.start));
        let start = constant.map_or(part.start, |constant| constant.end.max(part.start));
        start..part.end.max(start)
    };
    module.parts(libc::PT_LOAD, libc::PF_W).map(of_part).collect()
}

/// Whether the program has loaded a library by which it uses devices.
pub fn has_devices() -> bool {
    const LIBRARIES: [&[u8]; 4] =
        [b"libcuda.so", b"libcudart.so", b"libamdhip64.so", b"libze_loader.so"];
    loaded::visit(|module| {
        match LIBRARIES.iter().any(|library| module.file_name().starts_with(library)) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    })
    .is_some()
}

/// Whether a module carries hooks.
fn is_checked(module: &Loaded<'_>) -> bool {
    module.parts(libc::PT_NOTE, 0).any(|notes| {
        // SAFETY: the notes are part of a loaded segment.
        has_our_note(unsafe { std::slice::from_raw_parts(notes.start as *const u8, notes.len()) })
    })
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
    let (base, text, path) = loaded::visit(|module| {
        let text = module.parts(libc::PT_LOAD, 0).find(|part| part.contains(&pc));
        match text {
            Some(text) => ControlFlow::Break((module.base(), text, module.path().to_owned())),
            None => ControlFlow::Continue(()),
        }
    })?;
    let path = match path.as_os_str().is_empty() {
        // The main program has an empty name.
        true => std::fs::read_link("/proc/self/exe").ok()?,
        false => canonical(&path).unwrap_or(path),
    };
    Some(Module { path, base, text })
}

/// As `std::fs::canonicalize`, which takes memory from the program's heap: that may be damaged, or
/// in the middle of a change.
fn canonical(path: &Path) -> Option<PathBuf> {
    let name = CString::new(path.as_os_str().as_bytes()).ok()?;
    let mut found = [0; libc::PATH_MAX as usize];
    // SAFETY: a path, and room for the longest.
    let result = unsafe { libc::realpath(name.as_ptr(), found.as_mut_ptr()) };
    if result.is_null() {
        return None;
    }
    // SAFETY: just stored, with its end.
    let found = unsafe { CStr::from_ptr(found.as_ptr()) };
    Some(PathBuf::from(OsStr::from_bytes(found.to_bytes())))
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
