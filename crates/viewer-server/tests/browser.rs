//! The viewer in the distribution's browser, on a run that commsan has read:
//! `viewer/test/real.spec.ts`.

use commsan_profile::Profile;
use commsan_profile::synthetic::{Shape, write};
use commsan_rundir::RunDirectory;
use commsan_viewer_server::{Limits, Runs, Settings, export_html, serve};
use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc;

fn read(path: &Path) -> Profile {
    let run = RunDirectory::open(path).expect("the run has been written");
    Profile::read(&run, &mut |_| ()).expect("the run holds traffic")
}

#[test]
fn server_and_export_work_in_a_browser() {
    let directory = tempfile::tempdir().expect("temporary files can be written");
    let (after, before) =
        (directory.path().join("after.commsan"), directory.path().join("before.commsan"));
    write(&after, &Shape::default()).expect("the run can be written");
    write(&before, &Shape { lines: 128, ..Shape::default() }).expect("the run can be written");
    let runs = Runs::new(read(&after), Some(read(&before)));
    let export = directory.path().join("export.html");
    let mut file = File::create(&export).expect("the file can be made");
    let limits = Limits { objects: 4, places: 4, ..Limits::default() };
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
