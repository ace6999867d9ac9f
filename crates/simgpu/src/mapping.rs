//! Address space from the operating system: large, sparse, and shareable with other processes of
//! the node for device memory.

use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// Page size of mappings, in bytes.
pub const PAGE: usize = 4096;

/// A mapping of this process. Pages take no memory before they are used.
#[derive(Debug)]
pub struct Mapping {
    range: Range<usize>,
    /// The memory's file, if others may map it.
    file: Option<File>,
}

impl Mapping {
    /// Private address space, which is usable once it is [committed][commit]: systems that do not
    /// overcommit count it from then on.
    ///
    /// [commit]: Mapping::commit
    pub fn private(size: usize) -> io::Result<Mapping> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        Ok(Mapping { range: map(size, libc::PROT_NONE, flags, -1, 0)?, file: None })
    }

    /// Memory that other processes of the user can map, too.
    pub fn shareable(size: usize) -> io::Result<Mapping> {
        // SAFETY: a system call; the name only shows in /proc.
        let raw = unsafe { libc::memfd_create(c"simulated-gpu".as_ptr(), libc::MFD_CLOEXEC) };
        if raw < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: just opened, so that nothing else owns the descriptor.
        let file = File::from(unsafe { OwnedFd::from_raw_fd(raw) });
        file.set_len(size as u64)?;
        let range = map(size, ACCESS, libc::MAP_SHARED | libc::MAP_NORESERVE, file.as_raw_fd(), 0)?;
        Ok(Mapping { range, file: Some(file) })
    }

    /// Maps part of another process's shareable memory; `offset` is a multiple of [`PAGE`].
    pub fn open(process: u32, file: i32, offset: usize, size: usize) -> io::Result<Mapping> {
        let path = format!("/proc/{process}/fd/{file}");
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        if file.metadata()?.len() < (offset + size) as u64 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "not a device's memory"));
        }
        let flags = libc::MAP_SHARED | libc::MAP_NORESERVE;
        Ok(Mapping { range: map(size, ACCESS, flags, file.as_raw_fd(), offset)?, file: Some(file) })
    }

    /// Its addresses.
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// The file descriptor by which other processes open it, if they may.
    pub fn file(&self) -> Option<i32> {
        self.file.as_ref().map(AsRawFd::as_raw_fd)
    }

    /// Makes the pages of a part usable and zero. Shareable memory is usable from the start.
    pub fn commit(&self, part: Range<usize>) -> io::Result<()> {
        if self.file.is_some() { Ok(()) } else { protect(part, ACCESS) }
    }

    /// Returns the pages wholly within a part to the system. Shareable memory then reads as zero;
    /// private memory is no longer committed.
    pub fn discard(&self, part: Range<usize>) {
        let start = part.start.next_multiple_of(PAGE);
        let end = part.end & !(PAGE - 1);
        if start >= end {
            return;
        }
        let advice = if self.file.is_some() { libc::MADV_REMOVE } else { libc::MADV_DONTNEED };
        // SAFETY: pages of this mapping that hold no allocation. A failure is harmless: the pages
        // then keep their contents.
        unsafe { libc::madvise(start as *mut libc::c_void, end - start, advice) };
        if self.file.is_none() {
            // If this fails, stale memory stays readable.
            let _ = protect(start..end, libc::PROT_NONE);
        }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped by us; the owner has given up its contents.
        unsafe { libc::munmap(self.range.start as *mut libc::c_void, self.range.len()) };
    }
}

const ACCESS: i32 = libc::PROT_READ | libc::PROT_WRITE;

fn protect(part: Range<usize>, access: i32) -> io::Result<()> {
    let end = part.end.next_multiple_of(PAGE);
    // SAFETY: pages of our mapping; where access is removed, they hold no allocation.
    let result =
        unsafe { libc::mprotect(part.start as *mut libc::c_void, end - part.start, access) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn map(size: usize, access: i32, flags: i32, file: i32, offset: usize) -> io::Result<Range<usize>> {
    // SAFETY: a new mapping at an address that the system chooses.
    let base =
        unsafe { libc::mmap(std::ptr::null_mut(), size, access, flags, file, offset as i64) };
    if base == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    Ok(base as usize..base as usize + size)
}
