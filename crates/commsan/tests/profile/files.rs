//! Reads and writes of files, line by line.

use crate::built::{Installed, MPIS, Mpi, Work};
use crate::profiled::{Row, number, profile, repository, table};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The bytes that a comment in the source says for each line that reads or writes a file.
#[test]
fn files_are_read_as_far_as_they_go() {
    moves_what_it_says("files.c", 11);
}

#[test]
fn pointers_and_views_move_what_they_say() {
    moves_what_it_says("pointers.c", 22);
}

fn moves_what_it_says(name: &str, lines: usize) {
    let path = Path::new("profile").join(name);
    let source = fs::read_to_string(repository().join("tests").join(&path)).unwrap();
    let said = source.lines().zip(1..).filter_map(|(line, number)| {
        let bytes = line.strip_suffix(" */")?.rsplit_once("/* ")?.1.parse().ok()?;
        Some((number, bytes))
    });
    let said: BTreeMap<u64, u64> = said.collect();
    assert_eq!(said.len(), lines);
    for (mpi, options) in [(Mpi::OpenMpi, &[][..]), (Mpi::Mpich, &[]), (Mpi::Mpich, &["--check"])] {
        let work = Work::new("files", mpi);
        let program = work.path("files");
        work.compile_plain(&program, path.to_str().unwrap(), &["-g"]);
        let run = profile(&work, options, 2, &program, &[work.path("file").to_str().unwrap()]);
        run.ends_with(0);
        let name = work.path("file");
        let is_file = |row: &&Row| row["kind"] == "file";
        let places = table(&work, &run, "places");
        let files: Vec<_> = places.iter().filter(is_file).map(|row| &*row["name"]).collect();
        assert_eq!(files, [name.to_str().unwrap()], "{mpi:?}");
        let mut counted: BTreeMap<u64, u64> = BTreeMap::new();
        for row in table(&work, &run, "transfers").iter().filter(|row| row["kind"].contains("file"))
        {
            *counted.entry(number(row, "line")).or_default() += number(row, "bytes");
        }
        let twice = said.iter().map(|(line, bytes)| (*line, 2 * bytes)).collect();
        assert_eq!(counted, twice, "{mpi:?} {options:?}");
    }
}

/// `mpi_f08` of MPICH has another `MPI_STATUS_IGNORE` than the older modules.
#[test]
fn reads_without_status_count_in_fortran() {
    for mpi in MPIS {
        let work = Work::new("read", mpi);
        let program = work.path("read");
        let source = repository().join("tests/profile/read.f90");
        let options = ["-g", "-o", program.to_str().unwrap(), source.to_str().unwrap()];
        work.finish(&mut work.command(&work.mpi.tool("mpifort"), &options)).ends_with(0);
        let run = profile(&work, &[], 1, &program, &[work.path("file").to_str().unwrap()]);
        run.ends_with(0);
        let rows = table(&work, &run, "transfers");
        let read = rows.iter().filter(|row| row["kind"] == "file-read");
        let mut bytes: Vec<_> = read.map(|row| number(row, "bytes")).collect();
        bytes.sort_unstable();
        assert_eq!(bytes, [5 * 4, 7 * 4], "{mpi:?}");
    }
}
