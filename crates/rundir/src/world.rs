//! Which of a run's processes one is.

/// A process among those of its job.
#[derive(Clone, Debug)]
pub struct World {
    /// Rank in `MPI_COMM_WORLD`; without MPI, the number that the launcher or the run directory
    /// gives.
    pub rank: u32,
    /// How many ranks there are.
    pub size: u32,
    /// The MPI library's own description.
    pub library: String,
    /// Whether the process has its number because it has created the log of the first job's rank.
    pub owns_log: bool,
}
