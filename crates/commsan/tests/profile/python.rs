//! Lines of Python programs.

use crate::built::{Installed, MPIS, Work};
use crate::profiled::{number, profile_job, repository, table};
use std::fs;

/// Python's frames are known of CPython 3.11, Debian 12's, and of those after it that are there.
#[test]
fn python_has_lines() {
    let others = ["python3.12", "python3.13"].into_iter().filter(|python| is_there(python));
    ["python3"].into_iter().chain(others).for_each(lines_of);
}

fn lines_of(python: &str) {
    let script = repository().join("tests/profile/ring.py");
    let text = fs::read_to_string(&script).unwrap();
    let at = |mark: &str| text.lines().position(|line| line.ends_with(mark)).unwrap() as u64 + 1;
    for mpi in MPIS {
        let work = Work::new("python", mpi);
        let launcher = mpi.tool("mpirun");
        let script = script.to_str().unwrap();
        let job = [&launcher, "-n", "3", python, script, "500", mpi.library()];
        let run = profile_job(&work, &[], &job);
        run.ends_with(0);
        let rows = table(&work, &run, "transfers");
        assert_eq!(rows.iter().map(|row| number(row, "bytes")).sum::<u64>(), 3 * 3 * 4000);
        for row in &rows {
            assert!(row["file"].ends_with("ring.py"), "{mpi:?}: {row:?}");
            assert_eq!(number(row, "line"), at("# sends"), "{mpi:?}: {row:?}");
        }
        let outermost = format!("ring.py:{})", at("# turns"));
        for row in table(&work, &run, "sites").iter().filter(|row| row["call"] == "MPI_Send") {
            let stack = &row["stack"];
            assert!(stack.starts_with("send (") && stack.contains("< <module> ("), "{stack}");
            assert!(stack.contains(&outermost), "{stack}");
        }
        let calls = table(&work, &run, "calls");
        let receives = calls.iter().filter(|row| row["call"] == "MPI_Recv");
        assert!(
            receives.clone().count() == 3
                && receives.clone().all(|row| number(row, "line") == at("# receives"))
        );
    }
}

/// Whether there is such an interpreter.
fn is_there(python: &str) -> bool {
    let version = std::process::Command::new(python).arg("--version").output();
    version.is_ok_and(|version| version.status.success())
}
