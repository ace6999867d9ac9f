//! Steps of a real Slurm: `srun` by PMIx and PMI2, `sbatch`, `scancel`, as root and as a user.
//!
//! The thread of `main` owns the daemons: they end when it does. Where there can be none, every
//! test says so and passes.

#[path = "support/built.rs"]
mod built;
#[path = "support/slurm.rs"]
mod slurm;
#[path = "support/waiting.rs"]
mod waiting;

use built::{Mpi, Run, Work};
use slurm::Slurm;
use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use waiting::Test;

/// Deadlocks are certain after a second.
const STUCK: [&str; 2] = ["--stuck-after", "1"];

/// `nobody`, who has no rights but on files of his own.
const USER: u32 = 65534;

/// How long to wait for what takes a moment.
const LIMIT: Duration = Duration::from_secs(60);

const TESTS: [Test<Slurm>; 6] = [
    ("run_around_srun", run_around_srun),
    ("exec_below_srun", exec_below_srun),
    ("steps_of_a_batch_job", steps_of_a_batch_job),
    ("what_was_found_outlives_scancel", what_was_found_outlives_scancel),
    ("a_user_needs_no_more_than_root", a_user_needs_no_more_than_root),
    ("an_environment_that_does_not_arrive_is_told", an_environment_that_does_not_arrive_is_told),
];

fn main() {
    waiting::run(Slurm::start, &TESTS, every_step_has_ended);
}

/// Fails if a `slurmstepd` did not live to report the end of its step: nothing may signal it.
fn every_step_has_ended(slurm: &Slurm) -> Result<(), String> {
    let begin = Instant::now();
    loop {
        let (launched, done) = slurm.steps();
        let mut lost = launched.iter().filter(|step| !done.contains(step)).peekable();
        if lost.peek().is_none() {
            return Ok(());
        }
        if begin.elapsed() > LIMIT {
            return Err(format!("steps without an end: {:?}", lost.collect::<Vec<_>>()));
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// A program and where it runs.
struct Place<'s> {
    slurm: &'s Slurm,
    work: Work,
    program: PathBuf,
    commsan: PathBuf,
    user: Option<u32>,
}

impl Place<'_> {
    fn new(slurm: &Slurm, mpi: Mpi) -> Place<'_> {
        let work = Work::new("slurm", mpi);
        let program = work.compile("launchers/steps.c", &["-g"]);
        let commsan = work.commsan(&[] as &[&str]).get_program().into();
        Place { slurm, work, program, commsan, user: None }
    }

    /// `srun` with two ranks, by what this MPI speaks.
    fn srun(&self) -> Vec<String> {
        let speaks = match self.work.mpi {
            Mpi::OpenMpi => "--mpi=pmix",
            _ => "--mpi=pmi2",
        };
        ["srun", speaks, "-n", "2"].map(str::to_owned).into()
    }

    fn command(&self, words: &[String]) -> Command {
        let mut command = self.work.command(&words[0], &words[1..]);
        command.env("SLURM_CONF", self.slurm.conf());
        if let Some(user) = self.user {
            command.uid(user).gid(user).env("HOME", self.work.directory.path());
        }
        command
    }

    fn finish(&self, words: &[String]) -> Run {
        self.work.finish(&mut self.command(words))
    }

    /// `commsan run -- srun … program way`.
    fn run(&self, way: &str) -> Run {
        let directory = self.work.fresh("run");
        let mut words = self.own("run", &directory);
        words.extend(self.srun());
        words.extend([shown(&self.program), way.to_owned()]);
        Run { directory, ..self.finish(&words) }
    }

    /// `srun … commsan exec -- program way`.
    fn exec(&self, way: &str) -> Run {
        let directory = self.work.fresh("run");
        let mut words = self.srun();
        words.extend(self.own("exec", &directory));
        words.extend([shown(&self.program), way.to_owned()]);
        Run { directory, ..self.finish(&words) }
    }

    fn own(&self, command: &str, directory: &Path) -> Vec<String> {
        let options = ["--output".to_owned(), shown(directory)];
        let own = [shown(&self.commsan), command.to_owned()].into_iter().chain(options);
        own.chain(STUCK.map(str::to_owned)).chain(["--".to_owned()]).collect()
    }
}

