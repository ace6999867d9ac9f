//! Communicator analysis: which communicator a call names, and which ranks belong to it.

use crate::callgraph::{self, CallGraph};
use crate::environment::{Environment, predefined};
use crate::{Calls, Mpi};
use commsan_ir::{Body, FunctionId, Inst, InstId, Program, Value};
use commsan_mpi_calls::abi::MpiFamily;
use commsan_mpi_calls::abi::handles::{self, Handle, HandleKind};
use commsan_points_to::{Object, PointsTo};
use rustc_hash::FxHashMap;

const WORLD: &Handle = handles::named("MPI_COMM_WORLD");
const OWN: &Handle = handles::named("MPI_COMM_SELF");
const NULL: &Handle = handles::named("MPI_COMM_NULL");

/// A communicator, or a window of one, as far as it is known.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Comm {
    /// `MPI_COMM_WORLD`.
    World,
    /// `MPI_COMM_SELF`: of one rank, who cannot disagree with himself.
    Own,
    /// Made by a call.
    Made(Object),
    /// What the function is called with; whether as an address.
    Param(u32, bool),
    /// One of several, or unknown.
    Unknown,
}

/// Which ranks a communicator has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Group {
    /// All of the program.
    All,
    /// Some; different ones may have different communicators of one name.
    Part,
}

/// What makes values differ between ranks, one bit each.
pub type Labels = u64;

/// The rank in all of the program.
pub const RANK: Labels = 1;
/// What only some ranks have received, or each sees in its own way: messages, the clock, the host.
pub const OTHER: Labels = 2;
/// Handles that are null on some ranks.
pub const ABSENT: Labels = 4;
/// The first bit that is for the ranks of one communicator.
const FIRST: u32 = 3;

/// Finds communicators.
pub struct Comms<'p> {
    pub program: &'p Program,
    pub calls: &'p Calls,
    pub points_to: &'p PointsTo,
    pub environment: &'p Environment,
    /// Who calls whom, or starts it in other threads.
    pub graph: CallGraph,
    /// Communicators of some ranks, each with a bit for its ranks' numbers.
    labels: FxHashMap<Object, u32>,
}

