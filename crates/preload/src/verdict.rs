//! Whether a process is an MPI rank, and of which MPI.

use crate::environment;
use crate::{libraries, linked_in, sanitizers};
use commsan_mpi_abi::MpiFamily;
use std::ffi::{CStr, c_char};

/// What to do with this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Leave it alone.
    NoRank,
    /// It is linked with MPI: restart it under the runtime.
    Rank(MpiFamily),
    /// It may load MPI later, as Python does: restart it under the runtime of this family.
    MaybeRank(MpiFamily),
    /// It uses devices without MPI, or may: restart it under the runtime for that.
    Serial,
    /// It would be restarted, had it not the sanitizer of this name, which excludes the runtime.
    Sanitized(&'static str),
    /// An MPI library is linked into it; nothing can come between.
    LinkedIn,
    /// It has two MPI libraries; no runtime could know whose calls it sees.
    Mixed,
    /// It uses the first MPI, but the launcher of the second one started it.
    WrongLauncher(MpiFamily, MpiFamily),
}

/// What the verdict rests on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Facts<'a> {
    /// MPI library loaded at start.
    pub linked: Option<MpiFamily>,
    /// Number of different MPI libraries loaded.
    pub distinct: usize,
    /// Whether the program has an MPI library linked in, where that matters.
    pub linked_in: bool,
    /// `--mpi`.
    pub forced: Option<MpiFamily>,
    /// `--mpi none`.
    pub serial: bool,
    /// It has loaded a CUDA runtime.
    pub cuda: bool,
    /// The sanitizer it has that excludes the runtime.
    pub sanitizer: Option<&'static str>,
    /// Whose launcher started this process as one of its ranks.
    pub launcher: Option<MpiFamily>,
    /// Some resource manager started it as one of its tasks.
    pub task: bool,
    /// Ranks that the launcher started, where it says.
    pub ranks: u64,
    /// `commsan run` has started this process itself.
    pub direct: bool,
    /// A process that started this one is already a rank under the runtime.
    pub child_of_rank: bool,
    /// File name of the program.
    pub program: &'a [u8],
}

/// What resource managers set in their tasks, apart from PMI and PMIx.
const TASKS: [&CStr; 5] = [
    c"SLURM_PROCID",
    c"FLUX_TASK_RANK",
    c"PALS_RANKID",
    c"JSM_NAMESPACE_RANK",
    c"MV2_COMM_WORLD_RANK",
];

impl Facts<'static> {
    /// Looks at the process.
    pub fn gather() -> Self {
        let loaded = libraries::loaded();
        let named = environment::get(c"COMMSAN_MPI").map(CStr::to_bytes);
        let forced = named.and_then(MpiFamily::from_key);
        let set = |name| environment::get(name).is_some();
        let pmi = set(c"PMI_RANK") || set(c"PMI_FD") || set(c"PMI_PORT");
        // Slurm speaks PMI to either MPI; only hydra numbers the ranks of a node this way.
        let hydra = pmi && (set(c"MPI_LOCALRANKID") || !set(c"SLURM_PROCID"));
        // Slurm speaks PMIx to any MPI, too.
        let pmix = set(c"PMIX_RANK") && !set(c"SLURM_PROCID");
        let launcher = if set(c"OMPI_COMM_WORLD_RANK") || pmix {
            Some(MpiFamily::OpenMpi)
        } else {
            hydra.then_some(MpiFamily::Mpich)
        };
        let both = hydra && launcher == Some(MpiFamily::OpenMpi);
        let size = environment::number(c"OMPI_COMM_WORLD_SIZE")
            .or_else(|| environment::number(c"PMI_SIZE"));
        // SAFETY: getpid has no preconditions.
        let process = u64::from(unsafe { libc::getpid() }.unsigned_abs());
        // SAFETY: getppid has no preconditions.
        let parent = u64::from(unsafe { libc::getppid() }.unsigned_abs());
        let task = pmi || launcher.is_some() || TASKS.into_iter().any(set);
        let child_of_rank =
            environment::number(crate::restart::RANK).is_some_and(|rank| rank != process);
        let program = program();
        let may_be_static = task && loaded.distinct == 0 && !child_of_rank;
        Facts {
            linked: loaded.mpi(),
            distinct: loaded.distinct,
            linked_in: may_be_static && !starts_others(program) && linked_in::has_mpi(),
            forced,
            serial: named == Some(b"none"),
            cuda: loaded.cudart.is_some(),
            sanitizer: sanitizers::loaded(),
            launcher,
            task,
            // Under two launchers at once nothing can be said about the inner one's size.
            ranks: if both { 1 } else { size.unwrap_or(1) },
            direct: environment::number(c"COMMSAN_PARENT") == Some(parent),
            child_of_rank,
            program,
        }
    }
}

