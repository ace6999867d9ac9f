//! Programs compiled and run by the commsan that `make build` has built, with its runtimes.
//!
//! `COMMSAN=/path/to/commsan` tests another one than `target/dist/bin/commsan`.

#![allow(dead_code, reason = "every test binary uses another part")]

#[path = "launchers.rs"]
pub mod launchers;

pub use commsan_mpi_calls::abi::MpiFamily as Mpi;
use serde_json::Value;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// What takes longer hangs: much more than any needs, for machines may be slow and busy.
const LIMIT: Duration = Duration::from_secs(300);

/// The families of which the distribution has a library.
pub const MPIS: [Mpi; 2] = [Mpi::OpenMpi, Mpi::Mpich];

/// The commands of an MPI library as Debian installs them: suffixes distinguish the libraries.
pub trait Installed {
    /// `mpicc.openmpi` and the like.
    fn tool(self, name: &str) -> String;
    /// The name of the library's file.
    fn library(self) -> &'static str;
}

impl Installed for Mpi {
    fn tool(self, name: &str) -> String {
        format!("{name}.{}", self.key())
    }

    fn library(self) -> &'static str {
        match self {
            Mpi::OpenMpi => "libmpi.so.40",
            Mpi::Mpich => "libmpich.so.12",
            Mpi::Standard => "libmpi_abi.so.1",
        }
    }
}

/// A directory to compile and run in.
pub struct Work {
    pub mpi: Mpi,
    pub directory: tempfile::TempDir,
    commsan: PathBuf,
}

/// A command that ended.
pub struct Run {
    /// Exit code; `None` after a signal or at the limit.
    pub code: Option<i32>,
    pub hung: bool,
    pub out: String,
    pub err: String,
    pub command: String,
    /// The run directory.
    pub directory: PathBuf,
}

impl Work {
    pub fn new(name: &str, mpi: Mpi) -> Work {
        let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/dist/bin/commsan");
        let commsan = std::env::var_os("COMMSAN").map_or(built, PathBuf::from);
        assert!(commsan.is_file(), "{} is missing; run `make build`", commsan.display());
        let commsan = commsan.canonicalize().unwrap();
        let directory = tempfile::Builder::new().prefix(name).tempdir().unwrap();
        Work { mpi, directory, commsan }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Compiles a source under `tests` by `commsan cc`: with gcc for Open MPI, clang for MPICH.
    pub fn compile(&self, source: &str, options: &[&str]) -> PathBuf {
        let program = self.path(Path::new(source).file_stem().unwrap().to_str().unwrap());
        self.compile_as(&program, source, options);
        program
    }

    /// Likewise, into `program`.
    pub fn compile_as(&self, program: &Path, source: &str, options: &[&str]) {
        let mut command = self.commsan(&["cc", &self.mpi.tool("mpicc"), "-O1"]);
        self.build(&mut command, program, source, options);
    }

    /// Compiles as if there were no commsan.
    pub fn compile_plain(&self, program: &Path, source: &str, options: &[&str]) {
        let mut command = self.command(&self.mpi.tool("mpicc"), &["-O1"]);
        self.build(&mut command, program, source, options);
    }

    fn build(&self, command: &mut Command, program: &Path, source: &str, options: &[&str]) {
        let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests");
        let source = tests.join(source).canonicalize().unwrap();
        command.args(options).arg("-o").arg(program).arg(source);
        let result = finish(command, self.path("run"));
        assert!(result.code == Some(0), "{}", result.text());
    }

    /// Runs `program` with so many ranks under `commsan run`.
    pub fn run(&self, options: &[&str], ranks: u32, program: &Path, arguments: &[&str]) -> Run {
        let (launcher, ranks) = (self.mpi.tool("mpirun"), ranks.to_string());
        let mut job = vec![launcher.as_str(), "-n", &ranks, program.to_str().unwrap()];
        job.extend(arguments);
        self.run_job(options, &job)
    }

    /// Runs any command under `commsan run`; again if the launcher hung.
    pub fn run_job(&self, options: &[&str], job: &[&str]) -> Run {
        match self.run_once(options, job) {
            run if launchers::hung(&run.err) => self.run_once(options, job),
            run => run,
        }
    }

    fn run_once(&self, options: &[&str], job: &[&str]) -> Run {
        let directory = self.fresh("run");
        let run = ["run", "--output", directory.to_str().unwrap()];
        let command = [&run[..], options, &["--"], job].concat();
        finish(&mut self.commsan(&command), directory)
    }

    /// Runs a command to its end or the limit.
    pub fn finish(&self, command: &mut Command) -> Run {
        finish(command, self.path("run"))
    }

    /// A path in this directory that is not taken.
    pub fn fresh(&self, name: &str) -> PathBuf {
        let names = (0..).map(|n| self.path(&format!("{name}-{n}")));
        names.into_iter().find(|path| !path.exists()).unwrap()
    }

    pub fn commsan<A: AsRef<OsStr>>(&self, arguments: &[A]) -> Command {
        self.command(self.commsan.to_str().unwrap(), arguments)
    }

    /// A command in this directory, with what launchers and compilers need.
    pub fn command<A: AsRef<OsStr>>(&self, program: &str, arguments: &[A]) -> Command {
        let mut command = Command::new(program);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("COMMSAN") || name == "LD_PRELOAD" {
                command.env_remove(name);
            }
        }
        command.args(arguments).current_dir(&self.directory).stdin(Stdio::null());
        command.env("NO_COLOR", "1").env("MPICH_CC", clang()).env("OMPI_CC", "gcc");
        // More ranks than cores, also for root in a container.
        command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        command.env("OMPI_MCA_rmaps_base_oversubscribe", "1");
        command.env("OMPI_MCA_hwloc_base_binding_policy", "none");
        command.env("OMPI_MCA_mpi_yield_when_idle", "1");
        command
    }
}

