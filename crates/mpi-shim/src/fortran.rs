//! Fortran calls of an MPI library whose Fortran layer does not pass through the C entry points.
//!
//! Arguments come by reference, handles are integers, sentinels are addresses of variables. They
//! are read into the form the C binding would have; the library's own Fortran function does the
//! work.
//!
//! **Soundness.** `ierror` counts as missing where its address cannot be that of a variable (MPI
//! 4.1 §19.1: only mpi_f08 may omit it), and where the compiler saw a call that passes one argument
//! less than the procedure has (instrument/hooks/ierror.c). Of code that was not compiled with
//! `commsan fc`, an address that happens to be left in its place and is one goes unnoticed; so do
//! MPICH's calls, whose own layer takes the argument.
//!
//! The standard ABI is one of C: layers for Fortran call C entry points.

#![cfg_attr(feature = "mpiabi", allow(dead_code, reason = "no Fortran symbols"))]

use crate::again::Sum;
use crate::entry::around;
use crate::handles::{
    comm_from_fortran, datatype_from_fortran, file_from_fortran, group_from_fortran,
    info_from_fortran, op_from_fortran, request_from_fortran, win_from_fortran,
};
use crate::library;
use crate::rank::{mode, rank};
use crate::real;
use crate::sys;
use crate::user_operations;
use crate::word::Language;
use commsan_mpi_calls::{CALLS, Call, Effect, Role};
use commsan_process::inside::Inside;
use commsan_process::stack::Caller;
use commsan_process::{loaded, memory, thread};
use commsan_threads::Here;
use std::ffi::{CStr, CString, c_int};
use std::ops::ControlFlow;
use std::sync::LazyLock;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

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
    } else if !may_be_variable(raw[at], caller) {
        report_missing(table_row, Some(raw[at]), caller);
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
    if table_row.named("user_fn") == Some(0) {
        raw[0] = user_operations::instead_of(raw[0], table_row.large, true);
    }
    let error = raw[at];
    let words = &words[..table_row.params.len()];
    around(row, words, Sum::of(words), Language::Fortran, caller, &|| {
        call(raw);
        // SAFETY: the call has set it.
        unsafe { *(error as *const c_int) }
    });
}

/// Whether a call may store an error code at an address, as far as that is known: not where nothing
/// is mapped, in constants, nor on the stack where no function's variables are.
#[inline]
fn may_be_variable(address: usize, caller: Caller) -> bool {
    /// No stack of a thread is larger, but for some of main threads.
    const STACK: usize = 8 << 20;
    static LATEST: AtomicUsize = AtomicUsize::new(0);
    if address.wrapping_sub(caller.sp) < STACK || LATEST.load(Relaxed) == address {
        return true;
    }
    let is_variable = may_be_variable_at_all(address, caller);
    if is_variable {
        LATEST.store(address, Relaxed);
    }
    is_variable
}

#[cold]
fn may_be_variable_at_all(address: usize, caller: Caller) -> bool {
    let is_below_stack = thread::with(|thread| {
        let bounds = thread.stack_bounds();
        // Coroutines and the like have stacks of their own.
        bounds.contains(&caller.sp) && (bounds.start..caller.sp).contains(&address)
    });
    let is_constant = || {
        let found = loaded::visit(|module| match module.is_constant(address) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        });
        found.is_some()
    };
    !is_below_stack && memory::is_mapped(address) && !is_constant()
}

/// A procedure of MPI's is about to be called without the argument for its error code, as the
/// compiler has seen, in code at `caller`.
pub fn without_error_code(procedure: &str, caller: Caller) {
    let is_it = |call: &&Call| {
        let name = procedure.strip_suffix('_');
        name.is_some_and(|name| call.name.eq_ignore_ascii_case(name))
    };
    if let Some(call) = CALLS.iter().find(is_it) {
        report_missing(call, None, caller);
    }
}

/// Reports that the error code's argument is missing.
#[cold]
fn report_missing(call: &'static Call, address: Option<usize>, caller: Caller) {
    let Some(rank) = rank().filter(|rank| rank.checks()) else { return };
    let Some(inside) = Inside::enter() else { return };
    let here = Here::new(inside.outer.get().unwrap_or(caller), &inside);
    if mode().is_active() {
        rank.with(here.thread, &mut |tracker, out| {
            tracker.reporter.missing_error_code(call, address, &here, out);
        });
    } else if call.effect == Effect::Begin {
        rank.early(here.thread, library::version(), &mut |tracker, out| {
            tracker.reporter.missing_error_code(call, address, &here, out);
        });
    }
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
        Role::Pointer if SENTINELS.statuses_ignore.contains(&address) => 0,
        _ => address,
    }
}

/// What the address of a variable stands for that is passed as status, or as array of statuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ignored {
    /// `MPI_STATUS_IGNORE`.
    One,
    /// `MPI_STATUSES_IGNORE`.
    Several,
}

impl Ignored {
    /// That which an address stands for in Fortran, whoever passes it on.
    pub(crate) fn of(address: usize) -> Option<Ignored> {
        /// MPICH's layer calls the C entry points, and has variables with these addresses.
        static KNOWN: LazyLock<[usize; 2]> = LazyLock::new(|| {
            [c"MPI_F_STATUS_IGNORE", c"MPI_F_STATUSES_IGNORE"].map(|name| {
                // SAFETY: a lookup by name; the variable is a pointer.
                unsafe {
                    let variable = libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr());
                    if variable.is_null() { 0 } else { *variable.cast::<usize>() }
                }
            })
        });
        match address {
            _ if SENTINELS.status_ignore.contains(&address) || KNOWN[0] == address => {
                Some(Ignored::One)
            }
            _ if SENTINELS.statuses_ignore.contains(&address) || KNOWN[1] == address => {
                Some(Ignored::Several)
            }
            _ => None,
        }
    }
}

/// Addresses of the variables that stand for constants, one for each spelling.
struct Sentinels {
    in_place: [usize; 4],
    bottom: [usize; 4],
    /// `mpi_f08` of MPICH has variables of its own for what is no buffer.
    status_ignore: [usize; 5],
    statuses_ignore: [usize; 5],
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
    statuses_ignore: find([
        c"mpi_fortran_statuses_ignore",
        c"mpi_fortran_statuses_ignore_",
        c"mpi_fortran_statuses_ignore__",
        c"MPI_FORTRAN_STATUSES_IGNORE",
        c"MPIR_F08_MPI_STATUSES_IGNORE_OBJ",
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
