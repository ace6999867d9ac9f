//! Calls that the process's MPI library lacks are absent to the program, too.
//!
//! The runtime has entry points for the calls of all versions of the standard, and for OpenSHMEM's.
//! Programs and libraries ask the loader whether a newer call exists, by `dlsym` or, mpi4py among
//! them, by a weak reference; they would find commsan's. So the values of these symbols are cleared
//! in the runtime's own table, which lookups pass over then, and in the words of modules that are
//! bound to them already: those that were loaded before or together with the library.
//!
//! A weak call that a program makes as its very first of MPI, without looking, returns
//! `MPI_ERR_OTHER`.

use commsan_process::loaded::{self, Loaded, Symbols};
use std::ffi::{c_int, c_void};
use std::ops::ControlFlow;
use std::sync::atomic::Ordering::Relaxed;

/// Clears the entry points of calls of which the library, known by a handle of the loader, has no
/// function.
pub(crate) fn hide(library: *mut c_void) {
    let Some((base, symbols)) = own_symbols() else { return };
    let table = symbols.all();
    let mut lacking = Vec::new();
    for (index, symbol) in table.iter().enumerate() {
        if symbol.st_value == 0 {
            continue;
        }
        let name = symbols.name(symbol).to_bytes();
        let begins = |prefixes: &[&[u8]]| prefixes.iter().any(|prefix| name.starts_with(prefix));
        let profiled: &[u8] = match () {
            () if begins(&[b"MPI_", b"MPIX_"]) => b"P",
            () if begins(&[b"shmem", b"start_pes", b"shmalloc", b"shfree", b"shrealloc"]) => b"p",
            () => continue,
        };
        let own = [profiled, name, b"\0"].concat();
        let has = |name: &[u8]| {
            // SAFETY: a handle of the loader, and a name that ends with a zero byte.
            !unsafe { libc::dlsym(library, name.as_ptr().cast()) }.is_null()
        };
        // Extensions may have no name with a P.
        if !has(&own) && !has(&own[1..]) {
            lacking.push(index);
        }
    }
    let address = |index: &usize| base.wrapping_add(table[*index].st_value as usize);
    let mut entries: Vec<usize> = lacking.iter().map(address).collect();
    entries.sort_unstable();
    if let (Some(first), Some(last)) = (lacking.first(), lacking.last()) {
        let start = &raw const table[*first] as usize;
        let end = &raw const table[*last] as usize + size_of_val(&table[*last]);
        writable(start, end, || {
            for index in lacking {
                let value = &raw const table[index].st_value;
                // SAFETY: the pages are writable now; the loader reads a word that is aligned.
                unsafe { value.cast_mut().write_volatile(0) };
            }
        });
    }
    loaded::visit::<()>(|module| {
        unbind(module, &entries);
        ControlFlow::Continue(())
    });
}

/// Clears a module's weak references that are bound to one of these entry points, in ascending
/// order.
fn unbind(module: &Loaded<'_>, entries: &[usize]) {
    module.visit_weak_references(&mut |word| {
        if entries.binary_search(&word.load(Relaxed)).is_err() {
            return;
        }
        let at = word.as_ptr() as usize;
        let clear = || word.store(0, Relaxed);
        match module.is_sealed(at) {
            true => writable(at, at + size_of::<usize>(), clear),
            false => clear(),
        }
    });
}

/// Runs `change` while the pages of these bytes are writable; not at all if they cannot be.
fn writable(start: usize, end: usize, change: impl FnOnce()) {
    // SAFETY: asks only.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) }.max(1) as usize;
    let first = start & !(page - 1);
    let protect = |how: c_int| {
        // SAFETY: pages that the loader has sealed, which stay readable.
        unsafe { libc::mprotect(first as *mut c_void, end - first, how) }
    };
    if protect(libc::PROT_READ | libc::PROT_WRITE) == 0 {
        change();
        protect(libc::PROT_READ);
    }
}

/// The address to which this library was moved, and its symbols.
fn own_symbols() -> Option<(usize, Symbols)> {
    loaded::visit(|module| match module.holds(hide as *const () as usize) {
        true => ControlFlow::Break(module.symbols().map(|symbols| (module.base(), symbols))),
        false => ControlFlow::Continue(()),
    })
    .flatten()
}
