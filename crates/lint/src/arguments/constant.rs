//! Constants of the two MPI libraries, and where a call is given one.

use super::held::Content;
use crate::Mpi;
use crate::environment::Environment;
use commsan_ir::{Body, Inst, InstId, Op, Program, Value};
use commsan_mpi_calls::{Object, reduction};
use commsan_points_to::mpi::stored;

/// `MPI_ANY_TAG`, of both.
pub const ANY_TAG: i64 = -1;

/// `MPI_UNDEFINED`, of both.
pub const UNDEFINED: i64 = -32766;

/// Numbers that stand for no single rank.
#[derive(Clone, Copy, Debug)]
pub struct Ranks {
    /// `MPI_PROC_NULL`.
    pub nowhere: i64,
    /// `MPI_ANY_SOURCE`.
    pub any: i64,
    /// `MPI_ROOT`.
    pub root: i64,
}

/// Of Open MPI and MPICH.
const RANKS: [Ranks; 2] =
    [Ranks { nowhere: -2, any: -1, root: -4 }, Ranks { nowhere: -1, any: -2, root: -3 }];

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

    /// By the name of Open MPI's variable.
    pub fn named(name: &str) -> Option<Constant> {
        Some(match name {
            "ompi_mpi_comm_null" => Constant::NullComm,
            "ompi_mpi_win_null" => Constant::NullWin,
            "ompi_mpi_op_null" => Constant::NullOp,
            "ompi_mpi_datatype_null" => Constant::NullDatatype,
            "ompi_mpi_group_null" => Constant::NullGroup,
            "ompi_mpi_info_null" => Constant::NullInfo,
            "ompi_mpi_file_null" => Constant::NullFile,
            "ompi_mpi_comm_world" | "ompi_mpi_comm_self" => Constant::BuiltInComm,
            "ompi_mpi_op_replace" => Constant::Replace,
            "ompi_mpi_op_no_op" => Constant::NoOp,
            "ompi_mpi_char"
            | "ompi_mpi_byte"
            | "ompi_mpi_int"
            | "ompi_mpi_unsigned"
            | "ompi_mpi_long"
            | "ompi_mpi_unsigned_long"
            | "ompi_mpi_long_long_int"
            | "ompi_mpi_float"
            | "ompi_mpi_double" => Constant::Datatype,
            _ => return None,
        })
    }

    /// By the number in MPICH's `mpi.h`, which its ABI fixes.
    pub fn numbered(number: i64) -> Option<Constant> {
        Some(match u32::try_from(number & 0xffff_ffff).ok()? {
            0x0400_0000 => Constant::NullComm,
            0x2000_0000 => Constant::NullWin,
            0x1800_0000 => Constant::NullOp,
            0x0c00_0000 => Constant::NullDatatype,
            0x0800_0000 => Constant::NullGroup,
            0x1c00_0000 => Constant::NullInfo,
            0x4400_0000 | 0x4400_0001 => Constant::BuiltInComm,
            0x5800_000d => Constant::Replace,
            0x5800_000e => Constant::NoOp,
            built_in if built_in >> 24 == 0x4c => Constant::Datatype,
            _ => return None,
        })
    }
}

/// A predefined handle by what the library calls it.
enum Predefined<'p> {
    /// The name of Open MPI's variable, without its prefix.
    Named(&'p str),
    /// The number in MPICH's `mpi.h`.
    Numbered(u32),
}

/// MPICH's predefined reductions, from 0x58000001 on.
pub const REDUCTIONS: [&str; 12] =
    ["MAX", "MIN", "SUM", "PROD", "LAND", "BAND", "LOR", "BOR", "LXOR", "BXOR", "MINLOC", "MAXLOC"];

