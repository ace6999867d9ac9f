//! Changes to the command, needed where the environment alone would not reach the ranks.
//!
//! Open MPI's mpirun forwards no variables to other nodes without `-x`, and a user's own
//! `-x LD_PRELOAD=…` would replace commsan's. (The alternative, the parameter `mca_base_env_list`,
//! cannot be combined with `-x`: mpirun then fails.) MPICH's and Slurm's launchers forward the
//! whole environment.

use crate::child;
use crate::install::{self, ASAN_OPTIONS, JobEnvironment};
use crate::program;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

const ENV_LIST: &str = "OMPI_MCA_mca_base_env_list";

/// Returns `command`, changed so that the job's environment reaches every rank.
pub fn adapt(command: &[OsString], environment: &mut JobEnvironment) -> Vec<OsString> {
    let mut command = command.to_vec();
    keep_preload(&mut command, environment);
    if is_open_mpi(&command) {
        forward(&mut command, environment);
    }
    command
}

/// Whether the command is Open MPI's launcher.
fn is_open_mpi(command: &[OsString]) -> bool {
    let path = command.first().and_then(|word| child::find(word).ok());
    let path = path.and_then(|path| path.canonicalize().ok());
    let name = path.map(|path| program::base_name(path.as_os_str())).unwrap_or_default();
    ["orterun", "prterun", "prun", "mpirun.openmpi", "mpiexec.openmpi"].contains(&name.as_str())
}

/// Changes every `LD_PRELOAD` and `ASAN_OPTIONS` that the command sets for its ranks in the same
/// way as those of the environment.
fn keep_preload(command: &mut [OsString], environment: &JobEnvironment) {
    let Some(ours) = injector(environment) else { return };
    let change = |name: &[u8], value: OsString| match name {
        b"LD_PRELOAD" => Some(install::preload(&ours, Some(value))),
        name if name == ASAN_OPTIONS.as_bytes() => Some(install::behind_injector(Some(value))),
        _ => None,
    };
    let end = program::position(command).unwrap_or(command.len());
    for index in 0..end {
        let word = command[index].as_bytes();
        if let Some(at) = word.iter().position(|byte| *byte == b'=')
            && let Some(value) = change(&word[..at], OsString::from_vec(word[at + 1..].to_vec()))
        {
            let mut changed = OsStr::from_bytes(&word[..=at]).to_owned();
            changed.push(value);
            command[index] = changed;
        }
        // Hydra's form: -genv LD_PRELOAD libx.so
        let option = index.checked_sub(1).map(|i| command[i].as_bytes());
        let sets = matches!(option, Some(b"-genv" | b"-env"));
        if sets
            && index + 1 < end
            && let Some(value) = change(command[index].as_bytes(), command[index + 1].clone())
        {
            command[index + 1] = value;
        }
    }
}

/// The path of the injector.
fn injector(environment: &JobEnvironment) -> Option<OsString> {
    let (_, value) = environment.set.iter().find(|(name, _)| *name == "LD_PRELOAD")?;
    let first = value.as_bytes().split(|byte| *byte == b':').next()?;
    Some(OsStr::from_bytes(first).to_owned())
}

/// Adds `-x NAME` for each of commsan's variables, for each program of the job.
fn forward(command: &mut Vec<OsString>, environment: &mut JobEnvironment) {
    let names: Vec<&str> = environment.set.iter().map(|(name, _)| *name).collect();
    if let Some(mut list) = std::env::var_os(ENV_LIST) {
        for name in names {
            list.push(";");
            list.push(name);
        }
        environment.set.push((ENV_LIST, list));
        return;
    }
    if command.iter().any(|word| word == "mca_base_env_list") {
        return;
    }
    let given = |name: &str| {
        command.windows(2).any(|pair| {
            let value = pair[1].as_bytes().strip_prefix(name.as_bytes());
            pair[0] == "-x" && value.is_some_and(|value| value.is_empty() || value[0] == b'=')
        })
    };
    let names: Vec<&str> = names.into_iter().filter(|name| !given(name)).collect();
    let mut changed = Vec::with_capacity(command.len() + 16);
    for (index, word) in command.drain(..).enumerate() {
        // A lone colon separates the programs of an MPMD job.
        let begins = index == 0 || word == ":";
        changed.push(word);
        if begins {
            changed.extend(names.iter().flat_map(|name| ["-x".into(), (*name).into()]));
        }
    }
    *command = changed;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment() -> JobEnvironment {
        let set = vec![
            ("COMMSAN_RUN_DIR", OsString::from("/r")),
            ("LD_PRELOAD", OsString::from("/c/libcommsan_inject.so:mine.so")),
        ];
        JobEnvironment { set, remove: Vec::new() }
    }

    fn words(text: &str) -> Vec<OsString> {
        text.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn a_preload_given_to_the_launcher_is_kept_behind_ours() {
        let mut command = words("x.mpich -genv LD_PRELOAD a.so -x LD_PRELOAD=b.so -n 2 missing");
        keep_preload(&mut command, &environment());
        let ours = "/c/libcommsan_inject.so";
        let expected =
            format!("x.mpich -genv LD_PRELOAD {ours}:a.so -x LD_PRELOAD={ours}:b.so -n 2 missing");
        assert_eq!(command, words(&expected));
        let mut command = words("mpirun -x ASAN_OPTIONS=a=1 -n 2 missing");
        keep_preload(&mut command, &environment());
        let expected = "mpirun -x ASAN_OPTIONS=a=1:verify_asan_link_order=0 -n 2 missing";
        assert_eq!(command, words(expected));
    }

    #[test]
    fn every_program_of_a_job_gets_the_variables() {
        if std::env::var_os(ENV_LIST).is_some() {
            return;
        }
        let mut command = words("mpirun -x LD_PRELOAD=b.so -n 1 ./a : -n 1 ./b");
        forward(&mut command, &mut environment());
        let expected =
            "mpirun -x COMMSAN_RUN_DIR -x LD_PRELOAD=b.so -n 1 ./a : -x COMMSAN_RUN_DIR -n 1 ./b";
        assert_eq!(command, words(expected));
    }
}
