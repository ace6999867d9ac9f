//! `commsan run`: a job from its start to the report.

use crate::child;
use crate::command_line;
use crate::ctest;
use crate::cuda::Cuda;
use crate::exec;
use crate::exit_code;
use crate::failure::{Failure, note, warn};
use crate::install::{JobEnvironment, devices, job_environment, library_directory};
use crate::options::{Gpu, Options};
use crate::profile;
use crate::program;
use crate::report::{self, Summary};
use crate::settings::Settings;
use crate::unreached::{self, Obstacle};
use crate::watch::{Report, Watch};
use commsan_report::{Checks, Options as Preparation};
use commsan_rundir::{RunDirectory, RunInfo};
use std::ffi::OsString;
use std::path::Path;
use std::process::{ExitCode, ExitStatus};
use std::slice;
use std::sync::mpsc::channel;
use std::time::{SystemTime, UNIX_EPOCH};

/// Switches off the checks of ranks for which lint has flagged no call.
fn limited(options: &Options, checks: Option<&Checks>) -> Options {
    let mut options = options.clone();
    if let Some(checks) = checks {
        options.thread_checks &= checks.has_threads();
        options.collective_checks &= checks.has_collectives();
    }
    options
}

/// Runs `command`, reports, and says how it went.
///
/// Started by a launcher as one of its ranks (`mpirun -n 4 commsan run -- ./app`), it is
/// [`exec`](crate::exec): the ranks of the job have one run directory and one report.
pub fn main(settings: &Settings, command: &[OsString]) -> Result<ExitCode, Failure> {
    let Some(first) = command.first() else {
        return Err(Failure::new(exit_code::USAGE, "no command was given")
            .help("put it after `--`: `commsan run -- mpirun -n 4 ./app`"));
    };
    child::find(first)?;
    if exec::is_rank() && !program::launches(command) {
        return exec::main(settings, command);
    }
    let run = |options: &Options| create_directory(options, command);
    supervise(settings, command, run, None, false, |_, command, environment| {
        child::run(command, environment, false)
    })
}

/// Runs a job, or one rank of it, that has a run directory of its own, in which it also looks for
/// hangs, and reports. `identity` tells others whose directory it is; `start` runs the command to
/// its end; `is_rank` says that it is one rank of several.
pub fn supervise(
    settings: &Settings,
    command: &[OsString],
    directory: impl FnOnce(&Options) -> Result<RunDirectory, Failure>,
    identity: Option<&str>,
    is_rank: bool,
    start: impl FnOnce(&RunDirectory, &[OsString], &JobEnvironment) -> Result<ExitStatus, Failure>,
) -> Result<ExitCode, Failure> {
    let preparation = report::preparation(&settings.options)?;
    let options = &limited(&settings.options, preparation.checks.as_ref());
    // Fails if a part of the installation is missing, before anything is created.
    job_environment(Path::new(""), options)?;
    let run = directory(options)?;
    let mut environment = job_environment(run.path(), options)?;

    let words = command.iter().map(|word| word.to_string_lossy().into_owned());
    let mut info = RunInfo::new(words.collect());
    info.facts = facts();
    info.facts.extend(identity.map(|identity| (exec::JOB.to_owned(), identity.to_owned())));
    if options.profile {
        let epoch = nanoseconds().to_string();
        info.facts.insert(exec::EPOCH.to_owned(), epoch.clone());
        environment.set.push(("COMMSAN_EPOCH", epoch.into()));
    }
    // Where this does not fit, findings would not either.
    run.write_info(&info).map_err(|error| {
        discard(&run);
        Failure::new(exit_code::SETUP, error.to_string())
            .help("free some space, or name a directory elsewhere by `--output`")
    })?;
    let gpu = UseOfCuda::of(command, options);
    gpu.warn();
    let obstacle = unreached::obstacle(command, &library_directory(), run.path());
    if let Some(Obstacle { found, mend }) = &obstacle {
        warn(found, slice::from_ref(mend));
    }
    let adapted = command_line::adapt(command, &mut environment);
    // Of a rank's own job: the end of the rank may be the end of this process.
    let (told, early) = channel();
    let report_early = is_rank.then(|| -> Report {
        let (run, options) = (run.clone(), options.clone());
        let preparation = Preparation { is_ending: true, ..preparation.clone() };
        Box::new(move || {
            // Nobody waits for it any more if the command has just ended by itself.
            let _ = told.send(report::finish(&run, &preparation, &options));
        })
    });
    let watch = Watch::start(&run, options, report_early);
    let status = start(&run, &adapted, &environment).inspect_err(|_| discard(&run))?;
    let ended = watch.finish();
    let code = child::shell_code(status);
    info.end(code);
    info.tests = ctest::names(&run);
    save(&run, &info);

    let mut summary = match options.check {
        true => early.try_recv().unwrap_or_else(|_| report::finish(&run, &preparation, options)),
        false => profile::unchecked(&run, options),
    };
    if let Ok(summary) = summary.as_mut()
        && options.profile
        && summary.ranks > 0
    {
        summary.incomplete |= !profile::finish(&run, options);
    }
    let ending = child::signal_name(status);
    match &summary {
        Ok(summary) if summary.ranks == 0 => {
            explain_silence(command, code, ending, obstacle, summary, options.check);
        }
        // With findings, commsan returns their exit code instead of the command's.
        _ if code != 0 && !options.quiet => match ending {
            Some(signal) => note(&format!("the command was ended by {signal}")),
            None => note(&format!("the command ended with exit code {code}")),
        },
        _ => {}
    }
    if code != 0 && !options.quiet {
        gpu.advise();
    }
    let code = decide(code, &summary, options);
    ended.end_others();
    Ok(ExitCode::from(code))
}

