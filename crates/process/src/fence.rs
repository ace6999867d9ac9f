//! Asymmetric memory barriers (`membarrier(2)`): the rare side pays for both.
//!
//! The frequent side needs only a compiler fence. One thread stores A and, after a
//! `compiler_fence`, loads B; another stores B and, after [`on_all_threads`], loads A: at least one
//! sees the other's store.

/// Registers this process for [`on_all_threads`]; returns whether the kernel supports it.
pub fn prepare() -> bool {
    call(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED)
}

/// Makes every thread of this process pass a memory barrier; returns whether it did.
pub fn on_all_threads() -> bool {
    call(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED)
}

fn call(command: libc::c_int) -> bool {
    // SAFETY: a system call without memory.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
}
