//! 64-bit Arm. See `x86_64.rs` for what each item is.

use std::ffi::{CStr, c_void};

/// The dynamic linker.
pub const LOADER: &str = "/lib/ld-linux-aarch64.so.1";

/// The version of glibc's oldest symbols.
pub const OLDEST_GLIBC: &CStr = c"GLIBC_2.17";

/// DWARF's number of the frame pointer, x29.
pub const FRAME_REGISTER: u16 = 29;

/// Timestamp in ticks of a counter that runs at a constant rate.
#[inline]
pub fn ticks() -> u64 {
    let ticks;
    // SAFETY: Linux lets programs read the virtual counter.
    unsafe { core::arch::asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack)) };
    ticks
}

/// What thread-local variables lie at fixed offsets from.
#[inline]
pub fn thread_pointer() -> usize {
    let pointer;
    // SAFETY: reads a register.
    unsafe { core::arch::asm!("mrs {}, tpidr_el0", out(reg) pointer, options(nomem, nostack)) };
    pointer
}

/// The stack pointer of an interrupted thread.
///
/// # Safety
/// `context` is what the kernel has passed to a signal handler.
pub unsafe fn stack_pointer(context: *mut c_void) -> usize {
    // SAFETY: by the caller.
    unsafe { (*context.cast::<libc::ucontext_t>()).uc_mcontext.sp as usize }
}

/// The instruction at which a thread was interrupted.
///
/// # Safety
/// `context` is what the kernel has passed to a signal handler.
pub unsafe fn instruction_pointer(context: *mut c_void) -> usize {
    // SAFETY: by the caller.
    unsafe { (*context.cast::<libc::ucontext_t>()).uc_mcontext.pc as usize }
}

/// The frame pointer of the function that this is used in. The pair that it points to lies at the
/// lower end of the frame rather than above it.
#[macro_export]
macro_rules! frame_pointer {
    () => {{
        let frame: usize;
        // SAFETY: reads a register.
        unsafe {
            ::core::arch::asm!("mov {}, x29", out(reg) frame, options(nomem, nostack, preserves_flags));
        }
        frame
    }};
}

/// The address of a function that may be missing, as ld.so has resolved it, or 0.
#[macro_export]
macro_rules! weak_address {
    ($symbol:literal) => {{
        let address: usize;
        // SAFETY: reads an entry of this library's global offset table.
        unsafe {
            ::core::arch::asm!(
                concat!(".weak ", $symbol),
                concat!("adrp {0}, :got:", $symbol),
                concat!("ldr {0}, [{0}, :got_lo12:", $symbol, "]"),
                out(reg) address,
                options(pure, readonly, nostack, preserves_flags),
            );
        }
        address
    }};
}

/// Leaves a function to the C library: what is interposed so is of use with protection keys only.
#[macro_export]
macro_rules! interpose {
    ($name:ident, $real:path, $foreign:path, $flag:path, $other:path, $instead:path) => {
        const _: () = {
            let _ = (&$real, &$foreign, &$flag, &$other, $instead as *const ());
        };
    };
}

/// Defines `dlsym`, without a frame of its own.
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
                "adrp x16, {real}",
                "ldr x16, [x16, :lo12:{real}]",
                "cbnz x16, 2f",
                "stp x29, x30, [sp, #-32]!",
                "mov x29, sp",
                "stp x0, x1, [sp, #16]",
                "bl {find}",
                "mov x16, x0",
                "ldp x0, x1, [sp, #16]",
                "ldp x29, x30, [sp], #32",
                // RTLD_DEFAULT and RTLD_NEXT find the entry points anyway.
                "2:",
                "add x17, x0, #1",
                "cmp x17, #1",
                "b.ls 3f",
                "ldrb w17, [x1]",
                "cmp w17, #77", // M
                "b.ne 3f",
                "ldrb w17, [x1, #1]",
                "cmp w17, #80", // P
                "b.ne 3f",
                "ldrb w17, [x1, #2]",
                "cmp w17, #73", // I
                "b.ne 3f",
                "b {in_library}",
                "3:",
                "br x16",
                real = sym $real,
                find = sym $find,
                in_library = sym $in_library,
            )
        }
    };
}
