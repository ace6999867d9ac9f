//! x86-64.

use core::arch::x86_64::{__cpuid, __cpuid_count};
use std::ffi::{CStr, c_void};
use std::sync::OnceLock;

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

/// Whether memory may have protection keys, of which a thread's own register says what it may do
/// (Intel SDM vol. 3, §5.6.2): the processor has them, and the system has switched them on.
pub fn has_protection_keys() -> bool {
    const OSPKE: u32 = 1 << 4;
    __cpuid(0).eax >= 0xd && __cpuid_count(7, 0).ecx & OSPKE != 0 && rights_offset().is_some()
}

/// This thread's rights by key: the bits 2n and 2n + 1 are set where it may not access, or not
/// write, memory with key n.
///
/// # Safety
/// The processor has protection keys.
#[inline]
pub unsafe fn key_rights() -> u32 {
    let rights;
    // SAFETY: by the caller.
    unsafe {
        core::arch::asm!(
            "rdpkru", in("ecx") 0, out("eax") rights, out("edx") _,
            options(nomem, nostack, preserves_flags)
        );
    }
    rights
}

/// Sets this thread's rights. No access to memory moves across it.
///
/// # Safety
/// The processor has protection keys, and the thread goes on with memory of key 0.
#[inline]
pub unsafe fn set_key_rights(rights: u32) {
    // SAFETY: by the caller.
    unsafe {
        core::arch::asm!(
            "wrpkru", in("eax") rights, in("ecx") 0, in("edx") 0,
            options(nostack, preserves_flags)
        );
    }
}

/// Where the extended state has the rights: offset in bytes, for the standard layout, which signal
/// frames have (Intel SDM vol. 1, §13.4.3).
fn rights_offset() -> Option<usize> {
    static OFFSET: OnceLock<Option<usize>> = OnceLock::new();
    *OFFSET.get_or_init(|| {
        let part = __cpuid_count(0xd, STATE_OF_KEYS);
        (part.eax >= 4).then_some(part.ebx as usize)
    })
}

/// Number of the extended state's component that has the rights by key.
const STATE_OF_KEYS: u32 = 9;

/// The rights by key with which an interrupted thread goes on, to be read and set; `None` where the
/// system has not saved them.
///
/// # Safety
/// `context` is what the kernel has passed to a signal handler that has not returned.
pub unsafe fn key_rights_of<'c>(context: *mut c_void) -> Option<&'c mut u32> {
    // The kernel's `_fpx_sw_bytes` and `_xstate` (arch/x86/include/uapi/asm/sigcontext.h).
    const DESCRIPTION: usize = 464;
    const EXTENDED: u32 = 0x4650_5853;
    const PRESENT: usize = 512;
    // SAFETY: by the caller: the kernel says how long the state is, and what is in it.
    unsafe {
        let state = (*context.cast::<libc::ucontext_t>()).uc_mcontext.fpregs.cast::<u8>();
        if state.is_null() {
            return None;
        }
        let [magic, _, components, _, size] = *state.add(DESCRIPTION).cast::<[u32; 5]>();
        let offset = rights_offset()?;
        if magic != EXTENDED || components & 1 << STATE_OF_KEYS == 0 || offset + 4 > size as usize {
            return None;
        }
        let (present, rights) = (state.add(PRESENT).cast::<u64>(), state.add(offset).cast::<u32>());
        // A component that is absent has its initial value, which is 0.
        if *present & 1 << STATE_OF_KEYS == 0 {
            *present |= 1 << STATE_OF_KEYS;
            *rights = 0;
        }
        Some(&mut *rights)
    }
}

/// Whether the thread stops, by SIGTRAP, after the next instruction when its handler has returned.
///
/// # Safety
/// `context` is what the kernel has passed to a signal handler that has not returned.
pub unsafe fn set_single_step(context: *mut c_void, steps: bool) {
    /// The trap flag.
    const TF: i64 = 1 << 8;
    // SAFETY: by the caller.
    let flags = unsafe {
        &mut (*context.cast::<libc::ucontext_t>()).uc_mcontext.gregs[libc::REG_EFL as usize]
    };
    *flags = if steps { *flags | TF } else { *flags & !TF };
}

/// The general registers of an interrupted thread, by their numbers in instructions: rax, rcx, rdx,
/// rbx, rsp, rbp, rsi, rdi, r8 to r15.
///
/// # Safety
/// `context` is what the kernel has passed to a signal handler.
pub unsafe fn registers(context: *mut c_void) -> [u64; 16] {
    use libc::*;
    const ORDER: [c_int; 16] = [
        REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP, REG_RSI, REG_RDI, REG_R8, REG_R9,
        REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15,
    ];
    // SAFETY: by the caller.
    let machine = unsafe { &(*context.cast::<ucontext_t>()).uc_mcontext };
    ORDER.map(|register| machine.gregs[register as usize] as u64)
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

/// Defines the exported function `$name`, without a frame of its own: a jump to the function at
/// `$real`, whatever its arguments are, or to `$instead` if that is null, or one of the two flags is
/// set. A library of the program may mean something else by the name: where `$foreign` is set, it is
/// always that jump.
#[macro_export]
macro_rules! interpose {
    ($name:ident, $real:path, $foreign:path, $flag:path, $other:path, $instead:path) => {
        #[doc = concat!("Interposes `", stringify!($name), "`.")]
        ///
        /// # Safety
        ///
        /// As of the function that it stands in front of, whose arguments it passes on.
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() {
            ::core::arch::naked_asm!(
                "cmp byte ptr [rip + {foreign}], 0",
                "jne 3f",
                "cmp byte ptr [rip + {flag}], 0",
                "jne 2f",
                "cmp byte ptr [rip + {other}], 0",
                "jne 2f",
                "3:",
                "mov r11, qword ptr [rip + {real}]",
                "test r11, r11",
                "jz 2f",
                "jmp r11",
                "2:",
                "jmp {instead}",
                foreign = sym $foreign,
                flag = sym $flag,
                other = sym $other,
                real = sym $real,
                instead = sym $instead,
            )
        }
    };
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
