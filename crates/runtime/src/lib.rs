//! The library loaded into each rank: connects sensors and the entry points of MPI and CUDA to the
//! semantics, and findings to the rank's log. No logic of its own. With the feature `serial` it is
//! for programs that use devices without MPI; each of their processes counts as a rank.
//!
//! It promises the program: no panic crosses into C (a panic switches checking off and leaves a
//! note), nothing waits for another process, and a process that is no MPI rank of a checked run
//! is left alone.
#![cfg(one_runtime)]

#[cfg(not(feature = "serial"))]
mod guards;
mod hooks;
mod lock;
mod options;
mod recorder;
mod serial;
mod state;
mod stats;
mod traffic;

use commsan_process::own_memory::{self, OwnMemory};
use commsan_process::{abi, heap, release};
use std::path::PathBuf;

/// A program that damages its heap must not take the report away.
#[global_allocator]
static OWN_MEMORY: OwnMemory = OwnMemory::new();

/// Runs when the library is loaded, before `main`.
#[used]
#[unsafe(link_section = ".init_array")]
static LOADED: extern "C" fn() = loaded;

/// Runs at exit, after `main` and the program's own destructors.
#[used]
#[unsafe(link_section = ".fini_array")]
static UNLOADED: extern "C" fn() = unloaded;

extern "C" fn loaded() {
    let Some(directory) = std::env::var_os("COMMSAN_RUN_DIR").filter(|d| !d.is_empty()) else {
        return;
    };
    let directory = PathBuf::from(directory);
    let ready = abi::map().and_then(|()| abi::pages());
    let (options, counting) = options::from_environment();
    let state = state::install(directory, options, ready);
    #[cfg(not(feature = "serial"))]
    commsan_mpi_shim::loaded();
    // Without the filter nothing is checked, and nothing has a log.
    if ready.is_ok() && options.check && options.stats {
        commsan_process::stats::begin();
    }
    if ready.is_ok() && options.check {
        hooks::connect();
        release::observe(hooks::on_release);
        heap::begin();
    }
    own_memory::begin(&OWN_MEMORY);
    // SAFETY: the handler only stores to an atomic.
    unsafe { libc::pthread_atfork(None, None, Some(forked)) };
    if let Some(settings) = counting {
        // Small blocks may be given names.
        heap::begin();
        traffic::install(settings);
    }
    #[cfg(not(feature = "serial"))]
    if options.mpi.strict_sends {
        commsan_mpi_shim::send_strictly();
    }
    #[cfg(not(feature = "serial"))]
    if options.mpi.strict_collectives {
        commsan_mpi_shim::collect_strictly();
    }
    #[cfg(not(feature = "serial"))]
    commsan_mpi_shim::follow_objects(options.mpi.leaks);
    #[cfg(not(feature = "serial"))]
    if ready.is_ok() && options.check {
        guards::want(&options.mpi);
    }
    #[cfg(not(feature = "serial"))]
    commsan_mpi_shim::prepare();
    #[cfg(not(feature = "serial"))]
    commsan_mpi_shim::set_mode(false, false, false);
    #[cfg(not(feature = "serial"))]
    commsan_mpi_shim::connect(state);
    commsan_cuda_shim::connect(state);
}

/// A forked child shares the rank's log and must not write to it.
unsafe extern "C" fn forked() {
    #[cfg(not(feature = "serial"))]
    guards::forked();
    state::abandon();
    commsan_threads::activity::unpublish();
}

extern "C" fn unloaded() {
    #[cfg(not(feature = "serial"))]
    if !commsan_mpi_shim::ended(None) {
        commsan_mpi_shim::left();
    }
    state::exited();
    #[cfg(not(feature = "serial"))]
    commsan_mpi_shim::gone();
}
