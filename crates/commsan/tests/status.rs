//! Roll calls of running jobs: `commsan status`, SIGQUIT, and jobs that stand still.

#[path = "support/built.rs"]
mod built;

use built::{Installed, MPIS, Mpi, Work};
use serde_json::Value;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Child;
use std::time::{Duration, Instant};

/// What takes longer does not come: much more than any needs, for machines may be slow and busy.
const LIMIT: Duration = Duration::from_secs(240);

/// A job that runs until it is dropped.
struct Running<'w> {
    work: &'w Work,
    commsan: Child,
    directory: PathBuf,
    err: PathBuf,
}

impl<'w> Running<'w> {
    fn start(work: &'w Work, options: &[&str], ranks: u32, way: &str) -> Running<'w> {
        let program = work.path("whereabouts");
        if !program.exists() {
            work.compile("robust/whereabouts.c", &["-g", "-pthread"]);
        }
        let (directory, err) = (work.fresh("run"), work.fresh("err"));
        let run = ["run", "--stuck-after", "1", "--output", directory.to_str().unwrap()];
        let (launcher, ranks) = (work.mpi.tool("mpirun"), ranks.to_string());
        let fifo = work.path("fifo");
        let job = [launcher.as_str(), "-n", &ranks, program.to_str().unwrap(), way];
        let words = [&run[..], options, &["--"], &job, &[fifo.to_str().unwrap()]].concat();
        let mut command = work.commsan(&words);
        command.stdout(std::process::Stdio::null()).stderr(File::create(&err).unwrap());
        let commsan = command.process_group(0).spawn().unwrap();
        Running { work, commsan, directory, err }
    }

    /// Asks until the roll call of the only job is as expected.
    #[track_caller]
    fn asked_until(&self, expected: impl Fn(&Value) -> bool) -> Value {
        let (begin, mut last) = (Instant::now(), String::new());
        while begin.elapsed() < LIMIT {
            let directory = self.directory.to_str().unwrap();
            let status = self.work.finish(&mut self.work.commsan(&["status", "--json", directory]));
            last = status.text();
            let answer: Value = serde_json::from_str(&status.out).unwrap_or_default();
            if answer["jobs"][0].is_object() && expected(&answer["jobs"][0]) {
                assert!(status.code == Some(0) && answer["schema"] == 1, "{last}");
                return answer["jobs"][0].clone();
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("{last}\n{}", self.said())
    }

    fn said(&self) -> String {
        fs::read_to_string(&self.err).unwrap_or_default()
    }

    /// Waits until standard error has all of these.
    #[track_caller]
    fn says(&self, texts: &[&str]) {
        let begin = Instant::now();
        while !texts.iter().all(|text| self.said().contains(text)) {
            assert!(begin.elapsed() < LIMIT, "{texts:?} are not in {}", self.said());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn signal(&self, signal: libc::c_int) {
        // SAFETY: `kill` takes no memory; the child is not reaped.
        unsafe { libc::kill(self.commsan.id().cast_signed(), signal) };
    }

    /// The process of a rank.
    fn process(&self, rank: u32) -> i32 {
        let log = fs::read_to_string(self.directory.join(format!("rank-{rank}.jsonl"))).unwrap();
        let start: Value = serde_json::from_str(log.lines().next().unwrap()).unwrap();
        start["pid"].as_i64().unwrap() as i32
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        // Ranks that are stopped do not end otherwise, and have groups of their own.
        let logs = fs::read_dir(&self.directory).into_iter().flatten().flatten().count();
        for rank in (0..logs as u32).filter(|rank| self.has_log(*rank)) {
            // SAFETY: as for `signal`; the process was a rank just now.
            unsafe { libc::kill(self.process(rank), libc::SIGKILL) };
        }
        for signal in [libc::SIGTERM, libc::SIGKILL] {
            let begin = Instant::now();
            while begin.elapsed() < Duration::from_secs(20) {
                if self.commsan.try_wait().is_ok_and(|status| status.is_some()) {
                    return;
                }
                std::thread::sleep(Duration::from_millis(20));
            }
            // SAFETY: as for `signal`; the group is the child's.
            unsafe { libc::kill(-self.commsan.id().cast_signed(), signal) };
        }
        let _ = self.commsan.wait();
    }
}

impl Running<'_> {
    fn has_log(&self, rank: u32) -> bool {
        let log = fs::read_to_string(self.directory.join(format!("rank-{rank}.jsonl")));
        log.is_ok_and(|log| log.contains('\n'))
    }
}

/// The row of a rank.
fn row(call: &Value, rank: u64) -> &Value {
    let rows = call["rows"].as_array().map_or(&[][..], Vec::as_slice);
    let is_there =
        |row: &&Value| row["ranks"].as_array().is_some_and(|all| all.contains(&rank.into()));
    rows.iter().find(is_there).unwrap_or(&Value::Null)
}

/// Whether all ranks but the first wait for that in the reduction.
fn others_wait(call: &Value) -> bool {
    let row = row(call, 1);
    row["state"] == "waits"
        && row["call"] == "MPI_Allreduce"
        && row["ranks"] == serde_json::json!([1, 2, 3])
        && row["need"]["ranks"] == serde_json::json!([0])
        && call["awaited"] == serde_json::json!([0])
}

#[test]
fn who_is_missing_is_named_with_what_it_does() {
    for mpi in MPIS {
        let work = Work::new("status", mpi);
        for (way, doing, function) in [
            ("computes", "computes", "refine"),
            ("sleeps", "sleeps", "naps"),
            ("locks", "locks", "locks"),
            ("reads", "reads", "reads"),
            ("child", "waits_for_child", "waits_for_child"),
        ] {
            let job = Running::start(&work, &[], 4, way);
            let call = job.asked_until(|call| {
                let row = row(call, 0);
                let is_there = row["state"] == "outside" && row["doing"] == doing;
                // A stack of a thread that has no processor for long is missing.
                let has_stack = row["place"]["function"] == function;
                others_wait(call) && is_there && (has_stack || !cfg!(target_arch = "x86_64"))
            });
            let first = row(&call, 0);
            assert_eq!(first["call"], "MPI_Barrier", "{way}: {call:#}");
            if cfg!(target_arch = "x86_64") {
                let callers = first["callers"].as_array().unwrap();
                assert_eq!(callers.last().unwrap()["function"], "main", "{way}: {call:#}");
            }
            if way == "reads" {
                assert!(first["file"].as_str().unwrap().ends_with("/fifo"), "{call:#}");
            }
            let [ahead, behind] = &call["collectives"][0]["entered"].as_array().unwrap()[..] else {
                panic!("{call:#}")
            };
            assert_eq!((&ahead["number"], &ahead["call"]), (&2.into(), &"MPI_Allreduce".into()));
            assert_eq!((&behind["number"], &behind["call"]), (&1.into(), &"MPI_Barrier".into()));
        }
    }
}

#[test]
fn who_polls_is_named_with_what_it_needs() {
    for mpi in MPIS {
        let work = Work::new("status", mpi);
        let job = Running::start(&work, &[], 4, "polls");
        let call = job.asked_until(|call| {
            let row = row(call, 0);
            others_wait(call) && row["state"] == "polls" && row["call"] == "MPI_Test"
        });
        let need = &row(&call, 0)["need"];
        assert_eq!(
            (&need["ranks"], &need["tag"]),
            (&serde_json::json!([1]), &5.into()),
            "{call:#}"
        );
        assert_eq!(call["open"][0]["need"]["call"], "MPI_Irecv", "{call:#}");
        assert_eq!(row(&call, 0)["place"]["function"], "polls", "{call:#}");
    }
}

#[test]
fn who_is_stopped_is_told_though_it_cannot_answer() {
    for mpi in MPIS {
        let work = Work::new("status", mpi);
        let job = Running::start(&work, &[], 4, "stops");
        let call = job.asked_until(|call| others_wait(call) && row(call, 0)["doing"] == "stopped");
        assert_eq!((&call["answered"], &row(&call, 0)["state"]), (&3.into(), &"silent".into()));
        // It goes on as if nothing had been.
        // SAFETY: `kill` takes no memory; the process is a rank of the job.
        unsafe { libc::kill(job.process(0), libc::SIGCONT) };
        job.says(&["no findings in 4 ranks"]);
    }
}

/// As a debugger does, the test stops all threads of a rank.
#[test]
fn who_is_in_a_debugger_is_told() {
    for mpi in MPIS {
        let work = Work::new("status", mpi);
        let job = Running::start(&work, &[], 4, "computes");
        job.asked_until(others_wait);
        let process = job.process(0);
        let tasks = fs::read_dir(format!("/proc/{process}/task")).unwrap().flatten();
        for task in tasks {
            let id: libc::pid_t = task.file_name().to_str().unwrap().parse().unwrap();
            let nothing = std::ptr::null_mut::<libc::c_void>();
            // SAFETY: requests that take no memory.
            unsafe {
                assert_eq!(libc::ptrace(libc::PTRACE_SEIZE, id, nothing, nothing), 0);
                assert_eq!(libc::ptrace(libc::PTRACE_INTERRUPT, id, nothing, nothing), 0);
            }
        }
        let call = job.asked_until(|call| row(call, 0)["doing"] == "debugged");
        assert_eq!(row(&call, 0)["state"], "silent", "{call:#}");
        assert!(others_wait(&call), "{call:#}");
    }
}

#[test]
fn sigquit_to_the_launcher_shows_the_table_and_ends_nothing() {
    for mpi in MPIS {
        let work = Work::new("status", mpi);
        let job = Running::start(&work, &[], 3, "sleeps");
        job.asked_until(|call| {
            row(call, 1)["state"] == "waits" && row(call, 0)["doing"] == "sleeps"
        });
        assert!(!job.said().contains("others wait for rank 0"), "{}", job.said());
        job.signal(libc::SIGQUIT);
        job.says(&["MPI_Allreduce #2 (MPI_COMM_WORLD)", "others wait for rank 0 (sleeps)"]);
        job.asked_until(|call| row(call, 0)["doing"] == "sleeps");
    }
}

#[test]
fn a_job_that_stands_still_is_shown_once() {
    for mpi in MPIS {
        let work = Work::new("status", mpi);
        let job = Running::start(&work, &["--status-after", "2"], 3, "sleeps");
        let times = || {
            let said = job.said();
            let times = said.lines().filter_map(|line| {
                let time = line.split_once("no rank has moved for ")?.1;
                time.split_once(' ')?.0.parse::<u64>().ok()
            });
            times.collect::<Vec<_>>()
        };
        // The next comes when it has stood still for twice as long.
        let begin = Instant::now();
        while times().len() < 3 {
            assert!(begin.elapsed() < LIMIT, "{}", job.said());
            std::thread::sleep(Duration::from_millis(50));
        }
        job.says(&["the job goes on", "others wait for rank 0 (sleeps)"]);
        let times = times();
        assert!(times[0] >= 2, "{times:?}");
        assert!(times.windows(2).all(|pair| pair[1] + 1 >= 2 * pair[0]), "{times:?}");
    }
}

#[test]
fn a_job_of_which_no_rank_waits_is_not_shown() {
    let work = Work::new("status", Mpi::Mpich);
    let job = Running::start(&work, &["--status-after", "1"], 1, "computes");
    job.asked_until(|call| {
        row(call, 0)["doing"] == "computes" && row(call, 0)["seconds"].as_u64() >= Some(5)
    });
    assert!(!job.said().contains("has moved"), "{}", job.said());
}

#[test]
fn runs_that_cannot_be_asked_are_told() {
    let work = Work::new("status", Mpi::Mpich);
    let status =
        |arguments: &[&str]| work.finish(&mut work.commsan(&[&["status"], arguments].concat()));
    status(&[]).ends_with(74).says("no run in this directory is running");
    status(&["nosuch"]).ends_with(74).says("nosuch");
    let ended = work.run_job(&[], &["true"]);
    let directory = ended.directory.to_str().unwrap();
    status(&[directory]).ends_with(74).says("has ended").says("commsan report");
}
