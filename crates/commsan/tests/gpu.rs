//! `--gpu`: programs get the CUDA runtime with simulated devices, wherever they would find another
//! one.
//!
//! The runtimes here are stand-ins, which say which one they are.

mod support;

use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;
use support::{MPIS, Place, installation, outcome};

const PROGRAM: &str = r#"
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
const char *which(void);
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  const char *gpu = getenv("COMMSAN_GPU"), *seed = getenv("COMMSAN_GPU_SEED");
  printf("%s %s %s\n", which(), gpu ? gpu : "unset", seed ? seed : "unset");
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
"#;

/// What nvcc leaves in a program whose runtime is linked in.
const LINKED_IN: &str = r#"
#include <mpi.h>
__attribute__((section(".nv_fatbin"), used)) static const char code[64] = {1};
int main(int argc, char **argv) { MPI_Init(&argc, &argv); MPI_Finalize(); return 3; }
"#;

/// Directory of the runtime that stands for the real one.
fn real() -> &'static PathBuf {
    static ONCE: OnceLock<PathBuf> = OnceLock::new();
    ONCE.get_or_init(|| {
        let it = installation();
        let (real, simulated) = (it.path("real"), it.lib().join("simgpu"));
        fs::write(it.path("gpu.c"), PROGRAM).unwrap();
        fs::write(it.path("linked_in.c"), LINKED_IN).unwrap();
        for (directory, name) in [(&real, "real"), (&simulated, "simulated")] {
            fs::create_dir(directory).unwrap();
            let text = format!("const char *which(void) {{ return \"{name}\"; }}\n");
            fs::write(it.path("cudart.c"), text).unwrap();
            let library = directory.join("libcudart.so.13");
            let options = ["-shared", "-fPIC", "-Wl,-soname,libcudart.so.13"];
            it.compile("gcc", "cudart.c", &library, &options);
        }
        let library = real.join("libcudart.so.13").display().to_string();
        let path = format!("-Wl,--disable-new-dtags,-rpath,{}", real.display());
        for mpi in MPIS {
            let compiler = format!("mpicc.{mpi}");
            it.compile(&compiler, "gpu.c", &it.path(&format!("gpu-{mpi}")), &[&library, &path]);
            it.compile(&compiler, "gpu.c", &it.path(&format!("lost-{mpi}")), &[&library]);
            it.compile(&compiler, "linked_in.c", &it.path(&format!("linked_in-{mpi}")), &[]);
        }
        real
    })
}

/// What two ranks print under `commsan options… -- mpirun -n 2 program`.
#[track_caller]
fn printed(mpi: &str, program: &str, options: &[&str], variable: Option<&str>) -> String {
    real();
    let place = Place::new();
    let program = installation().path(&format!("{program}-{mpi}"));
    let launcher = format!("mpirun.{mpi}");
    let command = ["--", &launcher, "-n", "2", program.to_str().unwrap()];
    let run = ["run", "--quiet", "--output", "r"];
    let mut command = place.commsan(&[&run[..], options, &command[..]].concat());
    command.env_remove("LD_LIBRARY_PATH");
    command.envs(variable.map(|value| ("COMMSAN_GPU", value)));
    let result = outcome(&mut command);
    assert_eq!(result.code, Some(0), "{}", result.err);
    assert_eq!(place.entered("r"), [mpi, mpi]);
    let mut lines: Vec<&str> = result.out.lines().collect();
    lines.dedup();
    lines.join("; ")
}

#[test]
fn simulated_devices_go_before_a_runtime_that_the_program_names_by_its_path() {
    for mpi in MPIS {
        let options = ["--gpu", "sim:3", "--gpu-seed", "7"];
        assert_eq!(printed(mpi, "gpu", &options, None), "simulated sim:3 7");
        assert_eq!(printed(mpi, "gpu", &["--gpu", "real"], Some("sim:3")), "real unset unset");
        assert_eq!(printed(mpi, "gpu", &[], None), "real unset unset");
        assert_eq!(printed(mpi, "gpu", &[], Some("sim:2")), "simulated sim:2 unset");
    }
}

#[test]
fn a_program_that_finds_no_runtime_starts_with_the_simulated_one() {
    for mpi in MPIS {
        assert_eq!(printed(mpi, "lost", &["--gpu", "sim:1"], None), "simulated sim:1 0");
    }
}

#[test]
fn exec_gives_its_rank_the_devices_too() {
    real();
    let place = Place::new();
    let program = installation().path("gpu-mpich");
    let program = program.to_str().unwrap();
    let exec = env!("CARGO_BIN_EXE_commsan");
    let command = ["-n", "2", exec, "exec", "--gpu=sim:2", "--output=r", "--", program];
    let result = outcome(&mut place.command("mpirun.mpich", &command));
    assert_eq!(result.ends_with(0).out, "simulated sim:2 0\n".repeat(2));
    // Below `run`, `exec` keeps what that has chosen.
    let command = ["run", "--gpu=sim:4", "--output=s", "--", exec, "exec", "--", program];
    let result = outcome(&mut place.commsan(&command));
    assert_eq!(result.ends_with(0).out, "simulated sim:4 0\n");
}

#[test]
fn what_simulated_devices_cannot_serve_is_said_before_the_run() {
    real();
    let place = Place::new();
    let program = installation().path("linked_in-mpich");
    let program = program.to_str().unwrap();
    outcome(&mut place.commsan(&["run", "--gpu", "sim:1", "--output", "r", "--", program]))
        .ends_with(3)
        .says("is statically linked with the CUDA runtime")
        .says("-cudart shared");
    let doctor = outcome(&mut place.commsan(&["doctor", program]));
    assert!(doctor.out.contains("is statically linked with the CUDA runtime"), "{}", doctor.out);
    outcome(&mut place.commsan(&["run", "--gpu", "four", "--", program]))
        .ends_with(2)
        .says("`sim:N` with up to 64 devices");
}
