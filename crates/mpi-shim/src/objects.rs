//! What the program makes and frees, for those who want to know what it never frees.

use crate::library::{
    comm_from_fortran, datatype_from_fortran, group_from_fortran, handle_at, null, op_from_fortran,
    request_from_fortran,
};
use crate::rank::Rank;
use crate::sys;
use commsan_mpi::{Args, Object};
use commsan_threads::Here;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

static FOLLOWED: AtomicBool = AtomicBool::new(false);

/// From now on objects are followed from their making to their freeing.
pub fn follow_objects() {
    FOLLOWED.store(true, Relaxed);
}

/// The object that a call is about to free, if that is of interest.
#[inline]
pub(crate) fn to_be_freed(args: &Args) -> Option<(Object, usize)> {
    if !are_followed() {
        return None;
    }
    args.call.frees.map(|object| (object, at(object, args.words[0], args.fortran)))
}

#[inline]
pub(crate) fn are_followed() -> bool {
    FOLLOWED.load(Relaxed)
}

/// A call has succeeded: it has freed an object, or made one.
#[cold]
pub(crate) fn changed(rank: &dyn Rank, args: &Args, here: &Here, freed: Option<(Object, usize)>) {
    if let Some((object, handle)) = freed {
        rank.with(here.thread, &mut |tracker, _| tracker.object_freed(object, handle));
    }
    if let Some((object, index)) = args.call.makes {
        let made = (object, at(object, args.words[index], args.fortran));
        if !is_nothing(made) {
            rank.with(here.thread, &mut |tracker, _| tracker.object_made(args.call, made, here));
        }
    }
}

/// The handle in a variable.
pub(crate) fn at(object: Object, variable: usize, fortran: bool) -> usize {
    // SAFETY: a variable that the library takes such a handle from, or has stored one in.
    unsafe {
        match object {
            Object::Comm => handle_at::<sys::MPI_Comm>(variable, fortran, comm_from_fortran),
            Object::Datatype => {
                handle_at::<sys::MPI_Datatype>(variable, fortran, datatype_from_fortran)
            }
            Object::Group => handle_at::<sys::MPI_Group>(variable, fortran, group_from_fortran),
            Object::Op => handle_at::<sys::MPI_Op>(variable, fortran, op_from_fortran),
            Object::Request => {
                handle_at::<sys::MPI_Request>(variable, fortran, request_from_fortran)
            }
        }
    }
}

/// Whether there is nothing that could be freed.
fn is_nothing((object, handle): (Object, usize)) -> bool {
    match object {
        Object::Comm => handle == null::comm(),
        Object::Group => handle == null::empty_group(),
        Object::Datatype | Object::Op | Object::Request => false,
    }
}
