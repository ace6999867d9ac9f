//! Protection keys of memory (pkeys(7)): the two that guards use, and this thread's rights to them.
//!
//! **Soundness.** A thread that was created before the keys were taken, and any signal handler, has
//! no rights to pages with keys at first: where it faults, it gets those of every other
//! thread. Keys that the program uses itself keep their rights.

use crate::Rights;
use commsan_machine::{has_protection_keys, key_rights, set_key_rights};
use std::ffi::c_int;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

/// Set for a key whose memory must not be accessed; beside it, for one whose memory must not be
/// written.
const NO_ACCESS: u32 = 1;
const NO_WRITE: u32 = 2;

/// The key of pages that may be read, and that of closed ones; 0 until they are taken.
static READ: AtomicU32 = AtomicU32::new(0);
static NONE: AtomicU32 = AtomicU32::new(0);

/// Why no pages of receive buffers are closed, or none at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unavailable {
    /// The processor has no protection keys, or the system does not use them.
    Unsupported,
    /// The program uses all of them.
    Taken,
    /// Write protection was asked for.
    Unwanted,
}

/// Takes the keys; the calling thread gets the rights of the program.
///
/// # Errors
/// There are none.
pub fn acquire() -> Result<(), Unavailable> {
    if !has_protection_keys() {
        return Err(Unavailable::Unsupported);
    }
    let (read, none) = (allocate(NO_WRITE)?, allocate(NO_ACCESS)?);
    READ.store(read, Relaxed);
    NONE.store(none, Relaxed);
    Ok(())
}

fn allocate(rights: u32) -> Result<u32, Unavailable> {
    // SAFETY: a system call that takes a key nobody has, and sets this thread's rights to it.
    match unsafe { libc::syscall(libc::SYS_pkey_alloc, 0, rights) } {
        key @ 1..16 => Ok(key as u32),
        _ => match std::io::Error::last_os_error().raw_os_error() {
            Some(libc::ENOSPC) => Err(Unavailable::Taken),
            _ => Err(Unavailable::Unsupported),
        },
    }
}

/// Gives the keys back: no page has one.
pub fn give_up() {
    for key in [&READ, &NONE] {
        match key.swap(0, Relaxed) {
            0 => {}
            // SAFETY: a key of this process's.
            taken => drop(unsafe { libc::syscall(libc::SYS_pkey_free, taken) }),
        }
    }
}

/// Whether the keys were taken, and not given back.
#[inline]
pub fn are_taken() -> bool {
    READ.load(Relaxed) != 0
}

/// Whether a key is one of the two, and if so whether its pages may be read.
pub fn is_own(key: u32) -> Option<bool> {
    match key {
        0 => None,
        key if key == READ.load(Relaxed) => Some(true),
        key if key == NONE.load(Relaxed) => Some(false),
        _ => None,
    }
}

/// The bits of both keys.
#[inline]
fn mask() -> u32 {
    (NO_ACCESS | NO_WRITE) << (2 * READ.load(Relaxed))
        | (NO_ACCESS | NO_WRITE) << (2 * NONE.load(Relaxed))
}

/// Rights as the program has them, if there are keys.
#[inline]
pub fn closed(rights: u32) -> u32 {
    if !are_taken() {
        // Their numbers would be that of all other memory.
        return rights;
    }
    rights & !mask()
        | NO_WRITE << (2 * READ.load(Relaxed))
        | (NO_ACCESS | NO_WRITE) << (2 * NONE.load(Relaxed))
}

/// Rights as MPI has them, if there are keys.
#[inline]
pub fn opened(rights: u32) -> u32 {
    rights & !mask()
}

/// How often pages were opened to a thread; less where several do at once.
static OPENED: AtomicU64 = AtomicU64::new(0);

/// How often pages were opened to a thread for a call, or nearly so often.
pub fn times_opened() -> u64 {
    OPENED.load(Relaxed)
}

/// Whether pages were opened so often that it is time to look what that costs: now and then.
#[inline]
pub fn is_time_for_review() -> bool {
    OPENED.load(Relaxed).is_multiple_of(REVIEW_INTERVAL)
}

