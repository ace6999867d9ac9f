//! Lowering: from PTX to the executable form. Names of registers become rows, constants become rows
//! of a pool, opcodes become functions of rows.
//!
//! Registers may be wider than an instruction's type (ISA §9.4.1): such operands are narrowed to a
//! temporary row before the instruction, and results are widened after it. Guards stay intact for
//! all steps of an instruction, since only its last steps write registers of the program.

mod arithmetic;
mod bits;
mod compare;
mod control;
mod convert;
mod memory;
mod real;
mod texture;
mod warp;

use crate::code::{Action, Code, Dynamic, Passed, Routine};
use crate::compute::{self, Args, Compute};
use crate::program::{Constants, Layout};
use crate::rows::{ALL, Bank, LANES, Slot};
use crate::special;
use commsan_ptx::words::{Rounding, Space, Type};
use commsan_ptx::{Base, Body, Class, Function, Instruction, Module, Operand, Reg, Targets};

/// Why an instruction cannot be executed, as a message.
pub type Refusal = String;

/// Maximum size of the registers of one thread in a function, in bytes.
const MAX_REGISTER_BYTES: u64 = 1 << 19;

/// The state of lowering one function.
pub struct Lowering<'a> {
    module: &'a Module,
    layout: &'a Layout,
    function: &'a Function,
    index: u32,
    body: &'a Body,
    constants: &'a mut Constants,
    /// Offset of the first row of each class.
    classes: [u32; Class::ALL.len()],
    /// Predicate that holds the carry of `.cc` instructions.
    carry: Slot,
    /// Predicate for unused results.
    unwanted: Slot,
    /// Offsets: of the first temporary row, of the next one, and of the end of the last one.
    temporaries: (u32, u32, u32),
    codes: Vec<Code>,
    guard: (Slot, u32),
    origin: u32,
    instruction: Instruction,
    /// Results to widen at the end of the instruction.
    widened: Vec<Widened>,
}

struct Widened {
    from: Slot,
    to: Slot,
    narrow: u64,
    wide: u64,
    signed: bool,
}

/// Size of a row of values of `width` bytes, a multiple of the alignment of rows.
fn row_bytes(width: u64) -> u32 {
    (width * LANES as u64).next_multiple_of(64) as u32
}

/// Size of a register of a class, in bytes; 0 for predicates.
fn width_of(class: Class) -> u64 {
    match class {
        Class::Pred => 0,
        Class::B8 => 1,
        Class::B16 => 2,
        Class::B32 => 4,
        Class::B64 => 8,
        Class::B128 => 16,
    }
}

/// Lowers a function, which has a body.
pub fn routine(
    module: &Module,
    layout: &Layout,
    constants: &mut Constants,
    index: u32,
) -> Result<Routine, Refusal> {
    let function = &module.functions[index as usize];
    let body = function.body.as_ref().ok_or("a function without a body")?;
    let per_thread =
        |class: &Class| u64::from(body.register_count[*class as usize]) * width_of(*class).max(1);
    if Class::ALL.iter().map(per_thread).sum::<u64>() > MAX_REGISTER_BYTES {
        return Err("more registers than a thread may have".to_owned());
    }
    let predicates = body.register_count[0];
    let mut end = ((predicates + 2) * 4).next_multiple_of(64);
    let mut classes = [0; Class::ALL.len()];
    for class in &Class::ALL[1..] {
        classes[*class as usize] = end;
        end += body.register_count[*class as usize] * row_bytes(width_of(*class));
    }
    let mut lowering = Lowering {
        module,
        layout,
        function,
        index,
        body,
        classes,
        carry: Slot::new(Bank::Frame, predicates * 4),
        unwanted: Slot::new(Bank::Frame, predicates * 4 + 4),
        temporaries: (end, end, end),
        codes: Vec::new(),
        guard: (constants.predicate(true), 0),
        constants,
        origin: 0,
        instruction: Instruction {
            op: commsan_ptx::Op::Ret,
            modifiers: Default::default(),
            guard: None,
            first: 0,
            len: 0,
            location: None,
        },
        widened: Vec::new(),
    };
    Ok(lowering.run())
}

