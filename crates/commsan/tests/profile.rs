//! `commsan profile` on real programs, with both MPIs: totals are those that the programs count themselves, and
//! lines and objects are those of the source. `make build` first.

#[path = "support/built.rs"]
mod built;
#[path = "support/profiled.rs"]
mod profiled;

use built::{Installed, Mpi, Run, Work};
use profiled::{Row, number, nvcc, profile, profile_job, repository, table};
use std::collections::{BTreeMap, BTreeSet};
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

#[test]
fn totals_are_what_the_program_counts() {
    for mpi in Mpi::ALL {
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
fn an_object_can_be_singled_out() {
    let (work, program) = halo(Mpi::Mpich);
    // A name that the program gives, a variable's, and one at the other end.
    for (name, rows, end) in
        [("spectrum", 6, "object"), ("u", 9, "object"), ("edge", 9, "target_object")]
    {
        let run = profile(&work, &["--only", &format!("object:{name}")], 3, &program, &[]);
        run.ends_with(0);
        let found = table(&work, &run, "transfers");
        assert_eq!(found.len(), rows, "{found:#?}");
        assert!(found.iter().all(|row| row[end] == name), "{found:#?}");
    }
    let run = profile(&work, &["--only", "object:nothing"], 2, &program, &[]);
    run.ends_with(0).says("no object is called `nothing`");
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

/// The bytes that a comment in the source says for each line that reads or writes a file.
#[test]
fn files_are_read_as_far_as_they_go() {
    moves_what_it_says("files.c", 11);
}

/// `mpi_f08` of MPICH has another `MPI_STATUS_IGNORE` than the older modules.
#[test]
fn reads_without_status_count_in_fortran() {
    for mpi in Mpi::ALL {
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

/// The order of messages tells which array arrives where, and how much a receive with more room got.
#[test]
fn arrays_that_take_turns_are_told_apart() {
    let text = fs::read_to_string(repository().join("tests/profile/turns.c")).unwrap();
    let at = |mark: &str| {
        let line = text.lines().position(|line| line.contains(&format!("/* {mark} */"))).unwrap();
        (line + 1).to_string()
    };
    for mpi in Mpi::ALL {
        let work = Work::new("turns", mpi);
        let program = work.path("turns");
        work.compile_plain(&program, "profile/turns.c", &["-g", "-fno-omit-frame-pointer"]);
        let run = profile(&work, &[], 2, &program, &[]);
        run.ends_with(0);
        let rows = table(&work, &run, "transfers");
        let ends = |tag: &str| -> Vec<(String, String, String, u64, u64)> {
            let of = rows.iter().filter(|row| row["tag"] == tag);
            let mut ends: Vec<_> = of
                .map(|row| {
                    let [object, target, line] =
                        ["object", "target_object", "target_line"].map(|name| row[name].clone());
                    (object, target, line, number(row, "count"), number(row, "bytes"))
                })
                .collect();
            ends.sort();
            ends
        };
        let row = |object: &str, target: &str, line: String, count, bytes| {
            (object.to_owned(), target.to_owned(), line, count, bytes)
        };
        let expected = [
            row("u", "b", at("receives"), 20, 20 * 200 * 8),
            row("v", "a", at("receives"), 10, 10 * 199 * 8),
        ];
        assert_eq!(ends("4"), expected, "{mpi:?}");
        assert!(ends("5").iter().all(|(_, target, ..)| target.is_empty()), "{rows:#?}");
        let mut small: Vec<_> = rows
            .iter()
            .filter(|row| row["call"] == "MPI_Bcast")
            .map(|row| (&*row["object"], number(row, "bytes")))
            .collect();
        small.sort_unstable();
        assert_eq!(small, [("small", 4), ("small", 8)], "{mpi:?}");
    }
}

/// Each of several allocations on a line has the name that the line gives it.
#[test]
fn allocations_of_one_line_are_told_apart() {
    for (mpi, optimized) in [(Mpi::OpenMpi, "-O0"), (Mpi::Mpich, "-O2")] {
        let work = Work::new("names", mpi);
        let program = work.path("names");
        let source = repository().join("tests/profile/names.f90");
        let options = ["-g", optimized, "-o", program.to_str().unwrap(), source.to_str().unwrap()];
        work.finish(&mut work.command(&work.mpi.tool("mpifort"), &options)).ends_with(0);
        let run = profile(&work, &[], 3, &program, &[]);
        run.ends_with(0);
        let objects = table(&work, &run, "objects");
        let sizes: BTreeSet<_> =
            objects.iter().map(|row| (&*row["name"], number(row, "bytes"))).collect();
        assert_eq!(sizes, [("tiny", 24), ("u", 1600), ("v", 4800)].into(), "{mpi:?}");
        for row in table(&work, &run, "transfers") {
            let ends = (&*row["object"], &*row["target_object"]);
            let expected = if row["kind"] == "collective" { ("tiny", "tiny") } else { ("u", "v") };
            assert_eq!(ends, expected, "{mpi:?}: {row:?}");
        }
    }
}

/// Small blocks are objects, also where there is one for each message.
#[test]
fn small_allocations_have_names() {
    for (mpi, optimized) in [(Mpi::OpenMpi, "-O0"), (Mpi::Mpich, "-O2")] {
        let work = Work::new("vectors", mpi);
        let program = work.path("vectors");
        let source = repository().join("tests/profile/vectors.cpp");
        let words = [source.to_str().unwrap(), "-o", program.to_str().unwrap()];
        let options = ["-g", "-fno-omit-frame-pointer", optimized, words[0], words[1], words[2]];
        work.finish(&mut work.command(&work.mpi.tool("mpicxx"), &options)).ends_with(0);
        let run = profile(&work, &[], 2, &program, &[]);
        run.ends_with(0);
        let rows = table(&work, &run, "transfers");
        let of_first = rows.iter().filter(|row| row["source"] == "rank 0");
        let moved: BTreeMap<&str, u64> =
            of_first.map(|row| (&*row["object"], number(row, "count"))).collect();
        let expected = [("counts", 1), ("flux", 1), ("norm", 1), ("residual", 3000)];
        assert_eq!(moved, expected.into(), "{mpi:?}: {rows:#?}");
    }
}

/// Jobs that a script starts one after the other.
#[test]
fn jobs_of_one_run_are_kept_apart() {
    for mpi in Mpi::ALL {
        let (work, program) = halo(mpi);
        let (launcher, program) = (work.mpi.tool("mpirun"), program.to_str().unwrap());
        let script = format!("{launcher} -n 2 {program} && {launcher} -n 3 {program} && {program}");
        let run = profile_job(&work, &[], &["sh", "-c", &script]);
        run.ends_with(0).says("6 ranks of 3 jobs");
        let mut halos = BTreeMap::new();
        for row in table(&work, &run, "transfers") {
            if row["call"] == "MPI_Isend" && row["tag"] == "0" {
                let ends = (row["source"].clone(), row["target"].clone());
                let count = (number(&row, "count"), &*row["object"], &*row["target_object"]);
                assert_eq!(count, (20, "u", "edge"), "{mpi:?}: {row:?}");
                halos.insert(ends, number(&row, "bytes"));
            }
        }
        let names = |job: u32, size: u32| {
            (0..size).map(move |rank| match job {
                1 => format!("rank {rank}"),
                _ => format!("rank {rank} of job {job}"),
            })
        };
        let places = table(&work, &run, "places");
        let all = names(1, 2).chain(names(2, 3)).chain(names(3, 1));
        let found = places.iter().map(|row| (row["name"].clone(), &*row["present"]));
        assert!(found.eq(all.map(|name| (name, "1"))), "{mpi:?}: {places:#?}");
        let rings = [(1, 2), (2, 3)].map(|(job, size)| {
            let next = names(job, size).cycle().skip(1);
            names(job, size).zip(next).map(|ends| (ends, 1600)).collect::<Vec<_>>()
        });
        assert!(
            rings.concat().iter().all(|(ends, bytes)| halos.get(ends) == Some(bytes)),
            "{halos:?}"
        );
    }
}

#[test]
fn jobs_that_meet_know_each_other() {
    let work = Work::new("spawn", Mpi::OpenMpi);
    let program = work.path("spawn");
    work.compile_plain(&program, "profile/spawn.c", &["-g", "-fno-omit-frame-pointer"]);
    let launcher = work.mpi.tool("mpirun");
    for how in ["one", "several"] {
        let job = [&*launcher, "--host", "localhost:8", "-n", "2", program.to_str().unwrap(), how];
        two_and_three(&work, &profile_job(&work, &[], &job));
    }
    // Jobs that different launchers have started meet through a server of Open MPI's.
    let [port, server] = ["port", "server"].map(|name| work.path(name));
    for path in [&port, &server] {
        let _ = fs::remove_file(path);
    }
    let [port, server, program] = [&port, &server, &program].map(|path| path.to_str().unwrap());
    let launch = format!("{launcher} --ompi-server file:{server}");
    let script = format!(
        "ompi-server --no-daemonize -r {server} & own=$!
        while [ ! -s {server} ]; do sleep 0.1; done
        {launch} -n 2 {program} accept {port} & accepts=$!
        {launch} -n 3 {program} connect {port}; code=$?
        wait $accepts || code=$?
        kill $own; exit $code"
    );
    two_and_three(&work, &profile_job(&work, &[], &["sh", "-c", &script]));
}

/// What `spawn.c` moves, whichever of its jobs began first.
fn two_and_three(work: &Work, run: &Run) {
    run.ends_with(0).says("5 ranks of 2 jobs");
    let rows = table(work, run, "transfers");
    let places = table(work, run, "places");
    // Arrays on the stack are one object for each rank, wherever they are used.
    let objects = table(work, run, "objects");
    let on_stack: Vec<_> = objects.iter().map(|row| (&*row["memory"], &*row["name"])).collect();
    assert_eq!(on_stack, [("stack", "stack of main"); 5]);
    let three_are_first = places.iter().any(|row| row["name"] == "rank 2");
    let of = |call: &str| {
        let rows = rows.iter().filter(|row| row["call"] == call);
        let ends = rows.map(|row| {
            let short = |place: &str| {
                let rank = row[place].replace("rank ", "");
                let plain = rank.strip_suffix(" of job 2");
                match (plain, three_are_first) {
                    (Some(rank), false) => format!("{rank}'"),
                    (None, true) => format!("{rank}'"),
                    (Some(rank), true) => rank.to_owned(),
                    (None, false) => rank,
                }
            };
            (format!("{} > {}", short("source"), short("target")), number(row, "bytes"))
        });
        ends.collect::<BTreeMap<_, _>>()
    };
    let expected = |ends: &[&str], bytes| -> BTreeMap<String, u64> {
        ends.iter().map(|ends| ((*ends).to_owned(), bytes)).collect()
    };
    assert_eq!(of("MPI_Send"), expected(&["2' > 1"], 32));
    assert_eq!(of("MPI_Bcast"), expected(&["0 > 0'", "0 > 1'", "0 > 2'"], 16));
    let within =
        ["0 > 1", "1 > 0", "0' > 1'", "0' > 2'", "1' > 0'", "1' > 2'", "2' > 0'", "2' > 1'"];
    assert_eq!(of("MPI_Allreduce"), expected(&within, 8));
    let all = ["0", "1", "0'", "1'", "2'"];
    let pairs = all.iter().flat_map(|from| all.iter().map(move |to| (from, to)));
    let pairs = pairs.filter(|(from, to)| from != to).map(|(from, to)| format!("{from} > {to}"));
    assert_eq!(of("MPI_Allgather"), pairs.map(|ends| (ends, 4)).collect());
}

#[test]
fn what_is_missing_of_a_run_is_told_on_standard_error() {
    let (work, program) = halo(Mpi::Mpich);
    let run = profile(&work, &[], 3, &program, &[]);
    run.ends_with(0);
    fs::write(run.directory.join("rank-1.traffic"), "nonsense").unwrap();
    let out = work.path("tables");
    let directory = run.directory.to_str().unwrap();
    let export = ["export", "--csv", out.to_str().unwrap(), directory];
    let export = work.finish(&mut work.commsan(&export));
    assert!(export.err.contains("`rank-1.traffic` was left out"), "{}", export.text());
}

/// Nothing says that all is well where nobody has looked.
#[test]
fn what_was_only_profiled_was_not_checked() {
    let (work, program) = halo(Mpi::Mpich);
    let wanted = work.path("wanted.xml");
    let junit = ["--junit", wanted.to_str().unwrap()];
    let run = profile(&work, &junit, 2, &program, &[]);
    run.ends_with(0).says("wanted.xml`: nothing was checked").says("--check");
    assert!(!wanted.exists());
    let directory = run.directory.to_str().unwrap();
    let report =
        |format| work.finish(&mut work.commsan(&["report", "--format", format, directory])).out;
    let text = report("terminal");
    assert!(text.contains("warning: ranks 0, 1: not checked: what it moves was counted"), "{text}");
    assert!(text.contains("2 of them not checked"), "{text}");
    let text = report("junit");
    assert!(text.contains("no rank was checked") && text.contains(r#"tests="1""#), "{text}");
}

/// The line of the source that a comment marks.
fn line(mark: &str) -> String {
    let text = fs::read_to_string(repository().join("tests/profile/halo.c")).unwrap();
    let line = text.lines().position(|line| line.contains(&format!("/* {mark} */"))).unwrap();
    (line + 1).to_string()
}

fn halo(mpi: Mpi) -> (Work, PathBuf) {
    let work = Work::new("halo", mpi);
    let program = work.path("halo");
    work.compile_plain(&program, "profile/halo.c", &["-g", "-fno-omit-frame-pointer"]);
    (work, program)
}

#[test]
fn lines_and_objects_are_those_of_the_source() {
    for mpi in Mpi::ALL {
        let (work, program) = halo(mpi);
        let run = profile(&work, &[], 3, &program, &[]);
        run.ends_with(0).says("point-to-point").says("collective");
        let rows = table(&work, &run, "transfers");
        let of = |kind: &str, call: &str| {
            let wanted = |row: &&Row| row["kind"] == kind && row["call"] == call;
            rows.iter().filter(wanted).collect::<Vec<_>>()
        };
        let sent = of("point-to-point", "MPI_Isend");
        let (probed, sent): (Vec<&Row>, Vec<&Row>) =
            sent.into_iter().partition(|row| row["tag"] != "0");
        assert_eq!((sent.len(), probed.len()), (3, 6), "{rows:#?}");
        for row in probed {
            let mark = if row["tag"] == "1" { "found" } else { "found later" };
            let received = (&*row["target_object"], &*row["target_line"]);
            assert_eq!(received, ("edge", &*line(mark)), "{row:?}");
        }
        let places = table(&work, &run, "places");
        assert!(places.iter().all(|row| row["kind"] == "rank"), "{places:#?}");
        for row in sent {
            assert_eq!((number(row, "count"), number(row, "bytes")), (20, 1600));
            let ends = (&*row["object"], &*row["target_object"]);
            assert_eq!(ends, ("u", "edge"), "{row:?}");
            let lines = (&row["line"], &row["target_line"]);
            assert_eq!(lines, (&line("sends"), &line("receives")), "{row:?}");
            assert!(row["file"].ends_with("halo.c") && row["function"] == "exchange", "{row:?}");
            assert_eq!((&*row["tag"], &*row["region"]), ("0", ""), "{row:?}");
        }
        let broadcast = of("collective", "MPI_Bcast");
        assert_eq!(broadcast.len(), 2, "{rows:#?}");
        for row in broadcast {
            assert_eq!((&*row["source"], number(row, "bytes")), ("rank 0", 80));
            let names = (&*row["object"], &*row["target_object"], &*row["region"]);
            assert_eq!(names, ("pressure", "pressure", "norms"), "{row:?}");
            assert_eq!(row["line"], line("pressure"));
        }
        let reduced = of("collective", "MPI_Allreduce");
        assert_eq!(reduced.len(), 12, "{rows:#?}");
        let object = |row: &Row| if row["line"] == line("named") { "spectrum" } else { "global" };
        assert!(reduced.iter().all(|row| row["object"] == object(row)), "{reduced:?}");
        // Wherever in a variable the call begins.
        let objects = table(&work, &run, "objects");
        let globals: Vec<_> = objects.iter().filter(|row| row["name"] == "global").collect();
        let whole = |row: &&Row| (number(row, "bytes"), number(row, "allocations")) == (8000, 1);
        assert!(globals.len() == 3 && globals.iter().all(whole), "{globals:?}");
        let extents = table(&work, &run, "extents");
        let mut touched = extents.iter().filter(|row| row["name"] == "global");
        assert!(touched.all(|row| (&*row["start"], &*row["bytes"]) == ("64", "8")), "{extents:?}");
    }
}

#[test]
fn what_a_killed_rank_has_counted_is_kept() {
    for mpi in Mpi::ALL {
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

#[test]
fn a_region_can_be_singled_out() {
    let (work, program) = halo(Mpi::OpenMpi);
    let run = profile(&work, &["--only", "region:norms"], 2, &program, &[]);
    run.ends_with(0);
    let rows = table(&work, &run, "transfers");
    assert!(rows.iter().all(|row| row["kind"] == "collective" && row["region"] == "norms"));
    assert_eq!(rows.iter().map(|row| number(row, "bytes")).sum::<u64>(), 80 + 2 * 2 * 8);
}

/// Builds a CUDA program under `tests/profile`.
fn cuda(work: &Work, source: &str, libraries: &[&str]) -> PathBuf {
    build(work, &work.mpi.tool("mpicxx"), source, libraries)
}

/// Likewise, with this compiler for the host.
fn build(work: &Work, compiler: &str, source: &str, libraries: &[&str]) -> PathBuf {
    let source = repository().join("tests/profile").join(source);
    let program = work.path(source.file_stem().unwrap().to_str().unwrap());
    let nvcc = nvcc();
    let mut words = vec!["nvcc", nvcc.to_str().unwrap(), "-ccbin", compiler, "-arch=sm_90", "-g"];
    words.extend([source.to_str().unwrap(), "-o", program.to_str().unwrap()]);
    words.extend(libraries);
    work.finish(&mut work.commsan(&words)).ends_with(0);
    program
}

#[test]
fn copies_and_peer_accesses_are_exact() {
    let work = Work::new("peer", Mpi::OpenMpi);
    let program = cuda(&work, "peer.cu", &[]);
    let run = profile(&work, &["--gpu", "sim:2"], 1, &program, &[]);
    run.ends_with(0);
    let rows = table(&work, &run, "transfers");
    let found: Vec<_> = rows
        .iter()
        .map(|row| {
            let ends = format!("{} > {}", row["source"], row["target"]);
            let objects = format!("{} > {}", row["object"], row["target_object"]);
            (ends, row["kind"].clone(), number(row, "count"), number(row, "bytes"), objects)
        })
        .collect();
    let row = |ends: &str, kind: &str, count, bytes, objects: &str| {
        (ends.to_owned(), kind.to_owned(), count, bytes, objects.to_owned())
    };
    let expected = [
        row("rank 0 > gpu 1", "host-to-device", 1, 8000, "host > second"),
        row("gpu 1 > gpu 0", "device-to-device", 1, 800, "second > first"),
        row("gpu 0 > gpu 1", "peer-load", 500, 4000, "first > "),
        row("gpu 0 > gpu 1", "peer-store", 3 * 64, 3 * 512, " > second"),
        row("gpu 0 > rank 0", "device-to-host", 5, 400, "first > host"),
    ];
    for row in &expected {
        assert!(found.contains(row), "no {row:?} in {found:#?}");
    }
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    let text = fs::read_to_string(repository().join("tests/profile/peer.cu")).unwrap();
    for (kind, mark) in [("peer-load", "// pulls"), ("peer-store", "// pushes")] {
        let line = text.lines().position(|line| line.ends_with(mark)).unwrap() + 1;
        let row = rows.iter().find(|row| row["kind"] == kind).unwrap();
        assert_eq!(number(row, "line") as usize, line, "{row:?}");
        assert!(row["file"].ends_with("peer.cu"), "{row:?}");
    }
}

/// Whether there is such an interpreter.
fn is_there(python: &str) -> bool {
    let version = std::process::Command::new(python).arg("--version").output();
    version.is_ok_and(|version| version.status.success())
}

/// Python's frames are known of CPython 3.11, Debian 12's, and of those after it that are there.
#[test]
fn python_has_lines() {
    let others = ["python3.12", "python3.13"].into_iter().filter(|python| is_there(python));
    ["python3"].into_iter().chain(others).for_each(lines_of);
}

fn lines_of(python: &str) {
    let script = repository().join("tests/profile/ring.py");
    let text = fs::read_to_string(&script).unwrap();
    let at = |mark: &str| text.lines().position(|line| line.ends_with(mark)).unwrap() as u64 + 1;
    for mpi in Mpi::ALL {
        let work = Work::new("python", mpi);
        let job = [&mpi.tool("mpirun"), "-n", "3", python, script.to_str().unwrap(), "500"];
        let run = profile_job(&work, &[], &job);
        run.ends_with(0);
        let rows = table(&work, &run, "transfers");
        assert_eq!(rows.iter().map(|row| number(row, "bytes")).sum::<u64>(), 3 * 3 * 4000);
        for row in &rows {
            assert!(row["file"].ends_with("ring.py"), "{mpi:?}: {row:?}");
            assert_eq!(number(row, "line"), at("# sends"), "{mpi:?}: {row:?}");
        }
        let outermost = format!("ring.py:{})", at("# turns"));
        for row in table(&work, &run, "sites").iter().filter(|row| row["call"] == "MPI_Send") {
            let stack = &row["stack"];
            assert!(stack.starts_with("send (") && stack.contains("< <module> ("), "{stack}");
            assert!(stack.contains(&outermost), "{stack}");
        }
        let calls = table(&work, &run, "calls");
        let receives = calls.iter().filter(|row| row["call"] == "MPI_Recv");
        assert!(
            receives.clone().count() == 3
                && receives.clone().all(|row| number(row, "line") == at("# receives"))
        );
    }
}

#[test]
fn processes_without_mpi_are_ranks() {
    let work = Work::new("workers", Mpi::OpenMpi);
    let program = build(&work, "g++", "workers.cu", &[]);
    let run = profile_job(&work, &["--gpu", "sim:2"], &[program.to_str().unwrap()]);
    run.ends_with(0);
    let mut moved: Vec<_> = totals(&table(&work, &run, "transfers")).into_iter().collect();
    // Which of the two is rank 0 is open.
    let rank_of = |device: &str| {
        let mut all = moved.iter().map(|((source, target, _), _)| (source.clone(), target.clone()));
        all.find(|(_, target)| target == device).map(|(source, _)| source).unwrap()
    };
    let ranks = [rank_of("gpu 0"), rank_of("gpu 1")];
    let mut expected = Vec::new();
    for (rank, device, bytes) in [(&ranks[0], "gpu 0", 1000), (&ranks[1], "gpu 1", 2000)] {
        let key =
            |from: &str, to: &str, kind: &str| (from.to_owned(), to.to_owned(), kind.to_owned());
        expected.push((key(rank, device, "host-to-device"), (1, bytes)));
        expected.push((key(device, rank, "device-to-host"), (1, bytes / 2)));
    }
    moved.sort();
    expected.sort();
    assert_eq!(moved, expected);
    assert_ne!(ranks[0], ranks[1]);
}

/// Bytes that NCCL moves between devices, by (source, target).
fn nccl(rows: &[Row]) -> BTreeMap<(String, String), u64> {
    let mut edges = BTreeMap::new();
    for row in rows.iter().filter(|row| row["kind"] == "nccl") {
        assert_eq!(row["call"], "ncclGroupEnd", "{row:?}");
        *edges.entry((row["source"].clone(), row["target"].clone())).or_default() +=
            number(row, "bytes");
    }
    edges
}

/// NCCL's algorithms show in what devices move: in a ring each sends to the next alone, in the tree of a
/// node, which is a chain, each to both neighbours, and those at the ends to one. With N bytes on p devices,
/// the data is 2 (p - 1) / p N on each edge of the ring, and N each way along the chain. Beside that there
/// are counts of what is ready, which are few.
#[test]
fn algorithms_of_nccl_show() {
    const FLOATS: u64 = 1 << 14;
    let work = Work::new("allreduce", Mpi::OpenMpi);
    let program = cuda(&work, "allreduce.cu", &["-lnccl"]);
    let run = |algorithm: &str| {
        let options = ["--gpu", "sim:4"];
        let directory = work.fresh("run");
        let launcher = work.mpi.tool("mpirun");
        let mut words = vec!["profile", "--output", directory.to_str().unwrap()];
        words.extend(options);
        let floats = FLOATS.to_string();
        words.extend(["--", &launcher, "-n", "1", program.to_str().unwrap(), &floats]);
        let mut run = work.finish(work.commsan(&words).env("NCCL_ALGO", algorithm));
        run.directory = directory;
        run.ends_with(0).says("right");
        nccl(&table(&work, &run, "transfers"))
    };
    let pair = |from: u32, to: u32| (format!("gpu {from}"), format!("gpu {to}"));
    let bytes = FLOATS * 4;
    let carries = |edges: &BTreeMap<_, u64>, pair: &(String, String), data: u64| {
        let moved = edges.get(pair).copied().unwrap_or(0);
        assert!((data..data + data / 8).contains(&moved), "{pair:?}: {moved}, not {data}");
    };
    let ring = run("Ring");
    let data = |edges: &BTreeMap<(String, String), u64>| {
        edges.iter().filter(|(_, moved)| **moved > bytes / 4).count()
    };
    assert_eq!(data(&ring), 4, "{ring:?}");
    (0..4).for_each(|d| carries(&ring, &pair(d, (d + 1) % 4), bytes * 6 / 4));
    let tree = run("Tree");
    assert_eq!(data(&tree), 6, "{tree:?}");
    for d in 0..3 {
        carries(&tree, &pair(d, d + 1), bytes);
        carries(&tree, &pair(d + 1, d), bytes);
    }
}

/// NVSHMEM's host calls: puts, gets and atomics from PE to PE, and collectives in their logical shape, between the
/// devices that the PEs have; the local end of a put may be on the host.
#[test]
fn one_sided_transfers_of_nvshmem() {
    const PES: u32 = 3;
    let work = Work::new("nvshmem", Mpi::OpenMpi);
    let program = cuda(&work, "nvshmem.cu", &["-lnvshmem_host"]);
    let run = profile(&work, &["--gpu", "sim:3"], PES, &program, &[]);
    run.ends_with(0).says("right");
    let rows = table(&work, &run, "transfers");
    let stores = rows.iter().filter(|row| row["kind"] == "peer-store");
    let stores = stores.map(|row| (number(row, "bytes"), row["target_object"].as_str()));
    assert_eq!(stores.collect::<Vec<_>>(), [(20 * 4, "field"); PES as usize]);
    let rows: Vec<_> = rows.iter().filter(|row| row["kind"] == "nvshmem").collect();
    let (rank, gpu) = (|n: u32| format!("rank {n}"), |n: u32| format!("gpu {n}"));
    let mut expected: BTreeMap<(&str, String, String), (u64, u64)> = BTreeMap::new();
    let mut moves = |call, from: String, to: String, bytes| {
        let sum = expected.entry((call, from, to)).or_default();
        *sum = (sum.0 + 1, sum.1 + bytes);
    };
    for me in 0..PES {
        let right = (me + 1) % PES;
        moves("nvshmem_float_put", rank(me), gpu(right), 64 * 4);
        moves("nvshmem_getmem", gpu(right), rank(me), 16);
        moves("nvshmem_float_iput", gpu(me), gpu(right), 16 * 4);
        moves("nvshmem_double_p", gpu(me), gpu(right), 8);
        moves("nvshmem_double_g", gpu(right), gpu(me), 8);
        for bytes in [512, 8] {
            moves("nvshmemx_putmem_signal_on_stream", gpu(me), gpu(right), bytes);
        }
        moves("nvshmem_uint64_atomic_fetch_add", gpu(me), gpu(right), 8);
        moves("nvshmem_uint64_atomic_fetch_add", gpu(right), gpu(me), 8);
        moves("nvshmem_uint64_atomic_inc", gpu(me), gpu(right), 8);
        for other in (0..PES).filter(|other| *other != me) {
            if me == 1 {
                moves("nvshmemx_int_broadcast_on_stream", gpu(me), gpu(other), 32 * 4);
            }
            moves("nvshmem_int_fcollect", gpu(me), gpu(other), 4 * 4);
            if me != 1 && other != 1 {
                moves("nvshmem_int_fcollect", gpu(me), gpu(other), 4);
            }
            moves("nvshmem_int_alltoall", gpu(me), gpu(other), 2 * 4);
            moves("nvshmem_int_max_reducescatter", gpu(me), gpu(other), 8 * 4);
            moves("nvshmem_int_sum_reduce", gpu(me), gpu(other), 16 * 4);
        }
    }
    let mut told: BTreeMap<(&str, String, String), (u64, u64)> = BTreeMap::new();
    for row in &rows {
        let key = (row["call"].as_str(), row["source"].clone(), row["target"].clone());
        let sum = told.entry(key).or_default();
        *sum = (sum.0 + number(row, "count"), sum.1 + number(row, "bytes"));
    }
    assert_eq!(told, expected);
    let objects = |call: &str| -> BTreeSet<(&str, &str)> {
        let of = rows.iter().filter(|row| row["call"] == call);
        of.map(|row| (row["object"].as_str(), row["target_object"].as_str())).collect()
    };
    assert_eq!(objects("nvshmem_float_put"), [("stack of one_sided", "field")].into());
    assert_eq!(objects("nvshmem_getmem"), [("field", "stack of one_sided")].into());
    assert_eq!(objects("nvshmem_double_g"), [("number", "")].into());
    let signalled = [("field", "field"), ("", "flag")].into();
    assert_eq!(objects("nvshmemx_putmem_signal_on_stream"), signalled);
    assert_eq!(objects("nvshmem_int_alltoall"), [("operand", "result")].into());
    let places = table(&work, &run, "objects");
    let fields: Vec<_> = places.iter().filter(|row| row["name"] == "field").collect();
    assert_eq!(fields.len(), PES as usize);
    assert!(
        fields.iter().all(|row| row["bytes"] == "1024" && row["allocations"] == "1"),
        "{fields:?}"
    );
    assert!(rows.iter().all(|row| row["file"].ends_with("nvshmem.cu") && !row["line"].is_empty()));
}