/// File name the program was started by.
fn program() -> &'static [u8] {
    unsafe extern "C" {
        static program_invocation_short_name: *const c_char;
    }
    // SAFETY: glibc sets it before any constructor runs; it is null or a C string for ever.
    unsafe {
        if program_invocation_short_name.is_null() {
            return b"";
        }
        CStr::from_ptr(program_invocation_short_name).to_bytes()
    }
}

/// Programs that load MPI only when a script asks for it.
const INTERPRETERS: [&[u8]; 9] =
    [b"python", b"pypy", b"julia", b"R", b"perl", b"octave", b"ruby", b"java", b"lua"];

/// Programs that only start others; `--mpi` does not mean them.
const STARTERS: [&[u8]; 24] = [
    b"sh",
    b"bash",
    b"dash",
    b"zsh",
    b"ksh",
    b"csh",
    b"tcsh",
    b"fish",
    b"env",
    b"time",
    b"timeout",
    b"nice",
    b"numactl",
    b"taskset",
    b"stdbuf",
    b"setsid",
    b"xterm",
    b"gdb",
    b"lldb",
    b"strace",
    b"perf",
    b"valgrind",
    b"tee",
    b"commsan",
];

/// Programs that start the ranks of a job.
const LAUNCHERS: [&[u8]; 11] = [
    b"mpirun",
    b"mpiexec",
    b"orterun",
    b"oshrun",
    b"shmemrun",
    b"prterun",
    b"prun",
    b"srun",
    b"jsrun",
    b"aprun",
    b"flux",
];

fn starts_others(program: &[u8]) -> bool {
    // Debian's names have the library's: mpirun.mpich, mpiexec.hydra.
    let base = program.split(|byte| *byte == b'.').next().unwrap_or(program);
    STARTERS.contains(&program) || LAUNCHERS.contains(&base)
}

fn is_interpreter(program: &[u8]) -> bool {
    INTERPRETERS.iter().any(|name| {
        // A version may follow: python3.11, lua5.4.
        let rest = program.strip_prefix(*name);
        rest.is_some_and(|rest| rest.iter().all(|b| b.is_ascii_digit() || *b == b'.' || *b == b'-'))
    })
}

/// Decides from the facts alone.
pub fn decide(facts: &Facts<'_>) -> Verdict {
    match (role(facts), facts.sanitizer) {
        (Verdict::Rank(_) | Verdict::MaybeRank(_) | Verdict::Serial, Some(name)) => {
            Verdict::Sanitized(name)
        }
        (verdict, _) => verdict,
    }
}

