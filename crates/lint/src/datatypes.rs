//! Bytes of predefined datatypes, and of what else MPI writes.

use crate::environment::Environment;
use commsan_ir::{Program, Value};
use commsan_mpi_calls::abi::handles::{Handle, HandleKind};
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

/// Bytes of a predefined datatype that is a number.
pub fn size_of_number(environment: &Environment, number: i64) -> Option<u64> {
    // MPICH's numbers say it.
    let encoded = mpich::datatype_bytes(number as u32);
    encoded.or_else(|| size(environment.handle(HandleKind::Datatype, number)?))
}

/// Bytes of a predefined datatype that is an address or a number.
pub fn size_of_value(program: &Program, environment: &Environment, value: Value) -> Option<u64> {
    match value {
        Value::Int(number) => size_of_number(environment, number),
        value => size(environment.handle_of(program, HandleKind::Datatype, value)?),
    }
}

/// Bytes of a predefined datatype, where that is the same on all 64-bit systems that MPI libraries
/// are built for; none of pairs that may have gaps.
pub fn size(datatype: &Handle) -> Option<u64> {
    Some(match datatype.bare_name() {
        "BYTE" | "PACKED" | "CHAR" | "SIGNED_CHAR" | "UNSIGNED_CHAR" | "INT8_T" | "UINT8_T"
        | "C_BOOL" | "CXX_BOOL" | "CHARACTER" | "INTEGER1" | "LOGICAL1" => 1,
        "SHORT" | "UNSIGNED_SHORT" | "INT16_T" | "UINT16_T" | "INTEGER2" | "LOGICAL2" => 2,
        "INT" | "UNSIGNED" | "FLOAT" | "WCHAR" | "INT32_T" | "UINT32_T" | "LOGICAL"
        | "LOGICAL4" | "INTEGER" | "INTEGER4" | "REAL" | "REAL4" => 4,
        "LONG" | "UNSIGNED_LONG" | "LONG_LONG_INT" | "LONG_LONG" | "UNSIGNED_LONG_LONG"
        | "DOUBLE" | "INT64_T" | "UINT64_T" | "AINT" | "OFFSET" | "COUNT" | "C_COMPLEX"
        | "C_FLOAT_COMPLEX" | "CXX_COMPLEX" | "CXX_FLOAT_COMPLEX" | "2INT" | "FLOAT_INT"
        | "INTEGER8" | "LOGICAL8" | "REAL8" | "DOUBLE_PRECISION" | "COMPLEX" | "COMPLEX8"
        | "2INTEGER" | "2REAL" => 8,
        "LONG_DOUBLE" | "C_DOUBLE_COMPLEX" | "CXX_DOUBLE_COMPLEX" | "INTEGER16" | "REAL16"
        | "DOUBLE_COMPLEX" | "COMPLEX16" | "2DOUBLE_PRECISION" | "2COMPLEX" => 16,
        "C_LONG_DOUBLE_COMPLEX" | "CXX_LONG_DOUBLE_COMPLEX" | "COMPLEX32" | "2DOUBLE_COMPLEX" => 32,
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

/// Of a predefined datatype; none of bytes, characters and pairs.
pub fn basic(datatype: &Handle) -> Option<Basic> {
    let size = size(datatype)?;
    Some(match datatype.bare_name() {
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
    use commsan_mpi_calls::abi::handles::HANDLES;

    #[test]
    fn elements_are_known_by_name() {
        for (name, expected) in [
            ("MPI_INT", Some(Basic::Integer(4))),
            ("MPI_INT64_T", Some(Basic::Integer(8))),
            ("MPI_FLOAT", Some(Basic::Floating(4))),
            ("MPI_DOUBLE", Some(Basic::Floating(8))),
            ("MPI_BYTE", None),
            ("MPI_2INT", None),
        ] {
            let handle = HANDLES.iter().find(|handle| handle.name == name).expect("is known");
            assert_eq!(basic(handle), expected, "{name}");
        }
    }

    /// MPICH encodes the size of all but pairs in its numbers, the standard ABI in those of
    /// datatypes whose size is fixed (MPI 5.0 §20).
    #[test]
    fn sizes_are_those_that_numbers_encode() {
        let mut compared = 0;
        for handle in HANDLES.iter().filter(|handle| handle.kind == HandleKind::Datatype) {
            let of_mpich = handle.mpich.and_then(mpich::datatype_bytes);
            let is_fixed = |number: &u32| matches!(number >> 6, 0b1001 | 0b1011);
            let of_standard = handle.standard.filter(is_fixed).map(|number| 1 << (number >> 3 & 7));
            for encoded in [of_mpich, of_standard].into_iter().flatten() {
                assert_eq!(size(handle), Some(encoded), "{}", handle.name);
                compared += 1;
            }
        }
        assert!(compared > 80, "{compared}");
    }
}
