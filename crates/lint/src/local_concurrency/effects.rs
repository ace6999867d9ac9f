//! Mod/ref effects of instructions, and the effects of MPI calls on pending operations.

use super::flat::Flat;
use super::linear::{Known, Linear};
use super::uses::Uses;
use crate::datatypes;
use crate::environment::Environment;
use crate::library::Library;
use crate::{Calls, Mpi};
use commsan_ir::{Callee, FunctionId, Inst, InstId, Op, Program, Value};
use commsan_mpi_calls::{Call, Effect, Extent, On, Role, Rule, Times};
use commsan_points_to::objects::ObjectsId;
use commsan_points_to::{Object, PointsTo};
use rustc_hash::{FxHashMap, FxHashSet};

/// Read or written memory.
#[derive(Clone, Debug)]
pub struct Touch {
    /// Where.
    pub address: Value,
    /// Bytes, as a sum; at least one.
    pub length: Length,
    /// Whether it writes.
    pub writes: bool,
    /// Whether only some ranks do so, that of a collective.
    pub partial: bool,
}

/// How many bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Length {
    /// So many.
    Exactly(u64),
    /// So many, perhaps more.
    AtLeast(u64),
}

impl Length {
    /// Bytes that are certain.
    pub fn certain(&self) -> u64 {
        match self {
            Length::Exactly(bytes) | Length::AtLeast(bytes) => *bytes,
        }
    }

    /// Bytes beyond which nothing is.
    pub fn most(&self) -> Option<u64> {
        match self {
            Length::Exactly(bytes) => Some(*bytes),
            Length::AtLeast(_) => None,
        }
    }
}

/// A call.
pub enum Called<'c> {
    /// Of MPI, with the row of the table if it has one.
    Mpi(&'c Mpi),
    /// Of a library.
    Library(Library),
    /// Of the program, or of somebody unknown.
    Unknown,
}

/// A flat function and what it takes to understand its instructions.
pub struct View<'p> {
    pub program: &'p Program,
    pub calls: &'p Calls,
    pub points_to: &'p PointsTo,
    pub flat: Flat,
    pub environment: &'p Environment,
    /// Who uses what.
    pub uses: Uses,
    /// What arguments of Fortran calls refer to, by call and argument.
    pub passed: FxHashMap<(InstId, usize), Value>,
    /// What is in memory right after an instruction that may have changed it, by address.
    pub after: FxHashMap<(InstId, Linear), Value>,
    /// Buffers that operations write until they are complete.
    pub late: Vec<Value>,
    /// Loads that do not access memory in the program.
    pub made_up: FxHashSet<InstId>,
}

/// What an instruction may write.
#[derive(Default)]
pub struct Writes {
    /// Addresses, and at most how many bytes.
    pub places: Vec<(Value, Option<u64>)>,
    /// Whether it may write all that others know of.
    pub everything: bool,
}

