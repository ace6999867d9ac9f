//! The predefined handles (MPI 4.1 annex A.1), and how each family represents them in C and
//! Fortran.
//!
//! MPICH's handles are integers, the same in both languages, and so are the predefined ones of the
//! standard ABI (MPI 5.0 chapter 20), in C as pointers. Open MPI's are addresses of the library's
//! variables in C; in Fortran they are small integers, counted for each kind of object
//! (`mpif-handles.h`).

/// The kind of object that a handle refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "named as MPI names the types of handles")]
pub enum HandleKind {
    Comm,
    Group,
    Datatype,
    Op,
    Request,
    Message,
    Win,
    File,
    Info,
    Errhandler,
    Session,
}

/// A predefined handle.
#[derive(Debug, PartialEq, Eq)]
pub struct Handle {
    /// The kind of object.
    pub kind: HandleKind,
    /// The name in the standard: `MPI_COMM_WORLD`.
    pub name: &'static str,
    /// The number with MPICH, in C and Fortran.
    pub mpich: Option<u32>,
    /// The number with the standard ABI, in C and Fortran.
    pub standard: Option<u32>,
    /// The variable whose address the handle is with Open MPI, in C.
    pub open_mpi: Option<&'static str>,
    /// The number with Open MPI, in Fortran.
    pub open_mpi_fortran: Option<i32>,
}

impl Handle {
    /// The name without `MPI_`.
    pub fn bare_name(&self) -> &'static str {
        self.name.strip_prefix("MPI_").unwrap_or(self.name)
    }

    /// Whether it stands for no object.
    pub fn is_null(&self) -> bool {
        self.name.ends_with("_NULL")
    }
}

/// A row: kind, name, the numbers with MPICH and with the standard ABI ([`NONE`] for none), Open
/// MPI's variable (empty for none) and its number in Fortran (-1 for none).
const fn row(
    kind: HandleKind,
    name: &'static str,
    mpich: u32,
    standard: u32,
    open_mpi: &'static str,
    open_mpi_fortran: i32,
) -> Handle {
    Handle {
        kind,
        name,
        mpich: if mpich == NONE { None } else { Some(mpich) },
        standard: if standard == NONE { None } else { Some(standard) },
        open_mpi: if open_mpi.is_empty() { None } else { Some(open_mpi) },
        open_mpi_fortran: if open_mpi_fortran < 0 { None } else { Some(open_mpi_fortran) },
    }
}

/// No number of a handle.
const NONE: u32 = u32::MAX;

use HandleKind::*;

