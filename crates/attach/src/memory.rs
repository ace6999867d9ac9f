//! The memory of another process, read through the kernel, which refuses what is not mapped.

use std::cell::RefCell;

/// Bytes of a page, by which memory is read.
const PAGE: u64 = 4096;

/// The memory of a process.
pub struct Memory {
    process: libc::pid_t,
    /// A part of it as it was, and where that was.
    copied: (u64, Vec<u8>),
    /// The page that was read last.
    page: RefCell<(u64, Vec<u8>)>,
}

impl Memory {
    /// The memory of a process, of which `copied.1` was at `copied.0`.
    pub fn new(process: libc::pid_t, copied: (u64, Vec<u8>)) -> Memory {
        Memory { process, copied, page: RefCell::default() }
    }

    /// Reads so many bytes; fewer where the rest is not mapped.
    pub fn bytes(&self, address: u64, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        let read = read(self.process, address, &mut bytes);
        bytes.truncate(read);
        bytes
    }

    /// Reads a part of known size.
    pub fn array<const N: usize>(&self, address: u64) -> Option<[u8; N]> {
        let (start, bytes) = &self.copied;
        let at = address.checked_sub(*start).and_then(|at| usize::try_from(at).ok());
        if let Some(found) = at.and_then(|at| bytes.get(at..)?.first_chunk()) {
            return Some(*found);
        }
        let (first, at) = (address / PAGE * PAGE, (address % PAGE) as usize);
        let mut page = self.page.borrow_mut();
        if page.1.is_empty() || page.0 != first {
            *page = (first, self.bytes(first, PAGE as usize));
        }
        match page.1.get(at..)?.first_chunk() {
            Some(found) => Some(*found),
            None => <[u8; N]>::try_from(self.bytes(address, N)).ok(),
        }
    }

    /// The word at an address.
    pub fn word(&self, address: u64) -> Option<u64> {
        self.array(address).map(u64::from_ne_bytes)
    }
}

/// Reads memory of a process; returns how many bytes there were.
pub(crate) fn read(process: libc::pid_t, address: u64, bytes: &mut [u8]) -> usize {
    let to = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    let from = libc::iovec { iov_base: address as *mut _, iov_len: bytes.len() };
    // SAFETY: the kernel writes to `bytes` only; the other address is the other process's.
    let read = unsafe { libc::process_vm_readv(process, &to, 1, &from, 1, 0) };
    usize::try_from(read).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_memory_is_read_and_what_is_not_mapped_refused() {
        let process = std::process::id().cast_signed();
        let value = 0x1234_5678_9abc_def0_u64;
        let memory = Memory::new(process, (0, vec![]));
        assert_eq!(memory.word(&raw const value as u64), Some(value));
        assert_eq!(memory.word(8), None);
        let copied = Memory::new(process, (8, 7_u64.to_ne_bytes().to_vec()));
        assert_eq!((copied.word(8), copied.word(12)), (Some(7), None));
    }
}
