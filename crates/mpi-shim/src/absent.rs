//! Calls that the process's MPI library lacks are absent to the program, too.
//!
//! The runtime has entry points for the calls of all versions of the standard. Programs and
//! libraries, mpi4py among them, ask the loader (`dlsym`) whether a newer call exists; they would
//! find commsan's. So the values of these symbols are cleared in the runtime's own table, which
//! lookups pass over then.
//!
//! What was bound before the library was known, weak references of a program that is linked with
//! MPI, still finds the entry point, which returns `MPI_ERR_OTHER`.

use std::ffi::{CStr, c_char, c_int, c_void};

/// The parts of the dynamic section that lead to the symbols.
const DT_STRTAB: i64 = 5;
const DT_SYMTAB: i64 = 6;
const DT_GNU_HASH: i64 = 0x6fff_fef5;

/// A symbol of a 64-bit ELF file.
#[repr(C)]
struct Symbol {
    name: u32,
    info: u8,
    other: u8,
    section: u16,
    value: u64,
    size: u64,
}

/// Clears the entry points of calls of which the library, known by a handle of the loader, has no
/// function.
pub(crate) fn hide(library: *mut c_void) {
    let Some((symbols, names)) = own_symbols() else { return };
    let mut lacking = Vec::new();
    for (index, symbol) in symbols.iter().enumerate() {
        if symbol.value == 0 {
            continue;
        }
        // SAFETY: an offset in the table of names.
        let name = unsafe { CStr::from_ptr(names.add(symbol.name as usize)) }.to_bytes();
        if !name.starts_with(b"MPI_") && !name.starts_with(b"MPIX_") {
            continue;
        }
        let own = [b"P", name, b"\0"].concat();
        let has = |name: &[u8]| {
            // SAFETY: a handle of the loader, and a name that ends with a zero byte.
            !unsafe { libc::dlsym(library, name.as_ptr().cast()) }.is_null()
        };
        // Extensions may have no name with a P.
        if !has(&own) && !has(&own[1..]) {
            lacking.push(index);
        }
    }
    if let (Some(first), Some(last)) = (lacking.first(), lacking.last()) {
        let start = &raw const symbols[*first] as usize;
        let end = &raw const symbols[*last] as usize + size_of::<Symbol>();
        writable(start, end, || {
            for index in lacking {
                let value = &raw const symbols[index].value;
                // SAFETY: the pages are writable now; the loader reads a word that is aligned.
                unsafe { value.cast_mut().write_volatile(0) };
            }
        });
    }
}

/// Runs `change` while the pages of these bytes are writable; not at all if they cannot be.
fn writable(start: usize, end: usize, change: impl FnOnce()) {
    // SAFETY: asks only.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) }.max(1) as usize;
    let first = start & !(page - 1);
    let protect = |how: c_int| {
        // SAFETY: pages of this library's own read-only data, which stay readable.
        unsafe { libc::mprotect(first as *mut c_void, end - first, how) }
    };
    if protect(libc::PROT_READ | libc::PROT_WRITE) == 0 {
        change();
        protect(libc::PROT_READ);
    }
}

/// This library's symbols, and the table of their names.
fn own_symbols() -> Option<(&'static [Symbol], *const c_char)> {
    struct Found {
        symbols: usize,
        names: usize,
        hash: usize,
    }
    unsafe extern "C" fn visit(
        info: *mut libc::dl_phdr_info,
        _: usize,
        found: *mut c_void,
    ) -> c_int {
        // SAFETY: the loader describes a loaded module, and `found` is the variable below.
        unsafe {
            let (info, found) = (&*info, &mut *found.cast::<Found>());
            let base = info.dlpi_addr as usize;
            let headers = std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into());
            let here = hide as *const () as usize;
            let is_own = headers.iter().any(|header| {
                let start = base + header.p_vaddr as usize;
                header.p_type == libc::PT_LOAD
                    && (start..start + header.p_memsz as usize).contains(&here)
            });
            let Some(dynamic) = headers.iter().find(|h| h.p_type == libc::PT_DYNAMIC) else {
                return 0;
            };
            if !is_own {
                return 0;
            }
            let mut entry = (base + dynamic.p_vaddr as usize) as *const [i64; 2];
            while (*entry)[0] != 0 {
                let [tag, value] = *entry;
                match tag {
                    DT_STRTAB => found.names = value as usize,
                    DT_SYMTAB => found.symbols = value as usize,
                    DT_GNU_HASH => found.hash = value as usize,
                    _ => {}
                }
                entry = entry.add(1);
            }
            1
        }
    }
    let mut found = Found { symbols: 0, names: 0, hash: 0 };
    // SAFETY: `visit` gets the address of `found`.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut found).cast()) };
    if found.symbols == 0 || found.names == 0 || found.hash == 0 {
        return None;
    }
    // SAFETY: the loader's own tables, which it has found valid.
    unsafe {
        let count = count_of(found.hash as *const u32);
        let symbols = std::slice::from_raw_parts(found.symbols as *const Symbol, count);
        Some((symbols, found.names as *const c_char))
    }
}

/// The number of symbols that a GNU hash table covers.
///
/// # Safety
/// It is one of a loaded library.
unsafe fn count_of(table: *const u32) -> usize {
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
