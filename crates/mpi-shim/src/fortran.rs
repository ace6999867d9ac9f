//! Fortran calls of an MPI library whose Fortran layer does not pass through the C entry points.
//!
//! Arguments come by reference, handles are integers, sentinels are addresses of variables. They
//! are read into the form the C binding would have; the library's own Fortran function does the
//! work.
//!
//! The standard ABI is one of C: layers for Fortran call C entry points.

#![cfg_attr(feature = "mpiabi", allow(dead_code, reason = "no Fortran symbols"))]

use crate::again::Sum;
use crate::entry::around;
use crate::handles::{
    comm_from_fortran, datatype_from_fortran, file_from_fortran, group_from_fortran,
    info_from_fortran, op_from_fortran, request_from_fortran, win_from_fortran,
};
use crate::real;
use crate::sys;
use crate::word::Language;
use commsan_mpi_calls::{CALLS, Effect, Role};
use commsan_process::stack::Caller;
use std::ffi::{CStr, CString, c_int};
use std::sync::LazyLock;

/// Runs a Fortran call with `N` arguments, the last of which but `lengths` of strings is `ierror`.
///
/// # Safety
/// `raw` are the arguments of row `row`'s Fortran binding.
pub(crate) unsafe fn fortran<const N: usize>(
    row: usize,
    mut raw: [usize; N],
    lengths: usize,
    caller: Caller,
    call: &dyn Fn([usize; N]),
) {
    let table_row = &CALLS[row];
    // One more than the C binding has at most: `ierror` takes the place of nothing.
    let mut words = [0; 16];
    let mut next = raw.iter();
    for (word, param) in words.iter_mut().zip(&table_row.params) {
        if param.in_fortran() {
            let Some(raw) = next.next() else { break };
            // SAFETY: the argument of a parameter with this role.
            *word = unsafe { canonical(param.role, table_row.large, raw) };
        }
    }
    // SAFETY: after all arguments that are visible come the strings' lengths.
    let name = (table_row.effect == Effect::FileOpen && lengths > 0)
        .then(|| unsafe { text(words[1], raw[N - lengths]) });
    if let Some(name) = &name {
        words[1] = name.as_ptr() as usize;
    }
    let mut own_error: c_int = 0;
    let at = N - 1 - lengths;
    if raw[at] == 0 {
        // Optional in mpi_f08.
        raw[at] = &raw mut own_error as usize;
    }
    let mut own_status = std::mem::MaybeUninit::<sys::MPI_Status>::uninit();
    if let Some(index) = table_row.at.status
        && table_row.needs_status()
        && words[index] == 0
        && real::is_ours()
    {
        raw[index] = own_status.as_mut_ptr() as usize;
        words[index] = raw[index];
    }
    let error = raw[at];
    let words = &words[..table_row.params.len()];
    around(row, words, Sum::of(words), Language::Fortran, caller, &|| {
        call(raw);
        // SAFETY: the call has set it.
        unsafe { *(error as *const c_int) }
    });
}

/// A string as C would have it: Fortran's end with blanks.
///
/// # Safety
/// So many characters are at the address.
unsafe fn text(address: usize, length: usize) -> CString {
    // SAFETY: by the caller.
    let text = unsafe { std::slice::from_raw_parts(address as *const u8, length) };
    CString::new(text.trim_ascii_end()).unwrap_or_default()
}

/// One argument as the C binding would have it.
///
/// # Safety
/// `raw` is the argument of a parameter with this role.
unsafe fn canonical(role: Role, large: bool, raw: &usize) -> usize {
    let address = *raw;
    // SAFETY: by the Fortran binding these are passed by reference.
    let int = || unsafe { *(address as *const c_int) };
    match role {
        Role::Int => int() as isize as usize,
        // SAFETY: a count of the large binding, by reference.
        Role::Count if large => unsafe { *(address as *const i64) as usize },
        Role::Count => int() as isize as usize,
        // SAFETY: an offset, by reference.
        Role::Offset => unsafe { *(address as *const i64) as usize },
        Role::Datatype => datatype_from_fortran(int()),
        Role::Comm | Role::PeerComm => comm_from_fortran(int()),
        Role::RequestValue => request_from_fortran(int()),
        Role::Win => win_from_fortran(int()),
        Role::Group => group_from_fortran(int()),
        Role::Op => op_from_fortran(int()),
        Role::Info => info_from_fortran(int()),
        Role::File => file_from_fortran(int()),
        Role::Handle => 0,
        Role::Buffer if SENTINELS.in_place.contains(&address) => {
            sys::MPI_IN_PLACE as isize as usize
        }
        Role::Buffer if SENTINELS.bottom.contains(&address) => 0,
        Role::Status if SENTINELS.status_ignore.contains(&address) => 0,
        _ => address,
    }
}

/// Addresses of the variables that stand for constants, one for each spelling.
struct Sentinels {
    in_place: [usize; 4],
    bottom: [usize; 4],
    /// `mpi_f08` of MPICH has a variable of its own for what is no buffer.
    status_ignore: [usize; 5],
}

static SENTINELS: LazyLock<Sentinels> = LazyLock::new(|| Sentinels {
    in_place: find([
        c"mpi_fortran_in_place",
        c"mpi_fortran_in_place_",
        c"mpi_fortran_in_place__",
        c"MPI_FORTRAN_IN_PLACE",
    ]),
    bottom: find([
        c"mpi_fortran_bottom",
        c"mpi_fortran_bottom_",
        c"mpi_fortran_bottom__",
        c"MPI_FORTRAN_BOTTOM",
    ]),
    status_ignore: find([
        c"mpi_fortran_status_ignore",
        c"mpi_fortran_status_ignore_",
        c"mpi_fortran_status_ignore__",
        c"MPI_FORTRAN_STATUS_IGNORE",
        c"MPIR_F08_MPI_STATUS_IGNORE_OBJ",
    ]),
});

/// The addresses of these variables; a missing one gets an address that no argument has.
fn find<const N: usize>(names: [&CStr; N]) -> [usize; N] {
    // SAFETY: a lookup by name.
    names.map(|name| match unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) } as usize {
        0 => usize::MAX,
        found => found,
    })
}
