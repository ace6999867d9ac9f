//! A project as users have them is built and tested by the recipes of `docs/projects.md`, with no
//! line of it changed: just the tests fail whose programs have mistakes.

#[path = "support/built.rs"]
mod built;

use built::{Installed, MPIS, Mpi, Run, Work};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

fn project() -> PathBuf {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/project");
    project.canonicalize().unwrap()
}

/// Runs a command that finds commsan in its path, and these tools.
fn with_commsan(work: &Work, tools: &str, command: &mut Command) -> Run {
    let commsan = work.commsan::<&str>(&[]).get_program().to_owned();
    let own = Path::new(&commsan).parent().unwrap().display().to_string();
    command.env("PATH", format!("{own}:{tools}:{}", std::env::var("PATH").unwrap()));
    work.finish(command)
}

/// The jobs with findings, by what `name` calls them.
fn mistaken(run: &Run, name: impl Fn(&Value) -> String) -> Vec<String> {
    let report = run.report();
    let jobs = report["run"]["jobs"].as_array().unwrap();
    assert_eq!(jobs.len(), 6, "{}", run.text());
    let findings = report["findings"].as_array().unwrap().iter();
    let of = findings.map(|finding| name(&jobs[finding["job"].as_u64().unwrap() as usize - 1]));
    let mut found: Vec<_> = of.collect();
    found.sort_unstable();
    found.dedup();
    found
}

#[test]
fn a_cmake_project_is_checked_under_ctest() {
    for mpi in MPIS {
        let work = Work::new("project", mpi);
        let run = |command: &mut Command| {
            command.env("COMMSAN_CC", "gcc");
            command.env("COMMSAN_CXX", "g++").env("COMMSAN_FC", "gfortran");
            with_commsan(&work, "", command)
        };
        let of_mpi = [("C", "mpicc"), ("CXX", "mpicxx"), ("Fortran", "mpifort")]
            .map(|(language, wrapper)| format!("-DMPI_{language}_COMPILER={}", mpi.tool(wrapper)));
        let launcher = format!("-DMPIEXEC_EXECUTABLE:STRING=commsan;run;--;{}", mpi.tool("mpirun"));
        let mut configure = work.command("cmake", &["-B", "build", "-S"]);
        configure.arg(project()).args(of_mpi).arg(launcher).args([
            "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
            "-DCMAKE_C_COMPILER=commsan-cc",
            "-DCMAKE_CXX_COMPILER=commsan-cxx",
            "-DCMAKE_Fortran_COMPILER=commsan-fc",
        ]);
        run(&mut configure).ends_with(0);
        run(&mut work.command("cmake", &["--build", "build"])).ends_with(0);
        let tested = run(&mut work.command("ctest", &["--test-dir", "build"]));
        let verdicts = tested.out.lines().filter_map(|line| {
            let name = line.split_once("Test ")?.1.split_whitespace().nth(1)?;
            let name = name.trim_end_matches('.');
            (name.starts_with("in_") && line.contains("sec"))
                .then(|| (name.to_owned(), line.contains("Passed")))
        });
        let mut verdicts: Vec<_> = verdicts.collect();
        verdicts.sort();
        let expected = ["in_c", "in_cxx", "in_fortran"].into_iter().flat_map(|program| {
            [(format!("{program}_right"), true), (format!("{program}_wrong"), false)]
        });
        assert_eq!(verdicts, expected.collect::<Vec<_>>(), "{}", tested.text());

        // All tests as one run, at the same time: each finding has the name of its test.
        let launcher = format!("-DMPIEXEC_EXECUTABLE:STRING={}", mpi.tool("mpirun"));
        run(&mut work.command("cmake", &[&launcher, "build"])).ends_with(0);
        let job = ["ctest", "--test-dir", "build", "-j", "3"];
        let together = work.run_job(&[], &job);
        together.ends_with(66);
        let found = mistaken(&together, |job| job["name"].as_str().unwrap_or_default().to_owned());
        let expected = ["in_c_wrong", "in_cxx_wrong", "in_fortran_wrong"];
        assert_eq!(found, expected, "{}", together.text());
    }
}

