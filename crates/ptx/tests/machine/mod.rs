//! A scalar PTX interpreter, slow and simple: executes kernels thread by thread and records their
//! accesses, as the oracle for summaries. Integers only; any other operation gives 0.

use commsan_ptx::words::{Compare, Mode, Space, Special, Type};
use commsan_ptx::{Base, Body, Instruction, Launch, Module, Op, Operand, Reg, Site};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of global memory that each instruction has touched.
pub type Touched = BTreeMap<Site, BTreeSet<u64>>;

/// Generic addresses from here on are those of shared and local memory.
const OWN: u64 = 1 << 60;
/// Where shared and local memory begin in their own state spaces, whose addresses have 32 bits.
const SHARED: u64 = 4096;
/// A thread that runs longer is a mistake of the test.
const MAX_STEPS: usize = 100_000;

/// Executes a kernel.
pub fn execute(module: &Module, kernel: u32, launch: &Launch<'_>) -> Touched {
    let mut machine = Machine {
        module,
        launch,
        memory: BTreeMap::new(),
        touched: Touched::new(),
        tid: [0; 3],
        ctaid: [0; 3],
        steps: 0,
    };
    let size = |sizes: [u32; 3]| {
        let [x, y, z] = sizes;
        (0..z).flat_map(move |c| (0..y).flat_map(move |b| (0..x).map(move |a| [a, b, c])))
    };
    for ctaid in size(launch.grid) {
        for tid in size(launch.block) {
            (machine.tid, machine.ctaid, machine.steps) = (tid, ctaid, 0);
            machine.call(kernel, None);
        }
    }
    machine.touched
}

/// Values in parameter space, by number and offset.
type Slots = BTreeMap<(u32, i64), u64>;

struct Machine<'m> {
    module: &'m Module,
    launch: &'m Launch<'m>,
    memory: BTreeMap<u64, u8>,
    touched: Touched,
    tid: [u32; 3],
    ctaid: [u32; 3],
    steps: usize,
}

#[derive(Default)]
struct Frame {
    registers: BTreeMap<Reg, u64>,
    /// The parameters; `None` for the launch's.
    parameters: Option<Slots>,
    locals: Slots,
    returns: Slots,
}

