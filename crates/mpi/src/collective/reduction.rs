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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_of_accumulates_alone_are_the_last() {
        assert_eq!((name(REPLACE), name(NO_OP)), (Some("MPI_REPLACE"), Some("MPI_NO_OP")));
    }
}