/// What it is, whatever else is in it.
fn role(facts: &Facts<'_>) -> Verdict {
    if facts.distinct > 1 {
        return Verdict::Mixed;
    }
    if let Some(mpi) = facts.linked {
        // Any library may implement the standard ABI.
        let has_own_launcher = mpi != MpiFamily::Standard && facts.ranks > 1;
        let wrong = facts.launcher.filter(|launcher| *launcher != mpi && has_own_launcher);
        return match wrong {
            Some(launcher) if facts.forced != Some(mpi) => Verdict::WrongLauncher(mpi, launcher),
            _ => Verdict::Rank(mpi),
        };
    }
    if facts.child_of_rank {
        return Verdict::NoRank;
    }
    let interpreter = is_interpreter(facts.program);
    if facts.cuda || facts.serial && interpreter {
        return Verdict::Serial;
    }
    if !facts.task {
        // Without a launcher, `--mpi` means the command itself.
        let is_meant = facts.direct && !starts_others(facts.program);
        return match facts.forced {
            Some(mpi) if is_meant => Verdict::MaybeRank(mpi),
            _ => Verdict::NoRank,
        };
    }
    if facts.linked_in {
        return Verdict::LinkedIn;
    }
    match (facts.forced, facts.launcher) {
        (Some(mpi), _) if interpreter || !STARTERS.contains(&facts.program) => {
            Verdict::MaybeRank(mpi)
        }
        (None, Some(mpi)) if interpreter => Verdict::MaybeRank(mpi),
        _ => Verdict::NoRank,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use MpiFamily::*;

    fn linked(mpi: MpiFamily) -> Facts<'static> {
        Facts { linked: Some(mpi), distinct: 1, ranks: 1, program: b"app", ..Facts::default() }
    }

    fn under(launcher: MpiFamily, program: &[u8]) -> Facts<'_> {
        Facts { launcher: Some(launcher), task: true, ranks: 4, program, ..Facts::default() }
    }

    #[test]
    fn linked_programs_are_ranks_with_and_without_launcher() {
        assert_eq!(decide(&linked(OpenMpi)), Verdict::Rank(OpenMpi));
        let facts = Facts { linked: Some(Mpich), distinct: 1, ..under(Mpich, b"app") };
        assert_eq!(decide(&facts), Verdict::Rank(Mpich));
        let child = Facts { child_of_rank: true, ..linked(OpenMpi) };
        assert_eq!(decide(&child), Verdict::Rank(OpenMpi));
    }

    #[test]
    fn helpers_are_left_alone() {
        for program in [&b"sh"[..], b"tee", b"orted", b"hydra_pmi_proxy"] {
            assert_eq!(decide(&under(OpenMpi, program)), Verdict::NoRank);
            assert_eq!(decide(&Facts { program, ..Facts::default() }), Verdict::NoRank);
        }
    }

    #[test]
    fn interpreters_count_only_under_a_launcher_and_not_below_a_rank() {
        let python = under(Mpich, b"python3.11");
        assert_eq!(decide(&python), Verdict::MaybeRank(Mpich));
        assert_eq!(decide(&Facts { child_of_rank: true, ..python }), Verdict::NoRank);
        let alone = Facts { program: b"python3", ..Facts::default() };
        assert_eq!(decide(&alone), Verdict::NoRank);
        assert_eq!(decide(&under(OpenMpi, b"pythonic")), Verdict::NoRank);
    }

    #[test]
    fn a_named_mpi_reaches_programs_that_load_it_late_but_not_shells() {
        let host =
            Facts { forced: Some(OpenMpi), task: true, program: b"host", ..Facts::default() };
        assert_eq!(decide(&host), Verdict::MaybeRank(OpenMpi));
        assert_eq!(decide(&Facts { program: b"bash", ..host }), Verdict::NoRank);
        assert_eq!(decide(&Facts { task: false, ..host }), Verdict::NoRank);
        // Alone, if it is the command itself and no launcher.
        let alone = Facts { task: false, direct: true, ..host };
        assert_eq!(decide(&alone), Verdict::MaybeRank(OpenMpi));
        assert_eq!(decide(&Facts { forced: None, ..alone }), Verdict::NoRank);
        for program in [&b"mpirun"[..], b"mpiexec.hydra", b"srun", b"sh"] {
            assert_eq!(decide(&Facts { program, ..alone }), Verdict::NoRank);
        }
    }

    #[test]
    fn devices_can_be_used_without_mpi() {
        let cuda = Facts { cuda: true, program: b"train", ..Facts::default() };
        assert_eq!(decide(&cuda), Verdict::Serial);
        assert_eq!(decide(&Facts { task: true, launcher: Some(OpenMpi), ..cuda }), Verdict::Serial);
        assert_eq!(decide(&Facts { child_of_rank: true, ..cuda }), Verdict::NoRank);
        assert_eq!(decide(&Facts { cuda: true, ..linked(OpenMpi) }), Verdict::Rank(OpenMpi));
        let python = Facts { serial: true, program: b"python3.11", ..Facts::default() };
        assert_eq!(decide(&python), Verdict::Serial);
        assert_eq!(decide(&Facts { program: b"bash", ..python }), Verdict::NoRank);
    }

    #[test]
    fn ranks_with_a_sanitizer_are_left_alone() {
        let sanitizer = Some("AddressSanitizer");
        let verdict = Verdict::Sanitized("AddressSanitizer");
        assert_eq!(decide(&Facts { sanitizer, ..linked(Mpich) }), verdict);
        assert_eq!(decide(&Facts { sanitizer, ..under(OpenMpi, b"python3") }), verdict);
        assert_eq!(decide(&Facts { sanitizer, ..under(OpenMpi, b"tee") }), Verdict::NoRank);
        assert_eq!(sanitizers::loaded(), None);
    }

    #[test]
    fn a_rank_with_a_library_linked_in_is_noticed() {
        let facts = Facts { linked_in: true, ..under(Mpich, b"app") };
        assert_eq!(decide(&facts), Verdict::LinkedIn);
        assert_eq!(decide(&Facts { forced: Some(Mpich), ..facts }), Verdict::LinkedIn);
        assert_eq!(decide(&Facts { child_of_rank: true, ..facts }), Verdict::NoRank);
    }

    #[test]
    fn two_libraries_or_the_wrong_launcher_are_noticed() {
        assert_eq!(decide(&Facts { distinct: 2, ..linked(OpenMpi) }), Verdict::Mixed);
        let wrong = Facts { launcher: Some(Mpich), ranks: 2, ..linked(OpenMpi) };
        assert_eq!(decide(&wrong), Verdict::WrongLauncher(OpenMpi, Mpich));
        let meant = Facts { forced: Some(OpenMpi), ..wrong };
        assert_eq!(decide(&meant), Verdict::Rank(OpenMpi));
        let any = Facts { linked: Some(Standard), ..wrong };
        assert_eq!(decide(&any), Verdict::Rank(Standard));
        let single = Facts { ranks: 1, ..wrong };
        assert_eq!(decide(&single), Verdict::Rank(OpenMpi));
    }
}