impl Machine<'_> {
    fn call(&mut self, number: u32, parameters: Option<Slots>) -> Slots {
        let module = self.module;
        let Some(body) = &module.functions[number as usize].body else { return Slots::new() };
        let mut frame = Frame { parameters, ..Frame::default() };
        let mut at = 0;
        while let Some(instruction) = body.instructions.get(at) {
            self.steps += 1;
            assert!(self.steps < MAX_STEPS, "the kernel does not end");
            let runs = instruction.guard.is_none_or(|g| {
                (frame.registers.get(&g.register).copied().unwrap_or(0) != 0) != g.negated
            });
            at += 1;
            if !runs {
                continue;
            }
            let operands = body.operands_of(instruction);
            match (instruction.op, operands) {
                (Op::Ret | Op::Exit | Op::Trap, _) => return frame.returns,
                (Op::Bra, [Operand::Target(to)]) => at = *to as usize,
                _ => {
                    let site = Site { function: number, instruction: at as u32 - 1 };
                    self.step(body, instruction, site, &mut frame);
                }
            }
        }
        frame.returns
    }

    fn step(&mut self, body: &Body, instruction: &Instruction, site: Site, frame: &mut Frame) {
        let operands = body.operands_of(instruction);
        let modifiers = &instruction.modifiers;
        match (instruction.op, operands) {
            (Op::Ld, [to, Operand::Memory(base, offset), ..]) => {
                let size = modifiers.ty().size();
                for (register, n) in body.elements_of(to).iter().zip(0..) {
                    let offset = offset + n * size as i64;
                    let value =
                        self.load(*base, offset, modifiers.ty(), modifiers.space, site, frame);
                    write(frame, register, value);
                }
            }
            (Op::St, [Operand::Memory(base, offset), from, ..]) => {
                let size = modifiers.ty().size();
                for (element, n) in body.elements_of(from).iter().zip(0..) {
                    let value = self.value(element, frame);
                    let own = matches!(modifiers.space, Some(Space::Shared | Space::Local));
                    let site = (!own).then_some(site);
                    self.store(*base, offset + n * size as i64, size, value, site, frame);
                }
            }
            (Op::Atom, [to, Operand::Memory(base, offset), ..]) => {
                self.load(*base, *offset, modifiers.ty(), modifiers.space, site, frame);
                write(frame, to, 0);
            }
            (Op::Red, [Operand::Memory(base, offset), ..]) => {
                self.load(*base, *offset, modifiers.ty(), modifiers.space, site, frame);
            }
            (Op::Call, [Operand::Address(Base::Function(callee), 0), returned, arguments, ..]) => {
                let mut parameters = Slots::new();
                for (argument, n) in body.elements_of(arguments).iter().zip(0..) {
                    let Operand::Address(Base::Local(local), 0) = argument else { panic!() };
                    let values = frame.locals.range((*local, i64::MIN)..=(*local, i64::MAX));
                    parameters.extend(values.map(|((_, at), value)| ((n, *at), *value)));
                }
                let results = self.call(*callee, Some(parameters));
                for (place, n) in body.elements_of(returned).iter().zip(0..) {
                    let Operand::Address(Base::Local(local), 0) = place else { panic!() };
                    let values = results.range((n, i64::MIN)..=(n, i64::MAX));
                    frame.locals.extend(values.map(|((_, at), value)| ((*local, *at), *value)));
                }
            }
            (_, [to, sources @ ..]) if instruction.op.row().operands[0].written => {
                let values: Vec<u64> = sources.iter().map(|s| self.value(s, frame)).collect();
                let value = compute(instruction, &values).unwrap_or(0);
                write(frame, to, value);
            }
            _ => {}
        }
    }

    fn value(&self, operand: &Operand, frame: &Frame) -> u64 {
        match operand {
            Operand::Reg(register) => frame.registers.get(register).copied().unwrap_or(0),
            Operand::Not(register) => u64::from(self.value(&Operand::Reg(*register), frame) == 0),
            Operand::Imm(bits) => *bits,
            Operand::Special(special, d) => {
                let of = |sizes: &[u32; 3]| sizes.get(*d as usize).copied().unwrap_or(0).into();
                match special {
                    Special::Tid => of(&self.tid),
                    Special::CtaId => of(&self.ctaid),
                    Special::Ntid => of(&self.launch.block),
                    Special::NctaId => of(&self.launch.grid),
                    Special::Clock | Special::Clock64 => self.steps as u64,
                    _ => 0,
                }
            }
            Operand::Address(base, offset) => self.address(*base, *offset, frame),
            _ => 0,
        }
    }

    fn address(&self, base: Base, offset: i64, frame: &Frame) -> u64 {
        let start = match base {
            Base::Absolute => 0,
            Base::Reg(register) => self.value(&Operand::Reg(register), frame),
            Base::Variable(at) => match self.module.variables[at as usize].space {
                Space::Global | Space::Const => (self.launch.variable)(at).expect("an address"),
                _ => SHARED,
            },
            _ => SHARED,
        };
        start.wrapping_add_signed(offset)
    }

    fn touch(&mut self, address: u64, size: u64, site: Site) {
        if address < OWN {
            self.touched.entry(site).or_default().extend(address..address + size);
        }
    }

    fn load(
        &mut self,
        base: Base,
        offset: i64,
        ty: Type,
        space: Option<Space>,
        site: Site,
        frame: &Frame,
    ) -> u64 {
        let size = ty.size() as usize;
        let value = match (base, &frame.parameters) {
            (Base::Param(n), None) => {
                let parameter =
                    &self.module.functions[site.function as usize].parameters[n as usize];
                let start = (parameter.offset as i64 + offset) as usize;
                let mut wide = [0; 8];
                wide[..size].copy_from_slice(&self.launch.arguments[start..start + size]);
                u64::from_le_bytes(wide)
            }
            (Base::Param(n), Some(slots)) => slots.get(&(n, offset)).copied().unwrap_or(0),
            (Base::Local(n), _) => frame.locals.get(&(n, offset)).copied().unwrap_or(0),
            _ => {
                let address = self.address(base, offset, frame);
                if !matches!(space, Some(Space::Shared | Space::Local)) {
                    self.touch(address, size as u64, site);
                }
                // Small numbers, so that loops between two of them end soon.
                let first = |at: u64| if at.is_multiple_of(4) { (at / 4 % 8) as u8 } else { 0 };
                let byte = |at| self.memory.get(&at).copied().unwrap_or_else(|| first(at));
                (0..size.min(8) as u64).rev().fold(0, |v, n| v << 8 | u64::from(byte(address + n)))
            }
        };
        extend(value, ty)
    }

    fn store(
        &mut self,
        base: Base,
        offset: i64,
        size: u64,
        value: u64,
        site: Option<Site>,
        frame: &mut Frame,
    ) {
        match base {
            Base::Local(n) => drop(frame.locals.insert((n, offset), value)),
            Base::Return(n) => drop(frame.returns.insert((n, offset), value)),
            _ => {
                let address = self.address(base, offset, frame);
                if let Some(site) = site {
                    self.touch(address, size, site);
                }
                for n in 0..size.min(8) {
                    self.memory.insert(address + n, (value >> (8 * n)) as u8);
                }
            }
        }
    }
}

