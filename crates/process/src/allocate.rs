//! Allocation interceptors: `malloc` and its family, C++'s `operator new`.
//!
//! They are interposed for the whole process, and cost a load and a comparison while there is no
//! observer. Large blocks are always reported. Of small blocks, the first of each call site are
//! reported, and more as long as these turn out to matter: memory that is sent is allocated early
//! and seldom, or each time that it is sent. A block that `operator new` gets from `malloc` is
//! reported twice, the second time with the program's own call site.

use crate::next::Next;
use crate::stack::Caller;
use crate::{caller, heap};
use std::ffi::{c_int, c_void};
use std::ops::Range;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicUsize, Ordering};

/// Callbacks of the observer of allocations.
#[derive(Clone, Copy, Debug)]
pub struct Allocations {
    /// A block was allocated. Returns whether more small blocks of this call site are wanted.
    pub made: fn(by: &'static str, bytes: Range<usize>, caller: Caller) -> bool,
    /// A block is about to be freed.
    pub gone: fn(address: usize),
}

static OBSERVER: OnceLock<Allocations> = OnceLock::new();

/// Allocations of at least this many bytes are always reported.
static FROM: AtomicUsize = AtomicUsize::new(usize::MAX);

/// Number of small blocks reported for each call site.
pub const EARLY: u16 = 1024;

/// Of one call site, the reported blocks that the observer did not want.
struct Site {
    /// Return address of the allocator's call; 0 where the entry is free.
    pc: AtomicUsize,
    unwanted: AtomicU16,
}

const ENTRIES: usize = 1 << 13;

/// A hash table of call sites with linear probing. An entry keeps its site for good, so that a
/// site which allocates often takes nothing from another one.
struct Sites([Site; ENTRIES]);

static SITES: Sites = Sites::new();

/// Entries that a look-up visits. A site that finds all of them taken shares the last.
const PROBES: usize = 32;

impl Sites {
    const fn new() -> Self {
        Self([const { Site { pc: AtomicUsize::new(0), unwanted: AtomicU16::new(0) } }; ENTRIES])
    }

    /// The entry of the site with return address `pc`.
    #[inline]
    fn of(&self, pc: usize) -> &Site {
        // Fibonacci hashing (Knuth, vol. 3, §6.4).
        const GOLDEN: usize = 0x9e37_79b9_7f4a_7c15;
        let first = pc.wrapping_mul(GOLDEN) >> (usize::BITS - ENTRIES.trailing_zeros());
        let entry = &self.0[first];
        if entry.pc.load(Ordering::Relaxed) == pc { entry } else { self.probe(first, pc) }
    }

