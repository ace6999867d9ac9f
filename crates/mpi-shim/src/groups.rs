//! Who the members of communicators and groups are, as ranks of the job.

use crate::handles::handle;
use crate::library::comm_world;
use crate::phase;
use crate::sessions;
use crate::sys;
use crate::word::Word;
use commsan_mpi::rma::Group;
use std::collections::HashMap;
use std::ffi::c_int;
use std::sync::{LazyLock, Mutex, PoisonError};

static KNOWN: LazyLock<Mutex<HashMap<usize, Group>>> = LazyLock::new(Mutex::default);

/// The processes that a communicator's messages go to, and its collectives wait for.
pub(crate) fn of_comm(comm: usize) -> Group {
    if comm == sys::MPI_COMM_NULL() {
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
    if group == sys::MPI_GROUP_NULL() {
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
        // Both sides must give it the same name.
        let (mine, mut group) = (Group::new(mine), Group::new(theirs));
        group.name ^= mine.name;
        group.is_remote = true;
        group
    }
}

/// A process as this job sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Member {
    /// A rank of the job.
    Own(u32),
    /// One of a group of another job: its number among those that are known, rank in it.
    Other(u32, u32),
    /// Nothing is known of it.
    Stranger,
}

/// Groups of other jobs, kept: processes of theirs will be met in other communicators.
static OTHERS: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// Other jobs that are known at most.
const MAX_OTHERS: usize = 64;

/// Both ends of an intercommunicator with another job, whose group is remembered from now on: ranks
/// of this job, and the number of remote ranks. `None` if it is none, or there are too many.
pub(crate) fn meet(comm: usize) -> Option<(Vec<u32>, u32)> {
    if comm == sys::MPI_COMM_NULL() {
        return None;
    }
    let comm = handle::<sys::MPI_Comm>(comm);
    let mut others = OTHERS.lock().unwrap_or_else(PoisonError::into_inner);
    if others.len() >= MAX_OTHERS {
        return None;
    }
    let (mut inter, mut size) = (0, 0);
    let (mut own, mut other) = (std::mem::MaybeUninit::uninit(), std::mem::MaybeUninit::uninit());
    // SAFETY: as in `ask`; the group of the others is kept.
    unsafe {
        sys::PMPI_Comm_test_inter(comm, &mut inter);
        if inter == 0 {
            return None;
        }
        sys::PMPI_Comm_group(comm, own.as_mut_ptr());
        let mine = members(own.assume_init());
        sys::PMPI_Group_free(own.as_mut_ptr());
        sys::PMPI_Comm_remote_group(comm, other.as_mut_ptr());
        let mut other: sys::MPI_Group = other.assume_init();
        if are_own(other) {
            sys::PMPI_Group_free(&raw mut other);
            return None;
        }
        sys::PMPI_Group_size(other, &mut size);
        others.push(other.word());
        Some((mine, size.max(0) as u32))
    }
}

/// Whether all members of a group are of this job, as where parts of it have met over a port.
///
/// # Safety
/// A group of the library's.
unsafe fn are_own(group: sys::MPI_Group) -> bool {
    let mut world = everybody();
    // SAFETY: by the caller; what is made here is freed.
    unsafe {
        let ranks = translated(group, world);
        if let Some(world) = &mut world {
            sys::PMPI_Group_free(world);
        }
        !ranks.is_empty() && ranks.iter().all(Option::is_some)
    }
}

/// What has spawned this job, for [`meet`].
pub(crate) fn parent() -> usize {
    let mut parent = std::mem::MaybeUninit::<sys::MPI_Comm>::uninit();
    // SAFETY: MPI is initialised; the call stores a handle.
    unsafe {
        sys::PMPI_Comm_get_parent(parent.as_mut_ptr());
        parent.assume_init().word()
    }
}

/// The members that collectives on a communicator concern, if some are of another job.
pub(crate) fn with_others(comm: usize) -> Vec<Member> {
    if comm == sys::MPI_COMM_NULL() {
        return Vec::new();
    }
    let comm = handle::<sys::MPI_Comm>(comm);
    let mut inter = 0;
    let mut group = std::mem::MaybeUninit::uninit();
    // SAFETY: as in `ask`.
    unsafe {
        sys::PMPI_Comm_test_inter(comm, &mut inter);
        match inter {
            0 => sys::PMPI_Comm_group(comm, group.as_mut_ptr()),
            _ => sys::PMPI_Comm_remote_group(comm, group.as_mut_ptr()),
        };
        let mut world = everybody();
        let all = translated(group.assume_init(), world);
        if let Some(world) = &mut world {
            sys::PMPI_Group_free(world);
        }
        let mut all: Vec<Member> =
            all.into_iter().map(|rank| rank.map_or(Member::Stranger, Member::Own)).collect();
        let others = OTHERS.lock().unwrap_or_else(PoisonError::into_inner);
        for (other, number) in others.iter().zip(0..) {
            let there = translated(group.assume_init(), Some(handle(*other)));
            for (member, rank) in all.iter_mut().zip(there) {
                if let (Member::Stranger, Some(rank)) = (*member, rank) {
                    *member = Member::Other(number, rank);
                }
            }
        }
        sys::PMPI_Group_free(group.as_mut_ptr());
        all
    }
}

/// All processes of the job, as a group to be freed.
fn everybody() -> Option<sys::MPI_Group> {
    if phase::are_alone() {
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
    let mut world = everybody();
    // SAFETY: by the caller; the group of all is freed after use.
    unsafe {
        let all = translated(group, world);
        if let Some(world) = &mut world {
            sys::PMPI_Group_free(world);
        }
        all.into_iter().collect::<Option<_>>().unwrap_or_default()
    }
}

/// Ranks in `within`, of those members that are in it.
///
/// # Safety
/// Both are groups.
unsafe fn translated(group: sys::MPI_Group, within: Option<sys::MPI_Group>) -> Vec<Option<u32>> {
    let Some(within) = within else { return Vec::new() };
    let mut size = 0;
    // SAFETY: by the caller; arrays as long as stated.
    unsafe {
        sys::PMPI_Group_size(group, &mut size);
        let ranks: Vec<c_int> = (0..size).collect();
        let mut found = vec![-1; ranks.len()];
        sys::PMPI_Group_translate_ranks(group, size, ranks.as_ptr(), within, found.as_mut_ptr());
        found.into_iter().map(|rank| rank.try_into().ok()).collect()
    }
}
