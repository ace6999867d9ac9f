//! Findings for people and machines.
//!
//! [`Report::from_run`] reads what the ranks wrote, finds functions and lines, merges equal
//! findings and sets suppressed ones aside. Each renderer turns the [`Report`] into text and
//! does no I/O; source lines reach them in [`Sources`].
//!
//! ```text
//! RunDirectory → RankLog → Symbols → merge → Suppressions → Report → terminal, html, json, …
//! ```

pub mod assigned;
mod blocks;
mod bounds;
pub mod checks;
pub mod codequality;
mod deadlock;
mod debug_files;
mod designator;
mod facts;
mod followed;
pub mod github;
pub mod html;
mod jobs;
pub mod json;
pub mod junit;
mod leaks;
mod merge;
mod messages;
pub mod names;
mod notes;
mod pairwise_volumes;
mod potential_deadlock;
pub mod ranks;
mod replay;
mod retyped;
pub mod roll_call;
pub mod sarif;
mod shape;
mod sources;
pub mod stack;
pub mod stats;
pub mod suppress;
pub mod symbols;
pub mod terminal;
mod variables;
mod wait_for_graph;
mod wildcard;
mod wildcards;
mod wording;

pub use checks::Checks;
pub use jobs::Job;
pub use notes::{Level, Note};
pub use roll_call::RollCall;
pub use sources::Sources;
pub use stats::Statistics;
pub use suppress::{Suppressed, Suppressions};

use commsan_findings::{Code, Finding, Followed, Severity};
use commsan_rundir::{Deadlock, RankLog, RunDirectory, Stuck};
use merge::Observation;
use potential_deadlock::PotentialDeadlock;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use symbols::Symbols;
use wildcards::WildcardRace;

/// Everything a renderer shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// What was found and not suppressed: by job, worst first.
    pub findings: Vec<Finding>,
    /// The run it was found in.
    pub run: Run,
    /// What was watched, if ranks were asked to count.
    pub stats: Option<Statistics>,
}

/// What is known about the run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Command line after `commsan run --`.
    pub command: Vec<String>,
    /// Path of the program as the ranks know it.
    pub program: Option<String>,
    /// MPI library.
    pub mpi: Option<String>,
    /// Number of ranks in `MPI_COMM_WORLD`, of all jobs.
    pub ranks: u32,
    /// Exit code of the command, if it ended.
    pub exit: Option<i32>,
    /// Start, RFC 3339.
    pub started: String,
    /// The run directory.
    pub directory: PathBuf,
    /// Working directory of the launcher; renderers name files below it relative to it.
    pub working_directory: PathBuf,
    /// How many of them were not checked.
    pub unchecked: u32,
    /// What else the user should know.
    pub notes: Vec<Note>,
    /// What was suppressed, by entry of the suppression file.
    pub suppressed: Vec<Suppressed>,
    /// What was analysed, where nothing ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub analysed: Option<Analysed>,
    /// Names of the nodes that ranks were on, ascending, if there were several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// The jobs, in the order in which they began, if the run had several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<Job>,
}

/// What a static analysis has looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Analysed {
    /// Source files compiled.
    pub files: usize,
    /// Functions defined in them.
    pub functions: usize,
    /// How many operations and requests were followed.
    #[serde(default)]
    pub followed: Followed,
}

/// How a report is made.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Findings to set aside.
    pub suppressions: Suppressions,
    /// Calls that checks of threads and of collectives are limited to.
    pub checks: Option<Checks>,
    /// Directories of code that is not the user's: findings are shown at its callers.
    pub libraries: Vec<PathBuf>,
    /// Objects that libraries have made on their own and not freed are findings, too; else a note
    /// counts them.
    pub leaks_in_libraries: bool,
    /// The ranks have not ended yet, and will be by whoever asks.
    pub is_ending: bool,
}

