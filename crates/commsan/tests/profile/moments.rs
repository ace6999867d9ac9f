//! When findings were found, compared with when the program says that it made the mistake.

use crate::built::{Mpi, Work};
use crate::profiled::profile;
use std::fs;

/// Each rank's moment is between two looks at the clock around the mistake, in the thread that
/// makes it.
#[test]
fn a_finding_has_the_moment_of_the_mistake() {
    let work = Work::new("found", Mpi::OpenMpi);
    let program = work.compile("profile/found.c", &["-g", "-pthread"]);
    let out = work.path("measured");
    let run = profile(&work, &["--check"], 3, &program, &[out.to_str().unwrap()]);
    run.finds(&["CS-BUF-01 spoil"]);
    let report = run.report();
    let moments = report["findings"][0]["moments"].as_array().unwrap();
    let measured = fs::read_to_string(&out).unwrap();
    assert_eq!(measured.lines().count(), 3, "{measured}");
    // Ranks make it one after the other.
    for (moment, line) in moments.iter().zip(measured.lines()) {
        let known: Vec<u64> = line.split(',').map(|field| field.parse().unwrap()).collect();
        let [rank, before, after] = known[..] else { panic!("{line}") };
        let time = moment["time"].as_u64().unwrap();
        assert_eq!(moment["rank"], rank, "{moments:?}");
        assert!(before <= time && time <= after, "{time}: {line}");
        assert_eq!(moment["thread"] == 0, rank < 2, "{moments:?}");
    }
    assert_eq!(moments.len(), 3, "{moments:?}");
}
