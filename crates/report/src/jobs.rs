//! The jobs of a run that had several: `ctest`, `make test`, a script.

use crate::facts::file_name;
use crate::{Report, Run};
use commsan_findings::Finding;
use commsan_rundir::{Deadlock, RankLog};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// A job of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Path of its program as the ranks know it.
    pub program: Option<String>,
    /// MPI library.
    pub mpi: Option<String>,
    /// Number of ranks in `MPI_COMM_WORLD`.
    pub ranks: u32,
    /// How many of them were not checked.
    pub unchecked: u32,
}

impl Job {
    pub(crate) fn of(logs: &[RankLog]) -> Job {
        let starts = || logs.iter().filter_map(|log| log.start.as_ref());
        let ranks = starts().map(|start| start.size).max().unwrap_or(0);
        let checked = logs.iter().filter(|log| log.start.is_some() && log.unchecked.is_none());
        Job {
            program: starts().next().map(|start| start.program.to_string()),
            mpi: starts().next().map(|start| start.mpi.to_string()),
            ranks,
            unchecked: ranks.saturating_sub(checked.count() as u32),
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
    /// known before the run has ended.
    pub fn job_title(&self, number: u32) -> String {
        let job = number.checked_sub(1).and_then(|index| self.jobs.get(index as usize));
        let program = job.and_then(|job| job.program.as_deref());
        let name = file_name(program.unwrap_or("a program"));
        match self.exit {
            Some(_) => format!("{name} (job {number} of {})", self.jobs.len()),
            None => format!("{name} (job {number})"),
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
