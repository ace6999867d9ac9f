//! `commsan run` as a frame around any command: nothing about the command changes.

mod support;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::Stdio;
use support::{Place, outcome};

/// The log of one rank with one finding, as a shell command that writes it.
const WRITE_FINDING: &str = r#"cat > "$COMMSAN_RUN_DIR/rank-0.jsonl" <<'END'
{"t":"start","version":1,"rank":0,"size":1,"pid":1,"host":"h","mpi":"Open MPI 4.1.4","program":"/bin/app","instrumented":true}
{"t":"module","id":0,"path":"/bin/app"}
{"t":"finding","id":0,"code":"CS-REQ-01","operation":{"call":"MPI_Isend","write":false,"addr":4096,"size":8,"bytes":8,"peer":1,"tag":3},"sites":[{"role":"operation","call":"MPI_Isend","thread":0,"frames":[[0,4660]]}]}
{"t":"end","how":"finalized","dropped":0}
END
"#;

#[test]
fn processes_that_use_no_mpi_run_as_always() {
    let place = Place::new();
    let script = "cat | tee x; echo $#:$1 >&2";
    let mut command = place.commsan(&["run", "--", "sh", "-c", script, "sh", "a b"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"hi\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.stdout, b"hi\n");
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("1:a b\n"));
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(fs::read(place.path("x")).unwrap(), b"hi\n");
    assert!(place.entered("sh.commsan").is_empty());
}

#[test]
fn the_exit_code_is_the_commands_own() {
    let place = Place::new();
    for (script, code) in [("exit 3", 3), ("kill -9 $$", 137), ("exit 255", 255)] {
        outcome(&mut place.commsan(&["run", "--", "sh", "-c", script])).ends_with(code);
    }
    let info = fs::read_to_string(place.path("sh.commsan-2/run.json")).unwrap();
    assert!(info.contains("\"exit\": 137"), "{info}");
}

#[test]
fn signals_reach_the_command() {
    let place = Place::new();
    for (name, number) in [("TERM", libc::SIGTERM), ("USR1", libc::SIGUSR1), ("INT", libc::SIGINT)]
    {
        let script = format!("trap 'exit 9' {name}; echo ready; while :; do sleep 0.05; done");
        let mut command = place.commsan(&["run", "--", "sh", "-c", &script]);
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        // A shell cannot trap what it was started to ignore, as jobs in the background are.
        // SAFETY: `signal` may be called between fork and exec.
        unsafe {
            command.pre_exec(move || {
                libc::signal(number, libc::SIG_DFL);
                Ok(())
            });
        }
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        // SAFETY: the child has not been waited for.
        unsafe { libc::kill(child.id().cast_signed(), number) };
        assert_eq!(child.wait().unwrap().code(), Some(9), "{name}");
    }
}

#[test]
fn an_inherited_preload_stays_behind_the_injector() {
    let place = Place::new();
    let mut command = place.commsan(&["run", "--", "sh", "-c", "echo $LD_PRELOAD"]);
    let result = outcome(command.env("LD_PRELOAD", "libm.so.6"));
    let expected = support::installation().lib().join("libcommsan_inject.so");
    assert_eq!(result.out, format!("{}:libm.so.6\n", expected.display()));
}

#[test]
fn commands_that_cannot_start_say_why_and_leave_nothing_behind() {
    let place = Place::new();
    fs::write(place.path("text"), "no program").unwrap();
    let run = |command: &str| outcome(&mut place.commsan(&["run", "--", command]));
    run("nosuch").ends_with(127).says("command `nosuch` not found");
    run("./nosuch").ends_with(127).says("there is no `./nosuch`");
    run("text").ends_with(127).says("did you mean `./text`?");
    run("./text").ends_with(126).says("chmod +x ./text");
    run("/").ends_with(126).says("it is a directory");
    let mut command = place.commsan(&["run", "--", "mpirun", "-n", "2", "./app"]);
    outcome(command.env("PATH", "/nonexistent")).ends_with(127).says("apt install mpich");
    outcome(&mut place.commsan(&["run"])).ends_with(2).says("commsan run -- mpirun -n 4 ./app");
    assert_eq!(fs::read_dir(&place.directory).unwrap().count(), 1);
}

#[test]
fn run_directories_are_never_shared() {
    let place = Place::new();
    for name in ["true.commsan", "true.commsan-2"] {
        outcome(&mut place.commsan(&["run", "-q", "--", "true"])).ends_with(2);
        outcome(&mut place.commsan(&["run", "--quiet", "--", "true"])).ends_with(0);
        assert!(place.path(name).join("run.json").is_file());
    }
    let again = ["run", "--output", "true.commsan", "--", "true"];
    outcome(&mut place.commsan(&again)).ends_with(70).says("--output");
    outcome(&mut place.commsan(&["run", "--output", "/proc/x", "--", "true"])).ends_with(70);
}

#[test]
fn without_an_installation_nothing_starts() {
    let place = Place::new();
    let mut command = place.commsan(&["run", "--", "touch", "x"]);
    let result = outcome(command.env("COMMSAN_LIB", "/nonexistent"));
    result.ends_with(70).says("libcommsan_inject.so` is missing");
    assert_eq!(fs::read_dir(&place.directory).unwrap().count(), 0);
}

#[test]
fn findings_decide_the_exit_code() {
    let place = Place::new();
    let run = |options: &[&str], script: &str| {
        let script = format!("{WRITE_FINDING}{script}");
        let rest = ["--", "sh", "-c", &script];
        outcome(&mut place.commsan(&[&["run"], options, &rest].concat()))
    };
    run(&[], "exit 0").ends_with(66).says("CS-REQ-01");
    run(&[], "exit 3").ends_with(66).says("the command ended with exit code 3");
    run(&["--exit-code", "5"], "exit 0").ends_with(5);
    run(&["--exit-code", "0"], "exit 3").ends_with(3);
    assert!(place.path("sh.commsan/report.json").is_file());

    let known = "[[suppress]]\ncode = \"CS-REQ-01\"\nreason = \"known\"\n";
    fs::write(place.path("known.toml"), known).unwrap();
    run(&["--suppressions", "known.toml"], "exit 0").ends_with(0);
    let missing = run(&["--suppressions", "nosuch.toml"], "exit 0");
    missing.ends_with(2).says("nosuch.toml");

    let report = |arguments: &[&str]| {
        outcome(&mut place.commsan(&[&["report", "sh.commsan"], arguments].concat()))
    };
    assert!(report(&[]).ends_with(66).out.contains("CS-REQ-01"));
    assert!(report(&["--format", "sarif"]).ends_with(66).out.contains("2.1.0"));
    report(&["--exit-code", "0", "--format", "html", "-o", "sub/x.html"]).ends_with(0);
    assert!(place.path("sub/x.html").is_file());
    outcome(&mut place.commsan(&["report", "nosuch"])).ends_with(74);
}

#[test]
fn a_report_that_cannot_be_written_is_still_shown() {
    let place = Place::new();
    let run = |script: &str| {
        let script = format!("{WRITE_FINDING}{script}");
        outcome(&mut place.commsan(&["run", "--json", "/dev/full", "--", "sh", "-c", &script]))
    };
    run("exit 0").ends_with(66).says("CS-REQ-01").says("cannot write `/dev/full`");
    let clean = "sed -i /finding/d $COMMSAN_RUN_DIR/rank-0.jsonl; exit ";
    run(&format!("{clean}0")).ends_with(74).says("no findings");
    run(&format!("{clean}4")).ends_with(4);
}

#[test]
fn a_run_that_checked_nothing_says_so() {
    let place = Place::new();
    let result = outcome(&mut place.commsan(&["run", "--", "ls"]));
    result.ends_with(0).says("no MPI program was checked").says("`ls` is not linked with MPI");
    outcome(&mut place.commsan(&["run", "--", "sh", "-c", "exit 4"]))
        .ends_with(4)
        .says("exit code 4");
}
