//! Questions to the MPI library and to the program's memory.

use crate::datatypes;
use crate::handles::{datatype_from_fortran, handle, handle_at};
use crate::phase;
use crate::sys;
use crate::word::Word;
use commsan_mpi::collective::signature::Signature;
use commsan_mpi::{Datatype, Library};
use commsan_mpi_calls::abi::handles::HANDLES;
use commsan_mpi_calls::abi::{HandleKind, MpiFamily, mpich};
use commsan_mpi_calls::reduction::OTHER;
use std::ffi::{CStr, c_int, c_void};
use std::ops::Range;
use std::sync::LazyLock;

/// The MPI library of this process.
pub struct Mpi;

impl Library for Mpi {
    const IN_PLACE: usize = sys::MPI_IN_PLACE as isize as usize;
    const PROC_NULL: i32 = sys::MPI_PROC_NULL;
    const ROOT: i32 = sys::MPI_ROOT;

    #[inline]
    fn dense(&self, handle: usize) -> Option<usize> {
        datatypes::dense(handle)
    }

    fn datatype(&self, handle: usize) -> Datatype {
        datatypes::describe(handle)
    }

    fn rank(&self, comm: usize) -> i32 {
        let mut rank = -1;
        // SAFETY: a communicator that the library has just accepted.
        unsafe { sys::PMPI_Comm_rank(handle::<sys::MPI_Comm>(comm), &mut rank) };
        rank
    }

    fn size(&self, comm: usize) -> usize {
        if !self.is_inter(comm) {
            return self.local_size(comm);
        }
        let mut size = 0;
        // SAFETY: a communicator that the library has just accepted.
        unsafe { sys::PMPI_Comm_remote_size(handle::<sys::MPI_Comm>(comm), &mut size) };
        size.max(0) as usize
    }

    fn local_size(&self, comm: usize) -> usize {
        let mut size = 0;
        // SAFETY: a communicator that the library has just accepted.
        unsafe { sys::PMPI_Comm_size(handle::<sys::MPI_Comm>(comm), &mut size) };
        size.max(0) as usize
    }

    fn is_no_op(&self, op: usize) -> bool {
        op == sys::MPI_NO_OP()
    }

    fn is_inter(&self, comm: usize) -> bool {
        let mut flag = 0;
        // SAFETY: a communicator that the library has just accepted.
        unsafe { sys::PMPI_Comm_test_inter(handle::<sys::MPI_Comm>(comm), &mut flag) };
        flag != 0
    }

    fn neighbours(&self, comm: usize) -> (Vec<i32>, Vec<i32>) {
        let comm = handle::<sys::MPI_Comm>(comm);
        // SAFETY: a communicator that the library has just accepted, asked as its topology allows,
        // with arrays as long as it said.
        unsafe { neighbours(comm) }
    }

    fn int_at(&self, array: usize, index: usize, large: bool) -> i64 {
        // SAFETY: an array argument of the call, with an element for each rank.
        unsafe {
            match large {
                true => *(array as *const i64).add(index),
                false => i64::from(*(array as *const c_int).add(index)),
            }
        }
    }

    fn handle_at(&self, array: usize, index: usize, fortran: bool) -> usize {
        let size = if fortran { size_of::<c_int>() } else { size_of::<sys::MPI_Datatype>() };
        let address = array + index * size;
        // SAFETY: an element of an array of handles, one for each rank.
        unsafe { handle_at::<sys::MPI_Datatype>(address, fortran, datatype_from_fortran) }
    }

    fn signature(&self, handle: usize) -> Signature {
        datatypes::signature(handle)
    }

    fn lasting_signature(&self, handle: usize) -> Signature {
        match datatypes::is_steady(handle) {
            true => datatypes::signature(handle),
            false => Signature::vague(1),
        }
    }
}

