//! x86-64.

use crate::CallTo;
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

/// DWARF's numbers of the stack pointer and the return address.
pub const STACK_REGISTER: u16 = 7;
/// See [`STACK_REGISTER`].
pub const RETURN_REGISTER: u16 = 16;

/// Registers that functions preserve for their callers: DWARF's number, and the place in
/// [`registers`].
pub const PRESERVED: &[(u16, usize)] = &[(3, 3), (6, 5), (12, 12), (13, 13), (14, 14), (15, 15)];

/// The call instruction at the end of some code, the [`LONGEST_CALL`] bytes before what may be a
/// return address.
pub fn call_at_end(code: &[u8; LONGEST_CALL]) -> Option<CallTo> {
    if let [.., 0xe8, a, b, c, d] = *code {
        return Some(CallTo::Distance(i32::from_le_bytes([a, b, c, d])));
    }
    // `ff /2`, without and with an index, a displacement, and a prefix before all.
    let is_call = |at: usize| code[at] == 0xff && code[at + 1] >> 3 & 7 == 2;
    let form = |at: usize| (code[at + 1] >> 6, code[at + 1] & 7);
    let is_indirect = is_call(5) && !matches!(form(5), (1 | 2, _) | (0, 4 | 5))
        || is_call(4) && matches!(form(4), (1, 0..=3 | 5..=7) | (0, 4))
        || is_call(3) && form(3) == (1, 4)
        || is_call(1) && matches!(form(1), (2, 0..=3 | 5..=7) | (0, 5))
        || is_call(0) && matches!(form(0), (2 | 0, 4));
    is_indirect.then_some(CallTo::Anything)
}

/// Bytes of the longest call instruction, without prefixes.
pub const LONGEST_CALL: usize = 7;

/// Distance from the stack pointer to the frame pointer in a function that begins so, after its
/// prologue: `push rbp; mov rbp, rsp`, pushes, and a constant subtracted.
pub fn frame_size(prologue: &[u8]) -> Option<u64> {
    let code = prologue.strip_prefix(&[0xf3, 0x0f, 0x1e, 0xfa]).unwrap_or(prologue);
    let code = code.strip_prefix(&[0x55])?;
    let mut code = code
        .strip_prefix(&[0x48, 0x89, 0xe5])
        .or_else(|| code.strip_prefix(&[0x48, 0x8b, 0xec]))?;
    let mut pushed = 0;
    loop {
        code = match code {
            [0x50..=0x57, rest @ ..] | [0x41, 0x50..=0x57, rest @ ..] => rest,
            [0x48, 0x83, 0xec, size, ..] => return Some(pushed + u64::from(*size)),
            [0x48, 0x81, 0xec, a, b, c, d, ..] => {
                return Some(pushed + u64::from(u32::from_le_bytes([*a, *b, *c, *d])));
            }
            _ => return Some(pushed),
        };
        pushed += 8;
    }
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

/// Calls `f` with `data` on another stack, which ends at `top`, a multiple of 16. Unwinders find
/// the callers.
///
/// # Safety
///
/// Nothing else uses that stack, and it has room for what `f` does.
#[unsafe(naked)]
pub unsafe extern "C" fn call_on_stack(
    f: unsafe extern "C" fn(*mut c_void),
    data: *mut c_void,
    top: usize,
) {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "mov rsp, rdx",
        "mov rax, rdi",
        "mov rdi, rsi",
        "call rax",
        "mov rsp, rbp",
        "pop rbp",
        ".cfi_def_cfa rsp, 8",
        "ret",
        ".cfi_endproc",
    )
}

/// Defines the exported function `$name`, without a frame of its own: a jump to the function at
/// `$real`, whatever its arguments are, or to `$instead` if that is null, or one of the two flags
/// is set. A library of the program may mean something else by the name: where `$foreign` is set,
/// it is always that jump.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_end_before_return_addresses() {
        let ends = |code: &[u8]| {
            let mut all = [0x90; LONGEST_CALL];
            all[LONGEST_CALL - code.len()..].copy_from_slice(code);
            call_at_end(&all)
        };
        assert_eq!(ends(&[0xe8, 1, 0, 0, 0x80]), Some(CallTo::Distance(i32::MIN + 1)));
        let indirect: [&[u8]; 8] = [
            &[0xff, 0xd0],                         // call rax
            &[0x41, 0xff, 0xd3],                   // call r11
            &[0xff, 0x10],                         // call [rax]
            &[0xff, 0x50, 0x08],                   // call [rax + 8]
            &[0xff, 0x14, 0xc3],                   // call [rbx + 8 * rax]
            &[0xff, 0x54, 0x24, 0x08],             // call [rsp + 8]
            &[0xff, 0x15, 0x01, 0x02, 0x03, 0x04], // call [rip + …]
            &[0xff, 0x94, 0xc3, 0, 1, 0, 0],       // call [rbx + 8 * rax + 256]
        ];
        for code in indirect {
            assert_eq!(ends(code), Some(CallTo::Anything), "{code:x?}");
        }
        for code in [&[0x90][..], &[0xff, 0xe0], &[0x48, 0x89, 0xe5]] {
            assert_eq!(ends(code), None, "{code:x?}");
        }
    }

    #[test]
    fn prologues_tell_the_size_of_frames() {
        let usual = [0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5, 0x41, 0x57, 0x53];
        assert_eq!(frame_size(&[&usual[..], &[0x48, 0x83, 0xec, 0x18]].concat()), Some(16 + 24));
        assert_eq!(frame_size(&[&usual[..], &[0x48, 0x81, 0xec, 0, 1, 0, 0]].concat()), Some(272));
        assert_eq!(frame_size(&[0x55, 0x48, 0x89, 0xe5, 0xc3]), Some(0));
        assert_eq!(frame_size(&[0x48, 0x83, 0xec, 0x18]), None);
    }
}
