//! Memory barriers of which only the side that comes seldom pays, for both (`membarrier(2)`).
//!
//! The other side needs but keep the compiler from reordering: of two threads of which one stores A and, after a
//! `compiler_fence`, loads B, and the other stores B and, after [`everywhere`], loads A, one sees the other's store.

/// Lets this process use [`everywhere`]; whether the kernel does.
pub fn prepare() -> bool {
    call(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED)
}

/// All threads of this process pass a memory barrier before this returns; whether they have.
pub fn everywhere() -> bool {
    call(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED)
}

fn call(command: libc::c_int) -> bool {
    // SAFETY: a system call without memory.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
}
