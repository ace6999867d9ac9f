//! Who the members of communicators and groups are, as ranks of the job.

use crate::library::{comm_world, handle, null};
use crate::sessions;
use crate::sys;
use commsan_mpi::rma::Group;
use std::collections::HashMap;
use std::ffi::c_int;
use std::sync::{LazyLock, Mutex, PoisonError};

static KNOWN: LazyLock<Mutex<HashMap<usize, Group>>> = LazyLock::new(Mutex::default);

/// The processes that a communicator's messages go to, and its collectives wait for.
pub(crate) fn of_comm(comm: usize) -> Group {
    if comm == null::comm() {
        return Group::new(Vec::new());
    }
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.entry(comm).or_insert_with(|| ask(handle::<sys::MPI_Comm>(comm))).clone()
}

/// The communicator is gone.
pub(crate) fn forget(comm: usize) {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner).remove(&comm);
}

/// The members of a group.
pub(crate) fn of_group(group: usize) -> Box<[u32]> {
    if group == null::group() {
        return Box::default();
    }
    // SAFETY: a group that the library has accepted, or is about to.
    unsafe { members(handle::<sys::MPI_Group>(group)) }.into()
}

fn ask(comm: sys::MPI_Comm) -> Group {
    let mut inter = 0;
    let (mut own, mut other) = (std::mem::MaybeUninit::uninit(), std::mem::MaybeUninit::uninit());
    // SAFETY: a communicator that the library has accepted; groups are freed after use.
    unsafe {
        sys::PMPI_Comm_test_inter(comm, &mut inter);
        sys::PMPI_Comm_group(comm, own.as_mut_ptr());
        let mine = members(own.assume_init());
        sys::PMPI_Group_free(own.as_mut_ptr());
        if inter == 0 {
            return Group::new(mine);
        }
        sys::PMPI_Comm_remote_group(comm, other.as_mut_ptr());
        let theirs = members(other.assume_init());
        sys::PMPI_Group_free(other.as_mut_ptr());
        // Both sides must call it the same.
        let (mine, mut group) = (Group::new(mine), Group::new(theirs));
        group.name ^= mine.name;
        group
    }
}

/// All processes of the job, as a group to be freed.
fn everybody() -> Option<sys::MPI_Group> {
    if sessions::are_alone() {
        return sessions::group();
    }
    let mut world = std::mem::MaybeUninit::uninit();
    // SAFETY: MPI is initialised.
    unsafe {
        sys::PMPI_Comm_group(comm_world(), world.as_mut_ptr());
        Some(world.assume_init())
    }
}

/// Ranks in the job; none if the group has processes of another job.
///
/// # Safety
/// `group` is a group.
unsafe fn members(group: sys::MPI_Group) -> Vec<u32> {
    let mut size = 0;
    // SAFETY: by the caller; arrays as long as stated.
    unsafe {
        sys::PMPI_Group_size(group, &mut size);
        let ranks: Vec<c_int> = (0..size).collect();
        let mut translated = vec![-1; ranks.len()];
        let Some(mut world) = everybody() else { return Vec::new() };
        sys::PMPI_Group_translate_ranks(
            group,
            size,
            ranks.as_ptr(),
            world,
            translated.as_mut_ptr(),
        );
        sys::PMPI_Group_free(&mut world);
        let ranks: Option<Vec<u32>> = translated.into_iter().map(|r| r.try_into().ok()).collect();
        ranks.unwrap_or_default()
    }
}
