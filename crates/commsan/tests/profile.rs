//! `commsan profile` on real programs, with both MPIs: totals are those that the programs count
//! themselves, and lines and objects are those of the source. `make build` first.

#[path = "support/built.rs"]
mod built;
#[path = "support/profiled.rs"]
mod profiled;

#[path = "profile/files.rs"]
mod files;
#[path = "profile/gpu.rs"]
mod gpu;
#[path = "profile/jobs.rs"]
mod jobs;
#[path = "profile/moments.rs"]
mod moments;
#[path = "profile/names.rs"]
mod names;
#[path = "profile/notes.rs"]
mod notes;
#[path = "profile/python.rs"]
mod python;
#[path = "profile/symmetric.rs"]
mod symmetric;
#[path = "profile/totals.rs"]
mod totals;
#[path = "profile/waits.rs"]
mod waits;

use built::{Mpi, Work};
use profiled::{Row, number};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Counts and bytes by source, target and kind.
type Totals = BTreeMap<(String, String, String), (u64, u64)>;

fn totals(rows: &[Row]) -> Totals {
    let mut totals = Totals::new();
    for row in rows {
        let key = (row["source"].clone(), row["target"].clone(), row["kind"].clone());
        let total = totals.entry(key).or_default();
        *total = (total.0 + number(row, "count"), total.1 + number(row, "bytes"));
    }
    totals
}

/// What the program has counted itself.
fn counted(path: &Path) -> Totals {
    let text = fs::read_to_string(path).unwrap();
    let rows = text.lines().map(|line| {
        let fields: Vec<&str> = line.split(',').collect();
        let [source, target, kind, count, bytes] = fields[..] else { panic!("{line}") };
        let key = (source.to_owned(), target.to_owned(), kind.to_owned());
        (key, (count.parse().unwrap(), bytes.parse().unwrap()))
    });
    rows.collect()
}

fn halo(mpi: Mpi) -> (Work, PathBuf) {
    let work = Work::new("halo", mpi);
    let program = work.path("halo");
    work.compile_plain(&program, "profile/halo.c", &["-g", "-fno-omit-frame-pointer"]);
    (work, program)
}
