//! Predefined handles, and which constants a call is given.

use super::held::Content;
use crate::Mpi;
use crate::environment::Environment;
use commsan_ir::{Body, Inst, InstId, Op, Program, Value};
use commsan_mpi_calls::abi::handles::{Handle, HandleKind};
use commsan_mpi_calls::abi::mpich;
use commsan_mpi_calls::{Object, reduction};
use commsan_points_to::mpi::stored;

/// A predefined handle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constant {
    /// `MPI_COMM_NULL`.
    NullComm,
    /// `MPI_WIN_NULL`.
    NullWin,
    /// `MPI_OP_NULL`.
    NullOp,
    /// `MPI_DATATYPE_NULL`.
    NullDatatype,
    /// `MPI_GROUP_NULL`.
    NullGroup,
    /// `MPI_INFO_NULL`.
    NullInfo,
    /// `MPI_FILE_NULL`.
    NullFile,
    /// `MPI_REPLACE`.
    Replace,
    /// `MPI_NO_OP`.
    NoOp,
    /// Any datatype but the null handle.
    Datatype,
    /// `MPI_COMM_WORLD` or `MPI_COMM_SELF`.
    BuiltInComm,
    /// What no library has made, nor defined: a null pointer, or zero, in C.
    Nothing,
}

impl Constant {
    /// What is left of a handle when its object is freed.
    pub fn null(object: Object) -> Option<Constant> {
        Some(match object {
            Object::Comm => Constant::NullComm,
            Object::Datatype => Constant::NullDatatype,
            Object::Group => Constant::NullGroup,
            Object::Op => Constant::NullOp,
            Object::Window => Constant::NullWin,
            Object::File => Constant::NullFile,
            Object::Request => return None,
        })
    }

    /// As the standard writes it, if it is a null handle.
    pub fn null_name(self) -> Option<&'static str> {
        Some(match self {
            Constant::NullComm => "MPI_COMM_NULL",
            Constant::NullWin => "MPI_WIN_NULL",
            Constant::NullOp => "MPI_OP_NULL",
            Constant::NullDatatype => "MPI_DATATYPE_NULL",
            Constant::NullGroup => "MPI_GROUP_NULL",
            Constant::NullFile => "MPI_FILE_NULL",
            _ => return None,
        })
    }

    /// The predefined handle of a kind that a value is.
    pub fn of_value(
        program: &Program,
        environment: &Environment,
        kind: HandleKind,
        value: Value,
    ) -> Option<Constant> {
        match value {
            Value::Int(number) => Constant::numbered(environment, kind, number),
            value => environment.handle_of(program, kind, value).and_then(Constant::of),
        }
    }

    /// The predefined handle of a kind with this number. Those of Open MPI in Fortran are too small
    /// to tell.
    fn numbered(environment: &Environment, kind: HandleKind, number: i64) -> Option<Constant> {
        // Datatypes that the table does not have are encoded alike.
        let is_datatype = kind == HandleKind::Datatype;
        if is_datatype && mpich::is_built_in(number as u32, HandleKind::Datatype) {
            return Some(Constant::Datatype);
        }
        environment.certain_handle(kind, number).and_then(Constant::of)
    }

    fn of(handle: &Handle) -> Option<Constant> {
        Some(match (handle.kind, handle.is_null()) {
            (HandleKind::Comm, true) => Constant::NullComm,
            (HandleKind::Comm, false) => Constant::BuiltInComm,
            (HandleKind::Win, true) => Constant::NullWin,
            (HandleKind::Op, true) => Constant::NullOp,
            (HandleKind::Datatype, true) => Constant::NullDatatype,
            (HandleKind::Group, true) => Constant::NullGroup,
            (HandleKind::Info, true) => Constant::NullInfo,
            (HandleKind::File, true) => Constant::NullFile,
            (HandleKind::Op, false) => match handle.bare_name() {
                "REPLACE" => Constant::Replace,
                "NO_OP" => Constant::NoOp,
                _ => return None,
            },
            // Pairs of a value and an index may have gaps.
            (HandleKind::Datatype, false)
                if handle.mpich.is_some_and(|n| mpich::is_built_in(n, handle.kind)) =>
            {
                Constant::Datatype
            }
            _ => return None,
        })
    }
}

/// Of one call.
pub struct Constants<'p> {
    pub program: &'p Program,
    pub body: &'p Body,
    pub environment: &'p Environment,
    /// By argument: what the variable holds that it is, or whose address it is.
    pub held: Vec<Option<Content>>,
}

