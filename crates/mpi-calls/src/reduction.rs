//! The predefined reductions (MPI 4.1 §6.9.2, §12.3.4), numbered alike in every process.

use crate::Datatype;

/// Names; the number of one is its index plus one.
const NAMES: [&str; 14] = [
    "MPI_MAX",
    "MPI_MIN",
    "MPI_SUM",
    "MPI_PROD",
    "MPI_LAND",
    "MPI_BAND",
    "MPI_LOR",
    "MPI_BOR",
    "MPI_LXOR",
    "MPI_BXOR",
    "MPI_MAXLOC",
    "MPI_MINLOC",
    "MPI_REPLACE",
    "MPI_NO_OP",
];

/// `MPI_REPLACE`.
pub const REPLACE: u32 = 13;
/// `MPI_NO_OP`.
pub const NO_OP: u32 = 14;
/// Not a predefined reduction, or none at all.
pub const OTHER: u32 = 0;

/// The name of a predefined reduction.
pub fn name(number: u32) -> Option<&'static str> {
    NAMES.get((number as usize).checked_sub(1)?).copied()
}

/// Whether a predefined reduction is defined for the predefined datatype of this name (MPI 4.1
/// §6.9.2, §6.9.4); `None` for names that the standard does not know.
pub fn is_defined(number: u32, datatype: &str) -> Option<bool> {
    use Datatype::*;
    let datatype = Datatype::named(datatype)?;
    let all: &[Datatype] = match name(number)? {
        "MPI_MAX" | "MPI_MIN" => &[Signed, Unsigned, FortranInteger, Real, Address],
        "MPI_SUM" | "MPI_PROD" => &[Signed, Unsigned, FortranInteger, Real, Complex, Address],
        "MPI_LAND" | "MPI_LOR" | "MPI_LXOR" => &[Signed, Unsigned, Logical],
        "MPI_BAND" | "MPI_BOR" | "MPI_BXOR" => &[Signed, Unsigned, FortranInteger, Byte, Address],
        "MPI_MAXLOC" | "MPI_MINLOC" => &[Pair],
        _ => return Some(true),
    };
    Some(all.contains(&datatype))
}

/// Whether `MPI_Compare_and_swap` takes the predefined datatype of this name (MPI 4.1 §12.3.4).
pub fn can_be_swapped(datatype: &str) -> Option<bool> {
    use Datatype::*;
    let all = [Signed, Unsigned, FortranInteger, Logical, Byte, Address];
    Datatype::named(datatype).map(|datatype| all.contains(&datatype))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reductions_are_defined_for_groups_of_datatypes() {
        let number = |wanted: &str| (1..15).find(|number| name(*number) == Some(wanted)).unwrap();
        for (op, datatype, defined) in [
            ("MPI_SUM", "MPI_INT", Some(true)),
            ("MPI_SUM", "MPI_UINT16_T", Some(true)),
            ("MPI_SUM", "MPI_C_DOUBLE_COMPLEX", Some(true)),
            ("MPI_SUM", "MPI_CHAR", Some(true)),
            ("MPI_SUM", "MPI_CHARACTER", Some(false)),
            ("MPI_MAX", "MPI_COMPLEX", Some(false)),
            ("MPI_MAX", "MPI_REAL8", Some(true)),
            ("MPI_BAND", "MPI_DOUBLE", Some(false)),
            ("MPI_BOR", "MPI_BYTE", Some(true)),
            ("MPI_LAND", "MPI_LOGICAL", Some(true)),
            ("MPI_LOR", "MPI_INTEGER", Some(false)),
            ("MPI_MAXLOC", "MPI_2INT", Some(true)),
            ("MPI_MAXLOC", "MPI_INT", Some(false)),
            ("MPI_SUM", "MPI_2REAL", Some(false)),
            ("MPI_REPLACE", "MPI_CHAR", Some(true)),
            ("MPI_SUM", "particle", None),
        ] {
            assert_eq!(is_defined(number(op), datatype), defined, "{op} of {datatype}");
        }
        assert_eq!(can_be_swapped("MPI_AINT"), Some(true));
        assert_eq!(can_be_swapped("MPI_FLOAT"), Some(false));
    }

    #[test]
    fn those_of_accumulates_alone_are_the_last() {
        assert_eq!((name(REPLACE), name(NO_OP)), (Some("MPI_REPLACE"), Some("MPI_NO_OP")));
    }
}
