//! Launchers, as their variables in the environment of ranks show them: which rank a process is,
//! what job it belongs to, and how that is ended from within.
//!
//! Some resource managers end a job only when asked: when one of its ranks ends in an error, the
//! others go on. Where batch systems leave launching to an MPI library (PBS, LSF, Grid Engine),
//! ranks have the variables of that library's launcher, and the batch system's number is all that
//! they have in common besides.

use std::process::{Command, ExitStatus, Stdio};

/// A launcher.
#[derive(Debug, PartialEq, Eq)]
pub struct Launcher {
    /// Its name, for people.
    pub name: &'static str,
    /// What it sets in each rank: variables, and what their values begin with. All of them.
    marks: &'static [(&'static str, &'static str)],
    /// The rank's number, among all and on its node.
    rank: &'static str,
    local_rank: &'static str,
    /// How many ranks there are.
    size: &'static str,
    /// How many of them are on this node, or on how many nodes they are.
    share: Share,
    /// What names the job.
    pub(crate) identity: Identity,
    /// What ends the job when one of its ranks has failed.
    ending: Ending,
}

/// How a launcher tells whether all ranks are on one node.
#[derive(Debug, PartialEq, Eq)]
enum Share {
    RanksHere(&'static str),
    Nodes(&'static str),
}

/// What ends a job.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// That a rank ends in an error.
    Error,
    /// That a signal ends a rank. If it ends in an error, ranks of its node are ended only.
    Signal,
    /// A command, followed by the values of variables.
    Command(&'static [&'static str], &'static [&'static str]),
}

/// What names a job.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Identity {
    /// The values of these variables, fit for people.
    Words(&'static [&'static str]),
    /// What follows this prefix in the value of a variable.
    Behind(&'static str, &'static str),
    /// A long value.
    Digest(&'static str),
    /// PMIx's namespace, with the server's address where it is only a number.
    NameSpace,
    /// The address of Hydra's `mpiexec`, on the command line of the proxy above the rank.
    HydraAddress,
}

const SLURM_STEP: &[&str] = &["SLURM_JOB_ID", "SLURM_STEP_ID"];
const SCANCEL: Ending = Ending::Command(&["scancel"], SLURM_STEP);

