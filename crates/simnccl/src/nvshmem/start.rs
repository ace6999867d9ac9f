//! Initialisation and finalisation: how PEs find each other.

use super::heap::Heap;
use super::team::Teams;
use super::{WORLD, World, device};
use crate::abi::{ID_BYTES, UniqueId};
use crate::error::{Failure, Result};
use crate::rendezvous::{Rendezvous, message};
use commsan_cuda_abi::nvshmem::{Attributes, ById, WITH_ID, WITH_MPI};
use commsan_mpi_abi::handles::{self, Handle};
use parking_lot::{Mutex, RwLock};
use std::ffi::{CStr, CString, c_int, c_uint, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The identity of this process: its PE number, the number of PEs, and the identifier by which they
/// meet.
type Identity = (usize, usize, UniqueId);

/// Initialises this process as a PE, together with all others.
pub fn start(flags: c_uint, attributes: Option<&Attributes>) -> Result {
    join(flags, attributes)?;
    // Without the lock, which the device takes when a kernel asks for memory of a PE.
    let world = super::world()?;
    device::begin(&world)
}

fn join(flags: c_uint, attributes: Option<&Attributes>) -> Result {
    let mut world = WORLD.write();
    if world.is_some() {
        return Ok(());
    }
    let (pe, pes, id) = match (flags, attributes) {
        (flags, Some(attributes)) if flags & WITH_ID != 0 => by_id(&attributes.by_id)?,
        (flags, Some(attributes)) if flags & WITH_MPI != 0 && !attributes.comm.is_null() => {
            by_mpi(Some(attributes.comm))?
        }
        _ => by_environment()?,
    };
    static STARTS: AtomicU64 = AtomicU64::new(0);
    let id = id.child(("NVSHMEM", STARTS.fetch_add(1, Ordering::Relaxed)));
    *world = Some(Arc::new(World {
        pe,
        pes,
        rendezvous: Mutex::new(Rendezvous::join(&id, pe, pes)?),
        heap: RwLock::new(Heap::default()),
        teams: Mutex::new(Teams::new(id, pe, pes)?),
        device: Mutex::new(None),
    }));
    Ok(())
}

/// Finalises this PE, together with all others.
pub fn end() -> Result {
    let world = super::world()?;
    let freed = world.free_all();
    *WORLD.write() = None;
    world.rendezvous.lock().exchange(&message(&[]))?;
    freed.and(world.leave_device())
}

fn by_id(attributes: &ById) -> Result<Identity> {
    let numbers = (usize::try_from(attributes.rank), usize::try_from(attributes.ranks));
    let (Ok(pe), Ok(pes)) = numbers else {
        return Err(Failure::argument("the rank or the number of ranks is not set"));
    };
    if attributes.id.is_null() || pe >= pes {
        return Err(Failure::argument("there is no unique identifier, or no such rank"));
    }
    // SAFETY: the program provides an identifier.
    let id = unsafe { attributes.id.read_unaligned() };
    let mut bytes = [0; ID_BYTES];
    bytes[..24].copy_from_slice(&id.bytes[..24]);
    Ok((pe, pes, UniqueId(bytes)))
}

/// The launcher's numbering of processes; a single PE if there is no launcher.
fn by_environment() -> Result<Identity> {
    if let Ok(who) = by_mpi(None) {
        return Ok(who);
    }
    let number = |names: [&str; 3]| {
        names.iter().find_map(|name| std::env::var(name).ok()?.parse::<usize>().ok())
    };
    let pe = number(["OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"]);
    let pes = number(["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"]);
    let (Some(pe), Some(pes)) = (pe, pes) else { return Ok((0, 1, UniqueId::new()?)) };
    let job = ["PMIX_NAMESPACE", "PMI_JOBID", "SLURM_STEP_ID"].map(std::env::var_os);
    // Processes of one job share a parent, if no variable identifies the job.
    let parent = job.iter().all(Option::is_none).then(std::os::unix::process::parent_id);
    // SAFETY: it has no preconditions.
    let user = unsafe { libc::getuid() };
    Ok((pe, pes, UniqueId([0; ID_BYTES]).child((user, job, parent))))
}

/// A function of MPI, past any interceptor.
fn mpi(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: a lookup by name.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}

/// The numbering of processes in an MPI communicator, `MPI_COMM_WORLD` if `None`.
fn by_mpi(comm: Option<*const c_void>) -> Result<Identity> {
    type Ask = unsafe extern "C" fn(*mut c_int) -> c_int;
    type AskComm = unsafe extern "C" fn(usize, *mut c_int) -> c_int;
    type Broadcast = unsafe extern "C" fn(*mut c_void, c_int, usize, c_int, usize) -> c_int;
    const HANDLES: [&Handle; 2] = [handles::named("MPI_COMM_WORLD"), handles::named("MPI_BYTE")];
    let missing = || Failure::usage("there is no MPI library in this process");
    // Open MPI's handles are addresses of its variables, MPICH's are numbers.
    let variable = |handle: &Handle| mpi(&CString::new(handle.open_mpi?).ok()?);
    let is_open_mpi = variable(HANDLES[0]).is_some();
    let word = |handle: &Handle| match variable(handle) {
        Some(address) => Some(address as usize),
        None => handle.mpich.map(|number| number as usize),
    };
    let [Some(all), Some(byte)] = HANDLES.map(word) else { return Err(missing()) };
    // SAFETY: handles are addresses, or numbers in a C `int`; the program provides one.
    let comm = comm.map_or(all, |comm| unsafe {
        match is_open_mpi {
            true => comm.cast::<usize>().read_unaligned(),
            false => comm.cast::<c_uint>().read_unaligned() as usize,
        }
    });
    let found = |name| mpi(name).ok_or_else(missing);
    let [initialized, rank, size, broadcast] =
        [c"PMPI_Initialized", c"PMPI_Comm_rank", c"PMPI_Comm_size", c"PMPI_Bcast"].map(found);
    let (mut is_there, mut pe, mut pes) = (0, 0, 0);
    let mut id = UniqueId::new()?.0;
    // SAFETY: the library's functions of these names and types; the bytes of one process are
    // broadcast to all.
    unsafe {
        std::mem::transmute::<*mut c_void, Ask>(initialized?)(&mut is_there);
        if is_there == 0 {
            return Err(Failure::usage("MPI is not initialised"));
        }
        std::mem::transmute::<*mut c_void, AskComm>(rank?)(comm, &mut pe);
        std::mem::transmute::<*mut c_void, AskComm>(size?)(comm, &mut pes);
        let broadcast = std::mem::transmute::<*mut c_void, Broadcast>(broadcast?);
        broadcast(id.as_mut_ptr().cast(), 24, byte, 0, comm);
    }
    Ok((pe.max(0) as usize, pes.max(1) as usize, UniqueId(id)))
}
