//! The shadow-memory ABI between compiled-in hooks and the runtime; see `hooks/commsan_abi.h`.

use crate::{heap, memory};
use commsan_shadow::{
    CELLS, GRANULE_WORDS, PAGE_SHIFT, Pages, Place, RECENT, Shadow, ShadowHeader,
};
use std::ffi::{c_char, c_void};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, Ordering};

const MAGIC: u64 = 0x3149_4241_5343_4d43;
const VERSION: u32 = 7;
const BASE: usize = 0x1000_0000_0000;
const HEADER: usize = 4096;
const SLOTS: usize = 1 << 26;
const PAGE: usize = 1 << PAGE_SHIFT;

const _: () = assert!(PAGE_SHIFT == 12, "hooks hash pages of 4 KiB");

/// The page before the page filter. Fields as in the C header.
#[repr(C)]
pub struct Abi {
    magic: AtomicU64,
    version: AtomicU32,
    /// Number of instrumented modules that have been initialised.
    pub hooked: AtomicU32,
    /// Number of live ranges.
    pub live: AtomicU64,
    /// Number of operations with a buffer on a thread's stack.
    pub stack_live: AtomicU64,
    access: AtomicPtr<c_void>,
    leave: AtomicPtr<c_void>,
    /// Granule bits, for the hooks' second level.
    granules: AtomicPtr<c_void>,
    /// Shadow memory of exposed pages, see [`Shadow`]: cells by slot, places, recent places.
    cells: AtomicPtr<c_void>,
    places: AtomicPtr<c_void>,
    recent: AtomicPtr<c_void>,
    shadow: ShadowHeader,
    synchronise: AtomicPtr<c_void>,
    /// Offset of each thread's stamp, its agent and epoch, from the thread pointer.
    pub stamp: AtomicU64,
    /// Number of threads and parallel regions beside the initial thread; bit 32 says whether there
    /// are windows that other ranks access with loads and stores.
    pub parallel: AtomicU64,
    changed: AtomicPtr<AtomicBool>,
    block: AtomicPtr<c_void>,
}

/// Called for an access that passes the page filter.
pub type AccessHook = unsafe extern "C" fn(
    addr: usize,
    size: usize,
    write: i32,
    by: *const c_char,
    pc: *const c_void,
    frame: *const c_void,
);

/// Called when the program accesses memory atomically at `addr` (0 for a fence) while there are
/// several threads or shared windows. Of `kind`, bit 0 means acquire, bit 1 release, bit 2 a write
/// to a volatile variable; bits 4 and 5 that a section begins, or none is left for this thread.
pub type SynchroniseHook = unsafe extern "C" fn(addr: usize, kind: i32);

/// Called when a function returns while a buffer on some stack is pending.
pub type LeaveHook = unsafe extern "C" fn(pc: *const c_void, frame: *const c_void);

/// Why the shared memory could not be mapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapError {
    /// The fixed address is occupied by a foreign mapping.
    Occupied,
    /// Hooks of another version of commsan have mapped it first.
    Version(u32),
    /// The system refuses the reservation; the value is `errno`.
    Refused(i32),
}

/// The shared page; valid once [`map`] has returned `Ok`.
pub fn abi() -> &'static Abi {
    // SAFETY: `map` has established the mapping, which is never undone; all fields are atomics.
    unsafe { &*((BASE - HEADER) as *const Abi) }
}