impl Constants<'_> {
    /// The integer that a call is given.
    pub fn number(&self, mpi: &Mpi, inst: &Inst, index: usize) -> Option<i64> {
        let held = || match self.constant(index)? {
            Value::Int(number) if mpi.by_reference || !self.is_address(inst, index) => Some(number),
            _ => None,
        };
        mpi.integer(self.program, self.body, inst, index).or_else(held)
    }

    /// The constant that a variable holds.
    fn constant(&self, index: usize) -> Option<Value> {
        match self.held.get(index).copied().flatten()? {
            Content::Constant(value) => Some(value),
            _ => None,
        }
    }

    /// Whether an argument is the number of ranks of the communicator that another one is.
    pub fn is_size_of(&self, index: usize, comm: usize) -> bool {
        match self.held.get(index).copied().flatten() {
            Some(Content::Size(of)) => self.constant(comm) == Some(of),
            _ => false,
        }
    }

    /// The kind of the object that a handle stood for, and the call that has freed it.
    pub fn freed(&self, index: usize) -> Option<(Object, InstId)> {
        match self.held.get(index).copied().flatten()? {
            Content::Freed(object, by) | Content::Sometimes(object, by) => Some((object, by)),
            Content::Constant(_) | Content::Size(_) | Content::Uncommitted(_) => None,
        }
    }

    /// Whether it is freed on one side of a condition only.
    pub fn is_freed_sometimes(&self, index: usize) -> bool {
        matches!(self.held.get(index), Some(Some(Content::Sometimes(..))))
    }

    /// The call that has made a datatype which is not committed.
    pub fn uncommitted(&self, index: usize) -> Option<InstId> {
        match self.held.get(index).copied().flatten()? {
            Content::Uncommitted(by) => Some(by),
            _ => None,
        }
    }

    /// The null handle in a variable whose address a call is given.
    pub fn null_behind(&self, mpi: &Mpi, index: usize, object: Object) -> Option<Constant> {
        match self.constant(index)? {
            Value::Global(..) if mpi.by_reference => None,
            value => Constant::of_value(self.program, self.environment, object.handle(), value),
        }
    }

    fn is_address(&self, inst: &Inst, index: usize) -> bool {
        match inst.args.get(index) {
            Some(Value::Inst(id)) => matches!(self.body[*id].op, Op::Alloca(_)),
            _ => false,
        }
    }

    /// An argument of C, or the constant in the variable that it is.
    fn given(&self, inst: &Inst, index: usize) -> Option<Value> {
        let argument = *inst.args.get(index)?;
        match argument {
            Value::Inst(_) if !self.is_address(inst, index) => {
                Some(self.constant(index).unwrap_or(argument))
            }
            _ => Some(argument),
        }
    }

    /// The number in the variable that an argument of Fortran is.
    fn number_behind(&self, inst: &Inst, index: usize) -> Option<i64> {
        let held = || match self.constant(index)? {
            Value::Int(number) => Some(number),
            _ => None,
        };
        stored(self.program, self.body, *inst.args.get(index)?).or_else(held)
    }

    /// The predefined handle that a call is given.
    pub fn handle(&self, mpi: &Mpi, inst: &Inst, index: usize) -> Option<Constant> {
        let argument = self.given(inst, index)?;
        if !mpi.by_reference && argument == Value::Int(0) {
            return Some(Constant::Nothing);
        }
        let kind = mpi.call?.params.get(index)?.role.handle()?;
        let handle = match mpi.by_reference {
            true => Value::Int(self.number_behind(inst, index)?),
            false => argument,
        };
        Constant::of_value(self.program, self.environment, kind, handle)
    }

    /// The predefined reduction that a call is given, by its number in `commsan_mpi_calls`.
    pub fn reduction(&self, mpi: &Mpi, inst: &Inst, index: usize) -> Option<u32> {
        let handle = self.predefined(mpi, inst, index, HandleKind::Op)?;
        (1..)
            .map_while(|number| Some((number, reduction::name(number)?)))
            .find_map(|(number, known)| (known == handle.name).then_some(number))
    }

    /// The name of the predefined datatype that a call is given.
    pub fn datatype(&self, mpi: &Mpi, inst: &Inst, index: usize) -> Option<&'static str> {
        self.predefined(mpi, inst, index, HandleKind::Datatype).map(|handle| handle.name)
    }

    fn predefined(
        &self,
        mpi: &Mpi,
        inst: &Inst,
        index: usize,
        kind: HandleKind,
    ) -> Option<&'static Handle> {
        let argument = self.given(inst, index)?;
        match argument {
            _ if mpi.by_reference => {
                self.environment.certain_handle(kind, self.number_behind(inst, index)?)
            }
            argument => self.environment.handle_of(self.program, kind, argument),
        }
    }
}
