//! `commsan run --stats`: what is counted, in programs whose numbers are known. `make build` and
//! `scripts/cuda.sh` first.

#[path = "support/built.rs"]
mod built;

use built::{MPIS, Mpi, Run, Work};
use serde_json::{Value, json};
use std::path::PathBuf;

/// The numbers under a path of words joined by dots: in total, then of each rank.
#[track_caller]
fn counted(run: &Run, key: &str) -> (Value, Vec<Value>) {
    let stats = &run.report()["stats"];
    let at = |counts: &Value| key.split('.').fold(counts.clone(), |at, word| at[word].clone());
    let ranks = stats["ranks"].as_array().unwrap_or_else(|| panic!("no stats\n{}", run.text()));
    (at(&stats["total"]), ranks.iter().map(|rank| at(&rank["counts"])).collect())
}

/// Fails unless two ranks have these numbers, and the total is their sum.
#[track_caller]
fn has(run: &Run, key: &str, ranks: [u64; 2]) {
    let expected = (json!(ranks[0] + ranks[1]), ranks.map(|count| json!(count)).to_vec());
    assert_eq!(counted(run, key), expected, "{key}\n{}", run.text());
}

/// Fails unless both ranks have made these calls, each so often.
#[track_caller]
fn calls(run: &Run, group: &str, expected: &[(&str, [u64; 2])]) {
    for (name, ranks) in expected {
        let (total, of_ranks) = counted(run, &format!("mpi.calls.{group}.MPI_{name}"));
        assert_eq!(total, ranks[0] + ranks[1], "{name}");
        // What a rank has never called is not there.
        let of_ranks: Vec<_> = of_ranks.iter().map(|count| count.as_u64().unwrap_or(0)).collect();
        assert_eq!(of_ranks, ranks, "{name}");
    }
    let (total, _) = counted(run, &format!("mpi.calls.{group}"));
    assert_eq!(total.as_object().map_or(0, |names| names.len()), expected.len(), "{total}");
}

fn program(mpi: Mpi) -> (Work, PathBuf) {
    let work = Work::new("stats", mpi);
    let program = work.compile("stats/counted.c", &["-g", "-pthread"]);
    (work, program)
}

