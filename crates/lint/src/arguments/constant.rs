//! Constants of the two MPI libraries, and where a call is given one.

use crate::Mpi;
use crate::environment::Environment;
use crate::mpi::stored;
use commsan_ir::{BlockId, Body, Compare, Inst, Op, Program, Value};

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
