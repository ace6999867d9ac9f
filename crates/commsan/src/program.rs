//! Guesses which word of a command line is the MPI program.
//!
//! Only the name of the run directory and some advice depend on it, so a wrong guess costs little.

use crate::child::{is_executable, search};
use commsan_report::names::runs_scripts;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Commands that start the ranks of a job.
const LAUNCHERS: &[&str] = &[
    "mpirun", "mpiexec", "orterun", "oshrun", "shmemrun", "prun", "prterun", "srun", "jsrun",
    "aprun", "flux", "ibrun",
];

/// Commands that start one other command.
const WRAPPERS: &[&str] = &[
    "env", "time", "timeout", "nice", "numactl", "taskset", "stdbuf", "setsid", "nohup",
    "valgrind", "strace", "xvfb-run", "commsan", "exec", "run",
];

const SHELLS: &[&str] = &["sh", "bash", "dash", "zsh", "ksh", "csh", "tcsh", "fish"];

/// Launcher options, without dashes, and the number of words that follow each.
const OPTIONS: &[(&str, usize)] = &[
    ("n", 1),
    ("np", 1),
    ("c", 1),
    ("N", 1),
    ("ppn", 1),
    ("npernode", 1),
    ("npersocket", 1),
    ("H", 1),
    ("host", 1),
    ("hosts", 1),
    ("hostfile", 1),
    ("machinefile", 1),
    ("f", 1),
    ("map-by", 1),
    ("bind-to", 1),
    ("rank-by", 1),
    ("x", 1),
    ("mca", 2),
    ("gmca", 2),
    ("pmixmca", 2),
    ("prtemca", 2),
    ("env", 2),
    ("genv", 2),
    ("wdir", 1),
    ("wd", 1),
    ("path", 1),
    ("prefix", 1),
    ("p", 1),
    ("A", 1),
    ("J", 1),
    ("t", 1),
    ("o", 1),
    ("e", 1),
    ("i", 1),
    ("w", 1),
    ("mpi", 1),
    ("ntasks", 1),
    ("nodes", 1),
    ("partition", 1),
    ("output", 1),
    ("launcher", 1),
    ("launcher-exec", 1),
    ("iface", 1),
    ("app", 1),
    ("configfile", 1),
    ("output-filename", 1),
    ("tune", 1),
    ("am", 1),
    ("timeout", 1),
];

/// The word of `command` that names the MPI program, or else the first word.
pub fn guess(command: &[OsString]) -> &OsStr {
    let first = command.first().map_or(OsStr::new("program"), OsString::as_os_str);
    position(command).and_then(|index| command.get(index)).map_or(first, OsString::as_os_str)
}

/// The index in `command` of the MPI program.
pub fn position(command: &[OsString]) -> Option<usize> {
    let mut index = 0;
    while let Some(word) = command.get(index) {
        let text = word.to_string_lossy();
        if starts_others(word) {
            index += 1;
        } else if let Some(option) = text.strip_prefix('-') {
            let option = option.trim_start_matches('-');
            let values = OPTIONS.iter().find(|(name, _)| *name == option);
            index += 1 + values.map_or(0, |(_, count)| *count);
        } else if is_program(word) {
            return Some(script(command, index).unwrap_or(index));
        } else {
            // A variable assignment, or the value of an option that is not in the table.
            index += 1;
        }
    }
    None
}

/// Whether the command starts ranks of a job itself, as far as its own words tell.
pub fn launches(command: &[OsString]) -> bool {
    let end = position(command).unwrap_or(command.len());
    let name = |word: &OsString| base_name(word).split('.').next().map(str::to_owned);
    let names = command[..end].iter().filter_map(name);
    names.into_iter().any(|name| LAUNCHERS.contains(&name.as_str()))
}

/// Whether this word is a launcher or a wrapper.
fn starts_others(word: &OsStr) -> bool {
    let name = base_name(word);
    let name = name.split('.').next().unwrap_or(&name);
    LAUNCHERS.contains(&name) || WRAPPERS.contains(&name)
}

fn is_program(word: &OsStr) -> bool {
    if word.to_string_lossy().contains('/') {
        is_executable(Path::new(word))
    } else {
        search(word).is_some() || is_executable(Path::new(word))
    }
}

/// The index of the script that the interpreter at `index` runs; the script counts as the program.
fn script(command: &[OsString], index: usize) -> Option<usize> {
    let name = base_name(command.get(index)?);
    (is_shell(OsStr::new(&name)) || runs_scripts(&name)).then_some(())?;
    (index + 1..command.len()).find(|&i| Path::new(&command[i]).is_file())
}

/// Whether this word is a shell, whose commands cannot be guessed.
pub fn is_shell(word: &OsStr) -> bool {
    SHELLS.contains(&base_name(word).as_str())
}

/// The last component of a path.
pub fn base_name(word: &OsStr) -> String {
    Path::new(word).file_name().unwrap_or(word).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guessed(command: &str) -> String {
        let words: Vec<OsString> = command.split(' ').map(OsString::from).collect();
        base_name(guess(&words))
    }

    #[test]
    fn the_program_stands_behind_launchers_wrappers_and_options() {
        let directory = tempfile::tempdir().unwrap();
        let script = directory.path().join("solve.py");
        std::fs::write(&script, "").unwrap();
        let script = script.display();
        for (command, expected) in [
            ("/bin/ls -l".to_owned(), "ls"),
            ("mpirun -n 4 /bin/ls /bin/cat".to_owned(), "ls"),
            ("mpirun.mpich -genv A /bin/cat -n 4 ls".to_owned(), "ls"),
            ("mpirun --mca btl self -x PATH -np 2 numactl -l /bin/ls".to_owned(), "ls"),
            ("env A=1 srun -n 4 commsan exec -- /bin/ls".to_owned(), "ls"),
            ("mpirun -n 2 --unknown value /bin/ls".to_owned(), "ls"),
            (format!("mpirun -n 2 sh {script}"), "solve.py"),
            ("mpirun -n 2 sh -c ls".to_owned(), "sh"),
            ("mpirun -n 2 ./missing".to_owned(), "mpirun"),
        ] {
            assert_eq!(guessed(&command), expected, "{command}");
        }
        if search(OsStr::new("python3")).is_some() {
            assert_eq!(guessed(&format!("mpirun -n 2 python3 -u {script} x")), "solve.py");
        }
    }
}
