//! What the report and the exports say where a profile is incomplete, or nothing was checked.

use super::halo;
use crate::built::Mpi;
use crate::profiled::profile;
use std::fs;

#[test]
fn what_is_missing_of_a_run_is_told_on_standard_error() {
    let (work, program) = halo(Mpi::Mpich);
    let run = profile(&work, &[], 3, &program, &[]);
    run.ends_with(0);
    fs::write(run.directory.join("rank-1.traffic"), "nonsense").unwrap();
    let out = work.path("tables");
    let directory = run.directory.to_str().unwrap();
    let export = ["export", "--csv", out.to_str().unwrap(), directory];
    let export = work.finish(&mut work.commsan(&export));
    assert!(export.err.contains("`rank-1.traffic` was left out"), "{}", export.text());
}

/// Nothing says that all is well where nobody has looked.
#[test]
fn what_was_only_profiled_was_not_checked() {
    let (work, program) = halo(Mpi::Mpich);
    let wanted = work.path("wanted.xml");
    let junit = ["--junit", wanted.to_str().unwrap()];
    let run = profile(&work, &junit, 2, &program, &[]);
    run.ends_with(0).says("wanted.xml`: nothing was checked").says("--check");
    assert!(!wanted.exists());
    let directory = run.directory.to_str().unwrap();
    let report =
        |format| work.finish(&mut work.commsan(&["report", "--format", format, directory])).out;
    let text = report("terminal");
    assert!(text.contains("warning: ranks 0, 1: not checked: what it moves was counted"), "{text}");
    assert!(text.contains("2 of them not checked"), "{text}");
    let text = report("junit");
    assert!(text.contains("no rank was checked") && text.contains(r#"tests="1""#), "{text}");
}
