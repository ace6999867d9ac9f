//! The predefined reductions (MPI 4.1 §6.9.2, §12.3.4), numbered alike in every process.

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

/// Groups of predefined datatypes (MPI 4.1 §6.9.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
    CInteger,
    FortranInteger,
    Real,
    Logical,
    Complex,
    Byte,
    /// `MPI_AINT` and the like.
    Any,
    /// Of a value and an index.
    Pair,
    /// Characters and packed data: no reduction is defined for them. `MPI_CHAR` is a character to
    /// the standard, but a small integer to all libraries, and in many programs.
    Text,
}

/// The group of a predefined datatype, by its name.
fn group(name: &str) -> Option<Group> {
    let name = name.strip_prefix("MPI_")?;
    Some(match name.trim_end_matches(|c: char| c.is_ascii_digit()) {
        "INT" | "LONG" | "SHORT" | "UNSIGNED_SHORT" | "UNSIGNED" | "UNSIGNED_LONG"
        | "LONG_LONG" | "LONG_LONG_INT" | "UNSIGNED_LONG_LONG" | "SIGNED_CHAR" | "CHAR"
        | "UNSIGNED_CHAR" => Group::CInteger,
        "INTEGER" => Group::FortranInteger,
        "FLOAT" | "DOUBLE" | "LONG_DOUBLE" | "REAL" | "DOUBLE_PRECISION" => Group::Real,
        "LOGICAL" | "C_BOOL" | "CXX_BOOL" => Group::Logical,
        "COMPLEX"
        | "DOUBLE_COMPLEX"
        | "C_COMPLEX"
        | "C_FLOAT_COMPLEX"
        | "C_DOUBLE_COMPLEX"
        | "C_LONG_DOUBLE_COMPLEX"
        | "CXX_FLOAT_COMPLEX"
        | "CXX_DOUBLE_COMPLEX"
        | "CXX_LONG_DOUBLE_COMPLEX" => Group::Complex,
        "BYTE" => Group::Byte,
        "AINT" | "OFFSET" | "COUNT" => Group::Any,
        "FLOAT_INT" | "DOUBLE_INT" | "LONG_INT" | "2INT" | "SHORT_INT" | "LONG_DOUBLE_INT"
        | "2REAL" | "2DOUBLE_PRECISION" | "2INTEGER" => Group::Pair,
        "WCHAR" | "CHARACTER" | "PACKED" => Group::Text,
        _ if name.ends_with("_T") && name.trim_start_matches('U').starts_with("INT") => {
            Group::CInteger
        }
        _ => return None,
    })
}

/// Whether a predefined reduction is defined for the predefined datatype of this name (MPI 4.1
/// §6.9.2, §6.9.4); `None` for names that the standard does not know.
pub fn is_defined(number: u32, datatype: &str) -> Option<bool> {
    use Group::*;
    let group = group(datatype)?;
    let groups: &[Group] = match name(number)? {
        "MPI_MAX" | "MPI_MIN" => &[CInteger, FortranInteger, Real, Any],
        "MPI_SUM" | "MPI_PROD" => &[CInteger, FortranInteger, Real, Complex, Any],
        "MPI_LAND" | "MPI_LOR" | "MPI_LXOR" => &[CInteger, Logical],
        "MPI_BAND" | "MPI_BOR" | "MPI_BXOR" => &[CInteger, FortranInteger, Byte, Any],
        "MPI_MAXLOC" | "MPI_MINLOC" => &[Pair],
        _ => return Some(true),
    };
    Some(groups.contains(&group))
}

/// Whether `MPI_Compare_and_swap` takes the predefined datatype of this name (MPI 4.1 §12.3.4).
pub fn can_be_swapped(datatype: &str) -> Option<bool> {
    use Group::*;
    group(datatype).map(|group| [CInteger, FortranInteger, Logical, Byte, Any].contains(&group))
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