impl Report {
    /// Reads the run in `directory`. Whatever is missing or damaged there becomes a note.
    pub fn from_run(directory: &RunDirectory, options: &Options) -> Report {
        let mut notes = notes::Notes::default();
        let info = directory.read_info().unwrap_or_else(|error| {
            notes.warn(error.to_string(), None);
            Default::default()
        });
        let jobs = directory.read_jobs().unwrap_or_else(|error| {
            notes.warn(error.to_string(), None);
            vec![]
        });
        match directory.notices() {
            Ok(notices) => notices.into_iter().for_each(|notice| notes.warn(notice, None)),
            Err(error) => notes.warn(error.to_string(), None),
        }
        let hung = directory.deadlocks().unwrap_or_else(|error| {
            notes.warn(error.to_string(), None);
            vec![]
        });
        let seen = directory.last_seen().unwrap_or_default();
        if jobs.is_empty() {
            notes.add_logs(&[], false);
        }
        let mut merged = Vec::new();
        for (number, logs) in (1..).zip(&jobs) {
            let job = (jobs.len() > 1).then_some(number);
            notes.of_job(job);
            notes.are_ending = options.is_ending;
            let libraries = &options.libraries;
            let mut found = findings(logs, &hung, &seen, &info.directory, libraries, &mut notes);
            found.iter_mut().for_each(|finding| finding.job = job);
            merged.extend(found);
        }
        notes.of_job(None);
        if !options.leaks_in_libraries {
            leaks::set_aside(&mut merged, &options.libraries, &mut notes);
        }
        if let Some(checks) = &options.checks {
            merged.retain(|finding| checks.keep(finding));
        }
        let (findings, suppressed) = options.suppressions.apply(merged);
        notes.add_unused(&suppressed);
        let start = jobs.iter().flatten().find_map(|log| log.start.as_ref());
        let (program, mpi) =
            start.map(|start| (start.program.to_string(), start.mpi.to_string())).unzip();
        let starts = jobs.iter().flatten().filter_map(|log| log.start.as_ref());
        let hosts: BTreeSet<_> = starts.map(|start| start.host.to_string()).collect();
        let stats = Statistics::of(&jobs);
        let jobs: Vec<_> = jobs.iter().map(|logs| Job::of(logs, &info.tests)).collect();
        let run = Run {
            command: info.command,
            program,
            mpi,
            ranks: jobs.iter().map(|job| job.ranks).sum(),
            unchecked: jobs.iter().map(|job| job.unchecked).sum(),
            exit: info.exit,
            started: info.started,
            directory: directory.path().to_owned(),
            working_directory: info.directory,
            notes: notes.into_sorted(),
            suppressed,
            analysed: None,
            hosts: if hosts.len() > 1 { hosts.into_iter().collect() } else { Vec::new() },
            jobs: if jobs.len() > 1 { jobs } else { Vec::new() },
        };
        Report { findings, run, stats }
    }

    /// What a static analysis has found, and what it has to say besides.
    pub fn from_analysis(
        findings: Vec<Finding>,
        remarks: Vec<String>,
        analysed: Analysed,
        command: Vec<String>,
        options: &Options,
    ) -> Report {
        let mut notes = notes::Notes::default();
        let followed = followed::remarks(&analysed.followed);
        remarks.into_iter().chain(followed).for_each(|remark| notes.add(remark, None));
        let (findings, suppressed) = options.suppressions.apply(findings);
        notes.add_unused(&suppressed);
        let run = Run {
            command,
            working_directory: std::env::current_dir().unwrap_or_default(),
            notes: notes.into_sorted(),
            suppressed,
            analysed: Some(analysed),
            ..Run::default()
        };
        Report { findings, run, stats: None }
    }

    /// How many findings have this severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity() == severity).count()
    }

    /// The codes that occur, ascending.
    pub fn codes(&self) -> Vec<Code> {
        let mut codes: Vec<_> = self.findings.iter().map(|finding| finding.code).collect();
        codes.sort_unstable();
        codes.dedup();
        codes
    }
}

impl Run {
    /// Whether something was checked at all.
    pub fn has_looked(&self) -> bool {
        self.ranks > self.unchecked || self.analysed.is_some()
    }

