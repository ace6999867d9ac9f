//! Finds the MPI ranks among the processes of a job, and processes that use devices without MPI,
//! and restarts them under the right runtime.
//!
//! `commsan run` preloads this library into every process that it causes: shells, launchers,
//! daemons, helpers, ranks. Its constructor only looks, except in a rank: there it executes the
//! same program again with the runtime for that rank's MPI in `LD_PRELOAD`. On the second start it
//! restores the environment, so that the rank's own children never load a runtime that they did not
//! ask for.
//!
//! Promises: a process that is no rank runs exactly as without commsan; whatever goes wrong, the
//! program runs, unchecked, and a `notice-PID.txt` in the run directory says why. Nothing here
//! panics, and nothing allocates before a restart is decided, except in what CTest has started,
//! whose environment gets the name of the job. The variables that carry the restart
//! are described in `docs/run-directory.md`.

mod environment;
mod libraries;
mod linked_in;
mod notice;
mod restart;
mod sanitizers;
mod testing;
mod verdict;

use std::ffi::{c_char, c_int};

/// Run by ld.so before `main`; glibc passes the arguments of `main`.
#[used]
#[unsafe(link_section = ".init_array")]
static CONSTRUCTOR: extern "C" fn(c_int, *const *const c_char, *const *const c_char) = construct;

extern "C" fn construct(_argc: c_int, argv: *const *const c_char, _envp: *const *const c_char) {
    let Some(run_dir) = environment::get(c"COMMSAN_RUN_DIR") else { return };
    if environment::get(restart::RESTORE).is_some() {
        return restart::restore();
    }
    testing::name_job();
    match verdict::decide(&verdict::Facts::gather()) {
        verdict::Verdict::NoRank => {}
        verdict::Verdict::Rank(mpi) | verdict::Verdict::MaybeRank(mpi) => {
            restart::under_runtime(run_dir, argv, Some(mpi));
        }
        verdict::Verdict::Serial => restart::under_runtime(run_dir, argv, None),
        verdict::Verdict::Sanitized(name) => notice::write(
            run_dir,
            &[
                b"was not checked: it is built with ",
                name.as_bytes(),
                b", beside which commsan cannot work. Build it without, to have it checked.",
            ],
        ),
        verdict::Verdict::LinkedIn => notice::write(
            run_dir,
            &[
                b"was not checked: an MPI library is linked into it, and nothing can come between the two. \
                  Link it with the MPI's shared library.",
            ],
        ),
        verdict::Verdict::Mixed => {
            let libraries = libraries::loaded();
            notice::write(
                run_dir,
                &[
                    b"was not checked: it loads two MPI libraries at once, ",
                    libraries.first(),
                    b" and ",
                    libraries.second(),
                    b". Such a program rarely works. Find out which library brings the second one \
                      with `ldd`, and build everything with the same mpicc.",
                ],
            );
        }
        verdict::Verdict::WrongLauncher(mpi, launcher) => notice::write(
            run_dir,
            &[
                b"was not checked: it uses ",
                mpi.name().as_bytes(),
                b" but was started by the launcher of ",
                launcher.name().as_bytes(),
                b", so that every process would be rank 0 of an MPI_COMM_WORLD of size 1. Start it \
                  with `mpirun.",
                mpi.key().as_bytes(),
                b"`. If this launcher does serve both, say so with `commsan run --mpi ",
                mpi.key().as_bytes(),
                b"`.",
            ],
        ),
    }
}