/// A few milliseconds of calls that return at once.
const REVIEW_INTERVAL: u64 = 1 << 14;

/// As long as it is there, this thread may access all pages.
pub struct Open(());

impl Open {
    /// Opens all pages to this thread, if there are keys.
    #[inline]
    pub fn new() -> Option<Open> {
        // SAFETY: there are keys; the others keep their rights.
        are_taken().then(|| unsafe {
            OPENED.store(OPENED.load(Relaxed) + 1, Relaxed);
            set_key_rights(opened(key_rights()));
            Open(())
        })
    }
}

impl Drop for Open {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the processor has keys; if these were given back, rights stay as they are.
        unsafe { set_key_rights(closed(key_rights())) };
    }
}

/// Runs `f`, which creates a thread, with all pages open: the thread inherits that for good.
pub fn inherited<R>(f: impl FnOnce() -> R) -> R {
    if !are_taken() {
        return f();
    }
    // SAFETY: there are keys; the others keep their rights.
    let before = unsafe {
        let before = key_rights();
        set_key_rights(opened(before));
        before
    };
    let result = f();
    // SAFETY: as before.
    unsafe { set_key_rights(before) };
    result
}

/// Gives pages the key for what the program may do with them. They can be read and written
/// otherwise. Returns whether the system has done it.
pub fn give(pages: Range<usize>, rights: Rights) -> bool {
    let key = match rights {
        Rights::All => 0,
        Rights::Read => READ.load(Relaxed),
        Rights::None => NONE.load(Relaxed),
    };
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: memory that the program may read and write; who has no rights to the key comes to the
    // handler of faults.
    unsafe {
        libc::syscall(libc::SYS_pkey_mprotect, pages.start, pages.len(), access, key as c_int) == 0
    }
}

/// Whether there are keys, for tests, which share those of the process.
#[cfg(test)]
pub(crate) fn acquired() -> bool {
    static ONCE: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    let has_keys = *ONCE.get_or_init(|| acquire().is_ok());
    if has_keys {
        // SAFETY: there are keys; this thread may have begun before they were taken.
        unsafe { set_key_rights(closed(key_rights())) };
    } else {
        eprintln!("no protection keys here");
    }
    has_keys
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PAGE;

    /// Where there are keys, a page that was closed is so to this thread, and open while it is in a
    /// call. Looked at by system calls, which fail where a load would fault.
    #[test]
    fn closed_pages_are_open_within_calls() {
        if !acquired() {
            return;
        }
        // SAFETY: a mapping of its own.
        let page = unsafe {
            let (rights, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE);
            libc::mmap(std::ptr::null_mut(), PAGE, rights, flags | libc::MAP_ANONYMOUS, -1, 0)
        };
        let mut ends = [0; 2];
        // SAFETY: room for two.
        assert_eq!(unsafe { libc::pipe(ends.as_mut_ptr()) }, 0);
        // SAFETY: the page is there, whatever may be done with it.
        let can_be_read = || unsafe { libc::write(ends[1], page, 1) == 1 };
        let can_be_written = || {
            // SAFETY: as above.
            unsafe { libc::write(ends[1], [7].as_ptr().cast(), 1) };
            // SAFETY: as above.
            let done = unsafe { libc::read(ends[0], page, 1) == 1 };
            let mut rest = [0; 64];
            // SAFETY: what is left in the pipe, so that it never blocks.
            unsafe {
                libc::write(ends[1], [7].as_ptr().cast(), 1);
                libc::read(ends[0], rest.as_mut_ptr().cast(), rest.len());
            }
            done
        };
        let pages = page as usize..page as usize + PAGE;
        for (rights, read, written) in
            [(Rights::Read, true, false), (Rights::None, false, false), (Rights::All, true, true)]
        {
            assert!(give(pages.clone(), rights));
            assert_eq!((can_be_read(), can_be_written()), (read, written), "{rights:?}");
            let open = Open::new();
            assert_eq!((can_be_read(), can_be_written()), (true, true), "{rights:?}, open");
            drop(open);
            assert_eq!((can_be_read(), can_be_written()), (read, written), "{rights:?}, closed");
        }
    }
}
