//! Interpreter of one rank: executes IR on known and unknown values up to the next MPI call.

use super::arithmetic::{address, binary, compare};
use super::store::{Datum, ObjectId, Origin, Store, UNKNOWN_SIZE_BYTES};
use super::text::Text;
use crate::places::is_packaged;
use commsan_ir::{Binary, BlockId, Body, Callee, FunctionId, GlobalId, Inst, InstId, Op, Value};
use rustc_hash::FxHashMap;

/// Maximum depth of the call stack.
const MAX_CALL_DEPTH: usize = 200;
/// Maximum number of iterations of a loop without MPI calls; beyond it, the loop's results are
/// unknown.
const MAX_LOOP_ITERATIONS: u32 = 2_000;

/// Why a rank does not go on by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// It calls MPI here.
    Mpi,
    /// The program has ended, with this status.
    Ended(Datum),
    /// Nobody knows how it goes on.
    Lost,
}

/// A function that has not returned.
#[derive(Debug)]
pub struct Frame {
    pub function: FunctionId,
    pub block: BlockId,
    /// The next instruction of the block.
    next: usize,
    values: Vec<Datum>,
    /// Results of more than 8 bytes: descriptors of Fortran's arrays.
    wide: FxHashMap<InstId, Vec<(i64, i64, Datum)>>,
    params: Vec<Datum>,
}

/// Memory that an operation uses which is not complete.
#[derive(Clone, Copy, Debug)]
pub struct Pending {
    pub object: ObjectId,
    pub from: i64,
    pub to: i64,
    /// The number of its request.
    pub request: usize,
    /// Whether the operation writes.
    pub writes: bool,
}

/// What is done to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Load,
    Store,
    Release,
}

/// An access to such memory, and where it is.
#[derive(Clone, Copy, Debug)]
pub struct Touch {
    pub pending: Pending,
    pub access: Access,
    pub place: (FunctionId, InstId),
}

/// A rank.
pub struct Interpreter<'t, 'p> {
    pub text: &'t Text<'p>,
    pub store: Store,
    pub frames: Vec<Frame>,
    pub(super) globals: FxHashMap<GlobalId, ObjectId>,
    rounds: FxHashMap<(FunctionId, BlockId), u32>,
    /// Buffers of operations that are not complete.
    pub pending: Vec<Pending>,
    /// What the program does to them meanwhile.
    pub touches: Vec<Touch>,
    /// Instructions that it may still run.
    pub steps: u32,
}

impl<'t, 'p> Interpreter<'t, 'p> {
    /// At the begin of `main`.
    pub fn new(text: &'t Text<'p>, main: FunctionId, steps: u32) -> Self {
        let mut interpreter = Interpreter {
            text,
            store: Store::default(),
            frames: Vec::new(),
            globals: FxHashMap::default(),
            rounds: FxHashMap::default(),
            pending: Vec::new(),
            touches: Vec::new(),
            steps,
        };
        let name = interpreter.store.make(Origin::System, None, Datum::Unknown);
        let arguments = interpreter.store.make(Origin::System, Some(16), Datum::Int(0));
        interpreter.store.store((arguments, 0), 8, Datum::Address(name, 0));
        let params = vec![Datum::Int(1), Datum::Address(arguments, 0), Datum::Unknown];
        interpreter.enter(main, params);
        interpreter
    }

    pub fn frame(&self) -> &Frame {
        self.frames.last().expect("has not ended")
    }

