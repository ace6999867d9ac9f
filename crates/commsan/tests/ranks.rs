//! Ranks are found among the processes of real jobs and get the right runtime; nobody else does.

mod support;

use std::fs;
use support::{MPIS, Place, installation, outcome};

/// The only line of every notice in the run directory `run`.
fn notices(place: &Place, run: &str) -> Vec<String> {
    let files = place.files(run, "notice-");
    files.iter().map(|name| fs::read_to_string(place.path(run).join(name)).unwrap()).collect()
}

#[test]
fn each_rank_gets_the_runtime_of_its_mpi_and_a_clean_environment() {
    for mpi in MPIS {
        let place = Place::new();
        let program = installation().program(mpi);
        let program = program.to_str().unwrap();
        let launcher = format!("mpirun.{mpi}");
        // The shell between launcher and rank is no rank.
        let script = format!("true; {program} one 'two three'");
        let result =
            outcome(&mut place.commsan(&[
                "run", "--output", "r", "--", &launcher, "-n", "2", "sh", "-c", &script,
            ]));
        result.ends_with(0);
        let mut lines: Vec<&str> = result.out.lines().collect();
        lines.sort_unstable();
        let line = |rank| {
            format!("rank {rank} of 2, {program} with 2 arguments, injector, no runtime, clean")
        };
        assert_eq!(lines, [line(0), line(1)]);
        assert_eq!(place.entered("r"), [mpi, mpi]);
        assert!(notices(&place, "r").is_empty());
    }
}

#[test]
fn a_program_alone_and_through_the_loader_is_entered() {
    let place = Place::new();
    let program = installation().program("mpich");
    let program = program.to_str().unwrap();
    outcome(&mut place.commsan(&["run", "--output", "alone", "--", program])).ends_with(0);
    assert_eq!(place.entered("alone"), ["mpich"]);
    let loader = "/lib64/ld-linux-x86-64.so.2";
    let result =
        outcome(&mut place.commsan(&["run", "--output", "ld", "--", loader, program, "x"]));
    assert!(result.ends_with(0).out.contains("with 1 arguments"));
    assert_eq!(place.entered("ld"), ["mpich"]);
}

#[test]
fn two_mpis_in_one_program_are_noticed_and_left_alone() {
    let place = Place::new();
    let it = installation();
    fs::write(it.path("both.c"), "int main(void) { return 6; }").unwrap();
    let program = it.path("both");
    it.compile("mpicc.openmpi", "both.c", &program, &["-lmpich"]);
    let program = program.to_str().unwrap();
    let result = outcome(&mut place.commsan(&["run", "--output", "r", "--", program]));
    result.ends_with(6).says("loads two MPI libraries").says("no MPI program was checked");
    assert!(place.entered("r").is_empty());
    let notice = &notices(&place, "r")[0];
    assert!(notice.contains("libmpi.so.40") && notice.contains("libmpich.so.12"), "{notice}");
}

#[test]
fn the_wrong_launcher_is_noticed() {
    for (mpi, wrong) in [("openmpi", "mpirun.mpich"), ("mpich", "mpirun.openmpi")] {
        let place = Place::new();
        let program = installation().program(mpi);
        let command = ["run", "--output", "r", "--", wrong, "-n", "2", program.to_str().unwrap()];
        let result = outcome(&mut place.commsan(&command));
        result.says("was started by the launcher of").says(&format!("mpirun.{mpi}"));
        assert_eq!(result.err.matches("was started by").count(), 1, "{}", result.err);
        assert!(place.entered("r").is_empty());
    }
}

#[test]
fn a_missing_runtime_leaves_the_program_unchecked() {
    let place = Place::new();
    let it = installation();
    let lib = place.path("lib");
    fs::create_dir(&lib).unwrap();
    let injector = "libcommsan_inject.so";
    fs::copy(it.lib().join(injector), lib.join(injector)).unwrap();
    let program = it.program("mpich");
    let run = |name| {
        let command = ["run", "--output", name, "--", program.to_str().unwrap()];
        outcome(place.commsan(&command).env("COMMSAN_LIB", &lib))
    };
    run("missing").ends_with(0).says("has no runtime").says("libcommsan_mpich.so is missing");
}

#[test]
fn interpreters_are_entered_under_a_launcher_only() {
    for mpi in MPIS {
        let place = Place::new();
        let launcher = format!("mpirun.{mpi}");
        let script = "import subprocess, sys; subprocess.run([sys.executable, '-c', ''])";
        let python = ["python3", "-c", script];
        let launched =
            [&["run", "--output", "r", "--", &launcher, "-n", "2"][..], &python].concat();
        outcome(&mut place.commsan(&launched)).ends_with(0);
        assert_eq!(place.entered("r"), [mpi, mpi]);
        let alone = [&["run", "--output", "alone", "--"][..], &python].concat();
        outcome(&mut place.commsan(&alone)).ends_with(0);
        assert!(place.entered("alone").is_empty());
    }
}

#[test]
fn a_preload_that_the_launcher_sets_does_not_replace_ours() {
    let program = installation().program("openmpi");
    let program = program.to_str().unwrap();
    let place = Place::new();
    let launcher = ["mpirun.openmpi", "-x", "LD_PRELOAD=libm.so.6", "-n", "1"];
    let command = [&["run", "--output", "r", "--"][..], &launcher, &[program]].concat();
    outcome(&mut place.commsan(&command)).ends_with(0);
    assert_eq!(place.entered("r"), ["openmpi"]);
    let program = installation().program("mpich");
    let launcher = ["mpirun.mpich", "-genv", "LD_PRELOAD", "libm.so.6", "-n", "1"];
    let command =
        [&["run", "--output", "s", "--"][..], &launcher, &[program.to_str().unwrap()]].concat();
    outcome(&mut place.commsan(&command)).ends_with(0);
    assert_eq!(place.entered("s"), ["mpich"]);
}

#[test]
fn ranks_started_by_exec_share_a_directory_without_a_launcher_of_ours() {
    for mpi in MPIS {
        let place = Place::new();
        let program = installation().program(mpi);
        let program = program.to_str().unwrap();
        let launcher = format!("mpirun.{mpi}");
        for _ in 0..2 {
            let arguments = ["-n", "3", "commsan", "exec", "--", program];
            let result = outcome(&mut place.command(&launcher, &arguments));
            result.ends_with(0);
            assert_eq!(result.err.matches("commsan report").count(), 1, "{}", result.err);
        }
        let runs = place.files(".", &format!("app-{mpi}.commsan-"));
        assert_eq!(runs.len(), 2, "{runs:?}");
        for run in runs {
            assert_eq!(place.entered(&run), [mpi; 3]);
        }
        // Below `run`, its directory is the one.
        let arguments = ["run", "--output", "r", "--", &launcher, "-n", "2", "commsan", "exec"];
        outcome(&mut place.commsan(&[&arguments[..], &["--", program]].concat())).ends_with(0);
        assert_eq!(place.entered("r"), [mpi; 2]);
    }
}
