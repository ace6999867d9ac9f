//! Handles of the MPI library as machine words: from variables of the program, from Fortran's
//! integers, and null ones.

use crate::sys;
use crate::word::Word;
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
    ($($name:ident = $convert:ident),*) => {$(
        #[cfg(feature = "openmpi")]
        pub(crate) fn $name(handle: c_int) -> usize {
            // SAFETY: a conversion; unknown integers give a null handle.
            unsafe { sys::$convert(handle).word() }
        }

        // MPICH's handles have the same integers in both languages.
        #[cfg(feature = "mpich")]
        pub(crate) fn $name(handle: c_int) -> usize {
            handle.word()
        }
    )*};
}

from_fortran!(
    request_from_fortran = PMPI_Request_f2c,
    datatype_from_fortran = PMPI_Type_f2c,
    comm_from_fortran = PMPI_Comm_f2c,
    win_from_fortran = PMPI_Win_f2c,
    group_from_fortran = PMPI_Group_f2c,
    op_from_fortran = PMPI_Op_f2c,
    message_from_fortran = PMPI_Message_f2c
);

/// The file that a Fortran handle stands for: a pointer in both libraries.
pub(crate) fn file_from_fortran(handle: c_int) -> usize {
    // SAFETY: a conversion; unknown integers give a null handle.
    unsafe { sys::PMPI_File_f2c(handle).word() }
}

#[cfg(feature = "openmpi")]
pub(crate) fn info_from_fortran(handle: c_int) -> usize {
    // SAFETY: a conversion.
    unsafe { sys::PMPI_Info_f2c(handle).word() }
}

#[cfg(feature = "mpich")]
pub(crate) fn info_from_fortran(handle: c_int) -> usize {
    handle.word()
}

/// Null handles: asking the library about one is an error, which can end the program although its
/// own call would have returned.
#[cfg(feature = "openmpi")]
pub(crate) mod null {
    use crate::sys;

    pub(crate) fn info() -> usize {
        &raw mut sys::ompi_mpi_info_null as usize
    }

    pub(crate) fn datatype() -> usize {
        &raw mut sys::ompi_mpi_datatype_null as usize
    }

    pub(crate) fn group() -> usize {
        &raw mut sys::ompi_mpi_group_null as usize
    }

    pub(crate) fn empty_group() -> usize {
        &raw mut sys::ompi_mpi_group_empty as usize
    }

    pub(crate) fn comm() -> usize {
        &raw mut sys::ompi_mpi_comm_null as usize
    }

    pub(crate) fn win() -> usize {
        &raw mut sys::ompi_mpi_win_null as usize
    }

    pub(crate) fn file() -> usize {
        &raw mut sys::ompi_mpi_file_null as usize
    }

    pub(crate) fn op() -> usize {
        &raw mut sys::ompi_mpi_op_null as usize
    }
}

/// Null handles: asking the library about one is an error, which can end the program although its
/// own call would have returned.
#[cfg(feature = "mpich")]
pub(crate) mod null {
    use crate::sys;
    use crate::word::Word;
    use std::ffi::c_int;

    pub(crate) fn info() -> usize {
        (sys::COMMSAN_INFO_NULL as c_int).word()
    }

    pub(crate) fn datatype() -> usize {
        (sys::COMMSAN_DATATYPE_NULL as c_int).word()
    }

    pub(crate) fn group() -> usize {
        (sys::COMMSAN_GROUP_NULL as c_int).word()
    }

    pub(crate) fn empty_group() -> usize {
        (sys::COMMSAN_GROUP_EMPTY as c_int).word()
    }

    pub(crate) fn comm() -> usize {
        (sys::COMMSAN_COMM_NULL as c_int).word()
    }

    pub(crate) fn win() -> usize {
        (sys::COMMSAN_WIN_NULL as c_int).word()
    }

    pub(crate) fn file() -> usize {
        0
    }

    pub(crate) fn op() -> usize {
        (sys::COMMSAN_OP_NULL as c_int).word()
    }
}
