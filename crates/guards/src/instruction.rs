//! Which bytes an instruction that has faulted accesses.

use std::ops::Range;

/// Bytes of the longest instruction.
pub const LONGEST: usize = 15;

/// The bytes that the instruction at `pc`, whose code begins with `code`, accesses with these
/// registers, one of which is at `fault`. Where that is not certain, as for some of the elements of
/// a vector, only what certainly is.
#[cfg(target_arch = "x86_64")]
pub fn accessed(code: &[u8], pc: usize, registers: &[u64; 16], fault: usize) -> Range<usize> {
    use iced_x86::{Decoder, DecoderOptions, OpKind, Register};
    let one = fault..fault.saturating_add(1);
    let mut decoder = Decoder::with_ip(64, code, pc as u64, DecoderOptions::NONE);
    let instruction = decoder.decode();
    let size = instruction.memory_size().size();
    if instruction.is_invalid() || size == 0 {
        return one;
    }
    let value = |register: Register, _: usize, _: usize| match register {
        // Segments other than these begin at 0.
        Register::FS | Register::GS => None,
        Register::CS | Register::DS | Register::ES | Register::SS => Some(0),
        register if register.is_gpr32() => {
            Some(registers[register.full_register().number()] & u64::from(u32::MAX))
        }
        register if register.is_gpr64() => Some(registers[register.number()]),
        _ => None,
    };
    let repeated = instruction.has_rep_prefix() || instruction.has_repne_prefix();
    for operand in 0..instruction.op_count() {
        let is_string = match instruction.op_kind(operand) {
            OpKind::Memory => false,
            OpKind::MemorySegRSI | OpKind::MemoryESRDI => true,
            _ => continue,
        };
        let Some(start) = instruction.virtual_address(operand, 0, value) else { continue };
        let start = start as usize;
        // An instruction that compares may stop at any element.
        let count = match is_string && repeated && is_move(&instruction) {
            true => registers[1] as usize,
            false => 1,
        };
        let end = start.saturating_add(size.saturating_mul(count));
        if (start..end).contains(&fault) {
            // What is repeated goes on from where it has come to.
            return if instruction.has_op_mask() || is_masked(&instruction) {
                one
            } else {
                start..end
            };
        }
    }
    one
}

/// Whether it moves or stores elements, as many as it is repeated for, towards higher addresses.
#[cfg(target_arch = "x86_64")]
fn is_move(instruction: &iced_x86::Instruction) -> bool {
    use iced_x86::Mnemonic::*;
    matches!(instruction.mnemonic(), Movsb | Movsd | Movsq | Movsw | Stosb | Stosd | Stosq | Stosw)
}

/// Whether a vector register says which elements it accesses.
#[cfg(target_arch = "x86_64")]
fn is_masked(instruction: &iced_x86::Instruction) -> bool {
    use iced_x86::Mnemonic::*;
    matches!(
        instruction.mnemonic(),
        Vmaskmovps | Vmaskmovpd | Vpmaskmovd | Vpmaskmovq | Maskmovdqu | Vmaskmovdqu | Maskmovq
    )
}

/// The byte that has faulted: nothing more is known on this processor.
#[cfg(not(target_arch = "x86_64"))]
pub fn accessed(_: &[u8], _: usize, _: &[u64; 16], fault: usize) -> Range<usize> {
    fault..fault.saturating_add(1)
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    const PC: usize = 0x40_1000;

    fn with(set: &[(usize, u64)]) -> [u64; 16] {
        let mut registers = [0; 16];
        set.iter().for_each(|(register, value)| registers[*register] = *value);
        registers
    }

    fn check(code: &[u8], set: &[(usize, u64)], fault: usize, expected: Range<usize>) {
        assert_eq!(accessed(code, PC, &with(set), fault), expected, "{code:x?}");
    }

    #[test]
    fn operands_are_found() {
        // mov eax, [rdi + 4*rsi + 8]
        let code = [0x8b, 0x44, 0xb7, 0x08];
        check(&code, &[(7, 0x1000), (6, 2)], 0x1010, 0x1010..0x1014);
        // Its last bytes are in a page that is closed.
        check(&code, &[(7, 0x0ff6), (6, 0)], 0x1000, 0x0ffe..0x1002);
        // Not the operand that has faulted.
        check(&code, &[(7, 0x2000), (6, 0)], 0x1000, 0x1000..0x1001);
        // vmovups [rax], ymm0
        check(&[0xc5, 0xfc, 0x11, 0x00], &[(0, 0x3000)], 0x3000, 0x3000..0x3020);
        // mov rax, [rip + 0x10]
        let end = PC + 7;
        check(&[0x48, 0x8b, 0x05, 0x10, 0, 0, 0], &[], end + 0x10, end + 0x10..end + 0x18);
        // lock xadd [rdx], ecx
        check(&[0xf0, 0x0f, 0xc1, 0x0a], &[(2, 0x5000)], 0x5000, 0x5000..0x5004);
        // mov eax, fs:[rdi]
        check(&[0x64, 0x8b, 0x07], &[(7, 0x1000)], 0x1000, 0x1000..0x1001);
    }

    #[test]
    fn strings_go_on_to_their_end() {
        // rep movsq
        let code = [0xf3, 0x48, 0xa5];
        let set = [(1, 4), (6, 0x1000), (7, 0x8000)];
        check(&code, &set, 0x1000, 0x1000..0x1020);
        check(&code, &set, 0x8000, 0x8000..0x8020);
        // rep stosb
        check(&[0xf3, 0xaa], &[(1, 100), (7, 0x8000)], 0x8000, 0x8000..0x8064);
        // repe cmpsb may stop.
        check(&[0xf3, 0xa6], &[(1, 100), (6, 0x1000), (7, 0x8000)], 0x1000, 0x1000..0x1001);
    }

    #[test]
    fn of_some_elements_only_the_first_is_certain() {
        // vpmaskmovd [rax], ymm1, ymm0
        check(&[0xc4, 0xe2, 0x75, 0x8e, 0x00], &[(0, 0x1000)], 0x1004, 0x1004..0x1005);
        // vpgatherdd ymm0, [rax + 4*ymm1], ymm2
        let code = [0xc4, 0xe2, 0x6d, 0x90, 0x04, 0x88];
        check(&code, &[(0, 0x1000)], 0x1010, 0x1010..0x1011);
    }

    #[test]
    fn nothing_is_no_instruction() {
        check(&[], &[], 0x1000, 0x1000..0x1001);
        check(&[0x06], &[], 0x1000, 0x1000..0x1001);
    }
}
