//! The call stack of a thread of another process, by unwind tables (DWARF call frame information in
//! `.eh_frame`). Frame pointers are not needed.
//!
//! Of a thread that was not stopped, the kernel shows the instruction and the stack pointer, but
//! not the frame pointer, which functions with a frame of their own need. Their frame is then found
//! by the function's prologue, else by a return address whose call is one of that very function. A
//! stack is advice for people: where it cannot go on it ends.

use crate::memory::Memory;
use crate::modules::{Images, Module, Modules};
use commsan_machine::{
    CallTo, FRAME_REGISTER, LONGEST_CALL, PRESERVED, RETURN_REGISTER, STACK_REGISTER, call_at_end,
    frame_size,
};
use gimli::{
    BaseAddresses, CfaRule, EhFrame, EhFrameHdr, EndianSlice, EvaluationResult, Expression,
    FrameDescriptionEntry, NativeEndian, Register, RegisterRule, UnwindContext, UnwindExpression,
    UnwindSection, Value,
};
use std::ops::Range;

/// Registers that are followed, by DWARF's numbers: enough for x86-64 and 64-bit Arm.
pub const REGISTERS: usize = 33;

/// How far from the stack pointer a frame is looked for.
const MAX_SEARCH: u64 = 64 << 10;

type Slice<'i> = EndianSlice<'i, NativeEndian>;
type Entry<'i> = FrameDescriptionEntry<Slice<'i>>;

/// What is known of a thread's registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registers {
    /// The next instruction.
    pub pc: u64,
    /// The stack pointer.
    pub sp: u64,
    /// All others, by DWARF's numbers.
    pub others: [Option<u64>; REGISTERS],
}

impl Registers {
    /// Those of a thread that is blocked in a system call, and was not stopped.
    pub fn blocked(pc: u64, sp: u64) -> Registers {
        Registers { pc, sp, others: [None; REGISTERS] }
    }

    /// The value of a register, by DWARF's number.
    pub fn get(&self, register: u16) -> Option<u64> {
        match register {
            STACK_REGISTER => Some(self.sp),
            number => self.others.get(usize::from(number)).copied().flatten(),
        }
    }
}

/// A function that a thread is in.
#[derive(Clone)]
pub struct Frame {
    /// Registers as it has them, as far as they are known.
    pub registers: Registers,
    /// Whether the thread was interrupted in it, or a signal did; else it has called the function
    /// before.
    pub is_interrupted: bool,
    /// The module, if there is one.
    pub module: Option<Module>,
    /// Where the function begins and ends in the process, if its module has an unwind table.
    pub function: Option<Range<u64>>,
}

impl Frame {
    /// The instruction that it executes: that before the return address.
    pub fn at(&self) -> u64 {
        self.registers.pc.wrapping_sub(u64::from(!self.is_interrupted))
    }
}

/// The place of unwind information, as the header says.
pub(crate) fn start_of_frames((start, bytes): &(u64, Vec<u8>)) -> Option<u64> {
    let bases = BaseAddresses::default().set_eh_frame_hdr(*start);
    let parsed = EhFrameHdr::new(bytes, NativeEndian).parse(&bases, 8).ok()?;
    match parsed.eh_frame_ptr() {
        gimli::Pointer::Direct(first) => Some(first),
        gimli::Pointer::Indirect(_) => None,
    }
}

/// A process whose stacks are read.
pub struct Unwinder<'u> {
    /// Its modules.
    pub modules: &'u mut Modules,
    /// Its memory, with the thread's stack as it was.
    pub memory: &'u Memory,
    /// What is known of modules of all processes.
    pub images: &'u mut Images,
}

