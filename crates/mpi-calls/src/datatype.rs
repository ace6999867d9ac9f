//! The predefined datatypes (MPI 4.1 §3.2.2, §6.9.2), by their names.

/// What the values of a predefined datatype are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Datatype {
    /// Signed integers of C. `MPI_CHAR` is a character to the standard, but a small integer to all
    /// libraries, and in many programs.
    Signed,
    /// Unsigned integers of C.
    Unsigned,
    /// Integers of Fortran.
    FortranInteger,
    /// Floating-point numbers.
    Real,
    /// Complex numbers.
    Complex,
    /// Logical values.
    Logical,
    /// `MPI_BYTE`.
    Byte,
    /// `MPI_AINT` and the like.
    Address,
    /// A value and an index.
    Pair,
    /// `MPI_CHARACTER`, `MPI_WCHAR`.
    Character,
    /// `MPI_PACKED`.
    Packed,
}

impl Datatype {
    /// Of the predefined datatype with this name; `None` for names that the standard does not know.
    pub fn named(name: &str) -> Option<Datatype> {
        let name = name.strip_prefix("MPI_")?;
        // MPI_REAL8, MPI_INTEGER4, MPI_COMPLEX16
        Some(match name.trim_end_matches(|c: char| c.is_ascii_digit()) {
            "SHORT" | "INT" | "LONG" | "LONG_LONG" | "LONG_LONG_INT" | "CHAR" | "SIGNED_CHAR" => {
                Datatype::Signed
            }
            "UNSIGNED" | "UNSIGNED_CHAR" | "UNSIGNED_SHORT" | "UNSIGNED_LONG"
            | "UNSIGNED_LONG_LONG" => Datatype::Unsigned,
            "INTEGER" => Datatype::FortranInteger,
            "FLOAT" | "DOUBLE" | "LONG_DOUBLE" | "REAL" | "DOUBLE_PRECISION" => Datatype::Real,
            "COMPLEX"
            | "DOUBLE_COMPLEX"
            | "C_COMPLEX"
            | "C_FLOAT_COMPLEX"
            | "C_DOUBLE_COMPLEX"
            | "C_LONG_DOUBLE_COMPLEX"
            | "CXX_FLOAT_COMPLEX"
            | "CXX_DOUBLE_COMPLEX"
            | "CXX_LONG_DOUBLE_COMPLEX" => Datatype::Complex,
            "LOGICAL" | "C_BOOL" | "CXX_BOOL" => Datatype::Logical,
            "BYTE" => Datatype::Byte,
            "AINT" | "OFFSET" | "COUNT" => Datatype::Address,
            "FLOAT_INT" | "DOUBLE_INT" | "LONG_INT" | "2INT" | "SHORT_INT" | "LONG_DOUBLE_INT"
            | "2REAL" | "2DOUBLE_PRECISION" | "2INTEGER" => Datatype::Pair,
            "WCHAR" | "CHARACTER" => Datatype::Character,
            "PACKED" => Datatype::Packed,
            _ if name.starts_with("INT") && name.ends_with("_T") => Datatype::Signed,
            _ if name.starts_with("UINT") && name.ends_with("_T") => Datatype::Unsigned,
            _ => return None,
        })
    }
}
