//! Bytes of predefined datatypes, and of what else MPI writes.

/// Bytes of the larger of the two libraries' statuses.
pub const STATUS: u64 = 24;

/// Bytes of a predefined datatype of MPICH, or of a Fortran program with Open MPI, which may have
/// MPICH's numbers, too.
pub fn size_of_number(number: i64, open_mpi: bool) -> Option<u64> {
    let number = u32::try_from(number & 0xffff_ffff).ok()?;
    // Built in, of basic type, with its size: 0x4c00SSTT.
    let size = u64::from(number >> 8 & 0xff);
    let named = || FORTRAN_SIZES.iter().find(|(n, _)| *n == number).map(|(_, size)| *size);
    let built_in = (number >> 16 == 0x4c00).then_some(size).filter(|size| *size > 0);
    built_in.or_else(|| named().filter(|_| open_mpi))
}

/// Open MPI's numbers of Fortran's datatypes (mpif-handles.h), where their size is fixed.
const FORTRAN_SIZES: [(u32, u64); 12] = [
    (1, 1),
    (5, 1),
    (6, 4),
    (7, 4),
    (8, 1),
    (9, 2),
    (10, 4),
    (11, 8),
    (13, 4),
    (14, 4),
    (15, 8),
    (17, 8),
];

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
    let size = size_of_name(name)?;
    Some(match name.strip_prefix("ompi_mpi_")? {
        "float" | "double" | "long_double" => Basic::Floating(size),
        "short" | "unsigned_short" | "int" | "unsigned" | "unsigned_int" | "long"
        | "unsigned_long" | "long_long_int" | "unsigned_long_long" | "int8_t" | "uint8_t"
        | "int16_t" | "uint16_t" | "int32_t" | "uint32_t" | "int64_t" | "uint64_t" => {
            Basic::Integer(size)
        }
        _ => return None,
    })
}

/// By MPICH's number: 0x4c00SSTT, of SS bytes and of type TT.
pub fn basic_of_number(number: i64) -> Option<Basic> {
    let size = size_of_number(number, false)?;
    Some(match number & 0xff {
        0x0a..=0x0c => Basic::Floating(size),
        0x03..=0x09 | 0x19 | 0x37..=0x3e => Basic::Integer(size),
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
