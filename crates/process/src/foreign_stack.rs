//! The call stack of another thread of this process, found without its help: by unwind tables
//! (DWARF call frame information in `.eh_frame`) and a copy-free view of its stack.
//!
//! Of a thread that is blocked in a system call the kernel shows the instruction and the stack
//! pointer, but not the frame pointer, which functions with a frame of their own need. Its frame is
//! then found by the function's prologue, else by looking for a return address whose call
//! instruction calls that very function.
//!
//! **Soundness.** The thread may go on at any time. Its memory is read through the kernel, which
//! refuses what is not mapped, and whoever asks looks afterwards whether the thread has moved. A
//! stack is advice for people: a wrong frame in it hurts nobody.

use crate::loaded::{self, Loaded};
use crate::machine::{
    CallTo, FRAME_REGISTER, LONGEST_CALL, PRESERVED, RETURN_REGISTER, STACK_REGISTER, call_at_end,
    frame_size,
};
use gimli::{
    BaseAddresses, CfaRule, EhFrame, EhFrameHdr, NativeEndian, Register, RegisterRule,
    UnwindContext, UnwindSection,
};
use std::fs::File;
use std::ops::{ControlFlow, Range};
use std::os::unix::fs::FileExt;

/// Program header of the table that leads to a module's unwind information.
const PT_GNU_EH_FRAME: u32 = 0x6474_e550;

/// How far from the stack pointer a frame is looked for.
const MAX_SEARCH: u64 = 64 << 10;

/// Registers that are followed, by DWARF's numbers.
const REGISTERS: usize = 17;

/// What is known of a thread's registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Registers {
    /// The next instruction.
    pub pc: u64,
    /// The stack pointer.
    pub sp: u64,
    /// Registers that functions preserve, by DWARF's numbers.
    preserved: [Option<u64>; REGISTERS],
}

impl Registers {
    /// Those of a thread that is blocked in a system call.
    pub fn blocked(pc: u64, sp: u64) -> Registers {
        Registers { pc, sp, preserved: [None; REGISTERS] }
    }

    /// Those of a thread that a signal has interrupted.
    pub fn interrupted(pc: u64, sp: u64, all: &[u64; 16]) -> Registers {
        let mut registers = Registers::blocked(pc, sp);
        for (number, at) in PRESERVED {
            registers.preserved[usize::from(*number)] = Some(all[*at]);
        }
        registers
    }

    fn get(&self, register: Register) -> Option<u64> {
        match register.0 {
            STACK_REGISTER => Some(self.sp),
            number => self.preserved.get(usize::from(number)).copied().flatten(),
        }
    }
}

/// The memory of this process.
pub struct Memory<'m> {
    file: &'m File,
    /// A part of it as it was, and where that was.
    copied: (u64, &'m [u8]),
}

impl<'m> Memory<'m> {
    /// The memory of this process by `/proc/self/mem`, of which `copied.1` was at `copied.0`.
    pub fn new(file: &'m File, copied: (u64, &'m [u8])) -> Memory<'m> {
        Memory { file, copied }
    }

    fn word(&self, address: u64) -> Option<u64> {
        let mut word = [0; 8];
        let (start, bytes) = self.copied;
        let at = address.checked_sub(start).and_then(|at| usize::try_from(at).ok());
        match at.and_then(|at| bytes.get(at..at + 8)) {
            Some(copied) => word.copy_from_slice(copied),
            None => self.file.read_exact_at(&mut word, address).ok()?,
        }
        Some(u64::from_ne_bytes(word))
    }
}

/// The thread's return addresses, innermost first and at most `most`; the first is `registers.pc`,
/// behind a system call. Where the thread was interrupted elsewhere, `is_interrupted`.
pub fn return_addresses(
    registers: Registers,
    is_interrupted: bool,
    memory: &Memory<'_>,
    most: usize,
) -> Vec<usize> {
    let (mut frame, mut found) = (registers, Vec::new());
    let mut is_interrupted = is_interrupted;
    while found.len() < most && frame.pc != 0 {
        // What counts as a return address is that behind the instruction.
        found.push(frame.pc as usize + usize::from(is_interrupted));
        let at = frame.pc - u64::from(!is_interrupted);
        let caller = loaded::visit(|module| match module.holds(at as usize) {
            true => ControlFlow::Break(caller(module, at, &frame, memory)),
            false => ControlFlow::Continue(()),
        });
        let Some(next) = caller.flatten().filter(|next| next.sp > frame.sp) else { break };
        (frame, is_interrupted) = (next, false);
    }
    found
}