/// By program and argument: neither tells the jobs the names of their tests.
fn by_arguments(job: &Value) -> String {
    let program = job["program"].as_str().unwrap().rsplit('/').next().unwrap();
    format!("{program} {}", job["arguments"][0].as_str().unwrap())
}

const MISTAKEN: [&str; 3] = ["in_c wrong", "in_cxx wrong", "in_fortran wrong"];

#[test]
fn a_meson_project_is_checked_under_its_tests() {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let target = target.unwrap_or_else(|| project().join("../../target"));
    let tools = target.join("python/bin");
    if !tools.join("meson").is_file() {
        eprintln!("skipped: no {} (scripts/python.sh)", tools.join("meson").display());
        return;
    }
    let work = Work::new("meson", Mpi::OpenMpi);
    let run = |command: &mut Command| {
        command.env("COMMSAN_CC", "gcc").env("CC", "commsan-cc");
        command.env("CXX", "commsan-cxx g++").env("FC", "commsan-fc gfortran");
        // Otherwise that of the distribution's default MPI library is taken.
        let wrappers = [("MPICC", "mpicc"), ("MPICXX", "mpicxx"), ("MPIFC", "mpifort")];
        command.envs(wrappers.map(|(name, wrapper)| (name, work.mpi.tool(wrapper))));
        with_commsan(&work, tools.to_str().unwrap(), command)
    };
    let launcher = format!("-Dlauncher={}", work.mpi.tool("mpirun"));
    let mut setup = work.command("meson", &["setup", "build-commsan"]);
    run(setup.arg(project()).arg(launcher)).ends_with(0);
    run(&mut work.command("meson", &["compile", "-C", "build-commsan"])).ends_with(0);
    let directory = work.path("run");
    let job = ["run", "--output", directory.to_str().unwrap(), "--", "meson", "test", "-C"];
    let tested = run(work.command("commsan", &job).arg("build-commsan"));
    tested.ends_with(66);
    assert_eq!(mistaken(&tested, by_arguments), MISTAKEN, "{}", tested.text());
}

#[test]
fn an_autotools_project_is_checked_by_make_check() {
    if Command::new("automake").arg("--version").output().is_err() {
        eprintln!("skipped: no automake");
        return;
    }
    let work = Work::new("autotools", Mpi::Mpich);
    let run = |command: &mut Command| with_commsan(&work, "", command);
    let source = project();
    let copied = work.command("cp", &["-r", source.to_str().unwrap(), "halo"]).status();
    assert!(copied.unwrap().success());
    let halo = work.path("halo");
    run(work.command("autoreconf", &["-i"]).current_dir(&halo)).ends_with(0);
    let of_mpi = [("CC", "cc"), ("CXX", "cxx"), ("FC", "fc")].map(|(variable, language)| {
        let wrapper = if language == "fc" { "mpifort" } else { &*format!("mpi{language}") };
        format!("{variable}=commsan-{language} {}", work.mpi.tool(wrapper))
    });
    let mut configure = work.command("./configure", &of_mpi);
    configure.args(["CFLAGS=-O2 -g", "CXXFLAGS=-O2 -g -std=c++17", "FCFLAGS=-O2 -g"]);
    configure.arg(format!("LAUNCHER={}", work.mpi.tool("mpirun")));
    run(configure.current_dir(&halo)).ends_with(0);
    run(work.command("make", &[] as &[&str]).current_dir(&halo)).ends_with(0);
    let directory = work.path("run");
    let job = ["run", "--output", directory.to_str().unwrap(), "--", "make", "check"];
    let tested = run(work.command("commsan", &job).current_dir(&halo));
    tested.ends_with(66);
    assert_eq!(mistaken(&tested, by_arguments), MISTAKEN, "{}", tested.text());
}