    /// The entry of a site that is new, or is not where its look-up begins.
    #[cold]
    fn probe(&self, first: usize, pc: usize) -> &Site {
        let at = |step| &self.0[(first + step) % ENTRIES];
        let order = Ordering::Relaxed;
        let is_its_own = |entry: &&Site| {
            let found = entry.pc.compare_exchange(0, pc, order, order);
            found.is_ok() || found == Err(pc)
        };
        (0..PROBES).map(at).find(is_its_own).unwrap_or_else(|| at(PROBES - 1))
    }
}

/// Starts to report allocations of `from` bytes or more, and the first smaller ones, to `observer`.
pub fn observe(observer: Allocations, from: usize) {
    if OBSERVER.set(observer).is_ok() {
        FROM.store(from.max(1), Ordering::Release);
    }
}

/// Whether an allocation of this size, called from `pc`, is reported.
#[inline]
pub(crate) fn is_reported(size: usize, pc: usize) -> bool {
    let from = FROM.load(Ordering::Relaxed);
    size >= from || from != usize::MAX && is_early(pc)
}

#[inline]
fn is_early(pc: usize) -> bool {
    let unwanted = &SITES.of(pc).unwanted;
    let reported = unwanted.load(Ordering::Relaxed);
    // A race between threads may report a few more.
    reported < EARLY && {
        unwanted.store(reported + 1, Ordering::Relaxed);
        true
    }
}

/// Enters an allocated block into the heap map and reports it.
#[cold]
pub(crate) fn made(by: &'static str, address: *mut c_void, size: usize, caller: Caller) {
    if let Some(observer) = OBSERVER.get()
        && !address.is_null()
    {
        let matters = (observer.made)(by, address as usize..address as usize + size, caller);
        heap::mark_reported(address as usize);
        if matters && size < FROM.load(Ordering::Relaxed) {
            let unwanted = &SITES.of(caller.pc).unwanted;
            unwanted.store(unwanted.load(Ordering::Relaxed).saturating_sub(1), Ordering::Relaxed);
        }
    }
}

/// Removes a block that is about to be freed from the heap map and reports it.
#[inline]
pub(crate) fn gone(address: *mut c_void) {
    let was_told = heap::remove(address as usize);
    let from = FROM.load(Ordering::Relaxed);
    if from == usize::MAX || address.is_null() || was_told == Some(false) {
        return;
    }
    // SAFETY: the program passes a pointer it may free.
    let is_large = || unsafe { libc::malloc_usable_size(address) } >= from;
    if (was_told.is_some() || is_large())
        && let Some(observer) = OBSERVER.get()
    {
        (observer.gone)(address as usize);
    }
}

/// Blocks of at least this many bytes get pages of their own.
static ISOLATED_FROM: AtomicUsize = AtomicUsize::new(usize::MAX);

const PAGE: usize = commsan_guards::PAGE;

/// From now on blocks of at least `from` bytes get pages that nothing else is on, so that
/// these can be closed; 0 for none.
pub fn isolate(from: usize) {
    if from > 0 {
        ISOLATED_FROM.store(from, Ordering::Relaxed);
    }
}

/// Whether a block of this size gets pages of its own.
#[inline]
pub(crate) fn is_isolated(size: usize) -> bool {
    size >= ISOLATED_FROM.load(Ordering::Relaxed)
}

/// Where the memory that an allocated block has to itself ends: with its last page if all its pages
/// are its own, else with the block. The block must not be freed meanwhile.
pub fn end_of(block: &Range<usize>) -> usize {
    let end = block.start + whole_pages(block.len());
    let has_pages = || {
        // SAFETY: the beginning of a block that is allocated.
        let usable = unsafe { libc::malloc_usable_size(block.start as *mut c_void) };
        block.start + usable >= end
    };
    let is_own = is_isolated(block.len()) && block.start.is_multiple_of(PAGE) && has_pages();
    if is_own { end } else { block.end }
}

/// Whether a block with pages of its own, or null, has room for so many bytes and not much more.
pub(crate) fn fits(address: *mut c_void, size: usize) -> bool {
    if address.is_null() || !(address as usize).is_multiple_of(PAGE) {
        return false;
    }
    // SAFETY: the program's block.
    let usable = unsafe { libc::malloc_usable_size(address) };
    (whole_pages(size)..2 * whole_pages(size)).contains(&usable)
}

/// The size of the pages that hold so many bytes; as it is if there are none so large.
#[inline]
fn whole_pages(size: usize) -> usize {
    size.checked_next_multiple_of(PAGE).unwrap_or(size)
}

/// A new block with pages of its own, for a power of two as the alignment; null if one of this size
/// gets none, or cannot.
#[inline]
pub(crate) fn isolated(alignment: usize, size: usize) -> *mut c_void {
    match is_isolated(size) && size <= isize::MAX as usize && alignment.is_power_of_two() {
        true => allocate_isolated(alignment, size),
        false => ptr::null_mut(),
    }
}

/// Allocates a block with pages of its own. What the C library keeps of it lies before and behind
/// these. Returns null if there is no memory, or no function that can do it.
#[cold]
fn allocate_isolated(alignment: usize, size: usize) -> *mut c_void {
    static NEXT: Next = Next::new(c"memalign");
    static IS_LOOKING: AtomicBool = AtomicBool::new(false);
    type Memalign = unsafe extern "C" fn(usize, usize) -> *mut c_void;
    let Some(next) = next(&NEXT, &IS_LOOKING) else { return ptr::null_mut() };
    // SAFETY: the C library's function; the alignment is a power of two.
    unsafe {
        std::mem::transmute::<*mut c_void, Memalign>(next)(alignment.max(PAGE), whole_pages(size))
    }
}

unsafe extern "C" {
    fn __libc_malloc(size: usize) -> *mut c_void;
    fn __libc_calloc(count: usize, size: usize) -> *mut c_void;
}

/// The next definition of an allocator; `None` while the lookup, which may allocate, is running.
#[inline]
fn next(next: &Next, is_looking: &AtomicBool) -> Option<*mut c_void> {
    if let Some(found) = next.known() {
        return Some(found);
    }
    if is_looking.swap(true, Ordering::Acquire) {
        return None;
    }
    let found = next.get();
    is_looking.store(false, Ordering::Release);
    Some(found).filter(|found| !found.is_null())
}

static IS_LOOKING: AtomicBool = AtomicBool::new(false);

/// Interposes `malloc`.
///
/// # Safety
/// The contract of C's `malloc`.
#[unsafe(no_mangle)]
#[inline(never)]
pub unsafe extern "C" fn malloc(size: usize) -> *mut c_void {
    static NEXT: Next = Next::new(c"malloc");
    type Malloc = unsafe extern "C" fn(usize) -> *mut c_void;
    let mut address = isolated(PAGE, size);
    if address.is_null() {
        // SAFETY: the C library's functions, with the program's argument.
        address = unsafe {
            match next(&NEXT, &IS_LOOKING) {
                Some(next) => std::mem::transmute::<*mut c_void, Malloc>(next)(size),
                None => __libc_malloc(size),
            }
        };
    }
    let caller = caller!();
    heap::insert(address as usize, size, caller.pc);
    if is_reported(size, caller.pc) {
        made("malloc", address, size, caller);
    }
    address
}

/// Interposes `calloc`.
///
/// # Safety
/// The contract of C's `calloc`.
#[unsafe(no_mangle)]
#[inline(never)]
pub unsafe extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    static NEXT: Next = Next::new(c"calloc");
    type Calloc = unsafe extern "C" fn(usize, usize) -> *mut c_void;
    let all = count.saturating_mul(size);
    let mut address = isolated(PAGE, all);
    // SAFETY: as in `malloc`; of a block of its own, so many bytes were allocated.
    unsafe {
        if !address.is_null() {
            ptr::write_bytes(address.cast::<u8>(), 0, all);
        } else {
            address = match next(&NEXT, &IS_LOOKING) {
                Some(next) => std::mem::transmute::<*mut c_void, Calloc>(next)(count, size),
                None => __libc_calloc(count, size),
            };
        }
    }
    let size = all;
    let caller = caller!();
    heap::insert(address as usize, size, caller.pc);
    if is_reported(size, caller.pc) {
        made("calloc", address, size, caller);
    }
    address
}

