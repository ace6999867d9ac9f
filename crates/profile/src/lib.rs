//! What moved where, after the run: merged, named, asked and exported.
//!
//! ```text
//! rank-N.traffic → Merged → Places, Stacks, Objects → pair → Model + Index → answer, export
//! ```
//!
//! Files are read one at a time; what is in memory afterwards grows with call paths × pairs of
//! places, not with what was moved. Collectives stay what they are, one entry for each rank,
//! whatever is asked: nothing here holds every pair of ranks.

pub mod answer;
pub mod api;
mod assemble;
mod critical;
mod events;
pub mod export;
mod globals;
mod group;
mod index;
mod lanes;
mod merge;
mod model;
mod objects;
mod owners;
mod packed;
mod pair;
mod places;
mod sources;
mod spawned;
mod stacks;
pub mod summary;
#[cfg(feature = "synthetic")]
pub mod synthetic;
mod waits;

use commsan_findings::Finding;
use commsan_report::{Options, Report};
use commsan_rundir::traffic::{Kind, Snapshot};
use commsan_rundir::{RunDirectory, RunError, RunInfo};
use index::Index;
use merge::Merged;
use model::Model;
use sources::Sources;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::OnceLock;
use waits::Waits;

/// A run, ready to be asked.
#[derive(Debug)]
pub struct Profile {
    model: Model,
    index: Index,
    /// Those that occur, in the order of [`Kind::ALL`].
    kinds: Vec<Kind>,
    /// Who has waited for whom.
    waits: Waits,
    /// Events by thread, once somebody has asked.
    lanes: OnceLock<lanes::Index>,
    /// The critical path, once somebody has asked.
    path: OnceLock<critical::Path>,
    name: String,
    command: Vec<String>,
    sources: Sources,
    notes: Vec<String>,
    findings: Vec<Finding>,
    /// Whether any rank was checked.
    checked: bool,
}

/// How far reading has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is being done.
    pub stage: Stage,
    /// How much of it is done.
    pub done: usize,
    /// How much there is.
    pub of: usize,
}

/// What is being done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Files of ranks are read.
    Reading,
    /// Places in the program are looked up.
    Naming,
    /// Both ends of transfers are brought together.
    Pairing,
}

/// Why there is nothing to ask.
#[derive(Debug)]
pub enum ReadError {
    /// The directory cannot be read.
    Directory(RunError),
    /// It holds no traffic.
    NoTraffic(PathBuf),
    /// It holds traffic files, but none can be read; the reason of each.
    Unreadable(Vec<String>),
}

/// Jobs that a note names at most.
const MAX_JOBS: usize = 12;

/// What the jobs of a run that had several are called: `job 1 is test_halo (2 ranks), job 2 is …`.
fn names_of_jobs(merged: &Merged, report: &Report) -> Option<String> {
    if merged.jobs.len() < 2 {
        return None;
    }
    let named = (1..).zip(&merged.jobs).take(MAX_JOBS).map(|(number, (id, job))| {
        let name = report.run.job_name(id).unwrap_or_else(|| "a program".to_owned());
        format!("job {number} is {name} ({})", summary::number(job.size.into(), "rank"))
    });
    let mut text = named.collect::<Vec<_>>().join(", ");
    if let Some(more @ 1..) = merged.jobs.len().checked_sub(MAX_JOBS) {
        text.push_str(&format!(", and {more} more"));
    }
    Some(text)
}

impl std::fmt::Display for ReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ReadError::Directory(error) => error.fmt(f),
            ReadError::NoTraffic(path) => write!(
                f,
                "`{}` has no traffic: no rank has written a `rank-N.traffic`; it takes `commsan \
                 profile`, or `commsan run --profile`",
                path.display()
            ),
            ReadError::Unreadable(reasons) => {
                write!(f, "no traffic file can be read: {}", reasons.join("; "))
            }
        }
    }
}

impl std::error::Error for ReadError {}

/// Reasons that an error lists.
const MAX_REASONS: usize = 4;