/// The predefined handles; where two names have one value, the more usual name comes first.
#[rustfmt::skip]
pub static HANDLES: [Handle; 107] = [
    row(Comm, "MPI_COMM_NULL", 0x0400_0000, 0x100, "ompi_mpi_comm_null", 2),
    row(Comm, "MPI_COMM_WORLD", 0x4400_0000, 0x101, "ompi_mpi_comm_world", 0),
    row(Comm, "MPI_COMM_SELF", 0x4400_0001, 0x102, "ompi_mpi_comm_self", 1),
    row(Group, "MPI_GROUP_NULL", 0x0800_0000, 0x108, "ompi_mpi_group_null", 0),
    row(Group, "MPI_GROUP_EMPTY", 0x4800_0000, 0x109, "ompi_mpi_group_empty", 1),
    row(Datatype, "MPI_DATATYPE_NULL", 0x0c00_0000, 0x200, "ompi_mpi_datatype_null", 0),
    row(Datatype, "MPI_LB", 0x4c00_0010, NONE, "ompi_mpi_lb", 4),
    row(Datatype, "MPI_UB", 0x4c00_0011, NONE, "ompi_mpi_ub", 3),
    row(Datatype, "MPI_CHAR", 0x4c00_0101, 0x243, "ompi_mpi_char", 34),
    row(Datatype, "MPI_UNSIGNED_CHAR", 0x4c00_0102, 0x245, "ompi_mpi_unsigned_char", 35),
    row(Datatype, "MPI_BYTE", 0x4c00_010d, 0x247, "ompi_mpi_byte", 1),
    row(Datatype, "MPI_PACKED", 0x4c00_010f, 0x207, "ompi_mpi_packed", 2),
    row(Datatype, "MPI_SIGNED_CHAR", 0x4c00_0118, 0x244, "ompi_mpi_signed_char", 36),
    row(Datatype, "MPI_CHARACTER", 0x4c00_011a, 0x21e, "ompi_mpi_character", 5),
    row(Datatype, "MPI_INTEGER1", 0x4c00_012d, 0x2c1, "ompi_mpi_integer1", 8),
    row(Datatype, "MPI_CXX_BOOL", 0x4c00_0133, 0x239, "ompi_mpi_cxx_bool", 54),
    row(Datatype, "MPI_INT8_T", 0x4c00_0137, 0x240, "ompi_mpi_int8_t", 58),
    row(Datatype, "MPI_UINT8_T", 0x4c00_013b, 0x241, "ompi_mpi_uint8_t", 59),
    row(Datatype, "MPI_C_BOOL", 0x4c00_013f, 0x238, "ompi_mpi_c_bool", 68),
    row(Datatype, "MPI_SHORT", 0x4c00_0203, 0x208, "ompi_mpi_short", 37),
    row(Datatype, "MPI_UNSIGNED_SHORT", 0x4c00_0204, 0x20c, "ompi_mpi_unsigned_short", 38),
    row(Datatype, "MPI_INTEGER2", 0x4c00_022f, 0x2c9, "ompi_mpi_integer2", 9),
    row(Datatype, "MPI_INT16_T", 0x4c00_0238, 0x248, "ompi_mpi_int16_t", 60),
    row(Datatype, "MPI_UINT16_T", 0x4c00_023c, 0x249, "ompi_mpi_uint16_t", 61),
    row(Datatype, "MPI_INT", 0x4c00_0405, 0x209, "ompi_mpi_int", 39),
    row(Datatype, "MPI_UNSIGNED", 0x4c00_0406, 0x20d, "ompi_mpi_unsigned", 40),
    row(Datatype, "MPI_FLOAT", 0x4c00_040a, 0x210, "ompi_mpi_float", 45),
    row(Datatype, "MPI_WCHAR", 0x4c00_040e, 0x23c, "ompi_mpi_wchar", 33),
    row(Datatype, "MPI_INTEGER", 0x4c00_041b, 0x219, "ompi_mpi_integer", 7),
    row(Datatype, "MPI_REAL", 0x4c00_041c, 0x21a, "ompi_mpi_real", 13),
    row(Datatype, "MPI_LOGICAL", 0x4c00_041d, 0x218, "ompi_mpi_logical", 6),
    row(Datatype, "MPI_REAL4", 0x4c00_0427, 0x2d2, "ompi_mpi_real4", 14),
    row(Datatype, "MPI_INTEGER4", 0x4c00_0430, 0x2d1, "ompi_mpi_integer4", 10),
    row(Datatype, "MPI_INT32_T", 0x4c00_0439, 0x250, "ompi_mpi_int32_t", 62),
    row(Datatype, "MPI_UINT32_T", 0x4c00_043d, 0x251, "ompi_mpi_uint32_t", 63),
    row(Datatype, "MPI_LONG", 0x4c00_0807, 0x20a, "ompi_mpi_long", 41),
    row(Datatype, "MPI_UNSIGNED_LONG", 0x4c00_0808, 0x20e, "ompi_mpi_unsigned_long", 42),
    row(Datatype, "MPI_LONG_LONG_INT", 0x4c00_0809, 0x20b, "ompi_mpi_long_long_int", 43),
    row(Datatype, "MPI_LONG_LONG", 0x4c00_0809, 0x20b, "ompi_mpi_long_long_int", 43),
    row(Datatype, "MPI_DOUBLE", 0x4c00_080b, 0x214, "ompi_mpi_double", 46),
    row(Datatype, "MPI_2INT", 0x4c00_0816, 0x22b, "ompi_mpi_2int", 52),
    row(Datatype, "MPI_UNSIGNED_LONG_LONG", 0x4c00_0819, 0x20f, "ompi_mpi_unsigned_long_long", 44),
    row(Datatype, "MPI_COMPLEX", 0x4c00_081e, 0x21b, "ompi_mpi_cplex", 18),
    row(Datatype, "MPI_DOUBLE_PRECISION", 0x4c00_081f, 0x21c, "ompi_mpi_dblprec", 17),
    row(Datatype, "MPI_2INTEGER", 0x4c00_0820, 0x232, "ompi_mpi_2integer", 25),
    row(Datatype, "MPI_2REAL", 0x4c00_0821, 0x230, "ompi_mpi_2real", 23),
    row(Datatype, "MPI_COMPLEX8", 0x4c00_0828, 0x2db, "ompi_mpi_complex8", 19),
    row(Datatype, "MPI_REAL8", 0x4c00_0829, 0x2da, "ompi_mpi_real8", 15),
    row(Datatype, "MPI_INTEGER8", 0x4c00_0831, 0x2d9, "ompi_mpi_integer8", 11),
    row(Datatype, "MPI_CXX_FLOAT_COMPLEX", 0x4c00_0834, 0x213, "ompi_mpi_cxx_cplex", 55),
    row(Datatype, "MPI_INT64_T", 0x4c00_083a, 0x258, "ompi_mpi_int64_t", 64),
    row(Datatype, "MPI_UINT64_T", 0x4c00_083e, 0x259, "ompi_mpi_uint64_t", 65),
    row(Datatype, "MPI_C_FLOAT_COMPLEX", 0x4c00_0840, 0x212, "ompi_mpi_c_float_complex", 69),
    row(Datatype, "MPI_C_COMPLEX", 0x4c00_0840, 0x212, "ompi_mpi_c_float_complex", 69),
    row(Datatype, "MPI_AINT", 0x4c00_0843, 0x201, "ompi_mpi_aint", 66),
    row(Datatype, "MPI_OFFSET", 0x4c00_0844, 0x203, "ompi_mpi_offset", 67),
    row(Datatype, "MPI_COUNT", 0x4c00_0845, 0x202, "ompi_mpi_count", 72),
    row(Datatype, "MPI_LONG_DOUBLE", 0x4c00_100c, 0x220, "ompi_mpi_long_double", 47),
    row(Datatype, "MPI_DOUBLE_COMPLEX", 0x4c00_1022, 0x21d, "ompi_mpi_dblcplex", 22),
    row(Datatype, "MPI_2DOUBLE_PRECISION", 0x4c00_1023, 0x231, "ompi_mpi_2dblprec", 24),
    row(Datatype, "MPI_COMPLEX16", 0x4c00_102a, 0x2e3, "ompi_mpi_complex16", 20),
    row(Datatype, "MPI_REAL16", 0x4c00_102b, 0x2e2, "ompi_mpi_real16", 16),
    row(Datatype, "MPI_CXX_DOUBLE_COMPLEX", 0x4c00_1035, 0x217, "ompi_mpi_cxx_dblcplex", 56),
    row(Datatype, "MPI_C_DOUBLE_COMPLEX", 0x4c00_1041, 0x216, "ompi_mpi_c_double_complex", 70),
    row(Datatype, "MPI_COMPLEX32", 0x4c00_202c, 0x2eb, "ompi_mpi_complex32", 21),
    row(Datatype, "MPI_CXX_LONG_DOUBLE_COMPLEX", 0x4c00_2036, 0x225, "ompi_mpi_cxx_ldblcplex", 57),
    row(Datatype, "MPI_C_LONG_DOUBLE_COMPLEX", 0x4c00_2042, 0x224, "ompi_mpi_c_long_double_complex", 71),
    row(Datatype, "MPI_FLOAT_INT", 0x8c00_0000, 0x228, "ompi_mpi_float_int", 48),
    row(Datatype, "MPI_DOUBLE_INT", 0x8c00_0001, 0x229, "ompi_mpi_double_int", 49),
    row(Datatype, "MPI_LONG_INT", 0x8c00_0002, 0x22a, "ompi_mpi_long_int", 51),
    row(Datatype, "MPI_SHORT_INT", 0x8c00_0003, 0x22c, "ompi_mpi_short_int", 53),
    row(Datatype, "MPI_LONG_DOUBLE_INT", 0x8c00_0004, 0x22d, "ompi_mpi_longdbl_int", 50),
    row(Datatype, "MPI_INTEGER16", NONE, 0x2e1, "ompi_mpi_integer16", 12),
    row(Datatype, "MPI_2COMPLEX", NONE, NONE, "ompi_mpi_2cplex", 26),
    row(Datatype, "MPI_2DOUBLE_COMPLEX", NONE, NONE, "ompi_mpi_2dblcplex", 27),
    row(Datatype, "MPI_LOGICAL1", NONE, 0x2c0, "ompi_mpi_logical1", 29),
    row(Datatype, "MPI_LOGICAL2", NONE, 0x2c8, "ompi_mpi_logical2", 30),
    row(Datatype, "MPI_LOGICAL4", NONE, 0x2d0, "ompi_mpi_logical4", 31),
    row(Datatype, "MPI_LOGICAL8", NONE, 0x2d8, "ompi_mpi_logical8", 32),
    row(Datatype, "MPI_CXX_COMPLEX", NONE, NONE, "ompi_mpi_cxx_cplex", 55),
    row(Op, "MPI_OP_NULL", 0x1800_0000, 0x020, "ompi_mpi_op_null", 0),
    row(Op, "MPI_MAX", 0x5800_0001, 0x023, "ompi_mpi_op_max", 1),
    row(Op, "MPI_MIN", 0x5800_0002, 0x022, "ompi_mpi_op_min", 2),
    row(Op, "MPI_SUM", 0x5800_0003, 0x021, "ompi_mpi_op_sum", 3),
    row(Op, "MPI_PROD", 0x5800_0004, 0x024, "ompi_mpi_op_prod", 4),
    row(Op, "MPI_LAND", 0x5800_0005, 0x030, "ompi_mpi_op_land", 5),
    row(Op, "MPI_BAND", 0x5800_0006, 0x028, "ompi_mpi_op_band", 6),
    row(Op, "MPI_LOR", 0x5800_0007, 0x031, "ompi_mpi_op_lor", 7),
    row(Op, "MPI_BOR", 0x5800_0008, 0x029, "ompi_mpi_op_bor", 8),
    row(Op, "MPI_LXOR", 0x5800_0009, 0x032, "ompi_mpi_op_lxor", 9),
    row(Op, "MPI_BXOR", 0x5800_000a, 0x02a, "ompi_mpi_op_bxor", 10),
    row(Op, "MPI_MINLOC", 0x5800_000b, 0x038, "ompi_mpi_op_minloc", 12),
    row(Op, "MPI_MAXLOC", 0x5800_000c, 0x039, "ompi_mpi_op_maxloc", 11),
    row(Op, "MPI_REPLACE", 0x5800_000d, 0x03c, "ompi_mpi_op_replace", 13),
    row(Op, "MPI_NO_OP", 0x5800_000e, 0x03d, "ompi_mpi_op_no_op", 14),
    row(Request, "MPI_REQUEST_NULL", 0x2c00_0000, 0x180, "ompi_request_null", 0),
    row(Message, "MPI_MESSAGE_NULL", 0x2c00_0000, 0x128, "ompi_message_null", 0),
    row(Message, "MPI_MESSAGE_NO_PROC", 0x6c00_0000, 0x129, "ompi_message_no_proc", 1),
    row(Win, "MPI_WIN_NULL", 0x2000_0000, 0x110, "ompi_mpi_win_null", 0),
    row(File, "MPI_FILE_NULL", NONE, 0x118, "ompi_mpi_file_null", 0),
    row(Info, "MPI_INFO_NULL", 0x1c00_0000, 0x130, "ompi_mpi_info_null", 0),
    row(Info, "MPI_INFO_ENV", 0x5c00_0001, 0x131, "ompi_mpi_info_env", 1),
    row(Errhandler, "MPI_ERRHANDLER_NULL", 0x1400_0000, 0x140, "ompi_mpi_errhandler_null", 0),
    row(Errhandler, "MPI_ERRORS_ARE_FATAL", 0x5400_0000, 0x141, "ompi_mpi_errors_are_fatal", 1),
    row(Errhandler, "MPI_ERRORS_RETURN", 0x5400_0001, 0x143, "ompi_mpi_errors_return", 2),
    row(Errhandler, "MPI_ERRORS_ABORT", 0x5400_0003, 0x142, "", -1),
    row(Session, "MPI_SESSION_NULL", 0x3800_0000, 0x120, "", -1),
];

