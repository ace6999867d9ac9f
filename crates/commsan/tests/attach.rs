//! Jobs that were started without commsan, looked at from outside: `commsan attach`.

#[path = "support/built.rs"]
mod built;

use built::{Installed, MPIS, Mpi, Work};
use serde_json::{Value, json};
use std::ffi::CString;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What takes longer does not come: much more than any needs, for machines may be slow and busy.
const LIMIT: Duration = Duration::from_secs(240);

/// A job that runs natively until it is dropped.
struct Native<'w> {
    work: &'w Work,
    launcher: Child,
    out: PathBuf,
    go: PathBuf,
    fifo: PathBuf,
}

impl<'w> Native<'w> {
    fn start(work: &'w Work, ranks: u32, way: &str) -> Native<'w> {
        let program = work.path("attached");
        if !program.exists() {
            work.compile_plain(&program, "robust/attached.c", &["-g", "-pthread"]);
        }
        Native::start_program(work, &program, ranks, way)
    }

    fn start_program(work: &'w Work, program: &Path, ranks: u32, way: &str) -> Native<'w> {
        let [out, go, fifo] = ["out", "go", "fifo"].map(|name| work.fresh(name));
        let name = CString::new(fifo.as_os_str().as_bytes()).unwrap();
        // SAFETY: a path that ends.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        let (launcher, ranks) = (work.mpi.tool("mpirun"), ranks.to_string());
        let files = [&go, &fifo].map(|path| path.to_str().unwrap());
        let job = ["-n", &ranks, program.to_str().unwrap(), way, files[0], files[1]];
        let mut command = work.command(&launcher, &job);
        command.stdout(File::create(&out).unwrap()).stderr(Stdio::inherit());
        let launcher = command.process_group(0).spawn().unwrap();
        Native { work, launcher, out, go, fifo }
    }

    fn process(&self) -> i32 {
        self.launcher.id().cast_signed()
    }

    /// Looks until what is seen is as expected.
    #[track_caller]
    fn seen(&self, expected: impl Fn(&Value) -> bool) -> Value {
        let (begin, mut last) = (Instant::now(), String::new());
        while begin.elapsed() < LIMIT {
            let process = self.process().to_string();
            let attach = self.work.commsan(&["attach", "--json", &process]).output().unwrap();
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            last = text(&attach.stdout) + &text(&attach.stderr);
            let answer: Value = serde_json::from_slice(&attach.stdout).unwrap_or_default();
            if answer["jobs"][0].is_object() && expected(&answer["jobs"][0]) {
                assert!(answer["schema"] == 1 && answer["process"] == self.process(), "{last}");
                return answer["jobs"][0].clone();
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("{last}")
    }

    /// What is shown on a terminal.
    fn shown(&self) -> String {
        let process = self.process().to_string();
        let run = self.work.finish(&mut self.work.commsan(&["attach", &process]));
        run.ends_with(0);
        run.out
    }

    /// Lets the job go on, which ends as it does when nobody has looked.
    #[track_caller]
    fn ends_well(mut self, sum: u32) {
        fs::write(&self.go, "").unwrap();
        // Opened for both directions, so that it does not wait for a reader.
        let mut fifo = fs::OpenOptions::new().read(true).write(true).open(&self.fifo).unwrap();
        std::io::Write::write_all(&mut fifo, b"x").unwrap();
        let begin = Instant::now();
        let status = loop {
            if let Some(status) = self.launcher.try_wait().unwrap() {
                break status;
            }
            assert!(begin.elapsed() < LIMIT, "the job does not end");
            std::thread::sleep(Duration::from_millis(20));
        };
        let out = fs::read_to_string(&self.out).unwrap();
        assert!(status.success(), "{status}: {out}");
        assert_eq!(out.trim(), format!("sum {sum}, interrupted 0"));
    }

    /// The processes of the ranks, which have groups of their own.
    fn ranks(&self) -> Vec<i32> {
        let of = |process: &i32| {
            let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
            let words = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
            let is_rank = ["OMPI_COMM_WORLD_RANK=", "PMI_RANK="].iter().any(|name| {
                environment.split(|byte| *byte == 0).any(|one| one.starts_with(name.as_bytes()))
            });
            let go = self.go.as_os_str().as_bytes();
            is_rank && words.split(|byte| *byte == 0).any(|word| word == go)
        };
        let all = fs::read_dir("/proc").unwrap().flatten();
        let all = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        all.filter(of).collect()
    }

    fn continue_all(&self) {
        for process in self.ranks() {
            // SAFETY: takes no memory; a process that was a rank just now.
            unsafe { libc::kill(process, libc::SIGCONT) };
        }
    }
}

impl Drop for Native<'_> {
    fn drop(&mut self) {
        if self.launcher.try_wait().is_ok_and(|status| status.is_some()) {
            return;
        }
        let ranks = self.ranks();
        // SAFETY: takes no memory; the group is the child's, which is not reaped.
        unsafe { libc::kill(-self.process(), libc::SIGKILL) };
        for process in ranks {
            // SAFETY: as for `continue_all`.
            unsafe { libc::kill(process, libc::SIGKILL) };
        }
        let _ = self.launcher.wait();
    }
}

/// The row of a rank's first thread.
fn row(call: &Value, rank: u64) -> &Value {
    let rows = call["rows"].as_array().map_or(&[][..], Vec::as_slice);
    let is_there = |row: &&Value| {
        row["threads"].is_null() && row["ranks"].as_array().unwrap().contains(&rank.into())
    };
    rows.iter().find(is_there).unwrap_or(&Value::Null)
}

/// Arguments and stacks are known on this processor only.
const KNOWS_CODE: bool = cfg!(target_arch = "x86_64");

fn others_wait(call: &Value) -> bool {
    let row = row(call, 1);
    row["state"] == "waits"
        && row["call"] == "MPI_Allreduce"
        && row["ranks"] == json!([1, 2])
        && row["place"]["function"] == "main"
}

#[test]
fn who_is_missing_is_named_and_the_job_goes_on() {
    for mpi in MPIS {
        let work = Work::new("attach", mpi);
        for (way, doing, function) in [
            ("computes", "computes", "refine"),
            ("sleeps", "sleeps", "naps"),
            ("locks", "locks", "locks"),
            ("reads", "reads", "reads"),
            ("watches", "polls", "watches"),
            ("stops", "stopped", "main"),
        ] {
            let job = Native::start(&work, 3, way);
            let call = job.seen(|call| {
                let row = row(call, 0);
                let is_there = row["state"] == "outside" && row["doing"] == doing;
                others_wait(call) && is_there && row["place"]["function"] == function
            });
            assert_eq!((&call["ranks"], &call["answered"]), (&3.into(), &3.into()), "{call:#}");
            let first = row(&call, 0);
            assert!(first["place"]["file"].as_str().unwrap().ends_with("attached.c"), "{call:#}");
            if function != "main" {
                let callers = first["callers"].as_array().unwrap();
                assert_eq!(callers.last().unwrap()["function"], "main", "{way}: {call:#}");
            }
            let together = &call["outside"]["together"][0];
            assert_eq!(together["call"], "MPI_Allreduce", "{call:#}");
            assert_eq!(together["absent"], json!([0]), "{call:#}");
            if KNOWS_CODE {
                assert_eq!(row(&call, 1)["on"], "MPI_COMM_WORLD", "{call:#}");
                assert_eq!(row(&call, 1)["need"]["ranks"], json!([0]), "{call:#}");
                assert_eq!(call["awaited"], json!([0]), "{call:#}");
            }
            if way == "stops" {
                job.continue_all();
            }
            job.ends_well(3);
        }
    }
}

/// Compiled with this option, all ranks wait for a message, as `way` says.
fn receives(mpi: Mpi, option: &str, way: &str, check: impl Fn(&Native, &Value)) {
    let work = Work::new("attach", mpi);
    let program = work.path("attached");
    work.compile_plain(&program, "robust/attached.c", &["-g", "-pthread", option]);
    let job = Native::start_program(&work, &program, 3, way);
    let call = job.seen(|call| {
        let row = row(call, 0);
        row["call"] == "MPI_Recv" && row["ranks"] == json!([0, 1, 2])
    });
    let row = row(&call, 0);
    // The compiler may put the function into `main`.
    assert!(row["place"]["function"].is_string() && row["place"]["line"].is_u64(), "{call:#}");
    if KNOWS_CODE {
        assert_eq!(row["on"], "MPI_COMM_WORLD", "{call:#}");
        check(&job, row);
    }
}

#[test]
fn ranks_that_wait_for_each_other_are_shown_with_their_messages() {
    for mpi in MPIS {
        receives(mpi, "-O0", "ring", |job, row| {
            assert_eq!((&row["need"]["tag"], &row["need"]["offset"]), (&5.into(), &1.into()));
            let shown = job.shown();
            assert!(shown.contains("for a message from the next rank (tag 5)"), "{shown}");
        });
        // The number of the neighbour is nowhere any more.
        receives(mpi, "-O2", "ring", |_, row| assert!(row["need"].is_null(), "{row:#}"));
        for option in ["-O0", "-O2"] {
            receives(mpi, option, "gathers", |_, row| {
                assert_eq!((&row["need"]["tag"], &row["need"]["ranks"]), (&6.into(), &json!([2])));
            });
        }
    }
}

#[test]
fn a_second_look_sees_what_the_first_one_has_seen() {
    let work = Work::new("attach", Mpi::Mpich);
    let job = Native::start(&work, 3, "naps");
    for _ in 0..3 {
        // The first look has made the kernel begin the call again.
        job.seen(|call| {
            row(call, 0)["doing"] == "sleeps" && row(call, 1)["call"] == "MPI_Allreduce"
        });
    }
}

#[test]
fn looking_again_and_again_changes_nothing() {
    for mpi in MPIS {
        let work = Work::new("attach", mpi);
        let job = Native::start(&work, 3, "exchanges");
        job.seen(|call| call["answered"] == 3);
        for _ in 0..10 {
            job.seen(|call| call["answered"] == 3);
        }
        job.ends_well(3);
    }
}

#[test]
fn a_rank_leads_to_its_job_and_the_machine_to_its_jobs() {
    let work = Work::new("attach", Mpi::Mpich);
    let job = Native::start(&work, 3, "naps");
    job.seen(|call| others_wait(call) && row(call, 0)["doing"] == "sleeps");
    let rank = job.ranks()[1].to_string();
    let run = work.finish(&mut work.commsan(&["attach", &rank]));
    run.ends_with(0).says("attached: 3 ranks, all seen from outside").says("sleeps");
    // Others may have jobs here.
    let run = work.finish(&mut work.commsan(&["attach"]));
    let said = run.out + &run.err;
    assert!(said.contains("3 ranks"), "{said}");
}

#[test]
fn without_debug_information_functions_are_shown() {
    let work = Work::new("attach", Mpi::OpenMpi);
    let program = work.path("bare");
    work.compile_plain(&program, "robust/attached.c", &["-pthread"]);
    let job = Native::start_program(&work, &program, 3, "sleeps");
    let call = job.seen(|call| others_wait(call) && row(call, 0)["place"]["function"] == "naps");
    assert!(row(&call, 0)["place"]["line"].is_null(), "{call:#}");
    // Its file may be gone meanwhile: names are those of the file that runs.
    fs::remove_file(&program).unwrap();
    let shown = job.shown();
    for text in ["in naps", "has no debug information", "compile it with `-g`", "was deleted"] {
        assert!(shown.contains(text), "`{text}` is missing in {shown}");
    }
    job.ends_well(3);
}

#[test]
fn jobs_of_commsan_are_asked() {
    let work = Work::new("attach", Mpi::Mpich);
    let program = work.compile("robust/attached.c", &["-g", "-pthread"]);
    let (directory, go) = (work.fresh("run"), work.fresh("go"));
    let [directory, go] = [&directory, &go].map(|path| path.to_str().unwrap());
    let launcher = work.mpi.tool("mpirun");
    let job = [&launcher, "-n", "2", program.to_str().unwrap(), "sleeps", go];
    let words = [&["run", "--output", directory, "--"][..], &job].concat();
    let mut command = work.commsan(&words);
    let mut commsan = command.stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    let process = commsan.id().to_string();
    for target in [&*process, directory] {
        let begin = Instant::now();
        loop {
            let run = work.finish(&mut work.commsan(&["attach", "--json", target]));
            let answer: Value = serde_json::from_str(&run.out).unwrap_or_default();
            // Asked, a rank knows the number of its collective.
            let is_asked = answer["run"].is_string() && answer["process"].is_null();
            if is_asked && row(&answer["jobs"][0], 1)["number"] == 2 {
                break;
            }
            assert!(begin.elapsed() < LIMIT, "{}", run.text());
            std::thread::sleep(Duration::from_millis(50));
        }
    }
    fs::write(go, "").unwrap();
    assert_eq!(commsan.wait().unwrap().code(), Some(0));
}

/// Processes that say that they are ranks.
struct Ranks(Vec<Child>);

impl Ranks {
    fn start(numbers: &[u32], size: u32, here: Option<u32>) -> Ranks {
        let job = format!("attach-{}-{}", std::process::id(), here.unwrap_or(0));
        let start = |number: &u32| {
            let mut command = Command::new("sleep");
            for name in ["OMPI_COMM_WORLD_RANK", "PMIX_NAMESPACE", "MPI_LOCALRANKID"] {
                command.env_remove(name);
            }
            command.arg("1000").env("PMI_RANK", number.to_string());
            command.env("PMI_SIZE", size.to_string()).env("PMI_JOBID", &job);
            if let Some(here) = here {
                command.env("PMI_LOCAL_SIZE", here.to_string());
            }
            command.spawn().unwrap()
        };
        Ranks(numbers.iter().map(start).collect())
    }
}

impl Drop for Ranks {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[test]
fn ranks_that_have_ended_or_are_elsewhere_are_told_apart() {
    let work = Work::new("attach", Mpi::Mpich);
    let shown = |ranks: &Ranks| {
        let process = ranks.0[0].id().to_string();
        let run = work.finish(&mut work.commsan(&["attach", &process]));
        run.ends_with(0);
        run.out
    };
    let text = shown(&Ranks::start(&[0, 2], 3, Some(3)));
    assert!(text.contains("3 ranks, 2 of them seen") && text.contains("has ended"), "{text}");
    let text = shown(&Ranks::start(&[0, 1], 4, Some(2)));
    assert!(
        text.contains("ranks 2, 3 are not on this machine: `ssh NODE commsan attach`"),
        "{text}"
    );
    assert!(!text.contains("ended"), "{text}");
}

#[test]
fn what_cannot_be_looked_at_is_told() {
    let work = Work::new("attach", Mpi::Mpich);
    let attach = |target: &str| work.finish(&mut work.commsan(&["attach", target]));
    attach("2147483647").ends_with(74).says("there is no process 2147483647");
    attach("nosuch").ends_with(74).says("nosuch");
    let job = Native::start(&work, 2, "sleeps");
    job.seen(|call| row(call, 1)["call"] == "MPI_Allreduce");
    // SAFETY: takes nothing.
    let is_root = unsafe { libc::geteuid() } == 0;
    if !is_root {
        // The system's first process is somebody else's.
        let run = attach("1");
        run.ends_with(74).says("may not be looked at").says("another user");
        return;
    }
    let as_nobody = |arguments: &[&str]| {
        let mut command = work.commsan(arguments);
        command.uid(65534).gid(65534).current_dir("/");
        command
    };
    if !as_nobody(&["--version"]).output().is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: other users cannot execute commsan here");
        return;
    }
    let run = work.finish(&mut as_nobody(&["attach", &job.ranks()[0].to_string()]));
    run.ends_with(74).says("may not be looked at").says("another user").says("sudo commsan attach");
    job.ends_well(1);
}
