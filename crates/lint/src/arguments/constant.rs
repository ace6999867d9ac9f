//! Constants of the two MPI libraries, and where a call is given one.

use crate::Mpi;
use crate::environment::Environment;
use crate::mpi::stored;
use commsan_ir::{BlockId, Body, Compare, Inst, Op, Program, Value};
use commsan_mpi::collective::reduction;

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
}

impl Constant {
    /// By the name of Open MPI's variable.
    fn named(name: &str) -> Option<Constant> {
        Some(match name {
            "ompi_mpi_comm_null" => Constant::NullComm,
            "ompi_mpi_win_null" => Constant::NullWin,
            "ompi_mpi_op_null" => Constant::NullOp,
            "ompi_mpi_datatype_null" => Constant::NullDatatype,
            "ompi_mpi_group_null" => Constant::NullGroup,
            "ompi_mpi_info_null" => Constant::NullInfo,
            "ompi_mpi_file_null" => Constant::NullFile,
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
    fn numbered(number: i64) -> Option<Constant> {
        Some(match u32::try_from(number & 0xffff_ffff).ok()? {
            0x0400_0000 => Constant::NullComm,
            0x2000_0000 => Constant::NullWin,
            0x1800_0000 => Constant::NullOp,
            0x0c00_0000 => Constant::NullDatatype,
            0x0800_0000 => Constant::NullGroup,
            0x1c00_0000 => Constant::NullInfo,
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
const REDUCTIONS: [&str; 12] =
    ["MAX", "MIN", "SUM", "PROD", "LAND", "BAND", "LOR", "BOR", "LXOR", "BXOR", "MINLOC", "MAXLOC"];

/// MPICH's predefined datatypes that programs reduce.
const DATATYPES: [(u32, &str); 42] = [
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

/// Of one function.
pub struct Constants<'p> {
    pub program: &'p Program,
    pub body: &'p Body,
    pub environment: &'p Environment,
}

impl Constants<'_> {
    /// The integer that a call is given.
    pub fn number(&self, mpi: &Mpi, inst: &Inst, index: usize) -> Option<i64> {
        mpi.integer(self.program, self.body, inst, index)
    }

    /// The predefined handle that a call is given. Fortran's numbers are known of MPICH alone: those of Open MPI
    /// are small, and mean another thing for each kind of handle.
    pub fn handle(&self, mpi: &Mpi, inst: &Inst, index: usize) -> Option<Constant> {
        let argument = *inst.args.get(index)?;
        match argument {
            _ if mpi.by_reference => {
                let number = stored(self.program, self.body, argument)?;
                self.environment.mpich.then(|| Constant::numbered(number))?
            }
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
        let argument = *inst.args.get(index)?;
        let number = match argument {
            _ if mpi.by_reference => stored(self.program, self.body, argument)?,
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

/// Blocks that constant conditions do not exclude.
pub fn reached(body: &Body) -> Vec<BlockId> {
    let mut reached = vec![false; body.blocks.len()];
    let mut open: Vec<_> = body.block_ids().take(1).collect();
    let mut order = Vec::new();
    while let Some(block) = open.pop() {
        if std::mem::replace(&mut reached[block.0 as usize], true) {
            continue;
        }
        order.push(block);
        let next = &body[block].next;
        match body.end(block).and_then(|end| decided(body, end)) {
            Some(holds) => open.extend(next.get(usize::from(!holds))),
            None => open.extend(next.iter().copied()),
        }
        open.extend(body[block].unwind);
    }
    order.sort_unstable();
    order
}

/// Which way a branch takes, if its condition compares constants.
fn decided(body: &Body, end: &Inst) -> Option<bool> {
    let condition = *end.args.first().filter(|_| end.op == Op::Branch)?;
    match condition {
        Value::Int(number) => Some(number != 0),
        Value::Inst(id) => match (&body[id].op, &*body[id].args) {
            (Op::Compare(how), [Value::Int(left), Value::Int(right)]) => {
                compare(*how, *left, *right)
            }
            _ => None,
        },
        _ => None,
    }
}

fn compare(how: Compare, left: i64, right: i64) -> Option<bool> {
    Some(match how {
        Compare::Equal => left == right,
        Compare::NotEqual => left != right,
        Compare::Less => left < right,
        Compare::LessOrEqual => left <= right,
        Compare::Greater => left > right,
        Compare::GreaterOrEqual => left >= right,
        Compare::Other => return None,
    })
}