#[test]
fn calls_operations_windows_epochs_and_threads_have_their_exact_numbers() {
    for mpi in MPIS {
        let (work, program) = program(mpi);
        let run = work.run(&["--stats"], 2, &program, &[]);
        run.ends_with(0).finds(&[]).says("what was watched, in 2 ranks");
        let stats = &run.report()["stats"];
        assert!(stats.get("missing").is_none());
        assert!(stats["ranks"].as_array().unwrap().iter().all(|rank| rank["complete"] == true));

        calls(
            &run,
            "point_to_point",
            &[
                ("Isend", [10, 10]),
                ("Irecv", [10, 10]),
                ("Sendrecv", [4, 4]),
                ("Send", [1, 1]),
                ("Recv", [1, 1]),
                ("Send_init", [1, 0]),
                ("Recv_init", [0, 1]),
            ],
        );
        calls(
            &run,
            "request",
            &[("Waitall", [10, 10]), ("Wait", [5, 5]), ("Start", [4, 4]), ("Request_free", [1, 1])],
        );
        let collectives =
            [("Bcast", [1, 1]), ("Allreduce", [1, 1]), ("Ibarrier", [1, 1]), ("Barrier", [3, 3])];
        calls(&run, "collective", &collectives);
        calls(
            &run,
            "one_sided",
            &[
                ("Win_create", [1, 1]),
                ("Win_fence", [2, 2]),
                ("Win_lock", [1, 0]),
                ("Win_unlock", [1, 0]),
                ("Win_lock_all", [1, 1]),
                ("Win_unlock_all", [1, 1]),
                ("Win_start", [1, 0]),
                ("Win_complete", [1, 0]),
                ("Win_post", [0, 1]),
                ("Win_wait", [0, 1]),
                ("Win_free", [1, 1]),
                ("Put", [2, 0]),
                ("Get", [1, 0]),
                ("Accumulate", [1, 0]),
            ],
        );
        let others = [("Init_thread", [1, 1]), ("Finalize", [1, 1])];
        calls(&run, "other", &others);
        let groups = [("Comm_rank", [1, 1]), ("Comm_group", [1, 1])];
        calls(
            &run,
            "communicator",
            &[&groups[..], &[("Group_incl", [1, 1]), ("Group_free", [2, 2])]].concat(),
        );

        // A message to or from MPI_PROC_NULL is none.
        for (key, ranks) in [
            ("sends.started", [18, 14]),
            ("sends.nonblocking", [14, 10]),
            ("sends.bytes", [11_224, 8_024]),
            ("receives.started", [14, 18]),
            ("receives.nonblocking", [10, 14]),
            ("receives.bytes", [8_024, 11_224]),
            ("collectives.started", [6, 6]),
            ("collectives.nonblocking", [1, 1]),
            ("collectives.bytes", [840, 840]),
            ("puts.started", [2, 0]),
            ("puts.nonblocking", [0, 0]),
            ("puts.bytes", [88, 0]),
            ("gets.started", [1, 0]),
            ("gets.bytes", [160, 0]),
            ("accumulates.started", [1, 0]),
            ("accumulates.bytes", [8, 0]),
            ("file_reads.started", [0, 0]),
        ] {
            has(&run, &format!("mpi.operations.{key}"), ranks);
        }
        has(&run, "mpi.windows.created", [1, 1]);
        has(&run, "mpi.windows.bytes", [800, 800]);
        for (kind, ranks) in [
            ("fence", [1, 1]),
            ("access", [1, 0]),
            ("exposure", [0, 1]),
            ("lock", [1, 0]),
            ("lock_all", [1, 1]),
        ] {
            has(&run, &format!("mpi.epochs.{kind}"), ranks);
        }
        has(&run, "threads.created", [3, 3]);
        has(&run, "mpi.threads.beside", [3, 3]);
        has(&run, "mpi.threads.region", [0, 0]);
        assert!(counted(&run, "modules.instrumented").1.iter().all(|count| *count == 1));
        // An isend and an irecv were pending at a time.
        assert!(counted(&run, "memory.live_ranges").0.as_u64().unwrap() >= 2);
        assert!(counted(&run, "memory.marked_pages").0.as_u64().unwrap() >= 1);
        assert!(counted(&run, "memory.exposed_pages").0.as_u64().unwrap() >= 1);
        assert!(counted(&run, "memory.peak_rss_bytes").0.as_u64().unwrap() > 1 << 20);
        assert_eq!(counted(&run, "cuda").0, Value::Null);
    }
}

#[test]
fn counting_changes_no_finding_and_is_off_by_default() {
    for mpi in MPIS {
        let (work, program) = program(mpi);
        let found = |options: &[&str]| {
            let run = work.run(options, 2, &program, &["wrong"]);
            run.ends_with(66).finds(&["CS-BUF-01 main"]);
            run
        };
        let (with, without) = (found(&["--stats"]), found(&[]));
        let sites = |run: &Run| run.report()["findings"][0]["sites"].clone();
        assert_eq!(sites(&with)[0]["line"], sites(&without)[0]["line"]);
        assert_eq!(sites(&with)[1]["line"], sites(&without)[1]["line"]);
        assert!(without.report().get("stats").is_none());
        without.is_silent_about("what was watched");
        // The store was checked.
        assert!(counted(&with, "accesses.checked.count").0.as_u64().unwrap() >= 2);
        assert!(counted(&with, "accesses.checked.bytes").0.as_u64().unwrap() >= 16);
        let quiet = work.run(&["--stats", "--quiet"], 2, &program, &["wrong"]);
        quiet.is_silent_about("what was watched").says("CS-BUF-01");
    }
}

#[test]
fn a_killed_rank_leaves_what_it_had_counted() {
    for mpi in MPIS {
        let work = Work::new("stats", mpi);
        let program = work.compile("stats/killed.c", &["-g"]);
        let run = work.run(&["--stats"], 2, &program, &[]);
        run.says("did not come to an end: counts are those of up to a minute before");
        let ranks = run.report()["stats"]["ranks"].clone();
        assert_eq!(ranks[1]["complete"], false, "{}", run.text());
        has(&run, "mpi.operations.sends.started", [0, 5]);
        has(&run, "mpi.operations.receives.started", [5, 0]);
        has(&run, "mpi.calls.communicator.MPI_Comm_rank", [2, 2]);
    }
}