/// Maps header and filter unless hooks of this process have done so already.
pub fn map() -> Result<(), MapError> {
    let flags =
        libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE;
    let wanted = (BASE - HEADER) as *mut c_void;
    // SAFETY: MAP_FIXED_NOREPLACE never replaces an existing mapping.
    let got = unsafe {
        libc::mmap(wanted, HEADER + SLOTS, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0)
    };
    if got == wanted {
        // SAFETY: the whole range was just mapped. Core dumps need not hold the filter.
        unsafe { libc::madvise(wanted, HEADER + SLOTS, libc::MADV_DONTDUMP) };
        abi().version.store(VERSION, Ordering::Relaxed);
        abi().magic.store(MAGIC, Ordering::Release);
        return Ok(());
    }
    if got != libc::MAP_FAILED {
        // Kernels before 4.17 treat the address as a hint.
        // SAFETY: unmaps what was just mapped.
        unsafe { libc::munmap(got, HEADER + SLOTS) };
        return Err(MapError::Occupied);
    }
    match std::io::Error::last_os_error().raw_os_error() {
        // SAFETY: EEXIST says that the page is mapped; the magic number identifies the owner.
        // Reading a page without read permission would be fatal, so the kernel reads it for us.
        Some(libc::EEXIST) if unsafe { is_ours() } => match abi().version.load(Ordering::Relaxed) {
            VERSION => Ok(()),
            other => Err(MapError::Version(other)),
        },
        Some(libc::EEXIST) => Err(MapError::Occupied),
        other => Err(MapError::Refused(other.unwrap_or(0))),
    }
}

/// Whether the page at the fixed address carries the magic number.
unsafe fn is_ours() -> bool {
    let mut magic = [0; 8];
    if memory::read(BASE - HEADER, &mut magic) == magic.len() {
        return u64::from_ne_bytes(magic) == MAGIC;
    }
    // Containers may forbid the call; then our own hooks are the only plausible owner.
    abi().magic.load(Ordering::Acquire) == MAGIC
}

/// Whether hooks may note accesses to exposed pages.
#[inline]
pub fn notes_accesses() -> bool {
    !abi().cells.load(Ordering::Relaxed).is_null()
}

/// Called for the block of heap that holds an address, before a loop that accesses it: returns
/// where it begins and sets its size in bytes, to 0 if it is not known.
unsafe extern "C" fn block(address: usize, size: *mut usize) -> usize {
    let block = heap::block_of(address).unwrap_or_default();
    // SAFETY: the hook's own variable.
    unsafe { *size = block.len() };
    block.start
}

/// Registers the functions that the hooks call.
pub fn connect(access: AccessHook, leave: LeaveHook, synchronise: SynchroniseHook) {
    abi().synchronise.store(synchronise as *mut c_void, Ordering::Release);
    abi().block.store(block as *mut c_void, Ordering::Release);
    abi().leave.store(leave as *mut c_void, Ordering::Release);
    abi().access.store(access as *mut c_void, Ordering::Release);
}

/// The page filter over the shared bytes, with private tables beside it.
///
/// The granule table reserves 8 GiB of address space, nearly all of it never touched; without that
/// much the filter works, but more slowly beside pending buffers.
pub fn pages() -> Result<Pages, MapError> {
    if let Some(limit) = address_space_limit()
        && limit < MIN_ADDRESS_SPACE
    {
        return Err(MapError::Refused(libc::ENOMEM));
    }
    // SAFETY: `map` established the filter; nobody writes it but through these atomics.
    let filter = unsafe { std::slice::from_raw_parts(BASE as *const AtomicU8, SLOTS) };
    let counts = reserve::<AtomicU64>(SLOTS)?;
    let granules = reserve::<[AtomicU64; GRANULE_WORDS]>(SLOTS).ok();
    if let Some(granules) = granules {
        abi().granules.store(granules.as_ptr().cast_mut().cast(), Ordering::Release);
    }
    Ok(Pages::new(filter, counts, granules))
}

