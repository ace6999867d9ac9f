//! What launchers do wrong.

/// Whether commsan had to end a launcher that did not see the end of its ranks, so that its exit code is lost. Open
/// MPI 4.1's hangs after one in a hundred jobs that end in an error, natively, too.
pub fn hung(output: &str) -> bool {
    output.contains("all ranks have ended, which")
}