    pub(super) fn body(&self) -> &'p Body {
        self.text.body(self.frame().function)
    }

    /// The instruction that is to run next.
    pub fn here(&self) -> (InstId, &'p Inst) {
        let (frame, body) = (self.frame(), self.body());
        let id = body[frame.block].code[frame.next];
        (id, &body[id])
    }

    /// Runs up to the next call of MPI.
    pub fn run(&mut self) -> Stop {
        loop {
            if self.steps == 0 {
                return Stop::Lost;
            }
            self.steps -= 1;
            if let Err(stop) = self.step() {
                return stop;
            }
        }
    }

    /// Goes on behind a call, which has returned this.
    pub fn returned(&mut self, result: Datum) {
        let (id, _) = self.here();
        self.result(id, result);
        self.go_on();
    }

    fn go_on(&mut self) {
        let end = {
            let frame = self.frame();
            let block = &self.body()[frame.block];
            (frame.next + 1 >= block.code.len()).then(|| block.next.first().copied())
        };
        match end {
            // After a call that may throw.
            Some(Some(next)) => self.jump(next),
            _ => self.frame_mut().next += 1,
        }
    }

    fn frame_mut(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("has not ended")
    }

    pub(super) fn result(&mut self, id: InstId, value: Datum) {
        self.frame_mut().values[id.0 as usize] = value;
    }

    fn enter(&mut self, function: FunctionId, params: Vec<Datum>) {
        let values = vec![Datum::Unknown; self.text.body(function).code.len()];
        let wide = FxHashMap::default();
        self.frames.push(Frame { function, block: BlockId(0), next: 0, values, wide, params });
    }

    /// What a value is now.
    pub fn value(&mut self, value: Value) -> Datum {
        match value {
            Value::Int(number) => Datum::Int(number),
            Value::Inst(id) => self.frame().values[id.0 as usize],
            Value::Param(number) => {
                self.frame().params.get(number as usize).copied().unwrap_or(Datum::Unknown)
            }
            Value::Global(id, at) => Datum::Address(self.global(id), at),
            Value::Function(id) => Datum::Function(id),
            Value::Opaque => Datum::Unknown,
        }
    }

    /// The object that a global variable is.
    pub fn global(&mut self, id: GlobalId) -> ObjectId {
        if let Some(object) = self.globals.get(&id) {
            return *object;
        }
        let global = &self.text.program[id];
        let content = if global.defined { Datum::Int(0) } else { Datum::Unknown };
        // Floating-point numbers in it are unknown.
        let opaque = global.defined && global.size > 0 && !self.text.is_plain(id);
        let content = if opaque { Datum::Unknown } else { content };
        let size = i64::try_from(global.size).ok().filter(|_| global.defined);
        let object = self.store.make(Origin::Global(id), size, content);
        self.globals.insert(id, object);
        for (index, (at, value)) in global.initial.iter().enumerate() {
            let next = global.initial.get(index + 1).map_or(global.size, |(next, _)| *next);
            let room = (next - at).min(8) as i64;
            let value = self.value(*value);
            let length = match value {
                Datum::Int(_) => self.text.step_of(id).unwrap_or(room).min(room),
                _ => room,
            };
            self.store.store((object, *at as i64), length, value);
        }
        object
    }

    /// What is at an address.
    pub fn load(&mut self, address: Datum, size: i64) -> Datum {
        match address {
            Datum::Address(object, at) => self.store.load((object, at), size),
            _ => Datum::Unknown,
        }
    }

    /// Compares an access with what is pending: of what is sent a load is allowed. In packaged
    /// code, as that of `std::vector`, it is the user's call that counts.
    fn touch(&mut self, address: Datum, size: i64, access: Access) {
        let Datum::Address(object, at) = address else { return };
        let meets = |pending: &&Pending| {
            pending.object == object
                && at < pending.to
                && pending.from < at.saturating_add(size)
                && (access != Access::Load || pending.writes)
        };
        if let Some(pending) = self.pending.iter().find(meets).copied() {
            let place = self.users_place();
            self.touches.push(Touch { pending, access, place });
        }
    }

    /// Memory is released: the object that this is an address of.
    pub(super) fn release(&mut self, address: Datum) {
        if let Datum::Address(object, _) = address {
            self.touch(Datum::Address(object, 0), i64::MAX, Access::Release);
        }
    }

    /// The innermost place in code that is not packaged, or else the innermost of all.
    fn users_place(&self) -> (FunctionId, InstId) {
        let place = |frame: &Frame| {
            let body = self.text.body(frame.function);
            (frame.function, body[frame.block].code[frame.next])
        };
        let is_own = |frame: &&Frame| !is_packaged(self.text.program, frame.function);
        place(self.frames.iter().rev().find(is_own).unwrap_or(self.frame()))
    }

    fn step(&mut self) -> Result<(), Stop> {
        let (id, inst) = self.here();
        let value = match &inst.op {
            Op::Nop => Datum::Unknown,
            Op::Alloca(size) => {
                let origin = Origin::Made(self.frame().function, id);
                let size = size.and_then(|size| i64::try_from(size).ok());
                Datum::Address(self.store.make(origin, size, Datum::Unknown), 0)
            }
            Op::Load(size) => {
                let (address, size) = (self.value(inst.args[0]), i64::from(*size));
                self.touch(address, size, Access::Load);
                match address {
                    Datum::Address(object, at) if size > 8 => {
                        let pieces = self.store.copy_of((object, at), size);
                        self.frame_mut().wide.insert(id, pieces);
                        Datum::Unknown
                    }
                    _ => self.load(address, size),
                }
            }
            Op::Store(size) => {
                let (stored, address) = (inst.args[0], self.value(inst.args[1]));
                self.touch(address, i64::from(*size), Access::Store);
                self.write(stored, address, i64::from(*size))?;
                Datum::Unknown
            }
            Op::Atomic(size) => {
                let (address, size) = (self.value(inst.args[0]), i64::from(*size));
                if inst.args.len() > 1 {
                    self.put(address, size, Datum::Unknown)?;
                    Datum::Unknown
                } else {
                    self.load(address, size)
                }
            }
            Op::Offset(bytes, scales) => self.offset(inst, *bytes, scales),
            Op::Copy => {
                let [to, from, length] = [0, 1, 2].map(|n| self.value(inst.args[n]));
                self.copy(to, from, length)?;
                Datum::Unknown
            }
            Op::Fill => {
                let [to, byte, length] = [0, 1, 2].map(|n| self.value(inst.args[n]));
                self.fill(to, byte, length)?;
                Datum::Unknown
            }
            Op::Call(callee) => return self.call(id, inst, *callee),
            // Made when the block is entered.
            Op::Phi(_) => Datum::Unknown,
            Op::Select => match self.value(inst.args[0]) {
                Datum::Int(chosen) => self.value(inst.args[if chosen != 0 { 1 } else { 2 }]),
                _ => {
                    let (one, other) = (self.value(inst.args[1]), self.value(inst.args[2]));
                    if one == other { one } else { Datum::Unknown }
                }
            },
            Op::Binary(op) => {
                let (left, right) = (self.value(inst.args[0]), self.value(inst.args[1]));
                let negates = *op == Binary::Xor && inst.args[1] == Value::Int(-1);
                match left {
                    Datum::Int(truth) if negates && self.is_truth(inst.args[0]) => {
                        Datum::Int(i64::from(truth == 0))
                    }
                    _ => binary(*op, left, right),
                }
            }
            Op::Compare(how) => {
                let (left, right) = (self.value(inst.args[0]), self.value(inst.args[1]));
                compare(*how, left, right)
            }
            Op::Cast => {
                if let Value::Inst(from) = inst.args[0]
                    && let Some(pieces) = self.frame().wide.get(&from).cloned()
                {
                    self.frame_mut().wide.insert(id, pieces);
                }
                self.value(inst.args[0])
            }
            Op::Mix => self.first_part(inst),
            Op::Goto => return self.leave(0),
            Op::Branch => {
                let hot = self.is_hot();
                return match self.value(inst.args[0]) {
                    Datum::Int(condition) if !hot => self.leave(usize::from(condition == 0)),
                    Datum::Int(condition) => match self.skip(true) {
                        Ok(()) => Ok(()),
                        Err(_) => self.leave(usize::from(condition == 0)),
                    },
                    Datum::Address(..) | Datum::Function(_) | Datum::Handle(..) => self.leave(0),
                    Datum::Unknown => self.skip(false),
                };
            }
            Op::Switch(cases) => {
                return match self.value(inst.args[0]) {
                    Datum::Int(number) => {
                        let found = cases.iter().position(|case| *case == number);
                        self.leave(found.map_or(0, |found| found + 1))
                    }
                    _ => self.skip(false),
                };
            }
            Op::Return => return self.leave_function(inst),
            Op::Unreachable => return Err(Stop::Lost),
        };
        self.result(id, value);
        self.go_on();
        Ok(())
    }

    fn leave_function(&mut self, inst: &Inst) -> Result<(), Stop> {
        let value = inst.args.first().map_or(Datum::Unknown, |value| self.value(*value));
        if self.frames.len() == 1 {
            return Err(Stop::Ended(value));
        }
        self.frames.pop();
        self.returned(value);
        Ok(())
    }

    /// Whether a loop has gone round often enough.
    fn is_hot(&mut self) -> bool {
        let place = (self.frame().function, self.frame().block);
        let rounds = self.rounds.entry(place).or_default();
        *rounds += 1;
        *rounds > MAX_LOOP_ITERATIONS
    }

    fn leave(&mut self, way: usize) -> Result<(), Stop> {
        let block = self.frame().block;
        let next = *self.body()[block].next.get(way).ok_or(Stop::Lost)?;
        self.jump(next);
        Ok(())
    }

    /// Enters a block from the one that it is in.
    fn jump(&mut self, to: BlockId) {
        let (from, body) = (self.frame().block, self.body());
        let mut values = Vec::new();
        for (id, inst) in body.instructions(to) {
            let Op::Phi(blocks) = &inst.op else { break };
            let place = blocks.iter().position(|block| *block == from);
            let value = place.map_or(Datum::Unknown, |place| self.value(inst.args[place]));
            // `true` is a bit that is set, and reads as -1.
            let truth = value == Datum::Int(-1) && inst.args.iter().any(|arg| self.is_truth(*arg));
            values.push((id, if truth { Datum::Int(1) } else { value }));
        }
        self.begin(to, &values);
    }

    pub(super) fn begin(&mut self, block: BlockId, phis: &[(InstId, Datum)]) {
        for (id, value) in phis {
            self.result(*id, *value);
        }
        let frame = self.frame_mut();
        (frame.block, frame.next) = (block, phis.len());
    }

    /// Whether a value is of one bit.
    fn is_truth(&self, value: Value) -> bool {
        let Value::Inst(id) = value else { return false };
        let inst = &self.body()[id];
        match inst.op {
            Op::Compare(_) => true,
            Op::Binary(Binary::Xor) => {
                inst.args[1] == Value::Int(-1) && self.is_truth(inst.args[0])
            }
            // A variable of type `bool`.
            Op::Cast => match inst.args[0] {
                Value::Inst(from) => self.body()[from].op == Op::Load(1),
                _ => false,
            },
            _ => false,
        }
    }

    fn offset(&mut self, inst: &Inst, bytes: i64, scales: &[i64]) -> Datum {
        let mut sum = bytes;
        for (place, scale) in scales.iter().enumerate() {
            let Datum::Int(index) = self.value(inst.args[place + 1]) else {
                return Datum::Unknown;
            };
            sum = sum.wrapping_add(index.wrapping_mul(*scale));
        }
        match self.value(inst.args[0]) {
            Datum::Address(object, at) => address(object, at, sum),
            Datum::Int(at) => Datum::Int(at.wrapping_add(sum)),
            _ => Datum::Unknown,
        }
    }

    /// What structures in registers begin with, if they are addresses alone: parts of descriptors.
    fn first_part(&mut self, inst: &Inst) -> Datum {
        let [Value::Inst(whole)] = inst.args[..] else { return Datum::Unknown };
        let pieces = self.frame().wide.get(&whole);
        match pieces.and_then(|pieces| pieces.first()) {
            Some((0, 8, address @ Datum::Address(..))) => *address,
            _ => Datum::Unknown,
        }
    }

    fn write(&mut self, stored: Value, address: Datum, size: i64) -> Result<(), Stop> {
        if let (Value::Inst(id), Datum::Address(object, at)) = (stored, address)
            && let Some(pieces) = self.frame().wide.get(&id).cloned()
        {
            self.store.paste((object, at), size, &pieces);
            return Ok(());
        }
        let value = self.value(stored);
        self.put(address, size, value)
    }

    /// Stores; where nobody knows where to, the rank is lost, unless it is somewhere in a known
    /// object.
    pub fn put(&mut self, address: Datum, size: i64, value: Datum) -> Result<(), Stop> {
        match address {
            Datum::Address(object, at) => self.store.store((object, at), size, value),
            _ => match self.somewhere() {
                Some(objects) => objects.into_iter().for_each(|object| self.store.forget(object)),
                None => return Err(Stop::Lost),
            },
        }
        Ok(())
    }

    /// The objects that the address of a store is in, if it cannot be computed.
    fn somewhere(&mut self) -> Option<Vec<ObjectId>> {
        let (_, inst) = self.here();
        let address = match inst.op {
            Op::Store(_) => inst.args[1],
            _ => *inst.args.first()?,
        };
        self.objects_at(address, &[])
    }

    pub fn copy(&mut self, to: Datum, from: Datum, length: Datum) -> Result<(), Stop> {
        let (Datum::Address(to_object, at), Datum::Int(length)) = (to, length) else {
            return match to {
                Datum::Address(object, _) => {
                    self.store.forget(object);
                    Ok(())
                }
                _ => self.put(to, 0, Datum::Unknown),
            };
        };
        self.touch(to, length, Access::Store);
        self.touch(from, length, Access::Load);
        let pieces = match from {
            Datum::Address(object, at) if length < UNKNOWN_SIZE_BYTES => {
                self.store.copy_of((object, at), length)
            }
            _ => Vec::new(),
        };
        self.store.paste((to_object, at), length.clamp(0, UNKNOWN_SIZE_BYTES), &pieces);
        Ok(())
    }

    pub(super) fn fill(&mut self, to: Datum, byte: Datum, length: Datum) -> Result<(), Stop> {
        self.copy(to, Datum::Unknown, length)?;
        if let (Datum::Address(object, at), Datum::Int(0), Datum::Int(length)) = (to, byte, length)
        {
            self.store.store((object, at), length.clamp(0, UNKNOWN_SIZE_BYTES), Datum::Int(0));
        }
        Ok(())
    }

    fn call(&mut self, id: InstId, inst: &'p Inst, callee: Callee) -> Result<(), Stop> {
        let function = match callee {
            Callee::Direct(function) => function,
            Callee::Assembly => return Err(Stop::Lost),
            Callee::Indirect => match self.value(*inst.args.last().ok_or(Stop::Lost)?) {
                Datum::Function(function) => function,
                _ => return Err(Stop::Lost),
            },
        };
        if self.text.calls.get(function).is_some() {
            return Err(if callee == Callee::Indirect { Stop::Lost } else { Stop::Mpi });
        }
        if self.text.program[function].body.is_some() {
            if self.frames.len() >= MAX_CALL_DEPTH {
                return Err(Stop::Lost);
            }
            let args: Vec<_> = inst.args.iter().map(|value| self.value(*value)).collect();
            self.enter(function, args);
            return Ok(());
        }
        let name = &*self.text.program[function].name;
        let result = self.library(id, inst, commsan_points_to::library::plain(name))?;
        self.returned(result);
        Ok(())
    }
}
