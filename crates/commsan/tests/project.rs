//! A project as users have them is built and tested by the recipe of `docs/projects.md`, with no
//! line of it changed: just the tests fail whose programs have mistakes.

#[path = "support/built.rs"]
mod built;

use built::{Installed, MPIS, Work};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

#[test]
fn a_cmake_project_is_checked_under_ctest() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/project");
    let project = project.canonicalize().unwrap();
    for mpi in MPIS {
        let work = Work::new("project", mpi);
        let commsan = work.commsan::<&str>(&[]).get_program().to_owned();
        let own = Path::new(&commsan).parent().unwrap().display().to_string();
        let path = format!("{own}:{}", std::env::var("PATH").unwrap());
        let run = |command: &mut Command| {
            command.env("PATH", &path).env("COMMSAN_CC", "gcc");
            command.env("COMMSAN_CXX", "g++").env("COMMSAN_FC", "gfortran");
            work.finish(command)
        };
        let of_mpi = [("C", "mpicc"), ("CXX", "mpicxx"), ("Fortran", "mpifort")]
            .map(|(language, wrapper)| format!("-DMPI_{language}_COMPILER={}", mpi.tool(wrapper)));
        let launcher = format!("-DMPIEXEC_EXECUTABLE:STRING=commsan;run;--;{}", mpi.tool("mpirun"));
        let mut configure = work.command("cmake", &["-B", "build", "-S"]);
        configure.arg(&project).args(of_mpi).arg(launcher).args([
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
        let report = together.ends_with(66).report();
        let jobs = report["run"]["jobs"].as_array().unwrap();
        let of =
            |finding: &Value| finding["job"].as_u64().map(|job| &jobs[job as usize - 1]["name"]);
        let found = report["findings"].as_array().unwrap().iter().filter_map(of);
        let mut found: Vec<_> = found.filter_map(Value::as_str).collect();
        found.sort_unstable();
        found.dedup();
        let expected = ["in_c_wrong", "in_cxx_wrong", "in_fortran_wrong"];
        assert_eq!(found, expected, "{}", together.text());
        assert_eq!(jobs.len(), 6, "{}", together.text());
    }
}
