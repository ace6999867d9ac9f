//! Memory shared by the ranks of a job that uses windows.
//!
//! Set up once, when MPI is initialised, by collectives on `MPI_COMM_WORLD`: every rank is there
//! then. Jobs without windows stop after the first.

use crate::library::{byte, comm_world};
use crate::sys;
use commsan_fabric::{Fabric, Memory};
use std::ffi::{CStr, c_int, c_void};

/// What came of it.
pub enum Shared {
    /// No rank's program can make windows.
    Unneeded,
    /// All ranks see the memory.
    Fabric(Fabric),
    /// They do not, for this reason.
    Impossible(String),
}

/// Longest path of the memory, `/proc/PID/fd/N`.
const PATH: usize = 64;

/// Shares memory among the ranks.
pub(crate) fn share(rank: usize, ranks: usize) -> Shared {
    let wanted = imports_windows();
    let all = gather(&[u8::from(wanted)], ranks);
    if !all.contains(&1) {
        return Shared::Unneeded;
    }
    let node = node();
    let nodes = gather(&node.to_ne_bytes(), ranks);
    if nodes.chunks_exact(8).any(|other| other != node.to_ne_bytes()) {
        return Shared::Impossible("it runs on several nodes, which is not supported yet".into());
    }
    let mut path = [0u8; PATH];
    let mut created = None;
    if rank == 0
        && let Ok((memory, file, name)) = Memory::create(ranks)
        && name.len() < PATH
    {
        path[..name.len()].copy_from_slice(name.as_bytes());
        created = Some((memory, file));
    }
    let paths = gather(&path, ranks);
    let name = CStr::from_bytes_until_nul(&paths[..PATH]).ok().and_then(|name| name.to_str().ok());
    let memory = match &created {
        Some((memory, _)) => Some(*memory),
        None => {
            name.filter(|name| !name.is_empty()).and_then(|name| Memory::open(name, ranks).ok())
        }
    };
    // Only now may the file be closed.
    let opened = gather(&[u8::from(memory.is_some())], ranks);
    match memory {
        Some(memory) if opened.iter().all(|one| *one == 1) => {
            Shared::Fabric(Fabric::new(memory, rank))
        }
        _ => Shared::Impossible("its ranks cannot open memory of each other".into()),
    }
}

/// The same number of bytes from every rank.
fn gather(own: &[u8], ranks: usize) -> Vec<u8> {
    let size = own.len() as c_int;
    let mut all = vec![0u8; own.len() * ranks];
    // SAFETY: MPI is initialised, every rank is in this call, and the buffers are as long as stated.
    unsafe {
        sys::PMPI_Allgather(
            own.as_ptr().cast(),
            size,
            byte(),
            all.as_mut_ptr().cast(),
            size,
            byte(),
            comm_world(),
        );
    }
    all
}

/// A number that only processes of the same running system have.
fn node() -> u64 {
    let boot = std::fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let space = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let bytes = boot.iter().chain(space.as_os_str().as_encoded_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    })
}

/// Whether any module of the process, except for MPI and commsan, calls a constructor of windows.
fn imports_windows() -> bool {
    unsafe extern "C" fn look(
        info: *mut libc::dl_phdr_info,
        _: usize,
        found: *mut c_void,
    ) -> c_int {
        // SAFETY: the loader passes its description of a loaded module.
        unsafe {
            if imports(&*info) {
                *found.cast::<bool>() = true;
            }
        }
        0
    }
    let mut found = false;
    // SAFETY: `look` gets the address of `found`.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut found).cast()) };
    found
}

/// Nothing is mapped below.
const LOWEST: usize = 4096;
const DT_STRTAB: i64 = 5;
const DT_SYMTAB: i64 = 6;
const DT_HASH: i64 = 4;
const DT_GNU_HASH: i64 = 0x6fff_fef5;

/// # Safety
/// `info` describes a loaded module.
unsafe fn imports(info: &libc::dl_phdr_info) -> bool {
    // SAFETY: by the caller; the dynamic section ends with a null entry, and the loader has
    // turned its addresses into absolute ones.
    unsafe {
        let name = CStr::from_ptr(info.dlpi_name).to_bytes();
        if ["libmpi", "libmpich", "libcommsan"].iter().any(|own| contains(name, own.as_bytes())) {
            return false;
        }
        let headers = std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into());
        let Some(dynamic) = headers.iter().find(|header| header.p_type == libc::PT_DYNAMIC) else {
            return false;
        };
        let mut entry = (info.dlpi_addr + dynamic.p_vaddr) as *const [i64; 2];
        let (mut strings, mut symbols, mut hash) = (0, 0, 0usize);
        while (*entry)[0] != 0 {
            let value = (*entry)[1] as usize;
            match (*entry)[0] {
                DT_STRTAB => strings = value,
                DT_SYMTAB => symbols = value,
                // The second word of either is how many symbols there are, or how many come before
                // those that can be found by hash: among the latter are all imports.
                DT_HASH | DT_GNU_HASH => hash = value,
                _ => {}
            }
            entry = entry.add(1);
        }
        if [strings, symbols, hash].iter().any(|address| *address < LOWEST) {
            return false; // the kernel's own module is not relocated
        }
        let count = *(hash as *const u32).add(1) as usize;
        let table = std::slice::from_raw_parts(symbols as *const libc::Elf64_Sym, count);
        table.iter().filter(|symbol| symbol.st_shndx == 0).any(|symbol| {
            let name =
                CStr::from_ptr((strings as *const std::ffi::c_char).add(symbol.st_name as usize));
            let name = name.to_bytes().to_ascii_lowercase();
            name.starts_with(b"mpi_win_create") || name.starts_with(b"mpi_win_allocate")
        })
    }
}

fn contains(name: &[u8], part: &[u8]) -> bool {
    name.windows(part.len()).any(|window| window == part)
}
