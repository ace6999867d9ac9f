//! Who waits for whom, compared with what the programs measure themselves.

use crate::built::{MPIS, Mpi, Run, Work};
use crate::profiled::{Row, number, profile, table};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

/// Calls of a program's that others are made with.
const ASIDE: &str = "MPI_Gather";

/// (kind, late rank) → seconds.
type Waits = BTreeMap<(String, String), f64>;

struct Late {
    work: Work,
    program: PathBuf,
    measured: PathBuf,
}

fn late(mpi: Mpi) -> Late {
    let work = Work::new("late", mpi);
    let (program, measured) = (work.path("late"), work.path("measured"));
    work.compile_plain(&program, "profile/late.c", &["-g"]);
    Late { work, program, measured }
}

impl Late {
    fn run(&self, options: &[&str], ranks: u32, which: &str) -> Run {
        let run = profile(
            &self.work,
            options,
            ranks,
            &self.program,
            &[self.measured.to_str().unwrap(), which],
        );
        run.ends_with(0);
        run
    }

    fn known(&self) -> Waits {
        let mut known = Waits::new();
        for line in fs::read_to_string(&self.measured).unwrap().lines() {
            let fields: Vec<&str> = line.split(',').collect();
            let [kind, late, seconds] = fields[..] else { panic!("{line}") };
            let sum = known.entry((kind.to_owned(), format!("rank {late}"))).or_default();
            *sum += seconds.parse::<f64>().unwrap();
        }
        known
    }
}

fn told(rows: &[Row]) -> Waits {
    let mut told = Waits::new();
    for row in rows.iter().filter(|row| row["call"] != ASIDE) {
        let key = (row["kind"].clone(), row["late_place"].clone());
        *told.entry(key).or_default() += row["seconds"].parse::<f64>().unwrap();
    }
    told
}

/// Between two looks at the clock the machine may do something else, in each of a dozen calls.
fn are_close(known: f64, told: f64) -> bool {
    (known - told).abs() < 0.1 * known + 0.1
}

/// Costs and late ranks are what the program knows; the summary says the line.
#[test]
fn waits_are_what_the_program_measures() {
    for mpi in MPIS {
        let of = late(mpi);
        for (which, line) in [("chain", "late.c:51"), ("slow", "late.c:62"), ("io", "late.c:")] {
            let run = of.run(&[], 4, which);
            run.says("top waits").says("waiting for others").says(line);
            let (known, told) = (of.known(), told(&table(&of.work, &run, "waits")));
            for (key, seconds) in &known {
                let found = told.get(key).copied().unwrap_or(0.0);
                assert!(
                    are_close(*seconds, found),
                    "{mpi:?}, {which}, {key:?}: {known:?} {told:?}"
                );
            }
            for (key, seconds) in &told {
                let expected = known.get(key).copied().unwrap_or(0.0);
                assert!(
                    are_close(expected, *seconds),
                    "{mpi:?}, {which}, {key:?}: {known:?} {told:?}"
                );
            }
            assert!(known.values().any(|seconds| *seconds > 0.3), "{known:?}");
        }
    }
}

/// Events that have no room are folded, which is said; without events nothing is said of waits.
#[test]
fn events_keep_to_their_budget() {
    for mpi in MPIS {
        let of = late(mpi);
        let run = of.run(&["--events", "600000"], 2, "many");
        run.says("are folded");
        for rank in 0..2 {
            let file = run.directory.join(format!("rank-{rank}.events"));
            assert!(fs::metadata(&file).unwrap().len() < 700_000, "{}", file.display());
        }
        let rows = table(&of.work, &run, "calls");
        let sends = rows.iter().filter(|row| row["call"] == "MPI_Send");
        assert_eq!(sends.map(|row| number(row, "count")).sum::<u64>(), 100_000);
        let run = of.run(&["--events", "0"], 2, "many");
        assert!(!run.directory.join("rank-0.events").exists());
        run.is_silent_about("top waits");
        assert!(table(&of.work, &run, "waits").is_empty());
    }
}
