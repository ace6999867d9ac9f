//! x86-64.

use std::ffi::{CStr, c_void};

/// The dynamic linker.
pub const LOADER: &str = "/lib64/ld-linux-x86-64.so.2";

/// The version of glibc's oldest symbols.
pub const OLDEST_GLIBC: &CStr = c"GLIBC_2.2.5";

/// DWARF's number of the frame pointer, rbp.
pub const FRAME_REGISTER: u16 = 6;

/// Timestamp in ticks of a counter that runs at a constant rate.
#[inline]
pub fn ticks() -> u64 {
    // SAFETY: every x86-64 processor has the instruction.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// What thread-local variables lie at fixed offsets from.
#[inline]
pub fn thread_pointer() -> usize {
    let pointer;
    // SAFETY: the first word of the thread's control block is its own address.
    unsafe {
        core::arch::asm!("mov {}, fs:0", out(reg) pointer, options(nostack, preserves_flags, readonly))
    };
    pointer
}

/// The stack pointer of an interrupted thread.
///
/// # Safety
/// `context` is what the kernel has passed to a signal handler.
pub unsafe fn stack_pointer(context: *mut c_void) -> usize {
    // SAFETY: by the caller.
    let machine = unsafe { &(*context.cast::<libc::ucontext_t>()).uc_mcontext };
    machine.gregs[libc::REG_RSP as usize] as usize
}

/// The instruction at which a thread was interrupted.
///
/// # Safety
/// `context` is what the kernel has passed to a signal handler.
pub unsafe fn instruction_pointer(context: *mut c_void) -> usize {
    // SAFETY: by the caller.
    unsafe {
        (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs[libc::REG_RIP as usize] as usize
    }
}

/// Whether a store has caused the fault by which a thread was interrupted, where that is known.
///
/// # Safety
/// `context` is what the kernel has passed to a signal handler.
pub unsafe fn is_store_fault(context: *mut c_void) -> bool {
    /// In the error code of a page fault.
    const WRITE: i64 = 2;
    // SAFETY: by the caller.
    let machine = unsafe { &(*context.cast::<libc::ucontext_t>()).uc_mcontext };
    machine.gregs[libc::REG_ERR as usize] & WRITE != 0
}

/// The frame pointer of the function that this is used in: the address of the caller's frame
/// pointer, above which its return address is.
#[macro_export]
macro_rules! frame_pointer {
    () => {{
        let frame: usize;
        // SAFETY: reads a register.
        unsafe {
            ::core::arch::asm!("mov {}, rbp", out(reg) frame, options(nomem, nostack, preserves_flags));
        }
        frame
    }};
}

/// The address of a function that may be missing, as ld.so has resolved it, or 0. `dlsym` would
/// allocate.
#[macro_export]
macro_rules! weak_address {
    ($symbol:literal) => {{
        let address: usize;
        // SAFETY: reads an entry of this library's global offset table.
        unsafe {
            ::core::arch::asm!(
                concat!(".weak ", $symbol),
                concat!("mov {}, qword ptr [rip + ", $symbol, "@GOTPCREL]"),
                out(reg) address,
                options(pure, readonly, nostack, preserves_flags),
            );
        }
        address
    }};
}

/// Defines `dlsym`, without a frame of its own: lookups are jumps to the C library's function
/// `$real` (`$find` finds it), which tells by its return address what the caller's scope is. Those
/// of names that begin with MPI, in a library that was opened, go to `$in_library`.
#[macro_export]
macro_rules! interpose_dlsym {
    ($real:ident, $find:ident, $in_library:ident) => {
        /// Interposes `dlsym`.
        ///
        /// # Safety
        ///
        /// As of `dlsym`.
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn dlsym(
            handle: *mut ::core::ffi::c_void,
            name: *const ::core::ffi::c_char,
        ) -> *mut ::core::ffi::c_void {
            ::core::arch::naked_asm!(
                "mov rax, qword ptr [rip + {real}]",
                "test rax, rax",
                "jnz 2f",
                "push rdi",
                "push rsi",
                "sub rsp, 8",
                "call {find}",
                "add rsp, 8",
                "pop rsi",
                "pop rdi",
                // RTLD_DEFAULT and RTLD_NEXT find the entry points anyway.
                "2:",
                "lea rcx, [rdi + 1]",
                "cmp rcx, 1",
                "jbe 3f",
                "cmp byte ptr [rsi], 77", // M
                "jne 3f",
                "cmp byte ptr [rsi + 1], 80", // P
                "jne 3f",
                "cmp byte ptr [rsi + 2], 73", // I
                "jne 3f",
                "jmp {in_library}",
                "3:",
                "jmp rax",
                real = sym $real,
                find = sym $find,
                in_library = sym $in_library,
            )
        }
    };
}
