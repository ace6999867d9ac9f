//! Runs that an earlier version has written are read, and reported like those of today.
//!
//! `data/older-run` and `data/older-deadlock` were written by the writers of commit 8cf5cc6e: rank
//! logs by its `commsan_trace::writer::append`, `run.json`, `deadlocks.json` and `last-seen.json`
//! by its `RunDirectory`, and `report.json` by its `commsan_report`. That is the last version in
//! whose logs the sentence about a wrong argument was all there was about its kind (now
//! [`Problem`]); the sentences are those that its MPI shim wrote.

use commsan_findings::{Code, Problem};
use commsan_report::{Options, Report, json};
use commsan_rundir::reader::Records;
use commsan_rundir::{Record, RunDirectory, writer};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

const RUNS: [&str; 2] = ["older-run", "older-deadlock"];

fn data(run: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(run)
}

fn report(run: &str) -> Report {
    let run = RunDirectory::open(&data(run)).unwrap();
    let mut report = Report::from_run(&run, &Options::default());
    report.run.directory = PathBuf::from("/home/user/app/app.commsan");
    report
}

#[test]
fn an_older_run_has_a_report() {
    insta::assert_snapshot!(json::render(&report("older-run")));
}

/// The report that the earlier version made of its run is that of today, but for sentences that
/// have been reworded since: titles, and all of other codes than CS-ARG-01, whose advice follows
/// the kind of mistake.
#[test]
fn older_runs_are_reported_as_then() {
    for run in RUNS {
        let then = fs::read_to_string(data(run).join("report.json")).unwrap();
        let (mut then, mut now) = (json::parse(&then).unwrap(), report(run));
        for finding in then.findings.iter_mut().chain(&mut now.findings) {
            [&mut finding.title, &mut finding.why].into_iter().for_each(String::clear);
            if finding.code != Code::InvalidArgument {
                [&mut finding.message, &mut finding.help].into_iter().for_each(String::clear);
                finding.sites.iter_mut().for_each(|site| site.label.clear());
            }
        }
        assert_eq!(now, then, "{run}");
    }
}

/// Programs that read `report.json` of the earlier version read that of today.
#[test]
fn an_older_report_is_written_as_it_was_read() {
    for run in RUNS {
        let then = fs::read_to_string(data(run).join("report.json")).unwrap();
        assert_eq!(json::render(&json::parse(&then).unwrap()), then, "{run}");
    }
}

/// Each kind of mistake is known by the sentence about it.
#[test]
fn sentences_of_an_older_run_give_the_kinds() {
    let logs = RunDirectory::open(&data("older-run")).unwrap().read_jobs().unwrap().concat();
    let findings = logs.iter().flat_map(|log| &log.findings).map(|observed| &observed.finding);
    let wrong = findings.filter(|finding| finding.code == Code::InvalidArgument);
    let kinds: Vec<_> = wrong
        .map(|finding| {
            let argument = finding.argument.as_ref().unwrap();
            (&*argument.parameter, argument.kind.unwrap())
        })
        .collect();
    let expected = [
        ("buf", Problem::NullPointer),
        ("comm", Problem::Freed),
        ("array_of_types", Problem::Freed),
        ("comm", Problem::NullCommunicator),
        ("datatype", Problem::NullHandle),
        ("op", Problem::NullHandle),
        ("win", Problem::NullHandle),
        ("comm", Problem::NoTopology),
        ("comm", Problem::NoTopology),
        ("op", Problem::UndefinedForType),
        ("datatype", Problem::UndefinedForType),
        ("target_datatype", Problem::SidesDiffer),
        ("count", Problem::Negative),
        ("sendcounts", Problem::Negative),
        ("color", Problem::Negative),
        ("dest", Problem::NoSuchPeer),
        ("source", Problem::NoSuchPeer),
        ("target_rank", Problem::NoSuchPeer),
        ("root", Problem::Value),
        ("tag", Problem::TagOutOfRange),
        ("recvtag", Problem::TagOutOfRange),
        ("disp_unit", Problem::Value),
        ("ranks", Problem::Value),
    ];
    assert_eq!(kinds, expected);
}

/// What other versions and tools read does not change.
#[test]
fn lines_are_written_as_they_were_read() {
    let mut kinds = BTreeSet::new();
    for (run, rank) in RUNS.iter().flat_map(|run| [(run, 0), (run, 1)]) {
        let log = fs::read_to_string(data(run).join(format!("rank-{rank}.jsonl"))).unwrap();
        let records: Vec<_> =
            Records::new(log.as_bytes()).collect::<Result<_, _>>().expect("every line is read");
        assert_eq!(records.len(), log.lines().count());
        for (record, line) in records.iter().zip(log.lines()) {
            let mut buffer = vec![0; 1 << 14];
            let written = writer::encode(record, &mut buffer).unwrap();
            assert_eq!(std::str::from_utf8(written).unwrap().trim_end(), line);
            kinds.insert(kind(record));
        }
    }
    assert_eq!(kinds.len(), 17, "every kind of record but `unchecked`: {kinds:?}");
}

/// The kind of a record, as its line says it.
fn kind(record: &Record<'_>) -> String {
    let value = serde_json::to_value(record).unwrap();
    value["t"].as_str().unwrap().to_owned()
}

/// `run.json` and the files about deadlocks are written as the earlier version wrote them.
#[test]
fn files_of_the_launcher_are_written_as_they_were_read() {
    for run in RUNS {
        let (then, now) = (RunDirectory::open(&data(run)).unwrap(), tempfile::tempdir().unwrap());
        let now = RunDirectory::create_at(&now.path().join("run")).unwrap();
        now.write_info(&then.read_info().unwrap()).unwrap();
        let mut files = vec!["run.json"];
        if run == "older-deadlock" {
            now.write_deadlocks(&then.deadlocks().unwrap()).unwrap();
            now.write_last_seen(&then.last_seen().unwrap()).unwrap();
            files.extend(["deadlocks.json", "last-seen.json"]);
        }
        for file in files {
            let read = |run: &RunDirectory| fs::read_to_string(run.path().join(file)).unwrap();
            assert_eq!(read(&now), read(&then), "{run}/{file}");
        }
    }
}
