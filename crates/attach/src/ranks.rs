//! Which processes of this machine are ranks of which job, as `/proc` and the variables of
//! launchers tell.

use crate::modules::mappings;
use commsan_job_shm::Membership;
use commsan_mpi_calls::abi::MpiFamily;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// A process.
#[derive(Clone, Debug)]
struct Process {
    parent: libc::pid_t,
    is_own: bool,
    has_ended: bool,
}

/// A job on this machine.
#[derive(Clone, Debug, Default)]
pub struct Job {
    /// Its ranks and their processes.
    pub ranks: BTreeMap<u32, libc::pid_t>,
    /// How many ranks it has in all, if that is known.
    pub size: Option<u32>,
    /// How many should be on this machine, if that is known.
    pub here: Option<u32>,
    /// What has started it; empty if it was nothing that is known.
    pub launcher: &'static str,
    /// Names of its nodes, as the batch system writes them.
    pub nodes: Option<String>,
}

/// The variables in the environment of a process as it was started.
fn variables(process: libc::pid_t) -> HashMap<String, String> {
    let bytes = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
    let entries = bytes.split(|byte| *byte == 0).filter_map(|entry| {
        let text = String::from_utf8_lossy(entry);
        let (name, value) = text.split_once('=')?;
        (!value.is_empty()).then(|| (name.to_owned(), value.to_owned()))
    });
    entries.collect()
}

/// The run directory of commsan's that a process, or one that it has started, belongs to.
pub fn run_directory(process: libc::pid_t) -> Option<PathBuf> {
    let all = processes();
    let of = |process| variables(process).remove("COMMSAN_RUN_DIR").map(PathBuf::from);
    of(process).or_else(|| descendants(process, &all).into_iter().find_map(of))
}

/// All processes.
fn processes() -> HashMap<libc::pid_t, Process> {
    // SAFETY: takes nothing.
    let own = unsafe { libc::geteuid() };
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let found = entries.filter_map(|entry| {
        let number: libc::pid_t = entry.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        let mut fields = stat.rsplit_once(") ")?.1.split_whitespace();
        let has_ended = matches!(fields.next()?, "Z" | "X");
        let parent = fields.next()?.parse().ok()?;
        let is_own = entry.metadata().is_ok_and(|file| file.uid() == own);
        Some((number, Process { parent, is_own, has_ended }))
    });
    found.collect()
}

/// All that a process has started, ascending.
fn descendants(process: libc::pid_t, all: &HashMap<libc::pid_t, Process>) -> Vec<libc::pid_t> {
    let mut found: Vec<_> =
        all.keys().copied().filter(|other| depth(*other, process, all).is_some()).collect();
    found.sort_unstable();
    found
}

/// How many generations lie between a process and its ancestor.
fn depth(
    process: libc::pid_t,
    ancestor: libc::pid_t,
    all: &HashMap<libc::pid_t, Process>,
) -> Option<usize> {
    let (mut at, mut depth) = (process, 0);
    while let Some(known) = all.get(&at).filter(|_| depth < 256) {
        (at, depth) = (known.parent, depth + 1);
        if at == ancestor {
            return Some(depth);
        }
    }
    None
}

/// The jobs that a process belongs to or has started. Alone it is a job of one rank.
pub fn jobs_of(process: libc::pid_t) -> Vec<Job> {
    let all = processes();
    let member = |process| membership(process).map(|(member, _)| member.job);
    let jobs: HashSet<String> = match member(process) {
        Some(job) => HashSet::from([job]),
        None => descendants(process, &all).into_iter().filter_map(member).collect(),
    };
    if jobs.is_empty() {
        let ranks = BTreeMap::from([(0, process)]);
        return vec![Job { ranks, size: Some(1), here: Some(1), ..Job::default() }];
    }
    jobs_among(&all, &|_, member| jobs.contains(&member.job))
}

/// All jobs of this user on this machine.
pub fn jobs_here() -> Vec<Job> {
    jobs_among(&processes(), &|process: &Process, _| process.is_own)
}

fn membership(process: libc::pid_t) -> Option<(Membership, Option<String>)> {
    let variables = variables(process);
    let read = |name: &str| variables.get(name).cloned();
    let nodes = ["SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST"].iter().find_map(|name| read(name));
    Some((Membership::of(process, &read)?, nodes))
}

fn jobs_among(
    all: &HashMap<libc::pid_t, Process>,
    is_wanted: &dyn Fn(&Process, &Membership) -> bool,
) -> Vec<Job> {
    let own = std::process::id().cast_signed();
    let is_own = |process| process == own || depth(own, process, all).is_some();
    type Candidates = BTreeMap<u32, Vec<libc::pid_t>>;
    let mut jobs: BTreeMap<String, (Job, Candidates)> = BTreeMap::new();
    let mut numbers: Vec<_> = all.iter().filter(|(_, one)| !one.has_ended).collect();
    numbers.sort_unstable_by_key(|(number, _)| **number);
    for (number, process) in numbers {
        let Some((member, nodes)) = membership(*number) else { continue };
        if !is_wanted(process, &member) || is_own(*number) {
            continue;
        }
        let (job, candidates) = jobs.entry(member.job).or_default();
        job.size = job.size.or(member.size);
        job.here = job.here.or(member.here);
        job.launcher = member.launcher;
        job.nodes = job.nodes.take().or(nodes);
        candidates.entry(member.rank).or_default().push(*number);
    }
    let found = jobs.into_values().map(|(job, candidates)| {
        let ranks = candidates
            .into_iter()
            .filter_map(|(rank, candidates)| Some((rank, chosen(&candidates, all)?)));
        Job { ranks: ranks.collect(), ..job }
    });
    found.collect()
}

/// Whether a process has loaded a library for communication.
fn uses_mpi(process: libc::pid_t) -> bool {
    mappings(process).iter().any(|mapping| {
        let name = mapping.path.rsplit('/').next().unwrap_or_default();
        MpiFamily::of_library(name.as_bytes()).is_some() || name.starts_with("liboshmem.so")
    })
}

/// The process that is the rank, of those with its variables: scripts start it, and it may start
/// others.
fn chosen(candidates: &[libc::pid_t], all: &HashMap<libc::pid_t, Process>) -> Option<libc::pid_t> {
    let generation = |process: &libc::pid_t| {
        candidates.iter().filter(|other| depth(*process, **other, all).is_some()).count()
    };
    let mut sorted = candidates.to_vec();
    sorted.sort_by_key(generation);
    // What such a process has forked has its libraries, too.
    let found = sorted.iter().copied().find(|process| uses_mpi(*process));
    found.or_else(|| sorted.last().copied())
}