/// Interposes `aligned_alloc`.
///
/// # Safety
/// The contract of C's `aligned_alloc`.
#[unsafe(no_mangle)]
#[inline(never)]
pub unsafe extern "C" fn aligned_alloc(alignment: usize, size: usize) -> *mut c_void {
    static NEXT: Next = Next::new(c"aligned_alloc");
    type AlignedAlloc = unsafe extern "C" fn(usize, usize) -> *mut c_void;
    let mut address = isolated(alignment, size);
    if address.is_null() {
        // SAFETY: as in `malloc`.
        address = unsafe {
            std::mem::transmute::<*mut c_void, AlignedAlloc>(NEXT.required())(alignment, size)
        };
    }
    let caller = caller!();
    heap::insert(address as usize, size, caller.pc);
    if is_reported(size, caller.pc) {
        made("aligned_alloc", address, size, caller);
    }
    address
}

/// Interposes `posix_memalign`.
///
/// # Safety
/// The contract of `posix_memalign`.
#[unsafe(no_mangle)]
#[inline(never)]
pub unsafe extern "C" fn posix_memalign(
    pointer: *mut *mut c_void,
    alignment: usize,
    size: usize,
) -> c_int {
    static NEXT: Next = Next::new(c"posix_memalign");
    type PosixMemalign = unsafe extern "C" fn(*mut *mut c_void, usize, usize) -> c_int;
    let own = match alignment.is_multiple_of(size_of::<usize>()) {
        true => isolated(alignment, size),
        false => ptr::null_mut(),
    };
    // SAFETY: as in `malloc`; the program's variable for the address.
    let code = unsafe {
        if !own.is_null() {
            *pointer = own;
            0
        } else {
            let next = std::mem::transmute::<*mut c_void, PosixMemalign>(NEXT.required());
            next(pointer, alignment, size)
        }
    };
    if code == 0 {
        // SAFETY: the call succeeded and stored the address.
        let address = unsafe { *pointer };
        let caller = caller!();
        heap::insert(address as usize, size, caller.pc);
        if is_reported(size, caller.pc) {
            made("posix_memalign", address, size, caller);
        }
    }
    code
}

