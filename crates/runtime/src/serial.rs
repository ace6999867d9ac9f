//! Processes of programs without MPI: which of them is which.

use commsan_job_shm::Launcher;
use commsan_rundir::World;
use std::env;
use std::fs::File;
use std::io;
use std::path::Path;

/// What stands for the library of such processes.
pub const NO_MPI: &str = "no MPI";

/// Numbers that are tried before processes share one.
const MAX_NUMBERS: u32 = 4096;

/// This process: as its launcher numbers it, or else by the first number that no process of the run
/// has.
pub fn world(directory: &Path) -> World {
    let number = |name| env::var(name).ok()?.parse().ok();
    let launched = Launcher::of_this_rank().and_then(Launcher::rank_and_size);
    // As torchrun and others of its kind number processes.
    let told = launched.or_else(|| Some((number("RANK")?, number("WORLD_SIZE")?)));
    let (rank, size) = told.unwrap_or_else(|| {
        let rank = claimed(directory);
        (rank, rank + 1)
    });
    World { rank, size, library: NO_MPI.to_owned(), owns_log: told.is_none() }
}

/// Who creates the log of a rank has its number.
fn claimed(directory: &Path) -> u32 {
    let is_taken = |rank: &u32| {
        let made = File::create_new(directory.join(format!("rank-{rank}.jsonl")));
        made.is_err_and(|error| error.kind() == io::ErrorKind::AlreadyExists)
    };
    (0..MAX_NUMBERS).find(|rank| !is_taken(rank)).unwrap_or(MAX_NUMBERS)
}
