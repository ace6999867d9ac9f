//! How the ranks of a job find each other's memory, though some may not run under commsan at all.
//!
//! No message is sent for it: a rank that does not know of commsan would wait for the program's
//! own messages among ours, or we for it. The first rank creates the memory and leaves its path in
//! the run directory, under a name that only ranks of this job know. Others look for it for a
//! while. Whether all have come is decided once, when it first matters, and for all.

use crate::job_shm::JobShm;
use crate::memory::{PRESENT, STATE};
use crate::other_nodes::NodeFinder;
use crate::process::{Status, ancestors, hash, pid_namespace};
use crate::relay::Relay;
use crate::{Memory, identity, nodes};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};
use std::time::{Duration, Instant};

/// How long to look for others.
const ATTACH_TIMEOUT: Duration = Duration::from_secs(3);
const POLL_INTERVAL: Duration = Duration::from_millis(2);

const UNDECIDED: u64 = 0;
const ALL_HERE: u64 = 1;
const OFF: u64 = 2;

/// Why there is no memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttachError {
    /// No launcher is among the ancestors of this process.
    NoLauncher,
    /// The system refuses the memory.
    Refused,
    /// The first rank is not here: on another node, or not checked.
    NotHere,
    /// The job has no name by which its nodes could find each other.
    NoName,
}

/// The same where the job runs on several nodes: `is_first` of those on this one. Each node has its own memory, and
/// a relay that answers for it, which the first rank gets.
pub fn attach_across_nodes(
    directory: &Path,
    (rank, ranks): (usize, usize),
    is_first: bool,
) -> Result<(JobShm, Option<Relay>), AttachError> {
    let node = format!("{:016x}", job(ranks).ok_or(AttachError::NoLauncher)?);
    let job = identity().ok_or(AttachError::NoName)?.replace('.', "_");
    let own = nodes::name(&job, &node);
    let place = directory.join(format!("memory-{node}"));
    let (memory, relay) = match is_first {
        true => {
            let memory = create(&place, ranks)?;
            let relay = Relay::announce(&directory.join(&own), memory, rank);
            (memory, Some(relay.map_err(|_| AttachError::Refused)?))
        }
        false => (look_for(&place, ranks)?, None),
    };
    let finder = Box::leak(Box::new(NodeFinder::new(directory.to_owned(), job, own)));
    Ok((JobShm::with_others(memory, rank, finder), relay))
}

/// Meets the other ranks of the job; `directory` is one that all of them see.
pub fn attach(directory: &Path, rank: usize, ranks: usize) -> Result<JobShm, AttachError> {
    let place = directory.join(format!("job-{:016x}", job(ranks).ok_or(AttachError::NoLauncher)?));
    let memory = match rank {
        0 => create(&place, ranks)?,
        _ => look_for(&place, ranks)?,
    };
    Ok(JobShm::new(memory, rank))
}

fn create(place: &PathBuf, ranks: usize) -> Result<Memory, AttachError> {
    let (memory, file, path) = Memory::create(ranks).map_err(|_| AttachError::Refused)?;
    // Others may come late.
    std::mem::forget(file);
    let draft = place.with_extension("draft");
    fs::write(&draft, format!("{path} {ranks}"))
        .and_then(|()| fs::rename(&draft, place))
        .map_err(|_| AttachError::Refused)?;
    Ok(memory)
}

fn look_for(place: &Path, ranks: usize) -> Result<Memory, AttachError> {
    let begin = Instant::now();
    while begin.elapsed() < ATTACH_TIMEOUT {
        if let Some((path, _)) = read(place) {
            return Memory::open(&path, ranks).map_err(|_| AttachError::NotHere);
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    Err(AttachError::NotHere)
}

/// The path of a job's memory, and how many ranks it is for.
pub(crate) fn read(place: &Path) -> Option<(String, usize)> {
    let text = fs::read_to_string(place).ok()?;
    let (path, ranks) = text.split_once(' ')?;
    Some((path.to_owned(), ranks.parse().ok()?))
}

/// A number that the processes of one job on one node have in common, and no other job of the
/// run: which process launched them, and when that began.
fn job(ranks: usize) -> Option<u64> {
    let own = std::process::id();
    if ranks == 1 {
        return Some(own.into());
    }
    let (process, Status { start, .. }) =
        ancestors(own as _).find(|(_, status)| status.launches())?;
    let text = format!("{:x} {process} {start} {ranks}", pid_namespace());
    Some(hash(text.as_bytes()))
}

impl JobShm {
    /// This rank tells others of its order from now on.
    pub fn attend(&self) {
        self.mine().header[PRESENT].store(1, Release);
    }

    /// Whether all ranks of the job are here. The first to ask waits a while for those that are
    /// late, and its answer holds for all.
    pub fn is_complete(&self) -> bool {
        if self.finder.is_some() {
            return self.is_complete_there();
        }
        let begin = Instant::now();
        let state = &self.of(0).header[STATE];
        while state.load(Acquire) == UNDECIDED {
            let decision = match (0..self.ranks()).all(|rank| self.memory.is_present(rank)) {
                true => ALL_HERE,
                false if begin.elapsed() > ATTACH_TIMEOUT => OFF,
                false => {
                    std::thread::sleep(POLL_INTERVAL);
                    continue;
                }
            };
            let _ = state.compare_exchange(UNDECIDED, decision, AcqRel, Acquire);
        }
        state.load(Acquire) == ALL_HERE
    }

    /// Nothing here can be relied upon from now on, by nobody.
    pub fn switch_off(&self) {
        self.switch_off_here();
        self.switch_off_there();
    }

    pub(crate) fn switch_off_here(&self) {
        self.of(0).header[STATE].store(OFF, Release);
    }

    /// Whether somebody has said so.
    pub fn is_off(&self) -> bool {
        self.of(0).header[STATE].load(Acquire) == OFF
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs;
    use std::ffi::OsString;

    #[test]
    fn all_are_here_or_none_counts() {
        let (memory, _file, _) = Memory::create(2).unwrap();
        let (a, b) = (JobShm::new(memory, 0), JobShm::new(memory, 1));
        a.attend();
        std::thread::scope(|scope| {
            let answer = scope.spawn(|| a.is_complete());
            std::thread::sleep(Duration::from_millis(50));
            b.attend();
            assert!(answer.join().unwrap());
        });
        assert!(b.is_complete() && !b.is_off());
        b.switch_off();
        assert!(a.is_off() && !a.is_complete());
    }

    #[test]
    fn a_single_process_meets_itself() {
        let directory = std::env::temp_dir();
        let shm = attach(&directory, 0, 1).unwrap();
        shm.attend();
        assert!(shm.is_complete());
        let name = OsString::from(format!("job-{:016x}", job(1).unwrap()));
        let seen = jobs(&directory, |_| false).into_iter().find(|job| job.name() == name);
        shm.rendezvous().count_mismatch();
        assert_eq!(seen.unwrap().rendezvous().mismatches(), 1);
        assert!(jobs(&directory, |known| known == name).iter().all(|job| job.name() != name));
        let left = directory.join(name);
        fs::remove_file(left).unwrap();
    }
}