/// Compiles a CUDA program without MPI, and runs it with two simulated devices.
fn on_devices(options: &[&str]) -> (Work, Run) {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let installed = root.join("target/cuda/bin/nvcc");
    let nvcc = std::env::var_os("NVCC").map_or(installed, PathBuf::from);
    assert!(nvcc.is_file(), "{} is missing; run `scripts/cuda.sh`", nvcc.display());
    let work = Work::new("stats", Mpi::OpenMpi);
    let program = work.path("devices");
    let source = root.join("tests/stats/devices.cu").canonicalize().unwrap();
    let mut compile = work.commsan(&["nvcc".as_ref(), nvcc.as_os_str()]);
    let ptx = ["-gencode", "arch=compute_90,code=compute_90", "-nodlink", "-std=c++14"];
    compile.args(ptx).args(["-O1", "-g", "-o"]).arg(&program).arg(source);
    work.finish(&mut compile).ends_with(0);
    let options = [&["--gpu", "sim:2"], options].concat();
    let run = work.run_job(&options, &[program.to_str().unwrap()]);
    (work, run)
}

#[test]
fn work_of_streams_has_its_exact_numbers() {
    let (_work, run) = on_devices(&["--stats"]);
    run.ends_with(0).finds(&[]).says("what was watched, in 1 rank");
    const BYTES: u64 = 4096;
    for (key, expected) in [
        ("streams.created", 2),
        // With the default stream of either device.
        ("streams.used", 4),
        ("streams.events", 1),
        ("streams.records", 2),
        ("streams.waits", 1),
        ("streams.host_functions", 0),
        ("synchronisations.device", 2),
        ("synchronisations.stream", 1),
        ("synchronisations.event", 1),
        ("synchronisations.queries", 1),
        ("synchronisations.copies", 1),
        ("kernels.launched", 4),
        ("kernels.unknown", 0),
        ("kernels.graphs", 0),
        ("copies.host_to_device.count", 1),
        ("copies.host_to_device.bytes", BYTES),
        ("copies.device_to_device.count", 1),
        ("copies.device_to_device.bytes", BYTES),
        ("copies.device_to_host.count", 1),
        ("copies.device_to_host.bytes", BYTES),
        ("copies.host_to_host.count", 0),
        ("copies.peer.count", 1),
        ("copies.peer.bytes", BYTES / 4),
        ("copies.managed.count", 0),
        ("memory.sets.count", 2),
        ("memory.sets.bytes", BYTES + BYTES / 2),
        ("memory.device.count", 3),
        ("memory.device.bytes", 3 * BYTES),
        ("memory.managed.count", 0),
        ("memory.pinned.count", 1),
        ("memory.pinned.bytes", BYTES),
        // Each kernel reads one array and writes another one, which it reads, too.
        ("ranges.read.count", 4 + 4),
        ("ranges.read.bytes", 4 * BYTES + 3 * BYTES + BYTES / 4),
        ("ranges.written.count", 4 + 4 + 2),
        ("ranges.written.bytes", 4 * BYTES + 3 * BYTES + BYTES / 4 + BYTES + BYTES / 2),
        ("calls.copy.cudaMemcpyAsync", 2),
        ("calls.copy.cudaMemcpyPeer", 1),
        ("calls.set.cudaMemset", 2),
        ("calls.synchronisation.cudaDeviceSynchronize", 2),
        ("calls.stream.cudaStreamWaitEvent", 1),
    ] {
        let found = counted(&run, &format!("cuda.{key}"));
        assert_eq!(found, (json!(expected), vec![json!(expected)]), "{key}\n{}", run.text());
    }
    assert_eq!(counted(&run, "mpi").0, Value::Null);
    let (_work, run) = on_devices(&[]);
    assert!(run.ends_with(0).finds(&[]).report().get("stats").is_none());
}