unsafe fn neighbours(comm: sys::MPI_Comm) -> (Vec<i32>, Vec<i32>) {
    let mut topology = 0;
    // SAFETY: by the caller; each query matches the topology found.
    unsafe {
        sys::PMPI_Topo_test(comm, &mut topology);
        if topology == sys::MPI_CART {
            let mut dimensions = 0;
            sys::PMPI_Cartdim_get(comm, &mut dimensions);
            let mut ranks = Vec::new();
            for dimension in 0..dimensions {
                let (mut before, mut after) = (0, 0);
                sys::PMPI_Cart_shift(comm, dimension, 1, &mut before, &mut after);
                ranks.extend([before, after]);
            }
            (ranks.clone(), ranks)
        } else if topology == sys::MPI_GRAPH {
            let (mut rank, mut count) = (0, 0);
            sys::PMPI_Comm_rank(comm, &mut rank);
            sys::PMPI_Graph_neighbors_count(comm, rank, &mut count);
            let mut ranks = vec![0; count.max(0) as usize];
            sys::PMPI_Graph_neighbors(comm, rank, count, ranks.as_mut_ptr());
            (ranks.clone(), ranks)
        } else if topology == sys::MPI_DIST_GRAPH {
            let (mut sources, mut destinations, mut weighted) = (0, 0, 0);
            sys::PMPI_Dist_graph_neighbors_count(
                comm,
                &mut sources,
                &mut destinations,
                &mut weighted,
            );
            let mut from = vec![0; sources.max(0) as usize];
            let mut to = vec![0; destinations.max(0) as usize];
            let (mut in_weights, mut out_weights) = (from.clone(), to.clone());
            sys::PMPI_Dist_graph_neighbors(
                comm,
                sources,
                from.as_mut_ptr(),
                in_weights.as_mut_ptr(),
                destinations,
                to.as_mut_ptr(),
                out_weights.as_mut_ptr(),
            );
            (from, to)
        } else {
            (Vec::new(), Vec::new())
        }
    }
}

/// The number of the predefined datatype that all elements have, equal in every process; 0 if there
/// is not just one.
pub(crate) fn type_number(datatype: usize) -> i32 {
    let number = |leaf| match sys::FAMILY {
        // SAFETY: a datatype of the library.
        MpiFamily::OpenMpi => unsafe { sys::PMPI_Type_c2f(handle::<sys::MPI_Datatype>(leaf)) },
        MpiFamily::Mpich | MpiFamily::Standard => leaf as i32,
    };
    datatypes::leaf(datatype).map_or(0, number)
}

/// Predefined handles of the standard ABI are below (MPI 5.0 chapter 20).
const MAX_PREDEFINED: usize = 1024;

/// The number of a reduction, equal in every process if it is predefined.
pub(crate) fn op_number(op: usize) -> i32 {
    // SAFETY: a reduction that the library has accepted.
    unsafe {
        match sys::FAMILY {
            MpiFamily::OpenMpi => sys::PMPI_Op_c2f(handle::<sys::MPI_Op>(op)),
            MpiFamily::Mpich => op as i32,
            // Not all libraries give predefined handles their own values here.
            MpiFamily::Standard if op < MAX_PREDEFINED => op as i32,
            MpiFamily::Standard => sys::PMPI_Op_toint(handle::<sys::MPI_Op>(op)),
        }
    }
}

/// Number of a predefined reduction in [`commsan_mpi_calls::reduction`], which are those of Open
/// MPI.
pub(crate) fn reduction(op: usize) -> u32 {
    let number = op_number(op);
    let known = match sys::FAMILY {
        MpiFamily::OpenMpi => (1..=14).contains(&number),
        MpiFamily::Mpich => mpich::is_built_in(number as u32, HandleKind::Op),
        MpiFamily::Standard => (0..REDUCTIONS.len() as i32).contains(&number),
    };
    if !known {
        return OTHER;
    }
    match (sys::FAMILY, REDUCTIONS[number as usize % REDUCTIONS.len()]) {
        (MpiFamily::OpenMpi, _) => number as u32,
        (_, 0) => OTHER,
        (_, reduction) => u32::from(reduction),
    }
}