/// The handle of this name, for constants: unknown names do not compile.
pub const fn named(name: &str) -> &'static Handle {
    let mut index = 0;
    while index < HANDLES.len() {
        if is_same(HANDLES[index].name.as_bytes(), name.as_bytes()) {
            return &HANDLES[index];
        }
        index += 1;
    }
    panic!("no such predefined handle")
}

const fn is_same(one: &[u8], other: &[u8]) -> bool {
    let mut index = 0;
    while index < one.len() && index < other.len() && one[index] == other[index] {
        index += 1;
    }
    index == one.len() && index == other.len()
}

/// The predefined handle of a kind with this number of MPICH.
pub fn of_mpich(kind: HandleKind, number: u32) -> Option<&'static Handle> {
    HANDLES.iter().find(|handle| handle.kind == kind && handle.mpich == Some(number))
}

/// The predefined handle of a kind with this number of the standard ABI.
pub fn of_standard(kind: HandleKind, number: u32) -> Option<&'static Handle> {
    HANDLES.iter().find(|handle| handle.kind == kind && handle.standard == Some(number))
}

/// The predefined handle that is this address with the standard ABI, in C: its numbers differ
/// between kinds, too.
pub fn of_standard_address(address: i64) -> Option<&'static Handle> {
    HANDLES.iter().find(|handle| handle.standard.map(i64::from) == Some(address))
}