fn write(frame: &mut Frame, to: &Operand, value: u64) {
    if let Operand::Reg(register) = to {
        frame.registers.insert(*register, value);
    }
}

/// Bits as a value of a type, extended to 64 bits.
fn extend(bits: u64, ty: Type) -> u64 {
    let unused = 64 - 8 * ty.size().min(8) as u32;
    match ty.is_signed() {
        true => ((bits << unused) as i64 >> unused) as u64,
        false => bits << unused >> unused,
    }
}

/// An integer operation; its result as the bits of a register.
fn compute(instruction: &Instruction, values: &[u64]) -> Option<u64> {
    let modifiers = &instruction.modifiers;
    let ty = modifiers.types[0]?;
    if ty.is_float() && instruction.op != Op::Mov {
        return None;
    }
    let wide = modifiers.mode == Some(Mode::Wide);
    let n: Vec<i128> = values.iter().map(|v| number(*v, ty)).collect();
    let bits = 8 * ty.size().min(8) as u32;
    let result = match (instruction.op, &n[..]) {
        (Op::Cvta, [a]) if !matches!(modifiers.space, Some(Space::Global | Space::Const)) => {
            a + i128::from(OWN)
        }
        (Op::Mov | Op::Cvta | Op::CvtaTo, [a]) => *a,
        (Op::Cvt, _) => number(*values.first()?, modifiers.types[1].filter(|t| !t.is_float())?),
        (Op::Add, [a, b]) => a + b,
        (Op::Sub, [a, b]) => a - b,
        (Op::Mul, [a, b]) if modifiers.mode == Some(Mode::Hi) => (a * b) >> bits,
        (Op::Mul, [a, b]) => a * b,
        (Op::Mad, [a, b, _]) => a * b + i128::from(values[2] as i64),
        (Op::Neg, [a]) => -a,
        (Op::Not, [a]) => {
            if ty == Type::Pred {
                i128::from(*a == 0)
            } else {
                !a
            }
        }
        (Op::And, [a, b]) => a & b,
        (Op::Or, [a, b]) => a | b,
        (Op::Xor, [a, b]) => a ^ b,
        (Op::Shl, [a, _]) => a << (values[1] & 63),
        (Op::Shr, [a, _]) => a >> (values[1] & 63),
        (Op::Min, [a, b]) => *a.min(b),
        (Op::Max, [a, b]) => *a.max(b),
        (Op::Div, [a, b]) => a.checked_div(*b)?,
        (Op::Rem, [a, b]) => a.checked_rem(*b)?,
        (Op::Selp, [a, b, _]) => {
            if values[2] != 0 {
                *a
            } else {
                *b
            }
        }
        // The register of the complement follows that of the result.
        (Op::Setp, [_, a, b, ..]) => {
            let (equal, less) = (a == b, a < b);
            let this = match modifiers.compare? {
                Compare::Eq => equal,
                Compare::Ne => !equal,
                Compare::Lt | Compare::Lo => less,
                Compare::Le | Compare::Ls => less || equal,
                Compare::Gt | Compare::Hi => !less && !equal,
                Compare::Ge | Compare::Hs => !less,
                _ => return None,
            };
            let other = values.get(3).is_some_and(|v| *v != 0);
            i128::from(match modifiers.combine.map(|c| c.word()) {
                Some("and") => this && other,
                Some("or") => this || other,
                Some("xor") => this != other,
                _ => this,
            })
        }
        _ => return None,
    };
    let width = if wide { 2 * bits } else { bits };
    Some((result as u64) << (64 - width) >> (64 - width))
}

fn number(bits: u64, ty: Type) -> i128 {
    let value = extend(bits, ty);
    if ty.is_signed() { i128::from(value as i64) } else { i128::from(value) }
}