/// The predefined reductions by the lowest bits of their handles.
static REDUCTIONS: [u8; 64] = {
    let (mut numbers, mut at) = ([0; 64], 0);
    while at < HANDLES.len() {
        let handle = &HANDLES[at];
        let number = match sys::FAMILY {
            MpiFamily::OpenMpi => None,
            MpiFamily::Mpich => handle.mpich,
            MpiFamily::Standard => handle.standard,
        };
        if let (HandleKind::Op, Some(number), Some(reduction)) =
            (handle.kind, number, handle.open_mpi_fortran)
        {
            numbers[number as usize % numbers.len()] = reduction as u8;
        }
        at += 1;
    }
    numbers
};

/// The value of a key, as far as it matters here; `None` where there is none.
pub(crate) fn info_value(info: usize, key: &CStr) -> Option<String> {
    const LONGEST: usize = 63;
    if info == sys::MPI_INFO_NULL() {
        return None;
    }
    let (mut value, mut found) = ([0u8; LONGEST + 1], 0);
    // SAFETY: an info object that the library has accepted, and room for a terminator.
    let code = unsafe {
        sys::PMPI_Info_get(
            handle::<sys::MPI_Info>(info),
            key.as_ptr(),
            LONGEST as c_int,
            value.as_mut_ptr().cast(),
            &mut found,
        )
    };
    let value = CStr::from_bytes_until_nul(&value).ok()?.to_str().ok()?;
    (code == 0 && found != 0).then(|| value.to_owned())
}

/// Whether a window has the separate memory model.
pub(crate) fn is_separate(window: usize) -> bool {
    let (mut model, mut found) = (std::ptr::null_mut::<c_int>(), 0);
    // SAFETY: a window that the library has just made; the attribute is a pointer to an integer.
    unsafe {
        let code = sys::PMPI_Win_get_attr(
            handle::<sys::MPI_Win>(window),
            sys::MPI_WIN_MODEL as c_int,
            (&raw mut model).cast(),
            &mut found,
        );
        code == 0 && found != 0 && !model.is_null() && *model == sys::MPI_WIN_SEPARATE as c_int
    }
}

/// Where this process sees a rank's part of a window in shared memory.
pub(crate) fn shared_part(window: usize, rank: c_int) -> Option<Range<usize>> {
    let (mut size, mut unit, mut base) = (0, 0, std::ptr::null_mut::<c_void>());
    // SAFETY: a window that the library has just made in shared memory, and a rank of its group.
    let code = unsafe {
        sys::PMPI_Win_shared_query(
            handle::<sys::MPI_Win>(window),
            rank,
            &mut size,
            &mut unit,
            (&raw mut base).cast(),
        )
    };
    (code == 0).then(|| base as usize..base as usize + size as usize)
}

/// How many elements a receive has really got; `None` if not a whole number of them.
///
/// # Safety
/// `status` is the status of a completed receive.
pub(crate) unsafe fn received(status: usize, datatype: usize) -> Option<i32> {
    let mut count = 0;
    // SAFETY: by the caller.
    let code = unsafe {
        sys::PMPI_Get_count(
            status as *const sys::MPI_Status,
            handle::<sys::MPI_Datatype>(datatype),
            &mut count,
        )
    };
    (code == 0 && count != sys::MPI_UNDEFINED && count >= 0).then_some(count)
}

/// How many bytes of a file have been read; `None` where the library does not know.
///
/// # Safety
/// `status` is the status of a completed read.
pub(crate) unsafe fn read_bytes(status: usize) -> Option<u64> {
    let mut count = 0;
    // SAFETY: by the caller.
    let code = unsafe {
        let byte = handle::<sys::MPI_Datatype>(sys::MPI_BYTE());
        sys::PMPI_Get_elements_x(status as *const sys::MPI_Status, byte, &raw mut count)
    };
    u64::try_from(count).ok().filter(|_| code == 0 && count != sys::MPI_UNDEFINED as sys::MPI_Count)
}

/// Whether this is a status that the library fills.
pub(crate) fn is_wanted(status: usize) -> bool {
    status != 0 && status != sys::MPI_STATUS_IGNORE as usize
}

