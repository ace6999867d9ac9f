//! `commsan status`: which rank of a running job is where, asked from any terminal of the user's;
//! and the same roll call for the watcher of a run.
//!
//! Ranks are asked directly, by the memory that they share (`job-shm`): whoever has started the job
//! need not take part, and may hang. Answers come by the ranks' logs. A rank that does not answer
//! is described by what the kernel shows of its process.

use crate::exit_code;
use crate::failure::Failure;
use crate::output::out;
use crate::settings::Settings;
use commsan_job_shm::{Job, jobs};
use commsan_report::RollCall;
use commsan_report::roll_call::{Called, Context};
use commsan_rundir::{RankLog, RunDirectory, RunInfo, time};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// For how long to wait for answers while none comes, and in all. Ranks that run answer in
/// milliseconds, unless the machine has many more ranks than processors.
const SILENCE: Duration = Duration::from_secs(3);
const TIMEOUT: Duration = Duration::from_secs(10);
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Version of the JSON.
const SCHEMA: u32 = 1;

/// Arguments of `commsan status`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Run directory; by default that of the latest job here that runs
    directory: Option<PathBuf>,
    /// Print JSON, see docs/status.md
    #[arg(long)]
    json: bool,
}

/// The answer of `commsan status --json`.
#[derive(Serialize)]
struct Status<'s> {
    schema: u32,
    #[serde(flatten)]
    source: Source<'s>,
    /// When ranks were asked, RFC 3339.
    asked: String,
    /// The jobs of the run that have not ended.
    jobs: Vec<RollCall>,
}

/// What a roll call is of.
#[derive(Clone, Copy, Serialize)]
pub struct Source<'s> {
    /// The run directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<&'s Path>,
    /// The process that was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<i32>,
}

/// Asks the ranks of a running job where they are, and prints that.
pub fn main(arguments: &Arguments, settings: &Settings) -> Result<ExitCode, Failure> {
    let failed = |what: String| Failure::new(exit_code::REPORT, what);
    let paths = match &arguments.directory {
        Some(named) => vec![named.clone()],
        None => RunDirectory::running(Path::new(".")),
    };
    let asked = time::now();
    let mut failure = failed("no run in this directory is running".to_owned())
        .help("name its run directory: `commsan status app.commsan`");
    for path in paths {
        // A run that was killed has not ended, either.
        match ask(&path, settings) {
            Ok((run, called)) => {
                let source = Source { run: Some(run.path()), process: None };
                print(source, asked, called, arguments.json)?;
                return Ok(ExitCode::from(exit_code::OK));
            }
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

/// Asks the ranks of a run, job by job; it has one at least.
pub fn ask(path: &Path, settings: &Settings) -> Result<(RunDirectory, Vec<RollCall>), Failure> {
    let failed = |what: String| Failure::new(exit_code::REPORT, what);
    let run = RunDirectory::open(path).map_err(|error| failed(error.to_string()))?;
    let info = run.read_info().map_err(|error| failed(error.to_string()))?;
    if info.ended.is_some() {
        let help = format!("`commsan report {}` shows its report", path.display());
        return Err(failed(format!("the run in `{}` has ended", path.display())).help(help));
    }
    let context = context(&info, settings.options.libraries.clone());
    let called = jobs(run.path(), |_| false).into_iter();
    let called: Vec<_> = called.filter_map(|mut job| call_roll(&mut job, &run, &context)).collect();
    if called.is_empty() {
        let what = format!("no rank of the run in `{}` can be asked", path.display());
        let help = "ranks can be asked from `MPI_Init` to their end, if they are checked";
        return Err(failed(what).help(help));
    }
    Ok((run, called))
}

/// Prints roll calls.
pub fn print(
    source: Source<'_>,
    asked: String,
    jobs: Vec<RollCall>,
    json: bool,
) -> Result<(), Failure> {
    if !json {
        let tables: Vec<_> = jobs.iter().map(RollCall::table).collect();
        out(&tables.join("\n"));
        return Ok(());
    }
    let status = Status { schema: SCHEMA, source, asked, jobs };
    let text = serde_json::to_string_pretty(&status)
        .map_err(|error| Failure::new(exit_code::REPORT, error.to_string()))?;
    out(&format!("{text}\n"));
    Ok(())
}

/// What places of a run are shown relative to.
pub fn context(info: &RunInfo, libraries: Vec<PathBuf>) -> Context {
    Context { directory: info.directory.clone(), libraries }
}

/// Asks all ranks of a job where they are. `None` if none of them runs.
pub fn call_roll(job: &mut Job, run: &RunDirectory, context: &Context) -> Option<RollCall> {
    job.look();
    let numbers = job.call_roll();
    let replied = |job: &Job| -> Vec<bool> {
        let rendezvous = job.rendezvous();
        let replies = rendezvous.replies().zip(&numbers);
        replies.map(|(reply, number)| number.is_some_and(|number| reply >= number)).collect()
    };
    let (begin, mut heard, mut answers) = (Instant::now(), Instant::now(), 0);
    loop {
        job.look();
        let now = replied(job);
        let count = now.iter().filter(|has| **has).count();
        if count > answers {
            (answers, heard) = (count, Instant::now());
        }
        // A process that is stopped, or has ended, does not answer.
        let rendezvous = job.rendezvous();
        let mut left = (0..).zip(rendezvous.processes()).zip(&numbers).zip(now);
        let mut may_answer = || {
            left.any(|(((rank, process), number), has_replied)| {
                let state = || job.seen(rank, process).map(|seen| seen.state);
                number.is_some()
                    && !has_replied
                    && !matches!(state(), None | Some('T' | 't' | 'Z' | 'X'))
            })
        };
        if heard.elapsed() > SILENCE || begin.elapsed() > TIMEOUT || !may_answer() {
            break;
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    let replied = replied(job);
    let rendezvous = job.rendezvous();
    let ranks = rendezvous.processes().zip(rendezvous.ages());
    let called: Vec<Called> = (0_u32..)
        .zip(ranks)
        .zip(numbers.iter().zip(replied))
        .map(|((rank, (process, age)), (number, has_replied))| Called {
            rank,
            process,
            answered: number.filter(|_| has_replied),
            state: job.seen(rank as usize, process).map(|seen| seen.state),
            seconds: (age > 0).then_some(age / 1000),
        })
        .collect();
    let runs = |called: &Called| {
        called.process != 0 && called.state.is_some_and(|state| !matches!(state, 'Z' | 'X'))
    };
    if !called.iter().any(runs) {
        return None;
    }
    Some(RollCall::of(&called, &answers_in(run, &called), context))
}

/// The logs of ranks that have answered, as far as they are answers.
fn answers_in(run: &RunDirectory, called: &[Called]) -> Vec<RankLog> {
    let logs = run.logs().unwrap_or_default().into_iter();
    let answered = logs.filter_map(|(rank, path)| {
        let called = called.iter().find(|called| called.rank == rank)?;
        let log = RankLog::open_answers(&path, rank, called.process, called.answered?);
        Some(log)
    });
    answered.collect()
}
