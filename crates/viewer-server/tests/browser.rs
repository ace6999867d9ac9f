//! The viewer in the distribution's browser, on a run that commsan has read:
//! `viewer/test/real.spec.ts`.

use commsan_profile::Profile;
use commsan_profile::synthetic::{Shape, write};
use commsan_rundir::RunDirectory;
use commsan_rundir::events::{
    CHUNK, Collectives, Flow, Of, Part, Pen, Record, Shape as EventShape, Tables, What, Writer,
};
use commsan_rundir::traffic::{Place, Snapshot};
use commsan_viewer_server::{Limits, Runs, Settings, export_html, serve};
use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc;

fn read(path: &Path) -> Profile {
    let run = RunDirectory::open(path).expect("the run has been written");
    Profile::read(&run, &mut |_| ()).expect("the run holds traffic")
}

/// How often ranks meet, and how many nanoseconds each comes later than the one before it.
const MEETINGS: u64 = 3;
const LATER: u64 = 1_000_000;

/// All ranks meet; the last one comes last.
fn add_events(run: &RunDirectory, rank: u32, size: u32) {
    let path = run.rank_traffic(rank);
    let mut of = Snapshot::read(&path).expect("the rank has written it");
    (of.objects, of.transfers) = Default::default();
    of.groups.push((0..size).map(Place::Rank).collect());
    let group = of.groups.len() as u32 - 1;
    let shape = EventShape { flow: Some(Flow::All), ..EventShape::new(What::Call(0), 0) };
    let tables = Tables {
        clock: vec![(0, of.began), (1_000_000_000, of.began + 1_000_000_000)],
        of,
        shapes: vec![shape],
        collectives: vec![Collectives { group, nth: 0 }],
        ..Tables::default()
    };
    let file = File::create(path.with_extension("events")).expect("the file can be made");
    let mut writer = Writer::new(file, &tables).expect("the file can be written");
    let mut bytes = vec![0; CHUNK];
    let (mut at, mut last) = (0, 0);
    for number in 1..=MEETINGS {
        let from = number * 100 * LATER;
        let begin = from + LATER * u64::from(rank);
        let end = from + LATER * u64::from(size);
        let record = Record { shape: 0, begin, end, folded: None };
        let part = Part { of: Of::Collectives(0), number, completes: false, bytes: 8 };
        (at, last) = Pen::new(&mut bytes, at, last).write(&record, &[part]);
    }
    writer.chunk(0, &bytes[..at]).expect("the file can be written");
    writer.finish().expect("the file can be written");
}

#[test]
fn server_and_export_work_in_a_browser() {
    let directory = tempfile::tempdir().expect("temporary files can be written");
    let (after, before) =
        (directory.path().join("after.commsan"), directory.path().join("before.commsan"));
    write(&after, &Shape::default()).expect("the run can be written");
    let run = RunDirectory::open(&after).expect("the run has been written");
    (0..Shape::default().ranks).for_each(|rank| add_events(&run, rank, Shape::default().ranks));
    write(&before, &Shape { lines: 128, ..Shape::default() }).expect("the run can be written");
    let runs = Runs::new(read(&after), Some(read(&before)));
    let export = directory.path().join("export.html");
    let mut file = File::create(&export).expect("the file can be made");
    let limits = Limits { objects: 4, places: 4, pairs: 4, ..Limits::default() };
    export_html(&runs, limits, &mut file).expect("make build has built the viewer");

    let (told, address) = mpsc::channel();
    // Serves until the process ends.
    std::thread::spawn(move || {
        serve(runs, Settings::default(), |address| drop(told.send(address.url.clone())))
    });
    let url = address.recv().expect("a port is free");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/viewer.sh");
    let status = Command::new(script)
        .args(["test", "real"])
        .env("COMMSAN_URL", url)
        .env("COMMSAN_EXPORT", &export)
        .status()
        .expect("the script is there");
    assert!(status.success(), "the browser's tests have failed: see above");
}