impl Unwinder<'_> {
    /// The frames of a thread, innermost first and at most `most`.
    pub fn frames(
        &mut self,
        registers: Registers,
        is_interrupted: bool,
        most: usize,
    ) -> Vec<Frame> {
        let mut found: Vec<Frame> = Vec::new();
        let mut next = Some((registers, is_interrupted));
        while let Some((registers, is_interrupted)) = next.take() {
            if found.len() == most || registers.pc == 0 {
                break;
            }
            let mut frame = Frame { registers, is_interrupted, module: None, function: None };
            frame.module = self.modules.at(frame.at(), self.memory, self.images).cloned();
            next = match frame.module.clone() {
                Some(module) if module.is_code(frame.at()) => self.caller(&module, &mut frame),
                _ => None,
            };
            // Nothing else ends a stack that leads around in a circle.
            next = next.filter(|(caller, _)| caller.sp > registers.sp);
            found.push(frame);
        }
        found
    }

    /// The caller of a frame, and whether that was interrupted by a signal.
    fn caller(&mut self, module: &Module, frame: &mut Frame) -> Option<(Registers, bool)> {
        let at = module.offset(frame.at());
        let frames = EhFrame::new(&module.image.frames.1, NativeEndian);
        let bases = bases(module);
        let Some(entry) = entry(module, &frames, &bases, at) else {
            return by_frame_pointer(module, frame, self.memory).map(|caller| (caller, false));
        };
        let start = entry.initial_address().wrapping_add(module.bias);
        frame.function = Some(start..start.wrapping_add(entry.len()));
        let mut context = UnwindContext::new();
        let row = entry.unwind_info_for_address(&frames, &bases, &mut context, at).ok()?;
        let mut own = frame.registers;
        let top = match row.cfa() {
            CfaRule::RegisterAndOffset { register, offset } => {
                let base = match own.get(register.0) {
                    None if register.0 == FRAME_REGISTER => {
                        let pointer = self.frame_pointer(start, &own)?;
                        own.others[usize::from(FRAME_REGISTER)] = Some(pointer);
                        pointer
                    }
                    value => value?,
                };
                base.checked_add_signed(*offset)?
            }
            CfaRule::Expression(expression) => {
                self.evaluate(*expression, &frames, &entry, &own, None)?
            }
        };
        let value = |rule: RegisterRule<usize>, now: Option<u64>| match rule {
            RegisterRule::SameValue | RegisterRule::Undefined => now,
            RegisterRule::Offset(offset) => self.memory.word(top.checked_add_signed(offset)?),
            RegisterRule::ValOffset(offset) => top.checked_add_signed(offset),
            RegisterRule::Register(other) => own.get(other.0),
            RegisterRule::Expression(expression) => {
                self.memory.word(self.evaluate(expression, &frames, &entry, &own, Some(top))?)
            }
            RegisterRule::ValExpression(expression) => {
                self.evaluate(expression, &frames, &entry, &own, Some(top))
            }
            _ => None,
        };
        let pc = match row.register(Register(RETURN_REGISTER)) {
            Some(RegisterRule::Undefined) => return None, // the outermost function
            None => own.get(RETURN_REGISTER)?,
            Some(rule) => value(rule, own.get(RETURN_REGISTER))?,
        };
        let sp = row.register(Register(STACK_REGISTER)).and_then(|rule| value(rule, None));
        let mut caller = Registers::blocked(pc, sp.unwrap_or(top));
        let is_signal = entry.is_signal_trampoline();
        for number in 0..REGISTERS as u16 {
            let is_kept = PRESERVED.iter().any(|(kept, _)| *kept == number);
            // A function leaves in the others what it likes; one that is interrupted has all.
            let rule = row.register(Register(number));
            let rule = rule.or_else(|| (is_kept || is_signal).then_some(RegisterRule::SameValue));
            caller.others[usize::from(number)] = rule.and_then(|rule| value(rule, own.get(number)));
        }
        Some((caller, is_signal))
    }

    /// The function that holds an address of the process.
    #[cfg(target_arch = "x86_64")]
    pub fn function(&mut self, address: u64) -> Option<Range<u64>> {
        let module = self.modules.at(address, self.memory, self.images)?;
        let frames = EhFrame::new(&module.image.frames.1, NativeEndian);
        let entry = entry(module, &frames, &bases(module), module.offset(address))?;
        let start = entry.initial_address().wrapping_add(module.bias);
        Some(start..start.wrapping_add(entry.len()))
    }

    fn evaluate(
        &self,
        expression: UnwindExpression<usize>,
        frames: &EhFrame<Slice<'_>>,
        entry: &Entry<'_>,
        registers: &Registers,
        initial: Option<u64>,
    ) -> Option<u64> {
        let expression: Expression<Slice<'_>> = expression.get(frames).ok()?;
        let mut evaluation = expression.evaluation(entry.cie().encoding());
        if let Some(initial) = initial {
            evaluation.set_initial_value(initial);
        }
        let mut result = evaluation.evaluate().ok()?;
        loop {
            result = match result {
                EvaluationResult::Complete => break,
                EvaluationResult::RequiresRegister { register, .. } => {
                    let value = registers.get(register.0)?;
                    evaluation.resume_with_register(Value::Generic(value)).ok()?
                }
                EvaluationResult::RequiresMemory { address, size, .. } => {
                    let word = self.memory.word(address)?;
                    let bits = 8 * u32::from(size);
                    let kept = if bits < 64 { word & ((1 << bits) - 1) } else { word };
                    evaluation.resume_with_memory(Value::Generic(kept)).ok()?
                }
                _ => return None,
            };
        }
        evaluation.value_result()?.to_u64(u64::MAX).ok()
    }

    /// The frame pointer of a function that begins at `start` and has called another one.
    fn frame_pointer(&mut self, start: u64, frame: &Registers) -> Option<u64> {
        let prologue = self.memory.bytes(start, 64);
        let by_prologue = frame_size(&prologue).and_then(|size| frame.sp.checked_add(size));
        if let Some(pointer) = by_prologue {
            let returns_to = self.memory.word(pointer + 8)?;
            if self.call_before(returns_to).is_some() {
                return Some(pointer);
            }
        }
        (frame.sp..frame.sp + MAX_SEARCH).step_by(8).find(|place| {
            let Some(address) = self.memory.word(place + 8) else { return false };
            match self.call_before(address) {
                Some(CallTo::Distance(by)) => address.checked_add_signed(by.into()) == Some(start),
                Some(CallTo::Anything) | None => false,
            }
        })
    }

    /// The call that returns to `address`, if that is a return address.
    fn call_before(&self, address: u64) -> Option<CallTo> {
        let mapping = self.modules.mapping(address).filter(|mapping| mapping.is_executable)?;
        let before = address.checked_sub(LONGEST_CALL as u64)?;
        let is_inside = mapping.range.contains(&before);
        is_inside.then(|| self.memory.array(before)).flatten().and_then(|code| call_at_end(&code))
    }
}

