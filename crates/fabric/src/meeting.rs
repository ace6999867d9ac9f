//! How the ranks of a job find each other's memory, though some may not run under commsan at all.
//!
//! No message is sent for it: a rank that does not know of commsan would wait for the program's
//! own messages among ours, or we for it. The first rank creates the memory and leaves its path in
//! the run directory, under a name that only ranks of this job know. Others look for it for a
//! while. Whether all have come is decided once, when it first matters, and for all.

use crate::far::Far;
use crate::memory::{PRESENT, STATE};
use crate::{Board, Fabric, Memory, Relay, identity, nodes};
use std::ffi::{OsStr, OsString};
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
    /// The job has no name by which its nodes could find each other.
    NoName,
}

/// The same where the job runs on several nodes: `is_first` of those on this one. Each node has its own memory, and
/// a relay that answers for it, which the first rank gets.
pub fn meet_afar(
    directory: &Path,
    (rank, ranks): (usize, usize),
    is_first: bool,
) -> Result<(Fabric, Option<Relay>), NotMet> {
    let node = format!("{:016x}", job(ranks).ok_or(NotMet::NoLauncher)?);
    let job = identity().ok_or(NotMet::NoName)?.replace('.', "_");
    let own = nodes::name(&job, &node);
    let place = directory.join(format!("memory-{node}"));
    let (memory, relay) = match is_first {
        true => {
            let memory = create(&place, ranks)?;
            let relay = nodes::announce(&directory.join(&own), memory, rank);
            (memory, Some(relay.map_err(|_| NotMet::Refused)?))
        }
        false => (look_for(&place, ranks)?, None),
    };
    let far = Far::new(directory.to_owned(), job, own);
    Ok((Fabric::with_others(memory, rank, far), relay))
}

/// Meets the other ranks of the job; `directory` is one that all of them see.
pub fn meet(directory: &Path, rank: usize, ranks: usize) -> Result<Fabric, NotMet> {
    let place = directory.join(format!("job-{:016x}", job(ranks).ok_or(NotMet::NoLauncher)?));
    let memory = match rank {
        0 => create(&place, ranks)?,
        _ => look_for(&place, ranks)?,
    };
    Ok(Fabric::new(memory, rank))
}

fn create(place: &PathBuf, ranks: usize) -> Result<Memory, NotMet> {
    let (memory, file, path) = Memory::create(ranks).map_err(|_| NotMet::Refused)?;
    // Others may come late.
    std::mem::forget(file);
    let draft = place.with_extension("draft");
    fs::write(&draft, format!("{path} {ranks}"))
        .and_then(|()| fs::rename(&draft, place))
        .map_err(|_| NotMet::Refused)?;
    Ok(memory)
}

fn look_for(place: &Path, ranks: usize) -> Result<Memory, NotMet> {
    let begin = Instant::now();
    while begin.elapsed() < PATIENCE {
        if let Some((path, _)) = read(place) {
            return Memory::open(&path, ranks).map_err(|_| NotMet::NotHere);
        }
        std::thread::sleep(PAUSE);
    }
    Err(NotMet::NotHere)
}

/// The path of a job's memory, and how many ranks it is for.
fn read(place: &Path) -> Option<(String, usize)> {
    let text = fs::read_to_string(place).ok()?;
    let (path, ranks) = text.split_once(' ')?;
    Some((path.to_owned(), ranks.parse().ok()?))
}

/// A job of a run, as its launcher sees it.
pub struct Job {
    name: OsString,
    board: Board,
    /// The process that keeps the memory, the first rank.
    process: libc::pid_t,
    /// The launcher and the ranks, once they were asked to end.
    asked: Vec<Process>,
}

/// The jobs of a run on this node that are not known yet.
pub fn jobs(directory: &Path, mut known: impl FnMut(&OsStr) -> bool) -> Vec<Job> {
    let files = fs::read_dir(directory).into_iter().flatten().flatten();
    let places = files.map(|file| file.path()).filter(|path| {
        let name = path.file_name().unwrap_or_default();
        name.to_string_lossy().starts_with("job-") && path.extension().is_none() && !known(name)
    });
    places.filter_map(|place| Job::open(&place)).collect()
}

impl Job {
    fn open(place: &Path) -> Option<Job> {
        let (path, ranks) = read(place)?;
        let process = path.strip_prefix("/proc/")?.split_once('/')?.0.parse().ok()?;
        // Who has ended already keeps nothing, and shows as ranks that have not come.
        let memory = match Status::of(process).filter(|status| !status.has_ended()) {
            Some(_) => Memory::open(&path, ranks).ok()?,
            None => Memory::create(ranks).ok()?.0,
        };
        let name = place.file_name()?.to_owned();
        Some(Job { name, board: memory.board(), process, asked: Vec::new() })
    }

    /// The name of the job's file.
    pub fn name(&self) -> &OsStr {
        &self.name
    }

    /// What its ranks have left.
    pub fn board(&self) -> Board {
        self.board
    }

