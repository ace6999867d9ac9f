//! Processes, as `/proc` describes them.

use std::fs;
use std::sync::OnceLock;

/// The state of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The kernel's letter: `R` running, `S` sleeping, `Z` ended; others are blocked or stopped.
    pub state: char,
    /// Nanoseconds of processor time, where the kernel counts it.
    pub ran: Option<u64>,
}

impl Seen {
    /// Reads the state of a process; `None` if there is none.
    pub fn of(process: u32) -> Option<Seen> {
        let state = Status::of(process.cast_signed())?.state;
        let text = fs::read_to_string(format!("/proc/{process}/schedstat")).ok();
        let ran = text.and_then(|text| text.split_whitespace().next()?.parse().ok());
        Some(Seen { state, ran })
    }
}

/// Where process numbers have the same meaning: a hash of this machine's boot and PID namespace.
pub(crate) fn pid_namespace() -> u64 {
    static PID_NAMESPACE: OnceLock<u64> = OnceLock::new();
    *PID_NAMESPACE.get_or_init(|| {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let space = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        hash(format!("{boot} {}", space.display()).as_bytes())
    })
}

/// The launcher among this process's descendants; `None` if there are several.
pub(crate) fn launcher() -> Option<libc::pid_t> {
    let own = std::process::id().cast_signed();
    let numbers = fs::read_dir("/proc").ok()?.flatten();
    let all = numbers.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_outermost = |process: &libc::pid_t| {
        let until_own: Vec<_> =
            ancestors(*process).take_while(|(number, _)| *number != own).collect();
        Status::of(*process).is_some_and(|status| status.ends_jobs(*process))
            && until_own.iter().all(|(number, status)| !status.ends_jobs(*number))
            && ancestors(*process).any(|(number, _)| number == own)
    };
    let mut found = all.filter(is_outermost);
    found.next().filter(|_| found.next().is_none())
}

/// A process, identified by number and start time since numbers are reused.
pub(crate) struct Process {
    number: libc::pid_t,
    start: u64,
}

impl Process {
    pub(crate) fn of(number: libc::pid_t) -> Option<Process> {
        Status::of(number).map(|status| Process { number, start: status.start })
    }

    /// Sends the process a signal, unless it has ended; returns whether it did.
    pub(crate) fn signal(&self, signal: libc::c_int) -> bool {
        let is_there = Status::of(self.number).is_some_and(|status| status.start == self.start);
        // SAFETY: a system call that takes no memory.
        is_there && unsafe { libc::kill(self.number, signal) } == 0
    }
}

/// The ancestors of a process, its parent first.
pub(crate) fn ancestors(process: libc::pid_t) -> impl Iterator<Item = (libc::pid_t, Status)> {
    let mut next = Status::of(process).map(|status| status.parent);
    std::iter::from_fn(move || {
        let process = next?;
        let status = Status::of(process)?;
        next = Some(status.parent);
        Some((process, status))
    })
    .take(64)
}

const LAUNCHERS: &[&str] = &[
    "mpirun",
    "mpiexec",
    "orterun",
    "oshrun",
    "shmemrun",
    "orted",
    "prte",
    "hydra_",
    "srun",
    "slurmstepd",
    "flux-shell",
    "palsd",
    "jsm",
    "mpispawn",
];

/// Daemons of resource managers that start ranks: they also account for the job and clean up after
/// it, and are never signalled.
const SERVICES: &[&str] = &["slurmstepd", "flux-shell", "palsd", "jsmd"];

/// Launchers that collect the exit code of a rank at once: Open MPI's.
pub(crate) const AT_ONCE: &[&str] =
    &["mpirun", "mpiexec", "orterun", "oshrun", "shmemrun", "orted", "prte"];

/// A process as `/proc/PID/stat` describes it.
pub(crate) struct Status {
    pub(crate) name: String,
    pub(crate) state: char,
    pub(crate) parent: libc::pid_t,
    pub(crate) start: u64,
}

impl Status {
    pub(crate) fn of(process: libc::pid_t) -> Option<Status> {
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

    pub(crate) fn launches(&self) -> bool {
        LAUNCHERS.iter().any(|known| self.name.starts_with(known))
    }

    /// Whether the process of this number and status may be asked to end a job. Scripts, such as
    /// Intel MPI's `mpirun`, would end alone.
    pub(crate) fn ends_jobs(&self, number: libc::pid_t) -> bool {
        const SHELLS: [&str; 5] = ["sh", "bash", "dash", "ksh", "busybox"];
        let is_script = || {
            let executed = fs::read_link(format!("/proc/{number}/exe")).unwrap_or_default();
            let name = executed.file_name().unwrap_or_default().to_string_lossy();
            SHELLS.contains(&&*name)
        };
        self.launches() && !self.is_service() && !is_script()
    }

    /// Whether it belongs to a resource manager.
    pub(crate) fn is_service(&self) -> bool {
        SERVICES.iter().any(|known| self.name.starts_with(known))
    }

    /// Whether it has ended, and its parent has not collected its exit code yet.
    pub(crate) fn has_ended(&self) -> bool {
        matches!(self.state, 'Z' | 'X')
    }
}

pub(crate) fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
