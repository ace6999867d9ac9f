//! Runs that went wrong still have a report, which says what is missing.

use commsan_report::{Options, Report, Suppressions};
use commsan_rundir::{RunDirectory, RunInfo};
use std::path::Path;

const START: &str = r#"{"t":"start","version":1,"rank":1,"size":3,"pid":1,"host":"h","mpi":"MPICH 4.0.2","program":"/bin/app","instrumented":true}"#;
const FINDING: &str = r#"{"t":"finding","id":0,"code":"CS-REQ-01","operation":{"call":"MPI_Isend","write":false,"addr":1,"size":8,"bytes":8},"sites":[{"role":"operation","call":"MPI_Isend","thread":0,"frames":[[7,4096]]}]}"#;

fn notes(report: &Report) -> String {
    let notes = report.run.notes.iter();
    notes.map(|note| format!("{:?} {}\n", note.ranks, note.text)).collect()
}

#[test]
fn what_was_read_is_shown_and_what_was_lost_is_named() {
    let parent = tempfile::tempdir().unwrap();
    let run = RunDirectory::create(parent.path(), Path::new("app")).unwrap();
    std::fs::write(run.rank_log(0), "").unwrap();
    std::fs::write(run.rank_log(1), format!("{START}\nnonsense\n{FINDING}\n{{\"t\":")).unwrap();
    std::fs::write(run.path().join("notice-7.txt"), "`sh` has no MPI\n").unwrap();
    let report = Report::from_run(&run, &Options::default());
    assert_eq!(report.findings.len(), 1);
    assert_eq!(report.run.ranks, 3);
    let notes = notes(&report);
    for expected in [
        "[] cannot read",
        "[] `sh` has no MPI",
        "[0] the log is empty",
        "[1] line 2 of the log is damaged",
        "[1] the log breaks off in line 4",
        "[1] ended without MPI_Finalize",
        "[2] left no log",
        "[] `unknown-module-7` cannot be read",
    ] {
        assert!(notes.contains(expected), "`{expected}` is not in\n{notes}");
    }
}

#[test]
fn a_finding_survives_the_rank_on_its_other_side() {
    const RACE: &str = r#"{"t":"finding","id":0,"code":"CS-RMA-03","access":{"by":"store","write":true,"addr":72,"size":8},"operation":{"call":"MPI_Put","write":true,"addr":64,"size":16,"bytes":16,"window":0,"base":0},"sites":[{"role":"access","thread":0,"frames":[[7,4096]]},{"role":"operation","call":"MPI_Put","thread":0,"frames":[],"rank":2,"reference":3}]}"#;
    let parent = tempfile::tempdir().unwrap();
    let run = RunDirectory::create(parent.path(), Path::new("app")).unwrap();
    std::fs::write(run.rank_log(1), format!("{START}\n{RACE}\n")).unwrap();
    let report = Report::from_run(&run, &Options::default());
    let [finding] = &*report.findings else { panic!() };
    assert_eq!(finding.sites[1].rank, 2);
    assert_eq!(finding.ranks, [1]);
    assert!(finding.message.ends_with("unordered with rank 2's MPI_Put, which writes them"));
    assert!(finding.why.contains("at an unknown place in rank 2"), "{}", finding.why);
}

#[test]
fn suppressed_and_unused_entries_are_told() {
    let parent = tempfile::tempdir().unwrap();
    let run = RunDirectory::create(parent.path(), Path::new("app")).unwrap();
    run.write_info(&RunInfo::new(vec!["./app".into()])).unwrap();
    std::fs::write(run.rank_log(1), format!("{START}\n{FINDING}\n")).unwrap();
    let entry = |code| format!("[[suppress]]\ncode = '{code}'\nreason = 'known'\n");
    let text = entry("CS-REQ-01") + &entry("CS-BUF-01");
    let suppressions = Suppressions::parse(&text, Path::new("supp.toml")).unwrap();
    let report = Report::from_run(&run, &Options { suppressions, ..Options::default() });
    assert_eq!(report.findings, []);
    assert_eq!(report.run.suppressed[0].findings, 1);
    let notes = notes(&report);
    assert!(notes.contains("[] the suppression in supp.toml:4 matched nothing"), "{notes}");
}
