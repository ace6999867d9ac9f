//! Totals: by source, target and kind they are those that the programs count themselves.

use super::{counted, halo, totals};
use crate::built::{MPIS, Mpi, Work};
use crate::profiled::{Row, number, profile, table};
use std::fs;

#[test]
fn totals_are_what_the_program_counts() {
    for mpi in MPIS {
        let work = Work::new("traffic", mpi);
        let program = work.path("traffic");
        work.compile_plain(&program, "profile/traffic.c", &["-g"]);
        for (seed, ranks) in [("1", 2), ("2", 3), ("3", 4), ("4", 5), ("5", 1)] {
            let out = work.path("counted.csv");
            let arguments = [seed, out.to_str().unwrap()];
            let run = profile(&work, &[], ranks, &program, &arguments);
            run.ends_with(0);
            let found = totals(&table(&work, &run, "transfers"));
            assert_eq!(found, counted(&out), "{mpi:?}, seed {seed}, {ranks} ranks");
            let objects = table(&work, &run, "objects");
            let windows = objects.iter().filter(|row| row["memory"] == "window");
            windows.for_each(|row| assert_ne!(row["bytes"], "0", "{mpi:?}, seed {seed}: {row:?}"));
        }
    }
}

/// Which bytes are looked at is all that sampling changes.
#[test]
fn sampling_changes_no_total() {
    let work = Work::new("traffic", Mpi::Mpich);
    let program = work.path("traffic");
    work.compile_plain(&program, "profile/traffic.c", &["-g"]);
    let out = work.path("counted.csv");
    let run = profile(&work, &["--sample", "1/7"], 4, &program, &["7", out.to_str().unwrap()]);
    run.ends_with(0).says("one transfer in 7");
    assert_eq!(totals(&table(&work, &run, "transfers")), counted(&out));
    let extents = table(&work, &run, "extents");
    assert!(!extents.is_empty());
}

#[test]
fn checking_changes_no_total() {
    let work = Work::new("traffic", Mpi::OpenMpi);
    let program = work.compile("profile/traffic.c", &["-g"]);
    let out = work.path("counted.csv");
    let arguments = ["6", out.to_str().unwrap()];
    let run = profile(&work, &["--check"], 3, &program, &arguments);
    run.ends_with(0).says("no findings");
    assert_eq!(totals(&table(&work, &run, "transfers")), counted(&out));
}

/// Every mode, kind and shape of communication, once at least, by the standard's definitions.
#[test]
fn every_kind_is_counted_as_the_standard_says() {
    // Those of Open MPI 4.1 crash in the library.
    for (mpi, which) in [(Mpi::OpenMpi, "mtcni"), (Mpi::Mpich, "mtcnirf")] {
        let work = Work::new("kinds", mpi);
        let program = work.path("kinds");
        work.compile_plain(&program, "profile/kinds.c", &["-g", "-w"]);
        for (options, ranks) in [(&[][..], 3), (&[], 4), (&["--check"], 3)] {
            let out = work.path("counted.csv");
            let run = profile(&work, options, ranks, &program, &[out.to_str().unwrap(), which]);
            run.ends_with(0);
            let found = totals(&table(&work, &run, "transfers"));
            assert_eq!(found, counted(&out), "{mpi:?}, {options:?}, {ranks} ranks");
        }
    }
}

#[test]
fn what_a_killed_rank_has_counted_is_kept() {
    for mpi in MPIS {
        let (work, program) = halo(mpi);
        let run = profile(&work, &[], 2, &program, &["kill"]);
        assert!(!run.hung && run.code != Some(0), "{}", run.text());
        run.is_silent_about("panick");
        let totals = totals(&table(&work, &run, "transfers"));
        let between = |source: &str, target: &str| {
            totals[&(source.to_owned(), target.to_owned(), "point-to-point".to_owned())]
        };
        assert_eq!(between("rank 0", "rank 1"), (22, 1616), "{mpi:?}");
        assert_eq!(between("rank 1", "rank 0"), (22, 1616), "{mpi:?}");
    }
}

/// Time by call, peer and communicator is what the program measures itself.
#[test]
fn time_is_what_the_program_measures() {
    for mpi in MPIS {
        let work = Work::new("waits", mpi);
        let (program, measured) = (work.path("waits"), work.path("measured"));
        work.compile_plain(&program, "profile/waits.c", &["-g"]);
        let run = profile(&work, &[], 3, &program, &[measured.to_str().unwrap()]);
        run.ends_with(0).says("top calls by time");
        let rows = table(&work, &run, "calls");
        let mut lines = 0;
        for rank in 0..3 {
            let text = fs::read_to_string(format!("{}.{rank}", measured.display())).unwrap();
            for line in text.lines() {
                // The names of communicators hold commas.
                let (call, rest) = line.split_once(',').unwrap();
                let (peer, rest) = rest.split_once(',').unwrap();
                let (communicator, seconds) = rest.rsplit_once(',').unwrap();
                let peer = if peer == "-1" { String::new() } else { format!("rank {peer}") };
                let is_it = |row: &&Row| {
                    row["place"] == format!("rank {rank}")
                        && row["call"] == call
                        && row["peer"] == peer
                        && row["communicator"] == communicator
                };
                let found: Vec<_> = rows.iter().filter(is_it).collect();
                let [row] = *found else { panic!("{mpi:?}: {line}: {rows:#?}") };
                let (known, told): (f64, f64) =
                    (seconds.parse().unwrap(), row["seconds"].parse().unwrap());
                // Between the two clocks the machine may do something else.
                let error = 0.05 * known + 0.03;
                assert!((known - told).abs() < error, "{mpi:?}: {line}: {row:?}");
                assert_eq!(number(row, "count"), 1, "{row:?}");
                lines += 1;
            }
        }
        assert_eq!(lines, 7, "{mpi:?}");
        // Of the barrier, which moves nothing, too.
        let barrier = rows.iter().filter(|row| row["call"] == "MPI_Barrier");
        assert_eq!(
            barrier.filter(|row| row["communicator"] == "ranks 0-2").count(),
            3,
            "{rows:#?}"
        );
    }
}