impl Profile {
    /// Reads a run. What is missing or damaged becomes a note, as long as there is anything to
    /// show.
    ///
    /// # Errors
    /// When there is nothing to show.
    pub fn read(
        run: &RunDirectory,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Profile, ReadError> {
        let files = run.traffic().map_err(ReadError::Directory)?;
        if files.is_empty() {
            return Err(ReadError::NoTraffic(run.path().to_owned()));
        }
        let (mut merged, mut problems) = (Merged::default(), vec![]);
        for (done, (rank, path)) in files.iter().enumerate() {
            progress(Progress { stage: Stage::Reading, done, of: files.len() });
            let snapshot = Snapshot::read(path).map_err(|error| error.to_string());
            let added = snapshot.and_then(|snapshot| match snapshot.rank == *rank {
                true => merged.add(&snapshot),
                false => Err(format!("it is of rank {}: somebody renamed it", snapshot.rank)),
            });
            if let Err(problem) = added {
                let file = path.file_name().unwrap_or_default().to_string_lossy();
                problems.push(format!("`{file}` was left out: {problem}"));
            }
        }
        for (rank, path) in run.events().map_err(ReadError::Directory)? {
            let added = events::read(&path, rank).and_then(|events| merged.add_events(events));
            if let Err(problem) = added {
                let file = path.file_name().unwrap_or_default().to_string_lossy();
                problems.push(format!("`{file}` was left out: {problem}"));
            }
        }
        if merged.ranks.is_empty() {
            problems.truncate(MAX_REASONS);
            return Err(ReadError::Unreadable(problems));
        }
        let info = run.read_info().unwrap_or_else(|error| {
            problems.push(error.to_string());
            RunInfo::default()
        });
        let report = Report::from_run(run, &Options::default());
        let sites = report.findings.iter().flat_map(|finding| &finding.sites);
        let files = sites.filter_map(|site| site.file.clone()).collect();
        let jobs = names_of_jobs(&merged, &report);
        let mut profile = Profile::of(merged, problems, info, &files, progress);
        profile.notes.splice(..0, jobs);
        profile.name = run.name();
        profile.checked = report.run.has_looked();
        profile.findings = report.findings;
        Ok(profile)
    }

    /// A run of which this is known.
    ///
    /// # Errors
    /// When two are of one rank.
    pub fn of_snapshots<'s>(
        snapshots: impl IntoIterator<Item = &'s Snapshot>,
        info: RunInfo,
    ) -> Result<Profile, String> {
        let mut merged = Merged::default();
        for snapshot in snapshots {
            merged.add(snapshot)?;
        }
        Ok(Profile::of(merged, vec![], info, &BTreeSet::new(), &mut |_| ()))
    }

    fn of(
        merged: Merged,
        mut notes: Vec<String>,
        info: RunInfo,
        more_files: &BTreeSet<String>,
        progress: &mut dyn FnMut(Progress),
    ) -> Profile {
        let began = merged.ranks.values().map(|rank| rank.span.0).min().unwrap_or(0);
        let sources = Sources { directory: info.directory, began };
        let model = assemble::assemble(merged, &sources, more_files, progress);
        notes.extend(model.notes.iter().cloned());
        notes.extend(model.log.notes());
        let occurs = |kind: &Kind| model.rows.iter().any(|row| row.kind == *kind);
        let kinds = Kind::ALL.into_iter().filter(occurs).collect();
        let (name, command, findings) = (String::new(), info.command, vec![]);
        let index = Index::of(&model);
        let checked = false;
        let waits = waits::find(&model.log, |site| model.call_of_site(site).contains("arrier"));
        let (lanes, path) = (OnceLock::new(), OnceLock::new());
        Profile {
            index,
            waits,
            lanes,
            path,
            model,
            kinds,
            name,
            command,
            sources,
            notes,
            findings,
            checked,
        }
    }

    /// Position of a kind that occurs.
    fn kind(&self, kind: Kind) -> usize {
        self.kinds.iter().position(|known| *known == kind).unwrap_or(0)
    }
}
