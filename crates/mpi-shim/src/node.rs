//! Attaching to the memory that the ranks of a job share.

use crate::library::is_spawned;
use crate::phase;
use crate::rank::{Rank, Shared};
use crate::waiting;
use commsan_job_shm::{AttachError, JobShm, Launcher, attach, attach_across_nodes};
use commsan_process::inside::Inside;
use commsan_process::loaded::{self, Loaded};
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Attaches to the memory of the other ranks through the run directory.
pub(crate) fn share(state: &'static dyn Rank, rank: usize, ranks: usize) -> Shared {
    let Some(directory) = std::env::var_os("COMMSAN_RUN_DIR") else { return Shared::Unneeded };
    let windows = shares_memory();
    if ranks == 1 && !windows {
        // Even a single rank may wait forever, which the launcher must see.
        if let Ok(shm) = attach(Path::new(&directory), rank, ranks) {
            waiting::begin(state, shm.rendezvous(), rank);
        }
        return Shared::Unneeded;
    }
    let impossible = |why| Shared::Impossible { why, windows };
    if !phase::are_alone() && is_spawned() {
        return impossible("it was spawned by another");
    }
    let met = match has_several_nodes(ranks) {
        true => meet_others(Path::new(&directory), rank, ranks),
        false => attach(Path::new(&directory), rank, ranks),
    };
    match met {
        Ok(shm) => {
            waiting::begin(state, shm.rendezvous(), rank);
            Shared::Job { shm, windows }
        }
        Err(AttachError::NoLauncher) => impossible("what launched it is not known to commsan"),
        Err(AttachError::Refused) => impossible("the system gives it no memory to share"),
        Err(AttachError::NotHere) => {
            impossible("rank 0 is on another node, or does not run under commsan")
        }
        Err(AttachError::NoName) => {
            impossible("it runs on several nodes, and what launched it gives it no name")
        }
    }
}

/// Attaches to ranks on this node and on others; the first of each node answers for it.
fn meet_others(directory: &Path, rank: usize, ranks: usize) -> Result<JobShm, AttachError> {
    let local = Launcher::of_this_rank().and_then(Launcher::local_rank);
    let is_first = local.is_none_or(|local| local == 0);
    let (shm, relay) = attach_across_nodes(directory, (rank, ranks), is_first)?;
    if let Some(relay) = relay {
        let serve = move || {
            if let Some(_inside) = Inside::enter() {
                relay.serve();
            }
        };
        waiting::begin_thread(serve).map_err(|_| AttachError::Refused)?;
    }
    Ok(shm)
}

/// Whether the launcher says that only some of the ranks are on this node: those on other nodes
/// would look for rank 0 in vain.
fn has_several_nodes(ranks: usize) -> bool {
    Launcher::of_this_rank().is_some_and(|launcher| launcher.has_several_nodes(ranks))
}

/// Whether any module of the process, except for MPI and commsan, calls a constructor of windows,
/// or OpenSHMEM, or exports or opens a device's memory: what makes memory that other ranks access.
fn shares_memory() -> bool {
    let found = loaded::visit(|module| match imports(module) {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    });
    found.is_some()
}

fn imports(module: &Loaded<'_>) -> bool {
    let path = module.path().as_os_str().as_bytes();
    if ["libmpi", "libmpich", "liboshmem", "libcommsan"]
        .iter()
        .any(|own| contains(path, own.as_bytes()))
    {
        return false;
    }
    module.symbols().is_some_and(|symbols| {
        symbols.imports().any(|name| {
            let name = name.to_bytes().to_ascii_lowercase();
            let makers: [&[u8]; 6] = [
                b"mpi_win_create",
                b"mpi_win_allocate",
                b"cudaipcgetmem",
                b"cudaipcopenmem",
                b"shmem_init",
                b"start_pes",
            ];
            makers.iter().any(|maker| name.starts_with(maker))
        })
    })
}

fn contains(name: &[u8], part: &[u8]) -> bool {
    name.windows(part.len()).any(|window| window == part)
}
