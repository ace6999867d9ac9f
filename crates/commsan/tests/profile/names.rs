//! Lines, objects and regions: those of the source.

use super::halo;
use crate::built::{Installed, MPIS, Mpi, Work};
use crate::profiled::{Row, number, profile, repository, table};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

#[test]
fn lines_and_objects_are_those_of_the_source() {
    for mpi in MPIS {
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

/// The line of the source that a comment marks.
fn line(mark: &str) -> String {
    let text = fs::read_to_string(repository().join("tests/profile/halo.c")).unwrap();
    let line = text.lines().position(|line| line.contains(&format!("/* {mark} */"))).unwrap();
    (line + 1).to_string()
}

/// The order of messages determines which array arrives where, and how much a receive with a larger
/// buffer got.
#[test]
fn arrays_that_take_turns_are_told_apart() {
    let text = fs::read_to_string(repository().join("tests/profile/turns.c")).unwrap();
    let at = |mark: &str| {
        let line = text.lines().position(|line| line.contains(&format!("/* {mark} */"))).unwrap();
        (line + 1).to_string()
    };
    for mpi in MPIS {
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

#[test]
fn an_object_can_be_singled_out() {
    let (work, program) = halo(Mpi::Mpich);
    // A name that the program gives, a variable's, and one at the other end.
    for (name, rows, end) in
        [("spectrum", 6, "object"), ("u", 9, "object"), ("edge", 9, "target_object")]
    {
        let run = profile(&work, &["--only", &format!("object:{name}")], 3, &program, &[]);
        run.ends_with(0).says("only these objects were asked for (`--only`)");
        run.says(&format!("are left out: {name}"));
        let found = table(&work, &run, "transfers");
        assert_eq!(found.len(), rows, "{found:#?}");
        assert!(found.iter().all(|row| row[end] == name), "{found:#?}");
    }
    let run = profile(&work, &["--only", "object:nothing"], 2, &program, &[]);
    run.ends_with(0).says("no object is called `nothing`");
}

#[test]
fn a_region_can_be_singled_out() {
    let (work, program) = halo(Mpi::OpenMpi);
    let run = profile(&work, &["--only", "region:norms"], 2, &program, &[]);
    run.ends_with(0).says("transfers outside of them are left out: norms");
    let rows = table(&work, &run, "transfers");
    assert!(rows.iter().all(|row| row["kind"] == "collective" && row["region"] == "norms"));
    assert_eq!(rows.iter().map(|row| number(row, "bytes")).sum::<u64>(), 80 + 2 * 2 * 8);
}

/// Members of a class that one line makes, by the columns of the debug information.
#[test]
fn members_of_one_class_are_objects_of_their_own() {
    for options in [&["-g"][..], &["-g", "-O2"]] {
        let work = Work::new("members", Mpi::OpenMpi);
        let program = work.path("members");
        let source = repository().join("tests/profile/members.cpp");
        let mut words = vec![source.to_str().unwrap(), "-o", program.to_str().unwrap()];
        words.extend(options);
        work.finish(&mut work.command(&work.mpi.tool("mpicxx"), &words)).ends_with(0);
        let run = profile(&work, &[], 2, &program, &[]);
        run.ends_with(0);
        let rows = table(&work, &run, "transfers");
        let ends: BTreeSet<_> = rows
            .iter()
            .map(|row| (&*row["object"], &*row["target_object"], number(row, "bytes")))
            .collect();
        assert_eq!(ends, BTreeSet::from([("u", "v", 800), ("w", "p", 400)]), "{rows:#?}");
        // w has an element more.
        let objects = table(&work, &run, "objects");
        let sizes: BTreeMap<_, _> =
            objects.iter().map(|row| (&*row["name"], number(row, "bytes"))).collect();
        let expected = [("p", 8000), ("u", 8000), ("v", 8000), ("w", 8008)];
        assert_eq!(sizes, BTreeMap::from(expected), "{objects:#?}");
    }
}