impl Run {
    /// Everything, for a failure.
    pub fn text(&self) -> String {
        let hung = if self.hung { ", hung" } else { "" };
        let (code, out, err) = (self.code, &self.out, &self.err);
        format!("$ {}\nexit code {code:?}{hung}\nout:\n{out}\nerr:\n{err}", self.command)
    }

    /// Fails unless the exit code is `code`.
    #[track_caller]
    pub fn ends_with(&self, code: i32) -> &Run {
        assert!(self.code == Some(code), "not exit code {code}\n{}", self.text());
        self
    }

    /// Fails unless standard output or standard error contains `text`.
    #[track_caller]
    pub fn says(&self, text: &str) -> &Run {
        let said = self.out.contains(text) || self.err.contains(text);
        assert!(said, "`{text}` is missing\n{}", self.text());
        self
    }

    /// Fails if standard output or standard error contains `text`.
    #[track_caller]
    pub fn is_silent_about(&self, text: &str) -> &Run {
        let said = self.out.contains(text) || self.err.contains(text);
        assert!(!said, "`{text}` is too much\n{}", self.text());
        self
    }

    /// The records of a rank's log.
    #[track_caller]
    pub fn log(&self, rank: u32) -> Vec<Value> {
        let path = self.directory.join(format!("rank-{rank}.jsonl"));
        let text = fs::read_to_string(&path);
        let text = text.unwrap_or_else(|e| panic!("{}: {e}\n{}", path.display(), self.text()));
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[track_caller]
    pub fn report(&self) -> Value {
        let path = self.directory.join("report.json");
        let text = fs::read_to_string(&path);
        let text = text.unwrap_or_else(|e| panic!("{}: {e}\n{}", path.display(), self.text()));
        serde_json::from_str(&text).unwrap()
    }

    /// Codes of the findings, with the functions of their first sites: `CS-BUF-01 main`.
    #[track_caller]
    pub fn findings(&self) -> Vec<String> {
        let report = self.report();
        let findings = report["findings"].as_array().unwrap().iter();
        let words = |finding: &Value| {
            let function = finding["sites"][0]["function"].as_str().unwrap_or("?");
            format!("{} {function}", finding["code"].as_str().unwrap())
        };
        findings.map(words).collect()
    }

    /// Fails unless these are the findings.
    #[track_caller]
    pub fn finds(&self, expected: &[&str]) -> &Run {
        let findings = self.findings();
        assert!(findings == expected, "found {findings:?}, not {expected:?}\n{}", self.text());
        self
    }

    /// Texts of the report's notes, each with its ranks: `[1] ended …`.
    #[track_caller]
    pub fn notes(&self) -> Vec<String> {
        let report = self.report();
        let notes = report["run"]["notes"].as_array().unwrap().iter();
        notes.map(|note| format!("{} {}", note["ranks"], note["text"].as_str().unwrap())).collect()
    }
}

fn clang() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let versions = (14..=30).rev().map(|version| format!("clang-{version}"));
    let names = versions.chain(["clang".to_owned()]);
    let mut found = names.flat_map(|name| {
        std::env::split_paths(&path)
            .map(move |directory| directory.join(&name))
            .find(|f| f.is_file())
    });
    found.next().expect("clang is missing; `make setup` installs it")
}

/// Runs a command to its end or the limit, then with all it has started.
fn finish(command: &mut Command, directory: PathBuf) -> Run {
    let logs = tempfile::tempdir().unwrap();
    let (out, err) = (logs.path().join("out"), logs.path().join("err"));
    command.stdout(File::create(&out).unwrap()).stderr(File::create(&err).unwrap());
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let shown = words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ");
    let mut child =
        command.process_group(0).spawn().unwrap_or_else(|error| panic!("{shown}: {error}"));
    let status = wait(&mut child, LIMIT);
    if status.is_none() {
        for (signal, patience) in [(libc::SIGTERM, 5), (libc::SIGKILL, 5)] {
            // SAFETY: `kill` takes no memory; the group is the child's, which is not reaped.
            unsafe { libc::kill(-(child.id() as libc::pid_t), signal) };
            if wait(&mut child, Duration::from_secs(patience)).is_some() {
                break;
            }
        }
    }
    let text = |path| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned();
    Run {
        code: status.and_then(|status| status.code()),
        hung: status.is_none(),
        out: text(out),
        err: text(err),
        command: shown,
        directory,
    }
}

fn wait(child: &mut Child, limit: Duration) -> Option<ExitStatus> {
    let end = Instant::now() + limit;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(status),
            Ok(None) if Instant::now() < end => std::thread::sleep(Duration::from_millis(10)),
            _ => return None,
        }
    }
}
