//! Profiles of programs, and their tables.

use crate::built::{Installed, Run, Work};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A row of a table, by column.
pub type Row = BTreeMap<String, String>;

/// Profiles a program.
pub fn profile(
    work: &Work,
    options: &[&str],
    ranks: u32,
    program: &Path,
    arguments: &[&str],
) -> Run {
    let (launcher, ranks) = (work.mpi.tool("mpirun"), ranks.to_string());
    let mut job = vec![launcher.as_str(), "-n", &ranks, program.to_str().unwrap()];
    job.extend(arguments);
    profile_job(work, options, &job)
}

/// Profiles any command.
pub fn profile_job(work: &Work, options: &[&str], job: &[&str]) -> Run {
    let directory = work.fresh("run");
    let mut words = vec!["profile", "--output", directory.to_str().unwrap()];
    words.extend(options);
    words.push("--");
    words.extend(job);
    let mut run = work.finish(&mut work.commsan(&words));
    run.directory = directory;
    run
}

/// A table of the run.
pub fn table(work: &Work, run: &Run, name: &str) -> Vec<Row> {
    let tables = work.fresh("tables");
    let words = ["export", "--csv", tables.to_str().unwrap(), run.directory.to_str().unwrap()];
    work.finish(&mut work.commsan(&words)).ends_with(0);
    let mut reader = csv::Reader::from_path(tables.join(format!("{name}.csv"))).unwrap();
    reader.deserialize().map(|row| row.unwrap()).collect()
}

/// What a column counts.
pub fn number(row: &Row, column: &str) -> u64 {
    row[column].parse().unwrap_or_else(|_| panic!("{column}: {row:?}"))
}

/// The repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// NVIDIA's compiler.
pub fn nvcc() -> PathBuf {
    let installed = repository().join("target/cuda/bin/nvcc");
    let nvcc = std::env::var_os("NVCC").map_or(installed, PathBuf::from);
    assert!(nvcc.is_file(), "{} is missing; run `scripts/cuda.sh`", nvcc.display());
    nvcc
}
