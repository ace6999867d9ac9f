//! Simulated devices: copies, peer accesses, NCCL and NVSHMEM.

use super::totals;
use crate::built::{Installed, Mpi, Work};
use crate::profiled::{Row, number, nvcc, profile, profile_job, repository, table};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

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

/// NCCL's algorithms show in what devices move: in a ring each sends to the next alone, in the tree
/// of a node, which is a chain, each to both neighbours, and those at the ends to one. With N bytes
/// on p devices, the data is 2 (p - 1) / p N on each edge of the ring, and N each way along the
/// chain. Beside that there are counts of what is ready, which are few.
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

/// NVSHMEM's host calls: puts, gets and atomics from PE to PE, and collectives in their logical
/// shape, between the devices that the PEs have; the local end of a put may be on the host.
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

/// What kernels put, get and change at other PEs: from device to device, at the kernel's own lines,
/// whichever line of NVSHMEM's headers does it.
#[test]
fn transfers_of_kernels_that_call_nvshmem() {
    const PES: u32 = 3;
    let work = Work::new("kernel_puts", Mpi::OpenMpi);
    let program = cuda(&work, "kernel_puts.cu", &["-lnvshmem_host"]);
    let run = profile(&work, &["--gpu", "sim:3"], PES, &program, &[]);
    run.ends_with(0).says("right");
    let text = fs::read_to_string(repository().join("tests/profile/kernel_puts.cu")).unwrap();
    let line = |mark: &str| {
        let ends = |line: &str| line.ends_with(&format!("// {mark}"));
        (text.lines().position(ends).unwrap() + 1).to_string()
    };
    let gpu = |n: u32| format!("gpu {n}");
    let mut expected: BTreeMap<(String, String, String, String), u64> = BTreeMap::new();
    let mut moves = |mark: &str, kind: &str, from: u32, to: u32, bytes: u64| {
        let key = (line(mark), kind.to_owned(), gpu(from), gpu(to));
        *expected.entry(key).or_default() += bytes;
    };
    for me in 0..PES {
        let (right, left) = ((me + 1) % PES, (me + PES - 1) % PES);
        moves("values", "peer-store", me, right, 16 * 4);
        moves("row", "peer-store", me, right, 64 * 4);
        moves("back", "peer-load", left, me, 32 * 4);
        moves("counts", "peer-atomic", me, right, 3 * 8);
        moves("meets", "peer-store", me, right, 8);
        moves("meets", "peer-store", me, left, 8);
    }
    let rows = table(&work, &run, "transfers");
    let rows: Vec<_> = rows.iter().filter(|row| row["kind"].starts_with("peer-")).collect();
    let mut told: BTreeMap<(String, String, String, String), u64> = BTreeMap::new();
    for row in &rows {
        assert!(row["file"].ends_with("kernel_puts.cu"), "{row:?}");
        let [line, kind, source, target] =
            ["line", "kind", "source", "target"].map(|column| row[column].clone());
        *told.entry((line, kind, source, target)).or_default() += number(row, "bytes");
    }
    assert_eq!(told, expected);
    let of = |mark: &str, column: &str| {
        let at = line(mark);
        let rows = rows.iter().filter(|row| row["line"] == at);
        rows.map(|row| row[column].clone()).collect::<BTreeSet<_>>()
    };
    assert_eq!(of("row", "target_object"), ["field".to_owned()].into());
    assert_eq!(of("back", "object"), ["field".to_owned()].into());
}

/// Builds a CUDA program under `tests/profile`.
fn cuda(work: &Work, source: &str, libraries: &[&str]) -> PathBuf {
    build(work, &work.mpi.tool("mpicxx"), source, libraries)
}

/// Builds a CUDA program under `tests/profile` with this compiler for the host.
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

/// Whatever the call, source and target are the devices that own the memory.
#[test]
fn mpi_on_memory_of_devices_is_between_the_devices() {
    let work = Work::new("aware", Mpi::OpenMpi);
    let program = cuda(&work, "aware.cu", &[]);
    let run = profile(&work, &["--gpu", "sim:2"], 2, &program, &[]);
    run.ends_with(0);
    let rows = table(&work, &run, "transfers");
    let mut found: Vec<_> = rows
        .iter()
        .filter(|row| ["point-to-point", "collective", "rma"].contains(&&*row["kind"]))
        .map(|row| {
            let ends = format!("{} > {}", row["source"], row["target"]);
            (row["call"].clone(), ends, number(row, "bytes"))
        })
        .collect();
    found.sort();
    let row = |call: &str, ends: &str, bytes: u64| (call.to_owned(), ends.to_owned(), bytes);
    let expected = [
        row("MPI_Bcast", "gpu 0 > gpu 1", 400),
        row("MPI_Put", "gpu 0 > gpu 1", 40),
        row("MPI_Put", "gpu 1 > gpu 0", 40),
        row("MPI_Sendrecv", "gpu 0 > gpu 1", 800),
        row("MPI_Sendrecv", "gpu 0 > rank 1", 80),
        row("MPI_Sendrecv", "gpu 1 > gpu 0", 800),
        row("MPI_Sendrecv", "gpu 1 > rank 0", 80),
    ];
    assert_eq!(found, expected, "{rows:#?}");
}
