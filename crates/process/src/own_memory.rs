//! The allocator of commsan's own memory in a rank: mapped apart from the program's heap, so that a
//! program that writes beyond its blocks does not damage what commsan needs to report it.
//!
//! The allocator is Doug Lea's, as the crate `dlmalloc` has it, on segments that are mapped with
//! inaccessible pages on both sides. It uses no thread-local storage and needs no constructor, so
//! that it works in a library that is loaded at any time. Segments grow with what is in use, so
//! that there are few. Large blocks are mapped each by itself: pages of theirs that are never
//! touched, as of tables, take no memory.
//!
//! The lock is the standard library's, which waits by system calls. One of `pthread_mutex_lock`
//! would count as the program's: that function is interposed, and orders threads.
//!
//! **Soundness.** A child of `fork` has one thread. If another one was within the allocator at that
//! moment, the child starts over with an empty heap and never frees what it has inherited. No
//! handler takes the lock before `fork`: handlers of others that run after it may allocate.

use dlmalloc::{Allocator, Dlmalloc};
use std::alloc::{GlobalAlloc, Layout};
use std::cell::UnsafeCell;
use std::ptr;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::{Mutex, PoisonError};

/// Inaccessible bytes on each side of a segment.
const GUARD: usize = 1 << 16;
/// Bytes of the smallest segment.
const LEAST: usize = 1 << 20;
/// Segments grow with what is mapped, up to this.
const MOST: usize = 1 << 26;
/// Bytes of the smallest block that is mapped by itself.
const LARGE: usize = 1 << 18;
/// The largest alignment that such a block may have: that of a page.
const PAGE: usize = 4096;

/// The allocator of a runtime: `#[global_allocator]`.
pub struct OwnMemory {
    /// Only replaced in a child of `fork`, which has one thread.
    heap: UnsafeCell<Mutex<Heap>>,
}

struct Heap {
    blocks: Dlmalloc<Segments>,
    /// Memory that was inherited in the middle of a change is never freed.
    starts_over: bool,
}

// SAFETY: a mutex may be shared, and is replaced where there is one thread.
unsafe impl Sync for OwnMemory {}

/// The allocator, once it is in use; for [`in_child`].
static IN_USE: AtomicUsize = AtomicUsize::new(0);

impl OwnMemory {
    /// Nothing is mapped yet.
    #[expect(clippy::new_without_default, reason = "for a static")]
    pub const fn new() -> OwnMemory {
        OwnMemory { heap: UnsafeCell::new(Mutex::new(Heap::new())) }
    }

