//! What a function has passed to the one that it has called, as its code says.
//!
//! Arguments are in registers that the called function is free to change. But where they come from
//! is in the few instructions before the call: a constant, a register that functions preserve, the
//! caller's frame. Only what is certain is told: nothing that another path through the function may
//! have set otherwise.

use crate::unwind::{Frame, Unwinder};
use std::ops::Range;

/// Arguments that x86-64 passes in registers.
pub const IN_REGISTERS: usize = 6;

/// The arguments that are integers or pointers, as passed by a frame that has called a function; as
/// far as they are known.
#[cfg(target_arch = "x86_64")]
pub fn arguments(unwinder: &mut Unwinder<'_>, caller: &Frame) -> [Option<u64>; IN_REGISTERS] {
    let nothing = [None; IN_REGISTERS];
    let Some(function) = caller.function.clone().filter(|_| !caller.is_interrupted) else {
        return nothing;
    };
    let returns_to = caller.registers.pc;
    let Some(joins) = joins(unwinder, &function) else { return nothing };
    let memory = unwinder.memory;
    let code = memory.bytes(function.start, (returns_to.saturating_sub(function.start)) as usize);
    code::passed(&code, function.start, &joins, &caller.registers, &|address, size| {
        let mut bytes = [0; 8];
        bytes.get_mut(..size)?.copy_from_slice(memory.array::<8>(address)?.get(..size)?);
        Some(u64::from_le_bytes(bytes))
    })
}

/// Other processors' code is not read.
#[cfg(not(target_arch = "x86_64"))]
pub fn arguments(_: &mut Unwinder<'_>, _: &Frame) -> [Option<u64>; IN_REGISTERS] {
    [None; IN_REGISTERS]
}

/// Code of a function that is read, at most.
#[cfg(target_arch = "x86_64")]
const LARGEST: u64 = 1 << 20;

/// Where jumps lead to in a function, those from parts of it elsewhere (`main.cold`) included;
/// `None` if some may lead anywhere.
#[cfg(target_arch = "x86_64")]
fn joins(unwinder: &mut Unwinder<'_>, function: &Range<u64>) -> Option<Vec<u64>> {
    const MAX_PARTS: usize = 16;
    let (mut open, mut seen, mut joins) = (vec![function.clone()], vec![], vec![]);
    while let Some(part) = open.pop() {
        if part.end.saturating_sub(part.start) > LARGEST || seen.len() > MAX_PARTS {
            return None;
        }
        let code = unwinder.memory.bytes(part.start, (part.end - part.start) as usize);
        let targets = code::jumps(&code, part.start)?;
        seen.push(part);
        for target in targets {
            joins.push(target);
            if !seen.iter().chain(&open).any(|part| part.contains(&target)) {
                // Another function, called last, leads back as little as one without a description.
                open.extend(unwinder.function(target).filter(|other| other.start != target));
            }
        }
    }
    joins.sort_unstable();
    Some(joins)
}

#[cfg(target_arch = "x86_64")]
mod code {
    use crate::unwind::Registers;
    use iced_x86::{
        Code, Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic,
        OpAccess, OpKind, Register,
    };

    /// Registers of arguments, in their order.
    const ARGUMENTS: [Register; super::IN_REGISTERS] =
        [Register::RDI, Register::RSI, Register::RDX, Register::RCX, Register::R8, Register::R9];

    /// DWARF's numbers of the registers that functions preserve, and the stack pointer.
    const KEPT: [(Register, u16); 7] = [
        (Register::RBX, 3),
        (Register::RBP, 6),
        (Register::RSP, 7),
        (Register::R12, 12),
        (Register::R13, 13),
        (Register::R14, 14),
        (Register::R15, 15),
    ];

