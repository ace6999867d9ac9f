//! The modules of this process as its loader describes them: segments, notes and the symbols that
//! they export and import. One walk for all who ask.

use std::ffi::{CStr, OsStr, c_char, c_int, c_void};
use std::ops::{ControlFlow, Range};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::AtomicUsize;

/// One loaded executable or library, valid while it is visited.
pub struct Loaded<'a>(&'a libc::dl_phdr_info);

/// The tables by which the loader binds the symbols of a module.
pub struct Symbols {
    table: *const libc::Elf64_Sym,
    names: *const c_char,
    hash: Hash,
}

/// A hash table, by its address. It also says how many symbols there are.
enum Hash {
    Gnu(*const u32),
    SystemV(*const u32),
}

/// Entries of the dynamic section.
const DT_NULL: i64 = 0;
const DT_HASH: i64 = 4;
const DT_STRTAB: i64 = 5;
const DT_SYMTAB: i64 = 6;
const DT_RELA: i64 = 7;
const DT_RELASZ: i64 = 8;
const DT_GNU_HASH: i64 = 0x6fff_fef5;

/// Relocations that store a symbol's address in a word: `R_*_64` or `ABS64`, `GLOB_DAT`.
#[cfg(target_arch = "x86_64")]
const STORES_ADDRESS: [u64; 2] = [1, 6];
#[cfg(target_arch = "aarch64")]
const STORES_ADDRESS: [u64; 2] = [257, 1025];

/// The binding of weak symbols.
const STB_WEAK: u8 = 2;

/// Nothing is mapped below. The loader does not relocate the tables of the kernel's own module.
const LOWEST: usize = 4096;

