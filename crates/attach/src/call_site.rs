//! What a function has passed to the one that it has called, as its code says.
//!
//! Arguments are in registers that the called function is free to change. But where they come from
//! is in the few instructions before the call: a constant, a register that functions preserve, the
//! caller's frame. Only what is certain is told: nothing that another path through the function may
//! have set otherwise.

use crate::unwind::{Frame, Unwinder};
#[cfg(target_arch = "x86_64")]
use std::ops::Range;

/// Arguments that x86-64 passes in registers.
#[cfg(target_arch = "x86_64")]
const IN_REGISTERS: usize = 6;

/// Arguments that are looked for: those of `MPI_Sendrecv`.
pub const MOST: usize = 12;

/// Functions whose own arguments are asked for, one after the other, at most.
#[cfg(target_arch = "x86_64")]
const MAX_CALLERS: usize = 8;

/// The arguments that are integers or pointers of the function at `entry`, in which frame `at` is,
/// as far as they are known by what its caller has passed.
#[cfg(target_arch = "x86_64")]
pub fn arguments(
    unwinder: &mut Unwinder<'_>,
    frames: &[Frame],
    at: usize,
    entry: u64,
) -> [Option<u64>; MOST] {
    arguments_within(unwinder, frames, at, entry, MAX_CALLERS)
}

/// The function that the caller of frame `at` has called, if its code tells: that of the frame may
/// be another one, to which the called one has jumped.
#[cfg(target_arch = "x86_64")]
pub fn called(unwinder: &mut Unwinder<'_>, frames: &[Frame], at: usize) -> Option<u64> {
    passed(unwinder, frames.get(at + 1)?)?.target
}

/// Other processors' code is not read.
#[cfg(not(target_arch = "x86_64"))]
pub fn called(_: &mut Unwinder<'_>, _: &[Frame], _: usize) -> Option<u64> {
    None
}

/// What a frame has passed to which function, and where that arrives.
#[cfg(target_arch = "x86_64")]
fn passed(unwinder: &mut Unwinder<'_>, caller: &Frame) -> Option<code::CallSite> {
    let function = caller.function.clone().filter(|_| !caller.is_interrupted)?;
    let returns_to = caller.registers.pc;
    let joins = joins(unwinder, &function)?;
    let memory = unwinder.memory;
    let code = memory.bytes(function.start, (returns_to.saturating_sub(function.start)) as usize);
    let read = |address, size: usize| {
        let mut bytes = [0; 8];
        bytes.get_mut(..size)?.copy_from_slice(memory.array::<8>(address)?.get(..size)?);
        Some(u64::from_le_bytes(bytes))
    };
    let mut passed = code::passed(&code, function.start, &joins, &caller.registers, &read);
    passed.target = passed.target.map(|target| code::destination(target, &read));
    Some(passed)
}

#[cfg(target_arch = "x86_64")]
fn arguments_within(
    unwinder: &mut Unwinder<'_>,
    frames: &[Frame],
    at: usize,
    entry: u64,
    depth: usize,
) -> [Option<u64>; MOST] {
    let nothing = [None; MOST];
    let Some(caller) = frames.get(at + 1) else { return nothing };
    let Some(passed) = passed(unwinder, caller) else { return nothing };
    // What was passed to a function that has jumped to this one is not what this one has got.
    if passed.target.is_none_or(|target| target != entry) {
        return nothing;
    }
    let needs_own = passed.arguments.iter().any(|one| matches!(one, Some(code::Passed::Own(_))));
    let own = match caller.function.clone().filter(|_| needs_own && depth > 0) {
        Some(own) => arguments_within(unwinder, frames, at + 1, own.start, depth - 1),
        None => nothing,
    };
    passed.arguments.map(|one| match one? {
        code::Passed::Value(value) => Some(value),
        code::Passed::Own(number) => own[number],
    })
}