    #[inline]
    fn with<T>(&self, f: impl FnOnce(&mut Heap) -> T) -> T {
        // SAFETY: nobody replaces it at the same time.
        let heap = unsafe { &*self.heap.get() };
        // Nothing in here allocates, and nothing panics.
        f(&mut heap.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn in_child(&self) {
        // SAFETY: the child has one thread, which is not within the allocator, as `fork` is not
        // called from there.
        unsafe {
            if (*self.heap.get()).try_lock().is_ok() {
                return;
            }
            self.heap.get().write(Mutex::new(Heap { starts_over: true, ..Heap::new() }));
        }
    }
}

impl Heap {
    const fn new() -> Heap {
        let blocks = Dlmalloc::new_with_allocator(Segments);
        Heap { blocks, starts_over: false }
    }
}

/// To be called first in a child of `fork` or `clone`.
pub fn in_child() {
    let own = IN_USE.load(Acquire) as *const OwnMemory;
    // SAFETY: a static, if there is one.
    if let Some(own) = unsafe { own.as_ref() } {
        own.in_child();
    }
}

/// Makes [`in_child`] known where there is no other way: to children of `fork`.
pub fn begin(own: &'static OwnMemory) {
    extern "C" fn forked() {
        in_child();
    }
    IN_USE.store(ptr::from_ref(own) as usize, Release);
    // SAFETY: the handler allocates nothing.
    unsafe { libc::pthread_atfork(None, None, Some(forked)) };
}

// SAFETY: `Dlmalloc` keeps the contract, and the lock makes it one thread's at a time; large blocks
// are mappings of their own, by their size alone.
unsafe impl GlobalAlloc for OwnMemory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_large(layout) {
            return map(layout.size());
        }
        // SAFETY: by the caller.
        self.with(|heap| unsafe { heap.blocks.malloc(layout.size(), layout.align()) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if is_large(layout) {
            return map(layout.size());
        }
        // SAFETY: by the caller.
        self.with(|heap| unsafe { heap.blocks.calloc(layout.size(), layout.align()) })
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if is_large(layout) {
            // SAFETY: mapped as such, by its size.
            unsafe { unmap(block, layout.size()) };
            return;
        }
        self.with(|heap| {
            if !heap.starts_over {
                // SAFETY: by the caller.
                unsafe { heap.blocks.free(block, layout.size(), layout.align()) }
            }
        });
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let (old, align) = (layout.size(), layout.align());
        // SAFETY: by the caller, the size is that of a layout.
        let new_layout = unsafe { Layout::from_size_align_unchecked(size, align) };
        let (was, is) = (is_large(layout), is_large(new_layout));
        if was && is && whole(old) == whole(size) {
            return block;
        }
        // SAFETY: a new block of the same alignment, and one that is still there.
        let moved = || unsafe {
            let new = self.alloc(new_layout);
            if !new.is_null() {
                ptr::copy_nonoverlapping(block, new, old.min(size));
                self.dealloc(block, layout);
            }
            new
        };
        if was || is {
            return moved();
        }
        self.with(|heap| {
            // SAFETY: by the caller.
            (!heap.starts_over).then(|| unsafe { heap.blocks.realloc(block, old, align, size) })
        })
        .unwrap_or_else(moved)
    }
}

/// Whether a block is mapped by itself.
fn is_large(layout: Layout) -> bool {
    layout.size() >= LARGE && layout.align() <= PAGE
}

/// Bytes of whole guards that have room for so many.
fn whole(size: usize) -> Option<usize> {
    size.checked_next_multiple_of(GUARD)
}

/// Maps so many bytes, all zero, between inaccessible pages; null if there is no room.
fn map(size: usize) -> *mut u8 {
    let Some(size) = whole(size) else { return ptr::null_mut() };
    let Some(all) = size.checked_add(2 * GUARD) else { return ptr::null_mut() };
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new mapping, whose middle is made accessible.
    unsafe {
        let base = libc::mmap(ptr::null_mut(), all, libc::PROT_NONE, flags, -1, 0);
        if base == libc::MAP_FAILED {
            return ptr::null_mut();
        }
        let start = base.byte_add(GUARD);
        if libc::mprotect(start, size, libc::PROT_READ | libc::PROT_WRITE) != 0 {
            libc::munmap(base, all);
            return ptr::null_mut();
        }
        start.cast()
    }
}

/// Unmaps what [`map`] has returned for this size, with the pages on both sides.
///
/// # Safety
///
/// Nobody uses it any more.
unsafe fn unmap(start: *mut u8, size: usize) -> bool {
    let Some(size) = whole(size) else { return false };
    // SAFETY: by the caller.
    unsafe { libc::munmap(start.sub(GUARD).cast(), size + 2 * GUARD) == 0 }
}

/// Segments of the heap.
struct Segments;

/// Bytes that all of them have.
static MAPPED: AtomicUsize = AtomicUsize::new(0);

/// Bytes that are mapped for the heap, whether or not they are in use.
pub fn mapped() -> usize {
    MAPPED.load(Relaxed)
}

// SAFETY: segments are mappings that nobody else uses.
unsafe impl Allocator for Segments {
    fn alloc(&self, size: usize) -> (*mut u8, usize, u32) {
        let size = size.max(LEAST).max((MAPPED.load(Relaxed) / 4).min(MOST));
        match (map(size), whole(size)) {
            (start, Some(size)) if !start.is_null() => {
                MAPPED.fetch_add(size, Relaxed);
                (start, size, 0)
            }
            _ => (ptr::null_mut(), 0, 0),
        }
    }

    fn remap(&self, _: *mut u8, _: usize, _: usize, _: bool) -> *mut u8 {
        ptr::null_mut() // blocks are moved instead
    }

    fn free_part(&self, _: *mut u8, _: usize, _: usize) -> bool {
        false // the pages behind would no longer lie behind it
    }

    fn free(&self, start: *mut u8, size: usize) -> bool {
        // SAFETY: a segment as a whole, which the heap no longer uses.
        let freed = unsafe { unmap(start, size) };
        if freed {
            MAPPED.fetch_sub(size, Relaxed);
        }
        freed
    }

    fn can_release_part(&self, _: u32) -> bool {
        true
    }

    fn allocates_zeros(&self) -> bool {
        true
    }

    fn page_size(&self) -> usize {
        PAGE
    }
}

#[cfg(test)]
mod tests;