fn shown(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// The codes of what the wrong ways are, with the function of the first site.
const WAYS: [(&str, &str, &str); 2] = [
    ("deadlock", "exchange", "CS-DLK-01 deadlock"),
    ("mismatch", "collective", "CS-COL-02 mismatch"),
];

fn run_around_srun(slurm: &Slurm, mpi: Mpi) {
    let place = Place::new(slurm, mpi);
    for (wrong, right, code) in WAYS {
        place.run(wrong).ends_with(66).finds(&[code]).says("terminating the job");
        place.run(right).ends_with(0).finds(&[]).says("no findings in 2 ranks");
    }
}

fn exec_below_srun(slurm: &Slurm, mpi: Mpi) {
    let place = Place::new(slurm, mpi);
    for (wrong, right, code) in WAYS {
        let failed = place.exec(wrong);
        assert!(!failed.hung && failed.code != Some(0), "{}", failed.text());
        failed.finds(&[code]);
        assert_eq!(failed.err.matches("report in").count(), 1, "{}", failed.text());
        let done = place.exec(right);
        done.ends_with(0).finds(&[]);
        assert_eq!(done.err.matches("no findings in 2 ranks").count(), 1, "{}", done.text());
    }
}

/// One report for each step, named by job and step; the deadlocked one does not hold up the next.
fn steps_of_a_batch_job(slurm: &Slurm, mpi: Mpi) {
    let place = Place::new(slurm, mpi);
    let (srun, commsan) = (place.srun().join(" "), place.commsan.display());
    let (program, stuck) = (place.program.display(), STUCK.join(" "));
    let script = format!(
        "#!/bin/sh\n\
         {srun} {commsan} exec -- {program} exchange\n\
         echo step 0: $?\n\
         {srun} {commsan} exec {stuck} -- {program} deadlock\n\
         echo step 1: $?\n\
         {commsan} run --output around {stuck} -- {srun} {program} mismatch\n\
         echo step 2: $?\n"
    );
    fs::write(place.work.path("batch.sh"), script).unwrap();
    let words = ["sbatch", "--wait", "--parsable", "-n", "2", "-o", "batch.out", "batch.sh"];
    let batch = place.finish(&words.map(str::to_owned));
    let output = fs::read_to_string(place.work.path("batch.out")).unwrap_or_default();
    batch.ends_with(0);
    for line in ["step 0: 0", "step 2: 66"] {
        assert!(output.contains(line), "{line}\n{output}");
    }
    assert!(output.contains("step 1: ") && !output.contains("step 1: 0"), "{output}");
    let job = batch.out.trim();
    let found =
        |name: &str| Run { directory: place.work.path(name), ..place.finish(&["true".into()]) };
    found(&format!("steps.commsan-{job}.0")).finds(&[]);
    found(&format!("steps.commsan-{job}.1")).finds(&["CS-DLK-01 deadlock"]);
    found("around").finds(&["CS-COL-02 mismatch"]);
}

fn what_was_found_outlives_scancel(slurm: &Slurm, mpi: Mpi) {
    let place = Place::new(slurm, mpi);
    for (way, codes) in [("race", &["CS-BUF-01 endless"][..]), ("kept", &[])] {
        for below in [false, true] {
            let directory = place.work.fresh("run");
            let own = place.own(if below { "exec" } else { "run" }, &directory);
            let mut words = place.srun();
            let name = format!("{way}-{below}-{}", mpi.key());
            words.extend(["-J".to_owned(), name.clone()]);
            let mut words = if below { [words, own].concat() } else { [own, words].concat() };
            words.extend([shown(&place.program), way.to_owned()]);
            let ended = std::thread::scope(|scope| {
                let run = scope.spawn(|| place.finish(&words));
                // Its log tells when it is under way.
                let begin = Instant::now();
                let log = directory.join("rank-0.jsonl");
                let is_there =
                    |text: &str| fs::read_to_string(&log).is_ok_and(|log| log.contains(text));
                let awaited = if codes.is_empty() { "\"start\"" } else { "\"finding\"" };
                while !is_there(awaited) && begin.elapsed() < LIMIT {
                    std::thread::sleep(Duration::from_millis(50));
                }
                place.slurm.tool("scancel", &["--name", &name]);
                run.join().unwrap()
            });
            assert!(!ended.hung && ended.code != Some(0), "{}", ended.text());
            // Slurm may have killed the rank that reports.
            let report = ["report", "--format", "json", "-o"].map(str::to_owned);
            let file = place.work.path("report.json");
            let words = [shown(&file), shown(&directory)];
            place.finish(&[&[shown(&place.commsan)][..], &report, &words].concat());
            let told = Run { directory: place.work.directory.path().to_owned(), ..ended };
            told.finds(codes);
        }
    }
}

fn a_user_needs_no_more_than_root(slurm: &Slurm, mpi: Mpi) {
    let mut place = Place::new(slurm, mpi);
    // The tree that was built may be below a directory of root's.
    let (own, lib) = (place.work.path("tool/bin"), place.work.path("tool/lib/commsan"));
    fs::create_dir_all(&own).unwrap();
    fs::create_dir_all(&lib).unwrap();
    let built = place.commsan.parent().unwrap().join("../lib/commsan");
    let runtime = format!("libcommsan_{}.so", mpi.key());
    let files = [(place.commsan.clone(), own.join("commsan"))];
    let libraries = ["libcommsan_inject.so", &runtime].map(|n| (built.join(n), lib.join(n)));
    for (from, to) in files.into_iter().chain(libraries) {
        fs::hard_link(&from, &to).or_else(|_| fs::copy(&from, &to).map(drop)).unwrap();
    }
    let home = place.work.directory.path();
    fs::set_permissions(home, fs::Permissions::from_mode(0o755)).unwrap();
    chown(home, Some(USER), Some(USER)).unwrap();
    place.commsan = own.join("commsan");
    place.user = Some(USER);
    for (wrong, right, code) in WAYS {
        place.run(wrong).ends_with(66).finds(&[code]);
        let failed = place.exec(wrong);
        assert!(!failed.hung && failed.code != Some(0), "{}", failed.text());
        failed.finds(&[code]);
        place.exec(right).ends_with(0).finds(&[]);
    }
}

fn an_environment_that_does_not_arrive_is_told(slurm: &Slurm, mpi: Mpi) {
    let place = Place::new(slurm, mpi);
    let job = |option: &str| {
        let directory = place.work.fresh("run");
        let mut words = place.own("run", &directory);
        words.extend(place.srun());
        words.extend([option.to_owned(), shown(&place.program), "collective".to_owned()]);
        Run { directory, ..place.finish(&words) }
    };
    let silent = job("--export=NONE");
    silent.ends_with(0).says("no MPI program was checked").says("--export=ALL");
    job("--export=ALL").ends_with(0).finds(&[]).is_silent_about("--export");

    // In a batch job that was submitted so; commsan sees no srun.
    let directory = place.work.fresh("run");
    let mut words = place.own("run", &directory);
    let script = format!("{} {} collective", place.srun().join(" "), shown(&place.program));
    words.extend(["sh".to_owned(), "-c".to_owned(), script]);
    let mut batch = place.command(&words);
    place
        .work
        .finish(batch.env("SLURM_EXPORT_ENV", "NONE"))
        .ends_with(0)
        .says("unset SLURM_EXPORT_ENV");

    // What each rank starts itself needs nothing from there.
    let directory = place.work.fresh("run");
    let mut words = place.srun();
    words.push("--export=NONE".to_owned());
    words.extend(place.own("exec", &directory));
    words.extend([shown(&place.program), "mismatch".to_owned()]);
    Run { directory, ..place.finish(&words) }.finds(&["CS-COL-02 mismatch"]);
}
