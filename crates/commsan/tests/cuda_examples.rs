//! The CUDA programs under `examples/`, on simulated devices: the right ones are clean with both
//! MPIs, and each synchronisation that is left out is found. `make build` and `scripts/cuda.sh`
//! first.

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

/// clang's own CUDA: kernels as they are, the host's code with hooks, optimized or not.
#[test]
fn clang_compiles_kernels_and_the_host_is_checked() {
    let toolkit = clang_toolkit();
    for (index, optimization) in ["-O0", "-O2"].into_iter().enumerate() {
        let mpi = MPIS[index];
        let build = |program: &str, option: &str| {
            let program = toolkit.join(program);
            let mut command = Command::new(commsan());
            command.args(["cxx", &format!("mpicxx.{mpi}"), optimization, option, "-o"]);
            command.arg(&program).arg(repository().join("tests/clang_cuda/exchange.cu"));
            command.arg(format!("--cuda-path={}", toolkit.display()));
            // No headers and libraries of CUDA, which clang does not know so new; ptxas is.
            command.args(["--cuda-gpu-arch=sm_75", "-nocudainc", "-nocudalib"]);
            command.args(["-Xclang", "-target-sdk-version=12.4", "-Wno-unknown-cuda-version"]);
            command.arg(cuda().join("lib/libcudart.so.13"));
            let compilers = [("OMPI_CXX", "clang++-19"), ("MPICH_CXX", "clang++-19")];
            let output = command.envs(compilers).env("CUDA_HOME", cuda()).output().unwrap();
            assert!(output.status.success(), "{}", text(&output));
            assert!(!text(&output).contains("unchanged"), "{}", text(&output));
        };
        build("exchange", "-DWAIT");
        let right = run(("clang", "exchange", 2), mpi, &toolkit, "0");
        assert!(right.status.success(), "{mpi} {optimization}: {}", text(&right));
        build("early", "-DEARLY");
        let early = run(("clang", "early", 2), mpi, &toolkit, "0");
        let told = text(&early);
        assert_eq!(early.status.code(), Some(66), "{mpi} {optimization}: {told}");
        for part in ["error[CS-GPU-02]", "error[CS-GPU-03]", "exchange.cu:26:", "a[i] = i + 1;"] {
            assert!(told.contains(part), "{mpi} {optimization}: no {part}: {told}");
        }
    }
}

/// What clang takes for a toolkit of CUDA 12.
fn clang_toolkit() -> PathBuf {
    let (toolkit, sources) =
        (repository().join("target/cases/clang_cuda"), repository().join("tests/clang_cuda"));
    let links = [
        (cuda().join("bin/ptxas"), "bin/ptxas"),
        (cuda().join("nvvm"), "nvvm"),
        (sources.join("fatbinary"), "bin/fatbinary"),
        (sources.join("cuda.h"), "include/cuda.h"),
    ];
    for (source, name) in links {
        let link = toolkit.join(name);
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        let _ = std::fs::remove_file(&link);
        std::os::unix::fs::symlink(source, link).unwrap();
    }
    toolkit
}

/// The toolkit that is there.
fn cuda() -> PathBuf {
    nvcc().canonicalize().unwrap().ancestors().nth(2).unwrap().to_owned()
}

fn nvcc() -> PathBuf {
    let installed = repository().join("target/cuda/bin/nvcc");
    let nvcc = std::env::var_os("NVCC").map_or(installed, PathBuf::from);
    assert!(nvcc.is_file(), "{} is missing; run `scripts/cuda.sh`", nvcc.display());
    nvcc
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
    let nvcc = nvcc();
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
