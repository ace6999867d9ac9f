//! The names of the tests that have started the jobs of a run, from CTest's log.
//!
//! Ranks know in which directory CTest ran, and the command and the directory of what it started;
//! the log has both for each test that has ended.

use commsan_rundir::{Record, RunDirectory};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;

/// Where CTest writes its logs, below the directory in which it runs.
const LOGS: &str = "Testing/Temporary";

/// Names of tests by what ranks call the jobs that these have started.
pub fn names(run: &RunDirectory) -> BTreeMap<String, String> {
    let logs = run.logs().unwrap_or_default().into_iter();
    let firsts = logs.filter(|(rank, _)| *rank == 0);
    let called: BTreeSet<String> = firsts.filter_map(|(_, path)| called(&path)).collect();
    let mut texts: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut names = BTreeMap::new();
    for called in &called {
        let Some((ctest, rest)) = called.split_once('\n') else { continue };
        let Some((_, place)) = ctest.split_once(' ') else { continue };
        let Some((command, directory)) = rest.rsplit_once('\n') else { continue };
        let texts = texts.entry(place).or_insert_with(|| read(&Path::new(place).join(LOGS)));
        let found = texts.iter().filter_map(|log| name(log, command, directory)).next();
        names.extend(found.map(|name| (called.clone(), name)));
    }
    names
}

/// What a rank calls its job, in the first line of its log.
fn called(log: &Path) -> Option<String> {
    let mut line = String::new();
    BufReader::new(File::open(log).ok()?).read_line(&mut line).ok()?;
    match serde_json::from_str::<Record>(&line).ok()? {
        Record::Start(start) => Some(start.name.into_owned()),
        _ => None,
    }
}

/// CTest's logs in a directory, the newest first.
fn read(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let is_log = |name: &str| name.starts_with("LastTest") && !name.starts_with("LastTestsFailed");
    let logs = entries.filter(|entry| is_log(&entry.file_name().to_string_lossy()));
    let mut logs: Vec<_> = logs
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    logs.sort_by(|one, other| other.cmp(one));
    let texts = logs.iter().filter_map(|(_, path)| fs::read(path).ok());
    texts.map(|text| String::from_utf8_lossy(&text).into_owned()).collect()
}

/// The name of the test with this command and directory, if only one has them. Where the command
/// is a script, the process has its interpreter in front.
fn name(log: &str, command: &str, directory: &str) -> Option<String> {
    let mut found = BTreeSet::new();
    let mut longest = 0;
    for (at, _) in log.match_indices("\nCommand: \"") {
        let of_test = &log[at + "\nCommand: ".len()..];
        // The command may have several lines.
        let Some(end) = of_test.find(&format!("\nDirectory: {directory}\n")) else { continue };
        let of_test = &of_test[..end];
        if !command.ends_with(of_test) || of_test.len() < longest {
            continue;
        }
        // `2/6 Test: halo`
        let title = log[..at].rsplit('\n').next().unwrap_or_default();
        let Some((_, name)) = title.split_once(" Test: ") else { continue };
        if of_test.len() > longest {
            longest = of_test.len();
            found.clear();
        }
        found.insert(name);
    }
    let name = found.pop_first()?;
    found.is_empty().then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: &str = "Start testing: Nov 29 08:23 UTC\n---\n1/4 Testing: wide\n1/4 Test: wide\n\
        Command: \"/usr/bin/mpirun\" \"-n\" \"2\" \"halo\" \"a b\nc\"\nDirectory: /b\n\"wide\" start\nOutput:\n\
        ---\n2/4 Testing: long name\n2/4 Test: long name\nCommand: \"/s/run.sh\" \"1\"\nDirectory: /b/t\n\
        3/4 Test: one\nCommand: \"x\"\nDirectory: /b\n4/4 Test: other\nCommand: \"x\"\nDirectory: /b\n";

    #[test]
    fn tests_are_known_by_command_and_directory() {
        let found = |command: &str, directory: &str| name(LOG, command, directory);
        let halo = "\"/usr/bin/mpirun\" \"-n\" \"2\" \"halo\" \"a b\nc\"";
        assert_eq!(found(halo, "/b").as_deref(), Some("wide"));
        assert_eq!(found(halo, "/b/t"), None);
        let script = "\"/bin/sh\" \"/s/run.sh\" \"1\"";
        assert_eq!(found(script, "/b/t").as_deref(), Some("long name"));
        assert_eq!(found("\"/s/run.sh\" \"2\"", "/b/t"), None);
        // Two tests that are alike.
        assert_eq!(found("\"x\"", "/b"), None);
        assert_eq!(name("", "\"x\"", "/b"), None);
    }
}
