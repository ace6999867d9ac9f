//! `commsan exec`: one rank of a job that another program launches.
//!
//! Below `commsan run` it only ensures that the rank's environment is complete. Alone, all ranks of
//! the job must find one run directory without communication. Its name contains the [job's
//! identity](crate::job), the first rank creates it for all, and `run.json` in it identifies the
//! job.

use crate::exit_code;
use crate::failure::{Failure, note};
use crate::install::job_environment;
use crate::settings::Settings;
use crate::{child, program};
use commsan_rundir::{RunDirectory, RunInfo};
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Key in `run.json` for the job's identity.
const JOB: &str = "job";

/// How long to wait for the rank that creates the directory; shared file systems lag.
const DIRECTORY_TIMEOUT: Duration = Duration::from_secs(20);

/// Replaces this process by `command`, checked.
pub fn main(settings: &Settings, command: &[OsString]) -> Result<ExitCode, Failure> {
    let Some(first) = command.first() else {
        return Err(Failure::new(exit_code::USAGE, "no command was given")
            .help("put it after `--`: `commsan exec -- ./app`"));
    };
    child::find(first)?;
    let run_dir = match std::env::var_os("COMMSAN_RUN_DIR").map(PathBuf::from) {
        Some(path) if path.is_dir() => path,
        Some(path) => {
            let what = format!("the run directory `{}` does not exist", path.display());
            return Err(Failure::new(exit_code::SETUP, what)
                .help("it must be on a file system that all nodes share; see `--output`"));
        }
        None => join(settings, command)?,
    };
    let environment = job_environment(&run_dir, &settings.options)?;
    Err(child::become_command(command, &environment))
}

/// Creates the job's run directory, or finds the one that another rank has created.
fn join(settings: &Settings, command: &[OsString]) -> Result<PathBuf, Failure> {
    let setup = |error: &dyn std::fmt::Display| Failure::new(exit_code::SETUP, error.to_string());
    let name = program::base_name(program::guess(command));
    let options = &settings.options;
    let identity = commsan_job_shm::identity();
    let created = match (&options.output, &identity) {
        (Some(path), _) => RunDirectory::create_at(path),
        (None, Some(id)) => RunDirectory::create_at(Path::new(&format!("{name}.commsan-{id}"))),
        (None, None) => RunDirectory::create(Path::new("."), Path::new(&name)),
    };
    let path = match (&options.output, &identity) {
        (Some(path), _) => path.clone(),
        (None, id) => PathBuf::from(format!("{name}.commsan-{}", id.as_deref().unwrap_or(""))),
    };
    match (created, identity) {
        (Ok(run), identity) => {
            let words = command.iter().map(|word| word.to_string_lossy().into_owned());
            let mut info = RunInfo::new(words.collect());
            info.facts.extend(identity.map(|id| (JOB.to_owned(), id)));
            run.write_info(&info).map_err(|error| setup(&error))?;
            if !options.quiet {
                note(&format!("the report comes with `commsan report {}`", shown(run.path())));
            }
            Ok(run.path().to_owned())
        }
        (Err(error), Some(id)) if error.kind() == ErrorKind::AlreadyExists => {
            if !belongs_to(&path, &id) {
                return Err(setup(&error));
            }
            path.canonicalize().map_err(|error| setup(&error))
        }
        (Err(error), _) => Err(setup(&error)),
    }
}

/// Whether the run directory `path` belongs to the job `id`; waits until `run.json` exists.
fn belongs_to(path: &Path, id: &str) -> bool {
    let start = Instant::now();
    while start.elapsed() < DIRECTORY_TIMEOUT {
        if let Ok(info) = RunDirectory::open(path).and_then(|run| run.read_info()) {
            return info.facts.get(JOB).is_some_and(|job| job == id);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    false
}

/// The shortest form of the path from the current directory.
fn shown(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(here).unwrap_or(path).display().to_string()
}
