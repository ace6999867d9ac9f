//! Runs that earlier versions have written are read, and reported like those of today.

use commsan_report::{Options, Report, json};
use commsan_rundir::reader::Records;
use commsan_rundir::{RunDirectory, writer};
use std::path::PathBuf;

fn data() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/older-run")
}

#[test]
fn an_older_run_has_a_report() {
    let run = RunDirectory::open(&data()).unwrap();
    let mut report = Report::from_run(&run, &Options::default());
    report.run.directory = PathBuf::from("app.commsan");
    insta::assert_snapshot!(json::render(&report));
}

/// What other versions and tools read does not change.
#[test]
fn lines_are_written_as_they_were_read() {
    for rank in ["rank-0.jsonl", "rank-1.jsonl"] {
        let log = std::fs::read_to_string(data().join(rank)).unwrap();
        let records: Vec<_> =
            Records::new(log.as_bytes()).collect::<Result<_, _>>().expect("every line is read");
        assert_eq!(records.len(), log.lines().count());
        for (record, line) in records.iter().zip(log.lines()) {
            let mut buffer = vec![0; 1 << 14];
            let written = writer::encode(record, &mut buffer).unwrap();
            assert_eq!(std::str::from_utf8(written).unwrap().trim_end(), line);
        }
    }
}