    /// Asks whoever launched the job to end it.
    pub fn ask_to_end(&mut self) {
        let outermost = |rank| ancestors(rank).filter(|(_, status)| status.launches()).last();
        let launcher = self.ranks().find_map(outermost).map_or(self.process, |(number, _)| number);
        self.asked =
            std::iter::once(launcher).chain(self.ranks()).filter_map(Process::of).collect();
        if let Some(launcher) = self.asked.first() {
            launcher.signal(libc::SIGTERM);
        }
    }

    /// The name of the launcher, if it sleeps though all ranks have ended and one of them waits for it to see
    /// that. It may do so for a moment. Launchers that first wait until nobody can write any more say nothing by it.
    pub fn sleeping_launcher(&self) -> Option<String> {
        let ranks: Vec<_> = self.ranks().filter_map(Status::of).collect();
        if !ranks.iter().all(Status::has_ended) {
            return None;
        }
        let mut parents = ranks.iter().filter_map(|rank| Status::of(rank.parent));
        let sees = |parent: &Status| AT_ONCE.iter().any(|known| parent.name.starts_with(known));
        parents.find(|parent| parent.state == 'S' && sees(parent)).map(|parent| parent.name)
    }

    fn ranks(&self) -> impl Iterator<Item = libc::pid_t> {
        // Those that have not come are of no number.
        let known = self.board.processes().map(u32::cast_signed).filter(|process| *process > 0);
        std::iter::once(self.process).chain(known.filter(|process| *process != self.process))
    }

    /// Ends what is left of a job that was asked to end; whether that was something.
    pub fn kill(&self) -> bool {
        let killed = self.asked.iter().filter(|process| process.signal(libc::SIGKILL));
        killed.count() > 0
    }
}

/// A process that may have ended, and its number have been given to another one.
struct Process {
    number: libc::pid_t,
    start: u64,
}

impl Process {
    fn of(number: libc::pid_t) -> Option<Process> {
        Status::of(number).map(|status| Process { number, start: status.start })
    }

    /// Sends it a signal, unless it has ended.
    fn signal(&self, signal: libc::c_int) -> bool {
        let is_there = Status::of(self.number).is_some_and(|status| status.start == self.start);
        // SAFETY: a system call that takes no memory.
        is_there && unsafe { libc::kill(self.number, signal) } == 0
    }
}

/// The processes that a process comes from, the nearest first.
fn ancestors(process: libc::pid_t) -> impl Iterator<Item = (libc::pid_t, Status)> {
    let mut next = Status::of(process).map(|status| status.parent);
    std::iter::from_fn(move || {
        let process = next?;
        let status = Status::of(process)?;
        next = Some(status.parent);
        Some((process, status))
    })
    .take(64)
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
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let space = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    let text = format!("{boot} {} {process} {start} {ranks}", space.display());
    Some(hash(text.as_bytes()))
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

/// Those that ask for the exit code of a rank as soon as there is one: Open MPI's.
const AT_ONCE: &[&str] = &["mpirun", "mpiexec", "orterun", "orted", "prte"];

/// What the kernel says of a process.
struct Status {
    name: String,
    state: char,
    parent: libc::pid_t,
    start: u64,
}

impl Status {
    fn of(process: libc::pid_t) -> Option<Status> {
        let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        let (head, rest) = text.rsplit_once(')')?;
        let name = head.split_once('(')?.1.to_owned();
        let fields: Vec<&str> = rest.split_whitespace().collect();
        let state = fields.first()?.chars().next()?;
        Some(Status {
            name,
            state,
            parent: fields.get(1)?.parse().ok()?,
            start: fields.get(19)?.parse().ok()?,
        })
    }

    fn launches(&self) -> bool {
        LAUNCHERS.iter().any(|known| self.name.starts_with(known))
    }

    /// Its parent has not asked for its exit code yet.
    fn has_ended(&self) -> bool {
        matches!(self.state, 'Z' | 'X')
    }
}

fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

impl Fabric {
    /// This rank tells others of its order from now on.
    pub fn attend(&self) {
        self.mine().header[PRESENT].store(1, Release);
    }

    /// Whether all ranks of the job are here. The first to ask waits a while for those that are
    /// late, and its answer holds for all.
    pub fn is_complete(&self) -> bool {
        if let Some(all) = self.finds_all() {
            return all;
        }
        let state = &self.of(0).header[STATE];
        let begin = Instant::now();
        while state.load(Acquire) == UNDECIDED {
            let decision = match (0..self.ranks()).all(|rank| self.memory.is_present(rank)) {
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

    #[test]
    fn all_are_here_or_none_counts() {
        let (memory, _file, _) = Memory::create(2).unwrap();
        let (a, b) = (Fabric::new(memory, 0), Fabric::new(memory, 1));
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
        let fabric = meet(&directory, 0, 1).unwrap();
        fabric.attend();
        assert!(fabric.is_complete());
        let name = OsString::from(format!("job-{:016x}", job(1).unwrap()));
        let seen = jobs(&directory, |_| false).into_iter().find(|job| job.name() == name);
        fabric.board().count_mismatch();
        assert_eq!(seen.unwrap().board().mismatches(), 1);
        assert!(jobs(&directory, |known| known == name).iter().all(|job| job.name() != name));
        let left = directory.join(name);
        fs::remove_file(left).unwrap();
    }
}