/// The caller by the frame pointer, of functions without an unwind table. Only where both look like
/// what they should be.
fn by_frame_pointer(module: &Module, frame: &Frame, memory: &Memory) -> Option<Registers> {
    let pointer = frame.registers.get(FRAME_REGISTER)?;
    if pointer < frame.registers.sp || pointer % 8 != 0 {
        return None;
    }
    let (outer, pc) = (memory.word(pointer)?, memory.word(pointer + 8)?);
    let is_plausible = outer == 0 || outer > pointer;
    if !is_plausible || pc < 4096 || !module.is_code(pc) {
        return None;
    }
    let mut caller = Registers::blocked(pc, pointer + 16);
    caller.others[usize::from(FRAME_REGISTER)] = Some(outer);
    Some(caller)
}

fn bases(module: &Module) -> BaseAddresses {
    BaseAddresses::default()
        .set_eh_frame_hdr(module.image.header.0)
        .set_eh_frame(module.image.frames.0)
}

/// The description of the function at an address of the module's file.
fn entry<'i>(
    module: &'i Module,
    frames: &EhFrame<Slice<'i>>,
    bases: &BaseAddresses,
    at: u64,
) -> Option<Entry<'i>> {
    if module.image.header.1.is_empty() {
        return frames.fde_for_address(bases, at, EhFrame::cie_from_offset).ok();
    }
    let header = EhFrameHdr::new(&module.image.header.1, NativeEndian).parse(bases, 8).ok()?;
    header.table()?.fde_for_address(frames, bases, at, EhFrame::cie_from_offset).ok()
}
