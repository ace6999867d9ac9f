//! `commsan attach`: which rank is where in a job that was started without commsan.
//!
//! Its ranks cannot be asked. They are looked at from outside, by what the kernel lets a debugger
//! see, and let go at once. A job that commsan has started is asked as by `commsan status`.

use crate::exit_code;
use crate::failure::{Failure, note};
use crate::settings::Settings;
use crate::status;
use commsan_attach::ranks::{self, Job};
use commsan_attach::{Seen, may_look, see};
use commsan_report::RollCall;
use commsan_report::ranks::compressed;
use commsan_report::roll_call::{Context, Outside, SeenRank};
use commsan_rundir::time;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::ExitCode;

/// Modules that are named in a note.
const MAX_MODULES: usize = 3;

/// Arguments of `commsan attach`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Process of a launcher or a rank, or a run directory; by default the only job here
    #[arg(value_name = "PID|RUN")]
    target: Option<String>,
    /// Print JSON, see docs/status.md
    #[arg(long)]
    json: bool,
}

fn failed(what: impl Into<String>) -> Failure {
    Failure::new(exit_code::REPORT, what)
}

/// Looks at the ranks of a job, and prints where they are.
pub fn main(arguments: &Arguments, settings: &Settings) -> Result<ExitCode, Failure> {
    let asked = time::now();
    let process = match &arguments.target {
        Some(target) => match target.parse::<i32>() {
            Ok(process) if process > 0 && !Path::new(target).is_dir() => Some(process),
            _ => return ask(Path::new(target), asked, settings, arguments.json),
        },
        None => None,
    };
    if let Some(process) = process {
        if !Path::new(&format!("/proc/{process}")).is_dir() {
            let help = "`commsan attach` without a number looks for jobs on this machine";
            return Err(failed(format!("there is no process {process}")).help(help));
        }
        if let Some(run) = ranks::run_directory(process) {
            match ask(&run, asked.clone(), settings, arguments.json) {
                Ok(code) => return Ok(code),
                Err(error) => note(&format!("{error}: looking at its processes instead")),
            }
        }
    }
    let jobs = match process {
        Some(process) => ranks::jobs_of(process),
        None => vec![only_job()?],
    };
    let tables: Result<Vec<RollCall>, Failure> =
        jobs.iter().map(|job| roll_call(job, settings)).collect();
    status::print(status::Source { run: None, process }, asked, tables?, arguments.json)?;
    Ok(ExitCode::from(exit_code::OK))
}

/// Asks the ranks of a job that commsan has started.
fn ask(run: &Path, asked: String, settings: &Settings, json: bool) -> Result<ExitCode, Failure> {
    let (run, called) = status::ask(run, settings)?;
    status::print(status::Source { run: Some(run.path()), process: None }, asked, called, json)?;
    Ok(ExitCode::from(exit_code::OK))
}

/// The job of this user on this machine, if there is one only.
fn only_job() -> Result<Job, Failure> {
    let mut jobs = ranks::jobs_here();
    if jobs.len() == 1 {
        return Ok(jobs.remove(0));
    }
    if jobs.is_empty() {
        let failure = failed("no process of yours on this machine is a rank of a job");
        return Err(failure.help("name the launcher or a rank: `commsan attach PID`"));
    }
    let all = jobs.iter().filter_map(|job| {
        let process = *job.ranks.values().next()?;
        let program = fs::read_link(format!("/proc/{process}/exe")).unwrap_or_default();
        let ranks = job.ranks.len();
        Some(format!("`commsan attach {process}`: {}, {ranks} ranks", program.display()))
    });
    let failure = failed(format!("{} jobs run on this machine", jobs.len()));
    Err(all.fold(failure, Failure::help))
}

/// Who is where in a job.
fn roll_call(job: &Job, settings: &Settings) -> Result<RollCall, Failure> {
    let processes: Vec<i32> = job.ranks.values().copied().collect();
    // Where no rank may be looked at, there is nothing to show.
    let mut refused = None;
    let may = processes.iter().any(|process| match may_look(*process) {
        Ok(()) => true,
        Err(error) => {
            refused = refused.or(Some((*process, error)));
            tracer(*process).is_some() || error == libc::ESRCH
        }
    });
    if let Some((process, _)) = refused.filter(|_| !may) {
        let what = format!("process {process} may not be looked at");
        return Err(failed(what).help(permission(process)));
    }
    let seen = see(job);
    let is_alone = job.launcher.is_empty();
    let context = Context {
        directory: seen.directory.clone(),
        libraries: settings.options.libraries.clone(),
    };
    let all = job.size.unwrap_or_else(|| job.ranks.keys().max().map_or(1, |last| last + 1));
    let missing: Vec<u32> = (0..all).filter(|rank| !job.ranks.contains_key(rank)).collect();
    // All ranks are on this machine, so that those which are not there have ended.
    let is_whole = job.here.is_some_and(|here| Some(here) == job.size);
    let mut looked_at = seen.ranks.clone();
    if is_whole {
        looked_at.extend(missing.iter().map(|rank| SeenRank { rank: *rank, threads: vec![] }));
        looked_at.sort_unstable_by_key(|one| one.rank);
    }
    let elsewhere = if is_whole { vec![] } else { missing };
    let mut notes = notes(job, &seen, &elsewhere);
    if is_alone {
        let process = processes.first().copied().unwrap_or(0);
        let what = "no launcher's variables, and has started no rank: it is shown alone";
        notes.insert(0, format!("process {process} has {what}"));
    }
    let outside = Outside { elsewhere, notes, ..Outside::default() };
    Ok(RollCall::seen(seen.program, all, &looked_at, &context, outside))
}