/// How many pages the filter marks: those in which something may be pending, and those that are
/// exposed. Only parts of the filter that were ever written are looked at.
pub fn marked() -> (u64, u64) {
    const EXPOSED: u8 = 16;
    let mut resident = vec![0u8; SLOTS / PAGE];
    // SAFETY: the filter is mapped, and the vector has a byte for each of its pages.
    if unsafe { libc::mincore(BASE as *mut c_void, SLOTS, resident.as_mut_ptr()) } != 0 {
        return (0, 0);
    }
    let (mut pending, mut exposed) = (0, 0);
    let written = resident.iter().enumerate().filter(|(_, page)| **page & 1 != 0);
    for at in written.flat_map(|(page, _)| page * PAGE..(page + 1) * PAGE) {
        // SAFETY: a byte of the filter, which is only accessed atomically.
        let marks = unsafe { &*((BASE + at) as *const AtomicU8) }.load(Ordering::Relaxed);
        pending += u64::from(marks & !EXPOSED != 0);
        exposed += u64::from(marks & EXPOSED != 0);
    }
    (pending, exposed)
}

/// Number of places in the shadow of window memory, in two halves.
const PLACES: usize = 1 << 22;

/// The shadow memory in which hooks record accesses to exposed pages. It reserves 256 GiB of
/// address space; `None` if that is unavailable.
pub fn shadow() -> Option<Shadow> {
    let limited = address_space_limit().is_some();
    let cells = reserve::<[AtomicU32; CELLS]>(SLOTS).ok().filter(|_| !limited)?;
    let (places, recent) = (reserve::<Place>(PLACES).ok()?, reserve::<AtomicU32>(RECENT).ok()?);
    let changed = reserve::<AtomicBool>(Shadow::marks(SLOTS)).ok()?;
    let abi = abi();
    let mut shadow = Shadow::new(&abi.shadow, cells, places, recent);
    shadow.mark_changes(changed);
    abi.places.store(places.as_ptr().cast_mut().cast(), Ordering::Release);
    abi.recent.store(recent.as_ptr().cast_mut().cast(), Ordering::Release);
    abi.cells.store(cells.as_ptr().cast_mut().cast(), Ordering::Release);
    Some(shadow)
}

/// Sets whether several ranks load from and store to window memory; if so, hooks also report which
/// exposed pages change and what is accessed atomically.
pub fn share_windows(shadow: &Shadow, share: bool) {
    const SHARED: u64 = 1 << 32;
    let abi = abi();
    let changed = if share { shadow.changes().as_ptr().cast_mut() } else { std::ptr::null_mut() };
    abi.changed.store(changed, Ordering::Release);
    match share {
        true => abi.parallel.fetch_or(SHARED, Ordering::Relaxed),
        false => abi.parallel.fetch_and(!SHARED, Ordering::Relaxed),
    };
}

/// Whether several ranks load from and store to window memory.
pub fn shares_windows() -> bool {
    abi().parallel.load(Ordering::Relaxed) >> 32 != 0
}

/// Under a smaller limit, in bytes, the tables would leave the program too little address space.
const MIN_ADDRESS_SPACE: u64 = 3 << 29;

/// The limit on address space (`ulimit -v`) in bytes, if there is one.
fn address_space_limit() -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: writes into the structure.
    let known = unsafe { libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) } == 0;
    (known && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}

/// Zeroed memory for `count` values of `T`, which must be valid when all zero.
fn reserve<T>(count: usize) -> Result<&'static [T], MapError> {
    let size = count * size_of::<T>();
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new anonymous mapping, private to this module.
    let got = unsafe {
        libc::mmap(std::ptr::null_mut(), size, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0)
    };
    if got == libc::MAP_FAILED {
        let error = std::io::Error::last_os_error();
        return Err(MapError::Refused(error.raw_os_error().unwrap_or(0)));
    }
    // SAFETY: the mapping is zeroed, page-aligned, of this size, and never unmapped; only
    // atomics are stored in it. Huge pages would make sparse marks cost 2 MiB each.
    unsafe {
        libc::madvise(got, size, libc::MADV_DONTDUMP);
        libc::madvise(got, size, libc::MADV_NOHUGEPAGE);
        Ok(std::slice::from_raw_parts(got.cast::<T>(), count))
    }
}