impl Lowering<'_> {
    fn run(&mut self) -> Routine {
        let index = self.index;
        let count = self.body.instructions.len();
        let mut starts = Vec::with_capacity(count + 1);
        for (origin, instruction) in self.body.instructions.iter().enumerate() {
            starts.push(self.codes.len() as u32);
            (self.origin, self.instruction) = (origin as u32, *instruction);
            self.instruction();
        }
        starts.push(self.codes.len() as u32);
        self.origin = count as u32;
        self.guard = (self.constants.predicate(true), 0);
        self.emit(Action::Return);
        control::resolve_targets(&mut self.codes, &starts);
        let frame = &self.layout.frames[&index];
        Routine {
            codes: std::mem::take(&mut self.codes),
            registers: self.temporaries.2,
            frame: frame.size,
            parameters: frame.passed(&self.function.parameters, frame.parameters),
            returns: frame.passed(&self.function.returns, frame.returns),
        }
    }

    /// Lowers the current instruction; if that is impossible, the instruction faults when executed.
    fn instruction(&mut self) {
        let start = self.codes.len();
        self.temporaries.1 = self.temporaries.0;
        self.widened.clear();
        self.guard = match self.instruction.guard {
            None => (self.constants.predicate(true), 0),
            Some(guard) => match self.register(guard.register) {
                Ok(slot) => (slot, if guard.negated { ALL } else { 0 }),
                Err(_) => (self.constants.predicate(true), 0),
            },
        };
        match self.operation() {
            Ok(()) => {
                for done in std::mem::take(&mut self.widened) {
                    let widen = convert::resize(done.narrow, done.wide, done.signed);
                    self.compute(widen, done.to, &[done.from]);
                }
            }
            Err(refusal) => {
                self.codes.truncate(start);
                self.emit(Action::Unsupported(refusal));
            }
        }
        if self.codes.len() == start {
            self.emit(Action::Nothing);
        }
        let last = self.codes.last_mut().expect("one was emitted");
        last.counted = true;
    }

    fn operation(&mut self) -> Result<(), Refusal> {
        type Family<L> = fn(&mut L) -> Option<Result<(), Refusal>>;
        let families: [Family<Self>; 8] = [
            Self::arithmetic,
            Self::bits,
            Self::compare,
            Self::convert,
            Self::memory,
            Self::texture,
            Self::control,
            Self::warp,
        ];
        let known = families.into_iter().find_map(|family| family(self));
        known.unwrap_or_else(|| match (self.instruction.op, self.operand(0)) {
            (commsan_ptx::Op::Unknown, Ok(Operand::Imm(at))) => {
                let text = self.body.unknown.get(at as usize);
                Err(format!("`{}` is not known", text.map_or("", |t| t)))
            }
            (op, _) => Err(format!("`{}` is not simulated", op.row().names[0])),
        })
    }

    fn emit(&mut self, action: Action) {
        let none = self.unwanted;
        let args = Args { d: none, e: none, a: none, b: none, c: none };
        self.emit_with(action, args);
    }

    fn emit_with(&mut self, action: Action, args: Args) {
        let ((guard, flip), origin) = (self.guard, self.origin);
        self.codes.push(Code { guard, flip, args, action, origin, counted: false });
    }

    /// Emits a step that computes row d from up to three others.
    fn compute(&mut self, compute: Compute, d: Slot, from: &[Slot]) {
        let none = self.unwanted;
        let at = |n: usize| from.get(n).copied().unwrap_or(none);
        let args = Args { d, e: at(3), a: at(0), b: at(1), c: at(2) };
        self.emit_with(Action::Compute(compute), args);
    }

    fn operand(&self, n: usize) -> Result<Operand, Refusal> {
        let operand = self.body.operands_of(&self.instruction).get(n);
        operand.copied().ok_or_else(|| "an operand is missing".to_owned())
    }

    /// Whether an operand is present.
    fn present(&self, n: usize) -> bool {
        !matches!(self.operand(n), Err(_) | Ok(Operand::Sink))
    }

    /// The first type of the instruction.
    fn ty(&self) -> Result<Type, Refusal> {
        self.nth_type(0)
    }

    fn nth_type(&self, n: usize) -> Result<Type, Refusal> {
        self.instruction.modifiers.types[n].ok_or_else(|| "a type is missing".to_owned())
    }

    fn register(&self, register: Reg) -> Result<Slot, Refusal> {
        let (class, index) = (register.class(), register.index());
        if index >= self.body.register_count[class as usize] {
            return Err("a register that is not declared".to_owned());
        }
        let offset = match class {
            Class::Pred => index * 4,
            class => self.classes[class as usize] + index * row_bytes(width_of(class)),
        };
        Ok(Slot::new(Bank::Frame, offset))
    }

    /// A temporary row, valid for the rest of this instruction.
    fn temporary(&mut self, width: u64) -> Slot {
        let (_, next, most) = &mut self.temporaries;
        let slot = Slot::new(Bank::Frame, *next);
        *next += row_bytes(width.max(1));
        *most = (*most).max(*next);
        slot
    }

    /// The row of an operand's values, of exactly `width` bytes each.
    fn source(&mut self, n: usize, width: u64) -> Result<Slot, Refusal> {
        let operand = self.operand(n)?;
        self.row(operand, width)
    }

    fn row(&mut self, operand: Operand, width: u64) -> Result<Slot, Refusal> {
        match operand {
            Operand::Reg(register) => {
                let (slot, has) = (self.register(register)?, width_of(register.class()));
                self.resized(slot, has, width)
            }
            Operand::Imm(bits) => Ok(self.constants.value(width, bits.into())),
            Operand::Special(special, at) => {
                let (slot, has) = self.special(special, at)?;
                self.resized(slot, has, width)
            }
            Operand::Address(base, offset) => {
                let slot = self.symbol(base, offset)?;
                self.resized(slot, 8, width)
            }
            _ => Err("an operand of another kind is needed".to_owned()),
        }
    }

    /// A row with the low bits, or the extension, of another one.
    fn resized(&mut self, slot: Slot, has: u64, width: u64) -> Result<Slot, Refusal> {
        match has {
            0 => Err("a predicate where a value is needed".to_owned()),
            _ if has == width => Ok(slot),
            _ => {
                let narrow = self.temporary(width);
                self.compute(convert::resize(has, width, false), narrow, &[slot]);
                Ok(narrow)
            }
        }
    }

    /// The row of a special register and the width of its values.
    fn special(
        &mut self,
        which: commsan_ptx::words::Special,
        at: u8,
    ) -> Result<(Slot, u64), Refusal> {
        use commsan_ptx::words::Special;
        if let Some(slot) = special::slot(which, at) {
            return Ok((slot, 4));
        }
        let (dynamic, high) = match which {
            Special::Clock | Special::Clock64 => (Dynamic::Clock, false),
            Special::ClockHi => (Dynamic::Clock, true),
            Special::GlobalTimer | Special::GlobalTimerLo => (Dynamic::Time, false),
            Special::GlobalTimerHi => (Dynamic::Time, true),
            other => return Err(format!("%{} is not simulated", other.word())),
        };
        let slot = self.temporary(8);
        self.emit(Action::Read(dynamic, slot));
        if high {
            self.compute(compute::unary(|a: u64| a >> 32), slot, &[slot]);
        }
        Ok((slot, 8))
    }

    /// The address of a symbol, in its state space, as a row of 64-bit values.
    fn symbol(&mut self, base: Base, offset: i64) -> Result<Slot, Refusal> {
        match base {
            Base::Variable(at) => self.variable_address(at, offset),
            Base::Function(at) => {
                Ok(self.constants.value(8, (special::function_address(at)).into()))
            }
            Base::Absolute => Ok(self.constants.value(8, (offset as u64).into())),
            Base::Reg(_) => Err("a register where a symbol is needed".to_owned()),
            Base::Param(_) | Base::Return(_) | Base::Local(_) => {
                let (place, at) = self.own_place(base)?;
                let at = at.wrapping_add(offset as u64);
                match place {
                    crate::code::Where::Frame => {
                        let slot = self.temporary(8);
                        self.emit(Action::Read(Dynamic::Frame(at), slot));
                        Ok(slot)
                    }
                    _ => Ok(self.constants.value(8, at.into())),
                }
            }
        }
    }

    fn variable_address(&mut self, at: u32, offset: i64) -> Result<Slot, Refusal> {
        let variable = &self.module.variables[at as usize];
        match variable.space {
            Space::Shared | Space::SharedCta | Space::SharedCluster => {
                match self.layout.shared.get(&at) {
                    Some(place) => {
                        Ok(self.constants.value(8, place.wrapping_add(offset as u64).into()))
                    }
                    None => {
                        let slot = self.temporary(8);
                        let add = move |a: u32| u64::from(a).wrapping_add(offset as u64);
                        self.compute(compute::unary(add), slot, &[special::DYNAMIC_SHARED]);
                        Ok(slot)
                    }
                }
            }
            Space::Global | Space::Const => Ok(self.constants.address(at, offset)),
            other => Err(format!("a variable in .{} space is not simulated", other.word())),
        }
    }

    /// The memory and offset of a parameter, returned value or variable of the function.
    fn own_place(&self, base: Base) -> Result<(crate::code::Where, u64), Refusal> {
        use crate::code::Where;
        let missing = || "a symbol that is not declared".to_owned();
        let frame = &self.layout.frames[&self.index];
        Ok(match base {
            Base::Param(n) => {
                let offset = self.function.parameters.get(n as usize).ok_or_else(missing)?.offset;
                match self.function.entry {
                    true => (Where::Arguments, offset),
                    false => (Where::Frame, frame.parameters + offset),
                }
            }
            Base::Return(n) => {
                let returned = self.function.returns.get(n as usize).ok_or_else(missing)?;
                (Where::Frame, frame.returns + returned.offset)
            }
            Base::Local(n) => {
                let variable = self.body.variables.get(n as usize).ok_or_else(missing)?;
                match variable.space {
                    Space::Shared | Space::SharedCta => match variable.size {
                        0 => return Err("dynamic shared memory within a function".to_owned()),
                        _ => (Where::Shared, frame.shared + variable.offset),
                    },
                    Space::Local => (Where::Frame, frame.locals + variable.offset),
                    Space::Param | Space::ParamFunc => {
                        (Where::Frame, frame.arguments + variable.offset)
                    }
                    other => {
                        return Err(format!(
                            "a variable in .{} space within a function",
                            other.word()
                        ));
                    }
                }
            }
            _ => return Err(missing()),
        })
    }

    /// The predicate that an operand reads.
    fn predicate(&mut self, n: usize) -> Result<Slot, Refusal> {
        match self.operand(n)? {
            Operand::Reg(register) if register.class() == Class::Pred => self.register(register),
            Operand::Not(register) if register.class() == Class::Pred => {
                let (slot, complement) = (self.register(register)?, self.temporary(1));
                self.compute(compute::logic(|a, _| !a), complement, &[slot, slot]);
                Ok(complement)
            }
            Operand::Imm(bits) => Ok(self.constants.predicate(bits != 0)),
            _ => Err("a predicate is needed".to_owned()),
        }
    }

    /// The predicate that an operand writes.
    fn written_predicate(&mut self, n: usize) -> Result<Slot, Refusal> {
        match self.operand(n) {
            Ok(Operand::Reg(register)) if register.class() == Class::Pred => {
                self.register(register)
            }
            Err(_) | Ok(Operand::Sink) => Ok(self.unwanted),
            _ => Err("a predicate is needed".to_owned()),
        }
    }

    /// The row of a result of `width` bytes.
    fn result(&mut self, n: usize, width: u64, signed: bool) -> Result<Slot, Refusal> {
        let operand = self.operand(n)?;
        self.result_row(operand, width, signed)
    }

    fn result_row(&mut self, operand: Operand, width: u64, signed: bool) -> Result<Slot, Refusal> {
        match operand {
            Operand::Reg(register) if register.class() != Class::Pred => {
                let (to, wide) = (self.register(register)?, width_of(register.class()));
                if wide == width {
                    return Ok(to);
                }
                let from = self.temporary(width);
                self.widened.push(Widened { from, to, narrow: width, wide, signed });
                Ok(from)
            }
            Operand::Sink => Ok(self.temporary(width)),
            _ => Err("a result that is no register".to_owned()),
        }
    }

    /// Emits a step of up to three operands, all of the instruction's first type.
    fn uniform(&mut self, compute: Compute, operands: usize) -> Result<(), Refusal> {
        let ty = self.ty()?;
        self.mixed(compute, ty, &[ty; 3][..operands])
    }

    /// Emits a step whose result and operands have these types.
    fn mixed(&mut self, compute: Compute, d: Type, from: &[Type]) -> Result<(), Refusal> {
        let mut rows = Vec::with_capacity(from.len());
        for (n, ty) in from.iter().enumerate() {
            rows.push(self.source(n + 1, ty.size())?);
        }
        let d = self.result(0, d.size(), d.is_signed())?;
        self.compute(compute, d, &rows);
        Ok(())
    }

    /// The instruction's rounding mode for floating-point results.
    fn rounding(&self) -> rustc_apfloat::Round {
        use rustc_apfloat::Round;
        match self.instruction.modifiers.rounding {
            Some(Rounding::Zero | Rounding::ZeroInt) => Round::TowardZero,
            Some(Rounding::Down | Rounding::DownInt) => Round::TowardNegative,
            Some(Rounding::Up | Rounding::UpInt) => Round::TowardPositive,
            Some(Rounding::NearestAway) => Round::NearestTiesToAway,
            _ => Round::NearestTiesToEven,
        }
    }

    /// The targets of an indirect call or branch.
    fn targets(&self, n: usize) -> Result<&Targets, Refusal> {
        match self.operand(n)? {
            Operand::Table(at) => {
                let table = self.body.tables.get(at as usize);
                table.map(|t| &t.targets).ok_or_else(|| "a table that is not there".to_owned())
            }
            _ => Err("a table is needed".to_owned()),
        }
    }

    /// The values in a call's list, which lie in the frame.
    fn passed(&self, n: usize) -> Result<Vec<Operand>, Refusal> {
        let body = self.body;
        let operands = body.operands_of(&self.instruction);
        let list = operands.get(n).ok_or("a call without its lists")?;
        Ok(body.elements_of(list).to_vec())
    }

    fn passed_place(&self, operand: Operand) -> Result<Passed, Refusal> {
        let Operand::Address(base @ Base::Local(n), 0) = operand else {
            return Err("an argument that is not in parameter space".to_owned());
        };
        let (_, at) = self.own_place(base)?;
        Ok(Passed { at, size: self.body.variables[n as usize].size })
    }
}
