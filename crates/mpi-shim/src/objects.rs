//! Objects that the program makes and frees: handles that it must not use any more, and objects
//! that it never frees.

mod freed;

pub(crate) use freed::{is_freed, is_own, is_shared, look_up};

use crate::handles::{
    comm_from_fortran, datatype_from_fortran, file_from_fortran, group_from_fortran, handle_at,
    op_from_fortran, request_from_fortran, win_from_fortran,
};
use crate::rank::Rank;
use crate::streams;
use crate::sys;
use commsan_mpi::Args;
use commsan_mpi_calls::{Effect, Object};
use commsan_threads::Here;
use std::sync::atomic::AtomicU8;
use std::sync::atomic::Ordering::Relaxed;

/// A bit for each kind of object. Files that are left open are an error; windows are reported
/// elsewhere.
static FOLLOWED: AtomicU8 = AtomicU8::new(1 << Object::File as u8);

/// From now on such objects are followed, too, from their creation to their release.
pub fn follow_objects(kinds: &[Object]) {
    for kind in kinds {
        FOLLOWED.fetch_or(1 << *kind as u8, Relaxed);
    }
}

fn is_followed(object: Object) -> bool {
    FOLLOWED.load(Relaxed) & (1 << object as u8) != 0
}

/// The object that a call is about to free.
#[inline]
pub(crate) fn to_be_freed(args: &Args) -> Option<(Object, usize)> {
    let object = args.call.frees?;
    (args.words[0] != 0).then(|| (object, at(object, args.words[0], args.fortran)))
}

/// A call has succeeded: it may have freed an object, or made one.
#[inline]
pub(crate) fn changed(rank: &dyn Rank, args: &Args, here: &Here, freed: Option<(Object, usize)>) {
    let hands_out = args.call.effect == Effect::TypeContents || args.call.makes.is_some();
    if freed.is_some() || hands_out {
        note(rank, args, here, freed);
    }
}

#[cold]
fn note(rank: &dyn Rank, args: &Args, here: &Here, freed: Option<(Object, usize)>) {
    if args.call.effect == Effect::TypeContents {
        freed::forget(Object::Datatype);
    }
    if let Some((object, handle)) = freed {
        rank.with(here.thread, &mut |tracker, _| {
            freed::freed(object, handle, tracker.reporter.site(args.call, here));
            if is_followed(object) {
                tracker.object_freed(object, handle);
            }
        });
    }
    if let Some((object, index)) = args.call.makes {
        let made = (object, at(object, args.words[index], args.fortran));
        if is_nothing(made) {
            return;
        }
        if object == Object::Comm {
            streams::comm_made(rank, args, here, made.1);
        }
        // Requests have the handles of others as soon as they are complete.
        if object != Object::Request {
            freed::made(object, made.1);
        }
        if is_followed(object) {
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
            Object::Window => handle_at::<sys::MPI_Win>(variable, fortran, win_from_fortran),
            Object::File => handle_at::<sys::MPI_File>(variable, fortran, file_from_fortran),
            Object::Op => handle_at::<sys::MPI_Op>(variable, fortran, op_from_fortran),
            Object::Request => {
                handle_at::<sys::MPI_Request>(variable, fortran, request_from_fortran)
            }
        }
    }
}

/// Whether there is nothing that could be freed.
fn is_nothing((object, handle): (Object, usize)) -> bool {
    null(object) == Some(handle) || object == Object::Group && handle == sys::MPI_GROUP_EMPTY()
}

/// The null handle.
pub(crate) fn null(object: Object) -> Option<usize> {
    Some(match object {
        Object::Comm => sys::MPI_COMM_NULL(),
        Object::Datatype => sys::MPI_DATATYPE_NULL(),
        Object::Group => sys::MPI_GROUP_NULL(),
        Object::Op => sys::MPI_OP_NULL(),
        Object::Window => sys::MPI_WIN_NULL(),
        Object::File => sys::MPI_FILE_NULL(),
        Object::Request => return None,
    })
}
