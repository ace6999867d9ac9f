//! ABI constants of the two MPI libraries.

use crate::environment::Environment;

/// What stands for no single rank, and where statuses say what.
#[derive(Clone, Copy, Debug)]
pub struct Numbers {
    pub proc_null: i64,
    pub any_source: i64,
    pub in_place: i64,
    /// Offsets in a status: source, tag, and the bytes received.
    pub source_at: i64,
    pub tag_at: i64,
    pub bytes_at: i64,
}

/// `MPI_ANY_TAG` of both.
pub const ANY_TAG: i64 = -1;
/// `MPI_UNDEFINED` of both.
pub const UNDEFINED: i64 = -32766;

const OPEN_MPI: Numbers =
    Numbers { proc_null: -2, any_source: -1, in_place: 1, source_at: 0, tag_at: 4, bytes_at: 16 };
const MPICH: Numbers =
    Numbers { proc_null: -1, any_source: -2, in_place: -1, source_at: 8, tag_at: 12, bytes_at: 0 };

/// Of the library that a program is for.
pub fn of(environment: &Environment) -> &'static Numbers {
    if environment.open_mpi { &OPEN_MPI } else { &MPICH }
}

/// The predefined communicator that a number or a name stands for: of all, or of each rank alone.
pub fn communicator(environment: &Environment, number: i64) -> Option<usize> {
    match number & 0xffff_ffff {
        0x4400_0000 if environment.mpich => Some(0),
        0x4400_0001 if environment.mpich => Some(1),
        0 if environment.open_mpi => Some(0),
        1 if environment.open_mpi => Some(1),
        _ => None,
    }
}

/// The name of a predefined datatype, by number: MPICH's, or that of Fortran with Open MPI.
pub fn datatype(environment: &Environment, number: i64) -> Option<String> {
    let number = u32::try_from(number & 0xffff_ffff).ok()?;
    let of = |table: &[(u32, &'static str)]| {
        table.iter().find(|(known, _)| *known == number).map(|(_, name)| (*name).to_owned())
    };
    of(&crate::arguments::DATATYPES)
        .filter(|_| environment.mpich)
        .or_else(|| of(&FORTRAN).filter(|_| environment.open_mpi))
}

/// Open MPI's numbers of Fortran's datatypes (mpif-handles.h) of which the size is fixed.
const FORTRAN: [(u32, &str); 12] = [
    (1, "BYTE"),
    (5, "CHARACTER"),
    (6, "LOGICAL"),
    (7, "INTEGER"),
    (8, "INT8_T"),
    (9, "INT16_T"),
    (10, "INT32_T"),
    (11, "INT64_T"),
    (13, "REAL"),
    (14, "REAL4"),
    (15, "REAL8"),
    (17, "DOUBLE_PRECISION"),
];

/// Which predefined reduction it is, by number.
pub fn reduction(environment: &Environment, number: i64) -> Option<String> {
    let index = u32::try_from(number & 0xffff_ffff).ok()?.checked_sub(0x5800_0001)?;
    let name = crate::arguments::REDUCTIONS.get(index as usize)?;
    environment.mpich.then(|| name.to_lowercase())
}
