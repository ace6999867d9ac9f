//! Small numbers for threads, and the bounds of their stacks.

use std::cell::Cell;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

thread_local! {
    static NUMBER: Cell<u32> = const { Cell::new(u32::MAX) };
    static STACK: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

static NEXT: AtomicU32 = AtomicU32::new(0);

/// Number of this thread, in the order in which threads first came here.
pub fn number() -> u32 {
    let known = NUMBER.try_with(Cell::get).unwrap_or(u32::MAX - 1);
    if known != u32::MAX {
        return known;
    }
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let _ = NUMBER.try_with(|cell| cell.set(number));
    number
}

/// This thread's stack; empty if the system does not say.
pub fn stack_bounds() -> Range<usize> {
    let (low, high) = STACK.try_with(Cell::get).unwrap_or((0, 0));
    if high != 0 {
        return low..high;
    }
    let found = ask().unwrap_or(0..1);
    let _ = STACK.try_with(|cell| cell.set((found.start, found.end)));
    found
}

fn ask() -> Option<Range<usize>> {
    let mut attr = std::mem::MaybeUninit::<libc::pthread_attr_t>::uninit();
    let (mut base, mut size) = (std::ptr::null_mut(), 0);
    // SAFETY: the attribute object is initialised by the first call before the others use it.
    unsafe {
        if libc::pthread_getattr_np(libc::pthread_self(), attr.as_mut_ptr()) != 0 {
            return None;
        }
        let failed = libc::pthread_attr_getstack(attr.as_ptr(), &mut base, &mut size);
        libc::pthread_attr_destroy(attr.as_mut_ptr());
        (failed == 0).then_some(base as usize..base as usize + size)
    }
}
