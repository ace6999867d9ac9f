//! The jobs of a run that had several: `ctest`, `make test`, a script.

use crate::facts::file_name;
use crate::{Report, Run};
use commsan_findings::Finding;
use commsan_rundir::{Deadlock, RankLog};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// Characters of a program and its arguments that are shown.
const MAX_TITLE: usize = 60;

/// A job of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Its name: that of the test that has started it, or what the environment calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Path of its program as the ranks know it.
    pub program: Option<String>,
    /// The first arguments of that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
    /// MPI library.
    pub mpi: Option<String>,
    /// Number of ranks in `MPI_COMM_WORLD`.
    pub ranks: u32,
    /// How many of them were not checked.
    pub unchecked: u32,
    /// What its processes have in common, and no others; empty if nothing is known.
    #[serde(skip)]
    pub id: String,
}

impl Job {
    /// `tests` are names of tests by what ranks call their jobs.
    pub(crate) fn of(logs: &[RankLog], tests: &BTreeMap<String, String>) -> Job {
        let starts = || logs.iter().filter_map(|log| log.start.as_ref());
        let ranks = starts().map(|start| start.size).max().unwrap_or(0);
        let checked = logs.iter().filter(|log| log.start.is_some() && log.unchecked.is_none());
        let first = starts().next();
        let called = first.map(|start| &*start.name).filter(|name| !name.is_empty());
        // What has several lines is only a way to find the name.
        let name = called.and_then(|called| match tests.get(called) {
            Some(name) => Some(name.clone()),
            None => Some(called.to_owned()).filter(|name| !name.contains('\n')),
        });
        let arguments = first.map_or(&[][..], |start| &start.arguments);
        Job {
            name,
            arguments: arguments.iter().map(|word| word.to_string()).collect(),
            program: starts().next().map(|start| start.program.to_string()),
            mpi: starts().next().map(|start| start.mpi.to_string()),
            ranks,
            unchecked: ranks.saturating_sub(checked.count() as u32),
            id: first.map(|start| start.job.to_string()).unwrap_or_default(),
        }
    }
}

/// Whether a job that hung is the one of these logs.
pub(crate) fn is_of(hung: &Deadlock, logs: &[RankLog]) -> bool {
    let is_here = |log: &RankLog| {
        let mut asked = log.waits.iter().map(|(process, _)| *process);
        asked.any(|process| {
            hung.ranks.iter().any(|rank| (rank.rank, rank.process) == (log.rank, process))
        })
    };
    logs.iter().any(is_here)
}

impl Run {
    /// `test_halo (job 2 of 5)`: the job of this number, counted from 1. How many there are is not
    /// known before the run has ended. Without a name, jobs are known by their programs; those of
    /// one program by its arguments, too.
    pub fn job_title(&self, number: u32) -> String {
        let job = number.checked_sub(1).and_then(|index| self.jobs.get(index as usize));
        let name = job.map_or_else(|| "a program".to_owned(), |job| self.name_of(job));
        match self.exit {
            Some(_) => format!("{name} (job {number} of {})", self.jobs.len()),
            None => format!("{name} (job {number})"),
        }
    }

    /// What the job of this [identifier](Job::id) is called; `None` where none is known by it.
    pub fn job_name(&self, id: &str) -> Option<String> {
        let mut known = self.jobs.iter().filter(|job| !id.is_empty() && job.id == id);
        known.next().map(|job| self.name_of(job))
    }

    fn name_of(&self, job: &Job) -> String {
        if let Some(name) = &job.name {
            return name.clone();
        }
        let program = file_name(job.program.as_deref().unwrap_or("a program"));
        let mut same = self.jobs.iter().filter(|other| other.program == job.program);
        if job.arguments.is_empty() || same.all(|other| other.arguments == job.arguments) {
            return program.to_owned();
        }
        let words = [&[program.to_owned()], &job.arguments[..]].concat().join(" ");
        match words.char_indices().nth(MAX_TITLE) {
            Some((end, _)) => format!("{}…", words[..end].trim_end()),
            None => words,
        }
    }
}

impl Report {
    /// The finding's message, with its job if the run had several.
    pub fn message<'r>(&self, finding: &'r Finding) -> Cow<'r, str> {
        match finding.job {
            Some(job) => format!("{}: {}", self.run.job_title(job), finding.message).into(),
            None => (&*finding.message).into(),
        }
    }
}