/// The predefined handle of a kind with this number in Fortran with Open MPI.
pub fn of_open_mpi_fortran(kind: HandleKind, number: i32) -> Option<&'static Handle> {
    HANDLES.iter().find(|handle| handle.kind == kind && handle.open_mpi_fortran == Some(number))
}

/// The predefined handle that is the address of this variable with Open MPI.
pub fn of_variable(name: &str) -> Option<&'static Handle> {
    if !name.starts_with("ompi_") {
        return None;
    }
    HANDLES.iter().find(|handle| handle.open_mpi == Some(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// Names that may share a value: synonyms, and the types of C++ where they are those of C.
    const SYNONYMS: [[&str; 2]; 4] = [
        ["MPI_LONG_LONG_INT", "MPI_LONG_LONG"],
        ["MPI_C_FLOAT_COMPLEX", "MPI_C_COMPLEX"],
        ["MPI_CXX_FLOAT_COMPLEX", "MPI_CXX_COMPLEX"],
        ["MPI_REQUEST_NULL", "MPI_MESSAGE_NULL"],
    ];

    fn distinct<K: std::hash::Hash + Eq>(key: impl Fn(&Handle) -> Option<K>) {
        let mut names = HashMap::new();
        for handle in &HANDLES {
            let Some(key) = key(handle) else { continue };
            if let Some(first) = names.insert(key, handle.name) {
                assert!(SYNONYMS.contains(&[first, handle.name]), "{first} and {}", handle.name);
            }
        }
        assert!(names.len() > 80);
    }

    #[test]
    fn no_two_handles_of_a_family_are_equal() {
        distinct(|handle| Some(handle.name));
        distinct(|handle| handle.mpich);
        distinct(|handle| handle.standard);
        distinct(|handle| handle.open_mpi);
        distinct(|handle| Some((handle.kind, handle.open_mpi_fortran?)));
    }

    #[test]
    fn handles_are_found() {
        const WORLD: &Handle = named("MPI_COMM_WORLD");
        assert_eq!(WORLD.kind, Comm);
        assert_eq!(of_mpich(Comm, 0x4400_0000), Some(WORLD));
        assert_eq!(of_open_mpi_fortran(Comm, 0), Some(WORLD));
        assert_eq!(of_variable("ompi_mpi_comm_world"), Some(WORLD));
        assert_eq!(of_standard_address(0x101), Some(WORLD));
        assert_eq!(of_mpich(Datatype, 0x4c00_0809).unwrap().bare_name(), "LONG_LONG_INT");
        assert!(of_mpich(Datatype, 0x4400_0000).is_none() && of_variable("environ").is_none());
        assert!(named("MPI_WIN_NULL").is_null() && !WORLD.is_null());
    }
}
