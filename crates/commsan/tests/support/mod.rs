//! An installation of commsan in a temporary directory, with programs to run under it.
//!
//! The runtimes in it are stand-ins: each only leaves a file `entered-PID` in the run directory,
//! which says which runtime was loaded into which process.

#![allow(dead_code, reason = "every test binary uses another part")]

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

pub const MPIS: [&str; 2] = ["openmpi", "mpich"];

const STAND_IN: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
__attribute__((constructor)) static void enter(void) {
  char path[4096];
  snprintf(path, sizeof path, "%s/entered-%d", getenv("COMMSAN_RUN_DIR"), getpid());
  FILE *file = fopen(path, "w");
  if (file) {
    fprintf(file, "%s", FLAVOUR);
    fclose(file);
  }
}
"#;

/// Tells what it sees of arguments and environment; rank 0 also starts a helper.
const PROGRAM: &str = r#"
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char *preload = getenv("LD_PRELOAD");
  printf("rank %d of %d, %s with %d arguments, %s, %s, %s\n", rank, size, argv[0], argc - 1,
         preload && strstr(preload, "libcommsan_inject.so") ? "injector" : "no injector",
         preload && strstr(preload, "libcommsan_openmpi.so") ? "runtime" :
         preload && strstr(preload, "libcommsan_mpich.so") ? "runtime" : "no runtime",
         getenv("COMMSAN_PRELOAD_RESTORE") ? "left over" : "clean");
  fflush(stdout);
  if (rank == 0 && system("true") != 0) return 1;
  MPI_Finalize();
  return 0;
}
"#;

/// What is built once for all tests of a binary.
pub struct Installation {
    directory: tempfile::TempDir,
}

/// The installation.
pub fn installation() -> &'static Installation {
    static ONCE: OnceLock<Installation> = OnceLock::new();
    ONCE.get_or_init(|| {
        let directory = tempfile::tempdir().unwrap();
        let it = Installation { directory };
        fs::create_dir(it.lib()).unwrap();
        fs::copy(injector(), it.lib().join("libcommsan_inject.so")).unwrap();
        let write = |name: &str, text: &str| fs::write(it.path(name), text).unwrap();
        write("stand_in.c", STAND_IN);
        write("program.c", PROGRAM);
        for mpi in MPIS {
            let flavour = format!("-DFLAVOUR=\"{mpi}\"");
            let compiler = format!("mpicc.{mpi}");
            let runtime = it.lib().join(format!("libcommsan_{mpi}.so"));
            it.compile(&compiler, "stand_in.c", &runtime, &["-shared", "-fPIC", &flavour]);
            it.compile(&compiler, "program.c", &it.program(mpi), &["-g"]);
        }
        it
    })
}

impl Installation {
    /// A file of the installation.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Directory of the libraries.
    pub fn lib(&self) -> PathBuf {
        self.path("lib")
    }

    /// The test program, built with `mpi`.
    pub fn program(&self, mpi: &str) -> PathBuf {
        self.path(&format!("app-{mpi}"))
    }

    /// Compiles with `mpicc.openmpi`, `gcc`, …, keeping unused libraries.
    pub fn compile(&self, compiler: &str, source: &str, output: &Path, options: &[&str]) {
        let result = Command::new(compiler)
            .args(["-Wl,--no-as-needed", "-o"])
            .arg(output)
            .arg(self.path(source))
            .args(options)
            .output()
            .unwrap_or_else(|error| panic!("{compiler}: {error}; `make setup` installs it"));
        assert!(result.status.success(), "{}", String::from_utf8_lossy(&result.stderr));
    }
}

/// Builds the injector like the `commsan` under test.
fn injector() -> PathBuf {
    let profile = Path::new(env!("CARGO_BIN_EXE_commsan")).parent().unwrap();
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    cargo.args(["build", "-q", "-p", "commsan-preload", "--target-dir"]);
    cargo.arg(profile.parent().unwrap()).current_dir(env!("CARGO_MANIFEST_DIR"));
    if profile.file_name() == Some(OsStr::new("release")) {
        cargo.arg("--release");
    }
    assert!(cargo.status().unwrap().success());
    profile.join("libcommsan_inject.so")
}

/// An empty directory to run commsan in.
pub struct Place {
    pub directory: tempfile::TempDir,
}

impl Place {
    pub fn new() -> Place {
        Place { directory: tempfile::tempdir().unwrap() }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// `PROGRAM arguments…` in this place, with the installation in the environment.
    pub fn command<A: AsRef<OsStr>>(&self, program: &str, arguments: &[A]) -> Command {
        let mut path =
            Path::new(env!("CARGO_BIN_EXE_commsan")).parent().unwrap().to_owned().into_os_string();
        path.push(":");
        path.push(std::env::var_os("PATH").unwrap_or_default());
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy().into_owned();
            if name.starts_with("COMMSAN_") || name == "LD_PRELOAD" {
                command.env_remove(name);
            }
        }
        command
            .args(arguments)
            .current_dir(&self.directory)
            .env("PATH", path)
            .env("COMMSAN_LIB", installation().lib())
            .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
            .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
            .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
            .env("OMPI_MCA_btl_vader_single_copy_mechanism", "none")
            .stdin(Stdio::null());
        command
    }

    /// `commsan arguments…` in this place.
    pub fn commsan<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Command {
        self.command(env!("CARGO_BIN_EXE_commsan"), arguments)
    }

    /// Names of the files in the run directory `run` that begin with `start`.
    pub fn files(&self, run: &str, start: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(run)).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with(start)).collect()
    }

    /// The runtimes that were loaded in the run `run`, one for each process.
    pub fn entered(&self, run: &str) -> Vec<String> {
        let files = self.files(run, "entered-");
        files.iter().map(|name| fs::read_to_string(self.path(run).join(name)).unwrap()).collect()
    }
}

/// What a command printed and how it ended.
pub struct Outcome {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Outcome {
    /// Fails unless standard error contains `text`.
    #[track_caller]
    pub fn says(&self, text: &str) -> &Outcome {
        assert!(self.err.contains(text), "`{text}` is not in:\n{}", self.err);
        self
    }

    /// Fails unless the exit code is `code`.
    #[track_caller]
    pub fn ends_with(&self, code: i32) -> &Outcome {
        assert_eq!(self.code, Some(code), "out:\n{}\nerr:\n{}", self.out, self.err);
        self
    }
}

/// Runs `command` to its end.
pub fn outcome(command: &mut Command) -> Outcome {
    let Output { status, stdout, stderr } = command.output().unwrap();
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    Outcome { code: status.code(), out: text(&stdout), err: text(&stderr) }
}