/// The caller of the function of `module` that is at the instruction `at`.
fn caller(
    module: &Loaded<'_>,
    at: u64,
    frame: &Registers,
    memory: &Memory<'_>,
) -> Option<Registers> {
    let header = module.parts(PT_GNU_EH_FRAME, 0).next()?;
    // SAFETY: a loaded segment; the loader's lock keeps the module there.
    let table = unsafe { bytes(header.clone()) };
    let bases = BaseAddresses::default().set_eh_frame_hdr(header.start as u64);
    let parsed = EhFrameHdr::new(table, NativeEndian).parse(&bases, 8).ok()?;
    let gimli::Pointer::Direct(first) = parsed.eh_frame_ptr() else { return None };
    let first = first as usize;
    let part = module.parts(libc::PT_LOAD, 0).find(|part| part.contains(&first))?;
    // SAFETY: as above. The section's size is not known, its end is marked.
    let section = EhFrame::new(unsafe { bytes(first..part.end) }, NativeEndian);
    let bases = bases.set_eh_frame(first as u64);
    let function =
        parsed.table()?.fde_for_address(&section, &bases, at, EhFrame::cie_from_offset).ok()?;
    if function.is_signal_trampoline() {
        return None;
    }
    let mut context = UnwindContext::new();
    let row = function.unwind_info_for_address(&section, &bases, &mut context, at).ok()?;
    let start = function.initial_address();
    let (top, frame) = match *row.cfa() {
        CfaRule::RegisterAndOffset { register, offset } => match frame.get(register) {
            Some(value) => (value.checked_add_signed(offset)?, *frame),
            None if register.0 == FRAME_REGISTER => {
                let pointer = frame_pointer(module, start, frame, memory)?;
                let mut found = *frame;
                found.preserved[usize::from(FRAME_REGISTER)] = Some(pointer);
                (pointer.checked_add_signed(offset)?, found)
            }
            None => return None,
        },
        CfaRule::Expression(_) => return None,
    };
    let value = |rule: RegisterRule<usize>, now: Option<u64>| match rule {
        RegisterRule::SameValue | RegisterRule::Undefined => now,
        RegisterRule::Offset(offset) => memory.word(top.checked_add_signed(offset)?),
        RegisterRule::ValOffset(offset) => top.checked_add_signed(offset),
        RegisterRule::Register(other) => frame.get(other),
        _ => None,
    };
    let pc = match row.register(Register(RETURN_REGISTER)) {
        Some(RegisterRule::Undefined) => return None, // the outermost function
        rule => value(rule.unwrap_or(RegisterRule::Undefined), None)?,
    };
    let mut caller = Registers::blocked(pc, top);
    for (number, _) in PRESERVED {
        let rule = row.register(Register(*number)).unwrap_or(RegisterRule::SameValue);
        caller.preserved[usize::from(*number)] = value(rule, frame.get(Register(*number)));
    }
    Some(caller)
}

/// The frame pointer of a function that begins at `start` and has called another one.
fn frame_pointer(
    module: &Loaded<'_>,
    start: u64,
    frame: &Registers,
    memory: &Memory<'_>,
) -> Option<u64> {
    let length =
        64.min(module.parts(libc::PT_LOAD, libc::PF_X).find_map(|part| {
            part.contains(&(start as usize)).then_some(part.end - start as usize)
        })?);
    // SAFETY: code of a module that the loader's lock keeps there.
    let prologue = unsafe { std::slice::from_raw_parts(start as *const u8, length) };
    let by_prologue = frame_size(prologue).and_then(|size| frame.sp.checked_add(size));
    if let Some(pointer) = by_prologue
        && call_before(memory.word(pointer + 8)?).is_some()
    {
        return Some(pointer);
    }
    let places = (frame.sp..frame.sp + MAX_SEARCH).step_by(8);
    let words = places.map_while(|place| Some((place, memory.word(place + 8)?)));
    let mut pairs = words.filter(|(_, address)| calls(*address, start));
    pairs.next().map(|(place, _)| place)
}

/// Whether the call that returns to `address` is certainly one of the function at `start`.
fn calls(address: u64, start: u64) -> bool {
    let called = match call_before(address) {
        Some(CallTo::Distance(distance)) => address.checked_add_signed(distance.into()),
        Some(CallTo::Anything) | None => None,
    };
    called == Some(start)
}

/// The call that returns to `address`, if that is a return address.
fn call_before(address: u64) -> Option<CallTo> {
    let before = (address as usize).checked_sub(LONGEST_CALL)?;
    loaded::visit(|module| {
        let mut code = module.parts(libc::PT_LOAD, libc::PF_X);
        match code.any(|code| code.contains(&before) && code.contains(&(address as usize))) {
            // SAFETY: code of a module that the loader's lock keeps there.
            true => ControlFlow::Break(call_at_end(unsafe { &*(before as *const _) })),
            false => ControlFlow::Continue(()),
        }
    })?
}

/// # Safety
/// Memory that is mapped and constant as long as it is used.
unsafe fn bytes<'m>(range: Range<usize>) -> &'m [u8] {
    // SAFETY: by the caller.
    unsafe { std::slice::from_raw_parts(range.start as *const u8, range.len()) }
}