impl<'p> View<'p> {
    /// What a call calls.
    pub fn called(&self, id: InstId) -> Option<Called<'p>> {
        let inst = &self.flat.body[id];
        match inst.op {
            Op::Call(Callee::Direct(callee)) => Some(match self.calls.get(callee) {
                Some(mpi) => Called::Mpi(mpi),
                None if self.program[callee].body.is_some() => Called::Unknown,
                None => match Library::of(&self.program[callee].name) {
                    Library::Anything => Called::Unknown,
                    library => Called::Library(library),
                },
            }),
            Op::Call(_) => Some(Called::Unknown),
            _ => None,
        }
    }

    /// The MPI call that an instruction is, with its row.
    pub fn row(&self, id: InstId) -> Option<(&'p Mpi, &'static Call)> {
        match self.called(id)? {
            Called::Mpi(mpi) => Some((mpi, mpi.call?)),
            _ => None,
        }
    }

    /// An argument of a call; in Fortran what it refers to.
    pub fn argument(&self, known: &Known, id: InstId, at: usize) -> Option<Linear> {
        let value = match self.passed.get(&(id, at)) {
            Some(value) => *value,
            None => *self.flat.body[id].args.get(at)?,
        };
        Linear::of(&self.flat.body, known, value)
    }

    /// Of a flat function.
    pub fn new(
        program: &'p Program,
        calls: &'p Calls,
        points_to: &'p PointsTo,
        environment: &'p Environment,
        flat: Flat,
    ) -> View<'p> {
        let (uses, passed, after, late, made_up) = Default::default();
        let mut view = View {
            program,
            calls,
            points_to,
            flat,
            environment,
            uses,
            passed,
            after,
            late,
            made_up,
        };
        view.load_references();
        for id in (0..view.flat.body.code.len() as u32).map(InstId) {
            let Some((_, call)) = view.row(id) else { continue };
            let late = matches!(call.effect, Effect::Start | Effect::Init | Effect::Rma);
            let written = call
                .accesses
                .iter()
                .filter(|rule| late && rule.mode == commsan_shadow::Mode::Write);
            let args = &view.flat.body[id].args;
            let written: Vec<_> =
                written.filter_map(|rule| args.get(rule.buffer)).copied().collect();
            view.late.extend(written);
        }
        super::cells::follow(&mut view);
        view.uses = Uses::of(&view);
        view
    }

    /// Loads what arguments of Fortran calls refer to right before the calls, so that it can be
    /// followed like any other value.
    pub fn load_references(&mut self) {
        for block in 0..self.flat.body.blocks.len() {
            let mut at = 0;
            while at < self.flat.body.blocks[block].code.len() {
                let id = self.flat.body.blocks[block].code[at];
                let loads = self.load_references_of(id, block, at);
                at += loads + 1;
            }
        }
    }

    /// Does so for one instruction of a block; returns how many loads are before it now.
    fn load_references_of(&mut self, id: InstId, block: usize, at: usize) -> usize {
        let Some((_, call)) = self.row(id).filter(|(mpi, _)| mpi.by_reference) else { return 0 };
        let mut loads = 0;
        for (number, param) in call.params.iter().filter(|p| p.in_fortran()).enumerate() {
            let Some(size) = by_value(param.role).or(handle_by_reference(&param.name)) else {
                continue;
            };
            let Some(address) = self.flat.body[id].args.get(number).copied() else { continue };
            let load = InstId(self.flat.body.code.len() as u32);
            let args = [address].into_iter().collect();
            let place = self.flat.body[id].at;
            self.flat.body.code.push(Inst { op: Op::Load(size), args, at: place });
            self.flat.body.blocks[block].code.insert(at + loads, load);
            self.passed.insert((id, number), Value::Inst(load));
            self.made_up.insert(load);
            loads += 1;
        }
        loads
    }

    /// Bytes of one element of a datatype argument; none of derived ones.
    pub fn element(&self, known: &Known, id: InstId, at: usize) -> Option<u64> {
        let datatype = self.argument(known, id, at)?;
        if let Some(number) = datatype.number() {
            return datatypes::size_of_number(self.environment, number);
        }
        let base = datatype.base().filter(|_| datatype.constant == 0)?;
        datatypes::size_of_value(self.program, self.environment, base)
    }

    /// The buffers of an MPI call, or of the operation it starts.
    pub fn buffers(&self, known: &Known, id: InstId) -> Vec<Touch> {
        let Some((_, call)) = self.row(id) else { return Vec::new() };
        let rules = call.accesses.iter().filter(|rule| {
            let peer = rule.peer.and_then(|peer| self.argument(known, id, peer)?.number());
            // Of a collective that only some write, all at least read.
            let common = rule.on == On::All || rule.mode == commsan_shadow::Mode::Read;
            !peer.is_some_and(|rank| self.is_no_rank(rank)) && common
        });
        let is_partial =
            |rule: &Rule| call.collective && rule.on != On::All && !self.is_broadcast(call);
        let rules = rules.filter(|rule| !is_partial(rule));
        rules.filter_map(|rule| self.buffer(known, id, rule, false)).collect()
    }

    /// What only some ranks use of a collective: all but the root, or the root alone. What the root
    /// alone reads may be anything elsewhere; where all write to it, the root does, too.
    pub fn partial_buffers(&self, known: &Known, id: InstId) -> Vec<Touch> {
        let Some((_, call)) = self.row(id).filter(|(_, call)| call.collective) else {
            return Vec::new();
        };
        let rules = call.accesses.iter();
        let reads = |rule: &&Rule| rule.mode == commsan_shadow::Mode::Read;
        let rules =
            rules.filter(|rule| rule.on != On::All && !(self.is_broadcast(call) && reads(rule)));
        rules.filter_map(|rule| self.buffer(known, id, rule, true)).collect()
    }

    fn buffer(&self, known: &Known, id: InstId, rule: &Rule, partial: bool) -> Option<Touch> {
        let length = self.length(known, id, rule)?;
        let address = *self.flat.body[id].args.get(rule.buffer)?;
        let writes = rule.mode == commsan_shadow::Mode::Write;
        Some(Touch { address, length, writes, partial })
    }

    fn is_broadcast(&self, call: &Call) -> bool {
        call.params.first().is_some_and(|param| param.name == "buffer")
    }

    /// `MPI_PROC_NULL`.
    pub fn is_no_rank(&self, rank: i64) -> bool {
        rank == self.environment.constants().proc_null
    }

    /// None if it is certain that nothing is touched.
    fn length(&self, known: &Known, id: InstId, rule: &Rule) -> Option<Length> {
        let number = |at: usize| self.argument(known, id, at).and_then(|sum| sum.number());
        let element = self.element(known, id, rule.datatype);
        let Some(element) = element else { return Some(Length::AtLeast(0)) };
        Some(match rule.extent {
            Extent::One => Length::Exactly(element),
            Extent::Blocks { count, times } => {
                let count = number(count);
                if count == Some(0) {
                    return None;
                }
                let bytes = count.map(|count| element * count.unsigned_abs());
                match (times, bytes) {
                    (Times::Once, Some(bytes)) => Length::Exactly(bytes),
                    (Times::Param(times), Some(bytes)) => match number(times) {
                        Some(times) => Length::Exactly(bytes * times.unsigned_abs()),
                        None => Length::AtLeast(bytes),
                    },
                    (Times::In | Times::Out, _) => Length::AtLeast(0),
                    (_, bytes) => Length::AtLeast(bytes.unwrap_or(element)),
                }
            }
            Extent::Placed { .. } | Extent::Sum(_) | Extent::Own(_) => Length::AtLeast(0),
        })
    }

    /// What an instruction reads and writes by itself, calls of MPI excepted.
    pub fn touches(&self, known: &Known, id: InstId) -> Vec<Touch> {
        let inst = &self.flat.body[id];
        let arg = |n: usize| inst.args.get(n).copied().unwrap_or(Value::Opaque);
        let bytes = |n: usize| {
            let number = Linear::of(&self.flat.body, known, arg(n)).and_then(|sum| sum.number());
            number.map_or(Length::AtLeast(1), |bytes| Length::Exactly(bytes.unsigned_abs()))
        };
        let touch = |address, length, writes| Touch { address, length, writes, partial: false };
        let exactly = |size: u32| Length::Exactly(u64::from(size));
        let library = match self.called(id) {
            Some(Called::Library(library)) => Some(library),
            _ => None,
        };
        match (&inst.op, library) {
            (Op::Load(_), _) if self.made_up.contains(&id) => Vec::new(),
            (Op::Load(size), _) => vec![touch(arg(0), exactly(*size), false)],
            (Op::Store(size), _) => vec![touch(arg(1), exactly(*size), true)],
            (Op::Atomic(size), _) => vec![touch(arg(0), exactly(*size), true)],
            (Op::Copy, _) | (_, Some(Library::Copies)) => {
                vec![touch(arg(0), bytes(2), true), touch(arg(1), bytes(2), false)]
            }
            (Op::Fill, _) | (_, Some(Library::Fills)) => vec![touch(arg(0), bytes(2), true)],
            _ => Vec::new(),
        }
    }

    /// What an instruction may write.
    pub fn writes(&self, id: InstId) -> Writes {
        let known = Known::default();
        let inst = &self.flat.body[id];
        let mut writes = Writes::default();
        match self.called(id) {
            Some(Called::Mpi(mpi)) => self.mpi_writes(id, mpi, &mut writes),
            Some(Called::Library(Library::WritesArguments | Library::Releases)) => {
                writes.places.extend(inst.args.iter().map(|arg| (*arg, None)));
            }
            Some(Called::Unknown) => {
                writes.everything = true;
                writes.places.extend(inst.args.iter().map(|arg| (*arg, None)));
            }
            _ => {
                let touches = self.touches(&known, id).into_iter().filter(|touch| touch.writes);
                writes.places.extend(touches.map(|touch| (touch.address, touch.length.most())));
            }
        }
        writes
    }

    fn mpi_writes(&self, id: InstId, mpi: &Mpi, writes: &mut Writes) {
        let args = &self.flat.body[id].args;
        const ERROR: u64 = 4;
        let Some(call) = mpi.call else {
            let small = matches!(
                &*mpi.name,
                "MPI_Comm_rank" | "MPI_Comm_size" | "MPI_Get_count" | "MPI_Type_size"
            );
            writes.places.extend(args.iter().map(|arg| (*arg, small.then_some(ERROR))));
            return;
        };
        if completes(call.effect) {
            writes.places.extend(self.late.iter().map(|address| (*address, None)));
        }
        let params = call.params.iter().filter(|param| !mpi.by_reference || param.in_fortran());
        let mut number = 0;
        for (at, param) in params.enumerate() {
            number = at + 1;
            let Some(arg) = args.get(at) else { continue };
            let known = Known::default();
            let handle = self.handle(mpi.by_reference);
            let most = match param.role {
                Role::Request => Some(handle),
                Role::Requests => {
                    let count = call.at.count.and_then(|at| self.argument(&known, id, at));
                    count.and_then(|sum| sum.number()).map(|n| n.unsigned_abs() * handle)
                }
                Role::Status => Some(datatypes::STATUS),
                Role::Flag => Some(ERROR),
                Role::Ints if param.name != "indices" => Some(ERROR),
                Role::Ints => None,
                Role::Buffer => {
                    let written = call
                        .accesses
                        .iter()
                        .any(|rule| rule.buffer == at && rule.mode == commsan_shadow::Mode::Write);
                    if written || call.name == "MPI_Pack" {
                        None
                    } else {
                        continue;
                    }
                }
                Role::Pointer => match &*param.name {
                    "comm_out" | "win_out" | "comm_inout" | "win_inout" | "datatype_inout"
                    | "message" => Some(handle),
                    "baseptr" => Some(8),
                    "base" if call.effect == Effect::MemAlloc => Some(8),
                    "position" => Some(8),
                    "base" | "argc" | "argv" | "extra_state" => continue,
                    _ => None,
                },
                _ => continue,
            };
            writes.places.push((*arg, most));
        }
        if let Some(error) = args.get(number).filter(|_| mpi.by_reference) {
            writes.places.push((*error, Some(ERROR)));
        }
    }

    /// Bytes of a handle in memory.
    pub fn handle(&self, fortran: bool) -> u64 {
        self.environment.handle_bytes(fortran).unsigned_abs()
    }

    /// The objects that an address may point into, none if nothing is known of it.
    pub fn objects(&self, address: Value) -> Option<ObjectsId> {
        const MAX_ADDRESS_DEPTH: u32 = 8;
        let found = self.objects_at(address, MAX_ADDRESS_DEPTH)?;
        (!self.points_to.in_set(found).is_empty()).then_some(found)
    }

    fn objects_at(&self, address: Value, depth: u32) -> Option<ObjectsId> {
        let root = self.flat.frames[0].function;
        let Value::Inst(id) = address else { return Some(self.points_to.objects(root, address)) };
        if let Some((frame, original)) = self.flat.origin(id) {
            let function = self.flat.frames[frame].function;
            return Some(self.points_to.objects(function, Value::Inst(original)));
        }
        let args = match &self.flat.body[id].op {
            Op::Phi(_) if depth > 0 => &self.flat.body[id].args,
            _ => return None,
        };
        let mut all = self.points_to.objects_of([]);
        for arg in args {
            all = self.points_to.objects_together(all, self.objects_at(*arg, depth - 1)?);
        }
        Some(all)
    }

    /// The object that a local or global variable is.
    pub fn object(&self, variable: Value) -> Option<Object> {
        match variable {
            Value::Global(id, _) => Some(Object::Global(id)),
            Value::Inst(id) => {
                let (frame, original) = self.flat.origin(id)?;
                Some(Object::Local(self.flat.frames[frame].function, original))
            }
            _ => None,
        }
    }

    /// The function that contains an instruction.
    pub fn function(&self, id: InstId) -> FunctionId {
        self.flat.function(id)
    }
}

/// Whether calls with this effect complete operations.
pub fn completes(effect: Effect) -> bool {
    use Effect::*;
    let request = matches!(effect, Wait | Test | WaitAll | TestAll | WaitAny | TestAny | Some);
    request || synchronises(effect)
}

/// Whether calls with this effect complete operations of a window.
pub fn synchronises(effect: Effect) -> bool {
    use Effect::*;
    matches!(effect, Fence | EpochEnd | Unlock | Flush | FlushLocal | WindowFree)
}

/// Bytes of what a Fortran argument refers to, of those that C passes by value.
fn by_value(role: Role) -> Option<u32> {
    match role {
        Role::Int
        | Role::Count
        | Role::Datatype
        | Role::Comm
        | Role::Win
        | Role::Group
        | Role::Op
        | Role::RequestValue => Some(4),
        Role::Offset => Some(8),
        _ => None,
    }
}

/// Bytes of a handle that C passes by reference, as `MPI_Win_free` its window.
fn handle_by_reference(name: &str) -> Option<u32> {
    (name == "win_inout").then_some(4)
}
