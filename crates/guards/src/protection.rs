//! Write protection of pages (mprotect(2)), where memory has no protection keys: what guards use
//! then, for buffers that pending operations read.
//!
//! It is one and the same for all threads, and for the system. MPI writes to no buffer of a pending
//! operation that only reads it, nor does the system or another process for it, so that there is
//! nothing to take back when the library works. An adapter that registers memory may ask for the
//! right to write to it: where there is one ([`has_adapter`]), nothing is protected.
//!
//! **Soundness.** The runs that are protected are known without a lock, so that a fault within the
//! library, or a call of commsan's, can be told from one of the program's own, and undone.

use crate::table::MAX_ENTRIES;
use crate::{PAGE, Rights};
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicUsize};

static IS_ON: AtomicBool = AtomicBool::new(false);

/// The protected runs: start and end of each, both 0 where there is none. Only who holds the lock
/// of the guards changes them. Opening a part of a run takes a second place.
static RUNS: [[AtomicUsize; 2]; 2 * MAX_ENTRIES] =
    [const { [const { AtomicUsize::new(0) }; 2] }; 2 * MAX_ENTRIES];

/// The places of [`RUNS`] from here on have never been taken.
static TAKEN: AtomicUsize = AtomicUsize::new(0);

/// The places that may hold runs.
fn runs() -> &'static [[AtomicUsize; 2]] {
    &RUNS[..TAKEN.load(Acquire)]
}

/// From now on pages are protected.
pub fn begin() {
    IS_ON.store(true, Relaxed);
}

/// Whether pages are protected.
#[inline]
pub fn is_on() -> bool {
    IS_ON.load(Relaxed)
}

/// Whether this machine has an adapter, or a driver, that registers or attaches memory with the
/// right to write to it.
pub fn has_adapter() -> bool {
    let devices = ["infiniband", "xpmem", "knem", "hfi1_0", "cxi0", "gdrdrv", "myri0"];
    devices.iter().any(|device| Path::new("/dev").join(device).exists())
}

/// Leaves the program so much of pages that can be read and written otherwise. Returns whether that
/// was possible.
pub fn give(pages: Range<usize>, rights: Rights) -> bool {
    match rights {
        Rights::None => false,
        Rights::Read => {
            if !enter(&pages) {
                return false;
            }
            let is_done = protect(&pages, libc::PROT_READ);
            if !is_done {
                leave(&pages);
            }
            is_done
        }
        Rights::All => {
            let is_done = open(&pages);
            leave(&pages);
            is_done
        }
    }
}

/// Enters a run.
fn enter(pages: &Range<usize>) -> bool {
    let free = RUNS.iter().position(|[_, end]| end.load(Relaxed) == 0);
    let Some(place) = free else { return false };
    let [start, end] = &RUNS[place];
    start.store(pages.start, Relaxed);
    end.store(pages.end, Release);
    TAKEN.fetch_max(place + 1, Release);
    true
}

/// Takes pages out of the runs that hold them.
fn leave(pages: &Range<usize>) {
    for [start, end] in runs() {
        let run = start.load(Relaxed)..end.load(Relaxed);
        if run.start >= pages.end || run.end <= pages.start {
            continue;
        }
        end.store(0, Release);
        for rest in [run.start..pages.start, pages.end..run.end] {
            if rest.start < rest.end && !enter(&rest) {
                protect(&rest, libc::PROT_READ | libc::PROT_WRITE);
            }
        }
    }
}

/// Whether the page at an address is protected.
pub fn holds(address: usize) -> bool {
    runs().iter().any(|[start, end]| address < end.load(Acquire) && address >= start.load(Relaxed))
}

/// Opens what of these bytes is protected, without a lock. The runs are known as before: who holds
/// the lock opens them again.
pub fn open(bytes: &Range<usize>) -> bool {
    let mut is_done = true;
    for [start, end] in runs() {
        let end = end.load(Acquire);
        let first = start.load(Relaxed).max(bytes.start & !(PAGE - 1));
        let last = end.min(bytes.end.next_multiple_of(PAGE));
        if first < last {
            is_done &= protect(&(first..last), libc::PROT_READ | libc::PROT_WRITE);
        }
    }
    is_done
}

/// Opens all that is protected, without a lock.
pub fn open_all() {
    if is_on() {
        open(&(0..usize::MAX & !(PAGE - 1)));
    }
}

fn protect(pages: &Range<usize>, access: i32) -> bool {
    // SAFETY: memory that the program may read and write; who stores to it meanwhile comes to the
    // handler of faults. Not by `mprotect`, which is observed.
    unsafe { libc::syscall(libc::SYS_mprotect, pages.start, pages.len(), access) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_divided_and_opened() {
        let size = 4 * PAGE;
        // SAFETY: new memory of its own.
        let memory = unsafe {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            libc::mmap(std::ptr::null_mut(), size, access, kind, -1, 0)
        };
        assert_ne!(memory, libc::MAP_FAILED);
        let at = memory as usize;
        // SAFETY: the memory that was mapped.
        let store = |page: usize| unsafe { *((at + page * PAGE) as *mut u8) = 1 };
        let held = || std::array::from_fn(|page| holds(at + page * PAGE + 7));
        assert!(!give(at..at + PAGE, Rights::None));
        assert!(give(at..at + size, Rights::Read));
        assert_eq!(held(), [true; 4]);
        assert!(give(at + PAGE..at + 2 * PAGE, Rights::All));
        assert_eq!(held(), [true, false, true, true]);
        store(1);
        // Without the lock: open, but known.
        assert!(open(&(at + 2 * PAGE + 5..at + 2 * PAGE + 6)));
        store(2);
        assert_eq!(held(), [true, false, true, true]);
        assert!(give(at..at + size, Rights::All));
        assert_eq!(held(), [false; 4]);
        (0..4).for_each(store);
        // SAFETY: nothing uses it any more.
        unsafe { libc::munmap(memory, size) };
    }
}
