//! `examples/peer_traffic` on simulated devices: what a profile shows of each program, and of the
//! same with something wrong in it, after the demonstrations of the Snoopie paper (§5).

#[path = "support/built.rs"]
mod built;
#[path = "support/profiled.rs"]
mod profiled;

use built::{Installed, Mpi, Run, Work};
use profiled::{Row, number, nvcc, profile, repository, table};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

const DEVICES: u32 = 4;

/// Builds a program.
fn build(work: &Work, program: &str) {
    let commsan = repository().join("target/dist/bin/commsan");
    let mut make = Command::new("make");
    make.args(["-s", "-C"]).arg(repository().join("examples/peer_traffic"));
    make.arg(format!("BUILD={}", work.directory.path().display()));
    make.arg(format!("CCBIN={}", work.mpi.tool("mpicxx")));
    make.arg(format!("NVCC={} nvcc {}", commsan.display(), nvcc().display()));
    make.arg(work.path(program));
    work.finish(&mut make).ends_with(0);
}

fn run(work: &Work, program: &str) -> Run {
    build(work, program);
    let run = profile(work, &["--gpu", &format!("sim:{DEVICES}")], 1, &work.path(program), &[]);
    run.ends_with(0);
    run
}

/// The loads of other devices' memory: bytes by source and target, in gpu numbers, and object.
fn loads(rows: &[Row]) -> BTreeMap<(u32, u32, String), u64> {
    let device = |place: &str| place.strip_prefix("gpu ").unwrap().parse::<u32>().unwrap();
    let mut loads = BTreeMap::new();
    for row in rows.iter().filter(|row| row["kind"] == "peer-load") {
        let key = (device(&row["source"]), device(&row["target"]), row["object"].clone());
        *loads.entry(key).or_default() += number(row, "bytes");
    }
    loads
}

/// §5.1: all should read from their left neighbours alone; the misplaced pointers are read from the
/// last device by all others.
#[test]
fn misplaced_pointers_show_as_traffic_that_is_no_ring() {
    let work = Work::new("bfs", Mpi::OpenMpi);
    let right = run(&work, "bfs");
    right.says("right, 40 steps");
    let right = loads(&table(&work, &right, "transfers"));
    assert!(right.keys().all(|(from, to, _)| (from + 1) % DEVICES == *to), "{right:?}");
    let pairs: BTreeSet<_> = right.keys().map(|(from, to, _)| (*from, *to)).collect();
    assert_eq!(pairs.len(), DEVICES as usize);
    let wrong = run(&work, "bfs_misplaced");
    wrong.says("right, 40 steps");
    let rows = table(&work, &wrong, "transfers");
    let mut wrong = loads(&rows);
    let last = DEVICES - 1;
    for device in 0..last {
        // 64 threads in each of 40 steps.
        let fetched = wrong.remove(&(last, device, "pointers[d]".to_owned()));
        assert_eq!(fetched, Some(40 * 64 * 8), "{device}");
    }
    assert_eq!(wrong, right);
    let fetches =
        rows.iter().filter(|row| row["object"] == "pointers[d]" && row["kind"] == "peer-load");
    for row in fetches {
        let text = std::fs::read_to_string(&row["file"]).unwrap();
        let line = text.lines().nth(number(row, "line") as usize - 1).unwrap();
        assert!(line.ends_with("// fetches the pointer"), "{line}");
    }
}

/// §5.2: which rows of the grid neighbours read.
#[test]
fn a_wrong_halo_shows_in_the_object() {
    const ROW: u64 = 64 * 8;
    let work = Work::new("stencil", Mpi::OpenMpi);
    for (program, says, from_above) in
        [("stencil", "right", 15), ("stencil_wrong_halo", "wrong", 14)]
    {
        let run = run(&work, program);
        run.says(says);
        let extents = table(&work, &run, "extents");
        let rows_of = |line: &str| -> BTreeSet<u64> {
            let text =
                std::fs::read_to_string(repository().join("examples/peer_traffic/stencil.cu"));
            let text = text.unwrap();
            let marked = text.lines().position(|text| text.ends_with(line)).unwrap() + 1;
            let wanted =
                |row: &&Row| row["kind"] == "peer-load" && row["line"] == marked.to_string();
            let read = extents.iter().filter(wanted);
            // A row without its ends, which are fixed.
            read.inspect(|row| assert_eq!(number(row, "bytes"), ROW - 16, "{row:?}"))
                .map(|row| number(row, "start") / ROW)
                .collect()
        };
        assert_eq!(rows_of("// reads from above"), BTreeSet::from([from_above]), "{program}");
        assert_eq!(rows_of("// reads from below"), BTreeSet::from([0]), "{program}");
    }
}

/// §5.4: data-parallel training moves gradients between neighbours by NCCL; the naive
/// model-parallel one makes all devices use the first one's memory.
#[test]
fn ways_to_train_show() {
    let work = Work::new("training", Mpi::OpenMpi);
    let data = run(&work, "training");
    data.says("right");
    let data = table(&work, &data, "transfers");
    assert_eq!(loads(&data), BTreeMap::new());
    let gradients: Vec<_> = data.iter().filter(|row| row["kind"] == "nccl").collect();
    assert!(!gradients.is_empty());
    let text =
        std::fs::read_to_string(repository().join("examples/peer_traffic/training.cu")).unwrap();
    let line = text.lines().position(|line| line.ends_with("// adds up gradients")).unwrap() + 1;
    assert!(gradients.iter().all(|row| row["line"] == line.to_string()), "{gradients:?}");
    let model = run(&work, "training_model_parallel");
    model.says("right");
    let rows = table(&work, &model, "transfers");
    assert!(rows.iter().all(|row| row["kind"] != "nccl"));
    let model = loads(&rows);
    assert!(model.keys().all(|(from, to, _)| *from == 0 && *to != 0), "{model:?}");
    let objects: BTreeSet<_> = model.keys().map(|(_, _, object)| object.as_str()).collect();
    let all = ["gradient[d]", "inputs[d]", "targets[d]", "weights[d]"];
    assert_eq!(objects, BTreeSet::from(all));
    // In each of 2 steps, 16 threads of each device read all samples' inputs for each weight, and
    // one more.
    let inputs = 2 * 16 * 64 * (64 + 1) * 4;
    for device in 1..DEVICES {
        assert_eq!(model[&(0, device, "inputs[d]".to_owned())], inputs);
    }
}
