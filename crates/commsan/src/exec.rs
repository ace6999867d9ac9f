//! `commsan exec`: one rank of a job that another program launches.
//!
//! Below `commsan run` it only makes sure that the rank's environment is complete. Alone, all
//! ranks of the job must find one run directory without talking to each other: its name contains
//! the [job's identity](commsan_job_shm::identity), whoever makes it first has made it for all, and
//! `run.json` in it proves whose it is. That process stays: it watches the job for hangs, waits for
//! the other ranks when its own has ended, and reports for all of them.

use crate::exit_code;
use crate::failure::{Failure, note};
use crate::install::{JobEnvironment, job_environment};
use crate::settings::Settings;
use crate::{child, program, run};
use commsan_job_shm::Launcher;
use commsan_rundir::{RankLog, RunDirectory, RunInfo};
use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus};
use std::time::{Duration, Instant};

/// Key in `run.json` for the job's identity.
pub const JOB: &str = "job";
/// Key in `run.json` for where the time bins of a profile begin, in nanoseconds since 1970.
pub const EPOCH: &str = "epoch";

/// How long to wait for the rank that creates the directory; shared file systems lag.
const DIRECTORY_TIMEOUT: Duration = Duration::from_secs(20);

/// How many directories of earlier jobs are passed over.
const MAX_NUMBERED: u32 = 100;

/// How long to wait for ranks of which nothing is heard after the first one's end.
const OTHERS_TIMEOUT: Duration = Duration::from_secs(10);
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Whether a launcher has started this process as a rank of a job that is not checked yet.
pub fn is_rank() -> bool {
    std::env::var_os("COMMSAN_RUN_DIR").is_none() && Launcher::of_this_rank().is_some()
}

/// Runs `command` as a rank, checked.
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
        None => match join(settings, command)? {
            Joined::First(run, identity) => return lead(settings, command, run, identity),
            Joined::Other(path) => path,
        },
    };
    let mut environment = job_environment(&run_dir, &settings.options)?;
    let info = RunDirectory::open(&run_dir).and_then(|run| run.read_info());
    if let Some(epoch) = info.ok().and_then(|info| info.facts.get(EPOCH).cloned()) {
        environment.set.push(("COMMSAN_EPOCH", epoch.into()));
    }
    Err(child::become_command(command, &environment))
}

/// Runs `command` as the rank that watches the job and reports.
fn lead(
    settings: &Settings,
    command: &[OsString],
    run: RunDirectory,
    identity: Option<String>,
) -> Result<ExitCode, Failure> {
    if !settings.options.quiet {
        let place = shown(run.path());
        note(&format!(
            "the report follows the job's end; later, `commsan report {place}` shows it"
        ));
    }
    let start = |run: &RunDirectory, command: &[OsString], environment: &JobEnvironment| {
        let status = child::run(command, environment, true);
        // If it has failed, its launcher ends the others as soon as it knows.
        if status.as_ref().is_ok_and(ExitStatus::success) {
            wait_for_others(run);
        }
        status
    };
    run::supervise(settings, command, |_| Ok(run), identity.as_deref(), true, start)
}

/// The job's run directory.
enum Joined {
    /// This process has created it, for the job with this identity.
    First(RunDirectory, Option<String>),
    /// Another rank has.
    Other(PathBuf),
}

/// Creates the job's run directory, or finds the one another rank has created.
fn join(settings: &Settings, command: &[OsString]) -> Result<Joined, Failure> {
    let setup = |error: &dyn std::fmt::Display| Failure::new(exit_code::SETUP, error.to_string());
    let name = program::base_name(program::guess(command));
    let options = &settings.options;
    let identity = commsan_job_shm::identity();
    let Some(id) = identity else {
        let created = match &options.output {
            Some(path) => RunDirectory::create_at(path),
            None => RunDirectory::create(Path::new("."), Path::new(&name)),
        };
        return created.map(|run| Joined::First(run, None)).map_err(|error| setup(&error));
    };
    let first = options.output.clone().unwrap_or_else(|| format!("{name}.commsan-{id}").into());
    let mut number = 1;
    loop {
        let path = match number {
            1 => first.clone(),
            _ => PathBuf::from(format!("{}-{number}", first.display())),
        };
        let error = match RunDirectory::create_at(&path) {
            Ok(run) => return Ok(Joined::First(run, Some(id))),
            Err(error) => error,
        };
        if error.kind() != ErrorKind::AlreadyExists || number == MAX_NUMBERED {
            return Err(setup(&error));
        }
        match owner(&path) {
            Some(info) if info.facts.get(JOB) != Some(&id) => return Err(setup(&error)),
            // An earlier job of this name: a batch system has started the script anew, or its
            // number is all that is known, and the script starts several.
            Some(info) if info.ended.is_some() && options.output.is_none() => number += 1,
            Some(_) => return path.canonicalize().map(Joined::Other).map_err(|e| setup(&e)),
            None => return Err(setup(&error)),
        }
    }
}

/// Waits until all ranks of the job have ended, or nothing is heard of those left for a while.
fn wait_for_others(run: &RunDirectory) {
    let (mut heard, mut before) = (Instant::now(), 0);
    while heard.elapsed() < OTHERS_TIMEOUT {
        let logs = run.logs().unwrap_or_default();
        // What is not checked is not waited for.
        if logs.is_empty() {
            return;
        }
        let written = logs.iter().filter_map(|(_, path)| path.metadata().ok());
        let written = written.map(|data| data.len()).sum::<u64>();
        if written != before {
            (heard, before) = (Instant::now(), written);
            let ranks: Vec<_> =
                logs.iter().map(|(rank, path)| RankLog::open(path, *rank)).collect();
            let size = ranks.iter().filter_map(|rank| rank.start.as_ref()).map(|start| start.size);
            let ended = ranks.iter().filter(|rank| rank.end.is_some()).count();
            if size.max().is_none_or(|size| ended >= size as usize) {
                return;
            }
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// What is known of whoever made the run directory `path`; waits until it is.
fn owner(path: &Path) -> Option<RunInfo> {
    let start = Instant::now();
    while start.elapsed() < DIRECTORY_TIMEOUT {
        if let Ok(info) = RunDirectory::open(path).and_then(|run| run.read_info()) {
            return Some(info);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    None
}

/// The shortest form of the path from the current directory.
fn shown(path: &Path) -> String {
    let here = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(here).unwrap_or(path).display().to_string()
}