/// Visits the loaded modules, the executable first, until `visit` breaks; returns what it broke
/// with. The loader's lock is held: `visit` must not wait for another thread.
pub fn visit<T>(mut visit: impl FnMut(&Loaded<'_>) -> ControlFlow<T>) -> Option<T> {
    struct Search<'a, T> {
        visit: &'a mut dyn FnMut(&Loaded<'_>) -> ControlFlow<T>,
        found: Option<T>,
    }
    unsafe extern "C" fn each<T>(
        info: *mut libc::dl_phdr_info,
        _size: usize,
        data: *mut c_void,
    ) -> c_int {
        // SAFETY: the loader passes a valid description, and `data` is the search below.
        let (info, search) = unsafe { (&*info, &mut *data.cast::<Search<'_, T>>()) };
        if let ControlFlow::Break(found) = (search.visit)(&Loaded(info)) {
            search.found = Some(found);
        }
        c_int::from(search.found.is_some())
    }
    let mut search = Search { visit: &mut visit, found: None };
    // SAFETY: `each` is called during this call only, with the search.
    unsafe { libc::dl_iterate_phdr(Some(each::<T>), (&raw mut search).cast()) };
    search.found
}

impl<'a> Loaded<'a> {
    /// How many modules the process has loaded and unloaded so far, a number for each pair.
    pub fn changes(&self) -> u64 {
        self.0.dlpi_adds.wrapping_shl(32) | self.0.dlpi_subs & u64::from(u32::MAX)
    }

    /// The address to which its file's address 0 was moved.
    pub fn base(&self) -> usize {
        self.0.dlpi_addr as usize
    }

    /// The path by which it was loaded; empty for the executable.
    pub fn path(&self) -> &'a Path {
        Path::new(OsStr::from_bytes(self.c_path().map_or(&[], CStr::to_bytes)))
    }

    /// The path as the loader has it; `None` for the executable.
    pub fn c_path(&self) -> Option<&'a CStr> {
        if self.0.dlpi_name.is_null() {
            return None;
        }
        // SAFETY: the loader keeps the name as a C string while the module is loaded.
        Some(unsafe { CStr::from_ptr(self.0.dlpi_name) }).filter(|path| !path.is_empty())
    }

    /// The name of its file; empty for the executable.
    pub fn file_name(&self) -> &'a [u8] {
        self.path().file_name().map_or(&[], OsStrExt::as_bytes)
    }

    /// The ranges in memory of its parts of one kind (`PT_LOAD`, `PT_NOTE`) that have these access
    /// rights (`PF_X`, `PF_W`), or more.
    pub fn parts(&self, kind: u32, rights: u32) -> impl Iterator<Item = Range<usize>> + use<'a> {
        let base = self.base();
        let ours = move |h: &&libc::Elf64_Phdr| h.p_type == kind && h.p_flags & rights == rights;
        self.headers().iter().filter(ours).map(move |header| {
            let start = base + header.p_vaddr as usize;
            start..start + header.p_memsz as usize
        })
    }

    /// Whether an address is in a part that is loaded, and never written.
    pub fn is_constant(&self, address: usize) -> bool {
        self.holds(address)
            && !self.parts(libc::PT_LOAD, libc::PF_W).any(|part| part.contains(&address))
    }

    /// Whether it holds an address.
    pub fn holds(&self, address: usize) -> bool {
        self.parts(libc::PT_LOAD, 0).any(|part| part.contains(&address))
    }

    fn headers(&self) -> &'a [libc::Elf64_Phdr] {
        // SAFETY: the loader's array of program headers.
        unsafe { std::slice::from_raw_parts(self.0.dlpi_phdr, self.0.dlpi_phnum.into()) }
    }

    /// The symbols that it exports and imports; `None` where it has none or the loader has not
    /// relocated them.
    pub fn symbols(&self) -> Option<Symbols> {
        let [names, table, gnu, system_v] =
            self.dynamic([DT_STRTAB, DT_SYMTAB, DT_GNU_HASH, DT_HASH])?;
        let hash = match (gnu >= LOWEST, system_v >= LOWEST) {
            (true, _) => Hash::Gnu(gnu as *const u32),
            (_, true) => Hash::SystemV(system_v as *const u32),
            _ => return None,
        };
        if names < LOWEST || table < LOWEST {
            return None;
        }
        Some(Symbols { table: table as *const _, names: names as *const c_char, hash })
    }

    /// Calls `visit` with each word that holds the address of a symbol which this module imports
    /// weakly: it looks there whether the symbol exists.
    pub fn visit_weak_references(&self, visit: &mut dyn FnMut(&AtomicUsize)) {
        let Some(symbols) = self.symbols() else { return };
        let Some([relocations, bytes]) = self.dynamic([DT_RELA, DT_RELASZ]) else { return };
        if relocations < LOWEST {
            return;
        }
        // SAFETY: the loader's table of relocations of a loaded module, and its size in bytes.
        let relocations = unsafe {
            let count = bytes / size_of::<libc::Elf64_Rela>();
            std::slice::from_raw_parts(relocations as *const libc::Elf64_Rela, count)
        };
        for relocation in relocations {
            let (symbol, kind) = (relocation.r_info >> 32, relocation.r_info & 0xffff_ffff);
            if symbol == 0 || !STORES_ADDRESS.contains(&kind) {
                continue;
            }
            // SAFETY: relocations have indices of the table's symbols.
            let symbol = unsafe { &*symbols.table.add(symbol as usize) };
            let word = self.base().wrapping_add(relocation.r_offset as usize);
            let is_whole = word.is_multiple_of(align_of::<AtomicUsize>()) && self.holds(word);
            if symbol.st_info >> 4 == STB_WEAK && symbol.st_shndx == 0 && is_whole {
                // SAFETY: an aligned word of the module, which the loader has written.
                visit(unsafe { AtomicUsize::from_ptr(word as *mut usize) });
            }
        }
    }

    /// Whether the loader has made an address read-only when it had relocated the module.
    pub fn is_sealed(&self, address: usize) -> bool {
        self.parts(libc::PT_GNU_RELRO, 0).any(|part| part.contains(&address))
    }

    /// The values of these entries of its dynamic section, 0 for those that it lacks; `None` if it
    /// has no such section.
    fn dynamic<const N: usize>(&self, tags: [i64; N]) -> Option<[usize; N]> {
        let section = self.parts(libc::PT_DYNAMIC, 0).next()?;
        let (mut values, mut entry) = ([0; N], section.start as *const [i64; 2]);
        // SAFETY: the dynamic section of a loaded module, which ends with a null entry; the
        // loader has made its addresses absolute.
        unsafe {
            while (*entry)[0] != DT_NULL {
                let [tag, value] = *entry;
                if let Some(index) = tags.iter().position(|known| *known == tag) {
                    values[index] = value as usize;
                }
                entry = entry.add(1);
            }
        }
        Some(values)
    }
}