/// Those that set most come first: a rank may have variables of several, such as those of the
/// batch job in which its launcher runs.
const LAUNCHERS: &[Launcher] = &[
    Launcher {
        name: "srun with PMIx",
        marks: &[("PMIX_NAMESPACE", "slurm.pmix."), ("SLURM_STEP_ID", "")],
        rank: "PMIX_RANK",
        local_rank: "SLURM_LOCALID",
        size: "SLURM_STEP_NUM_TASKS",
        share: Share::Nodes("SLURM_STEP_NUM_NODES"),
        identity: Identity::Behind("PMIX_NAMESPACE", "slurm.pmix."),
        ending: SCANCEL,
    },
    Launcher {
        name: "jsrun",
        marks: &[("JSM_NAMESPACE_RANK", "")],
        rank: "JSM_NAMESPACE_RANK",
        local_rank: "JSM_NAMESPACE_LOCAL_RANK",
        size: "JSM_NAMESPACE_SIZE",
        share: Share::RanksHere("JSM_NAMESPACE_LOCAL_SIZE"),
        identity: Identity::NameSpace,
        ending: Ending::Error,
    },
    Launcher {
        name: "Open MPI 4's mpirun",
        marks: &[("OMPI_MCA_orte_precondition_transports", "")],
        rank: "OMPI_COMM_WORLD_RANK",
        local_rank: "OMPI_COMM_WORLD_LOCAL_RANK",
        size: "OMPI_COMM_WORLD_SIZE",
        share: Share::RanksHere("OMPI_COMM_WORLD_LOCAL_SIZE"),
        identity: Identity::Digest("OMPI_MCA_orte_precondition_transports"),
        ending: Ending::Error,
    },
    Launcher {
        name: "Open MPI 5's mpirun, or another of PMIx",
        marks: &[("PMIX_NAMESPACE", "")],
        rank: "PMIX_RANK",
        local_rank: "OMPI_COMM_WORLD_LOCAL_RANK",
        size: "OMPI_COMM_WORLD_SIZE",
        share: Share::RanksHere("OMPI_COMM_WORLD_LOCAL_SIZE"),
        identity: Identity::NameSpace,
        ending: Ending::Error,
    },
    Launcher {
        name: "Intel MPI's mpirun",
        marks: &[("I_MPI_HYDRA_UUID", "")],
        rank: "PMI_RANK",
        local_rank: "MPI_LOCALRANKID",
        size: "PMI_SIZE",
        share: Share::RanksHere("MPI_LOCALNRANKS"),
        identity: Identity::Digest("I_MPI_HYDRA_UUID"),
        ending: Ending::Signal,
    },
    Launcher {
        name: "MPICH's mpiexec",
        marks: &[("MPI_LOCALRANKID", "")],
        rank: "PMI_RANK",
        local_rank: "MPI_LOCALRANKID",
        size: "PMI_SIZE",
        share: Share::RanksHere("MPI_LOCALNRANKS"),
        identity: Identity::HydraAddress,
        ending: Ending::Signal,
    },
    Launcher {
        name: "MVAPICH's mpirun_rsh",
        marks: &[("MV2_COMM_WORLD_RANK", "")],
        rank: "MV2_COMM_WORLD_RANK",
        local_rank: "MV2_COMM_WORLD_LOCAL_RANK",
        size: "MV2_COMM_WORLD_SIZE",
        share: Share::RanksHere("MV2_COMM_WORLD_LOCAL_SIZE"),
        identity: Identity::Words(&["MPISPAWN_MPIRUN_HOST", "MPISPAWN_MPIRUN_ID"]),
        ending: Ending::Error,
    },
    // In batch scripts and interactive shells, which have steps of their own, no task is numbered
    // by PMI, and `is_rank` knows the numbers of these steps.
    Launcher {
        name: "srun",
        marks: &[("SLURM_STEP_ID", ""), ("SLURM_PROCID", "")],
        rank: "SLURM_PROCID",
        local_rank: "SLURM_LOCALID",
        size: "SLURM_STEP_NUM_TASKS",
        share: Share::Nodes("SLURM_STEP_NUM_NODES"),
        identity: Identity::Words(SLURM_STEP),
        ending: SCANCEL,
    },
    Launcher {
        name: "flux run",
        marks: &[("FLUX_TASK_RANK", "")],
        rank: "FLUX_TASK_RANK",
        local_rank: "FLUX_TASK_LOCAL_ID",
        size: "FLUX_JOB_SIZE",
        share: Share::Nodes("FLUX_JOB_NNODES"),
        identity: Identity::Words(&["FLUX_JOB_ID"]),
        ending: Ending::Command(&["flux", "cancel"], &["FLUX_JOB_ID"]),
    },
    Launcher {
        name: "PALS's mpiexec",
        marks: &[("PALS_RANKID", "")],
        rank: "PALS_RANKID",
        local_rank: "PALS_LOCAL_RANKID",
        size: "PMI_SIZE",
        share: Share::RanksHere("PMI_LOCAL_SIZE"),
        identity: Identity::Words(&["PALS_APID"]),
        ending: Ending::Error,
    },
    Launcher {
        name: "aprun",
        marks: &[("ALPS_APP_PE", "")],
        rank: "ALPS_APP_PE",
        local_rank: "PMI_LOCAL_RANK",
        size: "PMI_SIZE",
        share: Share::RanksHere("PMI_LOCAL_SIZE"),
        identity: Identity::Words(&["ALPS_APP_ID"]),
        ending: Ending::Error,
    },
    Launcher {
        name: "a launcher that speaks PMI",
        marks: &[("PMI_RANK", "")],
        rank: "PMI_RANK",
        local_rank: "PMI_LOCAL_RANK",
        size: "PMI_SIZE",
        share: Share::RanksHere("PMI_LOCAL_SIZE"),
        identity: Identity::Words(&["PMI_JOBID"]),
        ending: Ending::Signal,
    },
];

/// The numbers of batch jobs, for ranks whose launcher names no job. Several jobs of one batch job
/// then follow each other.
pub(crate) const BATCH_JOBS: [&str; 5] =
    ["PBS_JOBID", "LSB_JOBID", "SLURM_JOB_ID", "FLUX_JOB_ID", "JOB_ID"];

/// Steps of Slurm from here on are batch scripts, interactive shells and the like.
const FIRST_SPECIAL_STEP: u32 = 0xffff_fff0;