/// Other processors' code is not read.
#[cfg(not(target_arch = "x86_64"))]
pub fn arguments(_: &mut Unwinder<'_>, _: &[Frame], _: usize, _: u64) -> [Option<u64>; MOST] {
    [None; MOST]
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
        /// The function's own argument of that number.
        Own(usize),
    }

    /// An argument.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) enum Passed {
        /// It is that.
        Value(u64),
        /// It is the caller's own argument of that number.
        Own(usize),
    }

    /// A call.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub(super) struct CallSite {
        /// What it passes, in registers first.
        pub(super) arguments: [Option<Passed>; super::MOST],
        /// The address that it calls.
        pub(super) target: Option<u64>,
    }

    impl Source {
        fn base(self) -> Option<Register> {
            match self {
                Source::Constant(_) | Source::Own(_) => None,
                Source::Kept(base, _) | Source::Memory(base, ..) => {
                    Some(base).filter(|base| *base != Register::None)
                }
            }
        }
    }

    /// Sources of what is in registers and at the end of the stack.
    #[derive(Default)]
    struct Sources {
        /// By register: the sixteen general ones.
        registers: [Option<Source>; 16],
        /// By the distance from the stack pointer: arguments that are passed there.
        stack: [Option<Source>; super::MOST - super::IN_REGISTERS],
    }

    impl Sources {
        fn all(&mut self) -> impl Iterator<Item = &mut Option<Source>> {
            self.registers.iter_mut().chain(&mut self.stack)
        }
    }

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

    /// Where a call of `target` arrives: behind the jumps of a procedure linkage table.
    pub(super) fn destination(target: u64, memory: &dyn Fn(u64, usize) -> Option<u64>) -> u64 {
        let mut at = target;
        for _ in 0..4 {
            let bytes = [0, 8].map(|offset| memory(at + offset, 8).unwrap_or(0).to_le_bytes());
            let code = bytes.concat();
            let mut decoder = Decoder::with_ip(64, &code, at, DecoderOptions::NONE);
            let mut instruction = decoder.decode();
            if instruction.mnemonic() == Mnemonic::Endbr64 {
                instruction = decoder.decode();
            }
            at = match instruction.flow_control() {
                FlowControl::UnconditionalBranch => instruction.near_branch_target(),
                FlowControl::IndirectBranch if instruction.is_ip_rel_memory_operand() => {
                    match memory(instruction.ip_rel_memory_address(), 8) {
                        Some(next) => next,
                        None => return at,
                    }
                }
                _ => return at,
            };
        }
        at
    }

    /// What a call at the end of `code`, which is that of a function from its beginning, passes.
    /// `joins` are where jumps lead to, ascending; `memory` reads so many bytes.
    pub(super) fn passed(
        code: &[u8],
        start: u64,
        joins: &[u64],
        registers: &Registers,
        memory: &dyn Fn(u64, usize) -> Option<u64>,
    ) -> CallSite {
        let nothing = CallSite::default();
        let mut sources = Sources::default();
        for (number, register) in ARGUMENTS.iter().enumerate() {
            sources.registers[register.number()] = Some(Source::Own(number));
        }
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
                sources = Sources::default();
            }
            if instruction.next_ip() == end {
                let of = |register: Register| sources.registers[register.full_register().number()];
                let target = match (instruction.flow_control(), instruction.op0_kind()) {
                    (FlowControl::Call, _) => Some(instruction.near_branch_target()),
                    (FlowControl::IndirectCall, OpKind::Register) => of(instruction.op0_register())
                        .and_then(|source| value(source, registers, memory)),
                    (FlowControl::IndirectCall, OpKind::Memory)
                        if instruction.is_ip_rel_memory_operand() =>
                    {
                        memory(instruction.ip_rel_memory_address(), 8)
                    }
                    (FlowControl::IndirectCall, _) => None,
                    _ => return nothing,
                };
                let all = ARGUMENTS.map(of).into_iter().chain(sources.stack);
                let all = all.map(|source| match source? {
                    Source::Own(number) => Some(Passed::Own(number)),
                    source => value(source, registers, memory).map(Passed::Value),
                });
                let mut arguments = [None; super::MOST];
                arguments.iter_mut().zip(all).for_each(|(to, from)| *to = from);
                return CallSite { arguments, target };
            }
            match instruction.flow_control() {
                FlowControl::Next => follow(&instruction, &mut sources, &mut factory),
                FlowControl::ConditionalBranch => {}
                // What follows is come to by a jump, or leaves nothing in registers.
                _ => sources = Sources::default(),
            }
        }
        nothing
    }

    /// By how much an instruction that does nothing else with the stack pointer moves it.
    fn stack_moves(instruction: &Instruction) -> Option<i64> {
        let is_of_stack = || {
            instruction.op0_register() == Register::RSP
                && instruction.op0_kind() == OpKind::Register
        };
        match instruction.mnemonic() {
            Mnemonic::Push | Mnemonic::Pop if !is_of_stack() => {
                Some(instruction.stack_pointer_increment().into())
            }
            Mnemonic::Sub if is_of_stack() => Some(-(instruction.try_immediate(1).ok()? as i64)),
            Mnemonic::Add if is_of_stack() => Some(instruction.try_immediate(1).ok()? as i64),
            _ => None,
        }
    }

    fn follow(
        instruction: &Instruction,
        sources: &mut Sources,
        factory: &mut InstructionInfoFactory,
    ) {
        let found = source(instruction, sources);
        let info = factory.info(instruction);
        // What is pushed lies below all that the function has in its frame.
        let moves = stack_moves(instruction);
        let pushed = moves.and_then(|_| pushed(instruction, sources));
        let stored = stored(instruction, sources);
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
            if !full.is_gpr64() || full == Register::RSP && moves.is_some() {
                continue;
            }
            sources.registers[full.number()] = None;
            for other in sources.all() {
                *other = other.filter(|source| source.base() != Some(full));
            }
        }
        // Nothing is known of where a store goes to but if both are in the frame.
        let stores = info.used_memory().iter().filter(|_| moves.is_none());
        for used in stores.filter(|used| writes(used.access())) {
            let (base, at) = (used.base().full_register(), used.displacement());
            let is_simple =
                used.index() == Register::None && (base == Register::RBP || base == Register::RSP);
            let size = used.memory_size().size().max(1) as u64;
            if stored.is_none() && base != Register::RBP {
                // Nobody knows whether what lies at the stack's end is meant.
                sources.stack = Default::default();
            }
            for other in sources.all() {
                let Some(Source::Memory(own, from, length, _)) = *other else { continue };
                let is_apart = from.wrapping_sub(at) < 1 << 31 && from.wrapping_sub(at) >= size
                    || at.wrapping_sub(from) < 1 << 31 && at.wrapping_sub(from) >= length as u64;
                if !(is_simple && own == base && is_apart) {
                    *other = None;
                }
            }
        }
        for other in sources.all().flatten().filter(|_| moves.is_some()) {
            if let Source::Kept(Register::RSP, by) | Source::Memory(Register::RSP, by, ..) = other {
                *by = by.wrapping_sub(moves.unwrap_or(0) as u64);
            }
        }
        if let Some((register, source)) = found {
            sources.registers[register.number()] = Some(source);
        }
        if let Some((at, source)) = stored {
            sources.stack[at] = source;
        }
        if let Some(by) = moves {
            // A push leaves its source; what is taken off is forgotten.
            let words = usize::try_from(by.unsigned_abs() / 8).unwrap_or(usize::MAX);
            let words = words.min(sources.stack.len());
            match by < 0 {
                true => sources.stack.rotate_right(words),
                false => sources.stack.rotate_left(words),
            }
            let last = sources.stack.len();
            let gone = if by < 0 { 0..words } else { last - words..last };
            sources.stack[gone].fill(None);
            if instruction.mnemonic() == Mnemonic::Push {
                sources.stack[0] = pushed;
            }
        }
    }

    /// What an instruction pushes.
    fn pushed(instruction: &Instruction, sources: &Sources) -> Option<Source> {
        match instruction.op0_kind() {
            OpKind::Register => of(instruction.op0_register(), 8, sources),
            OpKind::Memory => {
                let (base, at) = address(instruction, sources)?;
                Some(Source::Memory(base, at, 8, false))
            }
            _ => instruction.try_immediate(0).ok().map(Source::Constant),
        }
        // What leads to the frame by the stack pointer is moved afterwards, with the others.
        .filter(|source| source.base() != Some(Register::RSP))
    }

    /// What an instruction stores in which word at the end of the stack.
    fn stored(instruction: &Instruction, sources: &Sources) -> Option<(usize, Option<Source>)> {
        let is_there = instruction.mnemonic() == Mnemonic::Mov
            && instruction.op0_kind() == OpKind::Memory
            && instruction.memory_base() == Register::RSP
            && instruction.memory_index() == Register::None;
        let at = usize::try_from(instruction.memory_displacement64() / 8).ok()?;
        if !is_there
            || !instruction.memory_displacement64().is_multiple_of(8)
            || at >= sources.stack.len()
        {
            return None;
        }
        let source = match instruction.op1_kind() {
            OpKind::Register => {
                of(instruction.op1_register(), instruction.op1_register().size(), sources)
            }
            _ => instruction.try_immediate(1).ok().map(Source::Constant),
        };
        Some((at, source))
    }

    /// What is in a register, or the part of it that is so many bytes wide.
    fn of(register: Register, width: usize, sources: &Sources) -> Option<Source> {
        let full = register.full_register();
        if !full.is_gpr64() {
            return None;
        }
        match sources.registers[full.number()] {
            // Half of a register is only known if all of it is a constant.
            Some(Source::Constant(value)) if width == 8 => Some(Source::Constant(value)),
            Some(Source::Constant(value)) => Some(Source::Constant(value & 0xffff_ffff)),
            // Whoever reads an `int` takes half of the register anyway.
            Some(source @ Source::Memory(_, _, size, _)) if size <= width => Some(source),
            Some(Source::Memory(..)) => None,
            Some(source @ (Source::Kept(..) | Source::Own(_))) => Some(source),
            None => {
                let is_kept = KEPT.iter().any(|(kept, _)| *kept == full);
                is_kept.then_some(Source::Kept(full, 0))
            }
        }
    }

    /// The address of an instruction's operand in memory: a register and a distance.
    fn address(instruction: &Instruction, sources: &Sources) -> Option<(Register, u64)> {
        if instruction.is_ip_rel_memory_operand() {
            return Some((Register::None, instruction.ip_rel_memory_address()));
        }
        let has_index = instruction.memory_index() != Register::None;
        let (base, by) = (instruction.memory_base(), instruction.memory_displacement64());
        if has_index || instruction.segment_prefix() != Register::None {
            return None;
        }
        if base == Register::None {
            return Some((base, by));
        }
        match of(base, 8, sources)? {
            Source::Kept(base, at) => Some((base, at.wrapping_add(by))),
            Source::Constant(value) => Some((Register::None, value.wrapping_add(by))),
            Source::Memory(..) | Source::Own(_) => None,
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
        let second = instruction.op1_kind();
        let source = match (instruction.mnemonic(), second) {
            (Mnemonic::Xor, OpKind::Register) if instruction.op1_register() == to => {
                Source::Constant(0)
            }
            (Mnemonic::Or, _) if instruction.try_immediate(1).ok() == Some(u64::MAX) => {
                Source::Constant(u64::MAX)
            }
            (Mnemonic::Mov, OpKind::Register) => of(instruction.op1_register(), width, sources)?,
            (Mnemonic::Mov, OpKind::Memory) => {
                let (base, at) = address(instruction, sources)?;
                Source::Memory(base, at, width, false)
            }
            (Mnemonic::Movsxd, OpKind::Memory) => {
                let (base, at) = address(instruction, sources)?;
                Source::Memory(base, at, 4, true)
            }
            (Mnemonic::Lea, OpKind::Memory) => match address(instruction, sources)? {
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
            Source::Own(_) => None,
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
        fn of(code: &[u8], joins: &[u64]) -> [Option<Passed>; 12] {
            let mut registers = Registers::blocked(0, 0x7000);
            registers.others[6] = Some(0x8000);
            registers.others[3] = Some(42);
            // Memory has at each address the address.
            let memory = |address: u64, _: usize| Some(address);
            let call = [0xe8, 0, 0, 0, 0];
            let found = passed(&[code, &call].concat(), 0x1000, joins, &registers, &memory);
            assert_eq!(found.target, Some(0x1005 + code.len() as u64));
            found.arguments
        }

        fn is(value: u64) -> Option<Passed> {
            Some(Passed::Value(value))
        }

        #[test]
        fn constants_registers_and_variables_are_found() {
            // mov $5, %r8d; mov -0x14(%rbp), %eax; mov %eax, %ecx; mov %ebx, %edx; xor %esi, %esi;
            // lea 0x10(%rsp), %rdi
            let code = [
                0x41, 0xb8, 5, 0, 0, 0, 0x8b, 0x45, 0xec, 0x89, 0xc1, 0x89, 0xda, 0x31, 0xf6, 0x48,
                0x8d, 0x7c, 0x24, 0x10,
            ];
            let all = [is(0x7010), is(0), is(42), is(0x8000 - 0x14), is(5), Some(Passed::Own(5))];
            assert_eq!(of(&code, &[])[..6], all);
            // A jump that leads behind the first instruction leaves that one in doubt.
            assert_eq!(of(&code, &[0x1006])[4], None);
            assert_eq!(of(&code, &[0x1006])[3], is(0x8000 - 0x14));
        }

        #[test]
        fn what_changes_before_the_call_is_not_known() {
            // mov %ebx, %edx; inc %ebx
            assert_eq!(of(&[0x89, 0xda, 0xff, 0xc3], &[])[2], None);
            // mov -0x14(%rbp), %ecx; mov %eax, -0x14(%rbp); and another place
            assert_eq!(of(&[0x8b, 0x4d, 0xec, 0x89, 0x45, 0xec], &[])[3], None);
            assert_eq!(of(&[0x8b, 0x4d, 0xec, 0x89, 0x45, 0xe0], &[])[3], is(0x8000 - 0x14));
            // mov -0x14(%rbp), %ecx; mov %eax, (%rdi)
            assert_eq!(of(&[0x8b, 0x4d, 0xec, 0x89, 0x07], &[])[3], None);
            // mov $5, %ecx; another call
            assert_eq!(of(&[0xb9, 5, 0, 0, 0, 0xe8, 0, 0, 0, 0], &[])[3], None);
            // mov $5, %ecx; cmove %eax, %ecx
            assert_eq!(of(&[0xb9, 5, 0, 0, 0, 0x0f, 0x44, 0xc8], &[])[3], None);
        }

        #[test]
        fn pushes_move_what_the_stack_pointer_leads_to() {
            // lea 0x28(%rsp), %rdi; push %rax; or $-1, %ecx; push $0
            let code = [0x48, 0x8d, 0x7c, 0x24, 0x28, 0x50, 0x83, 0xc9, 0xff, 0x6a, 0];
            assert_eq!(of(&code, &[])[0], is(0x7038));
            assert_eq!(of(&code, &[])[3], is(u64::MAX));
            // mov 8(%rsp), %ecx; sub $8, %rsp; and mov %rbp, %rsp instead
            assert_eq!(of(&[0x8b, 0x4c, 0x24, 8, 0x48, 0x83, 0xec, 8], &[])[3], is(0x7010));
            assert_eq!(of(&[0x8b, 0x4c, 0x24, 8, 0x48, 0x89, 0xec], &[])[3], None);
        }

        #[test]
        fn arguments_on_the_stack_are_found() {
            // sub $8, %rsp; push $7; push -8(%rbp); push $5
            let code = [0x48, 0x83, 0xec, 8, 0x6a, 7, 0xff, 0x75, 0xf8, 0x6a, 5];
            assert_eq!(of(&code, &[])[6..10], [is(5), is(0x7ff8), is(7), None]);
            // movl $7, 8(%rsp); mov %rbx, (%rsp)
            let code = [0xc7, 0x44, 0x24, 8, 7, 0, 0, 0, 0x48, 0x89, 0x1c, 0x24];
            assert_eq!(of(&code, &[])[6..9], [is(42), is(7), None]);
            // push $7; mov %rax, (%rdi)
            assert_eq!(of(&[0x6a, 7, 0x48, 0x89, 0x07], &[])[6], None);
        }

        #[test]
        fn a_linkage_table_leads_to_the_function() {
            // endbr64; jmp *0x100(%rip)
            let stub = [0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x25, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
            let memory = |address: u64, _: usize| match address {
                0x1000 | 0x1008 => {
                    let at = (address - 0x1000) as usize;
                    Some(u64::from_le_bytes(*stub[at..].first_chunk().unwrap()))
                }
                0x110a => Some(0x9000),
                _ => Some(0x90),
            };
            assert_eq!(destination(0x1000, &memory), 0x9000);
            assert_eq!(destination(0x9000, &memory), 0x9000);
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
