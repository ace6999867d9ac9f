//! What a small run looks like in every form, and what is said of runs that are not whole.

use commsan_profile::api::{Level, MatrixQuery, PlaceKind, WaitsQuery};
use commsan_profile::export::{Format, TABLES, chrome_trace, write_tables};
use commsan_profile::synthetic::{Shape, snapshot, write};
use commsan_profile::{Profile, ReadError, summary};
use commsan_rundir::events::{
    self, CHUNK, Collectives, Flow, Of, Part, Pen, Record, Tables, What, Writer,
};
use commsan_rundir::traffic::{Place, Snapshot};
use commsan_rundir::{RunDirectory, RunInfo};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use std::fs::File;
use std::path::Path;

const SHAPE: Shape = Shape { ranks: 4, per_node: 2, devices: 2, objects: 6, lines: 8, bins: 4 };

fn run(parent: &Path) -> RunDirectory {
    let path = parent.join("app.commsan");
    write(&path, &SHAPE).unwrap();
    RunDirectory::open(&path).unwrap()
}

fn read(run: &RunDirectory) -> Result<Profile, ReadError> {
    Profile::read(run, &mut |_| ())
}

#[test]
fn a_run_fits_on_a_screen() {
    let parent = tempfile::tempdir().unwrap();
    let text = summary::render(&read(&run(parent.path())).unwrap()).unwrap();
    // A line before it, and two after it, on a terminal of the usual size.
    assert!(text.lines().count() <= 24 - 3, "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn transfers_as_csv() {
    let parent = tempfile::tempdir().unwrap();
    let profile = read(&run(parent.path())).unwrap();
    write_tables(&profile, parent.path(), Format::Csv).unwrap();
    let text = std::fs::read_to_string(parent.path().join("transfers.csv")).unwrap();
    let bytes = |line: &str| line.split(',').nth(4).unwrap().parse::<u64>().unwrap();
    let sum: u64 = text.lines().skip(1).map(bytes).sum();
    assert_eq!(sum, profile.totals().total().bytes);
    insta::assert_snapshot!(text);
}

#[test]
fn time_as_a_chrome_trace() {
    let parent = tempfile::tempdir().unwrap();
    let text = chrome_trace(&read(&run(parent.path())).unwrap()).unwrap();
    let trace: serde_json::Value = serde_json::from_str(&text).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let lines: Vec<String> = events.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

/// Two jobs that are alike: everything is there twice, and says of which it is.
#[test]
fn jobs_are_kept_apart() {
    let of = |job: &str| {
        let job = job.to_owned();
        (0..SHAPE.ranks).map(move |rank| Snapshot { job: job.clone(), ..snapshot(&SHAPE, rank) })
    };
    let read =
        |snapshots: &[Snapshot]| Profile::of_snapshots(snapshots, RunInfo::default()).unwrap();
    let one = read(&of("a").collect::<Vec<_>>());
    let both = read(&of("a").chain(of("b")).collect::<Vec<_>>());
    let sums = [&one, &both].map(|profile| profile.totals().total());
    assert_eq!((sums[1].count, sums[1].bytes), (2 * sums[0].count, 2 * sums[0].bytes));
    let labels = |max: usize| -> Vec<String> {
        let query = MatrixQuery { level: Level::Place, max: Some(max), ..MatrixQuery::default() };
        both.matrix(&query).unwrap().rows.into_iter().map(|row| row.label).collect()
    };
    let all = labels(100);
    for rank in 0..SHAPE.ranks {
        for name in [format!("rank {rank}"), format!("rank {rank} of job 2")] {
            assert_eq!(all.iter().filter(|label| **label == name).count(), 1, "{all:?}");
        }
    }
    let joined = labels(8);
    assert!(joined.contains(&"ranks 0-1 of job 2".to_owned()), "{joined:?}");
}

/// Both formats hold the same, as text.
#[test]
fn parquet_and_csv_agree() {
    let parent = tempfile::tempdir().unwrap();
    let run = run(parent.path());
    (0..2).for_each(|rank| add_events(&run, rank));
    let profile = read(&run).unwrap();
    for format in [Format::Parquet, Format::Csv] {
        write_tables(&profile, parent.path(), format).unwrap();
    }
    for table in TABLES {
        let csv = parent.path().join(format!("{}.csv", table.name));
        let mut csv = csv::Reader::from_path(csv).unwrap();
        let parquet = File::open(parent.path().join(format!("{}.parquet", table.name))).unwrap();
        let reader = SerializedFileReader::new(parquet).unwrap();
        let mut rows = 0;
        for (row, record) in reader.get_row_iter(None).unwrap().zip(csv.records()) {
            let (row, record) = (row.unwrap(), record.unwrap());
            let fields: Vec<String> = row.get_column_iter().map(|(_, field)| text(field)).collect();
            assert_eq!(fields, record.iter().collect::<Vec<_>>(), "{}", table.name);
            rows += 1;
        }
        assert!(rows > 0, "{} is empty", table.name);
        assert_eq!(rows, reader.metadata().file_metadata().num_rows());
    }
}

/// Two ranks meet; rank 1 comes later.
fn add_events(run: &RunDirectory, rank: u32) {
    let path = run.rank_traffic(rank);
    let mut of = Snapshot::read(&path).unwrap();
    (of.objects, of.transfers) = Default::default();
    of.groups.push((0..2).map(Place::Rank).collect());
    let group = of.groups.len() as u32 - 1;
    let shape = events::Shape { flow: Some(Flow::All), ..events::Shape::new(What::Call(0), 0) };
    let tables = Tables {
        clock: vec![(0, of.began), (1_000_000, of.began + 1_000_000)],
        of,
        shapes: vec![shape],
        collectives: vec![Collectives { group, nth: 0 }],
        ..Tables::default()
    };
    let file = File::create(path.with_extension("events")).unwrap();
    let mut writer = Writer::new(file, &tables).unwrap();
    let mut bytes = vec![0; CHUNK];
    let record = Record { shape: 0, begin: 100 + 700 * u64::from(rank), end: 900, folded: None };
    let part = Part { of: Of::Collectives(0), number: 1, completes: false, bytes: 8 };
    let (length, _) = Pen::new(&mut bytes, 0, 0).write(&record, &[part]);
    writer.chunk(0, &bytes[..length]).unwrap();
    writer.finish().unwrap();
}

/// Devices have no rows among those who wait, and nodes have their names nevertheless.
#[test]
fn waits_are_of_ranks_alone() {
    let parent = tempfile::tempdir().unwrap();
    let run = run(parent.path());
    (0..2).for_each(|rank| add_events(&run, rank));
    let profile = read(&run).unwrap();
    let devices = profile.run().places.iter().filter(|of| of.kind == PlaceKind::Device).count();
    assert_eq!(devices, 4);
    let labels = |query: WaitsQuery| -> Vec<String> {
        let matrix = profile.wait_matrix(&query).unwrap();
        matrix.rows.into_iter().map(|block| block.label).collect()
    };
    let ranks = ["rank 0", "rank 1", "rank 2", "rank 3"];
    assert_eq!(labels(WaitsQuery::default()), ranks);
    let nodes: Vec<String> = profile.run().nodes.into_iter().take(2).map(|of| of.name).collect();
    assert_eq!(labels(WaitsQuery { level: Level::Node, ..WaitsQuery::default() }), nodes);
    assert_eq!(labels(WaitsQuery { rows: Some((2, 3)), ..WaitsQuery::default() }), [""; 0]);
    let cells = profile.wait_matrix(&WaitsQuery::default()).unwrap().cells;
    assert_eq!(cells.iter().map(|of| (of.0, of.1)).collect::<Vec<_>>(), [(0, 1)]);
}

fn text(field: &Field) -> String {
    match field {
        Field::Null => String::new(),
        Field::Str(text) => text.clone(),
        Field::Long(number) => number.to_string(),
        Field::Double(number) => number.to_string(),
        other => panic!("{other:?} is of no column"),
    }
}

#[test]
fn objects_have_the_names_that_sources_tell() {
    let parent = tempfile::tempdir().unwrap();
    let run = run(parent.path());
    let names = |profile: &Profile| -> Vec<String> {
        profile.run().objects.into_iter().map(|object| object.name).collect()
    };
    let mut known = names(&read(&run).unwrap());
    known.sort();
    assert_eq!(known[..2], ["field0", "field1"]);
    std::fs::remove_file(run.path().join("part0.c")).unwrap();
    let unknown = names(&read(&run).unwrap());
    assert!(unknown.iter().all(|name| name.starts_with("step")), "{unknown:?}");
}

#[test]
fn damaged_files_are_told_and_the_rest_is_shown() {
    let parent = tempfile::tempdir().unwrap();
    let run = run(parent.path());
    let whole = read(&run).unwrap().totals().total();
    let file = std::fs::read(run.rank_traffic(1)).unwrap();
    std::fs::write(run.rank_traffic(1), &file[..file.len() / 2]).unwrap();
    std::fs::write(run.rank_traffic(2), "PAR1 is no traffic").unwrap();
    let mut other = std::fs::read(run.rank_traffic(3)).unwrap();
    other[8] = 99;
    std::fs::write(run.rank_traffic(7), &other).unwrap();
    let profile = read(&run).unwrap();
    let answer = profile.run();
    assert!(!answer.complete);
    let notes = answer.notes.join("\n");
    for says in [
        "`rank-1.traffic` was left out: it is damaged: it is not as long as it says",
        "`rank-2.traffic` was left out: this is no traffic file",
        "`rank-7.traffic` was left out: its format has version 99",
        "ranks 1, 2 left no traffic file",
    ] {
        assert!(notes.contains(says), "{says} in {notes}");
    }
    let rest = profile.totals().total();
    assert!(0 < rest.bytes && rest.bytes < whole.bytes);
}

#[test]
fn runs_without_anything_to_show_say_why() {
    let parent = tempfile::tempdir().unwrap();
    let run = run(parent.path());
    for rank in 0..4 {
        std::fs::write(run.rank_traffic(rank), "").unwrap();
    }
    let error = read(&run).unwrap_err();
    assert!(matches!(&error, ReadError::Unreadable(reasons) if reasons.len() == 4), "{error}");
    for rank in 0..4 {
        std::fs::remove_file(run.rank_traffic(rank)).unwrap();
    }
    let error = read(&run).unwrap_err();
    assert!(error.to_string().contains("commsan profile"), "{error}");
}

/// A collective of many ranks is one entry for each, and stays whole where its pairs are too many.
#[test]
fn large_collectives_are_never_taken_apart() {
    let parent = tempfile::tempdir().unwrap();
    let shape = Shape { ranks: 1200, per_node: 100, devices: 0, objects: 3, lines: 2, bins: 2 };
    let path = parent.path().join("large.commsan");
    write(&path, &shape).unwrap();
    let profile = read(&RunDirectory::open(&path).unwrap()).unwrap();
    write_tables(&profile, parent.path(), Format::Csv).unwrap();
    let text = std::fs::read_to_string(parent.path().join("transfers.csv")).unwrap();
    assert!(text.contains(",1199 others,collective,"), "{}", &text[..400]);
    assert!(text.contains("rank 1,rank 2,collective,"), "small groups are taken apart");
    let bytes = |line: &str| line.split(',').nth(4).unwrap().parse::<u64>().unwrap();
    let sum: u64 = text.lines().skip(1).map(bytes).sum();
    assert_eq!(sum, profile.totals().total().bytes);
}
