//! Safe reads of this process's memory at addresses that may be unmapped (`process_vm_readv`).

use std::ffi::c_void;

/// Reads memory at `address` as far as it is readable; returns the number of bytes read. That is 0
/// where a container forbids the system call.
pub fn read(address: usize, into: &mut [u8]) -> usize {
    let to = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    let from = libc::iovec { iov_base: address as *mut c_void, iov_len: into.len() };
    // SAFETY: the kernel checks the address, and writes no more than fits into `into`.
    let read = unsafe { libc::process_vm_readv(libc::getpid(), &to, 1, &from, 1, 0) };
    usize::try_from(read).unwrap_or(0)
}

/// Whether something is mapped at `address`, readable or not.
pub fn is_mapped(address: usize) -> bool {
    // SAFETY: asks only.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) }.max(1) as usize;
    let mut resident = 0;
    // SAFETY: one byte for one page; the kernel checks the address.
    unsafe { libc::mincore((address & !(page - 1)) as *mut c_void, page, &raw mut resident) == 0 }
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_is_mapped_is_known() {
        let variable = 0u8;
        assert!(super::is_mapped(&raw const variable as usize));
        assert!(!super::is_mapped(8) && !super::is_mapped(usize::MAX));
    }

    #[test]
    fn only_what_is_there_is_read() {
        let (bytes, mut into) = ([1u8, 2, 3], [0; 3]);
        assert_eq!(super::read(bytes.as_ptr() as usize, &mut into), 3);
        assert_eq!(into, bytes);
        assert_eq!(super::read(8, &mut into), 0);
    }
}
