//! The CUDA programs under `examples/`, on simulated devices: the right ones are clean with both MPIs, and
//! each synchronisation that is left out is found. `make build` and `scripts/cuda.sh` first.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const MPIS: [&str; 2] = ["openmpi", "mpich"];

/// An example: its directory, its program, its ranks.
type Example = (&'static str, &'static str, u32);
const JACOBI: Example = ("jacobi_cuda", "jacobi", 2);
const CG: Example = ("cg_cuda", "cg", 4);

/// Which synchronisation is left out, and the code of what is found then.
const BROKEN: [(Example, u32, &str); 10] = [
    (JACOBI, 1, "CS-GPU-01"),
    (JACOBI, 2, "CS-GPU-03"),
    (JACOBI, 3, "CS-GPU-03"),
    (JACOBI, 4, "CS-GPU-02"),
    (CG, 1, "CS-GPU-01"),
    (CG, 2, "CS-GPU-04"),
    (CG, 3, "CS-GPU-03"),
    (CG, 4, "CS-GPU-04"),
    (CG, 5, "CS-GPU-01"),
    (CG, 6, "CS-GPU-03"),
];

#[test]
fn the_right_ones_are_clean() {
    for example in [JACOBI, CG] {
        for mpi in MPIS {
            let directory = build(example, mpi, 0);
            for seed in ["0", "1"] {
                let output = run(example, mpi, &directory, seed);
                assert!(output.status.success(), "{}", text(&output));
                assert!(text(&output).contains(": right"), "{}", text(&output));
            }
        }
    }
}

#[test]
fn each_missing_synchronisation_is_found() {
    for (index, (example, number, code)) in BROKEN.into_iter().enumerate() {
        let mpi = MPIS[index % 2];
        let directory = build(example, mpi, number);
        let output = run(example, mpi, &directory, "0");
        let what = format!("{} with BREAK={number}, {mpi}:\n{}", example.1, text(&output));
        assert_eq!(output.status.code(), Some(66), "{what}");
        let report = std::fs::read_to_string(directory.join("run/report.json")).unwrap();
        assert!(report.contains(code), "no {code}: {what}");
    }
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn commsan() -> PathBuf {
    let commsan = repository().join("target/dist/bin/commsan");
    assert!(commsan.is_file(), "{} is missing; run `make build`", commsan.display());
    commsan
}

/// Builds an example without a synchronisation, or with all for 0; gives where it is.
fn build((source, _, _): Example, mpi: &str, without: u32) -> PathBuf {
    let installed = repository().join("target/cuda/bin/nvcc");
    let nvcc = std::env::var_os("NVCC").map_or(installed, PathBuf::from);
    assert!(nvcc.is_file(), "{} is missing; run `scripts/cuda.sh`", nvcc.display());
    let directory = repository().join("target/cases/examples").join(source);
    let directory = directory.join(format!("{mpi}-{without}"));
    let output = Command::new("make")
        .args(["-s", "-B", "-C"])
        .arg(repository().join("examples").join(source))
        .arg(format!("BUILD={}", directory.display()))
        .arg(format!("NVCC={} nvcc {}", commsan().display(), nvcc.display()))
        .arg(format!("CCBIN=mpicxx.{mpi}"))
        .arg(format!("BREAK={without}"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", text(&output));
    directory
}

/// Runs it with two simulated devices.
fn run((_, program, ranks): Example, mpi: &str, directory: &Path, seed: &str) -> Output {
    let report = directory.join("run");
    if report.exists() {
        std::fs::remove_dir_all(&report).unwrap();
    }
    Command::new("timeout")
        .arg("60")
        .arg(commsan())
        .args(["run", "--gpu", "sim:2", "--gpu-seed", seed, "--output"])
        .arg(&report)
        .args(["--", &format!("mpirun.{mpi}"), "-n", &ranks.to_string()])
        .arg(directory.join(program))
        .env_remove("COMMSAN_OPTIONS")
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
        .env("OMPI_MCA_mpi_yield_when_idle", "1")
        .output()
        .unwrap()
}

fn text(output: &Output) -> String {
    let both = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8_lossy(&both).into_owned()
}
