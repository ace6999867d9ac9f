//! What MPI's compiler wrappers tell compilers. They are asked once: that of MPICH is a script that
//! runs a command for each option. `commsan cc` behind wrappers is what `built.rs` and
//! commsan-compiler-wrapper's tests run.

use std::process::Command;

/// What a wrapper (`mpicc.mpich`) passes to its compiler.
pub fn options(wrapper: &str) -> Result<Vec<String>, String> {
    let shown = Command::new(wrapper).arg("-show").output();
    let shown = shown.map_err(|error| format!("{wrapper} -show: {error}"))?;
    let words = String::from_utf8_lossy(&shown.stdout);
    Ok(words.split_whitespace().skip(1).map(str::to_owned).collect())
}
