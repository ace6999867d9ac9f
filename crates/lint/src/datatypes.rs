//! Bytes of predefined datatypes, and of what else MPI writes.

use commsan_mpi_calls::abi::handles::{self, Handle, HandleKind};
use commsan_mpi_calls::abi::{MpiFamily, mpich};

/// Bytes of the largest status of any library.
pub const STATUS: u64 = {
    let (mut most, mut family) = (0, 0);
    while family < MpiFamily::ALL.len() {
        let bytes = MpiFamily::ALL[family].constants().status_bytes as u64;
        most = if bytes > most { bytes } else { most };
        family += 1;
    }
    most
};

/// Bytes of a predefined datatype of MPICH, or of a Fortran program with Open MPI, which may have
/// MPICH's numbers, too.
pub fn size_of_number(number: i64, open_mpi: bool) -> Option<u64> {
    let of_fortran = || {
        let handle = handles::of_open_mpi_fortran(HandleKind::Datatype, number as i32)?;
        size_in_fortran(handle.bare_name())
    };
    let built_in = mpich::datatype_bytes(number as u32);
    built_in.or_else(|| open_mpi.then(of_fortran).flatten())
}

/// Bytes of Fortran's datatypes by their names in MPI, where their size is fixed.
fn size_in_fortran(name: &str) -> Option<u64> {
    Some(match name {
        "BYTE" | "CHARACTER" | "INTEGER1" => 1,
        "INTEGER2" => 2,
        "LOGICAL" | "INTEGER" | "INTEGER4" | "REAL" | "REAL4" => 4,
        "INTEGER8" | "REAL8" | "DOUBLE_PRECISION" => 8,
        _ => return None,
    })
}

/// Bytes of a predefined datatype of Open MPI.
pub fn size_of_name(name: &str) -> Option<u64> {
    Some(match name.strip_prefix("ompi_mpi_")? {
        "char" | "signed_char" | "unsigned_char" | "byte" | "int8_t" | "uint8_t" | "cxx_bool"
        | "c_bool" | "packed" => 1,
        "short" | "unsigned_short" | "int16_t" | "uint16_t" => 2,
        "int" | "unsigned" | "unsigned_int" | "float" | "int32_t" | "uint32_t" | "wchar" => 4,
        "long" | "unsigned_long" | "long_long_int" | "unsigned_long_long" | "double"
        | "int64_t" | "uint64_t" | "aint" | "offset" | "count" | "c_float_complex" | "2int"
        | "float_int" => 8,
        "long_double" | "c_double_complex" => 16,
        _ => return None,
    })
}

/// What the elements of a predefined datatype are, and of how many bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basic {
    /// With a sign or without.
    Integer(u64),
    Floating(u64),
}

/// By the name of Open MPI's variable; none of bytes, characters and pairs.
pub fn basic_of_name(name: &str) -> Option<Basic> {
    basic(handles::of_variable(name)?, size_of_name(name)?)
}

/// By MPICH's number.
pub fn basic_of_number(number: i64) -> Option<Basic> {
    let number = number as u32;
    basic(handles::of_mpich(HandleKind::Datatype, number)?, mpich::datatype_bytes(number)?)
}

fn basic(handle: &Handle, size: u64) -> Option<Basic> {
    Some(match handle.bare_name() {
        "FLOAT" | "DOUBLE" | "LONG_DOUBLE" => Basic::Floating(size),
        "SHORT" | "UNSIGNED_SHORT" | "INT" | "UNSIGNED" | "LONG" | "UNSIGNED_LONG"
        | "LONG_LONG_INT" | "UNSIGNED_LONG_LONG" | "INT8_T" | "UINT8_T" | "INT16_T"
        | "UINT16_T" | "INT32_T" | "UINT32_T" | "INT64_T" | "UINT64_T" => Basic::Integer(size),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_the_same_by_name_and_by_number() {
        for (name, number, basic) in [
            ("ompi_mpi_int", 0x4c00_0405, Some(Basic::Integer(4))),
            ("ompi_mpi_int64_t", 0x4c00_083a, Some(Basic::Integer(8))),
            ("ompi_mpi_float", 0x4c00_040a, Some(Basic::Floating(4))),
            ("ompi_mpi_double", 0x4c00_080b, Some(Basic::Floating(8))),
            ("ompi_mpi_byte", 0x4c00_010d, None),
            ("ompi_mpi_2int", 0x4c00_0816, None),
        ] {
            assert_eq!((basic_of_name(name), basic_of_number(number)), (basic, basic), "{name}");
        }
    }
}
