//! Attribute keys (MPI 4.1 §7.7.2).
//!
//! **Soundness.** The invalid key is no key. A freed key lives on while attributes have it: the
//! program may get and delete them by a copy of the key, but must not set any attribute by it.

use super::{Fault, null_pointer, value};
use crate::sys;
use commsan_findings::Problem;
use commsan_mpi::Args;
use std::ffi::c_int;
use std::sync::{Mutex, PoisonError};

/// Keys that were freed, and not returned again.
static FREED: Mutex<Vec<c_int>> = Mutex::new(Vec::new());
/// Freed keys that are remembered at most.
const MAX_KEYVALS: usize = 256;

/// The key in the variable that a call is given.
fn held(variable: usize) -> c_int {
    // SAFETY: a variable of the program that the library takes a key from, or has stored one in.
    unsafe { *(variable as *const c_int) }
}

/// What is wrong with a key that an attribute is set, asked for or deleted by.
pub(super) fn problem(args: &Args, index: usize) -> Option<Fault> {
    let key = args.int(index);
    if key == sys::MPI_KEYVAL_INVALID as c_int {
        return Some(value("is MPI_KEYVAL_INVALID"));
    }
    let sets = args.call.named("attribute").is_some();
    let is_freed = || FREED.lock().unwrap_or_else(PoisonError::into_inner).contains(&key);
    (sets && is_freed()).then(|| (Problem::Freed, "has been freed".to_owned()))
}

/// What is wrong with a variable whose key is to be freed.
pub(super) fn free_problem(args: &Args) -> Option<Fault> {
    match args.words[0] {
        0 => Some(null_pointer()),
        variable if held(variable) == sys::MPI_KEYVAL_INVALID as c_int => {
            Some(value("holds MPI_KEYVAL_INVALID"))
        }
        _ => None,
    }
}

/// The key that a call is about to free.
pub(crate) fn to_be_freed(args: &Args) -> usize {
    held(args.words[0]) as usize
}

/// The key has been freed.
pub(crate) fn freed(key: usize) {
    let mut freed = FREED.lock().unwrap_or_else(PoisonError::into_inner);
    freed.truncate(MAX_KEYVALS - 1);
    freed.insert(0, key as c_int);
}

/// A call has made a key.
pub(crate) fn made(args: &Args) {
    let variable = args.call.named("keyval_out").map_or(0, |index| args.words[index]);
    if variable != 0 {
        let key = held(variable);
        FREED.lock().unwrap_or_else(PoisonError::into_inner).retain(|freed| *freed != key);
    }
}