/// How variables are read: those of this process, but for tests.
pub(crate) type Variables<'v> = &'v dyn Fn(&str) -> Option<String>;

pub(crate) fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

impl Launcher {
    /// The one that has started this process as a rank.
    pub fn of_this_rank() -> Option<&'static Launcher> {
        Launcher::of(&environment)
    }

    pub(crate) fn of(variables: Variables<'_>) -> Option<&'static Launcher> {
        let has = |(name, start): &(&str, &str)| {
            variables(name).is_some_and(|value| value.starts_with(start))
        };
        let is_task = variables("SLURM_STEP_ID")
            .and_then(|step| step.parse().ok())
            .is_none_or(|step: u32| step < FIRST_SPECIAL_STEP);
        let mut all = LAUNCHERS.iter().filter(|launcher| launcher.marks.iter().all(has));
        all.find(|launcher| is_task || launcher.rank != "SLURM_PROCID")
    }

    /// The number of this process among all, and how many there are.
    pub fn rank_and_size(&self) -> Option<(u32, u32)> {
        self.rank_and_size_by(&environment)
    }

    fn rank_and_size_by(&self, variables: Variables<'_>) -> Option<(u32, u32)> {
        let number = |name| variables(name)?.parse().ok();
        Some((number(self.rank)?, number(self.size)?))
    }

    /// Likewise of a process with these variables.
    pub(crate) fn numbers(&self, variables: Variables<'_>) -> (Option<u32>, Option<u32>) {
        let number = |name| variables(name)?.parse().ok();
        (number(self.rank), number(self.size))
    }

    /// How many ranks are on the node of a process with these variables, if that is told.
    pub(crate) fn ranks_here(&self, variables: Variables<'_>) -> Option<u32> {
        match self.share {
            Share::RanksHere(name) => variables(name)?.parse().ok(),
            Share::Nodes(name) => {
                let nodes: u32 = variables(name)?.parse().ok()?;
                self.numbers(variables).1.filter(|_| nodes == 1)
            }
        }
    }

    /// The number of this process among those of its node.
    pub fn local_rank(&self) -> Option<usize> {
        self.local_rank_by(&environment)
    }

    fn local_rank_by(&self, variables: Variables<'_>) -> Option<usize> {
        variables(self.local_rank)?.parse().ok()
    }

    /// Whether it says that only some of so many ranks are on this node.
    pub fn has_several_nodes(&self, ranks: usize) -> bool {
        self.has_several_nodes_by(ranks, &environment)
    }

    fn has_several_nodes_by(&self, ranks: usize, variables: Variables<'_>) -> bool {
        let number = |name| variables(name)?.parse::<usize>().ok();
        match self.share {
            Share::RanksHere(name) => number(name).is_some_and(|here| here < ranks),
            Share::Nodes(name) => number(name).is_some_and(|nodes| nodes > 1),
        }
    }

    /// Whether the end of a rank on another node ends the job only if it is by a signal.
    pub(crate) fn ends_by_signal(&self) -> bool {
        self.ending == Ending::Signal
    }

    /// The command that ends this job and nothing else; `None` where the end of a rank does.
    pub fn cancel(&self) -> Option<Vec<String>> {
        self.cancel_by(&environment)
    }

    fn cancel_by(&self, variables: Variables<'_>) -> Option<Vec<String>> {
        let Ending::Command(command, names) = self.ending else { return None };
        let values: Option<Vec<_>> = names.iter().map(|name| variables(name)).collect();
        let command = command.iter().map(|word| (*word).to_owned());
        Some(command.chain([values?.join(".")]).collect())
    }
}