impl<'p> Comms<'p> {
    pub fn new(
        program: &'p Program,
        calls: &'p Calls,
        points_to: &'p PointsTo,
        environment: &'p Environment,
    ) -> Comms<'p> {
        let called =
            |id, body: &Body, inst: &Inst| callgraph::called(program, points_to, id, body, inst);
        let graph = CallGraph::of(program, called);
        Comms { program, calls, points_to, environment, graph, labels: FxHashMap::default() }
    }

    /// The communicator, window or file that a call of MPI names; none if it names none.
    pub fn of_call(&self, function: FunctionId, inst: &Inst, mpi: &Mpi) -> Option<Comm> {
        if mpi.name == "MPI_Finalize" {
            return Some(Comm::World);
        }
        let at = named_at(mpi)?;
        let passed = *inst.args.get(at)?;
        // Calls that free take the address, in C too.
        let frees = mpi.call?.params[at].name.ends_with("_inout");
        Some(self.resolve(function, passed, mpi.by_reference || frees))
    }

    /// The communicator that a value is, or that is at an address.
    pub fn resolve(&self, function: FunctionId, value: Value, by_reference: bool) -> Comm {
        let body = self.program[function].body.as_ref();
        if by_reference {
            let constant =
                body.and_then(|body| commsan_points_to::mpi::stored(self.program, body, value));
            // Whichever library it is for: numbers of one are no handles of another.
            let handle = constant.and_then(|number| {
                let mut families = MpiFamily::ALL.iter();
                families.find_map(|family| family.handle(HandleKind::Comm, number))
            });
            match handle {
                Some(handle) if handle == WORLD => return Comm::World,
                Some(handle) if handle == OWN => return Comm::Own,
                _ => {}
            }
        }
        if let Value::Param(number) = value {
            return Comm::Param(number, by_reference);
        }
        let mut targets = self.points_to.targets(function, value);
        if by_reference {
            targets = targets.into_iter().flat_map(|at| self.points_to.content(at)).collect();
        }
        let mut objects: Vec<_> = targets.into_iter().map(|target| target.object).collect();
        objects.retain(|object| !self.is_null(*object));
        objects.sort_unstable();
        objects.dedup();
        match &*objects {
            [one] => self.predefined(*one).unwrap_or(Comm::Made(*one)),
            _ => Comm::Unknown,
        }
    }

    /// Whether this is `MPI_COMM_NULL`, where that is an address: no call is made on it.
    pub fn is_null(&self, object: Object) -> bool {
        matches!(object, Object::Global(id) if predefined(&self.program[id].name) == Some(NULL))
    }

    fn predefined(&self, object: Object) -> Option<Comm> {
        let handle = match object {
            Object::Handle(number) => handles::of_mpich(HandleKind::Comm, number as u32),
            Object::Global(id) => predefined(&self.program[id].name),
            Object::Made(..) => return None,
            _ => None,
        };
        Some(match handle {
            Some(handle) if handle == WORLD => Comm::World,
            Some(handle) if handle == OWN => Comm::Own,
            _ => Comm::Unknown,
        })
    }

    /// Which ranks a communicator of a function has.
    pub fn group(&self, function: FunctionId, comm: Comm) -> Group {
        match comm {
            Comm::World => Group::All,
            Comm::Made(object) => self.group_of(object, 0),
            Comm::Param(number, by_reference) => {
                let mut targets = self.points_to.targets(function, Value::Param(number));
                if by_reference {
                    targets =
                        targets.into_iter().flat_map(|at| self.points_to.content(at)).collect();
                }
                let all = |object| match self.predefined(object) {
                    Some(comm) => comm == Comm::World,
                    None => self.group_of(object, 0) == Group::All,
                };
                match targets.iter().all(|target| all(target.object)) && !targets.is_empty() {
                    true => Group::All,
                    false => Group::Part,
                }
            }
            Comm::Own | Comm::Unknown => Group::Part,
        }
    }

    /// Duplicates have the ranks of what they are made of, and so have windows and files.
    fn group_of(&self, object: Object, depth: usize) -> Group {
        const MAX_DERIVATION_DEPTH: usize = 8;
        let Object::Made(function, id, _) = object else { return Group::Part };
        let Some(inst) = self.inst(function, id) else { return Group::Part };
        let Some(mpi) = self.calls.at(inst) else { return Group::Part };
        let same = ["MPI_Comm_dup", "MPI_Comm_idup", "MPI_Win_", "MPI_File_open"];
        // All of one color.
        let color = || matches!(inst.args.get(1), Some(Value::Int(0..)));
        let whole = mpi.name == "MPI_Comm_split" && !mpi.by_reference && color();
        if depth > MAX_DERIVATION_DEPTH
            || !whole && !same.iter().any(|name| mpi.name.starts_with(name))
        {
            return Group::Part;
        }
        match self.of_call(function, inst, mpi) {
            Some(Comm::Made(object)) => self.group_of(object, depth + 1),
            Some(comm) => self.group(function, comm),
            None => Group::Part,
        }
    }

    fn inst(&self, function: FunctionId, id: InstId) -> Option<&Inst> {
        self.program[function].body.as_ref()?.code.get(id.0 as usize)
    }

    /// The label of numbers that differ between the ranks of a communicator.
    pub fn label(&mut self, function: FunctionId, comm: Comm) -> Labels {
        let Comm::Made(object) = comm else { return RANK };
        if self.group(function, comm) == Group::All {
            return RANK;
        }
        let next = self.labels.len() as u32 + FIRST;
        match *self.labels.entry(object).or_insert(next) {
            bit @ FIRST..64 => 1 << bit,
            _ => RANK,
        }
    }

    /// Whether ranks of a communicator may differ in values with these labels.
    pub fn differ(&self, function: FunctionId, comm: Comm, labels: Labels) -> bool {
        match (comm, self.group(function, comm)) {
            (Comm::Own | Comm::Unknown, _) => false,
            (_, Group::All) => labels != 0,
            (Comm::Made(object), Group::Part) => {
                self.labels.get(&object).is_some_and(|bit| *bit < 64 && labels & (1 << bit) != 0)
            }
            _ => false,
        }
    }
}

/// The argument by which a call names its ranks.
pub fn named_at(mpi: &Mpi) -> Option<usize> {
    let call = mpi.call?;
    let at = call.at.comm.or(call.at.win).or(call.at.file);
    at.or_else(|| call.params.iter().position(|p| FREED.contains(&&*p.name)))
}

/// Parameters that name a group of ranks for the last time.
const FREED: [&str; 3] = ["comm_inout", "win_inout", "fh_inout"];