/// What else is to be said of a job.
fn notes(job: &Job, seen: &Seen, elsewhere: &[u32]) -> Vec<String> {
    let mut notes = Vec::new();
    let of = |ranks: &mut dyn Iterator<Item = u32>| {
        let all: Vec<u32> = ranks.collect();
        let noun = if all.len() == 1 { "rank" } else { "ranks" };
        format!("{noun} {}", compressed(&all))
    };
    if !elsewhere.is_empty() {
        let verb = if elsewhere.len() == 1 { "is" } else { "are" };
        let nodes = job.nodes.as_ref().map_or_else(String::new, |nodes| format!(" (of {nodes})"));
        let which = of(&mut elsewhere.iter().copied());
        notes.push(format!(
            "{which} {verb} not on this machine: `ssh NODE commsan attach` shows those of another \
             node{nodes}"
        ));
        let here = job.here.unwrap_or(0);
        let gone = here.saturating_sub(job.ranks.len() as u32);
        if gone > 0 {
            notes.push(format!("of the {here} ranks of this machine {gone} have ended"));
        }
    }
    for (error, ranks) in &seen.refused {
        let which = of(&mut ranks.iter().copied());
        let first = ranks.iter().next().and_then(|rank| job.ranks.get(rank));
        let why = match first.and_then(|process| Some((process, tracer(*process)?))) {
            Some((_, debugger)) => format!("process {debugger}, a debugger, is attached"),
            None => std::io::Error::from_raw_os_error(*error).to_string(),
        };
        notes.push(format!("{which}: threads could not be stopped for a look ({why})"));
    }
    if !seen.narrow.is_empty() {
        let which = of(&mut seen.narrow.iter().copied());
        notes.push(format!("{which}: stacks of 32-bit programs are not read"));
    }
    for (module, ranks) in seen.bare.iter().take(MAX_MODULES) {
        let which = of(&mut ranks.iter().copied());
        notes.push(format!(
            "{which}: `{module}` has no debug information, so that functions are shown without \
             lines: compile it with `-g`"
        ));
    }
    for module in seen.deleted.iter().take(MAX_MODULES) {
        notes.push(format!("`{module}` was deleted or replaced since the job has begun"));
    }
    if seen.has_scripts {
        notes.push(
            "lines of Python are not seen from outside; `commsan run` and `commsan status` show \
             them"
                .to_owned(),
        );
    }
    notes.push("seen once, from outside: since when ranks are there cannot be known".to_owned());
    notes
}

/// The debugger that a process has.
fn tracer(process: i32) -> Option<i32> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let tracer = status.lines().find_map(|line| line.strip_prefix("TracerPid:"))?;
    tracer.trim().parse().ok().filter(|tracer| *tracer != 0)
}

/// What to do where a process may not be looked at.
fn permission(process: i32) -> String {
    // SAFETY: takes nothing.
    let own = unsafe { libc::geteuid() };
    let owner = fs::metadata(format!("/proc/{process}")).map(|file| file.uid());
    let is_others = owner.is_ok_and(|owner| owner != own);
    let scope = fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
    advice(process, own == 0, is_others, scope.trim())
}

/// Likewise: whether the user is an administrator, and the process another's; `scope` is what Yama
/// (Linux, Documentation/admin-guide/LSM/Yama.rst) restricts.
fn advice(process: i32, is_root: bool, is_others: bool, scope: &str) -> String {
    let sudo = format!("`sudo commsan attach {process}`");
    match scope {
        "3" => "this system lets nobody look at processes until it is booted with \
                kernel.yama.ptrace_scope below 3"
            .to_owned(),
        _ if is_others && !is_root => {
            format!("it belongs to another user: attach as that user, or {sudo}")
        }
        "1" if !is_root => format!(
            "this system lets only parents look at a process: `sudo sysctl \
             kernel.yama.ptrace_scope=0` allows it until the next boot, or {sudo}"
        ),
        "2" if !is_root => {
            format!("this system lets only administrators look at processes: {sudo}")
        }
        _ => "it has privileges of its own, or this is a container without the right: start that \
              with `--cap-add=SYS_PTRACE`, or attach from outside"
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_said() {
        let sysctl = "sysctl kernel.yama.ptrace_scope=0";
        assert!(advice(7, false, false, "1").contains(sysctl));
        assert!(!advice(7, false, true, "1").contains(sysctl));
        assert!(advice(7, false, true, "0").contains("another user"));
        assert!(advice(7, false, false, "2").contains("sudo commsan attach 7"));
        assert!(advice(7, true, false, "3").contains("booted"));
        assert!(advice(7, true, true, "").contains("SYS_PTRACE"));
    }
}