/// The functions behind C++'s `new`, by their mangled names. Exceptions that they throw pass
/// through.
macro_rules! operators {
    ($($function:ident ($($more:ident),*) = $by:literal;)*) => {$(
        /// Interposes an `operator new`.
        ///
        /// # Safety
        /// The contract of the C++ allocation function with this mangled name.
        #[allow(non_snake_case, reason = "a mangled name")]
        #[unsafe(no_mangle)]
        #[inline(never)]
        pub unsafe extern "C-unwind" fn $function(size: usize $(, $more: usize)*) -> *mut c_void {
            static NEXT: Next = Next::new({
                const NAME: &str = concat!(stringify!($function), "\0");
                match std::ffi::CStr::from_bytes_with_nul(NAME.as_bytes()) {
                    Ok(name) => name,
                    Err(_) => panic!("no C string"),
                }
            });
            type New = unsafe extern "C-unwind" fn(usize $(, operators!(@word $more))*) -> *mut c_void;
            let caller = caller!();
            // SAFETY: the C++ library's function, with the program's arguments.
            let address = unsafe {
                std::mem::transmute::<*mut c_void, New>(NEXT.required_by(caller.pc))(size $(, $more)*)
            };
            heap::allocated_for(address as usize, caller.pc);
            if is_reported(size, caller.pc) {
                made($by, address, size, caller);
            }
            address
        }
    )*};
    (@word $more:ident) => { usize };
}

operators! {
    _Znwm() = "new";
    _Znam() = "new[]";
    _ZnwmRKSt9nothrow_t(nothrow) = "new";
    _ZnamRKSt9nothrow_t(nothrow) = "new[]";
    _ZnwmSt11align_val_t(alignment) = "new";
    _ZnamSt11align_val_t(alignment) = "new[]";
    _ZnwmSt11align_val_tRKSt9nothrow_t(alignment, nothrow) = "new";
    _ZnamSt11align_val_tRKSt9nothrow_t(alignment, nothrow) = "new[]";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frequent_site_takes_nothing_from_others() {
        let table = Sites::new();
        // So many that some share their first entry.
        let sites = (1..=ENTRIES / 4).map(|each| 0x7000_0000_0000 + 19 * each * each);
        for (turn, pc) in sites.clone().enumerate() {
            table.of(pc).unwanted.store(turn as u16, Ordering::Relaxed);
        }
        for (turn, pc) in sites.enumerate() {
            assert_eq!(table.of(pc).unwanted.load(Ordering::Relaxed), turn as u16, "{pc:#x}");
        }
    }

    #[test]
    fn more_sites_than_entries_find_a_place() {
        let table = Sites::new();
        for pc in 1..=2 * ENTRIES {
            table.of(pc).unwanted.fetch_add(1, Ordering::Relaxed);
        }
        let counted = |site: &Site| usize::from(site.unwanted.load(Ordering::Relaxed));
        assert_eq!(table.0.iter().map(counted).sum::<usize>(), 2 * ENTRIES);
    }
}
