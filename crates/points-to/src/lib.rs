//! Andersen's points-to analysis of a whole program (1994): inclusion-based, field-sensitive
//! (fields as offsets, Pearce et al. 2007), flow-insensitive, context-sensitive only where small
//! functions have summaries (`summary`); solved with online cycle elimination (Hardekopf and Lin,
//! PLDI 2007) and hash-consed points-to sets (Barbar and Sui, SAS 2021).
//!
//! ```text
//! let points_to = PointsTo::of(&program, &calls);
//! points_to.targets(function, value)    // where a value may point: objects and offsets
//! points_to.content(pointer)            // what may be stored there
//! points_to.callees(function, call)     // the possible callees of an indirect call
//! ```
//!
//! Many values have the same points-to set. Equal sets are kept once (`pool`), and each union is
//! computed once: time and memory grow with the number of different sets.
//!
//! Handles count as pointers: a call of MPI that makes one makes an object ([`Object::Made`]), so
//! that two communicators, windows or requests can be distinguished. Predefined handles are
//! globals with Open MPI and the standard ABI, and [`Object::Handle`] with MPICH.
//!
//! **Sound** except for pointers made from other integers or copied in parts of less than four
//! bytes, and for accesses beyond the object they begin in: what a value may point to is in its
//! set, [`Object::Outside`] standing for everything that the program does not define and does not
//! keep to itself. At most [`MAX_FIELDS`] offsets of an object are distinguished; beyond that, and
//! behind variable indices, the offset is unknown.

mod build;
pub mod calls;
mod code;
#[cfg(test)]
mod executed;
pub mod library;
pub mod mpi;
pub mod objects;
pub mod pool;
mod rules;
pub mod set;
mod solve;
mod summary;
mod values;

pub use mpi::{Calls, Mpi};

use commsan_ir::{FunctionId, GlobalId, Inst, InstId, Op, Program, Value};
use commsan_mpi_calls::abi::HandleKind;
use commsan_mpi_calls::abi::mpich::is_built_in;
use rustc_hash::FxHashSet;
use solve::Solver;
use std::cell::RefCell;
use values::Values;

/// Maximum number of offsets of one object that are distinguished.
pub const MAX_FIELDS: usize = 512;

/// Something that has an address, or a handle that stands for something.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Object {
    /// All instances of a local variable.
    Local(FunctionId, InstId),
    /// A global variable.
    Global(GlobalId),
    /// All that a call has made, and stored through this argument or, without one, returned: memory
    /// of the heap, handles of MPI.
    Made(FunctionId, InstId, Option<u8>),
    /// A function.
    Function(FunctionId),
    /// A predefined handle of MPICH.
    Handle(i64),
    /// Anything that libraries or callers know of.
    Outside,
}

/// A place in an object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Pointer {
    /// The object.
    pub object: Object,
    /// Bytes from its begin, if known.
    pub at: Option<i64>,
}

/// What pointers of a program point to.
#[derive(Debug)]
pub struct PointsTo {
    solver: Solver,
    values: Values,
    /// Objects known outside.
    escaped: FxHashSet<Object>,
    functions: Vec<u32>,
    sets: RefCell<objects::Sets>,
}

impl PointsTo {
    /// Of a program.
    pub fn of(program: &Program, calls: &Calls) -> PointsTo {
        build::build(program, calls)
    }

    /// Where a value of a function may point, in order; nothing if it is no pointer.
    pub fn targets(&self, function: FunctionId, value: Value) -> Vec<Pointer> {
        match value {
            Value::Global(id, at) => {
                vec![Pointer { object: Object::Global(id), at: Some(at) }]
            }
            Value::Function(id) => vec![Pointer { object: Object::Function(id), at: Some(0) }],
            Value::Int(number) if is_handle(number) => {
                vec![Pointer { object: Object::Handle(number), at: Some(0) }]
            }
            Value::Int(_) | Value::Opaque => Vec::new(),
            Value::Inst(_) | Value::Param(_) => {
                let node = self.values.get(function, value);
                node.map(|node| self.solver.pointers(node)).unwrap_or_default()
            }
        }
    }

    /// The number of the set of where a value of a function may point, unless that is a constant:
    /// of values with one number, [`PointsTo::targets`] are the same.
    pub fn set(&self, function: FunctionId, value: Value) -> Option<pool::SetId> {
        match value {
            Value::Inst(_) | Value::Param(_) => {
                Some(self.solver.held_by(self.values.get(function, value)?))
            }
            _ => None,
        }
    }

    /// Whether any place that a value of a function may point to is like this.
    pub fn any_target(
        &self,
        function: FunctionId,
        value: Value,
        mut like: impl FnMut(&Pointer) -> bool,
    ) -> bool {
        match value {
            Value::Inst(_) | Value::Param(_) => {
                self.values.get(function, value).is_some_and(|node| self.solver.any(node, like))
            }
            constant => self.targets(function, constant).iter().any(&mut like),
        }
    }

    /// What may be stored at a place, or anywhere in the object if the offset is unknown.
    pub fn content(&self, pointer: Pointer) -> Vec<Pointer> {
        self.solver.content(pointer)
    }

    /// Whether libraries or callers may know the object's address.
    pub fn escapes(&self, object: Object) -> bool {
        self.escaped.contains(&object)
    }

    /// Whom a call may reach. None if it may be somebody the program does not define.
    pub fn callees(&self, function: FunctionId, call: &Inst) -> Option<Vec<FunctionId>> {
        match call.op {
            Op::Call(commsan_ir::Callee::Direct(callee)) => Some(vec![callee]),
            Op::Call(commsan_ir::Callee::Indirect) => {
                let targets = self.targets(function, *call.args.last()?);
                let callee = |target: &Pointer| match target.object {
                    // Another number of parameters than the call has: not this one.
                    Object::Function(id) if self.takes(id, call.args.len() - 1) => Some(Some(id)),
                    Object::Function(_) => None,
                    Object::Outside => Some(None),
                    _ => None,
                };
                targets.iter().filter_map(callee).collect()
            }
            _ => None,
        }
    }

    fn takes(&self, function: FunctionId, arguments: usize) -> bool {
        self.functions[function.0 as usize] as usize <= arguments
    }
}

/// Whether a number is a predefined communicator or datatype of MPICH.
pub fn is_handle(number: i64) -> bool {
    [HandleKind::Comm, HandleKind::Datatype].iter().any(|kind| is_built_in(number as u32, *kind))
}