/// Source and tag of what a receive has got; `None` where it is not known.
///
/// # Safety
/// `status` is a status that the library has filled, or a sentinel.
pub(crate) unsafe fn envelope(status: usize) -> Option<(i32, i32)> {
    if !is_wanted(status) {
        return None;
    }
    // SAFETY: by the caller; both bindings lay a status out alike.
    let status = unsafe { &*(status as *const sys::MPI_Status) };
    Some((status.MPI_SOURCE, status.MPI_TAG))
}

/// The largest tag (MPI 4.1 §9.1.2); the minimum that the standard demands if the library does not
/// say.
pub(crate) fn largest_tag() -> i32 {
    const LEAST: c_int = 32767;
    if phase::are_alone() {
        return c_int::MAX; // each communicator may have one of its own
    }
    let (mut value, mut found) = (std::ptr::null_mut::<c_int>(), 0);
    // SAFETY: MPI is initialised; the attribute is a pointer to an integer.
    unsafe {
        let into = (&raw mut value).cast();
        sys::PMPI_Comm_get_attr(comm_world(), sys::MPI_TAG_UB as c_int, into, &mut found);
        if found != 0 && !value.is_null() { *value } else { LEAST }
    }
}

/// Rank and size in `MPI_COMM_WORLD`, and the library's version.
pub(crate) fn world() -> crate::World {
    let (mut rank, mut size) = (0, 0);
    // SAFETY: MPI is initialised.
    unsafe {
        sys::PMPI_Comm_rank(comm_world(), &mut rank);
        sys::PMPI_Comm_size(comm_world(), &mut size);
    }
    crate::World {
        rank: rank.max(0) as u32,
        size: size.max(0) as u32,
        library: version(),
        owns_log: false,
    }
}

/// The library's own description, which it gives at any time.
pub(crate) fn version() -> String {
    let mut text = vec![0u8; sys::MPI_MAX_LIBRARY_VERSION_STRING as usize + 1];
    let mut length = 0;
    // SAFETY: the buffer is as long as the standard asks.
    unsafe { sys::PMPI_Get_library_version(text.as_mut_ptr().cast(), &mut length) };
    text.truncate(length.max(0) as usize);
    String::from_utf8_lossy(&text).into_owned()
}

/// Whether this process's world was made by `MPI_Comm_spawn`.
pub(crate) fn is_spawned() -> bool {
    let mut parent = std::mem::MaybeUninit::<sys::MPI_Comm>::uninit();
    // SAFETY: MPI is initialised; the call stores a handle.
    let parent = unsafe {
        sys::PMPI_Comm_get_parent(parent.as_mut_ptr());
        parent.assume_init()
    };
    parent.word() != sys::MPI_COMM_NULL()
}

/// `MPI_COMM_WORLD`.
pub(crate) fn comm_world() -> sys::MPI_Comm {
    handle(sys::MPI_COMM_WORLD())
}

/// `MPI_COMM_SELF`.
pub(crate) fn comm_self() -> sys::MPI_Comm {
    handle(sys::MPI_COMM_SELF())
}

/// Bytes that a buffered send needs besides its message (`MPI_BSEND_OVERHEAD`), as the program was
/// compiled with.
pub(crate) fn bsend_overhead() -> usize {
    // The only constant in which a library differs from the others of its family.
    const OF_INTEL: usize = 88;
    static IS_INTEL: LazyLock<bool> = LazyLock::new(|| version().contains("Intel"));
    let usual = sys::MPI_BSEND_OVERHEAD as usize;
    match sys::FAMILY {
        MpiFamily::Mpich if *IS_INTEL => OF_INTEL,
        _ => usual,
    }
}

/// Whether an operation that was just started is complete already.
pub(crate) fn is_complete(request: usize) -> bool {
    let mut flag = 0;
    let status = sys::MPI_STATUS_IGNORE as usize as *mut sys::MPI_Status;
    // SAFETY: a request that the library has just made.
    unsafe {
        sys::PMPI_Request_get_status(handle::<sys::MPI_Request>(request), &mut flag, status);
    }
    flag != 0
}