/// Runs a launcher's own command, without a word of it.
pub(crate) fn run(command: &[String]) -> Option<ExitStatus> {
    let (program, arguments) = command.split_first()?;
    let mut command = Command::new(program);
    command.args(arguments).env_remove("LD_PRELOAD");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::{identity_by, short};

    /// Reads variables `NAME=VALUE …`.
    fn reader(variables: &str) -> impl Fn(&str) -> Option<String> {
        let entries = variables.split(' ').filter_map(|entry| entry.split_once('='));
        let entries: Vec<_> =
            entries.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        move |name| entries.iter().find(|(known, _)| known == name).map(|(_, value)| value.clone())
    }

    /// What each launcher sets in rank 5 of 8, the second of four on the second of two nodes, and
    /// nothing else. Those that were tried set more; of the others these are what their manuals
    /// say.
    const RANK_5_OF_8: [(&str, &str); 11] = [
        (
            "srun with PMIx",
            "PMIX_NAMESPACE=slurm.pmix.12.3 PMIX_RANK=5 SLURM_STEP_ID=3 SLURM_LOCALID=1 \
             SLURM_STEP_NUM_TASKS=8 SLURM_STEP_NUM_NODES=2",
        ),
        (
            "srun",
            "SLURM_JOB_ID=12 SLURM_STEP_ID=3 SLURM_PROCID=5 SLURM_LOCALID=1 \
             SLURM_STEP_NUM_TASKS=8 SLURM_STEP_NUM_NODES=2",
        ),
        (
            "jsrun",
            "LSB_JOBID=71 JSM_NAMESPACE_RANK=5 JSM_NAMESPACE_LOCAL_RANK=1 JSM_NAMESPACE_SIZE=8 \
             JSM_NAMESPACE_LOCAL_SIZE=4 PMIX_NAMESPACE=2 PMIX_RANK=5 OMPI_COMM_WORLD_RANK=5",
        ),
        (
            "Open MPI 4's mpirun",
            "OMPI_MCA_orte_precondition_transports=a-b OMPI_COMM_WORLD_RANK=5 \
             OMPI_COMM_WORLD_LOCAL_RANK=1 OMPI_COMM_WORLD_SIZE=8 OMPI_COMM_WORLD_LOCAL_SIZE=4",
        ),
        (
            "Open MPI 5's mpirun, or another of PMIx",
            "PMIX_NAMESPACE=prterun-n1-77@1 PMIX_RANK=5 OMPI_COMM_WORLD_LOCAL_RANK=1 \
             OMPI_COMM_WORLD_SIZE=8 OMPI_COMM_WORLD_LOCAL_SIZE=4",
        ),
        (
            "Intel MPI's mpirun",
            "I_MPI_HYDRA_UUID=a1 PMI_RANK=5 PMI_SIZE=8 MPI_LOCALRANKID=1 MPI_LOCALNRANKS=4",
        ),
        ("MPICH's mpiexec", "PMI_RANK=5 PMI_SIZE=8 MPI_LOCALRANKID=1 MPI_LOCALNRANKS=4"),
        (
            "MVAPICH's mpirun_rsh",
            "MV2_COMM_WORLD_RANK=5 MV2_COMM_WORLD_LOCAL_RANK=1 MV2_COMM_WORLD_SIZE=8 \
             MV2_COMM_WORLD_LOCAL_SIZE=4 MPISPAWN_MPIRUN_HOST=n0 MPISPAWN_MPIRUN_ID=4711",
        ),
        (
            "flux run",
            "FLUX_JOB_ID=f2xQ FLUX_TASK_RANK=5 FLUX_TASK_LOCAL_ID=1 FLUX_JOB_SIZE=8 \
             FLUX_JOB_NNODES=2 PMI_RANK=5 PMI_SIZE=8",
        ),
        (
            "PALS's mpiexec",
            "PBS_JOBID=9.head PALS_APID=5b-1 PALS_RANKID=5 PALS_LOCAL_RANKID=1 PALS_NODEID=1 \
             PMI_RANK=5 PMI_SIZE=8 PMI_LOCAL_RANK=1 PMI_LOCAL_SIZE=4",
        ),
        (
            "aprun",
            "PBS_JOBID=9.sdb ALPS_APP_ID=10428 ALPS_APP_PE=5 PMI_SIZE=8 PMI_LOCAL_RANK=1 \
             PMI_LOCAL_SIZE=4",
        ),
    ];

    #[test]
    fn ranks_are_numbered_by_every_launcher() {
        for (name, variables) in RANK_5_OF_8 {
            let read = reader(variables);
            let launcher = Launcher::of(&read).expect(name);
            assert_eq!(launcher.name, name);
            assert_eq!(launcher.rank_and_size_by(&read), Some((5, 8)), "{name}");
            assert_eq!(launcher.local_rank_by(&read), Some(1), "{name}");
            assert!(launcher.has_several_nodes_by(8, &read), "{name}");
            let is_named = name == "MPICH's mpiexec" || identity_by(&read).is_some();
            assert!(is_named, "{name}: its address is on a command line");
        }
        // What is not said is not known.
        let read = reader("ALPS_APP_PE=5");
        let aprun = Launcher::of(&read).expect("aprun");
        assert_eq!((aprun.rank_and_size_by(&read), aprun.local_rank_by(&read)), (None, None));
        assert!(!aprun.has_several_nodes_by(8, &read));
    }

    #[test]
    fn every_launcher_is_in_the_test() {
        for launcher in LAUNCHERS.iter().filter(|launcher| !launcher.name.contains("speaks")) {
            assert!(
                RANK_5_OF_8.iter().any(|(name, _)| *name == launcher.name),
                "{}",
                launcher.name
            );
        }
    }

    /// The launcher, the job's name and the command that ends it, by variables `NAME=VALUE …`.
    fn seen(variables: &str) -> (&'static str, Option<String>, Option<String>) {
        let read = reader(variables);
        let launcher = Launcher::of(&read);
        let cancel = launcher.and_then(|launcher| launcher.cancel_by(&read));
        let name = launcher.map_or("none", |launcher| launcher.name);
        (name, identity_by(&read), cancel.map(|words| words.join(" ")))
    }

    #[test]
    fn launchers_are_known_by_their_variables() {
        let step = "SLURM_JOB_ID=12 SLURM_STEP_ID=3 SLURM_PROCID=1 SLURM_LOCALID=1";
        let scancel = Some("scancel 12.3");
        for (variables, launcher, job, cancel) in [
            (step.to_owned(), "srun", Some("12.3"), scancel),
            (format!("{step} PMI_RANK=1 PMI_FD=9 PMI_JOBID=12.3"), "srun", Some("12.3"), scancel),
            (
                format!("{step} PMIX_RANK=1 PMIX_NAMESPACE=slurm.pmix.12.3"),
                "srun with PMIx",
                Some("12.3"),
                scancel,
            ),
            // Below an srun that starts the daemons of another launcher, that one counts.
            (
                format!("{step} PMIX_RANK=1 PMIX_NAMESPACE=prterun-n1-77@1"),
                "Open MPI 5's mpirun, or another of PMIx",
                Some(&*short("prterun-n1-77@1")),
                None,
            ),
            (
                format!("{step} I_MPI_HYDRA_UUID=a1 PMI_RANK=0 MPI_LOCALRANKID=0"),
                "Intel MPI's mpirun",
                Some(&*short("a1")),
                None,
            ),
            // A batch script is no rank.
            ("SLURM_JOB_ID=12 SLURM_STEP_ID=4294967291 SLURM_PROCID=0".into(), "none", None, None),
            (
                "FLUX_JOB_ID=f2xQ FLUX_TASK_RANK=0 PMI_RANK=0".into(),
                "flux run",
                Some("f2xQ"),
                Some("flux cancel f2xQ"),
            ),
            (
                "PBS_JOBID=9.head PALS_APID=5b-1 PALS_RANKID=2 PMI_RANK=2".into(),
                "PALS's mpiexec",
                Some("5b-1"),
                None,
            ),
            (
                "PBS_JOBID=9.sdb ALPS_APP_ID=10428 ALPS_APP_PE=2".into(),
                "aprun",
                Some("10428"),
                None,
            ),
            // What names no job itself has the batch system's name.
            (
                "PBS_JOBID=9.head PMI_RANK=0 PMI_SIZE=4".into(),
                "a launcher that speaks PMI",
                Some("9.head"),
                None,
            ),
            ("LSB_JOBID=71 MV2_COMM_WORLD_RANK=0".into(), "MVAPICH's mpirun_rsh", Some("71"), None),
            (
                "LSB_JOBID=71 JSM_NAMESPACE_RANK=0 PMIX_NAMESPACE=2 PMIX_RANK=0".into(),
                "jsrun",
                Some(&*short("2")),
                None,
            ),
            ("PBS_JOBID=9.head LSB_JOBID=71".into(), "none", None, None),
        ] {
            let (name, identity, command) = seen(&variables);
            assert_eq!(
                (name, identity.as_deref(), command.as_deref()),
                (launcher, job, cancel),
                "{variables}"
            );
        }
    }
}