/// MPICH's predefined datatypes that programs reduce.
pub const DATATYPES: [(u32, &str); 42] = [
    (0x4c00_0101, "CHAR"),
    (0x4c00_0118, "SIGNED_CHAR"),
    (0x4c00_0102, "UNSIGNED_CHAR"),
    (0x4c00_010d, "BYTE"),
    (0x4c00_040e, "WCHAR"),
    (0x4c00_0203, "SHORT"),
    (0x4c00_0204, "UNSIGNED_SHORT"),
    (0x4c00_0405, "INT"),
    (0x4c00_0406, "UNSIGNED"),
    (0x4c00_0807, "LONG"),
    (0x4c00_0808, "UNSIGNED_LONG"),
    (0x4c00_0809, "LONG_LONG_INT"),
    (0x4c00_0819, "UNSIGNED_LONG_LONG"),
    (0x4c00_040a, "FLOAT"),
    (0x4c00_080b, "DOUBLE"),
    (0x4c00_100c, "LONG_DOUBLE"),
    (0x4c00_010f, "PACKED"),
    (0x8c00_0000, "FLOAT_INT"),
    (0x8c00_0001, "DOUBLE_INT"),
    (0x8c00_0002, "LONG_INT"),
    (0x8c00_0003, "SHORT_INT"),
    (0x4c00_0816, "2INT"),
    (0x8c00_0004, "LONG_DOUBLE_INT"),
    (0x4c00_081e, "COMPLEX"),
    (0x4c00_1022, "DOUBLE_COMPLEX"),
    (0x4c00_041d, "LOGICAL"),
    (0x4c00_041c, "REAL"),
    (0x4c00_081f, "DOUBLE_PRECISION"),
    (0x4c00_041b, "INTEGER"),
    (0x4c00_0820, "2INTEGER"),
    (0x4c00_0821, "2REAL"),
    (0x4c00_1023, "2DOUBLE_PRECISION"),
    (0x4c00_011a, "CHARACTER"),
    (0x4c00_0427, "REAL4"),
    (0x4c00_0829, "REAL8"),
    (0x4c00_0137, "INT8_T"),
    (0x4c00_0439, "INT32_T"),
    (0x4c00_083a, "INT64_T"),
    (0x4c00_043d, "UINT32_T"),
    (0x4c00_083e, "UINT64_T"),
    (0x4c00_0840, "C_FLOAT_COMPLEX"),
    (0x4c00_1041, "C_DOUBLE_COMPLEX"),
];

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
    pub fn null_behind(&self, mpi: &Mpi, index: usize) -> Option<Constant> {
        match self.constant(index)? {
            Value::Global(id, 0) if !mpi.by_reference => Constant::named(&self.program[id].name),
            Value::Int(number) => self.environment.mpich.then(|| Constant::numbered(number))?,
            _ => None,
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

    /// The predefined handle that a call is given. Fortran's numbers are known of MPICH alone:
    /// those of Open MPI are small, and mean another thing for each kind of handle.
    pub fn handle(&self, mpi: &Mpi, inst: &Inst, index: usize) -> Option<Constant> {
        let argument = self.given(inst, index)?;
        match argument {
            _ if mpi.by_reference => {
                let number = self.number_behind(inst, index)?;
                self.environment.mpich.then(|| Constant::numbered(number))?
            }
            Value::Int(0) => Some(Constant::Nothing),
            Value::Int(number) => self.environment.mpich.then(|| Constant::numbered(number))?,
            Value::Global(id, 0) => Constant::named(&self.program[id].name),
            _ => None,
        }
    }

    /// The predefined reduction that a call is given, by its number in `commsan_mpi`.
    pub fn reduction(&self, mpi: &Mpi, inst: &Inst, index: usize) -> Option<u32> {
        let name = match self.predefined(mpi, inst, index)? {
            Predefined::Named(name) => format!("MPI_{}", name.strip_prefix("op_")?.to_uppercase()),
            Predefined::Numbered(number) => {
                let number = (number.checked_sub(0x5800_0001)?) as usize;
                REDUCTIONS.get(number).map(|name| format!("MPI_{name}"))?
            }
        };
        (1..)
            .map_while(|number| Some((number, reduction::name(number)?)))
            .find_map(|(number, known)| (known == name).then_some(number))
    }

    /// The name of the predefined datatype that a call is given.
    pub fn datatype(&self, mpi: &Mpi, inst: &Inst, index: usize) -> Option<String> {
        Some(match self.predefined(mpi, inst, index)? {
            Predefined::Named(name) => format!("MPI_{}", name.to_uppercase()),
            Predefined::Numbered(number) => {
                let known = DATATYPES.iter().find(|(known, _)| *known == number);
                known.map(|(_, name)| format!("MPI_{name}"))?
            }
        })
    }

    fn predefined(&self, mpi: &Mpi, inst: &Inst, index: usize) -> Option<Predefined<'_>> {
        let argument = self.given(inst, index)?;
        let number = match argument {
            _ if mpi.by_reference => self.number_behind(inst, index)?,
            Value::Int(number) => number,
            Value::Global(id, 0) => {
                return self.program[id].name.strip_prefix("ompi_mpi_").map(Predefined::Named);
            }
            _ => return None,
        };
        let number = u32::try_from(number & 0xffff_ffff).ok()?;
        self.environment.mpich.then_some(Predefined::Numbered(number))
    }

    /// What numbers may stand for, of each library that the program may be for.
    pub fn special_ranks(&self) -> &'static [Ranks] {
        match (self.environment.open_mpi, self.environment.mpich) {
            (true, _) => &RANKS[..1],
            (_, true) => &RANKS[1..],
            _ => &RANKS,
        }
    }
}