    /// `file` as a person at a terminal names it: relative to the working directory, also if it
    /// lies beside that, as sources do of a build directory.
    pub fn named<'f>(&self, file: &'f str) -> Cow<'f, str> {
        /// Directories that a name leads up.
        const MAX_UP: usize = 3;
        let (place, path) = (&self.working_directory, Path::new(file));
        let common = place.components().zip(path.components()).take_while(|(a, b)| a == b).count();
        let up = place.components().count() - common;
        // What has only the root in common is far away.
        if common < 2 || up == 0 || up > MAX_UP {
            return self.shown(file).into();
        }
        let beside: PathBuf = path.components().skip(common).collect();
        let named = format!("{}{}", "../".repeat(up), beside.display());
        if named.len() < file.len() { named.into() } else { file.into() }
    }

    /// `file` as programs find it: relative to the working directory if it lies below.
    pub fn shown<'f>(&self, file: &'f str) -> &'f str {
        let below = Path::new(file).strip_prefix(&self.working_directory).ok();
        below
            .filter(|_| !self.working_directory.as_os_str().is_empty())
            .and_then(Path::to_str)
            .filter(|below| !below.is_empty())
            .unwrap_or(file)
    }
}

/// What was found in one job, worst first; `notes` gets the rest. `hung` are all deadlocks of the
/// run, `seen` where ranks were last, `directory` where it was started; `libraries` are directories
/// of code that is not the user's.
fn findings(
    logs: &[RankLog],
    hung: &[Deadlock],
    seen: &[Stuck],
    directory: &Path,
    libraries: &[PathBuf],
    notes: &mut notes::Notes,
) -> Vec<Finding> {
    let potential = potential_deadlock::cycles(logs);
    let wildcards = wildcards::races(logs);
    let sites = potential.iter().flat_map(PotentialDeadlock::sites);
    let sites = sites.chain(wildcards.iter().flat_map(WildcardRace::sites));
    let symbols = Symbols::of(logs, sites).with_libraries(libraries);
    let observed = logs.iter().flat_map(|log| {
        let aborted = notes::is_ended_by_abort(log, logs);
        let of_rank = observations(log, &symbols);
        of_rank.filter(move |seen| !aborted || seen.finding.code != Code::CallFailed)
    });
    let mut found = merge::merge(observed.chain(bounds::observations(logs, &symbols)));
    let hung: Vec<_> = hung.iter().filter(|job| jobs::is_of(job, logs)).cloned().collect();
    notes.add_logs(logs, !hung.is_empty());
    if hung.is_empty() {
        let waits = deadlock::last_seen(seen, logs, &symbols);
        waits.into_iter().for_each(|(rank, text)| notes.add(text, Some(rank)));
    }
    found.extend(messages::findings(logs, &symbols));
    found.extend(wildcards::findings(&wildcards, &symbols));
    let volumes = pairwise_volumes::findings(logs, &symbols);
    found.extend(pairwise_volumes::without_roots(volumes, &found));
    found.extend(deadlock::findings(&hung, logs, &symbols));
    found.extend(potential_deadlock::findings(&potential, &symbols));
    leave_out_explained(&mut found);
    found.sort_by_key(|finding| (std::cmp::Reverse(finding.severity()), finding.code));
    notes.add_missing_lines(&found, &symbols);
    notes.add_newer_sources(&found, directory);
    found
}

/// Leaves out errors that were returned where other findings are errors, from which they may
/// follow.
fn leave_out_explained(findings: &mut Vec<Finding>) {
    // A message that is too long may be what the program crashes of.
    let crashes = |code| matches!(code, Code::CallCrashed | Code::ProgramCrashed);
    let explains =
        |finding: &Finding| finding.severity() == Severity::Error && !crashes(finding.code);
    if findings.iter().any(explains) {
        findings.retain(|finding| finding.code != Code::ErrorIgnored);
    }
}

fn observations<'r>(
    log: &'r RankLog,
    symbols: &'r Symbols,
) -> impl Iterator<Item = Observation> + 'r {
    // Those that were taken back have no count.
    let findings = log.findings.iter().enumerate().filter(|(_, observed)| observed.count > 0);
    findings.map(|(sequence, observed)| Observation {
        rank: log.rank,
        sequence,
        count: observed.count,
        finding: observed.finding.clone(),
        stacks: observed.finding.sites.iter().map(|site| symbols.stack(log, site)).collect(),
        completed: observed.completed.clone().map(|site| {
            let stack = symbols.stack(log, &site);
            (site, stack)
        }),
    })
}