    /// Where a register's value comes from.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Source {
        /// It is that.
        Constant(u64),
        /// What this register has, and a distance.
        Kept(Register, u64),
        /// What is in memory there, in so many bytes, and whether its sign is extended.
        Memory(Register, u64, usize, bool),
    }

    impl Source {
        fn base(self) -> Option<Register> {
            match self {
                Source::Constant(_) => None,
                Source::Kept(base, _) | Source::Memory(base, ..) => {
                    Some(base).filter(|base| *base != Register::None)
                }
            }
        }
    }

    /// Sources by register: the sixteen general ones.
    type Sources = [Option<Source>; 16];

    /// Where jumps lead to; `None` if some may lead anywhere.
    pub(super) fn jumps(code: &[u8], start: u64) -> Option<Vec<u64>> {
        let mut targets = Vec::new();
        for instruction in Decoder::with_ip(64, code, start, DecoderOptions::NONE).iter() {
            match instruction.flow_control() {
                FlowControl::ConditionalBranch | FlowControl::UnconditionalBranch => {
                    targets.push(instruction.near_branch_target());
                }
                FlowControl::IndirectBranch => return None,
                _ => {}
            }
        }
        Some(targets)
    }

    /// What a call at the end of `code` passes in registers. `joins` are where jumps lead to,
    /// ascending; `memory` reads so many bytes.
    pub(super) fn passed(
        code: &[u8],
        start: u64,
        joins: &[u64],
        registers: &Registers,
        memory: &dyn Fn(u64, usize) -> Option<u64>,
    ) -> [Option<u64>; super::IN_REGISTERS] {
        let nothing = [None; super::IN_REGISTERS];
        let mut sources: Sources = [None; 16];
        let mut factory = InstructionInfoFactory::new();
        let end = start.wrapping_add(code.len() as u64);
        let mut decoder = Decoder::with_ip(64, code, start, DecoderOptions::NONE);
        let mut instruction = Instruction::default();
        while decoder.can_decode() {
            decoder.decode_out(&mut instruction);
            if instruction.code() == Code::INVALID {
                return nothing;
            }
            if joins.binary_search(&instruction.ip()).is_ok() {
                sources = [None; 16];
            }
            if instruction.next_ip() == end {
                let is_call = matches!(
                    instruction.flow_control(),
                    FlowControl::Call | FlowControl::IndirectCall
                );
                return if is_call {
                    ARGUMENTS.map(|register| value(sources[register.number()]?, registers, memory))
                } else {
                    nothing
                };
            }
            match instruction.flow_control() {
                FlowControl::Next => follow(&instruction, &mut sources, &mut factory),
                FlowControl::ConditionalBranch => {}
                // What follows is come to by a jump, or leaves nothing in registers.
                _ => sources = [None; 16],
            }
        }
        nothing
    }

    fn follow(
        instruction: &Instruction,
        sources: &mut Sources,
        factory: &mut InstructionInfoFactory,
    ) {
        let found = source(instruction, sources);
        let info = factory.info(instruction);
        let writes = |access: OpAccess| {
            matches!(
                access,
                OpAccess::Write
                    | OpAccess::CondWrite
                    | OpAccess::ReadWrite
                    | OpAccess::ReadCondWrite
            )
        };
        for used in info.used_registers().iter().filter(|used| writes(used.access())) {
            let full = used.register().full_register();
            if !full.is_gpr64() {
                continue;
            }
            sources[full.number()] = None;
            for other in sources.iter_mut() {
                *other = other.filter(|source| source.base() != Some(full));
            }
        }
        // Nothing is known of where a store goes to but if both are in the frame.
        for used in info.used_memory().iter().filter(|used| writes(used.access())) {
            let (base, at) = (used.base().full_register(), used.displacement());
            let is_simple =
                used.index() == Register::None && (base == Register::RBP || base == Register::RSP);
            let size = used.memory_size().size().max(1) as u64;
            for other in sources.iter_mut() {
                let Some(Source::Memory(own, from, length, _)) = *other else { continue };
                let is_apart = from.wrapping_sub(at) < 1 << 31 && from.wrapping_sub(at) >= size
                    || at.wrapping_sub(from) < 1 << 31 && at.wrapping_sub(from) >= length as u64;
                if !(is_simple && own == base && is_apart) {
                    *other = None;
                }
            }
        }
        if let Some((register, source)) = found {
            sources[register.number()] = Some(source);
        }
    }

    /// What an instruction puts into which register, if that is known.
    fn source(instruction: &Instruction, sources: &Sources) -> Option<(Register, Source)> {
        let to = instruction.op0_register();
        let full = to.full_register();
        if instruction.op0_kind() != OpKind::Register || !full.is_gpr64() || to.size() < 4 {
            return None;
        }
        let width = to.size();
        let is_wide = width == 8;
        let of = |register: Register| match sources[register.full_register().number()] {
            // Half of a register is only known if all of it is a constant.
            Some(Source::Constant(value)) if is_wide => Some(Source::Constant(value)),
            Some(Source::Constant(value)) => Some(Source::Constant(value & 0xffff_ffff)),
            Some(Source::Memory(base, at, size, signed)) if size <= width => {
                // Whoever reads an `int` takes half of the register anyway.
                Some(Source::Memory(base, at, size, signed))
            }
            Some(source @ Source::Kept(..)) => Some(source),
            Some(Source::Memory(..)) => None,
            None => {
                let kept = KEPT.iter().any(|(kept, _)| *kept == register.full_register());
                kept.then_some(Source::Kept(register.full_register(), 0))
            }
        };
        let address = || {
            if instruction.is_ip_rel_memory_operand() {
                return Some((Register::None, instruction.ip_rel_memory_address()));
            }
            let has_index = instruction.memory_index() != Register::None;
            let base = instruction.memory_base();
            if has_index || instruction.segment_prefix() != Register::None {
                return None;
            }
            if base == Register::None {
                return Some((base, instruction.memory_displacement64()));
            }
            match of(base)? {
                Source::Kept(base, by) => {
                    Some((base, by.wrapping_add(instruction.memory_displacement64())))
                }
                Source::Constant(value) => {
                    Some((Register::None, value.wrapping_add(instruction.memory_displacement64())))
                }
                Source::Memory(..) => None,
            }
        };
        let second = instruction.op1_kind();
        let source = match (instruction.mnemonic(), second) {
            (Mnemonic::Xor, OpKind::Register) if instruction.op1_register() == to => {
                Source::Constant(0)
            }
            (Mnemonic::Mov, OpKind::Register) => of(instruction.op1_register())?,
            (Mnemonic::Mov, OpKind::Memory) => {
                let (base, at) = address()?;
                Source::Memory(base, at, width, false)
            }
            (Mnemonic::Movsxd, OpKind::Memory) => {
                let (base, at) = address()?;
                Source::Memory(base, at, 4, true)
            }
            (Mnemonic::Lea, OpKind::Memory) => match address()? {
                (Register::None, at) => Source::Constant(at),
                (base, by) => Source::Kept(base, by),
            },
            (Mnemonic::Mov, _) => {
                let value = instruction.try_immediate(1).ok()?;
                Source::Constant(if is_wide { value } else { value & 0xffff_ffff })
            }
            _ => return None,
        };
        Some((full, source))
    }

    fn value(
        source: Source,
        registers: &Registers,
        memory: &dyn Fn(u64, usize) -> Option<u64>,
    ) -> Option<u64> {
        let of = |register: Register| {
            let (_, number) = KEPT.iter().find(|(kept, _)| *kept == register)?;
            registers.get(*number)
        };
        let place = |base: Register, at: u64| match base {
            Register::None => Some(at),
            base => Some(of(base)?.wrapping_add(at)),
        };
        match source {
            Source::Constant(value) => Some(value),
            Source::Kept(base, by) => Some(of(base)?.wrapping_add(by)),
            Source::Memory(base, at, size, is_signed) => {
                let value = memory(place(base, at)?, size)?;
                Some(if is_signed { value as i32 as i64 as u64 } else { value })
            }
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        /// What `code` passes, which ends in a call and begins at 0x1000.
        fn of(code: &[u8], joins: &[u64]) -> [Option<u64>; 6] {
            let mut registers = Registers::blocked(0, 0x7000);
            registers.others[6] = Some(0x8000);
            registers.others[3] = Some(42);
            // Memory has at each address the address.
            let memory = |address: u64, _: usize| Some(address);
            let call = [0xe8, 0, 0, 0, 0];
            passed(&[code, &call].concat(), 0x1000, joins, &registers, &memory)
        }

        #[test]
        fn constants_registers_and_variables_are_found() {
            // mov $5, %r8d; mov -0x14(%rbp), %eax; mov %eax, %ecx; mov %ebx, %edx; xor %esi, %esi;
            // lea 0x10(%rsp), %rdi
            let code = [
                0x41, 0xb8, 5, 0, 0, 0, 0x8b, 0x45, 0xec, 0x89, 0xc1, 0x89, 0xda, 0x31, 0xf6, 0x48,
                0x8d, 0x7c, 0x24, 0x10,
            ];
            let all = [Some(0x7010), Some(0), Some(42), Some(0x8000 - 0x14), Some(5), None];
            assert_eq!(of(&code, &[]), all);
            // A jump that leads behind the first instruction leaves that one in doubt.
            assert_eq!(of(&code, &[0x1006])[4], None);
            assert_eq!(of(&code, &[0x1006])[3], Some(0x8000 - 0x14));
        }

        #[test]
        fn what_changes_before_the_call_is_not_known() {
            // mov %ebx, %edx; inc %ebx
            assert_eq!(of(&[0x89, 0xda, 0xff, 0xc3], &[])[2], None);
            // mov -0x14(%rbp), %ecx; mov %eax, -0x14(%rbp); and another place
            assert_eq!(of(&[0x8b, 0x4d, 0xec, 0x89, 0x45, 0xec], &[])[3], None);
            assert_eq!(of(&[0x8b, 0x4d, 0xec, 0x89, 0x45, 0xe0], &[])[3], Some(0x8000 - 0x14));
            // mov -0x14(%rbp), %ecx; mov %eax, (%rdi)
            assert_eq!(of(&[0x8b, 0x4d, 0xec, 0x89, 0x07], &[])[3], None);
            // mov $5, %ecx; another call
            assert_eq!(of(&[0xb9, 5, 0, 0, 0, 0xe8, 0, 0, 0, 0], &[])[3], None);
            // mov $5, %ecx; cmove %eax, %ecx
            assert_eq!(of(&[0xb9, 5, 0, 0, 0, 0x0f, 0x44, 0xc8], &[])[3], None);
        }

        #[test]
        fn jumps_are_found_unless_they_may_lead_anywhere() {
            // je +2; jmp -4
            assert_eq!(jumps(&[0x74, 2, 0xeb, 0xfc], 0x1000), Some(vec![0x1004, 0x1000]));
            // jmp *%rax
            assert_eq!(jumps(&[0xff, 0xe0], 0x1000), None);
        }
    }
}
