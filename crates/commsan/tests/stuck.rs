//! Jobs that hang: which of them are terminated, and what is reported of those terminated by
//! others.

#[path = "support/built.rs"]
mod built;

use built::{Installed, MPIS, Mpi, Run, Work};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

fn stuck(mpi: Mpi) -> (Work, PathBuf) {
    let work = Work::new("stuck", mpi);
    let program = work.compile("robust/stuck.c", &["-g"]);
    (work, program)
}

#[test]
fn who_is_stopped_or_asks_again_and_again_is_not_stuck() {
    for mpi in MPIS {
        let (work, program) = stuck(mpi);
        for way in ["stopped", "tests"] {
            let run = work.run(&["--stuck-after", "1"], 2, &program, &[way]);
            run.ends_with(0).finds(&[]).says("done");
        }
    }
}

#[test]
fn a_wait_for_more_than_a_line_can_tell_is_told() {
    for mpi in MPIS {
        let (work, program) = stuck(mpi);
        let run = work.run(&["--stuck-after", "1"], 5, &program, &["many"]);
        run.ends_with(66).finds(&["CS-DLK-01 main"]).is_silent_about("cannot write the log");
        run.says("a message from any rank (tag 0), for its MPI_Irecv");
        run.says("ranks 2-4 are in MPI_Waitall at stuck.c").is_silent_about("was it killed");
    }
}

/// Runs the program until somebody ends the job.
fn interrupted(mpi: Mpi, ranks: &str, way: &str) -> Run {
    let (work, program) = stuck(mpi);
    let directory = work.fresh("run");
    let launcher = mpi.tool("mpirun");
    let run = ["run", "--stuck-after", "1", "--output", directory.to_str().unwrap(), "--"];
    let job = [launcher.as_str(), "-n", ranks, program.to_str().unwrap(), way];
    let mut timeout = work.command("timeout", &["--signal", "INT", "6"]);
    let commsan = work.commsan(&[&run[..], &job].concat());
    timeout.arg(commsan.get_program()).args(commsan.get_args());
    work.finish(&mut timeout)
}

#[test]
fn who_ends_a_job_learns_where_it_was() {
    for mpi in MPIS {
        let ended = interrupted(mpi, "3", "computes");
        ended.says("ranks 1, 2: was waiting in MPI_Bcast at stuck.c:");
        ended.says("rank 0: was not waiting for others, but at work after MPI_Barrier at stuck.c:");
        ended.is_silent_about("CS-");
    }
}

#[test]
fn who_ends_a_job_learns_who_asks_again_and_again() {
    for mpi in MPIS {
        let ended = interrupted(mpi, "2", "polls");
        ended.says("rank 0: was calling MPI_Test at stuck.c:");
        ended.says("again and again when the job ended, with an operation open that needs a message from rank 1");
        ended.says("rank 1: was waiting in MPI_Wait at ");
        ended.is_silent_about("CS-");
    }
}

#[test]
fn a_job_may_be_left_alone() {
    let (work, program) = stuck(Mpi::Mpich);
    let mut timeout = work.command("timeout", &["--signal", "INT", "4"]);
    let run = ["run", "--stuck-after", "0", "--", "mpirun.mpich", "-n", "2"];
    let commsan = work.commsan(&run);
    timeout.arg(commsan.get_program()).args(commsan.get_args()).arg(program).arg("many");
    work.finish(&mut timeout).is_silent_about("CS-DLK-01").is_silent_about("is ended");
}

#[test]
fn a_launcher_that_does_not_end_is_killed() {
    // One ignores the request, one ends its ranks and hangs then.
    let launchers = [
        "trap '' TERM\nLAUNCHER \"$@\"\nexec sleep 600\n",
        "trap 'kill $!' TERM\nLAUNCHER \"$@\" &\nwait; wait\nexec sleep 600\n",
    ];
    for mpi in MPIS {
        let (work, program) = stuck(mpi);
        for script in launchers {
            let launcher = work.path("mpirun_that_hangs");
            let text = format!("#!/bin/sh\n{}", script.replace("LAUNCHER", &mpi.tool("mpirun")));
            fs::write(&launcher, text).unwrap();
            fs::set_permissions(&launcher, fs::Permissions::from_mode(0o755)).unwrap();
            let job = [launcher.to_str().unwrap(), "-n", "5", program.to_str().unwrap(), "many"];
            let run = work.run_job(&["--stuck-after", "1"], &job);
            run.ends_with(66).says("terminating the job").says("the job has not ended: killing it");
            run.finds(&["CS-DLK-01 main"]);
        }
    }
}

#[test]
fn a_launcher_that_does_not_see_the_end_of_its_ranks_is_ended() {
    for mpi in MPIS {
        let (work, program) = stuck(mpi);
        // It becomes one that waits for nobody.
        let sleeper = work.path("mpirun_sleeps");
        std::os::unix::fs::symlink("/bin/sleep", &sleeper).unwrap();
        let script = "\"$1\" ends & exec \"$0\" 600";
        let job = ["sh", "-c", script, sleeper.to_str().unwrap(), program.to_str().unwrap()];
        let run = work.finish(&mut work.commsan(&[&["run", "--"], &job[..]].concat()));
        run.says("all ranks have ended, but mpirun_sleeps has not noticed: terminating the job");
        run.ends_with(128 + libc::SIGTERM).is_silent_about("CS-");
    }
}

/// Started by a launcher as its ranks, which is an easy mistake, `run` does what `exec` does: there
/// is one report, and a deadlock ends the job.
#[test]
fn ranks_that_start_commsan_themselves_have_one_report() {
    for mpi in MPIS {
        let (work, program) = stuck(mpi);
        let commsan = work.commsan(&[] as &[&str]).get_program().to_owned();
        for command in ["run", "exec"] {
            let job = |ranks: &str, way: &str| {
                let directory = work.fresh("run");
                let own = [commsan.to_str().unwrap(), command, "--stuck-after", "1", "--output"];
                let program = ["--", program.to_str().unwrap(), way];
                let words = [&["-n", ranks][..], &own, &[directory.to_str().unwrap()], &program];
                work.finish(&mut work.command(&mpi.tool("mpirun"), &words.concat()))
            };
            let done = job("2", "tests");
            done.ends_with(0).says("done");
            assert_eq!(done.err.matches("no findings").count(), 1, "{}", done.text());
            let stuck = job("5", "many");
            stuck.says("error[CS-DLK-01]");
            assert!(!stuck.hung && stuck.code != Some(0), "{}", stuck.text());
            assert_eq!(stuck.err.matches("report in").count(), 1, "{}", stuck.text());
        }
    }
}
