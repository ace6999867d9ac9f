//! How the ranks of a job find each other's memory, though some may not run under commsan at all.
//!
//! No message is sent for it: a rank that does not know of commsan would wait for the program's
//! own messages among ours, or we for it. The first rank creates the memory and leaves its path in
//! the run directory, under a name that only ranks of this job know. Others look for it for a
//! while. Whether all have come is decided once, when it first matters, and for all.

use crate::memory::{PRESENT, STATE};
use crate::{Fabric, Memory};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};
use std::time::{Duration, Instant};

/// How long to look for others.
const PATIENCE: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_millis(2);

const UNDECIDED: u64 = 0;
const ALL_HERE: u64 = 1;
const OFF: u64 = 2;

/// Why there is no memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotMet {
    /// No launcher is among the ancestors of this process.
    NoLauncher,
    /// The system refuses the memory.
    Refused,
    /// The first rank is not here: on another node, or not checked.
    NotHere,
}

/// Meets the other ranks of the job; `directory` is one that all of them see.
pub fn meet(directory: &Path, rank: usize, ranks: usize) -> Result<Fabric, NotMet> {
    let place = directory.join(format!("job-{:016x}", job(ranks).ok_or(NotMet::NoLauncher)?));
    let memory = match rank {
        0 => create(&place, ranks)?,
        _ => look_for(&place, ranks)?,
    };
    let fabric = Fabric::new(memory, rank);
    fabric.mine().header[PRESENT].store(1, Release);
    Ok(fabric)
}

fn create(place: &PathBuf, ranks: usize) -> Result<Memory, NotMet> {
    let (memory, file, path) = Memory::create(ranks).map_err(|_| NotMet::Refused)?;
    // Others may come late.
    std::mem::forget(file);
    let draft = place.with_extension("draft");
    fs::write(&draft, path)
        .and_then(|()| fs::rename(&draft, place))
        .map_err(|_| NotMet::Refused)?;
    Ok(memory)
}

fn look_for(place: &Path, ranks: usize) -> Result<Memory, NotMet> {
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE {
        if let Ok(path) = fs::read_to_string(place) {
            return Memory::open(&path, ranks).map_err(|_| NotMet::NotHere);
        }
        std::thread::sleep(PAUSE);
    }
    Err(NotMet::NotHere)
}

/// A number that the processes of one job on one node have in common, and no other job of the
/// run: which process launched them, and when that began.
fn job(ranks: usize) -> Option<u64> {
    let mut pid = std::process::id();
    if ranks == 1 {
        return Some(pid.into());
    }
    for _ in 0..64 {
        let (name, parent, start) = status(pid)?;
        if pid != std::process::id() && LAUNCHERS.iter().any(|known| name.starts_with(known)) {
            let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
            let space = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
            let text = format!("{boot} {} {pid} {start} {ranks}", space.display());
            return Some(hash(text.as_bytes()));
        }
        pid = parent;
    }
    None
}

const LAUNCHERS: &[&str] = &[
    "mpirun",
    "mpiexec",
    "orterun",
    "orted",
    "prte",
    "hydra_",
    "slurmstepd",
    "flux-shell",
    "palsd",
];

/// Name, parent and start of a process.
fn status(pid: u32) -> Option<(String, u32, u64)> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (head, rest) = text.rsplit_once(')')?;
    let name = head.split_once('(')?.1.to_owned();
    let fields: Vec<&str> = rest.split_whitespace().collect();
    Some((name, fields.get(1)?.parse().ok()?, fields.get(19)?.parse().ok()?))
}

fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

impl Fabric {
    /// Whether all ranks of the job are here. The first to ask waits a while for those that are
    /// late, and its answer holds for all.
    pub fn is_complete(&self) -> bool {
        let state = &self.of(0).header[STATE];
        let begin = Instant::now();
        while state.load(Acquire) == UNDECIDED {
            let present = |rank| self.of(rank).header[PRESENT].load(Acquire) != 0;
            let decision = match (0..self.ranks()).all(present) {
                true => ALL_HERE,
                false if begin.elapsed() > PATIENCE => OFF,
                false => {
                    std::thread::sleep(PAUSE);
                    continue;
                }
            };
            let _ = state.compare_exchange(UNDECIDED, decision, AcqRel, Acquire);
        }
        state.load(Acquire) == ALL_HERE
    }

    /// Nothing here can be relied upon from now on, by nobody.
    pub fn switch_off(&self) {
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

    #[test]
    fn all_are_here_or_none_counts() {
        let (memory, _file, _) = Memory::create(2).unwrap();
        let (a, b) = (Fabric::new(memory, 0), Fabric::new(memory, 1));
        a.mine().header[PRESENT].store(1, Release);
        std::thread::scope(|scope| {
            let answer = scope.spawn(|| a.is_complete());
            std::thread::sleep(Duration::from_millis(50));
            b.mine().header[PRESENT].store(1, Release);
            assert!(answer.join().unwrap());
        });
        assert!(b.is_complete() && !b.is_off());
        b.switch_off();
        assert!(a.is_off() && !a.is_complete());
    }

    #[test]
    fn a_single_process_meets_itself() {
        let directory = std::env::temp_dir();
        let fabric = meet(&directory, 0, 1).unwrap();
        assert!(fabric.is_complete());
        let left = directory.join(format!("job-{:016x}", job(1).unwrap()));
        fs::remove_file(left).unwrap();
    }
}
