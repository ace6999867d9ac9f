//! The end of MPI, which begins with the callbacks of attributes of `MPI_COMM_SELF` (MPI 4.1
//! §11.2.4): libraries free there what they have made. Callbacks that were set last are called
//! first, so commsan sets one right after `MPI_Init`, and checks what is left when its own is
//! called, before the library waits for other ranks. Calls of the callbacks before it are checked
//! like other calls.

use crate::callbacks;
use crate::calling::{Calling, Real};
use crate::library::comm_self;
use crate::rank::{Rank, mode, rank};
use crate::sys;
use crate::waiting;
use commsan_mpi_calls::Effect;
use commsan_process::thread::{self, Thread};
use commsan_threads::Here;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

/// The number of the thread that is in `MPI_Finalize`, if the attribute is set; else [`NOBODY`].
static FINALIZES: AtomicU32 = AtomicU32::new(NOBODY);
const NOBODY: u32 = u32::MAX;
/// No attribute could be set.
const NEVER: u32 = u32::MAX - 1;

/// MPI has been initialised.
pub(crate) fn begin() {
    let (mut key, nothing) = (0, null_mut());
    let (copy, delete): (Copy, Delete) = (not_copied, at_end);
    // SAFETY: MPI is initialised; the functions have the types that the library calls them by.
    let codes = unsafe {
        [
            sys::PMPI_Comm_create_keyval(
                copy as *mut c_void,
                delete as *mut c_void,
                &mut key,
                nothing,
            ),
            sys::PMPI_Comm_set_attr(comm_self(), key, nothing),
            sys::PMPI_Comm_free_keyval(&mut key),
        ]
    };
    if codes[..2] != [0, 0] {
        FINALIZES.store(NEVER, Relaxed);
    }
}

/// What has been initialised has no `MPI_COMM_SELF`.
pub(crate) fn has_no_attributes() {
    FINALIZES.store(NEVER, Relaxed);
}

/// `MPI_Comm_copy_attr_function`.
type Copy = unsafe extern "C" fn(
    sys::MPI_Comm,
    c_int,
    *mut c_void,
    *mut c_void,
    *mut c_void,
    *mut c_int,
) -> c_int;

/// `MPI_Comm_delete_attr_function`.
type Delete = unsafe extern "C" fn(sys::MPI_Comm, c_int, *mut c_void, *mut c_void) -> c_int;

/// A copy of `MPI_COMM_SELF` is none.
unsafe extern "C" fn not_copied(
    _: sys::MPI_Comm,
    _: c_int,
    _: *mut c_void,
    _: *mut c_void,
    _: *mut c_void,
    has_copy: *mut c_int,
) -> c_int {
    // SAFETY: the library's own variable.
    unsafe { *has_copy = 0 };
    0
}

/// All callbacks of the program have been called.
unsafe extern "C" fn at_end(_: sys::MPI_Comm, _: c_int, _: *mut c_void, _: *mut c_void) -> c_int {
    thread::with(|thread| {
        if let Some(rank) = rank().filter(|_| finalizes(thread)) {
            // SAFETY: this thread is within the call that has left this there, as
            // `callbacks::like_any_other` sees to.
            let (args, here) = unsafe { (*(thread.calling.get() as *const Calling)).parts() };
            if args.call.effect == Effect::Finalize {
                look(rank, here);
                waiting::begin_to_wait(thread);
            }
        }
    });
    0
}

/// `MPI_Finalize` is about to be called.
pub(crate) fn before(rank: &dyn Rank, here: &Here) {
    let nobody = FINALIZES.compare_exchange(NOBODY, here.thread.number(), Relaxed, Relaxed);
    if nobody.is_err() {
        look(rank, here);
    }
}

/// Runs `MPI_Finalize`, which waits for others when all callbacks have been called.
pub(crate) fn during(thread: &Thread, call: Real) -> c_int {
    if !finalizes(thread) {
        return waiting::during(thread, call);
    }
    let code = call();
    waiting::over(thread);
    code
}

/// `MPI_Finalize` has returned.
pub(crate) fn after(rank: &dyn Rank, here: &Here) {
    if mode().is_active() && finalizes(here.thread) {
        look(rank, here);
    }
}

/// The program will do no more: checks what is left.
pub(crate) fn look(rank: &dyn Rank, here: &Here) {
    if callbacks::are_unseen() {
        rank.with(here.thread, &mut |tracker, _| tracker.accounts.lose_count());
    }
    rank.finalize(here);
}

/// Whether a thread is in `MPI_Finalize`.
fn finalizes(thread: &Thread) -> bool {
    FINALIZES.load(Relaxed) == thread.number()
}
