//! How long a run takes to merge, to ask and to export, and what memory that needs: `measure RUN`.

use commsan_profile::api::{By, Level, MatrixQuery, TimelineQuery};
use commsan_profile::export::{Format, write_tables};
use commsan_profile::{Profile, summary};
use commsan_rundir::RunDirectory;
use std::error::Error;
use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: measure RUN")?;
    let run = RunDirectory::open(Path::new(&path))?;
    let profile = timed("merge", || Profile::read(&run, &mut |_| ()))?;
    let names = timed("run", || profile.run());
    timed("matrix of all", || profile.matrix(&MatrixQuery::default()))?;
    let nodes = MatrixQuery { level: Level::Node, ..MatrixQuery::default() };
    timed("matrix of nodes", || profile.matrix(&nodes))?;
    let some = MatrixQuery { rows: Some((0, 255.min(names.places.len() - 1))), ..nodes };
    timed("matrix of some", || profile.matrix(&MatrixQuery { level: Level::Place, ..some }))?;
    if !names.objects.is_empty() {
        timed("object", || profile.object(0, None))?;
    }
    if !names.files.is_empty() {
        timed("file", || profile.file(0))?;
        timed("line", || profile.line(0, 18))?;
    }
    timed("place", || profile.place(0))?;
    timed("timeline", || profile.timeline(&TimelineQuery::default()))?;
    let by_place = TimelineQuery { by: By::Place, ..TimelineQuery::default() };
    timed("timeline by place", || profile.timeline(&by_place))?;
    let text = timed("summary", || summary::render(&profile))?;
    let tables = run.path().join("tables");
    timed("parquet", || write_tables(&profile, &tables, Format::Parquet))?;
    println!("{text}");
    Ok(())
}

/// Says how long `work` takes, and the most memory that was in use so far.
fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("").trim();
    println!("{what:<20}{:>9.3} s   peak {peak}", start.elapsed().as_secs_f64());
    result
}
