//! The options that MPI's compiler wrappers pass to compilers. The wrappers are run once: that of
//! MPICH is a script that runs a command for each option. `built.rs` and commsan-compiler-wrapper's
//! tests run `commsan cc` behind wrappers.

use std::process::Command;

/// What a wrapper (`mpicc.mpich`) passes to its compiler.
pub fn options(wrapper: &str) -> Result<Vec<String>, String> {
    let shown = Command::new(wrapper).arg("-show").output();
    let shown = shown.map_err(|error| format!("{wrapper} -show: {error}"))?;
    let words = String::from_utf8_lossy(&shown.stdout);
    Ok(words.split_whitespace().skip(1).map(str::to_owned).collect())
}