/// Nanoseconds since 1970, at which the time bins of all ranks begin.
fn nanoseconds() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos()
}

/// Properties, known before the run, of a program that uses CUDA.
struct UseOfCuda {
    program: String,
    cuda: Option<Cuda>,
    simulated: bool,
}

impl UseOfCuda {
    fn of(command: &[OsString], options: &Options) -> UseOfCuda {
        let program = program::guess(command);
        let facts = child::find(program).ok().and_then(|path| crate::elf::read(&path).ok());
        let simulated = matches!(devices(options), Gpu::Simulated(_));
        let program = program.to_string_lossy().into_owned();
        UseOfCuda { program, cuda: facts.and_then(|facts| facts.cuda), simulated }
    }

    /// Prints a warning if simulated devices cannot run this program.
    fn warn(&self) {
        let cuda = self.cuda.as_ref().filter(|_| self.simulated);
        if let Some((what, help)) = cuda.and_then(|cuda| cuda.obstacle(&self.program)) {
            warn(&what, &[help]);
        }
    }

    /// Recommends simulated devices if the program may have failed without real ones.
    fn advise(&self) {
        if self.cuda.is_some() && !self.simulated && !crate::cuda::has_device() {
            note(
                "this machine has no GPU of NVIDIA's: `--gpu sim:N` runs the program on simulated ones",
            );
        }
    }
}

fn create_directory(options: &Options, command: &[OsString]) -> Result<RunDirectory, Failure> {
    let run = match &options.output {
        Some(path) => RunDirectory::create_at(path),
        None => RunDirectory::create(Path::new("."), Path::new(program::guess(command))),
    };
    run.map_err(|error| Failure::new(exit_code::SETUP, error.to_string()))
}

/// Writes `run.json`; an error is only a warning.
fn save(run: &RunDirectory, info: &RunInfo) {
    if let Err(error) = run.write_info(info) {
        warn(&error.to_string(), &[]);
    }
}

/// Removes an unused run directory.
fn discard(run: &RunDirectory) {
    // Remaining files do no harm.
    let _ = std::fs::remove_file(run.run_json());
    let _ = std::fs::remove_dir(run.path());
}

/// Properties of this machine that help to explain results.
fn facts() -> std::collections::BTreeMap<String, String> {
    let read = |path| std::fs::read_to_string(path).map(|text| text.trim().to_owned()).ok();
    let known = [
        ("kernel", read("/proc/sys/kernel/osrelease")),
        ("aslr", read("/proc/sys/kernel/randomize_va_space")),
        ("overcommit", read("/proc/sys/vm/overcommit_memory")),
        ("preload", std::env::var("LD_PRELOAD").ok().filter(|list| !list.is_empty())),
        ("cpus", std::thread::available_parallelism().ok().map(|n| n.to_string())),
    ];
    known.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// The exit code of the whole run. Findings take precedence over the program's own code, which
/// takes precedence over a report that could not be written.
fn decide(program: i32, summary: &Result<Summary, Failure>, options: &Options) -> u8 {
    let own = u8::try_from(program & 0xff).unwrap_or(u8::MAX);
    let configured = exit_code::of_findings(options);
    match summary {
        Ok(summary) if summary.fails && configured != exit_code::OK => configured,
        _ if own != exit_code::OK => own,
        Ok(summary) if summary.incomplete => exit_code::REPORT,
        Ok(_) => exit_code::OK,
        Err(failure) => {
            failure.print();
            failure.code
        }
    }
}

/// Prints why nothing was checked or profiled, if a reason is known.
fn explain_silence(
    command: &[OsString],
    code: i32,
    ending: Option<String>,
    obstacle: Option<Obstacle>,
    summary: &Summary,
    checks: bool,
) {
    let mut help = Vec::new();
    let program = program::position(command).and_then(|index| command.get(index));
    if summary.notices > 0 {
        help.push("the notices above say why".to_owned());
    } else if let Some(ending) = ending {
        help.push(format!("the command was ended by {ending} before MPI_Init completed"));
    } else if code != 0 {
        help.push(format!("the command failed with exit code {code}: see its output"));
    }
    if let Some(Obstacle { found, mend }) = obstacle.or_else(unreached::suspected) {
        help.push(format!("{found}: {mend}"));
    } else if let Some(program) = program.filter(|program| !program::is_shell(program)) {
        let facts = child::find(program).ok().and_then(|path| crate::elf::read(&path).ok());
        help.extend(facts.and_then(|facts| facts.reason_for_silence(&program.to_string_lossy())));
        let shown = program.to_string_lossy();
        help.push(format!("`commsan doctor {shown}` looks for the reason"));
    } else {
        help.push("`commsan doctor PROGRAM` looks for the reason".to_owned());
    }
    let done = if checks { "checked" } else { "profiled" };
    let what = "no process of this job completed MPI_Init, or used a device without MPI";
    warn(&format!("no MPI program was {done}: {what}"), &help);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(fails: bool, incomplete: bool) -> Result<Summary, Failure> {
        Ok(Summary { ranks: 2, fails, notices: 0, incomplete })
    }

    #[test]
    fn findings_go_before_the_program_and_that_before_the_report() {
        let options = Options::default();
        for (program, summary, expected) in [
            (0, summary(false, false), 0),
            (3, summary(false, false), 3),
            (139, summary(false, true), 139),
            (0, summary(false, true), exit_code::REPORT),
            (3, summary(true, true), exit_code::FINDINGS),
        ] {
            assert_eq!(decide(program, &summary, &options), expected);
        }
        let mut options = Options::default();
        options.exit_code.0 = 0;
        assert_eq!(decide(0, &summary(true, false), &options), 0);
        assert_eq!(decide(5, &summary(true, false), &options), 5);
    }
}
