//! Address space from the operating system: large, sparse, and shared with other processes of the
//! node where it holds device memory.

use std::fs::{File, OpenOptions};
use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// A page, as addresses are mapped.
pub const PAGE: usize = 4096;

/// A range of memory of this process. Pages cost nothing before they are touched.
#[derive(Debug)]
pub struct Mapping {
    range: Range<usize>,
    /// The memory's file, if others may map it.
    file: Option<File>,
}

impl Mapping {
    /// Memory of this process alone.
    pub fn private(size: usize) -> io::Result<Mapping> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        Ok(Mapping { range: map(size, flags, -1, 0)?, file: None })
    }

    /// Memory that other processes of the user can map, too.
    pub fn shareable(size: usize) -> io::Result<Mapping> {
        // SAFETY: a system call; the name only shows in /proc.
        let raw = unsafe { libc::memfd_create(c"simulated-gpu".as_ptr(), libc::MFD_CLOEXEC) };
        if raw < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: just opened, and owned by nobody else.
        let file = File::from(unsafe { OwnedFd::from_raw_fd(raw) });
        file.set_len(size as u64)?;
        let range = map(size, libc::MAP_SHARED | libc::MAP_NORESERVE, file.as_raw_fd(), 0)?;
        Ok(Mapping { range, file: Some(file) })
    }

    /// Part of what another process has made shareable; `offset` is a multiple of [`PAGE`].
    pub fn open(process: u32, file: i32, offset: usize, size: usize) -> io::Result<Mapping> {
        let path = format!("/proc/{process}/fd/{file}");
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        if file.metadata()?.len() < (offset + size) as u64 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "not a device's memory"));
        }
        let flags = libc::MAP_SHARED | libc::MAP_NORESERVE;
        Ok(Mapping { range: map(size, flags, file.as_raw_fd(), offset)?, file: Some(file) })
    }

    /// Its addresses.
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }

    /// The number by which other processes open it, if they may.
    pub fn file(&self) -> Option<i32> {
        self.file.as_ref().map(AsRawFd::as_raw_fd)
    }

    /// Gives the pages wholly within `part` back to the system; they read as zero afterwards.
    pub fn discard(&self, part: Range<usize>) {
        let start = part.start.next_multiple_of(PAGE);
        let end = part.end & !(PAGE - 1);
        if start >= end {
            return;
        }
        let advice = if self.file.is_some() { libc::MADV_REMOVE } else { libc::MADV_DONTNEED };
        // SAFETY: pages of this mapping that hold no allocation. That it may fail is harmless: the
        // pages then keep their contents.
        unsafe { libc::madvise(start as *mut libc::c_void, end - start, advice) };
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped by us; who drops it has given up what lies in it.
        unsafe { libc::munmap(self.range.start as *mut libc::c_void, self.range.len()) };
    }
}

fn map(size: usize, flags: i32, file: i32, offset: usize) -> io::Result<Range<usize>> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping at an address that the system chooses.
    let base =
        unsafe { libc::mmap(std::ptr::null_mut(), size, access, flags, file, offset as i64) };
    if base == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    Ok(base as usize..base as usize + size)
}
