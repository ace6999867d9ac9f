//! What launchers do wrong.

/// Whether a run that did not end says that Open MPI 4.1's launcher has lost part of its ranks' message over an
/// error. It does in every third such run, natively, too, and rarely does not end itself then: that says nothing
/// about commsan.
pub fn hangs(output: &str) -> bool {
    output.contains("ORTE_ERROR_LOG: Data unpack had inadequate space")
}
