//! Time in calls is the same in all answers, and in the table.

use commsan_profile::Profile;
use commsan_profile::api::{By, Filter, MatrixQuery, TimelineQuery};
use commsan_profile::export::{Format, write_tables};
use commsan_profile::synthetic::{Shape, write};
use commsan_rundir::RunDirectory;
use commsan_rundir::traffic::{Place, Snapshot};
use std::collections::BTreeMap;
use std::path::Path;

const SHAPE: Shape = Shape { ranks: 6, per_node: 3, devices: 1, objects: 6, lines: 8, bins: 4 };

/// A run in which half of the calls name the next rank.
fn run(parent: &Path, name: &str, slower: u64) -> Profile {
    let path = parent.join(name);
    write(&path, &SHAPE).unwrap();
    let run = RunDirectory::open(&path).unwrap();
    for (rank, file) in run.traffic().unwrap() {
        let mut snapshot = Snapshot::read(&file).unwrap();
        for calls in snapshot.calls.iter_mut().step_by(2) {
            calls.peer = Some(Place::Rank((rank + 1) % SHAPE.ranks));
        }
        for calls in &mut snapshot.calls {
            calls.time += slower * calls.count;
            calls.bins.last_mut().unwrap().amount += slower * calls.count;
        }
        std::fs::write(&file, snapshot.encode()).unwrap();
    }
    Profile::read(&run, &mut |_| ()).unwrap()
}

/// Columns of the table `calls`, row by row.
fn table(profile: &Profile, parent: &Path) -> Vec<BTreeMap<String, String>> {
    write_tables(profile, parent, Format::Csv).unwrap();
    let mut reader = csv::Reader::from_path(parent.join("calls.csv")).unwrap();
    reader.deserialize().map(Result::unwrap).collect()
}

fn seconds<'r>(rows: impl Iterator<Item = &'r BTreeMap<String, String>>) -> f64 {
    rows.map(|row| row["seconds"].parse::<f64>().unwrap()).sum()
}

fn same(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-7
}

#[test]
fn answers_agree_with_the_table() {
    let parent = tempfile::tempdir().unwrap();
    let profile = run(parent.path(), "app.commsan", 0);
    let rows = table(&profile, &parent.path().join("tables"));
    let all = seconds(rows.iter());
    assert!(all > 0.0);
    let names = profile.run();
    let file = |path: &str| seconds(rows.iter().filter(|row| row["file"] == path));
    let mut lines = 0.0;
    for of in &names.files {
        assert!(same(of.seconds, file(&of.path)), "{}", of.path);
        for line in profile.file(of.id).unwrap().lines {
            let number = line.line.to_string();
            let is_of =
                |row: &&BTreeMap<String, String>| row["file"] == of.path && row["line"] == number;
            assert!(same(line.seconds, seconds(rows.iter().filter(is_of))), "{line:?}");
            lines += line.seconds;
        }
    }
    assert!(same(lines, all - file("")), "{lines} {all}");
    let matrix = profile.matrix(&MatrixQuery::default()).unwrap();
    let times = matrix.times.unwrap();
    for (row, col, time) in &times {
        let (place, peer) = (&matrix.rows[*row].label, &matrix.cols[*col].label);
        let is_of =
            |row: &&BTreeMap<String, String>| row["place"] == *place && row["peer"] == *peer;
        assert!(same(*time, seconds(rows.iter().filter(is_of))), "{place} {peer}");
    }
    let named = seconds(rows.iter().filter(|row| !row["peer"].is_empty()));
    assert!(named > 0.0 && same(times.iter().map(|of| of.2).sum(), named));
    for by in [By::Kind, By::Place, By::Node] {
        let timeline = profile.timeline(&TimelineQuery { by, ..Default::default() }).unwrap();
        let sum: f64 = timeline.calls.iter().flat_map(|of| &of.seconds).sum();
        assert!(same(sum, timeline.waiting.iter().sum()) && same(sum, all), "{sum} {all}");
        if by == By::Place {
            for of in &timeline.calls {
                let expected = seconds(rows.iter().filter(|row| row["place"] == of.label));
                assert!(same(of.seconds.iter().sum(), expected), "{}", of.label);
            }
        }
    }
    // By object or region it is not known, and part of the time has part of it.
    let of = |filter| MatrixQuery { filter, ..MatrixQuery::default() };
    let object = Filter { object: Some(0), ..Filter::default() };
    assert_eq!(profile.matrix(&of(object)).unwrap().times, None);
    let part = Filter { t0: Some(0), t1: Some(0), ..Filter::default() };
    let part = profile.matrix(&of(part)).unwrap().times.unwrap();
    let sum: f64 = part.iter().map(|of| of.2).sum();
    assert!(sum > 0.0 && sum < named, "{sum} of {named}");
}

#[test]
fn slower_calls_are_told_with_what_they_were() {
    let parent = tempfile::tempdir().unwrap();
    let (before, after) =
        (run(parent.path(), "before.commsan", 0), run(parent.path(), "after.commsan", 1000));
    let comparison = after.compare(&before).unwrap();
    let sums = |profile: &Profile| -> f64 {
        profile.run().calls.by_rank.iter().map(|rank| rank.seconds).sum()
    };
    let told: (f64, f64) = comparison
        .calls
        .iter()
        .fold((0.0, 0.0), |sum, of| (sum.0 + of.before.1, sum.1 + of.after.1));
    assert_eq!(comparison.more[3], 0);
    assert!(same(told.0, sums(&before)) && same(told.1, sums(&after)), "{told:?}");
    assert!(comparison.calls.iter().all(|of| of.after.1 > of.before.1));
    assert!(comparison.calls.iter().all(|of| of.before.0 == of.after.0));
    assert_eq!(before.compare(&before).unwrap().calls, []);
}
