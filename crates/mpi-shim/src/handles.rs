//! Handles of the MPI library as machine words: from variables of the program, from Fortran's
//! integers, and null ones.

use crate::sys;
use crate::word::Word;
use commsan_mpi_calls::abi::MpiFamily;
use std::ffi::c_int;

/// A handle back from its word.
pub(crate) fn handle<T: Copy>(word: usize) -> T {
    const { assert!(size_of::<T>() <= size_of::<usize>()) };
    // SAFETY: handles are integers or pointers no wider than a word; `word()` made it from one of
    // this type, and the machine is little-endian.
    unsafe { std::mem::transmute_copy::<usize, T>(&word) }
}

/// The handle at an address of the program; `from_fortran` is for its kind.
///
/// # Safety
/// `address` is an argument that points to a handle, or an element of an array of them.
#[inline]
pub(crate) unsafe fn handle_at<H: Word + Copy>(
    address: usize,
    fortran: bool,
    from_fortran: fn(c_int) -> usize,
) -> usize {
    // SAFETY: by the caller.
    unsafe {
        match fortran {
            true => from_fortran(*(address as *const c_int)),
            false => (*(address as *const H)).word(),
        }
    }
}

/// Bytes between elements of an array of requests.
pub(crate) fn request_size(fortran: bool) -> usize {
    if fortran { size_of::<c_int>() } else { size_of::<sys::MPI_Request>() }
}

/// Functions from a Fortran program's integer to the handle it stands for.
macro_rules! from_fortran {
    ($($name:ident = $f2c:ident, $fromint:ident),*) => {$(
        #[cfg_attr(feature = "mpiabi", allow(dead_code, reason = "no Fortran symbols"))]
        pub(crate) fn $name(handle: c_int) -> usize {
            // SAFETY: a conversion; unknown integers give a null handle.
            unsafe {
                match sys::FAMILY {
                    MpiFamily::OpenMpi => sys::$f2c(handle).word(),
                    // The handles have the same integers in both languages.
                    MpiFamily::Mpich => handle.word(),
                    MpiFamily::Standard => sys::$fromint(handle).word(),
                }
            }
        }
    )*};
}

from_fortran!(
    request_from_fortran = PMPI_Request_f2c,
    PMPI_Request_fromint,
    datatype_from_fortran = PMPI_Type_f2c,
    PMPI_Type_fromint,
    comm_from_fortran = PMPI_Comm_f2c,
    PMPI_Comm_fromint,
    win_from_fortran = PMPI_Win_f2c,
    PMPI_Win_fromint,
    group_from_fortran = PMPI_Group_f2c,
    PMPI_Group_fromint,
    op_from_fortran = PMPI_Op_f2c,
    PMPI_Op_fromint,
    message_from_fortran = PMPI_Message_f2c,
    PMPI_Message_fromint,
    info_from_fortran = PMPI_Info_f2c,
    PMPI_Info_fromint,
    session_from_fortran = PMPI_Session_f2c,
    PMPI_Session_fromint
);

/// The file that a Fortran handle stands for: a pointer in all families.
#[cfg_attr(feature = "mpiabi", allow(dead_code, reason = "no Fortran symbols"))]
pub(crate) fn file_from_fortran(handle: c_int) -> usize {
    // SAFETY: a conversion; unknown integers give a null handle.
    unsafe {
        match sys::FAMILY {
            MpiFamily::Standard => sys::PMPI_File_fromint(handle).word(),
            _ => sys::PMPI_File_f2c(handle).word(),
        }
    }
}