impl Symbols {
    /// Its imports, and some exports; all of both where the module has one of the old hash tables.
    /// What a GNU hash table leaves out comes first, and no import is in it.
    pub fn imports(&self) -> impl Iterator<Item = &CStr> {
        let count = match self.hash {
            // SAFETY: the second word of either table.
            Hash::Gnu(table) | Hash::SystemV(table) => unsafe { *table.add(1) as usize },
        };
        self.first(count)
            .iter()
            .filter(|symbol| symbol.st_shndx == 0)
            .map(|symbol| self.name(symbol))
    }

    /// All its symbols.
    pub fn all(&self) -> &[libc::Elf64_Sym] {
        self.first(match self.hash {
            // SAFETY: a table of a loaded module.
            Hash::Gnu(table) => unsafe { hashed(table) },
            // SAFETY: the second word is their number.
            Hash::SystemV(table) => unsafe { *table.add(1) as usize },
        })
    }

    /// The name of one of these symbols.
    pub fn name(&self, symbol: &libc::Elf64_Sym) -> &CStr {
        // SAFETY: an offset in the table of names.
        unsafe { CStr::from_ptr(self.names.add(symbol.st_name as usize)) }
    }

    fn first(&self, count: usize) -> &[libc::Elf64_Sym] {
        // SAFETY: the table has at least that many.
        unsafe { std::slice::from_raw_parts(self.table, count) }
    }
}

/// The number of symbols of a module with this GNU hash table.
///
/// # Safety
/// It is one of a loaded module.
unsafe fn hashed(table: *const u32) -> usize {
    // SAFETY: by the caller; header, filter, buckets and chains follow each other.
    unsafe {
        let [buckets, first, words] = [*table, *table.add(1), *table.add(2)].map(|n| n as usize);
        let bucket = table.add(4 + 2 * words);
        let last = (0..buckets).map(|index| *bucket.add(index)).max().unwrap_or(0) as usize;
        if last < first {
            return first;
        }
        let chain = bucket.add(buckets);
        let mut at = last;
        while *chain.add(at - first) & 1 == 0 {
            at += 1;
        }
        at + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_executable_is_first_and_holds_its_code() {
        let code = the_executable_is_first_and_holds_its_code as *const () as usize;
        let found =
            visit(|module| ControlFlow::Break((module.holds(code), module.path().to_owned())));
        assert_eq!(found, Some((true, Path::new("").to_owned())));
        assert_eq!(visit(|module| ControlFlow::Break(module.is_constant(code))), Some(true));
        static WRITTEN: AtomicUsize = AtomicUsize::new(1);
        let written = WRITTEN.as_ptr() as usize;
        assert_eq!(visit(|module| ControlFlow::Break(module.is_constant(written))), Some(false));
    }

    #[test]
    fn symbols_of_a_library_are_all_found() {
        // Of libc, which imports from the loader only and exports by thousands.
        let found = visit(|module| {
            if !module.file_name().starts_with(b"libc.so") {
                return ControlFlow::Continue(());
            }
            let symbols = module.symbols().unwrap();
            let exports = symbols.all().iter().filter(|symbol| symbol.st_shndx != 0);
            let exports: Vec<_> = exports.map(|symbol| symbols.name(symbol).to_owned()).collect();
            let imports: Vec<_> = symbols.imports().map(CStr::to_owned).collect();
            ControlFlow::Break((exports, imports))
        });
        let (exports, imports) = found.unwrap();
        let (export, import) = (c"strtol".to_owned(), c"__tls_get_addr".to_owned());
        assert!(exports.contains(&export) && exports.contains(&c"malloc".to_owned()));
        assert!(imports.contains(&import) && !imports.contains(&export));
    }
}
